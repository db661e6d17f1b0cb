// What commands that talk to a running daemon share.
import { UsageError } from './context.ts'

/** A ledger that a daemon tells, in place of a file. */
export const isLedgerUrl = (ledger: string): boolean => /^https?:\/\//.test(ledger)

/** fetch says only "fetch failed"; why stands in its cause. */
export function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && cause.code !== undefined ? String(cause.code) : cause.message
}

/** Only what reads can use the ledger of a running daemon. Throws a `UsageError`. */
export function mustBeFile(ledger: string): void {
  if (isLedgerUrl(ledger))
    throw new UsageError(`${ledger} is the ledger of a running daemon: only plan and explain can read it; name a file with --ledger`)
}
