// The use of a team over time, drawn from readings of a counter that is refreshed every few hours and starts again with each cycle. It
// never guesses across a hole: a window whose start is not between two readings near each other has no use at all.

import { DAY_MS, type DayHistory } from './forecast.ts'
import type { Cycle } from './observed.ts'
import type { Credits, Instant } from './units.ts'

/** What the whole roster had used in the cycle of `at`. */
export interface UseReading {
  readonly at: Instant
  readonly used: Credits
}

/** Credits burned evenly between two instants. */
interface Stretch {
  readonly fromAt: Instant
  readonly untilAt: Instant
  readonly credits: number
}

export interface UseCurve {
  /** The highest reading of this cycle: credits that were used do not come back when people leave the roster. */
  readonly used: number
  /** The latest reading. */
  readonly readAt: Instant
  /** The latest reading that is known to be fresh: what was used before it is in it. */
  readonly freshAt: Instant
  /** Instants at which the use is known, in order. */
  readonly knownAts: readonly Instant[]
  readonly startAt: Instant
  readonly stretches: readonly Stretch[]
}

/** A reading must be this near to where a window starts, and a third of the window for the longer ones. Choice. */
const NEAR_MS = 4 * 3_600_000

interface CurveInputs {
  readonly readings: readonly UseReading[]
  readonly cycle: Cycle
  readonly freshnessMs: number
}

/** Absent without a reading of this cycle. */
export function useCurve({ readings, cycle, freshnessMs }: CurveInputs): UseCurve | undefined {
  const sorted = readings
    .filter(({ at, used }) => Number.isFinite(at) && Number.isFinite(used) && used >= 0)
    .toSorted((a, b) => a.at - b.at)
  const before = sorted.filter(({ at }) => at < cycle.startAt)
  // Shortly after the start the service may still show the cycle before.
  const since = sorted.filter(({ at }) => at >= cycle.startAt + freshnessMs && at <= cycle.endAt)
  const last = since.at(-1)
  if (!last) return undefined
  const current = climb([{ at: cycle.startAt, used: 0 }, ...since], freshnessMs)
  const isFresh = last.at - current.increasedAt < freshnessMs
  return {
    used: current.highest,
    readAt: last.at,
    freshAt: isFresh ? current.increasedAt : last.at,
    knownAts: [...before.map(({ at }) => at), cycle.startAt, ...since.map(({ at }) => at)],
    startAt: cycle.startAt,
    stretches: [...climb(before, freshnessMs).stretches, ...current.stretches],
  }
}

/**
 * An increase was burned since the increase before it, but not longer ago than the service takes to show use, unless nobody looked for
 * longer than that.
 */
function climb(readings: readonly { readonly at: Instant; readonly used: number }[], freshnessMs: number) {
  const stretches: Stretch[] = []
  let highest = readings[0]?.used ?? 0
  let increasedAt = readings[0]?.at ?? 0
  let lookedAt = increasedAt
  for (const { at, used } of readings) {
    if (used > highest) {
      stretches.push({ fromAt: Math.min(lookedAt, Math.max(increasedAt, at - freshnessMs)), untilAt: at, credits: used - highest })
      highest = used
      increasedAt = at
    }
    lookedAt = at
  }
  return { stretches, highest, increasedAt }
}

/** Credits burned in the window that ends with the latest fresh reading; absent when its start is in a hole. */
export function burnedByReadings(curve: UseCurve, windowMs: number): number | undefined {
  const { knownAts, startAt, freshAt } = curve
  const fromAt = freshAt - windowMs
  const nearMs = Math.max(NEAR_MS, windowMs / 3)
  const before = knownAts.findLast((at) => at <= fromAt)
  const after = knownAts.find((at) => at >= fromAt)
  if (before === undefined || after === undefined || after - before > nearMs) return undefined
  const lastOfBefore = knownAts.findLast((at) => at < startAt)
  if (fromAt < startAt && (lastOfBefore === undefined || startAt - lastOfBefore > nearMs)) return undefined
  return within(curve.stretches, fromAt, freshAt)
}

/** The same from the days, each burned evenly: good enough for windows of which a day is a third at most; absent for others. */
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
