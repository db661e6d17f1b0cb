// Turns failures of SQLite and of the file system into LedgerErrors, which say what to do. Raw errors never leave the ledger. A LedgerError
// means that nothing was recorded, so no cap may be written.

/** Never reused for another meaning. */
export type LedgerCode =
  | 'LEDGER_LOCKED'
  | 'LEDGER_BOUND'
  | 'LEDGER_CORRUPT'
  | 'LEDGER_FOREIGN'
  | 'LEDGER_NEWER'
  | 'LEDGER_UNREADABLE'
  | 'LEDGER_UNWRITABLE'
  | 'LEDGER_FULL'
  | 'LEDGER_BACKUP'
  | 'LEDGER_AWAY'
  | 'LEDGER_FENCED'

/** A failed operation of the ledger; the message names the ledger, the fault and the way out. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError'
  readonly code: LedgerCode
  constructor(code: LedgerCode, message: string) {
    super(message)
    this.code = code
  }
}

/** How long a statement waits for another process before it gives up. */
export const BUSY_TIMEOUT_MS = 5_000

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
export const SQLITE = { error: 1, busy: 5, locked: 6, corrupt: 11, full: 13, cantopen: 14, notadb: 26 } as const

/** READONLY_RECOVERY, _CANTLOCK, _CANTINIT, _DIRECTORY: a reader may not make the files beside the database that reading needs. */
const READING_NEEDS_THE_FOLDER: readonly number[] = [264, 520, 1288, 1544]

/** The primary result code of an error of node:sqlite; undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  const code = extendedCode(error)
  return code === undefined ? undefined : code & 0xff
}

function extendedCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined
}

/** A failure of SQLite as a LedgerError; other errors are returned unchanged. */
export function fromSqlite(error: unknown, file: string): unknown {
  const extended = extendedCode(error)
  if (extended === undefined || !(error instanceof Error)) return error
  const told = error.message
  switch (READING_NEEDS_THE_FOLDER.includes(extended) ? SQLITE.cantopen : extended & 0xff) {
    case SQLITE.busy:
    case SQLITE.locked:
      return new LedgerError(
        'LEDGER_LOCKED',
        `${file} was kept busy by another process for more than ${BUSY_TIMEOUT_MS / 1000} s; try again`,
      )
    case SQLITE.full:
      return new LedgerError('LEDGER_FULL', `${file}: the disk is full, so nothing was recorded; make room on the volume of the ledger`)
    case SQLITE.notadb:
      return new LedgerError('LEDGER_CORRUPT', `${file} is not an SQLite database, or its first page is damaged; ${RESTORE}`)
    case SQLITE.corrupt:
      return corrupt(file, told)
    case SQLITE.error:
      return corrupt(file, `its tables are not as capkeeper makes them (${told})`)
    case SQLITE.cantopen:
      return new LedgerError(
        'LEDGER_UNREADABLE',
        `${file} cannot be opened (${told}); this user must be able to read it and write to its folder`,
      )
    default:
      return new LedgerError('LEDGER_UNWRITABLE', `${file} cannot be written (${told}); check its permissions and its volume`)
  }
}

const RESTORE = 'point --ledger at another file, or stop capkeeper and put a copy made by `capkeeper ledger backup` in its place'

export const corrupt = (file: string, fault: string): LedgerError =>
  new LedgerError('LEDGER_CORRUPT', `${file} is damaged: ${fault}; ${RESTORE}`)

/** For what may wait while the ledger fails; rethrows everything else. */
export const unlessLedger = (error: unknown): undefined => {
  if (!(error instanceof LedgerError)) throw error
}

/** Does something with a file. A failure of the file system becomes a LedgerError; other errors stay as they are. */
export function onDisk<T>(file: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') throw fromFileSystem(error.code, file)
    throw error
  }
}

function fromFileSystem(code: string, file: string): LedgerError {
  const cannotBeMade = `${file} cannot be made, because`
  switch (code) {
    case 'ENOENT':
      return new LedgerError('LEDGER_UNWRITABLE', `${cannotBeMade} its folder does not exist; make the folder, or change --ledger`)
    case 'ENOTDIR':
      return new LedgerError('LEDGER_UNWRITABLE', `${cannotBeMade} the path before its name is not a folder; change --ledger`)
    case 'ENOSPC':
    case 'EDQUOT':
      return new LedgerError('LEDGER_FULL', `${cannotBeMade} the disk is full; make room on the volume of the ledger`)
    default:
      return new LedgerError(
        'LEDGER_UNWRITABLE',
        `${file} cannot be written (${code}); this user must be able to write to it and to its folder`,
      )
  }
}

/** Undefined when the ledger cannot be read, so that pages stay available. */
export function orNothing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof LedgerError) return undefined
    throw error
  }
}
