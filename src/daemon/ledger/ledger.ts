// Opens the ledger, the durable record of what capkeeper wrote: an SQLite file or a PostgreSQL database for all workspaces. It must never
// replace a ledger that cannot be read by a new one, and must never let two processes write caps with one ledger.

import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { LedgerMode } from './adapter.ts'
import { corrupt, LedgerError, onDisk } from './error.ts'
import { isPostgresAddress, ledgerFault, shownAddress } from './postgres/address.ts'
import {
  createPrivately,
  forReading,
  isInMemory,
  type LedgerDatabase,
  type Lock,
  lookAt,
  MEMORY,
  makePrivate,
  mustBeFile,
  openDatabase,
  takeLock,
} from './sqlite/database.ts'
import { backupLedger, checkLedger, create, damage, schemaVersion, sqliteCopy, sqliteDatabase } from './sqlite/file.ts'
import { type LedgerOptions, type LedgerStore, type StoreParts, storeOn } from './store.ts'

/**
 * Opens a ledger. Rejects with a `LedgerError`: LEDGER_LOCKED (another writer), LEDGER_CORRUPT, LEDGER_FOREIGN, LEDGER_NEWER, LEDGER_UNREADABLE,
 * LEDGER_UNWRITABLE, LEDGER_FULL or LEDGER_AWAY; the ledger is unchanged then. Choice: a file of zero bytes counts as new.
 */
export async function openLedger(options: LedgerOptions): Promise<LedgerStore> {
  const { file, mode, clock } = options
  if (isPostgresAddress(file)) return openDatabaseLedger(options)
  const fault = ledgerFault(file)
  // As the path of a file it would be an empty ledger, and messages would show its password.
  if (fault !== undefined) throw new LedgerError('LEDGER_UNREADABLE', fault)
  if (file === MEMORY) {
    const database = emptyLedger(MEMORY, mode)
    return { ...store(database, { mode, clock, exists: true }), share: database.share }
  }
  if (isInMemory(file)) return store(openDatabase(file, { readOnly: true }), { mode, clock, exists: true })
  const path = resolve(file)
  if (mode === 'read') {
    const existing = openForReading(path)
    return store(existing ?? emptyLedger(path, mode), { mode, clock, exists: existing !== undefined })
  }
  createPrivately(path)
  // Follows links, because two names of one file must lead to one lock.
  const real = onDisk(path, () => realpathSync(path))
  return openForWriting(real, { mode, clock, exists: true })
}

/** Loads the driver only for a database, because commands with a file must not pay for it. */
async function openDatabaseLedger(options: LedgerOptions): Promise<LedgerStore> {
  const { noBackupHere, openPostgresStore, serverOf } = await import('./postgres/store.ts')
  const { file, mode, clock, env } = options
  const opened = await openPostgresStore(options)
  if (opened) return opened
  const name = shownAddress(file)
  const empty = store(emptyLedger(name, mode), { mode, clock, exists: false })
  return { ...empty, server: () => serverOf(file, clock, env), backup: () => Promise.reject(noBackupHere(name)) }
}

function emptyLedger(name: string, mode: LedgerMode): LedgerDatabase {
  const database = openDatabase(MEMORY, { readOnly: false, name })
  create(database)
  return mode === 'read' ? forReading(database) : database
}

/** Undefined when there is no ledger yet. */
function openForReading(path: string): LedgerDatabase | undefined {
  const found = lookAt(path)
  if (!found) return undefined
  mustBeFile(path, found)
  if (found.size === 0) return undefined
  const database = openDatabase(path, { readOnly: true })
  try {
    if (schemaVersion(database) > 0) return database
  } catch (error) {
    database.close()
    throw error
  }
  database.close()
  return undefined
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
  return {
    ...storeOn(sqliteDatabase(database), parts),
    probe: async () => {
      database.write(() => database.all('UPDATE binding SET bound_at = bound_at WHERE id = (SELECT min(id) FROM binding)'))
    },
    check: () => checkLedger(database, parts.exists),
    async backup(target) {
      if (!parts.exists) throw new LedgerError('LEDGER_BACKUP', `no copy was made: there is no ledger at ${database.file} yet`)
      backupLedger(database, target)
    },
    copyEnd: async () => sqliteCopy(database),
    async close() {
      database.close()
      lock?.release()
    },
  }
}
