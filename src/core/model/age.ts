// How old what was stamped on the wall clock is, though that clock may have been set back since: then a stamp lies ahead, and nobody knows how
// old it is. Whoever judges an age says which way is the safe one: `isYounger` gives up early, `notAhead` waits for its whole time from now on.
import type { Instant } from './units.ts'

/** Clocks of two machines may be that far apart. */
export const CLOCKS_APART_MS = 5 * 60_000

/**
 * Surely not older than so long. What lies ahead is not: for what is believed, released or left alone until it is too old, and must not be
 * for ever. `apartMs`: another machine's clock may be ahead of ours by that much.
 */
export const isYounger = (at: Instant, now: Instant, lifeMs: number, apartMs = 0): boolean => at - apartMs <= now && now - at < lifeMs

/** `isYounger` of a reading, which another replica may have made by its own clock. */
export const isReadWithin = ({ readAt }: { readonly readAt: Instant }, now: Instant, lifeMs: number): boolean =>
  isYounger(readAt, now, lifeMs, CLOCKS_APART_MS)

/** Surely stamped by a clock that was ahead: for what was done by it, and is to be done again. */
export const isAhead = (at: Instant, now: Instant): boolean => at - CLOCKS_APART_MS > now

/** What lies ahead counts as stamped now: for waits that must not be cut short, where the stamp is kept as it comes out of this. */
export const notAhead = (at: Instant, now: Instant): Instant => Math.min(at, now)
