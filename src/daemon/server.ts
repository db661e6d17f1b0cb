// The daemon's HTTP side: five read-only pages of product.md section 7. Only GET and HEAD; no stack trace, no key, nothing that writes;
// a slow or odd client is cut off and disturbs nobody. What the pages say is decided elsewhere.
import { isIPv6 } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import type { WorkspaceView } from '../core/events.ts'
import type { Clock } from '../ports.ts'
import type { Health, Metrics } from './metrics.ts'
import { statusDocument } from './status.ts'
import type { StatusDocument } from './status-document.ts'
import type { PeopleLabels } from './status-labels.ts'

/** `reasons` say what is missing while `ready` is false. */
export interface Readiness {
  readonly ready: boolean
  readonly reasons: readonly string[]
}

/** The status page, handed in so that the daemon does not depend on it. */
export interface Page {
  render(status: StatusDocument): string
  readonly contentSecurityPolicy: string
}

export interface ServerOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly version: string
  readonly clock: Pick<Clock, 'now'>
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>
  readonly page: Page
  readonly people: PeopleLabels
  readonly views: () => readonly WorkspaceView[]
  readonly health: () => Health
  readonly ready: () => Readiness
  /** Told of a page that could not be made; the client gets a bare 500. */
  readonly onError?: (error: Error) => void
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
}

const PATHS = ['/', '/metrics', '/livez', '/readyz', '/status']

const ALLOWED = 'GET, HEAD'

/** Slow clients are cut off: headers after 10 s, a whole request after 15 s, a connection that stands still after 60 s. Choice. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
} as const

/** Starts to serve. Rejects with a `ListenError` that names the address and the way out. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const server = createServer(options)
  try {
    await server.listen({ host: options.host, port: options.port })
  } catch (error) {
    throw new ListenError(`cannot listen on ${hostText(options.host)}:${options.port}: ${listenFailure(error)}`)
  }
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : options.port
  return { url: `http://${hostText(reachable(options.host))}:${port}`, close: () => server.close() }
}

function createServer(options: ServerOptions): FastifyInstance {
  const server = fastify({
    forceCloseConnections: true,
    requestTimeout: LIMITS.requestTimeout,
    connectionTimeout: LIMITS.connectionTimeout,
    http: {
      headersTimeout: LIMITS.headersTimeout,
      connectionsCheckingInterval: LIMITS.connectionsCheckingInterval,
      maxHeaderSize: LIMITS.maxHeaderSize,
    },
    bodyLimit: 1024,
  })
  server.addHook('onRequest', async (request, reply) => {
    reply.header('X-Content-Type-Options', 'nosniff').header('Referrer-Policy', 'no-referrer').header('Cache-Control', 'no-store')
    reply.header('Cross-Origin-Resource-Policy', 'same-origin').header('X-Frame-Options', 'DENY')
    // Judged before the body is read, and for every method that HTTP knows.
    if (request.method === 'GET' || request.method === 'HEAD') return
    if (!PATHS.includes(request.url.split('?')[0] ?? '')) return notFound(reply)
    return plain(
      reply.header('Allow', ALLOWED),
      405,
      `${request.method} is not allowed here: capkeeper's pages are read-only (${ALLOWED})\n`,
    )
  })
  server.setNotFoundHandler((_, reply) => notFound(reply))
  server.setErrorHandler((error, _, reply) => {
    options.onError?.(error instanceof Error ? error : new Error(String(error)))
    return plain(reply, 500, 'this page could not be made; the log says why\n')
  })
  addRoutes(server, options)
  return server
}

function addRoutes(server: FastifyInstance, options: ServerOptions): void {
  const { metrics, page, people, version } = options
  const status = () => statusDocument({ views: options.views(), health: options.health(), people, version, now: options.clock.now() })
  server.get('/livez', (_, reply) => plain(reply, 200, 'ok\n'))
  server.get('/readyz', (_, reply) => {
    const { ready, reasons } = options.ready()
    if (ready) return plain(reply, 200, 'ok\n')
    return plain(reply, 503, ['not ready', ...reasons.map((reason) => `- ${people.text(reason)}`), ''].join('\n'))
  })
  server.get('/metrics', async (_, reply) => {
    const text = await metrics.render(options.views(), options.health())
    return reply.type(metrics.contentType).send(text)
  })
  server.get('/status', (_, reply) => reply.type('application/json; charset=utf-8').send(`${JSON.stringify(status(), undefined, 2)}\n`))
  server.get('/', (_, reply) => {
    reply.header('Content-Security-Policy', page.contentSecurityPolicy)
    return reply.type('text/html; charset=utf-8').send(page.render(status()))
  })
}

const plain = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).type('text/plain; charset=utf-8').send(text)

const notFound = (reply: FastifyReply): FastifyReply => plain(reply, 404, `no such page; there are ${PATHS.join(', ')}\n`)

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

function listenFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return LISTEN_FAILURES[code] ?? (error instanceof Error ? error.message : 'unknown reason')
}
