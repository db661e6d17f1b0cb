// The window and state of a grant, and what applies while the clock or the cycle cannot be trusted. It decides nothing about caps, and never
// starts or ends a grant by a clock that is known to be wrong.

import type { GrantState } from '../model/events.ts'
import type { Cycle, OwnedCap } from '../model/observed.ts'
import type { Grant } from '../model/policy.ts'
import { comparePositions, compareScopes, type ScopeKey, scopeKey } from '../model/scope.ts'
import { DAY_MS, type Instant } from '../model/units.ts'

/** An active grant with less than this left is `expiring`. */
const EXPIRING_MS = DAY_MS

type GrantTimes = Pick<Grant, 'fromAt' | 'until'>

/** The window of a grant as far as the known cycle tells: `over` when the grant's cycle has passed, `later` when it is yet to come. */
type GrantWindow =
  | { readonly kind: 'instant'; readonly untilAt: Instant }
  | { readonly kind: 'over' }
  | { readonly kind: 'later' }
  | { readonly kind: 'cycle-unknown' }

/**
 * When a grant ends. `cycleEnd` is the end of the cycle that contains `from` (docs/policies.md): the known cycle's end when `from`
 * lies in it. With `from` before the known cycle the grant is over; with `from` after it, the grant's cycle is yet to come.
 */
export function grantWindow(grant: GrantTimes, cycle: Cycle | undefined): GrantWindow {
  if (grant.until.kind === 'instant') return { kind: 'instant', untilAt: grant.until.at }
  if (!cycle) return { kind: 'cycle-unknown' }
  // Parsing asks for `from` beside cycleEnd; without it only the present cycle can be meant.
  const fromAt = grant.fromAt ?? cycle.startAt
  if (fromAt < cycle.startAt) return { kind: 'over' }
  return fromAt < cycle.endAt ? { kind: 'instant', untilAt: cycle.endAt } : { kind: 'later' }
}

/** Whether policy asks for the grant's cap now. */
export const isInForce = (state: GrantState | 'unknown'): state is 'active' | 'expiring' => state === 'active' || state === 'expiring'

/** Active when `from` (absent: always) ≤ now < `until`; `unknown` when that depends on a cycle that is not known. */
function clockState(grant: GrantTimes, window: GrantWindow, now: Instant): GrantState | 'unknown' {
  if (window.kind === 'over') return 'ended'
  if (window.kind === 'instant' && now >= window.untilAt) return 'ended'
  if (window.kind === 'later' || (grant.fromAt !== undefined && now < grant.fromAt)) return 'pending'
  if (window.kind === 'cycle-unknown') return 'unknown'
  return window.untilAt - now < EXPIRING_MS ? 'expiring' : 'active'
}

export interface GrantClock {
  readonly cycle?: Cycle
  readonly now: Instant
  /** The clocks disagree: grants neither start nor end. */
  readonly grantsFrozen: boolean
}

interface GrantInputs extends GrantClock {
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
}

interface Timed {
  readonly grant: Grant
  readonly state: GrantState | 'unknown'
  readonly untilAt?: Instant
}

/** The state of a grant; `untilAt` is absent while the end is not known (`cycleEnd` without a known cycle). */
export interface GrantStatus extends Omit<Timed, 'state'> {
  readonly state: GrantState
  /** Why the state differs from what the clock alone would give. */
  readonly note?: string
}

/** The state of every grant, in the order of scope, start and place, whatever the order they were declared in. */
export function grantStatuses(grants: readonly Grant[], inputs: GrantInputs): readonly GrantStatus[] {
  const timed = grants.toSorted(compareGrants).map((grant): Timed => {
    const window = grantWindow(grant, inputs.cycle)
    return { grant, untilAt: window.kind === 'instant' ? window.untilAt : undefined, state: clockState(grant, window, inputs.now) }
  })
  const byScope = Map.groupBy(timed, ({ grant }) => scopeKey(grant.scope))
  return [...byScope].flatMap(([key, ofScope]) => decide(ofScope, inputs.owned.get(key), inputs.grantsFrozen))
}

/** Where clock or cycle do not tell whether a grant of this scope is in force, the one that the ledger says was in force goes on. */
function decide(timed: readonly Timed[], owned: OwnedCap | undefined, frozen: boolean): GrantStatus[] {
  const open = timed.filter((one) => frozen || one.state === 'unknown')
  const othersRun = timed.some((one) => !open.includes(one) && isInForce(one.state))
  const kept = othersRun ? undefined : runningBefore(open, owned)
  const stateNow = (one: Timed): GrantState => {
    if (one === kept) return isInForce(one.state) ? one.state : 'active'
    return one.state === 'unknown' || (frozen && isInForce(one.state)) ? 'pending' : one.state
  }
  return timed.map((one) => {
    const state = stateNow(one)
    return { ...one, state, note: state !== one.state ? (frozen ? FROZEN : CYCLE_UNKNOWN) : undefined }
  })
}

const FROZEN = "the service's clock and ours differ by more than 5 min: grants neither start nor end until they agree"
const CYCLE_UNKNOWN = 'the billing cycle is not known, so the end of this grant is not known either: what was in force goes on until it is'

/** The grant that the ledger's cap came from: one with the same amount first, then one that adds (its sum is not known here), then an edited one. */
function runningBefore(open: readonly Timed[], owned: OwnedCap | undefined): Timed | undefined {
  if (owned?.owner !== 'grant' || owned.entry.kind !== 'grant') return undefined
  const rank = ({ grant, state }: Timed): number => {
    if (grant.amount.kind === 'cap' && grant.amount.credits === owned.cap) return 0
    if (grant.amount.kind === 'add') return 1
    return state === 'unknown' || isInForce(state) ? 2 : 3
  }
  const runsFirst = (a: Timed, b: Timed): number => Number(isInForce(b.state)) - Number(isInForce(a.state))
  const laterFirst = (a: Timed, b: Timed): number => (b.grant.fromAt ?? 0) - (a.grant.fromAt ?? 0)
  const [first] = open.toSorted((a, b) => rank(a) - rank(b) || runsFirst(a, b) || laterFirst(a, b))
  return first && rank(first) < 3 ? first : undefined
}

/** The identity of a grant: its scope and its declared window. An edit of its cap or its reason leaves it the same grant. */
export function grantId({ scope, fromAt, until }: Grant): string {
  return `${scopeKey(scope)}|${fromAt ?? ''}|${until.kind === 'instant' ? until.at : until.kind}`
}

/** The window in a grant's identity. */
function timesIn(id: string): GrantTimes {
  const [from = '', until = ''] = id.split('|').slice(-2)
  return {
    fromAt: from !== '' ? Number(from) : undefined,
    until: until === 'cycleEnd' ? { kind: until } : { kind: 'instant', at: Number(until) },
  }
}

/** Whether the grant that a cap came from has ended, even if it is no longer declared. A grant deleted before its end has not ended. */
export function hasEnded(id: string, { cycle, now, grantsFrozen }: GrantClock): boolean {
  const times = timesIn(id)
  return !grantsFrozen && clockState(times, grantWindow(times, cycle), now) === 'ended'
}

/** By scope, then start (an absent one first), then place in the files. */
const compareGrants = (a: Grant, b: Grant): number =>
  compareScopes(a.scope, b.scope) || (a.fromAt ?? 0) - (b.fromAt ?? 0) || comparePositions(a.at, b.at)
