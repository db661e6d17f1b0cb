// The daemon's HTTP side: the read-only pages of product.md section 7, and the ledger for plans elsewhere. Only GET and HEAD; no stack trace, no key, nothing that writes;
// a slow or odd client is cut off and disturbs nobody. What the pages say is decided elsewhere.
import { isIPv6 } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import type { WorkspaceView } from '../../core/model/events.ts'
import { isHostOfHere, isLoopback } from '../../core/model/loopback.ts'
import type { Clock } from '../../ports.ts'
import { createAnswers } from './answers.ts'
import { boundConnections, connectionsWithin, descriptorLimit } from './connections.ts'
import type { Console } from './console.ts'
import { DocumentError } from './documents/documents.ts'
import type { Library } from './documents/make.ts'
import type { Health, Metrics } from './metrics.ts'
import { addPages } from './pages.ts'
import { gathered, type SharedPage, sharePage } from './shared.ts'
import type { PeopleLabels } from './status-labels.ts'
import type { LedgerGate } from './token.ts'

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
  /** Handed in so that the daemon does not depend on the pages. */
  readonly console: Console
  readonly documents: Library
  readonly people: PeopleLabels
  readonly views: () => readonly WorkspaceView[]
  readonly health: () => Health
  readonly ready: () => Readiness
  /** The text of /ledger in pieces, which are made on the way; people hashed, whatever `people` says. */
  readonly ledger: () => Iterable<string>
  readonly ledgerGate: LedgerGate
  /** Told of a page that could not be made; the client gets a bare 500. */
  readonly onError?: (error: Error) => void
  /** Default `SERVER_LIMITS`. */
  readonly limits?: Partial<ServerLimits>
}

export interface Server {
  /** Where it answers, with the real port; a wildcard host shows as loopback. */
  readonly url: string
  /** Stops listening and cuts what is still open. */
  close(): Promise<void>
}

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

/** Those that are no pages of the console. */
const PATHS = ['/metrics', '/livez', '/readyz', '/status', '/ledger']

const ALLOWED = 'GET, HEAD'

export interface ServerLimits {
  /** Until all headers are there. */
  readonly headersTimeoutMs: number
  /** Until the whole request is there. */
  readonly requestTimeoutMs: number
  /** How long a connection may stand still, also one that does not take its answer. */
  readonly idleTimeoutMs: number
  readonly checkEveryMs: number
  readonly maxHeaderBytes: number
  /** Until the whole answer is taken: whoever reads slower is cut off. */
  readonly answerTimeoutMs: number
  /** Connections at once; those that stand idle longest make way for further ones. */
  readonly maxConnections: number
}

/** Names of workspaces, groups and people stand in addresses, in up to three bytes a sign. */
const MOST_PARAM_LETTERS = 1_000

/** Slow clients are cut off, many do not wear the daemon out. Choice. */
export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  idleTimeoutMs: 60_000,
  checkEveryMs: 5_000,
  maxHeaderBytes: 16_384,
  answerTimeoutMs: 30_000,
  maxConnections: connectionsWithin(descriptorLimit()),
}

/** Connections that wait to be taken in: further ones would be dropped by the system, and come back seconds later. Choice. */
const BACKLOG = 1_024

/** Starts to serve. Rejects with a `ListenError` that names the address and the way out. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const limits = { ...SERVER_LIMITS, ...options.limits }
  const server = createServer(options, limits)
  try {
    await server.listen({ host: options.host, port: options.port, backlog: BACKLOG })
  } catch (error) {
    const message = `cannot listen on ${hostText(options.host)}:${options.port}: ${listenFailure(error)}`
    throw new ListenError(message, codeOf(error) === 'EADDRINUSE')
  }
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : options.port
  return { url: `http://${hostText(reachable(options.host))}:${port}`, close: () => server.close() }
}

function createServer(options: ServerOptions, limits: ServerLimits): FastifyInstance {
  const server = fastify({
    forceCloseConnections: true,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      maxHeaderSize: limits.maxHeaderBytes,
    },
    bodyLimit: 1024,
    routerOptions: { maxParamLength: MOST_PARAM_LETTERS },
  })
  boundConnections(server.server, limits.maxConnections)
  const isPrivate = isLoopback(options.host)
  const isKnown = pathMatcher([...PATHS, ...options.console.routes.map(({ path }) => path)])
  server.addHook('onRequest', async (request, reply) => {
    cutSlowReader(reply, options.clock, limits.answerTimeoutMs)
    reply.header('X-Content-Type-Options', 'nosniff').header('Referrer-Policy', 'no-referrer').header('Cache-Control', 'no-store')
    reply.header('Cross-Origin-Resource-Policy', 'same-origin').header('X-Frame-Options', 'DENY')
    // A page of another site must not read this one through a browser on this machine.
    if (isPrivate && !isHostOfHere(request.headers.host ?? 'localhost')) return plain(reply, 421, FOREIGN_NAME)
    // Judged before the body is read, and for every method that HTTP knows.
    if (request.method === 'GET' || request.method === 'HEAD') return
    if (!isKnown(request.url.split('?')[0] ?? '')) return notFound(reply)
    return plain(
      reply.header('Allow', ALLOWED),
      405,
      `${request.method} is not allowed here: capkeeper's pages are read-only (${ALLOWED})\n`,
    )
  })
  server.setNotFoundHandler((_, reply) => notFound(reply))
  server.setErrorHandler((error, _, reply) => {
    if (error instanceof DocumentError) return plain(reply, error.status, `${error.message}\n`)
    options.onError?.(error instanceof Error ? error : new Error(String(error)))
    return plain(reply, 500, 'this page could not be made; the log says why\n')
  })
  addRoutes(server, options)
  return server
}

/** Whatever is still under way by then is cut off with its connection. */
function cutSlowReader({ raw }: FastifyReply, clock: Clock, withinMs: number): void {
  const over = new AbortController()
  raw.once('close', () => over.abort())
  clock.sleep(withinMs, over.signal).then(
    () => raw.destroy(),
    () => undefined,
  )
}

function addRoutes(server: FastifyInstance, options: ServerOptions): void {
  const { metrics, people, clock, console, documents } = options
  const everything = documents.for(() => true)
  const serve = (path: string, type: string, make: Parameters<typeof sharePage>[1]): void => {
    const shared: SharedPage = sharePage(clock, make)
    server.get(path, async (request, reply) => {
      const refusal = path === '/ledger' ? options.ledgerGate(request.headers.authorization) : undefined
      if (refusal) return plain(reply.header('WWW-Authenticate', 'Bearer'), refusal.status, refusal.message)
      return reply.type(type).send(await shared())
    })
  }
  server.get('/livez', (_, reply) => plain(reply, 200, 'ok\n'))
  server.get('/readyz', (_, reply) => {
    const { ready, reasons } = options.ready()
    if (ready) return plain(reply, 200, 'ok\n')
    return plain(reply, 503, ['not ready', ...reasons.map((reason) => `- ${people.text(reason)}`), ''].join('\n'))
  })
  serve('/metrics', metrics.contentType, () => metrics.render(options.views(), options.health()))
  serve('/status', 'application/json; charset=utf-8', async () => `${JSON.stringify(await everything.status(), undefined, 2)}\n`)
  serve('/ledger', 'application/json; charset=utf-8', () => gathered(options.ledger(), clock))
  addPages(server, { console, documents, answers: createAnswers(clock), viewerOf: () => ({ name: '', maySee: () => true }) })
}

const plain = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).type('text/plain; charset=utf-8').send(text)

const FOREIGN_NAME = 'this address answers to localhost and to numbers only; to serve it under a name, listen on another address\n'

const notFound = (reply: FastifyReply): FastifyReply =>
  plain(reply, 404, `no such page; there are /, ${PATHS.join(', ')}, and what is beneath /workspaces\n`)

/** Whether a path is one of these, in which a part that begins with a colon stands for anything. */
function pathMatcher(paths: readonly string[]): (path: string) => boolean {
  const patterns = paths.map((path) => path.split('/'))
  return (path) => {
    const parts = path.split('/')
    return patterns.some(
      (pattern) => pattern.length === parts.length && pattern.every((part, at) => part.startsWith(':') || part === parts[at]),
    )
  }
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

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

function listenFailure(error: unknown): string {
  return LISTEN_FAILURES[codeOf(error)] ?? (error instanceof Error ? error.message : 'unknown reason')
}
