// The write lock of a ledger: at most one process may write caps with it. It is a lock on a separate file beside the ledger, held through
// SQLite: the operating system frees it with the process, even after kill -9, so there is no stale pid file. The lock file must only ever be
// opened through SQLite: closing a second handle would drop the lock (POSIX).
import { realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fromSqlite, LedgerError, SQLITE, sqliteCode } from '../error.ts'
import { createPrivately, lookAt } from './files.ts'

export interface Lock {
  /** Frees the lock; a second call does nothing. */
  release(): void
}

/** Long enough for one of several processes that try at the same instant, or beside `isLocked`, to get the lock. Choice. */
const PATIENCE_MS = 250

/**
 * Takes the write lock of a ledger, without waiting for its holder. The file `<ledger>.lock` stays when the lock is freed. Throws a
 * `LedgerError`: LEDGER_LOCKED when another process holds it, LEDGER_UNWRITABLE when it cannot be made. Choice: only `run` and `apply` take it.
 */
export function takeLock(ledger: string): Lock {
  const file = `${ledger}.lock`
  createPrivately(file)
  let held: DatabaseSync | undefined
  try {
    held = new DatabaseSync(file, { timeout: PATIENCE_MS })
    // Nothing is ever written to it, so it needs no journal file beside it.
    held.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    held?.close()
    throw refusal(error, ledger, file)
  }
  const database = held
  return {
    release() {
      if (database.isOpen) database.close()
    },
  }
}

/** Whether a process holds the write lock of a ledger; undefined when that is not known. It makes no file. */
export function isLocked(ledger: string): boolean | undefined {
  let probe: DatabaseSync | undefined
  try {
    const file = `${realpathSync(ledger)}.lock`
    if (!lookAt(file)) return false
    probe = new DatabaseSync(file, { readOnly: true, timeout: 0 })
    probe.exec('SELECT count(*) FROM sqlite_schema')
    return false
  } catch (error) {
    const code = sqliteCode(error)
    return code === SQLITE.busy || code === SQLITE.locked ? true : undefined
  } finally {
    probe?.close()
  }
}

function refusal(error: unknown, ledger: string, file: string): unknown {
  const code = sqliteCode(error)
  if (code === SQLITE.busy || code === SQLITE.locked) {
    return new LedgerError(
      'LEDGER_LOCKED',
      `${ledger} is in use by another capkeeper that writes (run or apply); stop that one first, or give this one a ledger of its own (--ledger)`,
    )
  }
  if (code === SQLITE.notadb) {
    return new LedgerError('LEDGER_UNWRITABLE', `${file} is not a lock file of capkeeper; move it away, or change --ledger`)
  }
  return fromSqlite(error, file)
}
