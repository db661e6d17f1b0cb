// Decodes use by day for a replay: each row is a day, with its people and amounts as JSON lists.
import { DAY_MS } from '../../../core/model/units.ts'
import type { RecordedDays } from '../../../core/use/replay/recorded.ts'

interface Person {
  readonly id: number
  readonly email: string
}

/** Rows of people who are not in `known` are left out. */
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
      const [ids, cents] = [listOf(row['people']), listOf(row['cents'])]
      const addOn = source === 'measured' ? listOf(row['add_on']) : undefined
      const day = {
        people: new Int32Array(ids.length),
        cents: new Float64Array(ids.length),
        addOnCents: new Float64Array(addOn?.length ?? 0),
      }
      let named = 0
      for (let index = 0; index < ids.length; index += 1) {
        const place = places.get(Number(ids[index]))
        if (place === undefined) continue
        day.people[named] = place
        day.cents[named] = Number(cents[index])
        if (addOn) day.addOnCents[named] = Number(addOn[index])
        named += 1
      }
      return {
        dayAt: Number(row['day']) * DAY_MS,
        people: day.people.subarray(0, named),
        cents: day.cents.subarray(0, named),
        ...(addOn && { addOnCents: day.addOnCents.subarray(0, named) }),
      }
    }),
  }
}

function listOf(json: unknown): readonly unknown[] {
  const list: unknown = JSON.parse(String(json))
  return Array.isArray(list) ? list : []
}
