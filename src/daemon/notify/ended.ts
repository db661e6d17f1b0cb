// The last billing cycle, for a monthly digest: use as measured or as last read, and the caps in force at its end as far as the ledger knows. Groups are
// those of today.
import { effectiveCap } from '../../core/interpret/effective.ts'
import type { PoolMembers } from '../../core/model/policy.ts'
import { groupScope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { DAY_MS } from '../../core/model/units.ts'
import { digestsAsked, type EndedUse, type PersonUse, type PoolUse, tellsEnded, toldNow } from '../../core/notify/due.ts'
import type { NotifySettings } from '../../core/notify/settings.ts'
import { isDue } from '../../core/notify/told.ts'
import { addOnFigures } from '../../core/use/add-on.ts'
import { capChanges, setBefore } from '../../core/use/replay/in-force.ts'
import { isSameCycle } from '../../core/use/turn.ts'
import type { Ledger } from '../../ports.ts'
import { cycleOf, type WorkspaceState } from '../cycle/state.ts'
import type { Workspace } from '../workspace.ts'

interface LookingBack extends Pick<Workspace, 'state' | 'clock'> {
  readonly ledger: Pick<Ledger, 'fact' | 'owned' | 'history'>
}

/** Undefined where no digest about it is due, and where its use is not known. Rejects with a `LedgerError`. */
export async function endedUse({ state, clock, ledger }: LookingBack, settings: NotifySettings): Promise<EndedUse | undefined> {
  const [now, present, last] = [clock.now(), cycleOf(state?.usage), state?.usage?.previousCycle]
  if (!state || !present || !last || !isSameCycle({ startAt: last.cycle.endAt }, present)) return undefined
  const told = toldNow(ledger.fact('told'), present, now)
  const isAny = digestsAsked(settings, now).some(({ key, level }) => told && isDue(told, key, level, now))
  if (!isAny || !tellsEnded(settings, present, now)) return undefined
  const { cycle, used } = last
  const found = (ledger.fact('journal') ?? []).filter(({ at }) => at >= cycle.endAt)
  const set = setBefore(ledger.owned(), capChanges(await ledger.history({ sinceAt: cycle.endAt }), found))
  const figures = addOnFigures({ now, cycle, measured: state.measured, balance: state.usage?.balance })
  const people = [...groupsOfEach(state)].map(([email, groups]): PersonUse => {
    const { cap } = effectiveCap({ key: email as ScopeKey, groups }, (key) => set.get(key))
    const addOn = figures.of(email, Object.hasOwn(used, email) ? used[email] : undefined)
    return { email, ...(cap !== 'unknown' && { cap }), ...(addOn && { used: addOn.credits, source: addOn.source }) }
  })
  return { cycle, people, pools: poolsAt(cycle.endAt, state, ledger) }
}

function groupsOfEach({ usage }: WorkspaceState): ReadonlyMap<string, readonly ScopeKey[]> {
  const groupsOf = new Map<string, ScopeKey[]>()
  for (const { id, emails } of usage?.groups ?? [])
    for (const email of emails) groupsOf.set(email, [...(groupsOf.get(email) ?? []), scopeKey(groupScope(id))])
  return groupsOf
}

/** Ids of the groups whose members share a pool. */
export const groupsOfPool = (members: PoolMembers | undefined): readonly string[] => (members?.kind === 'groups' ? members.ids : [])

/** As the last whole day of the cycle left them. */
function poolsAt(endAt: number, { policy }: WorkspaceState, ledger: Pick<Ledger, 'fact'>): readonly PoolUse[] {
  const day = ledger.fact('days')?.findLast(({ dayAt }) => dayAt <= endAt - DAY_MS && dayAt > endAt - 3 * DAY_MS)
  return policy.set.pools.flatMap(({ name, members }): readonly PoolUse[] => {
    const pool = day?.pools && Object.hasOwn(day.pools, name) ? day.pools[name] : undefined
    return pool ? [{ name, groups: groupsOfPool(members), credits: pool.credits, used: pool.used }] : []
  })
}
