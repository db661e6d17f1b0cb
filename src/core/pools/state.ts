// What is remembered of a pool between deals: plain data that the ledger keeps as one fact, recorded before any write of a deal. It never
// forgets a value that may still be in force: so the sum is kept after a crash, a lost answer or an old reading.
import type { Cycle } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { Credits, Instant } from '../model/units.ts'

/** What a policy declares for a pool, without its members. */
export interface PoolTerms {
  /** Add-on credits per billing cycle, for all members together. */
  readonly credits: Credits
  readonly share: 'need' | 'equal'
  /** No cap falls below it while the pool lasts. */
  readonly min: Credits
  /** No cap rises above it; absent: the credits of the pool. */
  readonly max?: Credits
}

/** A cap and since when. */
export interface CapSince {
  readonly cap: Cap
  readonly at: Instant
}

export interface PoolMember {
  /** Use at joining, which the pool did not pay for. 0 for members at the first deal or at the cycle's start. */
  readonly base: Credits
  /** The highest known use in this cycle; absent while it was never known. */
  readonly use?: Credits
  /** The last cap read, and when it was first read; absent: never read. */
  readonly inForce?: CapSince
  /** The cap of the last deal; absent: nothing dealt yet, or protected. */
  readonly dealt?: Credits
  /** Values sent with an unknown outcome: they may still land, whatever was read since. */
  readonly sent: readonly CapSince[]
  /** Higher caps that were in force before, and when the lower one was first read: use under them may not show yet. */
  readonly lowered: readonly CapSince[]
  /** A user cap or user grant: dealt first, and at most this. */
  readonly fixed?: Credits
  /** Not dealt; counts at the cap in force. */
  readonly protected?: boolean
  /** Left the pool, under this cap: stays in the sum until the cycle ends. `settled`: the cap is gone and the use under it is known. */
  readonly left?: { readonly at: Instant; readonly cap?: Cap; readonly settled?: boolean }
}

export interface PoolState {
  /** The cycle that the use belongs to. */
  readonly cycle: Cycle
  /** A later start that one good reading named. That cycle begins when another reading, 10 min later, names it too. */
  readonly later?: { readonly startAt: Instant; readonly readAt: Instant }
  /** The latest good reading of use. */
  readonly readAt: Instant
  /** When caps were dealt last; absent before the first deal. */
  readonly dealtAt?: Instant
  /** Use under all lowered caps showed while the pool was frozen: the raises that it pays for are still to be dealt. */
  readonly hasShown?: boolean
  /** The terms of the last deal, to notice a changed declaration. */
  readonly terms?: PoolTerms
  /** Declaration and members (`PoolReview.key`) for which the guards let a deal through: later deals under the same key need no review. */
  readonly reviewed?: string
  /** By e-mail. */
  readonly members: Readonly<Record<string, PoolMember>>
}

/** A member as policy and roster say now. */
export interface MemberNow {
  readonly email: string
  readonly fixed?: Credits
  readonly protected?: boolean
}

/** A good reading of use, or why there is none. */
export type UseNow =
  | { readonly kind: 'known'; readonly readAt: Instant; readonly cycle?: Cycle; readonly used: ReadonlyMap<string, Credits> }
  | { readonly kind: 'unknown'; readonly why: string }

export interface PoolObservation {
  readonly now: Instant
  readonly use: UseNow
  /** The last readings of caps in force, of members and of those who left; a person who was never read is missing. */
  readonly caps: ReadonlyMap<string, CapSince>
  /** The last caps that we wrote and read back: each was in force from then on. */
  readonly verified?: ReadonlyMap<string, CapSince>
  /** Values sent with an unknown outcome, by e-mail: the answer was lost and the value did not read back, or the write is still open. */
  readonly sent: ReadonlyMap<string, readonly CapSince[]>
  /** Higher caps of people who join now, and when a write of ours lowered each. */
  readonly lowered?: ReadonlyMap<string, readonly CapSince[]>
  readonly members: readonly MemberNow[]
  /** The greatest age of a reading's figures. */
  readonly usageLagMs: number
}

/** Lowered caps of present members, under which use may not show yet. */
export const openLowers = ({ members }: PoolState): readonly CapSince[] =>
  Object.values(members).flatMap(({ left, lowered }) => (left ? [] : lowered))

/** Whether the credits do not pay the least cap for so many members. */
export const cannotPay = ({ credits, min }: PoolTerms, members: number): boolean => min * members > credits

/** A record without a prototype: an e-mail may be called anything. */
export const memberOf = (state: PoolState, email: string): PoolMember | undefined =>
  Object.hasOwn(state.members, email) ? state.members[email] : undefined
