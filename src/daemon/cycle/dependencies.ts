// Reads again the scopes that the writes of a plan depend on, where they were read too long ago: a long sweep is read in slices, and a cap
// that others have removed since must not count as the one that keeps a person from falling with the team. It decides nothing about caps.
import { type Change, isReady } from '../../core/model/change.ts'
import { type Scope, type ScopeKey, scopeKey, TEAM } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Clock, Ledger } from '../../ports.ts'
import { unlessLedger } from '../ledger/error.ts'
import type { Workspace } from '../workspace.ts'
import type { CycleRun, Pass } from './options.ts'
import { type SeenKeeper, seenKeeper, sweep } from './read.ts'
import type { WorkspaceState } from './state.ts'
import { descendantsIn } from './write/descendants.ts'

interface LearnedKeeper {
  /** By key name; starts with what the ledger has. */
  readonly pace: Record<string, unknown>
  readonly onSeen: SeenKeeper['onSeen']
  /** Records what is new. Never rejects with a `LedgerError`. */
  keep(): Promise<void>
}

/** Throws a `LedgerError` when the ledger cannot be read. */
export function learnedKeeper(ledger: Pick<Ledger, 'fact' | 'saveFact' | 'commit'>, clock: Pick<Clock, 'now'>): LearnedKeeper {
  const pace: Record<string, unknown> = { ...ledger.fact('pace') }
  const seen = seenKeeper(ledger, clock)
  const save = async (): Promise<void> => {
    if (JSON.stringify(ledger.fact('pace') ?? {}) !== JSON.stringify(pace)) ledger.saveFact('pace', { ...pace })
    seen.keep()
    await ledger.commit()
  }
  return { pace, onSeen: seen.onSeen, keep: () => save().catch(unlessLedger) }
}

/** Reads the scopes that the plan depends on and that were read before `since`, and members of pools whose sweeps were missed. Returns those scopes. */
export async function rereadDependencies(pass: Pass, since: Instant, cycle: CycleRun): Promise<ReadonlySet<ScopeKey>> {
  const { workspace, state, options } = cycle
  const { readings } = state
  const { slots, plan } = pass.planned
  const stale = new Map<ScopeKey, Scope>()
  const readBefore = (scopes: readonly Scope[], since: Instant): void => {
    for (const scope of scopes) {
      const key = scopeKey(scope)
      if ((readings.get(key)?.readAt ?? since) < since) stale.set(key, scope)
    }
  }
  if (slots.model.layers === 'layered' && plan.changes.some(isReady))
    readBefore(plan.changes.filter(mayGo).flatMap(dependenciesOf(pass, state)), since)
  // The sum of a pool counts on the caps of all its members. Sweeps keep them young enough, but for sweeps that could not be made.
  if (plan.changes.some((one) => isReady(one) && one.effect !== 'lower')) {
    const pooled = new Set(Object.values(state.pools).flatMap(({ members }) => Object.keys(members)))
    const members = pass.desired.toRead.filter((scope) => scope.kind === 'user' && pooled.has(scope.email))
    readBefore(members, cycle.startedAt - MISSED_SWEEPS * betweenSweepsMs(workspace))
  }
  const { concurrency } = workspace.config.rate
  const signal = options.stop && { signal: options.stop }
  await sweep({ client: workspace.client, scopes: [...stale.values()], concurrency, readings, urgent: true, ...signal })
  return new Set(stale.keys())
}

/** A pool's member was not read for so many sweeps: they were missed. Choice. */
const MISSED_SWEEPS = 2

/** The time in which every scope is read once, while sweeps are made. */
const betweenSweepsMs = ({ config, reading }: Workspace): number =>
  reading ? Math.max(config.intervalMs, (reading.watched.length * 1_000) / reading.readsPerSecond) : config.intervalMs

const mayGo = (change: Change): boolean =>
  isReady(change) || (change.disposition.kind === 'deferred' && change.disposition.code !== 'failed')

/** Descendants with a higher cap, which keep their people from being lowered; for a clear also the ancestors, whose caps apply instead. */
function dependenciesOf({ planned: { people, slots }, desired }: Pass, state: WorkspaceState): (change: Change) => readonly Scope[] {
  const descendantsOf = descendantsIn(desired, state)
  const groups = desired.toRead.filter(({ kind }) => kind === 'group')
  return ({ scope, from, to }) => {
    const isRaise = from !== 'none' && to !== 'none' && to > from
    const isHigher = (one: Scope): boolean => {
      const shown = slots.shown(scopeKey(one))
      return typeof shown === 'number' && (to === 'none' || shown > to)
    }
    const descendants = isRaise ? [] : descendantsOf(scope).filter(isHigher)
    if (to !== 'none' || scope.kind === 'team') return descendants
    const own = scope.kind === 'user' ? (people.byKey.get(scopeKey(scope))?.groups ?? []) : []
    return [...descendants, TEAM, ...groups.filter((one) => own.includes(scopeKey(one)))]
  }
}
