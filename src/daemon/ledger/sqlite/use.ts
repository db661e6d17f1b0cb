// Use in SQLite. Only days with use have rows, so that 50,000 people and 400 days stay a file of a few hundred megabytes.

import { credits, type Instant } from '../../../core/model/units.ts'
import type { BurnStep } from '../../../core/use/burned.ts'
import type { AddOnBatch, RunsBatch } from '../../../ports.ts'
import { type RowChange, StaleRow } from '../adapter.ts'
import type { UseDatabase } from '../use/queries.ts'
import { bounds, centsOf, dayOf, lastDays, MOST, READINGS_KEPT_MS } from '../use/values.ts'
import type { LedgerDatabase } from './database.ts'

export const sqliteUse = (database: LedgerDatabase): UseDatabase => ({
  ask: async (sql, values) => database.all(sql, ...values),
  schema: '',
  least: 'min',
  listOf: (column) => `json_group_array(${column})`,
  keptText: (text) => text,
  textKept: String,
})

/** Inside a transaction: what a reading of the roster adds. */
export function keepBurn(database: LedgerDatabase, binding: number, step: BurnStep): void {
  const { burned, readAt, increases, isNewCycle, raised, used } = step
  // A reading counts on the day it was made. Choice: the service is up to 3 h late, and does not say when a person used something.
  const day = dayOf(readAt)
  if (isNewCycle) database.run('UPDATE person SET highest = 0 WHERE binding = ?', binding)
  const known = `INSERT INTO person (binding, email, highest, last_day) VALUES (?, ?, ?, ?)
                 ON CONFLICT (binding, email) DO UPDATE SET highest = excluded.highest, last_day = excluded.last_day`
  for (const email of raised) database.run(known, binding, email, centsOf(burned.highest?.get(email) ?? credits(0)), day)
  const burn = `INSERT INTO person_use (binding, day, person, cents, told)
                SELECT binding, ?, id, ?, 0 FROM person WHERE binding = ? AND email = ?
                ON CONFLICT (binding, day, person) DO UPDATE SET cents = min(cents + excluded.cents, ${MOST}) WHERE told = 0`
  for (const [email, increase] of increases) database.run(burn, day, centsOf(increase), binding, email)
  if (used === undefined) return
  const reading =
    'INSERT INTO use_reading (binding, at, cents) VALUES (?, ?, ?) ON CONFLICT (binding, at) DO UPDATE SET cents = excluded.cents'
  database.run(reading, binding, readAt, centsOf(used))
  database.run('DELETE FROM use_reading WHERE binding = ? AND at < ?', binding, readAt - READINGS_KEPT_MS)
}

/** Inside a transaction: replaces the runs of some days. */
export function keepRuns(database: LedgerDatabase, binding: number, scope: string, batch: RunsBatch): void {
  database.run('DELETE FROM run_use WHERE binding = ? AND day >= ? AND day < ? AND scope = ?', binding, ...bounds(batch), scope)
  const sql = 'INSERT INTO run_use (binding, day, scope, model, mode, messages, cents) VALUES (?, ?, ?, ?, ?, ?, ?)'
  for (const { dayAt, model, mode, messages, used } of batch.rows) {
    database.run(sql, binding, dayOf(dayAt), scope, model, mode, messages, used === undefined ? null : centsOf(used))
  }
}

/** Inside a transaction: replaces one person's use on some days. Throws a `StaleRow` when what is known of them has changed since it was read. */
export function keepDays(database: LedgerDatabase, binding: number, change: Extract<RowChange, { kind: 'days' }>): void {
  const { email, data, before, told } = change
  const kept =
    before === undefined
      ? database.run('INSERT INTO known_days (binding, email, data) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', binding, email, data)
      : database.run('UPDATE known_days SET data = ? WHERE binding = ? AND email = ? AND data = ?', data, binding, email, before)
  if (kept.changes === 0) throw new StaleRow()
  if (!told) return
  const last = dayOf(told.untilAt - 1)
  database.run(
    `INSERT INTO person (binding, email, highest, last_day) VALUES (?, ?, 0, ?)
     ON CONFLICT (binding, email) DO UPDATE SET last_day = max(last_day, excluded.last_day)`,
    ...[binding, email, last],
  )
  const id = Number(database.get('SELECT id FROM person WHERE binding = ? AND email = ?', binding, email)?.['id'])
  const [from, until] = bounds(told)
  // One day after the other, because the key begins with the day.
  for (let day = from; day < until; day += 1)
    database.run('DELETE FROM person_use WHERE binding = ? AND day = ? AND person = ?', binding, day, id)
  const sql = 'INSERT INTO person_use (binding, day, person, cents, told) VALUES (?, ?, ?, ?, 1)'
  for (const { dayAt, used } of told.rows) if (used > 0) database.run(sql, binding, dayOf(dayAt), id, centsOf(used))
}

/** Inside a transaction: replaces the add-on use of some days. */
export function keepAddOn(database: LedgerDatabase, binding: number, batch: AddOnBatch): void {
  database.run('DELETE FROM add_on_use WHERE binding = ? AND day >= ? AND day < ?', binding, ...bounds(batch))
  const known = `INSERT INTO person (binding, email, highest, last_day) VALUES (?, ?, 0, ?)
                 ON CONFLICT (binding, email) DO UPDATE SET last_day = max(last_day, excluded.last_day)`
  for (const [email, day] of lastDays(batch.rows)) database.run(known, binding, email, day)
  const sql = `INSERT INTO add_on_use (binding, day, person, model, cents, add_on_cents)
               SELECT binding, ?, id, ?, ?, ? FROM person WHERE binding = ? AND email = ?`
  for (const { dayAt, email, model, used, addOn } of batch.rows) {
    database.run(sql, dayOf(dayAt), model, centsOf(used), centsOf(addOn), binding, email)
  }
}

/** Deletes the use of days before an instant, and people without use since. Returns how many rows it deleted. */
export function pruneUse(database: LedgerDatabase, before: Instant): number {
  const day = dayOf(before)
  let deleted = 0
  // One binding after the other, because the keys begin with it.
  for (const { id } of database.all('SELECT id FROM binding')) {
    for (const table of ['run_use', 'person_use', 'add_on_use']) {
      deleted += database.run(`DELETE FROM ${table} WHERE binding = ? AND day < ?`, Number(id), day).changes
    }
    deleted += database.run('DELETE FROM person WHERE binding = ? AND last_day < ?', Number(id), day).changes
  }
  return deleted
}
