// Which caps are read next while a whole sweep takes longer than the interval. Each scope has a deadline: the more credits could leak through
// it, the sooner, and none later than a bound for all. A scope without use only waits longer.
import type { ScopeKey } from '../model/scope.ts'
import { type Credits, greatest, type Instant } from '../model/units.ts'

/** A managed scope. */
export interface Watched {
  readonly key: ScopeKey
  /** When it was last read successfully; absent: never. */
  readonly readAt?: Instant
  /** Credits that could be used beyond the declared cap within half a working day, if another client raised it now; at least 0. */
  readonly risk: number
  /** There is a sign that its cap is wrong: it is read first. */
  readonly suspect?: true
}

/** No scope waits longer than so many plain sweeps; the other requests go where credits could leak. Choice. */
export const LONGEST_SWEEPS = 1.1

/** How long a leak lasts before the next reading of use shows it, in working days. Choice. */
const LEAK_DAYS = 0.5

/** What one person could soon use beyond their declared cap, if it were raised: nothing while the cap is far off. */
export const riskOf = ({ pacePerDay, headRoom }: { readonly pacePerDay: number; readonly headRoom: number }): number =>
  Math.max(0, LEAK_DAYS * pacePerDay - Math.max(0, headRoom))

/** Credits that a person uses on a working day, from their use on so many calendar days. */
export const paceOf = (used: Credits, days: number): number => (days > 0 ? used / ((days * 5) / 7) : 0)

/** The time between two readings, in ms, by risk. */
export type ReadingIntervals = (risk: number) => number

/**
 * Intervals that use exactly `readsPerSecond`: min(longest, k ÷ √risk), with the smallest k that the requests allow. The cost of a late
 * detection grows with risk × interval, and is least when intervals are proportional to 1 ÷ √risk.
 */
export function readingIntervals(risks: readonly number[], readsPerSecond: number): ReadingIntervals {
  const longestMs = Math.round((LONGEST_SWEEPS * risks.length * 1000) / readsPerSecond)
  const roots = risks.map(Math.sqrt)
  const demand = (k: number): number => roots.reduce((sum, root) => sum + Math.max(1 / longestMs, root / k), 0)
  const allowed = readsPerSecond / 1000
  let [low, high] = [0, longestMs * Math.max(1, greatest(roots))]
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2
    if (demand(middle) > allowed) low = middle
    else high = middle
  }
  return (risk) => (risk > 0 ? Math.min(longestMs, high / Math.sqrt(risk)) : longestMs)
}

/** Steps of the bisection: enough for one part in a trillion. */
const BISECTIONS = 40

/** A loop, because too many arguments of Math.max end the process. */
/** The latest time to read a scope. */
const readingDueAt = ({ readAt, risk }: Watched, intervals: ReadingIntervals): Instant =>
  readAt === undefined ? Number.NEGATIVE_INFINITY : readAt + intervals(risk)

/** Suspects take at most this share of the readings, so that no scope waits longer than the bound. Choice. */
const SUSPECT_SHARE = 0.5

/** The next `count` scopes to read: suspects first, then scopes never read, then by deadline; of equal ones the older reading first. */
export function nextReadings(watched: readonly Watched[], count: number, intervals: ReadingIntervals): readonly ScopeKey[] {
  const queue = watched.map((one) => ({
    key: one.key,
    isSuspect: one.suspect === true,
    dueAt: readingDueAt(one, intervals),
    readAt: one.readAt ?? Number.NEGATIVE_INFINITY,
  }))
  queue.sort((a, b) => compare(a.dueAt, b.dueAt) || compare(a.readAt, b.readAt) || (a.key < b.key ? -1 : 1))
  const suspects = queue.filter(({ isSuspect }) => isSuspect).slice(0, Math.ceil(count * SUSPECT_SHARE))
  const first = new Set(suspects)
  return [...suspects, ...queue.filter((one) => !first.has(one))].slice(0, count).map(({ key }) => key)
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)
