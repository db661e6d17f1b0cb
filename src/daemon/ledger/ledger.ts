// Opens the ledger, the durable record of what capkeeper wrote: an SQLite file or a PostgreSQL database for all workspaces. It must never
// replace a ledger that cannot be read by a new one, and must never let two processes write caps with one ledger.

import { LedgerError } from './error.ts'
import { isPostgresAddress, ledgerFault, shownAddress } from './postgres/address.ts'
import { emptyStore, openFile } from './sqlite/file.ts'
import type { LedgerOptions, LedgerStore } from './store.ts'

/**
 * Opens a ledger. Rejects with a `LedgerError`: LEDGER_LOCKED (another writer), LEDGER_CORRUPT, LEDGER_FOREIGN, LEDGER_NEWER, LEDGER_UNREADABLE,
 * LEDGER_UNWRITABLE, LEDGER_FULL or LEDGER_AWAY; the ledger is unchanged then. Choice: a file of zero bytes counts as new.
 */
export async function openLedger(options: LedgerOptions): Promise<LedgerStore> {
  const { file } = options
  if (isPostgresAddress(file)) return openDatabaseLedger(options)
  const fault = ledgerFault(file)
  // As the path of a file it would be an empty ledger, and messages would show its password.
  if (fault !== undefined) throw new LedgerError('LEDGER_UNREADABLE', fault)
  return openFile(options)
}

/** Loads the driver only for a database, because commands with a file must not pay for it. */
async function openDatabaseLedger(options: LedgerOptions): Promise<LedgerStore> {
  const { noBackupHere, openPostgresStore, serverOf } = await import('./postgres/store.ts')
  const { file, clock, env } = options
  const opened = await openPostgresStore(options)
  if (opened) return opened
  const name = shownAddress(file)
  return { ...emptyStore(name, options), server: () => serverOf(file, clock, env), backup: () => Promise.reject(noBackupHere(name)) }
}
