// What each person counts for in the sum of a pool. It must never count a person below what they may have used or may still use.
import { amountOf, isGone } from './observe.ts'
import type { PoolMember, PoolState } from './state.ts'

const greatest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0)

const useOf = ({ use }: PoolMember): number => use ?? 0

/** The cap in force and the cap dealt; nothing for a person who left once the pool's cap is gone. */
function standing(member: PoolMember): readonly number[] {
  if (isGone(member)) return []
  const inForce = amountOf(member.inForce?.cap ?? (member.left ? (member.dealt ?? 'none') : 'none'))
  return member.left ? [inForce] : [inForce, member.dealt ?? 0]
}

/** Whether caps are dealt to the member. */
export const isDealt = ({ protected: isProtected, left }: PoolMember): boolean => !isProtected && !left

/** The count that lowering now can still reduce: use, the cap in force or dealt, values sent with an unknown outcome. Infinite without a known cap. */
export const standingCount = (member: PoolMember): number =>
  Math.max(0, greatest([useOf(member), ...standing(member), ...member.sent.map(({ cap }) => amountOf(cap))]) - member.base)

/** What the member counts for: the same, with lowered caps at their old value as long as use under them may not show yet. */
export const fullCount = (member: PoolMember): number =>
  Math.max(standingCount(member), greatest(member.lowered.map(({ cap }) => amountOf(cap))) - member.base)

/** The known use that the pool paid for. */
export const paidUse = (member: PoolMember): number => Math.max(0, useOf(member) - member.base)

/** Where no cap is known, only use can be counted; raises stop anyway. */
export function finiteCount(member: PoolMember): number {
  const count = standingCount(member)
  return Number.isFinite(count) ? count : paidUse(member)
}

/** The count by the deal, ignoring a different cap in force: that is reverted. A member without a deal counts at the cap in force. */
function dealtCount(member: PoolMember): number {
  if (!isDealt(member) || member.inForce === undefined) return finiteCount(member)
  return Math.max(0, Math.max(useOf(member), member.dealt ?? amountOf(member.inForce.cap)) - member.base)
}

const sumOver = (state: PoolState, count: (member: PoolMember) => number): number =>
  Object.values(state.members).reduce((sum, member) => sum + count(member), 0)

/** The counted sum, the only one: what is dealt, raised, shown and told goes by it. */
export const fullSum = (state: PoolState): number => sumOver(state, fullCount)
/** The sum that the deal comes to, once it is in force. */
export const dealtSum = (state: PoolState): number => sumOver(state, dealtCount)
export const paidSum = (state: PoolState): number => sumOver(state, paidUse)
