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

/** For a command that would write a workspace of a replica. */
export const heldBy = (name: string, workspace: string, holder: string): LedgerError =>
  new LedgerError(
    'LEDGER_LOCKED',
    `${name}: ${workspace} is held by ${holder}, which keeps its caps; change the policies and let that replica write them, or stop the replicas first`,
  )

/** How long a statement waits for another process before it gives up. */
export const BUSY_TIMEOUT_MS = 5_000

/** What a failure means for the ledger of this name; `told` are the words of the database or of the system. */
export type Meaning = (ledger: string, told: string) => LedgerError

/** `says` goes on after the ledger's name. */
export const meaning =
  (code: LedgerCode, says: (told: string) => string): Meaning =>
  (ledger, told) =>
    new LedgerError(code, `${ledger}${says(told)}`)

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
export const SQLITE = { error: 1, busy: 5, locked: 6, corrupt: 11, full: 13, cantopen: 14, notadb: 26 } as const

/** READONLY_RECOVERY, _CANTLOCK, _CANTINIT, _DIRECTORY: a reader may not make the files beside the database that reading needs. */
const READING_NEEDS_THE_FOLDER: readonly number[] = [264, 520, 1288, 1544]

const RESTORE = 'point --ledger at another file, or stop capkeeper and put a copy made by `capkeeper ledger backup` in its place'

export const corrupt = meaning('LEDGER_CORRUPT', (fault) => ` is damaged: ${fault}; ${RESTORE}`)
const busy = meaning('LEDGER_LOCKED', () => ` was kept busy by another process for more than ${BUSY_TIMEOUT_MS / 1000} s; try again`)
const unreadable = meaning(
  'LEDGER_UNREADABLE',
  (told) => ` cannot be opened (${told}); this user must be able to read it and write to its folder`,
)
const unwritable = meaning('LEDGER_UNWRITABLE', (told) => ` cannot be written (${told}); check its permissions and its volume`)

const OF_SQLITE: Readonly<Record<number, Meaning>> = {
  [SQLITE.busy]: busy,
  [SQLITE.locked]: busy,
  [SQLITE.full]: meaning('LEDGER_FULL', () => ': the disk is full, so nothing was recorded; make room on the volume of the ledger'),
  [SQLITE.notadb]: meaning('LEDGER_CORRUPT', () => ` is not an SQLite database, or its first page is damaged; ${RESTORE}`),
  [SQLITE.corrupt]: corrupt,
  [SQLITE.error]: (file, told) => corrupt(file, `its tables are not as capkeeper makes them (${told})`),
  [SQLITE.cantopen]: unreadable,
}

/** The extended result code of an error of node:sqlite. */
const codeOf = (error: Error): number | undefined => ('errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined)

/** The primary result code of an error of node:sqlite; undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  const code = error instanceof Error ? codeOf(error) : undefined
  return code === undefined ? undefined : code & 0xff
}

/** A failure of SQLite as a LedgerError; other errors are returned unchanged. */
export function fromSqlite(error: unknown, file: string): unknown {
  const extended = error instanceof Error ? codeOf(error) : undefined
  if (extended === undefined || !(error instanceof Error)) return error
  const code = READING_NEEDS_THE_FOLDER.includes(extended) ? SQLITE.cantopen : extended & 0xff
  return (OF_SQLITE[code] ?? unwritable)(file, error.message)
}

/** For what may wait while the ledger fails; rethrows everything else. */
export const unlessLedger = (error: unknown): undefined => {
  if (!(error instanceof LedgerError)) throw error
}

const diskFull = meaning('LEDGER_FULL', () => ' cannot be made, because the disk is full; make room on the volume of the ledger')

const OF_FILE_SYSTEM: Readonly<Record<string, Meaning>> = {
  ENOENT: meaning('LEDGER_UNWRITABLE', () => ' cannot be made, because its folder does not exist; make the folder, or change --ledger'),
  ENOTDIR: meaning('LEDGER_UNWRITABLE', () => ' cannot be made, because the path before its name is not a folder; change --ledger'),
  ENOSPC: diskFull,
  EDQUOT: diskFull,
}

const noRights = meaning(
  'LEDGER_UNWRITABLE',
  (code) => ` cannot be written (${code}); this user must be able to write to it and to its folder`,
)

/** Does something with a file. A failure of the file system becomes a LedgerError; other errors stay as they are. */
export function onDisk<T>(file: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) throw error
    throw (OF_FILE_SYSTEM[error.code] ?? noRights)(file, error.code)
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
