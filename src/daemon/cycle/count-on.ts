// What the writes of a plan count on is read again where it was read more than an interval before the cycle: a long sweep is read in slices,
// and a cap that others have removed since must not be what keeps somebody from falling with the team. It decides nothing about caps.
import { type Change, isReady } from '../../core/model/change.ts'
import { type Scope, type ScopeKey, scopeKey, TEAM } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { sweep } from './read.ts'
import { type Beneath, beneathIn } from './write/beneath.ts'

/** Reads what the plan counts on and was read before `since`. Returns the scopes. */
export async function readCountedOn(planned: Planned, since: Instant, beneath: Beneath): Promise<ReadonlySet<ScopeKey>> {
  const { workspace, knowledge, stop } = beneath
  const { readings } = knowledge
  const old = new Map<ScopeKey, Scope>()
  if (planned.slots.model.layers === 'layered')
    for (const change of planned.plan.changes.some(isReady) ? planned.plan.changes.filter(mayGo) : [])
      for (const scope of countedOn(change, planned, beneath)) {
        const key = scopeKey(scope)
        if ((readings.get(key)?.readAt ?? since) < since) old.set(key, scope)
      }
  const { concurrency } = workspace.config.rate
  await sweep({ client: workspace.client, scopes: [...old.values()], concurrency, readings, urgent: true, ...(stop && { signal: stop }) })
  return new Set(old.keys())
}

const mayGo = (change: Change): boolean =>
  isReady(change) || (change.disposition.kind === 'deferred' && change.disposition.code !== 'failed')

/** Beneath a wide cap: what keeps people above it. Above a cap that goes: what takes its place. */
function countedOn({ scope, from, to }: Change, { people, slots }: Planned, beneath: Beneath): readonly Scope[] {
  const isRaise = from !== 'none' && to !== 'none' && to > from
  const isAbove = (one: Scope): boolean => {
    const shown = slots.shown(scopeKey(one))
    return typeof shown === 'number' && (to === 'none' || shown > to)
  }
  const narrower = isRaise ? [] : beneathIn(beneath.view, beneath.knowledge)(scope).filter(isAbove)
  if (to !== 'none' || scope.kind === 'team') return narrower
  const groups = scope.kind === 'user' ? (people.byKey.get(scopeKey(scope))?.groups ?? []) : []
  return [...narrower, TEAM, ...beneath.view.toRead.filter((one) => groups.includes(scopeKey(one)))]
}
