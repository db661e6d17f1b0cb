// The age of a wall-clock time. The clock may have been set back since: then the time lies ahead of now, and its age is not known. Callers
// choose the safe direction: `isYounger` counts it as too old, `notAhead` counts it as now.
import type { Instant } from './units.ts'

/** The clocks of two machines may differ by so much. */
export const CLOCKS_APART_MS = 5 * 60_000

/**
 * Whether a time is surely younger than `lifeMs`; false for a time ahead of now. Use it for trust, releases and exceptions that must end:
 * with a wrong clock they end early, and never last for ever. `apartMs`: how far another machine's clock may be ahead.
 */
export const isYounger = (at: Instant, now: Instant, lifeMs: number, apartMs = 0): boolean => at - apartMs <= now && now - at < lifeMs

/** `isYounger` for a reading, which another replica may have made with its own clock. */
export const isReadWithin = ({ readAt }: { readonly readAt: Instant }, now: Instant, lifeMs: number): boolean =>
  isYounger(readAt, now, lifeMs, CLOCKS_APART_MS)

/** Whether a time surely comes from a clock that was ahead: work that was recorded as done then is done again. */
export const isAhead = (at: Instant, now: Instant): boolean => at - CLOCKS_APART_MS > now

/** A time ahead of now becomes now. Use it for waits that must not be cut short, and save the result. */
export const notAhead = (at: Instant, now: Instant): Instant => Math.min(at, now)
