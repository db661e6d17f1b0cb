// How much the members of a pool are expected to use until their cycle ends. Own pace counts, shrunk to the mean of the pool by three days'
// weight; days are working days, Monday to Friday in UTC. Without any use yet everybody is expected alike.
import type { Cycle } from '../model/observed.ts'
import type { Instant } from '../model/units.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
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

export interface Expected {
  /** Credits a working day, by e-mail. */
  readonly paces: ReadonlyMap<string, number>
  readonly daysLeft: number
}

/** `used`: in this cycle, by e-mail, as of `readAt`. */
export function expectedUse(used: ReadonlyMap<string, number>, cycle: Cycle, readAt: Instant): Expected {
  // By the full hour, so that a plan and the apply that follows it deal alike.
  const at = Math.floor(readAt / HOUR_MS) * HOUR_MS
  const daysLeft = workingDays(Math.max(at, cycle.startAt), cycle.endAt)
  const days = Math.max(FEWEST_DAYS, workingDays(cycle.startAt, Math.min(at, cycle.endAt)))
  const total = used.values().reduce((sum, one) => sum + one, 0)
  const mean = used.size === 0 ? 0 : total / used.size / days
  const paceOf = (use: number): number => (mean === 0 ? 1 : (use + MEAN_WEIGHT_DAYS * mean) / (days + MEAN_WEIGHT_DAYS))
  return { paces: new Map(used.entries().map(([email, use]) => [email, paceOf(use)])), daysLeft }
}

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
