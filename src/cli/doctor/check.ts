// One check of `doctor`: its subject, its result, and the way out; and the checks of what the service answers and of what was recorded of it.

import { type Reached, reach } from '../../api/probe.ts'
import { parseBaseUrl, proxyFor } from '../../api/way.ts'
import { ASPECTS, addObservation, type Evidence, type Observation, type ServiceEvidence } from '../../core/interpret/evidence.ts'
import type { Problem } from '../../core/model/problem.ts'
import { scopeKey } from '../../core/model/scope.ts'
import { CLOCKS_APART_MS } from '../../core/model/units.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { seenIn } from '../../daemon/cycle/read.ts'
import type { LedgerStore } from '../../daemon/ledger/store.ts'
import type { Ledger, Transport } from '../../ports.ts'
import type { Cli } from '../shared/context.ts'
import { learnedPaces } from '../shared/ledger/replica.ts'
import { count, span } from '../shared/text.ts'

export const CHECK_STATUSES = ['ok', 'warning', 'failed', 'not_checked'] as const
export type CheckStatus = (typeof CHECK_STATUSES)[number]

export type Area = 'program' | 'config' | 'policies' | 'ledger' | 'files' | 'service' | 'keys' | 'plan' | 'deployment' | 'records'

/** The result of a check in one line, and what to do about it. */
export interface Finding {
  readonly status: CheckStatus
  readonly message: string
  readonly hint?: string
  /** Problems with their places, for configuration and policies. */
  readonly problems?: readonly Problem[]
}

export interface Check extends Finding {
  readonly area: Area
  /** The subject, such as `integrity`. */
  readonly name: string
  /** Absent for a check of all workspaces. */
  readonly workspace?: string
}

/** Reports one check. */
export type Tell = (name: string, finding: Finding) => void

const finding =
  (status: CheckStatus) =>
  (message: string, hint?: string): Finding => ({ status, message, hint })

export const ok = finding('ok')
export const warning = finding('warning')
export const failed = finding('failed')
export const notChecked = finding('not_checked')

/** Clocks further apart than this get a warning. */
const NOTABLE_SKEW_MS = 30_000
const SLOW_MS = 2_000

/** Checks the address and sends one request. Rejects only when `signal` aborts. */
export async function checkService(
  config: WorkspaceConfig,
  transport: Transport,
  cli: Cli,
  signal: AbortSignal,
  tell: Tell,
): Promise<Extract<Reached, { readonly kind: 'answered' }> | undefined> {
  const url = new URL(config.baseUrl)
  const parsed = parseBaseUrl(config.baseUrl)
  tell('address', ok(`${'url' in parsed ? parsed.url : config.baseUrl}/api/v1/…`))
  const proxy = proxyFor(config.baseUrl, cli.env)
  if (proxy !== undefined) tell('proxy', ok(`through ${proxyName(proxy.url)}`))
  const reached = await reach(transport, cli.clock, cli.secrets.redact, signal)
  if (reached.kind === 'failed') {
    tell('reached', failed(`${config.baseUrl}: ${reached.message}`, wayOut(reached.message, proxy !== undefined)))
    return undefined
  }
  const how = url.protocol === 'https:' ? 'over TLS, the certificate is trusted' : 'over plain HTTP'
  const text = `answers in ${Math.round(reached.latencyMs)} ms, ${how}`
  if (reached.odd !== undefined) tell('reached', warning(`${text}; ${reached.odd}`, 'is the base URL right?'))
  else tell('reached', reached.latencyMs > SLOW_MS ? warning(text, 'a sweep takes one such answer for each scope') : ok(text))
  checkSkew(reached.skewMs, tell)
  return reached
}

/** A proxy's address may hold a password. */
function proxyName(proxy: string): string {
  const url = URL.parse(proxy)
  return url ? `the proxy ${url.host}` : 'a proxy'
}

function wayOut(message: string, isProxied: boolean): string {
  if (/certificate is not trusted/.test(message)) return 'name the CA that signed it with --ca-file; verification is never turned off'
  if (/certificate is for another/.test(message)) return 'write the host name that the certificate is for into the base URL'
  if (/certificate/.test(message))
    return 'have the service renew it, or correct the clock of this machine; verification is never turned off'
  if (/base URL|redirected|not JSON/.test(message)) return 'correct --base-url, CAPKEEPER_BASE_URL or baseUrl in the config'
  if (isProxied || /proxy/.test(message)) return 'look at HTTPS_PROXY, HTTP_PROXY and NO_PROXY'
  return 'is the address right, and is a firewall or a proxy in between?'
}

function checkSkew(skewMs: number | undefined, tell: Tell): void {
  if (skewMs === undefined) {
    tell('clock', warning('the service tells no time, so the clocks cannot be compared'))
    return
  }
  const seconds = Math.abs(skewMs / 1000).toFixed(1)
  const text = `the service's clock is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} this machine's`
  if (Math.abs(skewMs) > CLOCKS_APART_MS) tell('clock', failed(text, 'grants neither start nor end beyond 300 s; set the clock with NTP'))
  else if (Math.abs(skewMs) > NOTABLE_SKEW_MS) tell('clock', warning(text, 'set the clock with NTP'))
  else tell('clock', ok(text))
}

/** The ledger of one workspace; undefined when it has no records of it at this address. */
export async function recordsOf(store: LedgerStore, config: WorkspaceConfig, tell: Tell, now: number): Promise<Ledger | undefined> {
  const current = (await store.workspaces()).find((one) => one.workspace === config.name && one.current)
  if (!current) {
    tell('binding', ok(`nothing is recorded of ${config.name} yet`))
    return undefined
  }
  if (current.baseUrl !== '' && config.baseUrl !== '' && current.baseUrl !== config.baseUrl) {
    const where = `the ledger is bound to ${current.baseUrl}, and the address now is ${config.baseUrl}`
    tell('binding', failed(where, 'if the workspace has moved, start run or apply with --rebind; else correct --base-url'))
    return undefined
  }
  tell('binding', ok(`bound to ${current.baseUrl || 'no address yet'}`))
  const ledger = await store.workspace(config.name, undefined)
  const open = ledger.openIntents().length
  const unended = warning(`${count(open, 'write')} without a known end`, 'the next cycle reads what became of it; run the daemon or apply')
  tell('intents', open === 0 ? ok('no write is open') : unended)
  const names = ledger.quarantined().map(({ scope, code }) => `${scopeKey(scope)} (${code})`)
  const shown = `${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`
  const alone = warning(`${count(names.length, 'scope')} left alone: ${shown}`, '`capkeeper explain SCOPE` says why')
  tell('quarantine', names.length === 0 ? ok('no scope is quarantined') : alone)
  const readAt = ledger.fact('usage')?.roster.readAt
  tell('lastReading', ok(readAt === undefined ? 'no cycle has read people yet' : `people were read ${span(now - readAt)} ago`))
  return ledger
}

/** The learned pace of each key. */
export function checkPace(ledger: Ledger | undefined, tell: Tell): void {
  const learned = learnedPaces(ledger?.fact('pace')).map(
    ({ key, rate, isMet }) => `${key} ${Number(rate.toFixed(2))}/s${isMet ? ', the limit was met' : ''}`,
  )
  tell('pace', learned.length > 0 ? ok(`requests per second learned: ${learned.join('; ')}`) : notChecked('no rate is learned yet'))
}

const ASPECT_TEXT = {
  caps: 'team and group caps',
  reads: 'reads',
  zero: 'a cap of 0',
  spelling: 'the name of the cap',
  errors: 'errors',
} as const

/** What is recorded together with what doctor itself has just seen in answers. */
export const seenNow = (ledger: Ledger | undefined, observations: readonly Observation[], now: number): ServiceEvidence =>
  observations.reduce<ServiceEvidence>((seen, observation) => addObservation(seen, observation, now), ledger ? seenIn(ledger) : {})

export function checkSeen(seen: ServiceEvidence, { capSemantics }: WorkspaceConfig, now: number, tell: Tell): void {
  for (const aspect of ASPECTS) {
    const finding: Evidence | undefined = seen[aspect]
    if (!finding) continue
    const text = `${ASPECT_TEXT[aspect]}: ${finding.value}, seen ${span(now - finding.at)} ago: ${finding.evidence}`
    const configured = capSemantics === 'layered' ? 'layered' : 'copied'
    if (aspect === 'caps' && finding.value !== configured)
      tell(aspect, warning(text, `capSemantics is ${capSemantics}; set capSemantics: ${finding.value}`))
    else if (finding.before) {
      const { value, at, evidence } = finding.before
      tell(aspect, warning(`${text}; ${span(now - at)} ago it was ${value}: ${evidence}`, 'the deployment changed, or answers unevenly'))
    } else tell(aspect, ok(text))
  }
  const unseen = ASPECTS.filter((aspect) => !seen[aspect]).map((aspect) => ASPECT_TEXT[aspect])
  if (unseen.length > 0) tell('unseen', notChecked(`not seen yet: ${unseen.join(', ')}`))
}
