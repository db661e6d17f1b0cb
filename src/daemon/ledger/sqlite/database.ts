// The ledger's handle on SQLite: its file, which only the owner may read, its lock, and statements that are prepared once. Failures are
// LedgerErrors, and the only way to write is a transaction that is on the disk when it returns. It knows nothing about the content.

import { accessSync, chmodSync, closeSync, constants, openSync, realpathSync, type Stats, statSync } from 'node:fs'
import { backup, DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { BugError } from '../../../core/model/problem.ts'
import { codeIn } from '../../../files.ts'
import { BUSY_TIMEOUT_MS, corrupt, fromSqlite, LedgerError, onDisk, SQLITE, sqliteCode } from '../error.ts'

const OWNER_ONLY = 0o600

/** Makes an empty file that only its owner may read, or checks that the existing one can be written. Throws a `LedgerError`. */
export function createPrivately(file: string): void {
  const stats = lookAt(file)
  if (stats) mustBeFile(file, stats)
  onDisk(file, () => {
    try {
      closeSync(openSync(file, 'wx', OWNER_ONLY))
    } catch (error) {
      if (codeIn(error) !== 'EEXIST') throw error
      accessSync(file, constants.R_OK | constants.W_OK)
    }
  })
}

/** Removes the rights of all but the owner. A file of another owner stays unchanged. */
export function makePrivate(file: string): void {
  try {
    chmodSync(file, OWNER_ONLY)
  } catch {
    // Only the owner may do this. On a shared volume another user may own the file, and has chosen its rights.
  }
}

/** The file's status; undefined when there is no such file. Throws a `LedgerError` when it cannot be read. */
export function lookAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch (error) {
    const told = codeIn(error) ?? String(error)
    if (told === 'ENOTDIR') return undefined
    throw new LedgerError('LEDGER_UNREADABLE', `${file} cannot be accessed (${told}); this user must be able to enter its folder`)
  }
}

/** What SQLite opens beside a database, and would wait for as well. A log beside an empty one is what is left of a ledger: SQLite would delete it. */
function mustBeFilesBeside(path: string): void {
  if (lookAt(path)?.size === 0 && lookAt(`${path}-wal`)?.size) throw corrupt(path, 'it is empty, and its write-ahead log is not')
  for (const file of ['-journal', '-wal', '-shm'].map((suffix) => `${path}${suffix}`)) {
    if (lookAt(file)?.isFile() === false) throw new LedgerError('LEDGER_UNWRITABLE', `${file} is not a regular file; move it away`)
  }
}

/** Throws a `LedgerError` for anything else, which might wait for ever when it is opened. */
export function mustBeFile(file: string, stats: Stats): void {
  if (stats.isFile()) return
  if (!stats.isDirectory()) throw new LedgerError('LEDGER_UNWRITABLE', `${file} is not a regular file, and the ledger is one`)
  throw new LedgerError(
    'LEDGER_UNWRITABLE',
    `${file} is a folder, and the ledger is a file; write --ledger ${file.replace(/\/+$/, '')}/capkeeper.db`,
  )
}

export type Lock = ReturnType<typeof takeLock>

/** Long enough for one of several processes that try at the same instant, or beside `isLocked`, to get the lock. Choice. */
const PATIENCE_MS = 250
/** Choice. */
const MOST_ATTEMPTS = 4

/**
 * Takes the write lock of a ledger, without waiting for its holder. The file `<ledger>.lock` stays when the lock is freed. Throws a
 * `LedgerError`: LEDGER_LOCKED when another process holds it, LEDGER_UNWRITABLE when it cannot be made. Choice: only `run` and `apply` take it.
 */
export function takeLock(ledger: string) {
  const file = `${ledger}.lock`
  createPrivately(file)
  let held: DatabaseSync | undefined
  for (let attempt = 1; held === undefined; attempt += 1) held = tryLock(ledger, file, attempt < MOST_ATTEMPTS)
  const database = held
  return {
    /** Frees the lock; a second call does nothing. */
    release(): void {
      if (database.isOpen) database.close()
    },
  }
}

/** On a busy machine all of those that try at the same instant may fail, and then nobody holds it: undefined, where it may be tried again. */
function tryLock(ledger: string, file: string, again: boolean): DatabaseSync | undefined {
  let held: DatabaseSync | undefined
  try {
    held = new DatabaseSync(file, { timeout: PATIENCE_MS })
    // Nothing is ever written to it, so it needs no journal file beside it.
    held.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return held
  } catch (error) {
    held?.close()
    if (again && isLocked(ledger) === false) return undefined
    throw refusal(error, ledger, file)
  }
}

/** Whether a process holds the write lock of a ledger; undefined when that is not known. It makes no file. */
export function isLocked(ledger: string): boolean | undefined {
  try {
    const file = `${realpathSync(ledger)}.lock`
    if (!lookAt(file)) return false
    using probe = new DatabaseSync(file, { readOnly: true, timeout: 0 })
    probe.exec('SELECT count(*) FROM sqlite_schema')
    return false
  } catch (error) {
    const code = sqliteCode(error)
    return code === SQLITE.busy || code === SQLITE.locked ? true : undefined
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

type Row = Readonly<Record<string, SQLOutputValue>>

export const MEMORY = ':memory:'

/** The beginning of the name of a database in memory that all threads of this process can open. */
const SHARED = 'file:/capkeeper-'
let copies = 0

export const isInMemory = (file: string): boolean => file === MEMORY || file.startsWith(SHARED)

/** An open ledger file, or one in memory. Every method throws a `LedgerError` when the database fails. */
export type LedgerDatabase = ReturnType<typeof opened>

/**
 * Opens a database file or `:memory:`, whatever it contains. `readOnly`: nothing may be written, and no file is made. `file` is its name in messages.
 * Throws a `LedgerError`.
 */
export function openDatabase(path: string, { readOnly }: { readonly readOnly: boolean }, file = path): LedgerDatabase {
  const database = opened(path, readOnly, file)
  return readOnly ? forReading(database) : database
}

function opened(path: string, readOnly: boolean, file: string) {
  const attempt = attempter(file)
  if (!isInMemory(path)) mustBeFilesBeside(path)
  const sqlite = attempt(() => new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS }))
  const statements = new Map<string, StatementSync>()
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? sqlite.prepare(sql)
    statements.set(sql, known)
    return known
  }
  const stillThere = isInMemory(path) ? () => true : sameFile(path)
  return {
    /** Its name in messages. */
    file,
    all: (sql: string, ...values: readonly SQLInputValue[]): readonly Row[] => attempt(() => prepared(sql).all(...values)),
    /** Runs statements without a result. */
    execute: (sql: string): void => attempt(() => sqlite.exec(sql)),
    /** Runs `change` as one transaction: durable when this returns, rolled back when it throws. */
    write<T>(change: () => T): T {
      if (!stillThere()) throw movedAway(file)
      return transaction(sqlite, change, attempt)
    },
    /** Makes a copy in memory, a few pages at a time, so that other work goes on. Any thread can open it by its name until it is ended. */
    async share() {
      copies += 1
      const name = `${SHARED}${copies}?vfs=memdb`
      // The copy exists until its last connection is closed.
      const kept = new DatabaseSync(name)
      try {
        await backup(sqlite, name)
      } catch (error) {
        kept.close()
        throw fromSqlite(error, file)
      }
      return { file: name, end: () => kept.close() }
    },
    close() {
      statements.clear()
      if (sqlite.isOpen) sqlite.close()
    },
  }
}

/** The same database, with every attempt to write a `BugError`. */
export function forReading(database: LedgerDatabase): LedgerDatabase {
  return {
    ...database,
    write() {
      throw new BugError(`${database.file} was opened for reading, and something wants to write to it`)
    },
  }
}

type Attempt = <T>(action: () => T) => T

const attempter =
  (file: string): Attempt =>
  (action) => {
    try {
      return action()
    } catch (error) {
      throw fromSqlite(error, file)
    }
  }

function transaction<T>(sqlite: DatabaseSync, change: () => T, attempt: Attempt): T {
  attempt(() => sqlite.exec('BEGIN IMMEDIATE'))
  try {
    const result = change()
    attempt(() => sqlite.exec('COMMIT'))
    return result
  } catch (error) {
    // Some failures, such as a full disk, have already ended the transaction.
    if (sqlite.isTransaction) attempt(() => sqlite.exec('ROLLBACK'))
    throw error
  }
}

/** Returns whether the path still leads to the same file, which never shrinks: SQLite would go on writing to one that was deleted, moved or cut. */
function sameFile(path: string): () => boolean {
  let before = lookAt(path)
  return () => {
    const now = lookAt(path)
    if (!now || !before || now.ino !== before.ino || now.dev !== before.dev || now.size < before.size) return false
    before = now
    return true
  }
}

const movedAway = (file: string): LedgerError =>
  new LedgerError(
    'LEDGER_UNWRITABLE',
    `${file} was moved, deleted, cut or replaced while it was in use; put it back, or start capkeeper again`,
  )
