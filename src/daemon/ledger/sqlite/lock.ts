// The write lock of a ledger: at most one process at a time may write caps on the strength of it. It is a lock on a file of its own,
// beside the ledger, held through SQLite: the operating system frees it with the process, also after kill -9, so there is no pid file to
// go stale. It must never open the lock file by any other way than SQLite: closing a second handle would drop the lock (POSIX).
import { realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fromSqlite, LedgerError, SQLITE, sqliteCode } from '../error.ts'
import { createPrivately, lookAt } from './files.ts'

export interface Lock {
  /** Frees the lock; a second call does nothing. */
  release(): void
}

/** Of several that reach for the lock in the same instant, or beside somebody who only looks, one must get it. Choice. */
const PATIENCE_MS = 250

/**
 * Takes the write lock of a ledger, at once or not at all. The file `<ledger>.lock` stays when the lock is freed. Throws a `LedgerError`:
 * LEDGER_LOCKED when another process holds it, LEDGER_UNWRITABLE when it cannot be made. Choice: `run` and `apply` alone take it.
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

/**
 * Whether a process holds the write lock of a ledger now. It only looks, for an instant, and through SQLite; nothing is made. Undefined when it
 * cannot be told.
 */
export function isLocked(ledger: string): boolean | undefined {
  let looking: DatabaseSync | undefined
  try {
    const file = `${realpathSync(ledger)}.lock`
    if (!lookAt(file)) return false
    looking = new DatabaseSync(file, { readOnly: true, timeout: 0 })
    looking.exec('SELECT count(*) FROM sqlite_schema')
    return false
  } catch (error) {
    const code = sqliteCode(error)
    return code === SQLITE.busy || code === SQLITE.locked ? true : undefined
  } finally {
    looking?.close()
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
