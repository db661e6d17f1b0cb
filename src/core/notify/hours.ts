// Local days and times of day: quiet hours, and the days of digests. Time zones come from Intl, which throws on an unknown one; the config has
// refused those before.
import type { Instant } from '../model/units.ts'
import type { Digest, QuietHours } from './settings.ts'

interface Local {
  /** `2026-11-22`. */
  readonly date: string
  readonly minute: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone)
  if (known) return known
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const made = new Intl.DateTimeFormat('en', { ...digits, calendar: 'gregory', numberingSystem: 'latn', timeZone: timezone })
  formats.set(timezone, made)
  return made
}

function localOf(at: Instant, timezone: string): Local {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const { year, month, day, hour, minute } = parts
  return { date: `${String(year).padStart(4, '0')}-${month}-${day}`, minute: Number(hour) * 60 + Number(minute) }
}

/** The local date of an instant. */
export const dayOf = (at: Instant, timezone: string): string => localOf(at, timezone).date

/** Whether an instant is within quiet hours. */
export function isQuiet(at: Instant, { quietHours, timezone }: { readonly quietHours?: QuietHours; readonly timezone: string }): boolean {
  if (!quietHours) return false
  const { fromMinute, untilMinute } = quietHours
  const { minute } = localOf(at, timezone)
  return fromMinute <= untilMinute ? minute >= fromMinute && minute < untilMinute : minute >= fromMinute || minute < untilMinute
}

/** Digests are sent in the morning. Choice. */
const DIGEST_MINUTE = 8 * 60

/**
 * The day or month of the newest digest, as a number that only rises: 20261122 or 202611. A new one begins at eight, for months on the first
 * day; until then it is the one before.
 */
export function digestLevel(at: Instant, digest: Exclude<Digest, 'off'>, timezone: string): number {
  // Subtracting eight hours gives the day before until eight; on days when clocks change, until seven or nine.
  const { date } = localOf(at - DIGEST_MINUTE * 60_000, timezone)
  return Number(date.replaceAll('-', '').slice(0, digest === 'daily' ? 8 : 6))
}
