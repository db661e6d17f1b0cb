// Requests over real HTTP, with got, its agents and the proxy. Each request is sent exactly once (got's own retry and redirects are off),
// and results in an answer of any status or a plain failure. A got error carries the request body, and so the key: only its code is read.
// got and hpagent are loaded with the first request, because commands that need no network must not pay for them.
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { Got } from 'got'
import { InputError, type Problem } from '../../core/model/problem.ts'
import type { RowPlan, SendOptions, Transport, TransportFailure, WireAnswer } from '../../ports.ts'
import { BoundError, CONNECT_TIMEOUT_MS, MAX_LISTING_BYTES, MAX_SMALL_ANSWER_BYTES, tooLarge } from '../errors.ts'
import { type Authorities, type NamedProxy, parseBaseUrl, proxyFor, whyNoProxy } from '../way.ts'
import { OPERATION_PATH } from '../wire.ts'
import { type Account, type Claim, createCutter, NO_ROOM, processRoom } from './cut.ts'
import { onAbort } from './queue.ts'

interface HttpTransportOptions {
  /** With or without path prefix, trailing slash, `/api/v1`. */
  readonly baseUrl: string
  /** `capkeeper/VERSION`. */
  readonly userAgent: string
  /** Has `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` and `NODE_TLS_REJECT_UNAUTHORIZED`. */
  readonly proxyEnv: Readonly<Record<string, string | undefined>>
  /** The most connections that are kept open. */
  readonly concurrency: number
  /** The CA certificates to trust instead of the usual ones; asked with each request. */
  readonly authorities?: () => Authorities
  /** Resolves host names instead of the system. */
  readonly lookup?: LookupFunction
}

export interface HttpTransport extends Transport {
  /** Closes the kept connections; requests under way fail. */
  close(): void
}

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

/** Carries requests to one base URL over kept-alive HTTP/1.1 connections. Throws an `InputError` for an unusable base URL, proxy, CA file or environment. */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const base = parseBaseUrl(options.baseUrl)
  if ('message' in base) throw new InputError([{ severity: 'error', code: 'BASE_URL_INVALID', message: base.message }])
  const proxy = checkedProxy(proxyFor(base.url, options.proxyEnv))
  checkVerification(base.url, options)
  const account = processRoom.open()
  let agents: Promise<Agents> | undefined
  let client: { readonly pem: string | undefined; readonly got: Promise<Got> } | undefined
  return {
    async send(operation, body, sendOptions) {
      const trusted = options.authorities?.()
      if (trusted && trusted.value === undefined) return { kind: 'network', message: trusted.unread ?? '' }
      agents ??= openAgents(proxy, options.concurrency)
      // node:https reuses a connection only for requests with the same authorities.
      if (!client || client.pem !== trusted?.value) client = { pem: trusted?.value, got: openClient(agents, options, trusted?.value) }
      const got = await client.got
      // Nothing listens yet to the failure of a request that is destroyed as it begins.
      sendOptions.signal?.throwIfAborted()
      return exchange({ client: got, account, proxy }, `${base.url}${OPERATION_PATH}${operation}`, body, sendOptions)
    },
    close() {
      account.close()
      closeAgents(agents)
    },
  }
}

function closeAgents(agents: Promise<Agents> | undefined): void {
  void agents?.then(({ http, https }) => {
    http.destroy()
    https.destroy()
  })
}

/** `unsent`: the message certainly did not arrive. */
type Posted = { readonly status: number } | (TransportFailure & { readonly unsent?: true })
export type Poster = ReturnType<typeof createPoster>

/** Posts JSON to any address, which may be a secret: no failure contains it. Through the proxy that is set for it; answers are not read. */
export function createPoster({ userAgent, proxyEnv }: Pick<HttpTransportOptions, 'userAgent' | 'proxyEnv'>) {
  const agents = new Map<string | undefined, Promise<Agents>>()
  const agentsFor = (proxy: NamedProxy | undefined): Promise<Agents> => {
    const opened = agents.get(proxy?.url) ?? openAgents(proxy, POSTS_AT_A_TIME)
    agents.set(proxy?.url, opened)
    return opened
  }
  return {
    /** Rejects only when `signal` aborts. */
    async post(url: string, body: unknown, { timeoutMs, signal }: SendOptions): Promise<Posted> {
      const proxy = proxyFor(url, proxyEnv)
      const unusable = proxy && whyNoProxy(proxy)
      if (unusable !== undefined) return { kind: 'network', message: unusable, unsent: true }
      const client = await openClient(agentsFor(proxy), { userAgent }, undefined)
      signal?.throwIfAborted()
      const timeout = delaysOf(timeoutMs)
      const stream = open(client, url, JSON.stringify(body), timeout)
      const release = onAbort([signal], () => stream.destroy(new Error('aborted')))
      try {
        return { status: (await begun(stream)).statusCode }
      } catch (error) {
        signal?.throwIfAborted()
        return { ...failureOf(error, timeout, proxy), unsent: isUnsent(error) ? true : undefined }
      } finally {
        release()
        stream.destroy()
      }
    },
    close(): void {
      for (const one of agents.values()) closeAgents(one)
    },
  }
}

const POSTS_AT_A_TIME = 4

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'

const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/
const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPROTO)$/

/** Whether no trusted connection was open. */
function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return isUnopened(error) || UNSENT.test(codeOf(error)) || UNTRUSTED.test(codeOf(error)) || /^Bad response: \d{3}$/.test(error.message)
}

function isUnopened(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isLate = codeOf(error) === 'ETIMEDOUT' && 'event' in error && error.event !== 'request' && error.event !== 'response'
  return isLate || error.message === PROXY_TIMEOUT
}

function checkedProxy(proxy: NamedProxy | undefined): NamedProxy | undefined {
  const message = proxy && whyNoProxy(proxy)
  if (message === undefined) return proxy
  throw new InputError([{ severity: 'error', code: 'PROXY_INVALID', message }])
}

function checkVerification(url: string, { authorities, proxyEnv }: HttpTransportOptions): void {
  const found = authorities?.()
  if (found && found.value === undefined) throw new InputError([{ severity: 'error', code: 'CA_INVALID', message: found.unread ?? '' }])
  // Certificates would be verified all the same, which is not what the operator asked for.
  if (url.startsWith('https:') && proxyEnv['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') throw new InputError([UNVERIFIED])
}

const UNVERIFIED: Problem = {
  severity: 'error',
  code: 'TLS_UNVERIFIED',
  message: 'NODE_TLS_REJECT_UNAUTHORIZED=0 asks for certificates not to be verified, and capkeeper always verifies them',
  hint: 'unset it; a private CA is named by --ca-file, CAPKEEPER_CA_FILE or caFile in the config',
}

async function openAgents(proxy: NamedProxy | undefined, concurrency: number): Promise<Agents> {
  // A proxy has so long to connect, and so long a connection is kept idle: later the host may have another address.
  const settings = { keepAlive: true, maxSockets: concurrency, maxFreeSockets: concurrency, timeout: CONNECT_TIMEOUT_MS }
  if (proxy === undefined) return { http: new HttpAgent(settings), https: new HttpsAgent(settings) }
  const { HttpProxyAgent, HttpsProxyAgent } = await import('hpagent')
  // NODE_TLS_REJECT_UNAUTHORIZED has no say here either.
  const through = { ...settings, proxy: proxy.url, proxyRequestOptions: { rejectUnauthorized: true } }
  return { http: new HttpProxyAgent(through), https: new HttpsProxyAgent(through) }
}

async function openClient(
  agents: Promise<Agents>,
  { userAgent, lookup }: Pick<HttpTransportOptions, 'userAgent' | 'lookup'>,
  pem: string | undefined,
): Promise<Got> {
  const [{ default: got }, agent] = await Promise.all([import('got'), agents])
  return got.extend({
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', accept: 'application/json', 'user-agent': userAgent },
    http2: false,
    https: { rejectUnauthorized: true, certificateAuthority: pem },
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    dnsLookup: lookup,
  })
}

type Delays = ReturnType<typeof delaysOf>

function delaysOf(timeoutMs: number) {
  const connect = Math.min(CONNECT_TIMEOUT_MS, timeoutMs)
  return { request: timeoutMs, lookup: connect, connect, secureConnect: connect } as const
}

/**
 * Writes the body to the request directly. When got writes the body, it cuts the connection if the answer begins before it has noticed that
 * the body is out, which happens with a fast service while this process is busy.
 */
function open(client: Got, url: string, text: string, timeout: Delays): ReturnType<Got['stream']> {
  const stream = client.stream(url, { timeout })
  stream.once('request', (request: ClientRequest) => request.end(text))
  // Node leaves such a connection to whoever listens here: nobody else would close it, or hear its error, which would end the process.
  stream.once('upgrade', (_answer: unknown, socket: Duplex) => {
    socket.destroy()
    stream.destroy(Object.assign(new Error('switched'), { code: 'HTTP 101' }))
  })
  return stream
}

interface Way {
  readonly client: Got
  readonly account: Account
  readonly proxy: NamedProxy | undefined
}

async function exchange(
  { client, account, proxy }: Way,
  url: string,
  body: Readonly<Record<string, unknown>>,
  { timeoutMs, signal, rows, mayLeave }: SendOptions,
): Promise<WireAnswer | TransportFailure> {
  const claim = account.begin()
  const timeout = delaysOf(timeoutMs)
  const stream = open(client, url, JSON.stringify(body), timeout)
  if (mayLeave) checkBeforeSending(stream, mayLeave)
  const release = onAbort([signal], () => stream.destroy(new Error('aborted')))
  try {
    const { answer, ...rest } = await receive(stream, rows, claim)
    if (rows?.staysAs !== undefined) claim.keep(rows.staysAs)
    return { status: answer.statusCode, headers: joinedHeaders(answer), ...rest }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (isKeptBack(error)) return { kind: 'network', message: 'the request was kept back', isKeptBack: true }
    return error instanceof BoundError ? { kind: 'malformed', message: error.message } : failureOf(error, timeout, proxy)
  } finally {
    release()
    claim.free()
    // Drops the unread rest. A connection whose answer was read to its end stays open all the same.
    stream.destroy()
  }
}

const joinedHeaders = ({ headers }: Answer): WireAnswer['headers'] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]))

const REASONS: Readonly<Record<string, string | undefined>> = {
  ECONNREFUSED: 'nothing listens at the address',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ERR_READING_RESPONSE_STREAM: 'the answer was cut off',
  ERR_HTTP_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
  'HTTP 101': 'the answer switches to another protocol',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are larger than 16 KiB',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet; is the clock of this machine right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
  EPROTO: 'no TLS connection could be agreed on; does the address speak https?',
}

/** As hpagent says it. */
const PROXY_TIMEOUT = 'Proxy timeout'
/** What the other side says of this one in TLS. */
const ALERT = /^ERR_SSL_.*_ALERT_/
const REFUSED = 'the TLS connection was refused; does the service ask for a client certificate?'

/** Uses only the code of an error: got's message may quote addresses, and its object holds the request. */
function failureOf(error: unknown, timeout: Delays, proxy?: NamedProxy): TransportFailure {
  const code = codeOf(error)
  // Without a socket it is the connection to the proxy that failed.
  const isOfProxy = proxy && error instanceof Error && !(error as { readonly timings?: { readonly socket?: number } }).timings?.socket
  const whose = isOfProxy ? `the proxy of ${proxy.variable}: ` : ''
  const isLate = code === 'ETIMEDOUT' && error instanceof Error && error.name === 'TimeoutError'
  if (isUnopened(error)) return { kind: 'timeout', message: `${whose}no connection within ${timeout.connect / 1000} s` }
  if (isLate) return { kind: 'timeout', message: `no answer within ${timeout.request / 1000} s` }
  const proxyStatus = error instanceof Error ? /^Bad response: (\d{3})$/.exec(error.message)?.[1] : undefined
  if (proxyStatus) return { kind: 'network', message: `the proxy refused to connect (${proxyStatus})` }
  const untrusted = `the certificate is not trusted; name a private CA with ${isOfProxy ? 'NODE_EXTRA_CA_CERTS' : '--ca-file, or caFile in the config'}`
  const refused = ALERT.test(code) ? REFUSED : UNTRUSTED.test(code) ? untrusted : 'the request did not get through'
  return { kind: 'network', message: `${whose}${REASONS[code] ?? refused} (${code.replace(ALERT, '')})` }
}

// The final check before a request is sent, made once its connection is open. A process may be suspended while it connects, and afterwards
// Node may handle the socket before any timer: so no byte may reach the socket before the check.

class KeptBack extends Error {}

/** A request that `checkBeforeSending` ended: nothing of it was sent. got wraps the error that ends a stream. */
const isKeptBack = (error: unknown): boolean => error instanceof KeptBack || (error instanceof Error && error.cause instanceof KeptBack)

/** Asks `mayLeave` once the connection is open, and ends the request unsent when the answer is no. */
function checkBeforeSending(stream: Duplex, mayLeave: () => boolean): void {
  stream.once('request', (request: ClientRequest) => {
    request.once('socket', (socket) => {
      const check = (): void => {
        if (mayLeave()) return
        // The socket first: destroying the stream must not flush the bytes that wait in the socket.
        socket.destroy()
        stream.destroy(new KeptBack('it may not leave any more'))
      }
      const opening = openingEvent(socket)
      if (opening === undefined) return check()
      // Holds written bytes in this socket: the layers below would send them by themselves.
      socket.cork()
      socket.prependOnceListener(opening, () => {
        check()
        socket.uncork()
      })
    })
  })
}

/** The event after which a socket can send; undefined when it already can. */
function openingEvent(socket: Socket): 'connect' | 'secureConnect' | undefined {
  if (socket instanceof TLSSocket) return socket.connecting || socket.alpnProtocol === null ? 'secureConnect' : undefined
  return socket.connecting ? 'connect' : undefined
}

// Reads one answer as its decompressed bytes arrive: listings row by row, all else as text, never more than its bound. It awaits each chunk,
// so that other work runs in between.

/** Status and headers, as they come before the body. */
type Answer = { readonly statusCode: number } & Pick<IncomingMessage, 'headers'>

/** Of a failure only the beginning is read: its status tells what it is. Rejects with the stream's error, or with a `BoundError`. */
async function receive(stream: Duplex, rows: RowPlan | undefined, claim: Claim) {
  const answer = await begun(stream)
  const succeeded = answer.statusCode >= 200 && answer.statusCode < 300
  const cutter = rows && succeeded ? createCutter(rows) : undefined
  const limit = cutter ? MAX_LISTING_BYTES : MAX_SMALL_ANSWER_BYTES
  const whole: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > limit && succeeded) throw new BoundError(tooLarge(limit))
    if (!cutter) whole.push(chunk)
    else if (!claim.grow(cutter.push(chunk))) throw new BoundError(NO_ROOM)
    if (bytes > limit) break
  }
  if (cutter) return { answer, body: cutter.end(), isCut: true as const }
  return { answer, body: new TextDecoder().decode(Buffer.concat(whole).subarray(0, limit)) }
}

const begun = (stream: Duplex): Promise<Answer> =>
  new Promise((resolve, reject) => {
    // Never removed: a later error of the stream must not end the process.
    stream.on('error', reject)
    stream.once('response', resolve)
  })
