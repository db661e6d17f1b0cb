// Reads use from the ledger: runs by day, model and mode, each person's use by day, add-on use, and the readings that a forecast needs. Sums are
// made here, and no decisions.
import type { AddOnRow, RunUse } from '../../../core/model/observed.ts'
import { scopeKey } from '../../../core/model/scope.ts'
import { type Credits, cents, credits, creditsOf, DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { RecordedDays } from '../../../core/use/history.ts'
import type { AddOnSum, DayRange, Ledger } from '../../../ports.ts'
import { type Ask, keptText, type Row, textKept, type Value } from './statement.ts'

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
        `SELECT day, model, mode, messages, cents FROM @run_use
         WHERE binding = ?1 AND day >= ?2 AND day < ?3 AND scope = ?4 ORDER BY day, model, mode`,
        ...bounds(days),
        keptText(scopeKey(scope)),
      ),
    firstDay: async (of) => (await list(dayAtOf, `SELECT day FROM ${FIRST_DAY[of]} ORDER BY day LIMIT 1`))[0],
    async highestUse() {
      const sql = 'SELECT email, highest AS cents FROM @person WHERE binding = ?1 AND highest > 0 ORDER BY id'
      return new Map(await list((row) => [emailOf(row), amountOf(row)] as const, sql))
    },
    useReadings: () =>
      list((row) => ({ at: Number(row['at']), used: amountOf(row) }), 'SELECT at, cents FROM @use_reading WHERE binding = ?1 ORDER BY at'),
    useByPerson: (days) =>
      list(
        (row) => ({ email: emailOf(row), used: amountOf(row) }),
        `SELECT email, @least(sum(cents), ${MOST}) AS cents FROM @person_use JOIN @person ON person.id = person_use.person
         WHERE person_use.binding = ?1 AND day >= ?2 AND day < ?3 GROUP BY person.id ORDER BY sum(cents) DESC, email`,
        ...bounds(days),
      ),
    useOfPerson: (email, days) =>
      list(
        (row) => ({ dayAt: dayAtOf(row), used: amountOf(row) }),
        `${daysAsked('person_use')}
         SELECT asked.day, cents FROM asked JOIN @person ON person.binding = ?1 AND person.email = ?4
         JOIN @person_use ON person_use.binding = ?1 AND person_use.day = asked.day AND person_use.person = person.id ORDER BY asked.day`,
        ...bounds(days),
        keptText(email),
      ),
    async useByDay(days, source) {
      const people = "SELECT id, email FROM @person WHERE binding = ?1 AND email <> '' ORDER BY id"
      const known = await list((row) => ({ id: Number(row['id']), email: emailOf(row) }), people)
      return recorded(source, known, await list((row) => row, BY_DAY[source], ...bounds(days)))
    },
    addOnUse: (days) =>
      list(
        (row): AddOnRow => ({ dayAt: dayAtOf(row), email: emailOf(row), model: textKept(row['model']), ...sumOf(row) }),
        `SELECT day, email, model, cents, add_on_cents FROM @add_on_use JOIN @person ON person.id = add_on_use.person
         WHERE add_on_use.binding = ?1 AND day >= ?2 AND day < ?3 ORDER BY day, email, model`,
        ...bounds(days),
      ),
    async addOnSums(days) {
      const sql = `SELECT email, @least(sum(cents), ${MOST}) AS cents, @least(sum(add_on_cents), ${MOST}) AS add_on_cents
         FROM @add_on_use JOIN @person ON person.id = add_on_use.person
         WHERE add_on_use.binding = ?1 AND day >= ?2 AND day < ?3 GROUP BY person.id ORDER BY email`
      return new Map(await list((row) => [emailOf(row), sumOf(row)] as const, sql, ...bounds(days)))
    },
    addOnOfPerson: (email, days) =>
      list(
        (row) => ({ dayAt: dayAtOf(row), ...sumOf(row) }),
        `${daysAsked('add_on_use')}
         SELECT asked.day, @least(sum(cents), ${MOST}) AS cents, @least(sum(add_on_cents), ${MOST}) AS add_on_cents FROM asked
         JOIN @person ON person.binding = ?1 AND person.email = ?4
         JOIN @add_on_use ON add_on_use.binding = ?1 AND add_on_use.day = asked.day AND add_on_use.person = person.id
         GROUP BY asked.day ORDER BY asked.day`,
        ...bounds(days),
        keptText(email),
      ),
  } satisfies Partial<Ledger>
}

const dayAtOf = (row: Row): Instant => Number(row['day']) * DAY_MS

const emailOf = (row: Row): string => textKept(row['email'])

const amountOf = (row: Row, column = 'cents'): Credits => creditsOf(cents(Number(row[column])))

const sumOf = (row: Row): AddOnSum => ({ used: amountOf(row), addOn: amountOf(row, 'add_on_cents') })

const FIRST_DAY = { recorded: '@person_use WHERE binding = ?1 AND NOT told', measured: '@add_on_use WHERE binding = ?1' }

/** A day comes as lists in one row: a row for each person and day would take five times as long. */
const BY_DAY = {
  estimated: `SELECT day, @list(person) AS people, @list(cents) AS cents FROM @person_use
              WHERE binding = ?1 AND day >= ?2 AND day < ?3 GROUP BY day ORDER BY day`,
  measured: `SELECT day, @list(person) AS people, @list(cents) AS cents, @list(add_on) AS add_on FROM (
               SELECT day, person, @least(sum(cents), ${MOST}) AS cents, @least(sum(add_on_cents), ${MOST}) AS add_on
               FROM @add_on_use WHERE binding = ?1 AND day >= ?2 AND day < ?3 GROUP BY day, person
             ) AS sums GROUP BY day ORDER BY day`,
}

/**
 * The days of a range that have rows, as the table `asked (day)`. The keys begin with the day, and a day has many people. So the query goes from
 * each day to the next by the key: it costs one lookup for each day with use, however long the range is. The last row has no day.
 */
const daysAsked = (table: string): string =>
  `WITH RECURSIVE asked (day) AS (
     SELECT min(day) FROM @${table} WHERE binding = ?1 AND day >= ?2 AND day < ?3
     UNION ALL
     SELECT (SELECT min(day) FROM @${table} WHERE binding = ?1 AND day > asked.day AND day < ?3) FROM asked WHERE asked.day IS NOT NULL
   )`

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
      const all = listOf(row['people']).map((id) => places.get(Number(id)))
      const amounts = (column: string): Float64Array =>
        Float64Array.from(
          listOf(row[column]).filter((_, index) => all[index] !== undefined),
          Number,
        )
      return {
        dayAt: dayAtOf(row),
        people: Int32Array.from(all.filter((place) => place !== undefined)),
        cents: amounts('cents'),
        addOnCents: source === 'measured' ? amounts('add_on') : undefined,
      }
    }),
  }
}

function listOf(json: unknown): readonly unknown[] {
  const list: unknown = JSON.parse(String(json))
  return Array.isArray(list) ? list : []
}
