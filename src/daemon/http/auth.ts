// Which readers may see what of which workspaces: everyone who reaches the address, or sends the token, or comes through a proxy that names their
// groups and their address. Headers count only from the addresses of the proxy. A token is compared in a time that reveals nothing of it.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { isLoopback } from '../../core/model/loopback.ts'
import { isEmail } from '../../core/model/scope.ts'
import { type Files, sourceText, type TokenSource, tokenReader } from '../../files.ts'

// Which requests may read /ledger: those on loopback, or with the token that the config names. The token is read for each request, so that a new one
// counts at once, and compared as above. It must never get into an answer, a log or an error.

/** Why a request may not read; undefined when it may. */
export interface Refusal {
  readonly status: 401 | 403
  readonly message: string
}

/** Judges the `Authorization` header of a request. */
export type LedgerGate = (authorization: string | undefined) => Refusal | undefined

interface TokenOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called once when the file of the token cannot be read. */
  readonly onUnread?: (message: string) => void
  readonly files?: Pick<Files, 'look'>
}

interface LedgerGateOptions extends TokenOptions {
  /** Where the daemon listens. */
  readonly host: string
  readonly token: TokenSource | undefined
}

/** Choice: 403 where no token would help, 401 where the right one would. */
export function ledgerGate({ host, token, env, onUnread, files }: LedgerGateOptions): LedgerGate {
  const read = tokenReader(env, onUnread, files)
  if (!token) return () => (isLoopback(host) ? undefined : { status: 403, message: NO_TOKEN_SET })
  // Before anybody asks, so that there is a last good one.
  read(token)
  const unread: Refusal = { status: 403, message: `the token for /ledger cannot be read from ${sourceText(token)}\n` }
  return (authorization) => judged(authorization, read(token), { unread, wrong: { status: 401, message: WRONG_TOKEN } })
}

/** Compares an `Authorization` header with the expected token. Digests are compared because they have one length. */
function judged(
  authorization: string | undefined,
  expected: string | undefined,
  { unread, wrong }: { readonly unread: Refusal; readonly wrong: Refusal },
): Refusal | undefined {
  if (expected === undefined) return unread
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digestOf(given), digestOf(expected)) ? undefined : wrong
}

const NO_TOKEN_SET =
  '/ledger names people and is not sent to other machines without a token: name one with ledgerToken in the config, and give it to ' +
  'readers in CAPKEEPER_LEDGER_TOKEN or with --ledger-token-file\n'

const WRONG_TOKEN = '/ledger needs its token: set CAPKEEPER_LEDGER_TOKEN, or give --ledger-token-file\n'

const digestOf = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest()

/** The headers count only from these networks. */
interface Proxy {
  /** Names the reader's groups. */
  readonly header: string
  /** Names the reader's address. */
  readonly emailHeader?: string
  readonly from: readonly string[]
}

/** `auth` and `viewers` of the config. */
export interface AuthSettings {
  readonly token?: TokenSource
  readonly proxy?: Proxy
  /** Check `/metrics` as well. */
  readonly metrics: boolean
  /** Who sees what; absent: every reader sees everything. */
  readonly viewers?: readonly ViewerRule[]
}

/** One entry of `viewers`. */
export interface ViewerRule {
  /** Of the proxy's header; `*` for every reader who is let in. Absent with `self`: everybody whose address the proxy names. */
  readonly groups?: readonly string[]
  /** `*` for all. */
  readonly workspaces: readonly string[]
  /** Only the people of these groups of the policies. */
  readonly only?: readonly string[]
  /** Everybody sees themselves, and nobody else. */
  readonly self?: boolean
  /** The people that it shows are shown by address. */
  readonly emails?: boolean
}

/** Ids of the groups that these entries show to some readers only. */
export const groupsShownOf = (rules: readonly ViewerRule[] = [], workspace: string): readonly string[] =>
  rules.flatMap(({ workspaces, only = [] }) => (workspaces.some((one) => one === '*' || one === workspace) ? only : []))

/** Only the people of these groups; those of `named` by address. */
export interface PartSight {
  readonly kind: 'part'
  readonly groups: readonly string[]
  readonly named: readonly string[]
}

/** What a reader sees of a workspace; `named`: whom by address, people of these groups or everybody. */
export type Sight = { readonly kind: 'whole'; readonly named: readonly string[] | 'everybody' } | PartSight | { readonly kind: 'nothing' }

/** A reader who was let in; `name` is the same for all readers who see the same, but for themselves. */
export interface Viewer {
  readonly name: string
  readonly sightOf: (workspace: string) => Sight
  /** The whole of every workspace. */
  readonly seesAll: boolean
  /** The reader's address, as the proxy names it. */
  readonly email?: string
  readonly seesSelf: (workspace: string) => boolean
  /** Headers by which readers are told apart. */
  readonly asks: readonly string[]
}

interface Asking {
  readonly headers: IncomingHttpHeaders
  /** Names and values by turns, as they were sent. */
  readonly rawHeaders?: readonly string[]
  readonly remoteAddress: string | undefined
}

export const isRefused = (one: Viewer | Refusal): one is Refusal => 'status' in one

/** Lets a reader in, or refuses. */
export type Gate = (asking: Asking) => Viewer | Refusal

const WHOLE: Sight = { kind: 'whole', named: [] }
const NOTHING_SEEN: Sight = { kind: 'nothing' }

export const EVERYBODY: Viewer = { name: '', sightOf: () => WHOLE, seesAll: true, seesSelf: () => false, asks: [] }
/** A request that was not judged sees nothing. */
export const NOBODY: Viewer = { name: 'nobody', sightOf: () => NOTHING_SEEN, seesAll: false, seesSelf: () => false, asks: [] }

const NO_TOKEN: Refusal = { status: 401, message: 'this page needs the token of capkeeper: send it as Authorization: Bearer\n' }
const NO_HEADER: Refusal = { status: 401, message: 'the proxy named no groups of yours; sign in there\n' }
const NO_READER: Refusal = { status: 401, message: 'the proxy named neither an address nor groups of yours; sign in there\n' }
const BAD_ADDRESS: Refusal = { status: 401, message: 'the proxy did not name one address of yours\n' }
const FOREIGN: Refusal = { status: 403, message: 'this address answers only its proxy\n' }
const NOTHING: Refusal = { status: 403, message: 'you may not see a workspace here\n' }

/** Groups of a header that are read. Choice. */
const MOST_GROUPS = 1_000

interface GateOptions extends TokenOptions {
  /** Those in force; absent: every reader is let in. */
  readonly settings: () => AuthSettings | undefined
}

export function createGate({ settings, env, onUnread, files }: GateOptions): Gate {
  const tokens = tokenReader(env, onUnread, files)
  // Read before anybody asks, so that there is a last good one.
  const { token } = settings() ?? {}
  if (token) tokens(token)
  let networks: { readonly from: readonly string[]; readonly list: BlockList } | undefined
  return (asking) => {
    const auth = settings()
    if (!auth) return EVERYBODY
    if (auth.token) return byToken(asking, tokens(auth.token), auth.token)
    if (!auth.proxy) return EVERYBODY
    if (networks?.from !== auth.proxy.from) networks = { from: auth.proxy.from, list: networkList(auth.proxy.from) }
    return byProxy(asking, auth.proxy, networks.list, auth.viewers)
  }
}

function byToken({ headers }: Asking, expected: string | undefined, source: TokenSource): Viewer | Refusal {
  const unread: Refusal = { status: 403, message: `the token of the pages cannot be read from ${sourceText(source)}\n` }
  return judged(headers.authorization, expected, { unread, wrong: NO_TOKEN }) ?? EVERYBODY
}

function byProxy(asking: Asking, proxy: Proxy, from: BlockList, rules: readonly ViewerRule[] | undefined): Viewer | Refusal {
  if (!isWithin(asking.remoteAddress, from)) return FOREIGN
  const { header, emailHeader } = proxy
  const value = asking.headers[header.toLowerCase()]
  const groups = textOf(Array.isArray(value) ? value.join(',') : (value ?? ''))
    .split(',', MOST_GROUPS)
    .map((group) => group.trim())
    .filter((group) => group !== '')
  const address = emailHeader === undefined ? undefined : addressIn(asking, emailHeader)
  if (address === 'malformed') return BAD_ADDRESS
  if (groups.length === 0 && address === undefined) return emailHeader === undefined ? NO_HEADER : NO_READER
  const reader = {
    ...(address !== undefined && { email: address.email }),
    asks: emailHeader === undefined ? [header] : [header, emailHeader],
  }
  if (!rules) return { ...EVERYBODY, ...reader }
  const own = new Set(groups)
  const matching = rules.filter((rule) => concerns(rule, own, reader.email))
  if (matching.length === 0) return NOTHING
  return { ...sighted(matching), ...reader }
}

function concerns({ groups, self = false }: ViewerRule, own: ReadonlySet<string>, email: string | undefined): boolean {
  if (self && email === undefined) return false
  return groups === undefined ? self : groups.some((group) => group === '*' || own.has(group))
}

const isWhole = ({ only }: ViewerRule): boolean => only === undefined

/** The union of the entries that match. */
function sighted(matching: readonly ViewerRule[]): Omit<Viewer, 'email' | 'asks'> {
  const [selves, others] = [matching.filter(({ self }) => self), matching.filter(({ self }) => !self)]
  const isOf = (workspace: string) => (rule: ViewerRule) => rule.workspaces.includes('*') || rule.workspaces.includes(workspace)
  const seesAll = others.some((rule) => isWhole(rule) && rule.workspaces.includes('*'))
  const isPlain = seesAll && !others.some(({ emails }) => emails)
  return {
    // Who sees everything has the answers of readers who are not told apart. Others are named by what their entries say: a place in the list may be
    // that of another entry once the config has changed.
    name: isPlain ? EVERYBODY.name : JSON.stringify(others.map(({ workspaces, only, emails }) => ({ workspaces, only, emails }))),
    seesAll,
    seesSelf: (workspace) => selves.some(isOf(workspace)),
    sightOf(workspace) {
      const mine = others.filter(isOf(workspace))
      const naming = mine.filter(({ emails }) => emails)
      const named = naming.flatMap(({ only = [] }) => only)
      if (mine.some(isWhole)) return { kind: 'whole', named: naming.some(isWhole) ? 'everybody' : named }
      const groups = mine.flatMap(({ only = [] }) => only)
      return groups.length === 0 ? NOTHING_SEEN : { kind: 'part', groups, named }
    },
  }
}

/** Node reads headers as Latin-1; proxies send UTF-8. */
const textOf = (header: string): string => Buffer.from(header, 'latin1').toString('utf8')

/** Bytes of an address. */
const MOST_ADDRESS_BYTES = 254

/** One header with one address; undefined where there is none. A header that is sent twice is counted as it was sent: Node joins or drops it. */
function addressIn({ headers, rawHeaders }: Asking, name: string): { readonly email: string } | 'malformed' | undefined {
  const wanted = name.toLowerCase()
  const sent = rawHeaders?.filter((text, at) => at % 2 === 0 && text.toLowerCase() === wanted).length ?? 1
  const value = headers[wanted]
  if (value === undefined) return undefined
  if (sent > 1 || typeof value !== 'string' || Buffer.byteLength(value, 'latin1') > MOST_ADDRESS_BYTES) return 'malformed'
  const email = textOf(value)
  return /[\s,\p{C}]/u.test(email) || !isEmail(email) ? 'malformed' : { email }
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

/** An IPv4 address may come mapped into IPv6. */
function isWithin(address: string | undefined, list: BlockList): boolean {
  if (address === undefined) return false
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  const plain = mapped ?? address
  return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')
}
