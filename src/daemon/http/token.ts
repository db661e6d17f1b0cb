// Which requests may read /ledger: those on loopback, or with the token that the config names. The token is read for each request, so that a new one
// counts at once, and compared in a time that reveals nothing of it. It must never get into an answer, a log or an error.
import { createHash, timingSafeEqual } from 'node:crypto'
import { isLoopback } from '../../core/model/loopback.ts'
import { DIRECT_FILES, type Files, whyUnreadAndCode } from '../../files.ts'

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
  /** Called once when the file of the token cannot be read. */
  readonly onUnread?: (message: string) => void
  readonly files?: Pick<Files, 'look'>
}

const MAX_TOKEN_BYTES = 4_096

/** Choice: 403 where no token would help, 401 where the right one would. */
export function ledgerGate({ host, token, env, onUnread, files }: LedgerGateOptions): LedgerGate {
  const read = tokenReader(env, onUnread, files)
  if (!token) return () => (isLoopback(host) ? undefined : { status: 403, message: NO_TOKEN })
  // Before anybody asks, so that there is a last good one.
  read(token)
  return (authorization) => {
    const expected = read(token)
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

/** Reads a token again for each request, or after a while; a file without a token, or that cannot be read any more, keeps its last good one, and is told once. */
export function tokenReader(
  env: LedgerGateOptions['env'],
  onUnread: (message: string) => void = () => undefined,
  files: Pick<Files, 'look'> = DIRECT_FILES,
): (source: TokenSource) => string | undefined {
  let last: { readonly file: string; readonly token: string | undefined; readonly why: string | undefined } | undefined
  return (source) => {
    if ('env' in source) return tokenIn(env[source.env])
    const { file } = source
    const before = last?.file === file ? last : undefined
    const { token = before?.token, why } = tokenOf(files, file)
    if (why !== undefined && before?.why !== why) {
      onUnread(`the token file ${file} ${why}${token === undefined ? '' : '; the last good token is used'}`)
    }
    last = { file, token, why }
    return token
  }
}

/** The token in a file, or why there is none. */
function tokenOf(files: Pick<Files, 'look'>, file: string): { readonly token?: string; readonly why?: string } {
  const { secret, why } = secretOf({ file }, {}, files)
  if (why !== undefined) return { why }
  const token = tokenIn(secret)
  return token === undefined ? { why: 'has no token' } : { token }
}

const tokenIn = (text: string | undefined): string | undefined => {
  const secret = secretIn(text)
  return secret === undefined || /\s/.test(secret) ? undefined : secret
}

/** Without white space around it; undefined when there is none. */
export const readToken = (token: TokenSource, env: LedgerGateOptions['env']): string | undefined => tokenIn(secretOf(token, env).secret)

/** One line without white space around it, where a password may have some inside, or why there is none. */
export function secretOf(
  source: TokenSource,
  env: LedgerGateOptions['env'],
  files: Pick<Files, 'look'> = DIRECT_FILES,
): { readonly secret?: string; readonly why?: string } {
  try {
    const secret = secretIn('file' in source ? files.look(source.file, MAX_TOKEN_BYTES).text() : env[source.env])
    return secret === undefined ? { why: 'is empty, or has more than one line' } : { secret }
  } catch (error) {
    return { why: whyUnreadAndCode(error) }
  }
}

function secretIn(given: string | undefined): string | undefined {
  const text = given?.trim()
  return text === undefined || text === '' || /\p{Cc}/u.test(text) ? undefined : text
}
