// What a team will still use until its cycle ends: each coming day is expected to be like the same weekday of recent weeks. Linear in the
// days it learns from, so that more use never lowers it. It never speaks on less than four weeks.
import { type Credits, credits, type Instant } from './units.ts'

export const DAY_MS = 86_400_000

/** What the whole team used on one UTC day. */
export interface DayUse {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  readonly credits: Credits
}

/** Days as runs told them: a day from `fromAt` to `readAt` that is not listed was a day without use. */
export interface DayHistory {
  /** The first UTC midnight from which every day was asked for. */
  readonly fromAt: Instant
  /** When the latest day was read. */
  readonly readAt: Instant
  readonly days: readonly DayUse[]
}

/** Percentiles of the credits used at the cycle's end. */
export interface Projection {
  readonly p10: Credits
  readonly p50: Credits
  readonly p90: Credits
}

/** Expected use from `fromAt` to the cycle's end. */
export interface Forecast {
  readonly fromAt: Instant
  readonly days: readonly { readonly fromAt: Instant; readonly untilAt: Instant; readonly credits: number }[]
  /** The standard error of the sum, as a share of it. */
  readonly spread: number
}

interface ForecastInputs {
  readonly history: DayHistory
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly freshnessMs: number
}

/** Complete days that a forecast needs. Choice. */
export const FEWEST_DAYS = 28
/** After so many days a past day counts half. */
const HALF_LIFE_DAYS = 14
const SPREAD = 0.1
/** Of the normal distribution: 80 % lie within so many standard errors. */
const Z_80 = 1.2816

/** Absent on less than 28 complete days. */
export function forecastFrom({ history, fromAt, untilAt, freshnessMs }: ForecastInputs): Forecast | undefined {
  const uses = completeDays(history, freshnessMs)
  if (uses.length < FEWEST_DAYS) return undefined
  const endDay = Math.floor(history.fromAt / DAY_MS) + uses.length
  const expected = expectedByWeekday(uses, endDay)
  const days = []
  for (let day = Math.floor(fromAt / DAY_MS); day * DAY_MS < untilAt; day += 1) {
    const [from, until] = [Math.max(fromAt, day * DAY_MS), Math.min(untilAt, (day + 1) * DAY_MS)]
    days.push({ fromAt: from, untilAt: until, credits: ((expected[day % 7] ?? 0) * (until - from)) / DAY_MS })
  }
  return { fromAt, days, spread: SPREAD }
}

/** The use of each complete day in order, from the first on. */
function completeDays({ fromAt, readAt, days }: DayHistory, freshnessMs: number): readonly number[] {
  const first = Math.floor(fromAt / DAY_MS)
  const count = Math.max(0, Math.floor((readAt - freshnessMs) / DAY_MS) - first)
  const uses = Array.from({ length: count }, () => 0)
  for (const { dayAt, credits: used } of days) {
    const index = Math.floor(dayAt / DAY_MS) - first
    if (index >= 0 && index < count) uses[index] = (uses[index] ?? 0) + used
  }
  return uses
}

function expectedByWeekday(uses: readonly number[], endDay: number): readonly number[] {
  const sums = Array.from({ length: 7 }, () => 0)
  const weights = Array.from({ length: 7 }, () => 0)
  uses.forEach((use, index) => {
    const ageDays = uses.length - index
    const weekday = (endDay - ageDays) % 7
    const weight = 0.5 ** (ageDays / HALF_LIFE_DAYS)
    sums[weekday] = (sums[weekday] ?? 0) + weight * use
    weights[weekday] = (weights[weekday] ?? 0) + weight
  })
  return sums.map((sum, weekday) => sum / (weights[weekday] ?? 1))
}

/** Percentiles of what will have been used when the forecast ends, given what is used. */
export function projectionOf(used: number, { days, spread }: Forecast): Projection {
  const rest = days.reduce((sum, day) => sum + day.credits, 0)
  const at = (z: number) => credits(used + rest * Math.max(0, 1 + z * spread))
  return { p10: at(-Z_80), p50: at(0), p90: at(Z_80) }
}
