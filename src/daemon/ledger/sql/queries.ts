// Reads use from the ledger by the questions in queries.sql: runs by day, model and mode, each person's use by day, add-on use, and the readings that a
// forecast needs. Sums are made there, and no decisions.
import type { AddOnRow, RunUse } from '../../../core/model/observed.ts'
import { scopeKey } from '../../../core/model/scope.ts'
import { type Credits, cents, credits, creditsOf, DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { RecordedDays } from '../../../core/use/history.ts'
import type { AddOnSum, DayRange, Ledger } from '../../../ports.ts'
import { USE } from './queries.generated.ts'
import { type Ask, keptText, MOST, type Row, textKept, type Value } from './statement.ts'

/** Readings are kept this long: the longest window of the burn ratio, and a day. Choice. */
export const READINGS_KEPT_MS = 9 * DAY_MS

export const dayOf = (at: Instant): number => Math.floor(at / DAY_MS)

/** The first day, and the day after the last one. */
export const bounds = ({ fromAt, untilAt }: DayRange): readonly [number, number] => [dayOf(fromAt), Math.ceil(untilAt / DAY_MS)]

export const centsOf = (amount: Credits): number => Math.max(-MOST, Math.min(MOST, Math.round(amount * 100)))

/** The last day of each person, by e-mail. */
export function lastDays(rows: readonly AddOnRow[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>()
  for (const { email, dayAt } of rows) latest.set(email, Math.max(latest.get(email) ?? 0, dayOf(dayAt)))
  return latest
}

/** What a ledger tells of use as it is recorded. */
export function useQueries(ask: Ask, binding: number) {
  /** The rows of a statement whose first value is the binding. */
  const list = async <T>(of: (row: Row) => T, sql: string, ...values: readonly Value[]): Promise<readonly T[]> =>
    (await ask({ sql, values: [binding, ...values] })).map(of)
  return {
    runs: (scope, days) =>
      list(
        (row): RunUse => ({
          dayAt: dayAtOf(row),
          model: textKept(row['model']),
          mode: textKept(row['mode']),
          messages: Number(row['messages']),
          used: row['cents'] !== null ? credits(Number(row['cents']) / 100) : undefined,
        }),
        USE.runs,
        ...bounds(days),
        keptText(scopeKey(scope)),
      ),
    firstDay: async (of) => (await list(dayAtOf, of === 'recorded' ? USE.firstRecorded : USE.firstMeasured))[0],
    highestUse: async () => new Map(await list((row) => [emailOf(row), amountOf(row)] as const, USE.highestUse)),
    useReadings: () => list((row) => ({ at: Number(row['at']), used: amountOf(row) }), USE.useReadings),
    useByPerson: (days) => list((row) => ({ email: emailOf(row), used: amountOf(row) }), USE.useByPerson, ...bounds(days)),
    useOfPerson: (email, days) =>
      list((row) => ({ dayAt: dayAtOf(row), used: amountOf(row) }), USE.useOfPerson, ...bounds(days), keptText(email)),
    async useByDay(days, source) {
      const known = await list((row) => ({ id: Number(row['id']), email: emailOf(row) }), USE.people)
      return recorded(source, known, await list((row) => row, USE[source], ...bounds(days)))
    },
    addOnSums: async (days) => new Map(await list((row) => [emailOf(row), sumOf(row)] as const, USE.addOnSums, ...bounds(days))),
    addOnByModel: async (days) =>
      new Map(await list((row) => [textKept(row['model']), amountOf(row, 'add_on_cents')] as const, USE.addOnByModel, ...bounds(days))),
    addOnOfPerson: (email, days) =>
      list((row) => ({ dayAt: dayAtOf(row), ...sumOf(row) }), USE.addOnOfPerson, ...bounds(days), keptText(email)),
  } satisfies Partial<Ledger>
}

const dayAtOf = (row: Row): Instant => Number(row['day']) * DAY_MS

const emailOf = (row: Row): string => textKept(row['email'])

const amountOf = (row: Row, column = 'cents'): Credits => creditsOf(cents(Number(row[column])))

const sumOf = (row: Row): AddOnSum => ({ used: amountOf(row), addOn: amountOf(row, 'add_on_cents') })

// Decodes use by day for a replay: each row is a day, with its people and amounts as JSON lists.

/** Rows of people who are not in `known` are left out. */
function recorded(
  source: RecordedDays['addOn'],
  known: readonly { readonly id: number; readonly email: string }[],
  days: readonly Row[],
): RecordedDays {
  const places = new Map(known.map(({ id }, place) => [id, place]))
  return {
    addOn: source,
    people: known.map(({ email }) => email),
    days: days.map((row) => {
      const all = listOf(row['people']).map((id) => places.get(id))
      // Nearly always everybody is known; then the millions of figures of a replay are taken as they are.
      const isWhole = !all.includes(undefined)
      const kept = (list: readonly number[]) => (isWhole ? list : list.filter((_, index) => all[index] !== undefined))
      const amounts = (column: string): Float64Array => new Float64Array(kept(listOf(row[column])))
      return {
        dayAt: dayAtOf(row),
        people: new Int32Array(all.filter((place) => place !== undefined)),
        cents: amounts('cents'),
        addOnCents: source === 'measured' ? amounts('add_on') : undefined,
      }
    }),
  }
}

function listOf(json: unknown): readonly number[] {
  const list: unknown = JSON.parse(String(json))
  return Array.isArray(list) ? list : []
}
