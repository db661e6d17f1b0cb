// Use by day for a replay, put together from rows of days whose people and amounts come as lists of JSON, whatever the database.
import type { RecordedDays } from '../../../core/use/replay/recorded.ts'
import { DAY_MS } from './values.ts'

interface Person {
  readonly id: number
  readonly email: string
}

/** Nobody with an empty name is anybody: rows of people whom no listing names are left out. */
export function recorded(
  source: RecordedDays['addOn'],
  known: readonly Person[],
  days: readonly Readonly<Record<string, unknown>>[],
): RecordedDays {
  const places = new Map(known.map(({ id }, place) => [id, place]))
  return {
    addOn: source,
    people: known.map(({ email }) => email),
    days: days.map((row) => {
      const people = listOf(row['people']).map((id) => places.get(id) ?? -1)
      const amounts = (json: unknown): Float64Array => Float64Array.from(listOf(json).filter((_, index) => (people[index] ?? -1) >= 0))
      return {
        dayAt: Number(row['day']) * DAY_MS,
        people: Int32Array.from(people.filter((place) => place >= 0)),
        cents: amounts(row['cents']),
        ...(source === 'measured' && { addOnCents: amounts(row['add_on']) }),
      }
    }),
  }
}

const listOf = (json: unknown): readonly number[] => {
  const list: unknown = JSON.parse(String(json))
  return Array.isArray(list) ? list.map(Number) : []
}
