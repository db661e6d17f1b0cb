// What the writes of a plan count on is read again where it was read more than an interval before the cycle: a long sweep is read in slices,
// and a cap that others have removed since must not be what keeps somebody from falling with the team. It decides nothing about caps.
import { type Change, isReady } from '../../core/model/change.ts'
import { type Scope, type ScopeKey, scopeKey, TEAM } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { sweep } from './read.ts'
import { type CycleView, descendantsIn } from './write/descendants.ts'

/** Reads what the plan counts on and was read before `since`. Returns the scopes. */
export async function readCountedOn(planned: Planned, since: Instant, cycle: CycleView): Promise<ReadonlySet<ScopeKey>> {
  const { workspace, state, stop } = cycle
  const { readings } = state
  const { changes } = planned.plan
  const old = new Map<ScopeKey, Scope>()
  if (planned.slots.model.layers === 'layered' && changes.some(isReady))
    for (const scope of changes.filter(mayGo).flatMap(countedOn(planned, cycle))) {
      const key = scopeKey(scope)
      if ((readings.get(key)?.readAt ?? since) < since) old.set(key, scope)
    }
  const { concurrency } = workspace.config.rate
  await sweep({ client: workspace.client, scopes: [...old.values()], concurrency, readings, urgent: true, ...(stop && { signal: stop }) })
  return new Set(old.keys())
}

const mayGo = (change: Change): boolean =>
  isReady(change) || (change.disposition.kind === 'deferred' && change.disposition.code !== 'failed')

/** CycleView a wide cap: what keeps people above it. Above a cap that goes: what takes its place. */
function countedOn({ people, slots }: Planned, { view, state }: CycleView): (change: Change) => readonly Scope[] {
  const under = descendantsIn(view, state)
  const groups = view.toRead.filter(({ kind }) => kind === 'group')
  return ({ scope, from, to }) => {
    const isRaise = from !== 'none' && to !== 'none' && to > from
    const isAbove = (one: Scope): boolean => {
      const shown = slots.shown(scopeKey(one))
      return typeof shown === 'number' && (to === 'none' || shown > to)
    }
    const narrower = isRaise ? [] : under(scope).filter(isAbove)
    if (to !== 'none' || scope.kind === 'team') return narrower
    const own = scope.kind === 'user' ? (people.byKey.get(scopeKey(scope))?.groups ?? []) : []
    return [...narrower, TEAM, ...groups.filter((one) => own.includes(scopeKey(one)))]
  }
}
