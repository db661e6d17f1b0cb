// Turns failures of PostgreSQL and of the connection to it into LedgerErrors, which say what to do. Raw errors of the driver never leave the
// ledger, and no message contains a password.
import { LedgerError, type Meaning, meaning } from '../error.ts'

const away = meaning('LEDGER_AWAY', (told) => `: the database cannot be reached (${told}); nothing is written until it can`)
const busy = meaning('LEDGER_LOCKED', (told) => `: the database was busy for too long (${told}); try again`)
const refused = meaning(
  'LEDGER_UNREADABLE',
  (told) => `: the server does not let this user in (${told}); check the user, the password (PGPASSWORD or PGPASSFILE) and pg_hba.conf`,
)
const untrusted = meaning(
  'LEDGER_UNREADABLE',
  (told) =>
    `: the server's certificate is not trusted (${told}); name its authority (sslrootcert or PGSSLROOTCERT), or the host as the certificate has it`,
)
const withoutTls = meaning(
  'LEDGER_UNREADABLE',
  (told) => `: sslmode demands TLS, and the server offers none (${told}); switch it on there, or choose another sslmode`,
)
const unusable = meaning(
  'LEDGER_UNREADABLE',
  (told) => `: no connection can be made (${told}); check host, port, sslmode and the files of certificates and keys`,
)
const standby = meaning('LEDGER_UNWRITABLE', (told) => `: the server takes no writes (${told}); the address has to lead to the primary`)
const foreign = meaning(
  'LEDGER_CORRUPT',
  (told) => `: its tables are not as capkeeper makes them (${told}); restore the database from a backup`,
)

/** By SQLSTATE, or its first two characters (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  '08': away,
  '53300': meaning('LEDGER_AWAY', (told) => `: the server has no connection left (${told}); raise max_connections, or run fewer replicas`),
  '53100': meaning('LEDGER_FULL', () => ': the disk of the database is full, so nothing was recorded; make room there'),
  '57P': away,
  '28': refused,
  '3D000': meaning(
    'LEDGER_UNREADABLE',
    (told) => `: there is no such database (${told}); make it with CREATE DATABASE, or correct the address`,
  ),
  '42501': meaning('LEDGER_UNWRITABLE', (told) =>
    /for (schema|table|sequence) /.test(told)
      ? `: this user lacks a right (${told}); use the owner of the schema capkeeper, or grant it USAGE on the schema and SELECT, INSERT, UPDATE and DELETE on its tables`
      : `: this user lacks a right (${told}); let it make the schema (GRANT CREATE ON DATABASE), or make it: CREATE SCHEMA capkeeper AUTHORIZATION its name`,
  ),
  '25006': standby,
  '57014': busy,
  '55P03': busy,
  '40': busy,
  '42P01': foreign,
  '42703': foreign,
}

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
  if (/^SASL/.test(error.message)) return refused(name, error.message)
  if (!isOfServer) return connectionFailure(error, code)(name, toldBy(error, code))
  const found = MEANINGS[code] ?? MEANINGS[code.slice(0, 3)] ?? MEANINGS[code.slice(0, 2)]
  if (found) return found(name, error.message)
  return new LedgerError('LEDGER_UNWRITABLE', `${name}: the database refused it (${error.message}, SQLSTATE ${code})`)
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
function connectionFailure(error: Error, code: string): Meaning {
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
