// Requests to a running daemon: the address, the token, the time limit, and the reason of a failure.
import { messageOf } from '../../core/model/problem.ts'
import { timer } from '../../daemon/schedule/system.ts'
import { codeIn, tokenOf } from '../../files.ts'
import type { Clock } from '../../ports.ts'
import { READS_DAEMONS } from './args.ts'
import type { NetworkFlags } from './command.ts'
import { type Cli, CommandError, UsageError } from './context.ts'
import { shownLedger, withoutUser } from './ledger/address.ts'
import { jsonIn } from './text.ts'

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

type DaemonAnswer = Awaited<ReturnType<typeof askDaemon>>

/** The answer of a daemon, and the value of its JSON if it is any. Throws a `CommandError` when none answers (`hint`: why that may be), or it refuses. */
export async function askFor(question: DaemonQuestion, way: string, hint = ''): Promise<{ answer: DaemonAnswer; value: unknown }> {
  const answer = await askDaemon(question).catch((error: unknown) => {
    question.signal?.throwIfAborted()
    throw new CommandError(`no daemon answers at ${question.url} (${causeOf(error)})${hint}`)
  })
  if (answer.status !== 200) throw refusal(question, answer, way)
  return { answer, value: jsonIn(answer.text) }
}

/** Status and body of a daemon's answer. Rejects as `fetch` does, for a redirect, and after `timeoutMs`. */
async function askDaemon({ url, timeoutMs, signal, clock, token }: DaemonQuestion) {
  const late = new AbortController()
  using _patience = timer(clock, timeoutMs, () => late.abort(new Error(`no answer within ${timeoutMs / 1_000} s`)))
  const headers = { accept: 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const ending = AbortSignal.any([late.signal, ...(signal ? [signal] : [])])
  const answer = await fetch(url, { signal: ending, redirect: 'manual', headers })
  if (answer.status >= 300 && answer.status < 400) throw new Error(ELSEWHERE)
  return { status: answer.status, text: await answer.text() }
}

const ELSEWHERE = 'it redirects, as a proxy does that asks to sign in: give a token that it takes'

/** An answer that is not what was asked for, with what it says of itself. `way` tells how to give a token. */
export function refusal({ url, token }: Pick<DaemonQuestion, 'url' | 'token'>, { status, text }: DaemonAnswer, way: string): CommandError {
  const said = saidIn(text)
  const hint = said === undefined ? '; is that a capkeeper daemon, or a proxy that lets you in?' : `: ${said}`
  return new CommandError(`${url} answered ${status}${hint}${status === 401 && token === undefined ? `; ${way}` : ''}`)
}

/** The message of an answer in JSON, or its text when it is a line. */
function saidIn(text: string): string | undefined {
  const line = text.trim()
  const value = jsonIn(line)
  if (value === undefined) return /^[^<\n][^\n]{0,300}$/.test(line) ? line : undefined
  const { message } = Object(value)
  return typeof message === 'string' ? message : undefined
}

/** The token for the ledger of a daemon, from the flag or else the environment. Throws a `UsageError` when there is none in it. */
export const ledgerToken = ({ ledgerTokenFile }: Pick<NetworkFlags, 'ledgerTokenFile'>, { env }: Pick<Cli, 'env'>): string | undefined =>
  tokenFrom(ledgerTokenFile, 'CAPKEEPER_LEDGER_TOKEN', env)

export const PAGES_TOKEN_WAY = 'give --token-file FILE, or set CAPKEEPER_TOKEN'

/** The token for the pages of a daemon with `auth`. */
export const pagesToken = (file: string | undefined, { env }: Pick<Cli, 'env'>): string | undefined =>
  tokenFrom(file, 'CAPKEEPER_TOKEN', env)

function tokenFrom(file: string | undefined, variable: string, env: Cli['env']): string | undefined {
  if (file === undefined && (env[variable] ?? '') === '') return undefined
  const { token, why } = tokenOf(file === undefined ? { env: variable } : { file }, env)
  if (token !== undefined) return token
  throw new UsageError(file === undefined ? `${variable} holds no token` : `the token file ${file} ${why}`)
}

/** fetch says only "fetch failed"; the reason is in its cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return codeIn(cause) ?? messageOf(cause)
}

/** Refuses the ledger of a running daemon where only a ledger of our own will do. Throws a `UsageError`. */
export function mustBeOwn(ledger: string): void {
  if (isLedgerUrl(ledger))
    throw new UsageError(
      `${shownLedger(ledger)} is the ledger of a running daemon: only ${READS_DAEMONS} can read it; name a file with --ledger`,
    )
}
