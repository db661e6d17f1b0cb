// What is remembered of a pool between deals: plain data that the ledger keeps as one fact, recorded before any write of a deal. It never
// forgets a value that may still be in force somewhere: that is what keeps the sum after a crash, a lost answer or a stale reading.
import type { Cycle } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { Credits, Instant } from '../model/units.ts'

/** What a policy says of a pool, without its members. */
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
  /** Use at joining: paid for by somebody else. 0 for those who were there at the first deal or at the cycle's start. */
  readonly base: Credits
  /** The highest known use in this cycle; absent while it was never known. */
  readonly use?: Credits
  /** The cap in force as it was read last, and when it was first read so; absent: never read. */
  readonly inForce?: CapSince
  /** What the last deal gave; absent: nothing yet, and for protected people. */
  readonly dealt?: Credits
  /** Values sent whose end is not known: they may land yet, whatever was read since. */
  readonly sent: readonly CapSince[]
  /** Higher caps that were in force before, and when the lower one was first read: use under them may not show yet. */
  readonly lowered: readonly CapSince[]
  /** A user cap or user grant: dealt first, at most what is left. */
  readonly fixed?: Credits
  /** Not dealt; counts at the cap in force. */
  readonly protected?: boolean
  /** Left the pool, under this cap: what stays in the sum until the cycle's end. `settled`: the cap is gone and the use under it is known. */
  readonly left?: { readonly at: Instant; readonly cap?: Cap; readonly settled?: boolean }
}

export interface PoolState {
  /** The cycle that the use belongs to. */
  readonly cycle: Cycle
  /** A later start that one good reading named; the cycle begins when another one, 10 min later, names it too. */
  readonly later?: { readonly startAt: Instant; readonly readAt: Instant }
  /** The latest good reading of use. */
  readonly readAt: Instant
  /** When caps were dealt last; absent before the first deal. */
  readonly dealtAt?: Instant
  /** Use under all lowered caps came to show while the pool was frozen: the raises that this pays for are to be dealt yet. */
  readonly hasShown?: boolean
  /** Under which terms; a deal under others is a changed declaration. */
  readonly terms?: PoolTerms
  /** Declaration and members (`reviewKey`) whose deal the guards have let through: later deals of the same move within it. */
  readonly reviewed?: string
  /** By e-mail. */
  readonly members: Readonly<Record<string, PoolMember>>
}

/** A member as policy and roster have it now. */
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
  /** Caps in force, of members and of those who left, as they were read last; who was never read is not listed. */
  readonly caps: ReadonlyMap<string, CapSince>
  /** What we wrote there last and read back: it was in force from then on, whoever looked. */
  readonly verified?: ReadonlyMap<string, CapSince>
  /** Values sent whose end is not known, by e-mail: the answer was lost and they did not read back, or their write is still open. */
  readonly sent: ReadonlyMap<string, readonly CapSince[]>
  /** Higher caps that were in force for those who come in now, and when a write of ours took each away. */
  readonly lowered?: ReadonlyMap<string, readonly CapSince[]>
  readonly members: readonly MemberNow[]
  /** How old the figures of a reading can be at most. */
  readonly usageLagMs: number
}

/** Lowered caps of those who stay, under which use may not show yet. */
export const openLowers = ({ members }: PoolState): readonly CapSince[] =>
  Object.values(members).flatMap(({ left, lowered }) => (left ? [] : lowered))

/** A record without a prototype: an e-mail may be called anything. */
export const memberOf = (state: PoolState, email: string): PoolMember | undefined =>
  Object.hasOwn(state.members, email) ? state.members[email] : undefined
