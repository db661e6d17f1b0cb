// Maintains a ledger file: checks it, and makes consistent copies while it is in use. Both need no write lock and change nothing.
import { closeSync, fsyncSync, linkSync, mkdtempSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../../../core/model/problem.ts'
import { LedgerError } from '../error.ts'
import { checkRows, MAX_PROBLEMS } from '../sql/care.ts'
import type { LedgerReport } from '../store.ts'
import { createPrivately, type LedgerDatabase, lookAt } from './database.ts'
import { sqliteDatabase } from './dialect.ts'
import { schemaVersion } from './schema.ts'

/** Checks every page and every row. Damage is reported, not thrown. */
export async function checkLedger(database: LedgerDatabase, exists: boolean): Promise<LedgerReport> {
  const found = await checkRows(sqliteDatabase(database), () => damage(database, 'integrity_check'))
  return { file: database.file, exists, schemaVersion: schemaVersion(database), ...found }
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
