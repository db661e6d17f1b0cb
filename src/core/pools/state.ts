// What is remembered of a pool between deals: plain data that the ledger keeps as one fact, recorded before any write of a deal. It never
// forgets a value that may still be in force: so the sum is kept after a crash, a lost answer or an old reading.
import { CYCLE } from '../model/observed.ts'
import { CAP, POOL_TERMS } from '../model/policy.ts'
import { amount, boolean, instant, list, type Of, optional, record, shape, text } from '../model/shape.ts'

const TERMS = shape(POOL_TERMS)
export type PoolTerms = Of<typeof TERMS>

/** A cap and since when. */
const CAP_SINCE = shape({ cap: CAP, at: instant })
export type CapSince = Of<typeof CAP_SINCE>

const MEMBER = shape({
  /** Use at joining, which the pool did not pay for. 0 for members at the first deal or at the cycle's start. */
  base: amount,
  /** The highest known use in this cycle; absent while it was never known. */
  use: optional(amount),
  /** The last cap read, and when it was first read; absent: never read. */
  inForce: optional(CAP_SINCE),
  /** The cap of the last deal; absent: nothing dealt yet, or protected. */
  dealt: optional(amount),
  /** Values sent with an unknown outcome: they may still land, whatever was read since. */
  sent: list(CAP_SINCE),
  /** Higher caps that were in force before, and when the lower one was first read: use under them may not show yet. */
  lowered: list(CAP_SINCE),
  /** A user cap or user grant: dealt first, and at most this. */
  fixed: optional(amount),
  /** Not dealt; counts at the cap in force. */
  protected: optional(boolean),
  /** Left the pool, under this cap: stays in the sum until the cycle ends. `settled`: the cap is gone and the use under it is known. */
  left: optional(shape({ at: instant, cap: optional(CAP), settled: optional(boolean) })),
})
export type PoolMember = Of<typeof MEMBER>

export const POOL_STATE = shape({
  /** The cycle that the use belongs to. */
  cycle: CYCLE,
  /** A later start that one good reading named. That cycle begins when another reading, 10 min later, names it too. */
  later: optional(shape({ startAt: instant, readAt: instant })),
  /** The latest good reading of use. */
  readAt: instant,
  /** When caps were dealt last; absent before the first deal. */
  dealtAt: optional(instant),
  /** Use under all lowered caps showed while the pool was frozen: the raises that it pays for are still to be dealt. */
  hasShown: optional(boolean),
  /** The terms of the last deal, to notice a changed declaration. */
  terms: optional(TERMS),
  /** Declaration and members (`PoolReview.key`) for which the guards let a deal through: later deals under the same key need no review. */
  reviewed: optional(text),
  /** By e-mail. */
  members: record(MEMBER),
})
export type PoolState = Of<typeof POOL_STATE>

/** A member as policy and roster say now. */
export interface MemberNow extends Pick<PoolMember, 'fixed' | 'protected'> {
  readonly email: string
}

/** Whether the credits do not pay the least cap for so many members. */
export const cannotPay = ({ credits, min }: PoolTerms, members: number): boolean => min * members > credits

/** A record without a prototype: an e-mail may be called anything. */
export const memberOf = (state: PoolState, email: string): PoolMember | undefined =>
  Object.hasOwn(state.members, email) ? state.members[email] : undefined
