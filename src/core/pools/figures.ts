// What is shown of a pool: credits, used, dealt, when it is expected to run out, and one person's deal in words. It decides nothing.

import { type Cycle, isSameCycle } from '../model/observed.ts'
import type { Pool } from '../model/policy.ts'
import { count, DAY_MS, formatInstant, greatest, HOUR_MS, type Instant } from '../model/units.ts'
import { amountOf, isGone } from './observe.ts'
import { memberOf, type PoolMember, type PoolState } from './state.ts'

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
const standingCount = (member: PoolMember): number =>
  Math.max(0, greatest([useOf(member), ...standing(member), ...member.sent.map(({ cap }) => amountOf(cap))]) - member.base)

/** What the member counts for: the same, with lowered caps at their old value as long as use under them may not show yet. */
export const fullCount = (member: PoolMember): number =>
  Math.max(standingCount(member), greatest(member.lowered.map(({ cap }) => amountOf(cap))) - member.base)

/** The known use that the pool paid for. */
const paidUse = (member: PoolMember): number => Math.max(0, useOf(member) - member.base)

/** Where no cap is known, only use can be counted; raises stop anyway. */
export function finiteCount(member: PoolMember): number {
  const known = standingCount(member)
  return Number.isFinite(known) ? known : paidUse(member)
}

/** The count by the deal, ignoring a different cap in force: that is reverted. A member without a deal counts at the cap in force. */
function dealtCount(member: PoolMember): number {
  if (!isDealt(member) || member.inForce === undefined) return finiteCount(member)
  return Math.max(0, Math.max(useOf(member), member.dealt ?? amountOf(member.inForce.cap)) - member.base)
}

const sumOver = (state: PoolState, countOf: (member: PoolMember) => number): number =>
  Object.values(state.members).reduce((sum, member) => sum + countOf(member), 0)

/** The counted sum, the only one: what is dealt, raised, shown and told goes by it. */
export const fullSum = (state: PoolState): number => sumOver(state, fullCount)
/** The sum that the deal comes to, once it is in force. */
export const dealtSum = (state: PoolState): number => sumOver(state, dealtCount)
const paidSum = (state: PoolState): number => sumOver(state, paidUse)

/** The weight of the pool's mean, in a person's own days (found by trial). */
const MEAN_WEIGHT_DAYS = 3
/** Early in a cycle, a division by hours would give paces that nobody has. */
const FEWEST_DAYS = 0.5
/** No billing cycle is longer; a loop over outside data has a bound. */
const MOST_DAYS = 400

/** The epoch was a Thursday. */
const isWorkingDay = (day: number): boolean => (((day + 3) % 7) + 7) % 7 < 5

/** The working days between two instants, the first and the last in part; each is 1 day at most. */
function* workingSpans(fromAt: Instant, untilAt: Instant): Generator<{ readonly beginAt: Instant; readonly days: number }> {
  const first = Math.floor(fromAt / DAY_MS)
  for (let day = first; day * DAY_MS < untilAt && day - first < MOST_DAYS; day += 1) {
    if (!isWorkingDay(day)) continue
    const beginAt = Math.max(fromAt, day * DAY_MS)
    yield { beginAt, days: (Math.min(untilAt, (day + 1) * DAY_MS) - beginAt) / DAY_MS }
  }
}

/** Working days between two instants, with fractions. */
export const workingDays = (fromAt: Instant, untilAt: Instant): number =>
  workingSpans(fromAt, untilAt).reduce((sum, { days }) => sum + days, 0)

export type PoolPace = ReturnType<typeof poolPace>

/**
 * The pace of a pool at a moment of its cycle: credits for each person and working day, and the working days since the cycle began and until it
 * ends. `total`: what all of `people` have used in this cycle, as of `readAt`.
 */
export function poolPace(total: number, people: number, cycle: Cycle, readAt: Instant) {
  // By the full hour, so that a plan and the apply that follows it deal the same caps.
  const at = Math.floor(readAt / HOUR_MS) * HOUR_MS
  const daysLeft = workingDays(Math.max(at, cycle.startAt), cycle.endAt)
  const days = Math.max(FEWEST_DAYS, workingDays(cycle.startAt, Math.min(at, cycle.endAt)))
  return { mean: people === 0 ? 0 : total / people / days, days, daysLeft }
}

/** Credits a working day of a person with this use in the cycle; 1 for everybody while nobody has used anything. */
export const ownPace = ({ mean, days }: PoolPace, use: number): number =>
  mean === 0 ? 1 : (use + MEAN_WEIGHT_DAYS * mean) / (days + MEAN_WEIGHT_DAYS)

/** When `left` credits are gone at `pace` credits a working day; undefined when not before `untilAt`. */
export function exhaustionAt(left: number, pace: number, fromAt: Instant, untilAt: Instant): Instant | undefined {
  if (left <= 0) return fromAt
  if (pace <= 0) return undefined
  let rest = left / pace
  for (const { beginAt, days } of workingSpans(fromAt, untilAt)) {
    if (rest <= days) return Math.round(beginAt + rest * DAY_MS)
    rest -= days
  }
  return undefined
}

export type PoolFigures = Readonly<ReturnType<typeof poolFigures>>

/** The figures as of the last reading. */
export function poolFigures({ credits }: { readonly credits: number }, state: PoolState) {
  const used = paidSum(state)
  const dealt = fullSum(state)
  const staying = Object.entries(state.members).filter(([, { left }]) => !left)
  const total = staying.reduce((sum, [, { use = 0 }]) => sum + use, 0)
  const average = poolPace(total, staying.length, state.cycle, state.readAt)
  const pace = total === 0 ? 0 : staying.reduce((sum, [, { use = 0 }]) => sum + ownPace(average, use), 0)
  const exhaustedAt = exhaustionAt(credits - used, pace, state.readAt, state.cycle.endAt)
  return {
    /** When the use was read. */
    readAt: state.readAt,
    credits,
    /** Of the credits, by members and by those who left. */
    used,
    /** The sum that is kept within the credits (`fullSum`). Absent while somebody counts at no cap. */
    dealt: Number.isFinite(dealt) ? dealt : undefined,
    /** When the credits are expected to be used up; absent when not within the cycle. */
    exhaustedAt,
    members: staying.length,
    /** Everybody is at their use: the rest is less than one credit for each member. */
    isUsedUp: credits - used < Math.max(1, staying.filter(([, member]) => isDealt(member)).length),
  }
}

/** Those of the billing cycle: at its turn a pool is of the one before for a while. */
export const figuresIn = (cycle: Cycle | undefined, pool: { readonly credits: number }, state: PoolState | undefined) =>
  state && cycle && isSameCycle(state.cycle, cycle) ? poolFigures(pool, state) : undefined

const amount = (credits: number): string => String(Math.round(credits * 100) / 100)

/** The deal of a pool for one person, as `explain` shows it; `instantText` writes an instant for people. */
export function dealLines(pool: Pool, state: PoolState, email: string): readonly string[] {
  const { name, share, min, max } = pool
  const { credits, used, dealt, exhaustedAt, members } = poolFigures(pool, state)
  const member = memberOf(state, email)
  const within = `${min > 0 ? `, at least ${min}` : ''}${max === undefined ? '' : `, at most ${max}`}`
  const lines = [
    `pool ${name}: ${credits} credits for ${count(members, 'member')}, ${share === 'equal' ? 'the same head-room for everybody' : 'by need'}${within}`,
    `used ${amount(used)}, counted at ${dealt === undefined ? 'more than the credits: a member has no known cap, or had none lately' : amount(dealt)}`,
  ]
  if (state.dealtAt !== undefined) lines.push(`dealt ${formatInstant(state.dealtAt)}, use read ${formatInstant(state.readAt)}`)
  if (exhaustedAt !== undefined) lines.push(`expected to be used up ${formatInstant(exhaustedAt)}`)
  if (!member) return lines
  const own = [
    ...(member.use === undefined ? [] : [`used ${amount(paidUse(member))} of it`]),
    ...(member.base > 0 ? [`joined at a use of ${amount(member.base)}`] : []),
    ...(member.dealt === undefined ? [] : [`dealt ${member.dealt}`]),
    ...(member.fixed === undefined ? [] : [`own cap ${member.fixed}, dealt first`]),
    ...(member.protected ? ['not dealt, counts at the cap in force'] : []),
    ...member.lowered.map(({ cap, at }) => `counts at ${cap === 'none' ? 'no cap' : cap} until use up to ${formatInstant(at)} shows`),
    ...member.sent.map(({ cap, at }) => `${cap} sent ${formatInstant(at)} may still land`),
  ]
  return [...lines, `${email}: ${own.join(', ')}`]
}
