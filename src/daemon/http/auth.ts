// Which readers may see which workspaces: everyone who reaches the address, or sends the token, or comes through a proxy that names their groups. Headers
// count only from the addresses of the proxy. A token is compared in a time that reveals nothing of it.
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { Clock } from '../../ports.ts'
import { isShown, type Refusal, readToken, sourceText, type TokenSource } from './token.ts'

/** `auth` and `viewers` of the config. */
export interface AuthSettings {
  readonly token?: TokenSource
  /** The header that names the reader's groups; it counts only from these networks. */
  readonly proxy?: { readonly header: string; readonly from: readonly string[] }
  /** Check `/metrics` as well. */
  readonly metrics: boolean
  /** Which groups may see which workspaces, `*` for all; absent: every reader sees everything. */
  readonly viewers?: readonly ViewerRule[]
}

export interface ViewerRule {
  readonly groups: readonly string[]
  readonly workspaces: readonly string[]
}

/** A reader who was let in; `name` is the same for all readers who see the same. */
export interface Viewer {
  readonly name: string
  readonly maySee: (workspace: string) => boolean
  readonly seesAll: boolean
}

export interface Asking {
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string | undefined
}

export const isRefused = (one: Viewer | Refusal): one is Refusal => 'status' in one

/** Lets a reader in, or refuses. */
export type Gate = (asking: Asking) => Viewer | Refusal

export const EVERYBODY: Viewer = { name: '', maySee: () => true, seesAll: true }

const NO_TOKEN: Refusal = { status: 401, message: 'this page needs the token of capkeeper: send it as Authorization: Bearer\n' }
const NO_HEADER: Refusal = { status: 401, message: 'the proxy named no groups of yours; sign in there\n' }
const FOREIGN: Refusal = { status: 403, message: 'this address answers only its proxy\n' }
const NOTHING: Refusal = { status: 403, message: 'none of your groups may see a workspace here\n' }

/** A token is read again after this time. Choice. */
const READ_AGAIN_MS = 1_000
/** Groups of a header that are read. Choice. */
const MOST_GROUPS = 1_000

export interface GateOptions {
  /** Those in force; absent: every reader is let in. */
  readonly settings: () => AuthSettings | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Pick<Clock, 'monotonic'>
}

export function createGate({ settings, env, clock }: GateOptions): Gate {
  const tokens = tokenReader(env, clock)
  let networks: { readonly from: readonly string[]; readonly list: BlockList } | undefined
  return (asking) => {
    const auth = settings()
    if (!auth) return EVERYBODY
    if (auth.token) return byToken(asking, tokens(auth.token), auth.token)
    if (!auth.proxy) return EVERYBODY
    if (networks?.from !== auth.proxy.from) networks = { from: auth.proxy.from, list: networkList(auth.proxy.from) }
    return byProxy(asking, auth.proxy.header, networks.list, auth.viewers)
  }
}

function tokenReader(env: GateOptions['env'], clock: GateOptions['clock']): (source: TokenSource) => string | undefined {
  let last: { readonly source: TokenSource; readonly atMs: number; readonly token: string | undefined } | undefined
  return (source) => {
    const nowMs = clock.monotonic()
    if (last?.source !== source || nowMs - last.atMs >= READ_AGAIN_MS) last = { source, atMs: nowMs, token: readToken(source, env) }
    return last.token
  }
}

function byToken({ headers }: Asking, expected: string | undefined, source: TokenSource): Viewer | Refusal {
  if (expected === undefined) {
    return { status: 403, message: `the token of the pages cannot be read from ${sourceText(source)}\n` }
  }
  return isShown(headers.authorization, expected) ? EVERYBODY : NO_TOKEN
}

function byProxy(
  { headers, remoteAddress }: Asking,
  header: string,
  from: BlockList,
  rules: readonly ViewerRule[] | undefined,
): Viewer | Refusal {
  if (!isWithin(remoteAddress, from)) return FOREIGN
  const value = headers[header.toLowerCase()]
  const groups = (Array.isArray(value) ? value.join(',') : (value ?? ''))
    .split(',', MOST_GROUPS)
    .map((group) => group.trim())
    .filter((group) => group !== '')
  if (groups.length === 0) return NO_HEADER
  if (!rules) return EVERYBODY
  const own = new Set(groups)
  const seen = new Set(
    rules.filter((rule) => rule.groups.some((group) => group === '*' || own.has(group))).flatMap((rule) => rule.workspaces),
  )
  if (seen.size === 0) return NOTHING
  if (seen.has('*')) return EVERYBODY
  return { name: JSON.stringify([...seen].sort()), maySee: (workspace) => seen.has(workspace), seesAll: false }
}

/** `10.0.0.0/8`, or one address. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** Whether a text is an address, or a network with a valid number of bits. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}

/** An IPv4 address may come mapped into IPv6. */
function isWithin(address: string | undefined, list: BlockList): boolean {
  if (address === undefined) return false
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  const plain = mapped ?? address
  return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')
}
