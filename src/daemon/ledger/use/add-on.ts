// Add-on use in the ledger, by person, day and model: what the service's own rows said, in whole cents, for 400 days. People are kept in
// the table that their use by day hangs on. It sums, and judges nothing.
import type { AddOnRow } from '../../../core/model/observed.ts'
import { cents, creditsOf, DAY_MS } from '../../../core/model/units.ts'
import type { AddOnBatch, AddOnSum } from '../../../ports.ts'
import type { WorkspaceRows } from '../adapter.ts'
import type { LedgerDatabase, Row } from '../sqlite/database.ts'
import { ADD_ON_VERSION, schemaVersion } from '../sqlite/schema.ts'
import { bounds, centsOf, daysAsked, MOST } from './values.ts'

type AddOnRows = Pick<WorkspaceRows, 'addOnUse' | 'addOnSums' | 'addOnOfPerson'>

/** A ledger of before there was add-on use, which only a reader can meet, reads as one without. */
export function addOnRows(database: LedgerDatabase, binding: number): AddOnRows {
  const rows = (sql: string, ...values: readonly (string | number)[]): readonly Row[] =>
    schemaVersion(database) < ADD_ON_VERSION ? [] : database.all(sql, ...values)
  return {
    addOnUse: async (days) =>
      rows(
        `SELECT day, email, model, cents, add_on_cents FROM add_on_use JOIN person ON person.id = add_on_use.person
         WHERE add_on_use.binding = ? AND day >= ? AND day < ? ORDER BY day, email, model`,
        binding,
        ...bounds(days),
      ).map(
        (row): AddOnRow => ({
          dayAt: Number(row['day']) * DAY_MS,
          email: String(row['email']),
          model: String(row['model']),
          ...sumOf(row),
        }),
      ),
    addOnSums: async (days) =>
      new Map(
        rows(
          `SELECT email, min(sum(cents), ${MOST}) AS cents, min(sum(add_on_cents), ${MOST}) AS add_on_cents
           FROM add_on_use JOIN person ON person.id = add_on_use.person
           WHERE add_on_use.binding = ? AND day >= ? AND day < ? GROUP BY person ORDER BY email`,
          binding,
          ...bounds(days),
        ).map((row) => [String(row['email']), sumOf(row)]),
      ),
    addOnOfPerson: async (email, days) =>
      rows(
        `${daysAsked('add_on_use', '?')}
         SELECT asked.day, min(sum(add_on_cents), ${MOST}) AS cents FROM asked JOIN person ON person.binding = ?1 AND person.email = ?4
         JOIN add_on_use ON add_on_use.binding = ?1 AND add_on_use.day = asked.day AND add_on_use.person = person.id
         GROUP BY asked.day ORDER BY asked.day`,
        binding,
        ...bounds(days),
        email,
      ).map((row) => ({ dayAt: Number(row['day']) * DAY_MS, addOn: creditsOf(cents(Number(row['cents']))) })),
  }
}

const sumOf = (row: Row): AddOnSum => ({
  used: creditsOf(cents(Number(row['cents']))),
  addOn: creditsOf(cents(Number(row['add_on_cents']))),
})

/** Inside a transaction: the rows of some days in the place of those before. */
export function keepAddOn(database: LedgerDatabase, binding: number, batch: AddOnBatch): void {
  const [from, until] = bounds(batch)
  database.run('DELETE FROM add_on_use WHERE binding = ? AND day >= ? AND day < ?', binding, from, until)
  const known = `INSERT INTO person (binding, email, highest, last_day) VALUES (?, ?, 0, ?)
                 ON CONFLICT (binding, email) DO UPDATE SET last_day = max(last_day, excluded.last_day)`
  const latest = new Map<string, number>()
  for (const { email, dayAt } of batch.rows) latest.set(email, Math.max(latest.get(email) ?? 0, Math.floor(dayAt / DAY_MS)))
  for (const [email, day] of latest) database.run(known, binding, email, day)
  const sql = `INSERT INTO add_on_use (binding, day, person, model, cents, add_on_cents)
               SELECT binding, ?, id, ?, ?, ? FROM person WHERE binding = ? AND email = ?`
  for (const { dayAt, email, model, used, addOn } of batch.rows) {
    database.run(sql, Math.floor(dayAt / DAY_MS), model, centsOf(used), centsOf(addOn), binding, email)
  }
}
