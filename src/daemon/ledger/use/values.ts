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

/**
 * The days of a range that have rows, as the table `asked (day)` of a query whose first three values are the binding and the bounds. Days come
 * first in the keys, and whole days are many people: from each day the key leads to the next, so that a person costs one look for each day
 * that was used, and an endless range costs no more. The last row has no day.
 */
export const daysAsked = (table: string, mark: '?' | '$'): string =>
  `WITH RECURSIVE asked (day) AS (
     SELECT min(day) FROM ${table} WHERE binding = ${mark}1 AND day >= ${mark}2 AND day < ${mark}3
     UNION ALL
     SELECT (SELECT min(day) FROM ${table} WHERE binding = ${mark}1 AND day > asked.day AND day < ${mark}3) FROM asked WHERE asked.day IS NOT NULL
   )`
