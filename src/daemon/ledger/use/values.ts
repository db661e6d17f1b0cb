// How use is kept, whatever the database: by days from the epoch, in whole cents, within what an exact number holds.
import { type Credits, DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { DayRange } from '../../../ports.ts'

/** Readings are kept this long: the longest window of the burn ratio, and a day. Choice. */
export const READINGS_KEPT_MS = 9 * DAY_MS

export const dayOf = (at: Instant): number => Math.floor(at / DAY_MS)

/** The first and the last day, as SQL compares them. */
export const bounds = ({ fromAt, untilAt }: DayRange): readonly [number, number] => [dayOf(fromAt), Math.ceil(untilAt / DAY_MS)]

/** Sums that no exact number holds are cut: a record that refused them would stop all writing. */
export const MOST = Number.MAX_SAFE_INTEGER

export const centsOf = (amount: Credits): number => Math.max(-MOST, Math.min(MOST, Math.round(amount * 100)))
