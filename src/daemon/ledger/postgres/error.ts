// Turns failures of PostgreSQL and of the connection to it into LedgerErrors, which say what to do. Raw errors of the driver never leave the
// ledger, and no message contains a password.
import { type Failure, failed, LedgerError } from '../error.ts'
import { FAILURES } from '../failures.generated.ts'

const fields = (error: object): { readonly code: string; readonly isOfServer: boolean } => ({
  code: 'code' in error && typeof error.code === 'string' ? error.code : '',
  isOfServer: 'severity' in error,
})

/** Whether the connection cannot be used any more. */
export function isBroken(error: unknown): boolean {
  if (error instanceof LedgerError) return error.code === 'LEDGER_AWAY'
  if (!(error instanceof Error)) return false
  const { code, isOfServer } = fields(error)
  if (/^SASL/.test(error.message)) return false
  return isOfServer ? /^(08|57P)/.test(code) || code === '25006' : !/^[0-9A-Z]{5}$/.test(code)
}

/** An error of the driver as a LedgerError; a LedgerError is returned unchanged. */
export function fromPostgres(error: unknown, name: string): unknown {
  if (error instanceof LedgerError || !(error instanceof Error)) return error
  const { code, isOfServer } = fields(error)
  // The driver's own errors of authentication.
  if (/^SASL/.test(error.message)) return failed(FAILURES.connection.refused, name, error.message)
  if (!isOfServer) return failed(connectionFailure(error, code), name, toldBy(error, code))
  const meanings: Readonly<Record<string, Failure>> = FAILURES.postgres
  const isInSchema = code === '42501' && /for (schema|table|sequence) /.test(error.message)
  const found = meanings[isInSchema ? '42501 in the schema' : code] ?? meanings[code.slice(0, 3)] ?? meanings[code.slice(0, 2)]
  return found ? failed(found, name, error.message) : failed(FAILURES.postgres.other, name, `${error.message}, SQLSTATE ${code}`)
}

/** The codes of Node and OpenSSL for a bad certificate. */
const CERTIFICATE =
  /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|ISSUER|^(?:HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_EXCEEDED|INVALID_PURPOSE)$/

/** What can end by waiting: a network, a server or a process that has too little of something. A socket's file is absent while its server starts. */
const TRANSIENT =
  /^(ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|E(HOST|NET)(UNREACH|DOWN)|ENETRESET|EADDRNOTAVAIL|EAI_AGAIN|ENOTFOUND|ENOENT|ENOTCONN|ESHUTDOWN|EAGAIN|E[MN]FILE|ENOBUFS|ENOMEM|ECANCELED|ABORT_ERR|ERR_STREAM_\w+|ERR_SOCKET_\w+)$/

/** The driver's words for the same; its errors have no code. */
const LOST = /terminated|timeout|timed out|not queryable|closed|ended/i

/** Everything else stays as it is until a person changes something, so it is not waited for. */
function connectionFailure(error: Error, code: string): Failure {
  const { away, untrusted, unusable, withoutTls } = FAILURES.connection
  if (isWithoutTls(error.message)) return withoutTls
  const all = [code, ...attemptsOf(error).map((one) => fields(one).code)].filter((one) => one !== '')
  if (all.some((one) => TRANSIENT.test(one)) || (all.length === 0 && LOST.test(error.message))) return away
  return all.some((one) => CERTIFICATE.test(one)) ? untrusted : unusable
}

/** The errors of the single addresses, where a name has several. */
const attemptsOf = (error: Error): readonly Error[] =>
  'errors' in error && Array.isArray(error.errors) ? error.errors.filter((one) => one instanceof Error) : []

/** Whether the driver says that the server has no TLS. */
export const isWithoutTls = (message: string): boolean => /does not support SSL/.test(message)

/** An attempt over several addresses has an empty message of its own. */
function toldBy(error: Error, code: string): string {
  const told = attemptsOf(error)[0]?.message || error.message || code || error.name
  // The rest is advice about flags of Node.
  return told.split('; ')[0] ?? told
}
