// The cap that the last deal asks for a member now. It holds raises back while the sum is above the credits, whatever was dealt.

import type { Credits, Instant } from '../model/units.ts'
import { finiteCount, fullCount, fullSum, isDealt } from './figures.ts'
import { memberOf, type PoolMember, type PoolState, type PoolTerms } from './state.ts'

/**
 * The cap to ask for. Undefined while nothing was dealt, for members who are not dealt, and for members at 0 who cannot be raised: no deal asks
 * for 0. While the sum is above the credits, a raise that is not yet in force waits.
 */
export function capToAsk({ credits }: Pick<PoolTerms, 'credits'>, state: PoolState, email: string): Credits | undefined {
  const member = memberOf(state, email)
  if (!member || !isDealt(member) || member.dealt === undefined) return undefined
  const inForce = member.inForce?.cap
  if (inForce === undefined || inForce === 'none' || inForce >= member.dealt || !isAbove(state, credits)) return member.dealt
  return inForce < 1 ? undefined : inForce
}

/**
 * Whether a member keeps the cap in force because a raise has to wait. That is so for a member at 0 who was dealt more, while the sum is above
 * the credits. Protected members are not dealt and get the cap declared for them; but while the raises of all of them together do not fit into
 * the credits, each keeps the cap in force.
 */
export function keepsCap({ credits }: Pick<PoolTerms, 'credits'>, state: PoolState, email: string): boolean {
  const member = memberOf(state, email)
  const kept = keptCap(member)
  if (!member || !kept || member.left) return false
  if (!member.protected) return kept.cap < 1 && (member.dealt ?? 0) > kept.cap && isAbove(state, credits)
  if ((member.fixed ?? 0) <= kept.cap) return false
  const more = Object.values(state.members).reduce((sum, one) => sum + (one.protected && !one.left ? wantedBy(one) : 0), 0)
  return more > credits - fullSum(state)
}

/** The cap in force, where there is one. */
export function keptCap(member: PoolMember | undefined): KeptCap | undefined {
  const { cap, at } = member?.inForce ?? {}
  return cap === undefined || cap === 'none' || at === undefined ? undefined : { cap, at }
}

/** The cap in force, and when it was first read. */
export interface KeptCap {
  readonly cap: Credits
  readonly at: Instant
}

/**
 * Members without a cap to ask for, because nothing is dealt to them yet or a rule's answer is not known: they may inherit a higher cap only as
 * far as the credits pay for it.
 */
export interface Followers {
  /** Credits that are neither counted for a member nor promised to one. */
  readonly room: number
  readonly members: readonly Follower[]
}

interface Follower {
  readonly email: string
  readonly base: Credits
  readonly count: number
  /** The member is at 0 and the deal asks for nothing: no inherited raise applies, whatever the credits pay for. */
  readonly isLeftAtZero: boolean
}

/** The members who may inherit a higher cap, and the credits for all of them together. */
export function followersIn(terms: Pick<PoolTerms, 'credits'>, state: PoolState): Followers {
  const staying = Object.entries(state.members).filter(([, { left }]) => !left)
  const wanted = staying.reduce((sum, [, one]) => sum + (one.protected ? wantedBy(one) : 0), 0)
  const free = terms.credits - fullSum(state)
  const members = staying.map(([email, one]): Follower => {
    const isAtZero = state.dealtAt !== undefined && isDealt(one) && one.inForce?.cap === 0
    const isLeftAtZero = isAtZero && capToAsk(terms, state, email) === undefined
    return { email, base: one.base, count: knownCount(one), isLeftAtZero }
  })
  return { room: wanted > free ? free : free - wanted, members }
}

/** Where the full count is infinite (never read, or uncapped lately), the finite count. */
const knownCount = (member: PoolMember): number => (Number.isFinite(fullCount(member)) ? fullCount(member) : finiteCount(member))

/** What a member with a cap of their own would add to the sum. */
const wantedBy = (member: PoolMember): number => Math.max(0, (member.fixed ?? 0) - member.base - fullCount(member))

const sums = new WeakMap<PoolState, number>()

/** Cached: it is asked for each member of the same state. */
function isAbove(state: PoolState, credits: number): boolean {
  const known = sums.get(state) ?? fullSum(state)
  sums.set(state, known)
  return known > credits
}
