// What a team has used in a window of time, by its readings and by days. Between two readings use counts as even; a window around which too little was
// read has no figure.

import { type Cycle, SETTLE_MS } from '../model/observed.ts'
import { type Credits, DAY_MS, HOUR_MS, type Instant } from '../model/units.ts'

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
export interface Stretch {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly credits: number
}

interface CurveInputs {
  readonly now: Instant
  readonly readings: readonly UseReading[]
  readonly cycle: Cycle
  readonly freshnessMs: number
}

export type UseCurve = NonNullable<ReturnType<typeof useCurve>>

/** Undefined without a believable reading of this cycle. */
export function useCurve({ now, readings, cycle: { startAt, endAt }, freshnessMs }: CurveInputs) {
  const sorted = readings.filter(({ at, used }) => at <= Math.min(now, endAt) && Number.isFinite(used)).toSorted((a, b) => a.at - b.at)
  const before = sorted.filter(({ at }) => at < startAt)
  const since = sorted.filter(({ at }) => at >= startAt + SETTLE_MS)
  const last = since.at(-1)
  if (!last) return undefined
  const climbed = climb([{ at: startAt, used: 0 }, ...since], freshnessMs)
  return {
    /** The highest reading of this cycle: used credits do not come back when people leave the roster. */
    used: climbed.used,
    /** The latest reading. */
    readAt: last.at,
    /** All use before this instant is in `used`: the latest increase, or the latest reading when that increase is long ago. */
    freshAt: last.at - climbed.increasedAt < freshnessMs ? climbed.increasedAt : last.at,
    startAt,
    /** Instants at which use is known, in order. */
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
