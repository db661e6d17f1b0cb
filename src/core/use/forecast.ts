// What a team has used by day, and what it will still use until its cycle ends. Each coming day is expected to be like the same weekday of the
// last eight weeks, where each week back counts half. That is linear in the past days, so more use never lowers the forecast. The spread is the
// error that it had in past weeks. Days before the first use do not count: a team may not have existed yet, and the result must not depend on
// how far back days were read. It says nothing with less than four weeks. Also doubts figures that look as if they had another unit.

import { type Cycle, SETTLE_MS } from '../model/observed.ts'
import { type Credits, credits, DAY_MS, HOUR_MS, type Instant, wholeCents } from '../model/units.ts'

/** The readings around a window's start may be so far apart, or a third of the window when that is more. Choice. */
const HOLE_MS = 4 * HOUR_MS

/** The use of the whole roster in the cycle of `at`. */
export interface UseReading {
  readonly at: Instant
  readonly used: Credits
}

/** The use of the whole team on a UTC day; entries of the same day are added up. */
interface DayUse {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  readonly credits: Credits
}

/** Days of use. A day from `fromAt` to `readAt` that is not listed had no use. */
export interface DayHistory {
  /** The first UTC midnight from which every day was read. */
  readonly fromAt: Instant
  /** When the latest day was read. */
  readonly readAt: Instant
  readonly days: readonly DayUse[]
}

/** Credits used evenly between two instants. */
interface Stretch {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly credits: number
}

export interface UseCurve {
  /** The highest reading of this cycle: used credits do not come back when people leave the roster. */
  readonly used: number
  /** The latest reading. */
  readonly readAt: Instant
  /** All use before this instant is in `used`: the latest increase, or the latest reading when that increase is long ago. */
  readonly freshAt: Instant
  readonly startAt: Instant
  /** Instants at which use is known, in order. */
  readonly knownAts: readonly Instant[]
  readonly stretches: readonly Stretch[]
}

interface CurveInputs {
  readonly now: Instant
  readonly readings: readonly UseReading[]
  readonly cycle: Cycle
  readonly freshnessMs: number
}

/** Undefined without a believable reading of this cycle. */
export function useCurve({ now, readings, cycle: { startAt, endAt }, freshnessMs }: CurveInputs): UseCurve | undefined {
  const sorted = readings.filter(({ at, used }) => at <= Math.min(now, endAt) && Number.isFinite(used)).toSorted((a, b) => a.at - b.at)
  const before = sorted.filter(({ at }) => at < startAt)
  const since = sorted.filter(({ at }) => at >= startAt + SETTLE_MS)
  const last = since.at(-1)
  if (!last) return undefined
  const climbed = climb([{ at: startAt, used: 0 }, ...since], freshnessMs)
  return {
    used: climbed.used,
    readAt: last.at,
    freshAt: last.at - climbed.increasedAt < freshnessMs ? climbed.increasedAt : last.at,
    startAt,
    knownAts: [...before.map(({ at }) => at), startAt, ...since.map(({ at }) => at)],
    stretches: [...climb(before, freshnessMs).stretches, ...climbed.stretches],
  }
}

/**
 * Increases over the highest reading so far. An increase was used since the one before it, but not longer ago than the service takes to show
 * use, unless there was no reading for longer than that.
 */
function climb(readings: readonly { readonly at: Instant; readonly used: number }[], freshnessMs: number) {
  const stretches: Stretch[] = []
  let used = readings[0]?.used ?? 0
  let increasedAt = readings[0]?.at ?? 0
  let readAt = increasedAt
  for (const reading of readings) {
    if (reading.used > used) {
      const fromAt = Math.min(readAt, Math.max(increasedAt, reading.at - freshnessMs))
      stretches.push({ fromAt, untilAt: reading.at, credits: reading.used - used })
      used = reading.used
      increasedAt = reading.at
    }
    readAt = reading.at
  }
  return { stretches, used, increasedAt }
}

/**
 * Credits used in the window that ends with the latest fresh reading. A window that begins in the cycle before counts the use of both. Undefined
 * when the readings around its start, or around the cycle's start, are too far apart.
 */
export function burnedByReadings({ knownAts, startAt, freshAt, stretches }: UseCurve, windowMs: number): number | undefined {
  const fromAt = freshAt - windowMs
  const holeMs = Math.max(HOLE_MS, windowMs / 3)
  const isKnown = (at: Instant): boolean => {
    const [before, after] = [knownAts.findLast((known) => known <= at), knownAts.find((known) => known >= at)]
    return before !== undefined && after !== undefined && after - before <= holeMs
  }
  // The last instant before the cycle's start: use between the last reading and the reset is lost.
  const isWhole = isKnown(fromAt) && (fromAt >= startAt || isKnown(startAt - 1))
  return isWhole ? within(stretches, fromAt, freshAt) : undefined
}

/** The same up to the latest reading of the days, with each day's use spread evenly; undefined for windows shorter than three days. */
export function burnedByDays({ fromAt: firstAt, readAt, days }: DayHistory, windowMs: number): number | undefined {
  const fromAt = readAt - windowMs
  if (windowMs < 3 * DAY_MS || fromAt < firstAt) return undefined
  const stretches = days.map(({ dayAt, credits }) => ({ fromAt: dayAt, untilAt: Math.min(dayAt + DAY_MS, readAt), credits }))
  return within(stretches, fromAt, readAt)
}

const within = (stretches: readonly Stretch[], fromAt: Instant, untilAt: Instant): number =>
  stretches.reduce((sum, one) => {
    const overlapMs = Math.min(untilAt, one.untilAt) - Math.max(fromAt, one.fromAt)
    return overlapMs > 0 ? sum + (one.credits * overlapMs) / (one.untilAt - one.fromAt) : sum
  }, 0)

/** Two figures of the same thing; either may be missing. */
interface FigurePair {
  /** Their name for people, such as `add-on credits`. */
  readonly of: string
  readonly first: { readonly name: string; readonly credits: Credits | undefined }
  readonly second: { readonly name: string; readonly credits: Credits | undefined }
}

/** A probable unit error, worded for one log line. */
interface UnitDoubt {
  readonly of: string
  /** The larger divided by the smaller. */
  readonly factor: number
  readonly message: string
}

/** Smaller figures are not compared: one of the two may only be a little late. Choice. */
const FEWEST_CREDITS = 10
/** A factor in this range is taken for 100. Choice. */
const FACTORS = { low: 70, high: 140 }

/** The pairs that differ by a factor of 70 to 140, both 10 credits or more. Choice. */
export function unitDoubt(pairs: readonly FigurePair[]): readonly UnitDoubt[] {
  return pairs.flatMap(({ of, first, second }) => {
    const [a, b] = [first.credits, second.credits]
    if (a === undefined || b === undefined || Math.min(a, b) < FEWEST_CREDITS) return []
    const factor = Math.max(a, b) / Math.min(a, b)
    if (factor < FACTORS.low || factor > FACTORS.high) return []
    const message = `${of}: ${first.name} says ${Math.round(a)}, ${second.name} says ${Math.round(b)} credits, a factor of ${Math.round(factor)}; one of them is probably in cents`
    return [{ of, factor, message }]
  })
}

/** Percentiles of the credits used at the cycle's end. */
export interface Projection {
  readonly p10: Credits
  readonly p50: Credits
  readonly p90: Credits
}

/** Rounded for display. */
export const projectedCents = ({ p10, p50, p90 }: Projection): Projection => ({
  p10: wholeCents(p10),
  p50: wholeCents(p50),
  p90: wholeCents(p90),
})

/** Expected use to the cycle's end, day by day. */
export interface Forecast {
  readonly days: readonly Stretch[]
  /** The standard error of the sum, as a share of it: 0 to 1. */
  readonly spread: number
}

interface ForecastInputs {
  readonly history: DayHistory
  /** Use before this instant is known. */
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly freshnessMs: number
}

/** How many complete days a forecast needs since the first use, and how many it uses at most. Choice. */
const FORECAST_DAYS = { fewest: 28, most: 56 }
/** The first day that must be read for it: today and yesterday may not be complete. */
export const forecastReadsFrom = (now: Instant): Instant => (dayOf(now) - FORECAST_DAYS.most - 1) * DAY_MS
/** The weight of a week relative to the one after it. More is a little better while use is steady, and far worse while a team is taking up the tool. */
const EACH_WEEK_BACK = 0.5
/** How many days must precede a past week that the forecast is tested on. */
const LEARNING_DAYS = 14
/** Counts as one more week with this error, because a few weeks that happened to be alike prove little. */
const USUAL_SPREAD = 0.1
/** With a larger spread the percentiles would be absurd. */
const WIDEST_SPREAD = 1
/** In a normal distribution, 80 % lie within so many standard errors. */
const Z_80 = 1.2816

/** Undefined with less than 28 complete days since the first use in the last 56. */
export function forecastFrom({ history, fromAt, untilAt, freshnessMs }: ForecastInputs): Forecast | undefined {
  const uses = completeDays(history, freshnessMs)
  const recent = sinceFirstUse(uses.slice(-FORECAST_DAYS.most))
  if (recent.length < FORECAST_DAYS.fewest) return undefined
  const expected = nextWeek(recent)
  const nextDay = dayOf(history.fromAt) + uses.length
  const days: Stretch[] = []
  for (let day = dayOf(fromAt); day * DAY_MS < untilAt; day += 1) {
    const stretch = { fromAt: Math.max(fromAt, day * DAY_MS), untilAt: Math.min(untilAt, (day + 1) * DAY_MS) }
    // Use may be known from a day that is already complete.
    const credits = expected[(((day - nextDay) % 7) + 7) % 7] ?? 0
    days.push({ ...stretch, credits: (credits * (stretch.untilAt - stretch.fromAt)) / DAY_MS })
  }
  return { days, spread: spreadOf(recent) }
}

const dayOf = (at: Instant): number => Math.floor(at / DAY_MS)

/** The use of each complete day in order; a day is complete when it was read after its use could be seen. */
function completeDays({ fromAt, readAt, days }: DayHistory, freshnessMs: number): readonly number[] {
  const first = dayOf(fromAt)
  const uses = Array.from({ length: Math.max(0, dayOf(readAt - freshnessMs) - first) }, () => 0)
  for (const { dayAt, credits: used } of days) {
    const index = dayOf(dayAt) - first
    const before = uses[index]
    if (before !== undefined && Number.isFinite(used)) uses[index] = before + used
  }
  return uses
}

function sinceFirstUse(uses: readonly number[]): readonly number[] {
  const first = uses.findIndex((use) => use > 0)
  return first < 0 ? [] : uses.slice(first)
}

/** The expected use of the seven days that follow `uses`: Σ weight × use ÷ Σ weight over the same weekday, weight = ½ ^ weeks back. */
function nextWeek(uses: readonly number[]): readonly number[] {
  return Array.from({ length: 7 }, (_, ahead) => {
    let [sum, weights, weight] = [0, 0, 1]
    for (let index = uses.length - 7 + ahead; index >= 0; index -= 7) {
      sum += weight * (uses[index] ?? 0)
      weights += weight
      weight *= EACH_WEEK_BACK
    }
    return sum / weights
  })
}

/**
 * The root mean square of (actual ÷ forecast − 1) over the past whole weeks, each forecast from the days before it. A week's error stands for
 * the error of the rest of the cycle, whatever its length: longer stretches even out chance, but levels drift. Choice.
 */
function spreadOf(uses: readonly number[]): number {
  const squares = [USUAL_SPREAD ** 2]
  for (let end = uses.length; end - 7 >= LEARNING_DAYS; end -= 7) {
    const forecast = total(nextWeek(uses.slice(0, end - 7)))
    if (forecast > 0) squares.push((total(uses.slice(end - 7, end)) / forecast - 1) ** 2)
  }
  return Math.min(WIDEST_SPREAD, Math.sqrt(total(squares) / squares.length))
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** used + rest × e^(z × spread), with z of the 10th, 50th and 90th percentile; `rest` is the sum of the forecast. Choice. */
export function projectionOf(used: number, { days, spread }: Forecast): Projection {
  const rest = total(days.map((day) => day.credits))
  const at = (z: number): Credits => credits(used + rest * Math.exp(z * spread))
  return { p10: at(-Z_80), p50: at(0), p90: at(Z_80) }
}
