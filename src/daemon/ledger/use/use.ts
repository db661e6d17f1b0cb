// Use in the ledger: what runs said by day, model and mode, what each person burned by day, and the readings that a forecast needs. Only
// days on which something was used have rows, so that 50,000 people and 400 days stay a file of some hundred megabytes. Amounts are kept
// in whole cents. It sums, and judges nothing.

import type { RunUse } from '../../../core/model/observed.ts'
import { type Credits, cents, credits, creditsOf, DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { BurnStep } from '../../../core/use/burned.ts'
import type { RecordedDays } from '../../../core/use/replay/recorded.ts'
import type { DayRange, RunsBatch } from '../../../ports.ts'
import type { WorkspaceRows } from '../adapter.ts'
import type { LedgerDatabase, Row } from '../sqlite/database.ts'
import { ADD_ON_VERSION, schemaVersion, USE_VERSION } from '../sqlite/schema.ts'
import { recorded } from './recorded-days.ts'
import { bounds, centsOf, dayOf, daysAsked, MOST, READINGS_KEPT_MS } from './values.ts'

type UseRows = Pick<WorkspaceRows, 'runs' | 'highestUse' | 'useReadings' | 'useByPerson' | 'useByDay' | 'useOfPerson'>

/** A ledger of before there was use, which only a reader can meet, reads as one without. */
export function useRows(database: LedgerDatabase, binding: number): UseRows {
  const rows = (sql: string, ...values: readonly (string | number)[]): readonly Row[] =>
    schemaVersion(database) < USE_VERSION ? [] : database.all(sql, ...values)
  const measuredRows: Rows = (sql, ...values) => (schemaVersion(database) < ADD_ON_VERSION ? [] : rows(sql, ...values))
  return {
    runs: async (scope, days) =>
      rows(
        `SELECT day, model, mode, messages, cents FROM run_use
         WHERE binding = ? AND day >= ? AND day < ? AND scope = ? ORDER BY day, model, mode`,
        binding,
        ...bounds(days),
        scope,
      ).map(runOf),
    highestUse: async () =>
      new Map(
        rows('SELECT email, highest FROM person WHERE binding = ? AND highest > 0', binding).map((row) => [
          String(row['email']),
          creditsOf(cents(Number(row['highest']))),
        ]),
      ),
    useReadings: async () =>
      rows('SELECT at, cents FROM use_reading WHERE binding = ? ORDER BY at', binding).map((row) => ({
        at: Number(row['at']),
        used: creditsOf(cents(Number(row['cents']))),
      })),
    useByPerson: async (days) =>
      rows(
        `SELECT email, min(sum(cents), ${MOST}) AS cents FROM person_use JOIN person ON person.id = person_use.person
         WHERE person_use.binding = ? AND day >= ? AND day < ? GROUP BY person ORDER BY sum(cents) DESC, email`,
        binding,
        ...bounds(days),
      ).map((row) => ({ email: String(row['email']), used: creditsOf(cents(Number(row['cents']))) })),
    useByDay: async (days, source) => recordedDays(source === 'measured' ? measuredRows : rows, { binding, days, source }),
    useOfPerson: async (email, days) =>
      rows(
        `${daysAsked('person_use', '?')}
         SELECT asked.day, cents FROM asked JOIN person ON person.binding = ?1 AND person.email = ?4
         JOIN person_use ON person_use.binding = ?1 AND person_use.day = asked.day AND person_use.person = person.id ORDER BY asked.day`,
        binding,
        ...bounds(days),
        email,
      ).map((row) => ({ dayAt: Number(row['day']) * DAY_MS, used: creditsOf(cents(Number(row['cents']))) })),
  }
}

type Rows = (sql: string, ...values: readonly (string | number)[]) => readonly Row[]

/** A day comes as lists in one row: a row for each person and day would take five times as long. */
const BY_DAY = {
  estimated: `SELECT day, json_group_array(person) AS people, json_group_array(cents) AS cents FROM person_use
              WHERE binding = ? AND day >= ? AND day < ? GROUP BY day ORDER BY day`,
  measured: `SELECT day, json_group_array(person) AS people, json_group_array(cents) AS cents, json_group_array(add_on) AS add_on FROM (
               SELECT day, person, min(sum(cents), ${Number.MAX_SAFE_INTEGER}) AS cents, min(sum(add_on_cents), ${Number.MAX_SAFE_INTEGER}) AS add_on
               FROM add_on_use WHERE binding = ? AND day >= ? AND day < ? GROUP BY day, person
             ) GROUP BY day ORDER BY day`,
} as const

interface DaysWanted {
  readonly binding: number
  readonly days: DayRange
  readonly source: RecordedDays['addOn']
}

function recordedDays(rows: Rows, { binding, days, source }: DaysWanted): RecordedDays {
  const people = rows("SELECT id, email FROM person WHERE binding = ? AND email <> '' ORDER BY id", binding)
  return recorded(
    source,
    people.map((row) => ({ id: Number(row['id']), email: String(row['email']) })),
    rows(BY_DAY[source], binding, ...bounds(days)),
  )
}

/** Inside a transaction: what a reading of the roster adds to people's days. */
export function keepBurn(database: LedgerDatabase, binding: number, step: BurnStep): void {
  keepPeople(database, binding, step)
  if (step.used !== undefined) keepReading(database, binding, step.readAt, step.used)
}

function runOf(row: Row): RunUse {
  const used = row['cents']
  return {
    dayAt: Number(row['day']) * DAY_MS,
    model: String(row['model']),
    mode: String(row['mode']),
    messages: Number(row['messages']),
    ...(used !== null && { used: credits(Number(used) / 100) }),
  }
}

/** Inside a transaction: the rows of some days. */
export function keepRuns(database: LedgerDatabase, binding: number, scope: string, batch: RunsBatch): void {
  const [from, until] = bounds(batch)
  database.run('DELETE FROM run_use WHERE binding = ? AND day >= ? AND day < ? AND scope = ?', binding, from, until, scope)
  const sql = 'INSERT INTO run_use (binding, day, scope, model, mode, messages, cents) VALUES (?, ?, ?, ?, ?, ?, ?)'
  for (const { dayAt, model, mode, messages, used } of batch.rows) {
    database.run(sql, binding, dayOf(dayAt), scope, model, mode, messages, used === undefined ? null : centsOf(used))
  }
}

/** A reading counts on the day it was made. Choice: the service is up to 3 h late, and does not say when somebody used what. */
function keepPeople(database: LedgerDatabase, binding: number, { burned, readAt, increases, isNewCycle, raised }: BurnStep): void {
  const day = dayOf(readAt)
  if (isNewCycle) database.run('UPDATE person SET highest = 0 WHERE binding = ?', binding)
  const known = `INSERT INTO person (binding, email, highest, last_day) VALUES (?, ?, ?, ?)
                 ON CONFLICT (binding, email) DO UPDATE SET highest = excluded.highest, last_day = excluded.last_day`
  for (const email of raised) database.run(known, binding, email, centsOf(burned.highest?.get(email) ?? credits(0)), day)
  const burn = `INSERT INTO person_use (binding, day, person, cents)
                SELECT binding, ?, id, ? FROM person WHERE binding = ? AND email = ?
                ON CONFLICT (binding, day, person) DO UPDATE SET cents = min(cents + excluded.cents, ${MOST})`
  for (const [email, increase] of increases) database.run(burn, day, centsOf(increase), binding, email)
}

function keepReading(database: LedgerDatabase, binding: number, at: Instant, used: Credits): void {
  const sql = 'INSERT INTO use_reading (binding, at, cents) VALUES (?, ?, ?) ON CONFLICT (binding, at) DO UPDATE SET cents = excluded.cents'
  database.run(sql, binding, at, centsOf(used))
  database.run('DELETE FROM use_reading WHERE binding = ? AND at < ?', binding, at - READINGS_KEPT_MS)
}

/** Forgets the use of days before `before`, and people who used nothing since. Returns how many rows went. */
export function pruneUse(database: LedgerDatabase, before: Instant): number {
  const day = dayOf(before)
  let gone = 0
  // One binding after the other: their days are where their keys begin.
  for (const { id } of database.all('SELECT id FROM binding')) {
    for (const table of ['run_use', 'person_use', 'add_on_use']) {
      gone += database.run(`DELETE FROM ${table} WHERE binding = ? AND day < ?`, Number(id), day).changes
    }
    gone += database.run('DELETE FROM person WHERE binding = ? AND last_day < ?', Number(id), day).changes
  }
  return gone
}
