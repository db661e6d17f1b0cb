// The daemon's HTTP server: its address, and the limits that cut off slow and misbehaving clients; and what it answers. Nothing behind it
// writes caps.
import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastify from 'fastify'
import type { WorkspaceView } from '../../core/model/events.ts'
import { isHostOfHere, isLoopback } from '../../core/model/loopback.ts'
import { codeIn } from '../../files.ts'
import type { Clock } from '../../ports.ts'
import { API, API_ROUTES } from './api-table.ts'
import { type AuthSettings, EVERYBODY, type Gate, isRefused, type LedgerGate, NOBODY, type Refusal, type Viewer } from './auth.ts'
import { boundConnections } from './connections.ts'
import type { Console } from './console.ts'
import { DocumentError } from './documents/documents.ts'
import type { Library } from './documents/make.ts'
import type { Health } from './documents/types.ts'
import { addEvents, askingOf, type Live } from './events.ts'
import { gathered, sharePage } from './kept.ts'
import type { PeopleLabels } from './labels.ts'
import type { Metrics } from './metrics/metrics.ts'
import { OPENAPI } from './openapi.ts'
import { addPages, answer, createAnswers, type PageParts, paramsOf, pathOf, queryOf } from './pages.ts'

// Which address is answered with what, which requests are let in, and how a refusal reads: the addresses of docs/metrics.md, the console, /api/v1,
// and /ledger. Only GET and HEAD are allowed; an answer never has a stack trace or a key. Readers who ask for the same large text share one.

/** `reasons` say what is missing while `ready` is false. */
export interface Readiness {
  readonly ready: boolean
  readonly reasons: readonly string[]
}

export interface ServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>
  /** A parameter, so that the daemon does not depend on the pages. */
  readonly console: Console
  readonly documents: Library
  readonly people: PeopleLabels
  readonly views: () => readonly WorkspaceView[]
  /** Called before anything is shown, to read what other processes change, such as pauses. Never rejects. */
  readonly refresh?: () => Promise<void>
  readonly health: () => Health
  readonly ready: () => Readiness
  /** The text of /ledger in pieces, each made when it is asked for; people are always hashed. */
  readonly ledger: () => AsyncIterable<string>
  /** Judges requests for `/ledger` where it has its own token, or where the config checks no reader. */
  readonly ledgerGate: LedgerGate
  readonly ledgerHasToken?: boolean
  /** Default: every request that reaches the address is let in. */
  readonly gate?: Gate
  /** Called before a request is judged, to read the files of tokens again. Never rejects. */
  readonly readTokens?: () => Promise<void>
  /** What the config says now; undefined: no reader is checked. */
  readonly isChecked?: () => Pick<AuthSettings, 'metrics'> | undefined
  readonly live: Live
  /** Called with the error of a page that could not be made; the client gets a bare 500. */
  readonly onError?: (error: Error) => void
  /** Default `SERVER_LIMITS`. */
  readonly limits?: Partial<typeof SERVER_LIMITS>
}

const JSON_TYPE = 'application/json; charset=utf-8'
const OPENAPI_PATH = '/openapi.json'

const isApi = (path: string): boolean => path === '/api' || path.startsWith('/api/')

function addApi(server: FastifyInstance, parts: Omit<PageParts, 'console'>): void {
  for (const { path, make, isOwn = false } of API_ROUTES) {
    server.get(path, (request, reply) =>
      answer(reply, request, parts, {
        type: JSON_TYPE,
        isOwn,
        make: async (viewer) => `${JSON.stringify(await make(parts.documents.for(viewer), paramsOf(request), queryOf(request)))}\n`,
      }),
    )
  }
  const openapi = Buffer.from(`${JSON.stringify(OPENAPI)}\n`)
  server.get(OPENAPI_PATH, (_, reply) => reply.type(JSON_TYPE).send(openapi))
}

const API_HELP = `there is no such document; ${OPENAPI_PATH} names all documents of ${API}`

/** Addresses that are no pages of the console, as a refusal names them. */
const PATHS = ['/metrics', '/livez', '/readyz', '/status', '/ledger', OPENAPI_PATH]
/** Probes of the cluster have no token. */
const ALWAYS_OPEN = ['/livez', '/readyz']

const ALLOWED = 'GET, HEAD'
const TEXT = 'text/plain; charset=utf-8'

function addRoutes(server: FastifyInstance, options: ServerOptions, limits: { readonly maxConnections: number }): void {
  const { clock, console, documents, live, refresh } = options
  const gate: Gate = options.gate ?? (() => EVERYBODY)
  const viewerOf = addChecks(server, options, gate)
  addRefusals(server, options)
  const parts = { documents, answers: createAnswers(clock, live.boot), viewerOf }
  addProbes(server, options, viewerOf)
  addLedger(server, options, viewerOf)
  server.get('/status', (request, reply) => {
    // Commands ask for the present state, so no answer of it is kept.
    const state = `at ${clock.monotonic()}`
    const make = async (viewer: Viewer) => `${JSON.stringify(await documents.for(viewer).status(), undefined, 2)}\n`
    return answer(reply, request, parts, { type: JSON_TYPE, state, make })
  })
  addPages(server, { ...parts, console })
  addApi(server, parts)
  addEvents(server, { live, clock, gate, viewerOf, refresh, workspaces: documents.names, maxConnections: limits.maxConnections })
}

type ViewerOf = PageParts['viewerOf']

/** Judged before anything else: the host that was asked for, the reader, and the method. Gives the readers that were let in. */
function addChecks(server: FastifyInstance, options: ServerOptions, gate: Gate): ViewerOf {
  const viewers = new WeakMap<FastifyRequest, Viewer>()
  const isPrivate = isLoopback(options.host)
  server.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request)
    reply.header('X-Content-Type-Options', 'nosniff').header('Referrer-Policy', 'no-referrer').header('Cache-Control', 'no-store')
    reply.header('Cross-Origin-Resource-Policy', 'same-origin').header('X-Frame-Options', 'DENY')
    // A page of another site must not read this one through a browser on this machine.
    if (isPrivate && !isHostOfHere(request.headers.host ?? 'localhost')) return refuse(reply, request, 421, FOREIGN_NAME)
    if (path === '/ledger' || !isOpen(path, options)) await options.readTokens?.()
    const viewer = isOpen(path, options) ? NOBODY : gate(askingOf(request))
    if (isRefused(viewer)) return refuseEntry(reply, request, viewer)
    viewers.set(request, viewer)
    // Here, before the body is read, and for every method of HTTP.
    if (request.method === 'GET' || request.method === 'HEAD') return
    const message = `${request.method} is not allowed here: capkeeper's pages are read-only (${ALLOWED})\n`
    return refuse(reply.header('Allow', ALLOWED), request, 405, message)
  })
  return (request) => viewers.get(request) ?? NOBODY
}

/** Whether the reader is not checked here. `/ledger` has its own token where the config names one. */
function isOpen(path: string, { isChecked, ledgerHasToken = false }: ServerOptions): boolean {
  if (ALWAYS_OPEN.includes(path)) return true
  return path === '/metrics' ? isChecked?.()?.metrics !== true : path === '/ledger' && ledgerHasToken
}

const refuseEntry = (reply: FastifyReply, request: FastifyRequest, { status, message }: Refusal): FastifyReply =>
  refuse(status === 401 ? reply.header('WWW-Authenticate', 'Bearer') : reply, request, status, message)

function addRefusals(server: FastifyInstance, { onError }: ServerOptions): void {
  server.setNotFoundHandler((request, reply) => notFound(reply, request))
  server.setErrorHandler((error, request, reply) => {
    if (error instanceof DocumentError) {
      if (error.status === 503) reply.header('Retry-After', '5')
      return refuse(reply, request, error.status, `${error.message}\n`)
    }
    // Fastify itself refuses mistakes of the client, such as a path that cannot be decoded.
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
    if (status >= 400 && status < 500) return badAddress(reply, request)
    onError?.(error instanceof Error ? error : new Error(String(error)))
    return refuse(reply, request, 500, 'this page could not be made; the log says why\n')
  })
}

function addProbes(server: FastifyInstance, options: ServerOptions, viewerOf: ViewerOf): void {
  const { metrics, people, clock, refresh = async () => undefined } = options
  server.get('/livez', (_, reply) => reply.type(TEXT).send('ok\n'))
  server.get('/readyz', async (_, reply) => {
    await refresh()
    const { ready, reasons } = options.ready()
    if (ready) return reply.type(TEXT).send('ok\n')
    // Names of workspaces must not be shown to readers who were not checked.
    const shown = options.isChecked?.() === undefined ? reasons.map((reason) => `- ${people.text(reason)}`) : []
    return reply
      .code(503)
      .type(TEXT)
      .send(['not ready', ...shown, ''].join('\n'))
  })
  const shared = sharePage(clock, async () => {
    await refresh()
    return Buffer.from(await metrics.render(options.views(), options.health()))
  })
  server.get('/metrics', async (request, reply) => {
    const refusal = isOpen('/metrics', options) ? undefined : ofAll('/metrics', viewerOf(request))
    return refusal ? refuseEntry(reply, request, refusal) : reply.type(metrics.contentType).send(await shared())
  })
}

function addLedger(server: FastifyInstance, options: ServerOptions, viewerOf: ViewerOf): void {
  const { clock, ledger, ledgerGate, ledgerHasToken = false, isChecked } = options
  const shared = sharePage(clock, () => gathered(ledger(), clock))
  server.get('/ledger', async (request, reply) => {
    const isItsOwn = ledgerHasToken || isChecked?.() === undefined
    const refusal = isItsOwn
      ? ledgerGate(request.headers.authorization)
      : ofAll('/ledger', viewerOf(request), '; name a token with ledgerToken')
    if (refusal) return refuseEntry(reply, request, refusal)
    return reply.type(JSON_TYPE).send(await shared())
  })
}

/** The answer at this address is about all workspaces, so the reader must be allowed to see all. */
const ofAll = (path: string, { seesAll }: Viewer, wayOut = ''): Refusal | undefined =>
  seesAll ? undefined : { status: 403, message: `${path} is about all workspaces, and you may not see all of them${wayOut}\n` }

/** Refusals of the API are JSON. */
function refuse(reply: FastifyReply, request: FastifyRequest, status: number, message: string): FastifyReply {
  if (!isApi(pathOf(request))) return reply.code(status).type(TEXT).send(message)
  const error = { apiVersion: 'capkeeper/v1', kind: 'Error', status, message: message.trimEnd() }
  return reply
    .code(status)
    .type(JSON_TYPE)
    .send(`${JSON.stringify(error)}\n`)
}

const FOREIGN_NAME = 'this address answers only to localhost and to IP addresses; to serve it under a name, listen on another address\n'

const badAddress = (reply: FastifyReply, request: FastifyRequest): FastifyReply =>
  refuse(reply, request, 400, 'this address is malformed\n')

const notFound = (reply: FastifyReply, request: FastifyRequest): FastifyReply =>
  refuse(reply, request, 404, isApi(pathOf(request)) ? API_HELP : NO_SUCH_PAGE)

const NO_SUCH_PAGE = `no such page; there are /, ${PATHS.join(', ')}, and those below /workspaces\n`

export type Server = Awaited<ReturnType<typeof startServer>>

/** The address cannot be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  /** Another program listens there. */
  readonly isTaken: boolean
  constructor(message: string, isTaken: boolean) {
    super(message)
    this.isTaken = isTaken
  }
}

/** Far more than a scraper and some people need. Choice. */
const MOST_CONNECTIONS = 512
/** Descriptors of the program itself: modules, ledger, watchers, connections to services. Measured, and doubled. */
const OWN_DESCRIPTORS = 40
/** The pages get a quarter of the others, and at least a few. */
const PAGES_SHARE = 4
const FEWEST_CONNECTIONS = 4
/** How many connections the pages may have when the process may have this many descriptors. */
export const connectionsWithin = (descriptors: number): number =>
  Math.max(FEWEST_CONNECTIONS, Math.min(MOST_CONNECTIONS, Math.floor((descriptors - OWN_DESCRIPTORS) / PAGES_SHARE)))

/** How many descriptors this process may have open; unlimited where the system does not say. */
export function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined || limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Addresses have names of workspaces, groups and people in them, at up to three bytes a character. */
const MOST_PARAM_LETTERS = 1_000

/** Choice. */
export const SERVER_LIMITS = {
  /** Until all headers have come. */
  headersTimeoutMs: 10_000,
  /** Until the whole request has come. */
  requestTimeoutMs: 15_000,
  /** How long a connection may be idle. */
  idleTimeoutMs: 60_000,
  checkEveryMs: 5_000,
  maxHeaderBytes: 16_384,
  /** Until the whole answer is read; a slower client is cut off. */
  answerTimeoutMs: 30_000,
  /** Connections at once; the one that has been idle longest makes room for a further one. */
  maxConnections: connectionsWithin(descriptorLimit()),
}

/** Connections that may wait to be accepted; the system drops further ones, which come back seconds later. Choice. */
const BACKLOG = 4_096

/** Rejects with a `ListenError` that names the address and the way out. */
export async function startServer(options: ServerOptions) {
  const limits = { ...SERVER_LIMITS, ...options.limits }
  const server = createServer(options, limits)
  try {
    await server.listen({ host: options.host, port: options.port, backlog: BACKLOG })
  } catch (error) {
    // Otherwise its timers would keep the process alive.
    await server.close()
    const why = LISTEN_FAILURES[codeIn(error) ?? ''] ?? (error instanceof Error ? error.message : 'unknown reason')
    throw new ListenError(`cannot listen on ${hostText(options.host)}:${options.port}: ${why}`, codeIn(error) === 'EADDRINUSE')
  }
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : options.port
  return {
    /** With the real port; a wildcard host shows as loopback. */
    url: `http://${hostText(reachable(options.host))}:${port}`,
    /** Stops listening and closes all connections. */
    close: (): Promise<void> => server.close(),
  }
}

function createServer(options: ServerOptions, limits: typeof SERVER_LIMITS): FastifyInstance {
  const server = fastify({
    forceCloseConnections: true,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // No more is read from a socket than the system gives at once.
      highWaterMark: limits.maxHeaderBytes,
    },
    bodyLimit: 1024,
    routerOptions: { maxParamLength: MOST_PARAM_LETTERS },
    frameworkErrors: (_, request, reply) => void badAddress(reply, request),
  })
  boundConnections(server.server, limits, options.clock)
  addRoutes(server, options, limits)
  return server
}

const hostText = (host: string): string => (isIPv6(host) ? `[${host}]` : host)

function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use; stop the program that has it, or choose another with --listen',
  EACCES: 'no permission for this port; choose one above 1023 with --listen',
  EADDRNOTAVAIL: 'this machine has no such address; choose another with --listen',
  ENOTFOUND: 'no such host; write an IP address in --listen',
}
