// What commands that talk to a running daemon share: the one request each of them makes, its time limit, and why it failed.
import { readToken } from '../../daemon/http/token.ts'
import type { Clock } from '../../ports.ts'
import type { NetworkFlags } from './args.ts'
import { type Cli, UsageError } from './context.ts'
import { shownLedger, withoutUser } from './ledger/address.ts'

/** A ledger that a daemon tells, in place of a file. */
export const isLedgerUrl = (ledger: string): boolean => /^https?:\/\//i.test(ledger)

/** A page of the daemon at an address that a flag gives. Throws a `UsageError` for what cannot be asked. */
export function pageAt(address: string, page: '/status' | '/ledger', flag: '--url' | '--ledger'): string {
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
  /** For the answer with its body. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  readonly clock: Clock
  /** Shown to the daemon. */
  readonly token?: string | undefined
}

/** Status and body of a daemon's answer; rejects as `fetch` does, and when it takes too long. Redirects are followed nowhere. */
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

/** The token for the ledger of a daemon, when one is given: the flag before the environment. Throws a `UsageError` for one that is no token. */
export function ledgerToken(
  { ledgerTokenFile: file }: Pick<NetworkFlags, 'ledgerTokenFile'>,
  { env }: Pick<Cli, 'env'>,
): string | undefined {
  return tokenFrom(file, 'CAPKEEPER_LEDGER_TOKEN', env)
}

/** The token for the pages of a daemon, for one with `auth`: the same way. */
export const pagesToken = (file: string | undefined, { env }: Pick<Cli, 'env'>): string | undefined =>
  tokenFrom(file, 'CAPKEEPER_TOKEN', env)

function tokenFrom(file: string | undefined, variable: string, env: Cli['env']): string | undefined {
  if (file === undefined && (env[variable] ?? '') === '') return undefined
  const token = readToken(file === undefined ? { env: variable } : { file }, env)
  if (token !== undefined) return token
  throw new UsageError(file === undefined ? `${variable} holds no token` : `${file} holds no token, or cannot be read`)
}

/** fetch says only "fetch failed"; why stands in its cause. */
export function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && cause.code !== undefined ? String(cause.code) : cause.message
}

/** Only what reads can use the ledger of a running daemon. Throws a `UsageError`. */
export function mustBeOwn(ledger: string): void {
  if (isLedgerUrl(ledger))
    throw new UsageError(
      `${shownLedger(ledger)} is the ledger of a running daemon: only plan, explain and audit can read it; name a file with --ledger`,
    )
}
