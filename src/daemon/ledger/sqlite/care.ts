// Maintains a ledger file: checks it, makes consistent copies while it is in use, and deletes old history. Checking and copying need no write
// lock and change nothing.
import { closeSync, fsyncSync, linkSync, mkdtempSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../../../core/model/problem.ts'
import { DAY_MS, type Instant } from '../../../core/model/units.ts'
import { type Binding, bindings } from '../adapter.ts'
import { LedgerError } from '../error.ts'
import type { BindingReport, LedgerReport } from '../store.ts'

import { type Decode, Undecodable, unlike } from '../values/decode.ts'
import { readRow } from '../values/rows.ts'
import { approval, factFrom, historyEntry, intent, isFact, ownedCap, pause, personHistory, quarantined } from '../values/values.ts'
import { createPrivately, type LedgerDatabase, lookAt } from './database.ts'
import { pruneUse } from './rows.ts'
import { schemaVersion } from './schema.ts'

/** How long history is kept (docs/configuration.md). */
export const HISTORY_DAYS = 400

/** The most faults that are reported. */
export const MAX_PROBLEMS = 100

/** Checks every page and every row. Damage is reported, not thrown. */
export function checkLedger(database: LedgerDatabase, exists: boolean): LedgerReport {
  const problems: string[] = []
  const found = <T>(check: () => T, otherwise: T): T => {
    try {
      return check()
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error
      if (problems.length < MAX_PROBLEMS) problems.push(error.message)
      return otherwise
    }
  }
  for (const problem of found(() => damage(database, 'integrity_check'), [])) problems.push(problem)
  for (const [table, decode] of TABLES) found(() => checkRows(database, table, decode, found), undefined)
  const workspaces = found(() => bindings(database).map((binding) => countRows(database, binding)), [])
  return { file: database.file, exists, schemaVersion: schemaVersion(database), problems, workspaces }
}

/** The faults of pages and references. `quick_check` does not compare indexes with their tables. */
export function damage(database: LedgerDatabase, how: 'integrity_check' | 'quick_check'): readonly string[] {
  const pages = database.all(`PRAGMA ${how}(${MAX_PROBLEMS})`).map((row) => String(Object.values(row)[0]))
  const references = database.all('PRAGMA foreign_key_check')
  return [
    ...pages.filter((line) => line !== 'ok'),
    ...references.map((row) => `row ${String(row['rowid'])} of table ${String(row['table'])} belongs to no workspace`),
  ].slice(0, MAX_PROBLEMS)
}

/** A fact together with its name. */
const fact: Decode<unknown> = (value) => {
  const [name, data]: readonly unknown[] = Array.isArray(value) ? value : []
  if (!isFact(name)) throw new Undecodable(unlike('.name', 'a value that this version knows', name))
  return factFrom(name, data)
}

/** The tables whose rows have a value, with its decoder. A fact is decoded as a list of its name and its value. */
export const TABLES: readonly (readonly [table: string, decode: Decode<unknown>])[] = [
  ['owned', ownedCap],
  ['intent', intent],
  ['history', historyEntry],
  ['approval', approval],
  ['quarantine', quarantined],
  ['known_days', personHistory],
  ['pause', pause],
  ['fact', fact],
]

type Found = <T>(check: () => T, otherwise: T) => T

function checkRows(database: LedgerDatabase, table: string, decode: Decode<unknown>, found: Found): void {
  const data = table === 'fact' ? "'[' || json_quote(name) || ',' || data || ']'" : 'data'
  for (const row of database.each(`SELECT id, ${data} AS data FROM ${table} ORDER BY id`)) {
    found(() => readRow(database.file, table, row, decode), undefined)
  }
}

function countRows(database: LedgerDatabase, { id, ...binding }: Binding): BindingReport {
  const count = (table: string): number => Number(database.get(`SELECT count(*) AS n FROM ${table} WHERE binding = ?`, id)?.['n'])
  return {
    ...binding,
    owned: count('owned'),
    openIntents: count('intent'),
    history: count('history'),
    approvals: count('approval'),
    quarantined: count('quarantine'),
  }
}

/** Deletes history and use older than 400 days. Returns the number of deleted rows. */
export function pruneHistory(database: LedgerDatabase, now: Instant): number {
  const before = now - HISTORY_DAYS * DAY_MS
  return database.write(() => database.run('DELETE FROM history WHERE at < ?', before).changes + pruneUse(database, before))
}

/**
 * Writes a consistent copy of a ledger to `target`, which must not exist; the ledger may be in use. The copy gets its name only when it is
 * complete and on the disk; a backup that is killed leaves a folder `<target>.partial-…`. Throws LEDGER_BACKUP.
 */
export function backupLedger(database: LedgerDatabase, target: string): void {
  const path = resolve(target)
  if (lookAt(path)) throw noBackup(database.file, `${target} exists already; name a file that does not`)
  let folder: string | undefined
  try {
    folder = mkdtempSync(`${path}.partial-`)
    const partial = join(folder, 'copy')
    createPrivately(partial)
    database.all('VACUUM INTO ?', partial)
    flush(partial)
    giveName(partial, path)
    flush(dirname(path))
  } catch (error) {
    throw noBackup(database.file, messageOf(error))
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** Unlike a rename, a link never replaces a file that was made meanwhile. Some network volumes have no links. */
function giveName(partial: string, path: string): void {
  try {
    linkSync(partial, path)
  } catch (error) {
    if (lookAt(path)) throw error
    renameSync(partial, path)
  }
}

const noBackup = (file: string, why: string): LedgerError => new LedgerError('LEDGER_BACKUP', `no copy was made of ${file}: ${why}`)

/** Waits until a file, or the entries of a folder, are on the disk. */
function flush(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
