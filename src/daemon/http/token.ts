// Which requests may read /ledger: those on loopback, or with the token that the config names. The token is read for each request, so that a new one
// counts at once, and compared in a time that reveals nothing of it. It must never get into an answer, a log or an error.
import { createHash, timingSafeEqual } from 'node:crypto'
import { isLoopback } from '../../core/model/loopback.ts'
import { readText } from '../../files.ts'

/** Where a token is found. */
export type TokenSource = { readonly file: string } | { readonly env: string }

/** Why a request may not read; undefined when it may. */
export interface Refusal {
  readonly status: 401 | 403
  readonly message: string
}

/** Judges the `Authorization` header of a request. */
export type LedgerGate = (authorization: string | undefined) => Refusal | undefined

export interface LedgerGateOptions {
  /** Where the daemon listens. */
  readonly host: string
  readonly token: TokenSource | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

const MAX_TOKEN_BYTES = 4_096

/** Choice: 403 where no token would help, 401 where the right one would. */
export function ledgerGate({ host, token, env }: LedgerGateOptions): LedgerGate {
  if (!token) return () => (isLoopback(host) ? undefined : { status: 403, message: NO_TOKEN })
  return (authorization) => {
    const expected = readToken(token, env)
    if (expected === undefined) return { status: 403, message: `the token for /ledger cannot be read from ${sourceText(token)}\n` }
    return isShown(authorization, expected) ? undefined : { status: 401, message: WRONG_TOKEN }
  }
}

const NO_TOKEN =
  '/ledger names people and is not sent to other machines without a token: name one with ledgerToken in the config, and give it to ' +
  'readers in CAPKEEPER_LEDGER_TOKEN or with --ledger-token-file\n'

const WRONG_TOKEN = '/ledger needs its token: set CAPKEEPER_LEDGER_TOKEN, or give --ledger-token-file\n'

export const sourceText = (token: TokenSource): string => ('file' in token ? token.file : `the variable ${token.env}`)

/** Whether an `Authorization` header has the expected token. Digests are compared because they have one length. */
export function isShown(authorization: string | undefined, expected: string): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digestOf(given), digestOf(expected))
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest()

/** Without white space around it; undefined when there is none. */
export function readToken(token: TokenSource, env: LedgerGateOptions['env']): string | undefined {
  const text = readSecret(token, env)
  return text === undefined || /\s/.test(text) ? undefined : text
}

/** One line without white space around it; a password may have some inside. Undefined when there is none. */
export function readSecret(secret: TokenSource, env: LedgerGateOptions['env']): string | undefined {
  const text = ('file' in secret ? beginningOf(secret.file) : env[secret.env])?.trim()
  return text === undefined || text === '' || /\p{Cc}/u.test(text) ? undefined : text
}

function beginningOf(file: string): string | undefined {
  try {
    return readText(file, MAX_TOKEN_BYTES)
  } catch {
    return undefined
  }
}
