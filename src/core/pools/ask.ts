// What a standing deal asks for a member at this moment. It holds raises back while the sum is above the credits, whatever the deal gave.

import type { Credits, Instant } from '../model/units.ts'
import { finiteCount, fullCount, fullSum, isDealt } from './count.ts'
import { memberOf, type PoolMember, type PoolState, type PoolTerms } from './state.ts'

/**
 * The cap to ask for; undefined while nothing was dealt, for who is not dealt, and for who has to stay at 0, which no deal asks for. A raise
 * that is open waits while the sum is above.
 */
export function capToAsk({ credits }: Pick<PoolTerms, 'credits'>, state: PoolState, email: string): Credits | undefined {
  const member = memberOf(state, email)
  if (!member || !isDealt(member) || member.dealt === undefined) return undefined
  const inForce = member.inForce?.cap
  if (inForce === undefined || inForce === 'none' || inForce >= member.dealt || !isAbove(state, credits)) return member.dealt
  return inForce < 1 ? undefined : inForce
}

/**
 * Whether somebody keeps the cap in force, because a raise has to wait: who was dealt more and is at 0, while the sum is above. Nothing is dealt
 * to protected members, and a cap declared for one of them is theirs; but while the raises of all of them do not fit into the credits, they keep
 * what is in force.
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

/** What is in force, and since when it was read so. */
export interface KeptCap {
  readonly cap: Credits
  readonly at: Instant
}

/** Members of whom nothing may be asked, not dealt yet or left alone for a rule: they follow a wider cap as far as the credits pay for it. */
export interface Followers {
  /** Credits that nobody counts at, nor is to get. */
  readonly room: number
  readonly members: readonly Follower[]
}

export interface Follower {
  readonly email: string
  readonly base: Credits
  readonly count: number
  /** The deal leaves them at 0, which it asks of nobody: they follow nothing upwards, whatever the credits pay for. */
  readonly isLeftAtZero: boolean
}

/** Who may follow a wider cap upwards, and what there is for all of them together. */
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

/** Of who was never read, and of who had no cap lately, what is known counts. */
const knownCount = (member: PoolMember): number => (Number.isFinite(fullCount(member)) ? fullCount(member) : finiteCount(member))

/** What a member with a cap of their own would add to the sum. */
const wantedBy = (member: PoolMember): number => Math.max(0, (member.fixed ?? 0) - member.base - fullCount(member))

const sums = new WeakMap<PoolState, number>()

/** The sum is asked for once for each member of the same state. */
function isAbove(state: PoolState, credits: number): boolean {
  const known = sums.get(state) ?? fullSum(state)
  sums.set(state, known)
  return known > credits
}
