// At what each person counts in the sum of a pool. It must never count anybody below what they may have used or may use yet.
import { amountOf, isGone } from './observe.ts'
import type { PoolMember, PoolState } from './state.ts'

const greatest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0)

const useOf = ({ use }: PoolMember): number => use ?? 0

/** The cap in force, and what the standing deal gives; nothing of the pool once it is gone for somebody who left. */
function standing(member: PoolMember): readonly number[] {
  if (isGone(member)) return []
  return [amountOf(member.inForce?.cap ?? 'none'), member.dealt ?? 0]
}

/** What lowers of now can still change: use, the cap in force or given, values sent whose end is not known. Infinite without a known cap. */
export const standingCount = (member: PoolMember): number =>
  Math.max(0, greatest([useOf(member), ...standing(member), ...member.sent.map(({ cap }) => amountOf(cap))]) - member.base)

/** The same with lowered caps at their old value, as long as use under them may not show. */
export const fullCount = (member: PoolMember): number =>
  Math.max(standingCount(member), greatest(member.lowered.map(({ cap }) => amountOf(cap))) - member.base)

/** What the pool paid so far, as far as it is known. */
export const paidUse = (member: PoolMember): number => Math.max(0, useOf(member) - member.base)

const sumOver = (state: PoolState, count: (member: PoolMember) => number): number =>
  Object.values(state.members).reduce((sum, member) => sum + count(member), 0)

export const fullSum = (state: PoolState): number => sumOver(state, fullCount)
export const standingSum = (state: PoolState): number => sumOver(state, standingCount)
export const paidSum = (state: PoolState): number => sumOver(state, paidUse)
