// The units of recorded use in every database: days since the epoch, and whole cents within the range of exact numbers.

import type { AddOnRow } from '../../../core/model/observed.ts'
import { type Credits, DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { DayRange } from '../../../ports.ts'

/** Readings are kept this long: the longest window of the burn ratio, and a day. Choice. */
export const READINGS_KEPT_MS = 9 * DAY_MS

export const dayOf = (at: Instant): number => Math.floor(at / DAY_MS)

/** The first day, and the day after the last one. */
export const bounds = ({ fromAt, untilAt }: DayRange): readonly [number, number] => [dayOf(fromAt), Math.ceil(untilAt / DAY_MS)]

/** Greater sums are cut, because a record that refused them would stop all writing. */
export const MOST = Number.MAX_SAFE_INTEGER

export const centsOf = (amount: Credits): number => Math.max(-MOST, Math.min(MOST, Math.round(amount * 100)))

/** The last day of each person, by e-mail. */
export function lastDays(rows: readonly AddOnRow[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>()
  for (const { email, dayAt } of rows) latest.set(email, Math.max(latest.get(email) ?? 0, dayOf(dayAt)))
  return latest
}
