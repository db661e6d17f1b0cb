// Deals the pools of a workspace from its use, the caps in force, and the writes whose end is not known. The deal is recorded in the ledger
// before any cap is sent. It never calls the client, so `plan` and the daemon deal alike from the same state.

import { ancestorsOf, type CountedPerson, effectiveCap, sharedCap, TEAM_KEY } from '../../core/interpret/effective.ts'
import type { Slots } from '../../core/interpret/slots.ts'
import { type HistoryEntry, LANDING_MS } from '../../core/model/change.ts'
import type { Cap } from '../../core/model/policy.ts'
import { type Scope, type ScopeKey, scopeKey, userScope } from '../../core/model/scope.ts'
import { type Credits, credits, type Instant } from '../../core/model/units.ts'
import { dealKey } from '../../core/plan/approval.ts'
import { isInDoubt, mayHaveLanded } from '../../core/plan/outcome.ts'
import { dealPool, isOfOthers, type PoolPeople } from '../../core/pools/deal.ts'
import { amountOf, observePool, type UseNow } from '../../core/pools/observe.ts'
import { type CapSince, memberOf, type PoolState } from '../../core/pools/state.ts'
import type { DealtPools } from '../../core/resolve/pools.ts'
import { addOnFigures } from '../../core/use/add-on.ts'
import type { RecordsReader } from '../../ports.ts'
import type { DesiredState, Planner, WorkspaceState } from './state.ts'

/**
 * Observes the pools, deals them anew where use is known, and puts the deal in force. True when it differs from the last one. Pools that did not
 * change are the same objects.
 */
export function dealPools(state: WorkspaceState, desired: DesiredState, planner: Planner): boolean {
  const { pools: declared } = desired.resolution
  if (declared.length === 0 && Object.keys(state.pools).length === 0) {
    state.frozenPools = {}
    return false
  }
  const use = useNow(state, planner.clock.now(), desired.inputs.grantsFrozen)
  const kept = new Map<string, PoolState>()
  const why = new Map<string, string>()
  for (const one of declared) {
    const { name } = one.pool
    const before = Object.hasOwn(state.pools, name) ? state.pools[name] : undefined
    const observed = observePool(before, { use, ...sightOf(one, before, state, desired, planner) })
    const { frozen } = observed
    if (frozen !== undefined) why.set(name, frozen)
    const isDealt = observed.state !== undefined && frozen === undefined
    const poolState = isDealt ? dealPool(one.pool, observed.state, planner.clock.now(), observed) : observed.state
    if (poolState) kept.set(name, before && isSame(before, poolState) ? before : poolState)
  }
  // A pool may be called `__proto__`, which no assignment makes a key. A file that stops parsing removes nothing.
  const pools = { ...(state.policyValid ? {} : state.pools), ...Object.fromEntries(kept) }
  state.frozenPools = Object.fromEntries(why)
  if (isSame(pools, state.pools)) return false
  state.pools = pools
  return true
}

const isSame = (a: PoolState | DealtPools, b: PoolState | DealtPools): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Add-on use: measured, or estimated where a row carries a figure and the balance is known; else why it is not known. */
function useNow({ usage, measured }: Pick<WorkspaceState, 'usage' | 'measured'>, now: Instant, areClocksApart: boolean): UseNow {
  // How long ago a cap was lowered is not known.
  if (areClocksApart) return { kind: 'unknown', why: "the service's clock and ours differ" }
  if (!usage) return { kind: 'unknown', why: 'the roster was not read yet' }
  const { roster, balance, turn } = usage
  const { cycle } = roster
  const figures = addOnFigures({ now, cycle, measured, balance })
  const isMeasured = figures.source === 'measured'
  if (roster.people.every(({ email, used }) => used === undefined && !(isMeasured && (figures.of(email, used)?.credits ?? 0) > 0)))
    return {
      kind: 'unknown',
      why: turn ? 'the new billing cycle still shows the figures of the last one' : 'no row of the roster carries use',
    }
  const estimates = addOnFigures({ now, cycle, balance })
  const used = new Map<string, Credits>()
  for (const { email, used: all } of roster.people) {
    const one = figures.of(email, all)
    if (one?.source === 'upperBound') return { kind: 'unknown', why: NO_BALANCE }
    if (!one) continue
    // Measured use of nobody on the roster may belong to a person who came back: at most as much as the rest of their use can hold.
    const most = Math.min(estimates.of(email, all)?.credits ?? 0, one.credits + figures.others)
    used.set(email, credits(Math.max(one.credits, most)))
  }
  // The older of the two readings says how new the figures are.
  const rosterAt = turn?.figuresAt ?? roster.readAt
  const readAt = isMeasured && measured ? Math.min(rosterAt, measured.readAt) : rosterAt
  return { kind: 'known', readAt, cycle, used }
}

const NO_BALANCE = 'the balance is not known, and without it add-on use cannot be told from other use'

/** Caps and writes of the members, and of former members. */
function sightOf(
  people: PoolPeople,
  before: PoolState | undefined,
  state: WorkspaceState,
  desired: DesiredState,
  { clock, ledger, config, digest }: Planner,
) {
  const now = clock.now()
  const { members } = people
  const present = new Set(members.map(({ email }) => email))
  const former = Object.keys(before?.members ?? {}).filter((email) => !present.has(email))
  const caps = new Map<string, CapSince>()
  const verified = new Map<string, CapSince>()
  const sent = new Map<string, readonly CapSince[]>()
  const lowered = new Map<string, readonly CapSince[]>()
  const written = ledger.ancestorWrites(now - LANDING_MS)
  const ancestors = openIn(ledger, written).filter(({ scope }) => scope.kind !== 'user')
  for (const email of [...present, ...former]) {
    const key = scopeKey(userScope(email))
    const cap = capInForce(key, state, desired)
    if (cap) caps.set(email, cap)
    // A former member whose cap is not ours any more is not read.
    else if (!present.has(email) && !desired.owned.has(key)) caps.set(email, { cap: 'none', at: now })
    const ours = desired.owned.get(key)
    if (ours?.written && ours.verifiedAt <= now) verified.set(email, { cap: ours.cap, at: ours.verifiedAt })
    const open = [...sentTo(email, ledger, now), ...(present.has(email) ? sentToAncestors(key, ancestors, state, desired.slots) : [])]
    if (open.length > 0) sent.set(email, open)
    if (before && memberOf(before, email)) continue
    const own = ledger.writtenLately(userScope(email), now - LANDING_MS)
    lowered.set(email, loweredFrom(key, [...own, ...written], state, desired))
  }
  const isReviewed = before?.reviewed === dealKey(config.name, people, digest)
  const ours = (email: string): Cap | undefined => desired.owned.get(scopeKey(userScope(email)))?.cap
  const oursOf = before && isOfOthers(people, before, isReviewed) ? ours : undefined
  return { now, caps, verified, sent, lowered, members, oursOf, usageLagMs: config.usageLagMs }
}

/** The cap in force for a person: their own, else the inherited one. Undefined where a reading is missing. */
function capInForce(key: ScopeKey, { readings }: WorkspaceState, { people, slots }: DesiredState): CapSince | undefined {
  const reading = readings.get(key)
  if (!reading || reading.observed === 'unknown') return undefined
  const person: Pick<CountedPerson, 'key' | 'groups'> = people.byKey.get(key) ?? { key, groups: [] }
  const cap = reading.observed === 'none' ? effectiveCap(person, slots.shown).cap : reading.observed
  return cap === 'unknown' ? undefined : { cap, at: reading.readAt }
}

/** Higher caps that our writes have taken from a person, at their own scope or at an ancestor, and when. */
function loweredFrom(
  key: ScopeKey,
  written: readonly HistoryEntry[],
  { readings }: WorkspaceState,
  { people, slots }: DesiredState,
): readonly CapSince[] {
  const groups = people.byKey.get(key)?.groups ?? []
  const inherited = sharedCap(groups, slots.shown).cap
  const ancestors = readings.get(key)?.observed === 'none' || slots.mayBeInherited(key) ? ancestorsOf(key, people) : []
  return written.flatMap((one) => {
    const at = scopeKey(one.scope)
    if (!mayHaveLanded(one) || (at !== key && !ancestors.includes(at))) return []
    // A scope without an explicit cap inherits.
    const inForce = (cap: Cap): Cap => (cap === 'none' && at !== TEAM_KEY && inherited !== 'unknown' ? inherited : cap)
    const from = inForce(one.from)
    return amountOf(from) > amountOf(inForce(one.to)) ? [{ cap: from, at: one.at }] : []
  })
}

interface Open extends CapSince {
  readonly scope: Scope
}

/** Open writes, and writes of the last day whose end is not known. */
const openIn = (ledger: RecordsReader, written: readonly HistoryEntry[]): readonly Open[] => [
  ...ledger.openIntents().map(({ change: { scope, to }, at }) => ({ scope, cap: to, at })),
  ...written.flatMap((one) => (isInDoubt(one) ? [{ scope: one.scope, cap: one.to, at: one.at }] : [])),
]

function sentTo(email: string, ledger: RecordsReader, now: number): readonly CapSince[] {
  const open = openIn(ledger, ledger.writtenLately(userScope(email), now - LANDING_MS))
  // After a clear the person inherits, and an inherited cap is not the pool's to count.
  return open.flatMap(({ scope, cap, at }) => (scopeKey(scope) === email && cap !== 'none' ? [{ cap, at }] : []))
}

/** Caps that a person who inherits would get from open team and group writes, each alone and all together. */
function sentToAncestors(key: ScopeKey, open: readonly Open[], { readings }: WorkspaceState, slots: Slots): readonly CapSince[] {
  const own = readings.get(key)?.observed
  if (open.length === 0 || (own !== 'none' && !slots.mayBeInherited(key))) return []
  return [...open.map((one) => [one]), open].flatMap((landed) => {
    // A group that shows the team's cap may have none of its own, and follow the team.
    const cap = slots.inheritedAfter(key, new Map(landed.map((one) => [scopeKey(one.scope), one.cap])))
    return typeof cap === 'number' && cap !== slots.inherited(key) ? [{ cap, at: Math.max(...landed.map(({ at }) => at)) }] : []
  })
}
