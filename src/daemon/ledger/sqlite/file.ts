// SQL as SQLite has it, and a ledger in a file, or in memory: how it is opened in each mode, its check, and its copies.

import { closeSync, fsyncSync, linkSync, mkdtempSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../../../core/model/problem.ts'
import { codeIn } from '../../../files.ts'
import type { LedgerMode } from '../adapter.ts'
import { corrupt, LedgerError, onDisk } from '../error.ts'
import { checkRows, MAX_PROBLEMS } from '../sql/care.ts'
import { recording, statementsOf } from '../sql/changes.ts'
import type { CopyEnd } from '../sql/copy.ts'
import { type Ask, carriedOut, type Row, type SqlDatabase, type Statement, translator } from '../sql/statement.ts'
import { mustBePresent, SCHEMA_VERSION, scriptOf, type Types } from '../sql/tables.ts'
import { type LedgerOptions, type LedgerStore, type StoreParts, storeOn } from '../store.ts'
import {
  createPrivately,
  forReading,
  isInMemory,
  isLocked,
  type LedgerDatabase,
  type Lock,
  lookAt,
  MEMORY,
  makePrivate,
  mustBeFile,
  openDatabase,
  takeLock,
} from './database.ts'

const TYPES: Types = {
  ...{ integer: 'INTEGER', real: 'REAL', flag: 'INTEGER', text: 'TEXT', schema: '' },
  // The id of an intent is never used again.
  id: (table) => `INTEGER PRIMARY KEY${table === 'intent' ? ' AUTOINCREMENT' : ''}`,
  end: (hasId) => (hasId ? ' STRICT' : ' STRICT, WITHOUT ROWID'),
}

const text = translator({
  table: (name) => name,
  value: (place) => `?${place}`,
  // A statement is carried out for one row after the other, because it is prepared only once.
  given: (columns, first) => `(SELECT ${columns.map((column, at) => `?${first + at} AS ${column}`).join(', ')}) AS given`,
  by: (index) => `INDEXED BY ${index}`,
  ...{ least: 'min', greatest: 'max' },
  listOf: (column) => `json_group_array(${column})`,
})

/** Carries out statements at once. */
export const statementsIn =
  (database: LedgerDatabase) =>
  ({ sql, values = [], given }: Statement): readonly Row[] =>
    given ? given.flatMap((row) => database.all(text(sql), ...values, ...row)) : database.all(text(sql), ...values)

export function sqliteDatabase(database: LedgerDatabase): SqlDatabase {
  const run = statementsIn(database)
  const transaction: SqlDatabase['transaction'] = async (steps) => database.write(() => carriedOut(steps(), run))
  return {
    name: database.file,
    ask: async (statement) => run(statement),
    transaction,
    record: (place, changes) =>
      transaction(() =>
        recording(
          place,
          changes.flatMap((change) => statementsOf(change, place)),
          database.file,
        ),
      ),
  }
}

function sqliteCopy(database: LedgerDatabase): CopyEnd {
  const { ask } = sqliteDatabase(database)
  const within = async <T>(begin: string, body: (ask: Ask) => Promise<T>): Promise<T> => {
    database.execute(begin)
    try {
      const result = await body(ask)
      database.execute('COMMIT')
      return result
    } catch (error) {
      database.execute('ROLLBACK')
      throw error
    }
  }
  return {
    name: database.file,
    // Its file is locked.
    mustBeFree: async () => undefined,
    read: (body) => within('BEGIN', body),
    fill: (body) => within('BEGIN IMMEDIATE', body),
    lastIntent: { sql: "SELECT seq AS last FROM sqlite_sequence WHERE name = 'intent'" },
    goOnAfter: (lastIntent) => [
      { sql: "DELETE FROM sqlite_sequence WHERE name = 'intent'" },
      { sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('intent', ?1)", values: [lastIntent] },
    ],
  }
}

// The schema of a ledger file: its owner and version. A file of another program or of a newer capkeeper is never changed, and a
// ledger that cannot be read is never replaced by a new one. An empty file is a new ledger.

/** "capk": tells a ledger from other SQLite files (`PRAGMA application_id`). */
const APPLICATION_ID = 0x6361706b

/** 0 for an empty database. Throws LEDGER_FOREIGN, for another version as `mustBePresent`, and LEDGER_CORRUPT when it is no database at all. */
function schemaVersion(database: LedgerDatabase): number {
  // One statement, because another process may be making the ledger.
  const [found] = database.all(
    'SELECT application_id AS owner, user_version AS version, EXISTS (SELECT 1 FROM sqlite_schema) AS filled FROM pragma_application_id, pragma_user_version',
  )
  const [owner, version, filled] = [Number(found?.['owner']), Number(found?.['version']), found?.['filled'] === 1]
  if (owner !== APPLICATION_ID) {
    if (owner === 0 && version === 0 && !filled) return 0
    throw new LedgerError('LEDGER_FOREIGN', `${database.file} is an SQLite database of another program; point --ledger at another file`)
  }
  mustBePresent(version, database.file)
  return version
}

/** Makes an empty database a ledger, in one transaction. */
function create(database: LedgerDatabase): void {
  if (schemaVersion(database) === SCHEMA_VERSION) return
  database.write(() => {
    // Read again: another process may have made it meanwhile.
    if (schemaVersion(database) === SCHEMA_VERSION) return
    database.execute(`${scriptOf(TYPES)}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`)
  })
}

/** Opens a ledger file, or one in memory. */
export function openFile({ file, mode, clock }: LedgerOptions): LedgerStore {
  const parts: StoreParts = { mode, clock, exists: true }
  if (file === MEMORY) {
    const database = emptyLedger(MEMORY, mode)
    return { ...store(database, parts), share: database.share }
  }
  if (isInMemory(file)) return store(openDatabase(file, { readOnly: true }), parts)
  const path = resolve(file)
  if (mode === 'read') {
    const existing = openForReading(path)
    return existing ? store(existing, parts) : emptyStore(path, parts)
  }
  createPrivately(path)
  // Follows links, because two names of one file must lead to one lock.
  const real = onDisk(path, () => realpathSync(path))
  return openForWriting(real, parts)
}

/** In the place of a ledger that does not exist yet. */
export const emptyStore = (name: string, { mode, clock }: Pick<StoreParts, 'mode' | 'clock'>): LedgerStore =>
  store(emptyLedger(name, mode), { mode, clock, exists: false })

function emptyLedger(name: string, mode: LedgerMode): LedgerDatabase {
  const database = openDatabase(MEMORY, { readOnly: false }, name)
  create(database)
  return mode === 'read' ? forReading(database) : database
}

/** Undefined when there is no ledger yet. */
function openForReading(path: string): LedgerDatabase | undefined {
  const found = lookAt(path)
  if (!found) return undefined
  mustBeFile(path, found)
  const database = openDatabase(path, { readOnly: true })
  let isLedger = false
  try {
    isLedger = schemaVersion(database) > 0
  } finally {
    if (!isLedger) database.close()
  }
  return isLedger ? database : undefined
}

function openForWriting(path: string, parts: StoreParts): LedgerStore {
  const isKeeper = parts.mode === 'write'
  const database = openDatabase(path, { readOnly: false })
  let lock: Lock | undefined
  try {
    // Before the file is changed, because it may belong to another program.
    schemaVersion(database)
    lock = isKeeper ? takeLock(path) : undefined
    database.execute('PRAGMA journal_mode = WAL')
    // Intents must survive power loss: every commit waits for the disk.
    database.execute('PRAGMA synchronous = FULL')
    // Overwrites deleted rows, so that `ledger forget` removes a person from the file as well.
    database.execute('PRAGMA secure_delete = ON')
    create(database)
    for (const suffix of ['', '-wal', '-shm', '.lock']) makePrivate(`${path}${suffix}`)
    const [fault] = isKeeper ? damage(database, 'quick_check') : []
    if (fault !== undefined) throw corrupt(database.file, fault)
    return store(database, parts, lock)
  } catch (error) {
    database.close()
    lock?.release()
    throw error
  }
}

function store(database: LedgerDatabase, parts: StoreParts, lock?: Lock): LedgerStore {
  const ledger = sqliteDatabase(database)
  return {
    ...storeOn(ledger, parts),
    probe: async () => {
      database.write(() => database.all('UPDATE binding SET bound_at = bound_at WHERE id = (SELECT min(id) FROM binding)'))
    },
    async check() {
      const problems = await checkRows(ledger, () => damage(database, 'integrity_check'))
      return { file: database.file, exists: parts.exists, schemaVersion: schemaVersion(database), problems }
    },
    async backup(target) {
      if (!parts.exists) throw new LedgerError('LEDGER_BACKUP', `no copy was made: there is no ledger at ${database.file} yet`)
      backupLedger(database, target)
    },
    isHeld: async () => isLocked(database.file),
    copyEnd: async () => sqliteCopy(database),
    async close() {
      database.close()
      lock?.release()
    },
  }
}

// Maintains a ledger file: checks it, and makes consistent copies while it is in use. Both need no write lock and change nothing.

/** The faults of pages and references. `quick_check` does not compare indexes with their tables. */
function damage(database: LedgerDatabase, how: 'integrity_check' | 'quick_check'): readonly string[] {
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
function backupLedger(database: LedgerDatabase, target: string): void {
  const path = resolve(target)
  if (lookAt(path)) throw noBackup(database.file, `${target} exists already; name a file that does not`)
  if (!lookAt(dirname(path))) throw noBackup(database.file, `the folder ${dirname(target)} does not exist`)
  using made = new DisposableStack()
  try {
    const folder = mkdtempSync(`${path}.partial-`)
    made.defer(() => rmSync(folder, { recursive: true, force: true }))
    const partial = join(folder, 'copy')
    createPrivately(partial)
    database.all('VACUUM INTO ?', partial)
    flush(partial)
    giveName(partial, path)
    flush(dirname(path))
  } catch (error) {
    const isFull = /^(ENOSPC|LEDGER_FULL)$/.test(codeIn(error) ?? '')
    throw noBackup(database.file, isFull ? `the disk of ${target} is full; make room there` : messageOf(error))
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
  using opened = new DisposableStack()
  fsyncSync(opened.adopt(openSync(path, 'r'), closeSync))
}
