// The sandbox's time: a clock that may run faster than real time, the billing cycle (the calendar month in UTC), and time stamps as the
// interface writes them. Must never read a clock by itself.
import type { Cycle } from '../core/model/observed.ts'
import type { Instant } from '../core/model/units.ts'
import type { Clock } from '../ports.ts'

/**
 * A clock that starts at `startAt` and runs `speed` times as fast as `clock`; a jump of the wall clock does not move it. One that starts
 * `behindMs` before the present runs as fast as `clock` from when it has caught up with it. Choice.
 */
export function sandboxTime(clock: Clock, speed: number, startAt: Instant, behindMs = Number.POSITIVE_INFINITY): () => Instant {
  const began = clock.monotonic()
  return () => {
    const passedMs = clock.monotonic() - began
    return Math.floor(startAt + Math.min(passedMs * speed, passedMs + behindMs))
  }
}

/** The billing cycle that contains `now`: the calendar month in UTC; the end is the start of the next one. Choice. */
export function cycleAt(now: Instant): Cycle {
  const date = new Date(now)
  const month = date.getUTCMonth()
  return { startAt: Date.UTC(date.getUTCFullYear(), month, 1), endAt: Date.UTC(date.getUTCFullYear(), month + 1, 1) }
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Milliseconds of an RFC 3339 time stamp with an offset; undefined for any other text, and for days that do not exist. */
export function parseTimestamp(text: string): Instant | undefined {
  const match = RFC_3339.exec(text)
  if (!match) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  if (month < 1 || month > 12 || day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  return Date.parse(text.toUpperCase())
}

/** RFC 3339 in whole seconds, for cycles and sign-ups. Choice. */
export const formatSeconds = (at: Instant): string => `${new Date(at).toISOString().slice(0, 19)}Z`

/** RFC 3339 with microseconds, for activity; `salt` fills the digits that a millisecond clock does not have. */
export const formatMicros = (at: Instant, salt: number): string =>
  `${new Date(at).toISOString().slice(0, 23)}${String((at * 7 + salt * 137) % 1000).padStart(3, '0')}Z`
