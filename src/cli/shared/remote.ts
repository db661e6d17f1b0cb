// Requests to a running daemon: the address, the token, the time limit, and the reason of a failure.
import { readToken } from '../../daemon/http/token.ts'
import type { Clock } from '../../ports.ts'
import type { NetworkFlags } from './args.ts'
import { type Cli, UsageError } from './context.ts'
import { shownLedger, withoutUser } from './ledger/address.ts'

/** The ledger is read from a running daemon, not from a file. */
export const isLedgerUrl = (ledger: string): boolean => /^https?:\/\//i.test(ledger)

/** The URL of a daemon's page, from the address in a flag. Throws a `UsageError` for an address that cannot be used. */
export function pageAt(address: string, page: '/status' | '/ledger' | '/api/v1/me', flag: '--url' | '--ledger'): string {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${flag} is '${withoutUser(address)}'; write an address such as http://127.0.0.1:9464`)
  if (url.username !== '' || url.password !== '') {
    const token = flag === '--url' ? '--token-file' : '--ledger-token-file'
    throw new UsageError(`${flag}: an address holds no user name and no password; a token of the daemon is given with ${token}`)
  }
  if (!url.pathname.endsWith(page)) url.pathname = `${url.pathname.replace(/\/+$/, '')}${page}`
  return url.href
}

export interface DaemonQuestion {
  readonly url: string
  /** For the whole answer. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  readonly clock: Clock
  readonly token?: string | undefined
}

/** Status and body of a daemon's answer. Rejects as `fetch` does, and after `timeoutMs`. Redirects are not followed. */
export async function askDaemon({
  url,
  timeoutMs,
  signal,
  clock,
  token,
}: DaemonQuestion): Promise<{ readonly status: number; readonly text: string }> {
  const [answered, late] = [new AbortController(), new AbortController()]
  const giveUp = () => late.abort(new Error(`no answer within ${timeoutMs / 1_000} s`))
  clock.sleep(timeoutMs, answered.signal).then(giveUp, () => undefined)
  try {
    const headers = { accept: 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    const ending = AbortSignal.any([late.signal, ...(signal ? [signal] : [])])
    const answer = await fetch(url, { signal: ending, redirect: 'error', headers })
    return { status: answer.status, text: await answer.text() }
  } finally {
    answered.abort()
  }
}

/** The token for the ledger of a daemon, from the flag or else the environment. Throws a `UsageError` when there is none in it. */
export const ledgerToken = ({ ledgerTokenFile }: Pick<NetworkFlags, 'ledgerTokenFile'>, { env }: Pick<Cli, 'env'>): string | undefined =>
  tokenFrom(ledgerTokenFile, 'CAPKEEPER_LEDGER_TOKEN', env)

/** The token for the pages of a daemon with `auth`. */
export const pagesToken = (file: string | undefined, { env }: Pick<Cli, 'env'>): string | undefined =>
  tokenFrom(file, 'CAPKEEPER_TOKEN', env)

function tokenFrom(file: string | undefined, variable: string, env: Cli['env']): string | undefined {
  if (file === undefined && (env[variable] ?? '') === '') return undefined
  const token = readToken(file === undefined ? { env: variable } : { file }, env)
  if (token !== undefined) return token
  throw new UsageError(file === undefined ? `${variable} holds no token` : `${file} holds no token, or cannot be read`)
}

/** fetch says only "fetch failed"; the reason is in its cause. */
export function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && cause.code !== undefined ? String(cause.code) : cause.message
}

/** Refuses the ledger of a running daemon where only a ledger of our own will do. Throws a `UsageError`. */
export function mustBeOwn(ledger: string): void {
  if (isLedgerUrl(ledger))
    throw new UsageError(
      `${shownLedger(ledger)} is the ledger of a running daemon: only plan, explain, audit and edit tidy can read it; name a file with --ledger`,
    )
}
