// The rows of one workspace in SQLite, those of use too. Every method is one statement or one transaction, and a change is on the disk when it
// returns.
import { scopeKey } from '../../../core/model/scope.ts'
import { credits, type Instant } from '../../../core/model/units.ts'
import type { BurnStep } from '../../../core/use/burn.ts'
import type { AddOnBatch, HistoryFilter, RunsBatch } from '../../../ports.ts'
import {
  type DataRow,
  dataRow,
  KEYS,
  type KeyedRow,
  type KeyedTable,
  notOpen,
  type RowChange,
  type Snapshot,
  StaleRow,
  type WorkspaceRows,
} from '../adapter.ts'
import { bounds, centsOf, dayOf, lastDays, MOST, READINGS_KEPT_MS, type UseDatabase, useRows } from '../use/queries.ts'
import type { LedgerDatabase } from './database.ts'

const sqliteUse = (database: LedgerDatabase): UseDatabase => ({
  ask: async (sql, values) => database.all(sql, ...values),
  schema: '',
  least: 'min',
  listOf: (column) => `json_group_array(${column})`,
  keptText: (text) => text,
  textKept: String,
})

/** Inside a transaction: what a reading of the roster adds. */
function keepBurn(database: LedgerDatabase, binding: number, step: BurnStep): void {
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
function keepRuns(database: LedgerDatabase, binding: number, scope: string, batch: RunsBatch): void {
  database.run('DELETE FROM run_use WHERE binding = ? AND day >= ? AND day < ? AND scope = ?', binding, ...bounds(batch), scope)
  const sql = 'INSERT INTO run_use (binding, day, scope, model, mode, messages, cents) VALUES (?, ?, ?, ?, ?, ?, ?)'
  for (const { dayAt, model, mode, messages, used } of batch.rows) {
    database.run(sql, binding, dayOf(dayAt), scope, model, mode, messages, used === undefined ? null : centsOf(used))
  }
}

/** Inside a transaction: replaces one person's use on some days. Throws a `StaleRow` when what is known of them has changed since it was read. */
function keepDays(database: LedgerDatabase, binding: number, change: Extract<RowChange, { kind: 'days' }>): void {
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
function keepAddOn(database: LedgerDatabase, binding: number, batch: AddOnBatch): void {
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

/** How often each binding's rows were changed through this handle, which several ledgers of one workspace may share. */
export type Versions = Map<number, number>

interface SqliteRowsOptions {
  readonly database: LedgerDatabase
  readonly workspace: string
  /** The id of the binding; one that does not exist reads as an empty workspace. */
  readonly binding: number
  readonly versions: Versions
}

export function sqliteRows({ database, workspace, binding, versions }: SqliteRowsOptions): WorkspaceRows {
  let seen: { readonly others: string; readonly ours: number } | undefined
  const ours = (): number => versions.get(binding) ?? 0
  return {
    name: database.file,
    async read(latelySince, isKnown) {
      const others = versionOfOthers(database)
      if (isKnown && seen?.others === others && seen.ours === ours()) return undefined
      const snapshot = readRows(database, binding, latelySince)
      seen = { others, ours: ours() }
      return snapshot
    },
    async write(changes) {
      const opened = database.write(() => {
        let id: number | undefined
        for (const change of changes) id = apply(database, workspace, binding, change) ?? id
        return id
      })
      // Only our own change came since the last reading, and we know it.
      const knew = seen?.ours === ours()
      versions.set(binding, ours() + 1)
      if (seen && knew) seen = { ...seen, ours: ours() }
      return opened
    },
    history: async (filter) => historyRows(database, binding, filter),
    pause: async () => pauseRow(database, workspace),
    ...useRows(sqliteUse(database), binding),
  }
}

/** Changes whenever another connection changes the database. */
const versionOfOthers = (database: LedgerDatabase): string => String(database.all('PRAGMA data_version')[0]?.['data_version'])

/** All rows of a workspace that are kept in memory. */
export function readRows(database: LedgerDatabase, binding: number, latelySince: Instant): Snapshot {
  const table = (name: KeyedTable): readonly KeyedRow[] =>
    database
      .all(`SELECT id, ${KEYS[name]} AS key, data FROM ${name} WHERE binding = ? ORDER BY id`, binding)
      .map((row) => ({ ...dataRow(row), key: String(row['key']) }))
  return {
    tables: { owned: table('owned'), approval: table('approval'), quarantine: table('quarantine'), fact: table('fact') },
    intents: database.all('SELECT id, data FROM intent WHERE binding = ? ORDER BY id', binding).map(dataRow),
    lately: historyRows(database, binding, { sinceAt: latelySince }),
  }
}

/** Newest first. */
function historyRows(database: LedgerDatabase, binding: number, { scope, sinceAt, untilAt, limit }: HistoryFilter): readonly DataRow[] {
  // Without the hint SQLite takes the index of instants, and scans everything for one scope.
  const [index, atScope] = scope ? ['history_scope', ' AND scope = ?'] : ['history_at', '']
  return database
    .all(
      `SELECT id, data FROM history INDEXED BY ${index} WHERE binding = ? AND at >= ? AND at <= ?${atScope} ORDER BY at DESC, id DESC LIMIT ?`,
      binding,
      sinceAt ?? Number.MIN_SAFE_INTEGER,
      untilAt ?? Number.MAX_SAFE_INTEGER,
      ...(scope ? [scopeKey(scope)] : []),
      limit ?? -1,
    )
    .map(dataRow)
}

export function pauseRow(database: LedgerDatabase, workspace: string): DataRow | undefined {
  const row = database.get('SELECT id, data FROM pause WHERE workspace = ?', workspace)
  return row && dataRow(row)
}

/** Inside a transaction. Returns the id of an intent that it opened. */
function apply(database: LedgerDatabase, workspace: string, binding: number, change: RowChange): number | undefined {
  switch (change.kind) {
    case 'put':
      put(database, binding, change)
      return undefined
    case 'drop':
      database.run(`DELETE FROM ${change.table} WHERE binding = ? AND ${KEYS[change.table]} = ?`, binding, change.key)
      return undefined
    case 'open':
      return database.run('INSERT INTO intent (binding, data) VALUES (?, ?)', binding, change.data).lastId
    case 'close': {
      const { changes } = database.run('DELETE FROM intent WHERE binding = ? AND id = ?', binding, change.id)
      if (changes === 0) throw notOpen(change)
      return undefined
    }
    case 'append':
      database.run('INSERT INTO history (binding, at, scope, data) VALUES (?, ?, ?, ?)', binding, change.at, change.scope, change.data)
      return undefined
    case 'pause':
      database.run('DELETE FROM pause WHERE workspace = ?', workspace)
      if (change.data !== undefined) database.run('INSERT INTO pause (workspace, data) VALUES (?, ?)', workspace, change.data)
      return undefined
    case 'runs':
      keepRuns(database, binding, change.scope, change.batch)
      return undefined
    case 'burn':
      keepBurn(database, binding, change.step)
      return undefined
    case 'addOn':
      keepAddOn(database, binding, change.batch)
      return undefined
    case 'days':
      keepDays(database, binding, change)
      return undefined
    case 'noDays':
      database.run('DELETE FROM person_use WHERE binding = ? AND told = 1', binding)
      database.run('DELETE FROM known_days WHERE binding = ?', binding)
      return undefined
    case 'forget':
      forget(database, binding, change.email)
      return undefined
  }
}

function forget(database: LedgerDatabase, binding: number, email: string): void {
  const person = 'person IN (SELECT id FROM person WHERE person.binding = ? AND email = ?)'
  database.run('DELETE FROM history WHERE binding = ? AND scope = ?', binding, email)
  for (const table of ['person_use', 'add_on_use'])
    database.run(`DELETE FROM ${table} WHERE binding = ? AND ${person}`, binding, binding, email)
  database.run('DELETE FROM known_days WHERE binding = ? AND email = ?', binding, email)
  database.run('DELETE FROM person WHERE binding = ? AND email = ?', binding, email)
}

function put(database: LedgerDatabase, binding: number, { table, key, data, known }: Extract<RowChange, { kind: 'put' }>): void {
  const insert = `INSERT INTO ${table} (binding, ${KEYS[table]}, data) VALUES (?, ?, ?) ON CONFLICT (binding, ${KEYS[table]})`
  if (!known) database.run(`${insert} DO UPDATE SET data = excluded.data`, binding, key, data)
  else if (known.data === undefined) database.run(`${insert} DO NOTHING`, binding, key, data)
  else database.run(`UPDATE ${table} SET data = ? WHERE binding = ? AND ${KEYS[table]} = ? AND data = ?`, data, binding, key, known.data)
}
