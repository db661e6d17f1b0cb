// The way to a service: its address in one normal form, so that the ledger can tell whether it is the same service; the proxy for it; and the
// CA certificates to trust there. No name is resolved here. Nothing here, and no setting anywhere, turns verification off.
import { X509Certificate } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { isLoopback } from '../core/model/loopback.ts'
import { DIRECT_FILES, type Files, keepLastGood, type LastGood } from '../files.ts'

/** `https://host/prefix`, without trailing slash or `/api/v1`; or why the text is no address. A text that may hold a password is not quoted. */
export function parseBaseUrl(text: string): { readonly url: string } | { readonly message: string } {
  const trimmed = text.trim()
  if (trimmed.includes('@')) {
    return { message: 'an address holds no user name and no password: the key is given as a file or in the environment' }
  }
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return { message: 'not an http or https address' }
  if (url.search !== '' || url.hash !== '') return { message: 'an address holds no ? and no #' }
  const path = url.pathname
    .replace(/\/+$/, '')
    .replace(/\/+api\/v1$/, '')
    .replace(/\/+$/, '')
  return { url: `${url.origin}${path}` }
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The proxy for an address: `HTTPS_PROXY` for https, `HTTP_PROXY` for http outside this machine, unless `NO_PROXY` names the host; lower-case
 * names win. Undefined: none.
 */
export function proxyFor(address: string, env: Environment): NamedProxy | undefined {
  const { protocol, hostname, port } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const secure = protocol === 'https:'
  if (!secure && isLoopback(host)) return undefined
  const proxy = secure ? first(env, 'https_proxy', 'HTTPS_PROXY') : first(env, 'http_proxy', 'HTTP_PROXY')
  if (!proxy || exempt(host, port || (secure ? '443' : '80'), first(env, 'no_proxy', 'NO_PROXY')?.value ?? '')) return undefined
  return { url: proxy.value.includes('://') ? proxy.value : `http://${proxy.value}`, variable: proxy.variable }
}

/** A proxy, and the variable that names it. Its URL may hold a password, so no message has it. */
export interface NamedProxy {
  readonly url: string
  readonly variable: string
}

/** Why a proxy cannot be used; undefined where it can. A password with a # or an @ in it would end in another host. */
export function whyNoProxy({ url, variable }: NamedProxy): string | undefined {
  const [authority = '', path = ''] = /^[^:]*:\/\/([^/?#]*)(.*)$/s.exec(url)?.slice(1) ?? []
  const isRaw = authority.split('@').length > 2 || (path !== '' && path !== '/')
  if (isRaw)
    return `${variable} is not an address such as http://user:password@host:port: in the user and the password, write # as %23, @ as %40, / as %2F, ? as %3F and % as %25`
  const isUsable = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  return isUsable ? undefined : `${variable} is not an address such as http://host:port`
}

function first(env: Environment, ...names: readonly string[]): { readonly variable: string; readonly value: string } | undefined {
  const variable = names.find((name) => (env[name]?.trim() ?? '') !== '')
  return variable === undefined ? undefined : { variable, value: env[variable]?.trim() ?? '' }
}

/** `*`, `host`, `.host`, `*.host` (each with its subdomains), `host:port`, an IP address or a network such as `10.0.0.0/8`. */
function exempt(host: string, port: string, noProxy: string): boolean {
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || matches(entry, host, port))
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry.includes('/')) return inNetwork(entry, host)
  const withPort = /^(.*[^:]):(\d+)$/.exec(entry)
  if (withPort && isIP(entry) === 0 && withPort[2] !== port) return false
  const name = (withPort && isIP(entry) === 0 ? (withPort[1] ?? '') : entry).replace(/^\[|\]$/g, '').replace(/^\*?\./, '')
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`))
}

function inNetwork(entry: string, host: string): boolean {
  const [network = '', bits = ''] = entry.split('/')
  const family = isIP(network)
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

// A file of CA certificates to trust instead of the usual ones, read again when it changes.

/** The CA certificates to trust, in PEM. */
export type Authorities = LastGood<string>

/** The bundles of operating systems have about 250 KiB. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Reads CA certificates in PEM. Follows links, so that a swapped volume is noticed. No other authority is trusted beside them, as with
 * `ca_file` of Prometheus and `--cacert` of curl. Choice.
 */
export function authoritiesIn(file: string, files: Pick<Files, 'look'> = DIRECT_FILES): () => Authorities {
  const name = `the CA file ${file}`
  return keepLastGood(files, { name, file, maxBytes: MAX_BYTES }, (text) => checkedPem(text, name))
}

const CERTIFICATE = /-----BEGIN (TRUSTED )?CERTIFICATE-----[^-]*-----END (TRUSTED )?CERTIFICATE-----/g

/** Checked here, because Node silently skips certificates that it cannot read. */
function checkedPem(text: string, name: string): Authorities {
  const blocks = text.match(CERTIFICATE) ?? []
  if (blocks.length === 0) return { unread: `${name} holds no certificate; write PEM: -----BEGIN CERTIFICATE----- …` }
  const broken = blocks.findIndex((block) => !isCertificate(block))
  if (broken >= 0) return { unread: `${name}: certificate ${broken + 1} of ${blocks.length} cannot be read` }
  return { value: blocks.join('\n') }
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}
