// How much the members of a pool are expected to use until their cycle ends: by their own pace, shrunk to the mean of the pool with a weight of
// three days. Days are working days, Monday to Friday in UTC. Until there is any use, everybody is expected to use the same.
import type { Cycle } from '../model/observed.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../model/units.ts'

/** The weight of the pool's mean, in a person's own days (found by trial). */
const MEAN_WEIGHT_DAYS = 3
/** Early in a cycle, a division by hours would give paces that nobody has. */
const FEWEST_DAYS = 0.5
/** No billing cycle is longer; a loop over outside data has a bound. */
const MOST_DAYS = 400

/** The epoch was a Thursday. */
const isWorkingDay = (day: number): boolean => (((day + 3) % 7) + 7) % 7 < 5

interface WorkingSpan {
  readonly beginAt: Instant
  /** At most 1. */
  readonly days: number
}

/** The working days between two instants, the first and the last in part. */
function* workingSpans(fromAt: Instant, untilAt: Instant): Generator<WorkingSpan> {
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

/** The pace of a pool at a moment of its cycle. */
export interface PoolPace {
  /** Credits for each person and working day. */
  readonly mean: number
  /** Working days since the cycle began. */
  readonly days: number
  /** Working days until it ends. */
  readonly daysLeft: number
}

/** `total`: what all of `people` have used in this cycle, as of `readAt`. */
export function poolPace(total: number, people: number, cycle: Cycle, readAt: Instant): PoolPace {
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
