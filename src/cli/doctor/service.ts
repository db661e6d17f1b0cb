// `doctor`'s check whether the service can be reached: its address, proxy or DNS, TLS, and its clock. One request without a key.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type Reached, reach } from '../../api/probe.ts'
import { parseBaseUrl, proxyFor } from '../../api/url.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import { SKEW_LIMIT_MS } from '../../daemon/cycle/state.ts'
import type { Transport } from '../../ports.ts'
import type { Cli } from '../shared/context.ts'
import { systemCodeOf } from '../shared/text.ts'
import { failed, ok, type Tell, warning } from './check.ts'

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
  tell('address', ok(`${normal(config.baseUrl)}/api/v1/…`))
  const proxy = proxyFor(config.baseUrl, cli.env)
  if (proxy !== undefined) tell('proxy', ok(`through ${proxyName(proxy.url)}`))
  else if (!(await checkName(url.hostname, tell))) return undefined
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

const normal = (text: string): string => {
  const parsed = parseBaseUrl(text)
  return 'url' in parsed ? parsed.url : text
}

/** A proxy's address may hold a password. */
function proxyName(proxy: string): string {
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined
  return url ? `the proxy ${url.host}` : 'a proxy'
}

async function checkName(host: string, tell: Tell): Promise<boolean> {
  const name = host.replace(/^\[|\]$/g, '')
  if (isIP(name) !== 0) return true
  try {
    const found = await lookup(name, { all: true })
    const addresses = found.slice(0, 3).map(({ address }) => address)
    tell('name', ok(`${name} is ${addresses.join(', ')}`))
    return true
  } catch (error) {
    const code = systemCodeOf(error) ?? 'unknown'
    tell('name', failed(`${name} cannot be looked up (${code})`, 'correct --base-url, or look at the DNS of this machine'))
    return false
  }
}

function wayOut(message: string, isProxied: boolean): string {
  if (/certificate/.test(message)) return 'name the CA that signed it with --ca-file; verification is never turned off'
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
  if (Math.abs(skewMs) > SKEW_LIMIT_MS) tell('clock', failed(text, 'grants neither start nor end beyond 300 s; set the clock with NTP'))
  else if (Math.abs(skewMs) > NOTABLE_SKEW_MS) tell('clock', warning(text, 'set the clock with NTP'))
  else tell('clock', ok(text))
}
