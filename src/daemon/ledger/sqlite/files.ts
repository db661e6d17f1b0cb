// Makes the files of a ledger, readable only by their owner. An existing file is never opened here: closing a handle drops every lock that
// SQLite holds on that file in this process (POSIX).
import { accessSync, chmodSync, closeSync, constants, openSync, type Stats, statSync } from 'node:fs'
import { fromFileSystem, LedgerError } from '../error.ts'

const OWNER_ONLY = 0o600

/** Makes an empty file that only its owner may read, or checks that the existing one can be written. Throws a `LedgerError`. */
export function createPrivately(file: string): void {
  const stats = lookAt(file)
  if (stats) mustBeFile(file, stats)
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw fromFileSystem(error, file)
    mustBeWritable(file)
  }
}

function mustBeWritable(file: string): void {
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw fromFileSystem(error, file)
  }
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    const told = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new LedgerError('LEDGER_UNREADABLE', `${file} cannot be accessed (${told}); this user must be able to enter its folder`)
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
