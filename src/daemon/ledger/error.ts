// Turns failures of SQLite and of the file system into LedgerErrors, which say what to do. Raw errors never leave the ledger. A LedgerError
// means that nothing was recorded, so no cap may be written.
import { FAILURES } from './failures.generated.ts'

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

export interface Failure {
  readonly code: LedgerCode
  readonly says: string
}

/** A failure of a ledger, as failures.yaml says it; `told` are the words of the database or of the system. */
export function failed({ code, says }: Failure, ledger: string, told: string): LedgerError {
  const words: Readonly<Record<string, string>> = { told, seconds: String(BUSY_TIMEOUT_MS / 1000), restore: FAILURES.restore }
  return new LedgerError(code, `${ledger}${says.replace(/\{(\w+)\}/g, (all, word) => words[word] ?? all)}`)
}

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
export const SQLITE = { busy: 5, locked: 6, corrupt: 11, cantopen: 14, notadb: 26 } as const

/** READONLY_RECOVERY, _CANTLOCK, _CANTINIT, _DIRECTORY: a reader may not make the files beside the database that reading needs. */
const READING_NEEDS_THE_FOLDER: readonly number[] = [264, 520, 1288, 1544]

export const corrupt = (ledger: string, fault: string): LedgerError => failed(FAILURES.sqlite[SQLITE.corrupt], ledger, fault)

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
  const meanings: Readonly<Record<string, Failure>> = FAILURES.sqlite
  const code = READING_NEEDS_THE_FOLDER.includes(extended) ? SQLITE.cantopen : extended & 0xff
  return failed(meanings[code] ?? FAILURES.sqlite.other, file, error.message)
}

/** For what may wait while the ledger fails; rethrows everything else. */
export const unlessLedger = (error: unknown): undefined => {
  if (!(error instanceof LedgerError)) throw error
}

/** Does something with a file. A failure of the file system becomes a LedgerError; other errors stay as they are. */
export function onDisk<T>(file: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) throw error
    const meanings: Readonly<Record<string, Failure>> = FAILURES.fileSystem
    throw failed(meanings[error.code] ?? FAILURES.fileSystem.other, file, error.code)
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
