// At what each person counts in the sum of a pool. It must never count anybody below what they may have used or may use yet.
import { amountOf, isGone } from './observe.ts'
import type { PoolMember, PoolState } from './state.ts'

const greatest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0)

const useOf = ({ use }: PoolMember): number => use ?? 0

/** The cap in force, and what the standing deal gives; nothing of the pool once it is gone for somebody who left. */
function standing(member: PoolMember): readonly number[] {
  if (isGone(member)) return []
  const inForce = amountOf(member.inForce?.cap ?? (member.left ? (member.dealt ?? 'none') : 'none'))
  return member.left ? [inForce] : [inForce, member.dealt ?? 0]
}

/** Whom caps are dealt to. */
export const isDealt = ({ protected: isProtected, left }: PoolMember): boolean => !isProtected && !left

/** What lowers of now can still change: use, the cap in force or given, values sent whose end is not known. Infinite without a known cap. */
export const standingCount = (member: PoolMember): number =>
  Math.max(0, greatest([useOf(member), ...standing(member), ...member.sent.map(({ cap }) => amountOf(cap))]) - member.base)

/** The same with lowered caps at their old value, as long as use under them may not show. */
export const fullCount = (member: PoolMember): number =>
  Math.max(standingCount(member), greatest(member.lowered.map(({ cap }) => amountOf(cap))) - member.base)

/** What the pool paid so far, as far as it is known. */
export const paidUse = (member: PoolMember): number => Math.max(0, useOf(member) - member.base)

/** Without a known cap use is all that can be counted; raises stop anyway. */
export function finiteCount(member: PoolMember): number {
  const count = standingCount(member)
  return Number.isFinite(count) ? count : paidUse(member)
}

/** What the deal comes to, whatever is in force beside it: healing puts that back. Who is not dealt yet counts at the cap in force. */
function dealtCount(member: PoolMember): number {
  if (!isDealt(member) || member.inForce === undefined) return finiteCount(member)
  return Math.max(0, Math.max(useOf(member), member.dealt ?? amountOf(member.inForce.cap)) - member.base)
}

const sumOver = (state: PoolState, count: (member: PoolMember) => number): number =>
  Object.values(state.members).reduce((sum, member) => sum + count(member), 0)

export const fullSum = (state: PoolState): number => sumOver(state, fullCount)
export const standingSum = (state: PoolState): number => sumOver(state, standingCount)
export const dealtSum = (state: PoolState): number => sumOver(state, dealtCount)
export const paidSum = (state: PoolState): number => sumOver(state, paidUse)
