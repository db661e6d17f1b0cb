// How much the members of a pool are expected to use until their cycle ends. Own pace counts, shrunk to the mean of the pool by three days'
// weight; days are working days, Monday to Friday in UTC. Without any use yet everybody is expected alike.
import type { Cycle } from '../model/observed.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../model/units.ts'

/** What the pool's mean counts beside a person's own days (goals.md: found by trial). */
const MEAN_WEIGHT_DAYS = 3
/** Early on a division by hours would see paces that nobody has. */
const FEWEST_DAYS = 0.5
/** No billing cycle is longer; a loop over outside data has a bound. */
const MOST_DAYS = 400

/** The epoch was a Thursday. */
const isWorkingDay = (day: number): boolean => (((day + 3) % 7) + 7) % 7 < 5

/** Working days between two instants, with fractions. */
export function workingDays(fromAt: Instant, untilAt: Instant): number {
  let days = 0
  const first = Math.floor(fromAt / DAY_MS)
  for (let day = first; day * DAY_MS < untilAt && day - first < MOST_DAYS; day += 1) {
    if (isWorkingDay(day)) days += (Math.min(untilAt, (day + 1) * DAY_MS) - Math.max(fromAt, day * DAY_MS)) / DAY_MS
  }
  return days
}

/** What is known of the pace of a pool at a moment of its cycle. */
export interface PoolPace {
  /** Credits a person and working day. */
  readonly mean: number
  /** Working days that are over. */
  readonly days: number
  /** Working days that are left. */
  readonly daysLeft: number
}

/** `total`: what so many people have used in this cycle, as of `readAt`. */
export function poolPace(total: number, people: number, cycle: Cycle, readAt: Instant): PoolPace {
  // By the full hour, so that a plan and the apply that follows it deal alike.
  const at = Math.floor(readAt / HOUR_MS) * HOUR_MS
  const daysLeft = workingDays(Math.max(at, cycle.startAt), cycle.endAt)
  const days = Math.max(FEWEST_DAYS, workingDays(cycle.startAt, Math.min(at, cycle.endAt)))
  return { mean: people === 0 ? 0 : total / people / days, days, daysLeft }
}

/** Credits a working day of somebody who has used so much in this cycle; everybody alike while nobody has. */
export const ownPace = ({ mean, days }: PoolPace, use: number): number =>
  mean === 0 ? 1 : (use + MEAN_WEIGHT_DAYS * mean) / (days + MEAN_WEIGHT_DAYS)

/** When `left` credits are gone at so many credits a working day; absent when not before `untilAt`. */
export function exhaustionAt(left: number, pace: number, fromAt: Instant, untilAt: Instant): Instant | undefined {
  if (left <= 0) return fromAt
  if (pace <= 0) return undefined
  let rest = left / pace
  const first = Math.floor(fromAt / DAY_MS)
  for (let day = first; day * DAY_MS < untilAt && day - first < MOST_DAYS; day += 1) {
    if (!isWorkingDay(day)) continue
    const begin = Math.max(fromAt, day * DAY_MS)
    const length = (Math.min(untilAt, (day + 1) * DAY_MS) - begin) / DAY_MS
    if (rest <= length) return Math.round(begin + rest * DAY_MS)
    rest -= length
  }
  return undefined
}
