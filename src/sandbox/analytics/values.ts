// Converts values between the texts of requests and answers and the units in which rows are read: the values of filters, and the cells of
// answers. docs/service.md, Fields of the data sources. Must never decide which fields exist.
import { DAY_MS, HOUR_MS } from '../../core/model/units.ts'
import { parseTimestamp } from '../time.ts'
import { type FieldType, PAIR } from './fields.ts'

/** A value to compare with, or the hint for a value that cannot be read. */
type Reading = { readonly kind: 'value'; readonly value: string | number } | { readonly kind: 'nonsense'; readonly write: string }

const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/
const DATE = /^\d{4}-\d{2}-\d{2}$/
const CELL = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?: \+0000 UTC)?$/

/** Reads the value of a filter. A bare date means the midnight at which it begins, for hours and time stamps too (choice). */
export function readValue(type: FieldType, text: string): Reading {
  switch (type) {
    case 'number':
      return reading(NUMBER.test(text) ? Number(text) : undefined, 'a number, such as 42')
    case 'boolean':
      return reading(text === 'true' ? 1 : text === 'false' ? 0 : undefined, 'true or false')
    case 'date':
      return reading(divided(readDate(text), DAY_MS), 'a date, such as 2026-11-20')
    case 'hour':
      return reading(divided(readInstant(text), HOUR_MS), 'a date or an hour, such as 2026-11-20 or 2026-11-20 17:00:00 +0000 UTC')
    case 'timestamp':
      return reading(divided(readInstant(text), 1000), 'a date or a time, such as 2026-11-20 or 2026-11-20T17:00:00Z')
    default:
      return { kind: 'value', value: text }
  }
}

const reading = (value: number | undefined, write: string): Reading =>
  value === undefined ? { kind: 'nonsense', write } : { kind: 'value', value }

const divided = (at: number | undefined, unitMs: number): number | undefined => (at === undefined ? undefined : at / unitMs)

const readDate = (text: string): number | undefined => (DATE.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined)

/** A date, a cell of an answer, or RFC 3339. */
function readInstant(text: string): number | undefined {
  const cell = CELL.exec(text)
  return readDate(text) ?? parseTimestamp(cell ? `${cell[1]}T${cell[2]}Z` : text)
}

/** The hash of a person's API key. */
export type ApiKeyOf = (person: number) => string

/** The text of a cell; `<nil>` for a value that is not defined, such as the average of no rows. Choice. */
export function writeCell(type: FieldType, value: string | number | bigint | null, apiKeyOf: ApiKeyOf): string {
  if (value === null) return '<nil>'
  const size = Number(value)
  switch (type) {
    case 'text':
    case 'number':
      return String(value)
    case 'boolean':
      return size === 1 ? 'true' : 'false'
    case 'person':
    case 'distinct users':
      return apiKeyOf(size)
    case 'date':
      return writeDate(size)
    case 'hour':
      return writeTime(size * HOUR_MS)
    case 'timestamp':
      return writeTime(size * 1000)
    case 'distinct developer days':
      return `${apiKeyOf(Math.floor(size / PAIR))} ${writeDate(size % PAIR)}`
    case 'distinct developer hours':
      return `${apiKeyOf(Math.floor(size / PAIR))} ${writeTime((size % PAIR) * HOUR_MS)}`
  }
}

const writeDate = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

const writeTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`
