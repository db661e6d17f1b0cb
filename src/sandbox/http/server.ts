// The embedded service over HTTP: six POST routes with bounded bodies, every refusal in the configured error style, and three pages. Must
// never answer with a stack trace, nor with a 500 because of what a client sent.
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { isHostOfHere, isLoopback } from '../../core/model/loopback.ts'
import { FIXTURE_SCHEMA } from '../fixture/schema.generated.ts'
import { FIXTURE_SCHEMA_PATH } from '../fixture/schema.ts'
import { type Encoded, encodeHttpRefusal, JSON_TYPE } from '../refusal.ts'
import type { Sandbox } from '../sandbox.ts'
import type { Exchange } from './exchange.ts'
import { openApiDocument } from './openapi.ts'
import { OPENAPI_PATH, PAGE_POLICY, sandboxPage } from './page.ts'

/** The largest request body, in bytes; larger ones get 413. Choice. */
export const MAX_BODY_BYTES = 1_048_576

const MAX_CONNECTIONS = 1_024

/** Tenants may have a path prefix (service-notes.md, section 1, Base URL): any prefix is accepted. */
const PREFIX = /^(?:\/[^/?#]+)+(?=\/api\/v1\/)/

interface SandboxServerOptions {
  readonly sandbox: Sandbox
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

interface SandboxServer {
  /** Such as `http://127.0.0.1:8787`; operations are under `/api/v1/`, behind any path prefix too. */
  readonly url: string
  /** Ends open connections at once. Does not close the sandbox. */
  readonly close: () => Promise<void>
}

/** Listens; rejects when the port cannot be had. interface-spec.md, Endpoints. */
export async function startSandboxServer({ sandbox, host, port }: SandboxServerOptions): Promise<SandboxServer> {
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    rewriteUrl: ({ url = '/' }) => url.replace(PREFIX, ''),
    requestTimeout: 30_000,
    // Longer than any client waits when no answer comes.
    connectionTimeout: 300_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 5_000, maxHeaderSize: 16_384 },
  })
  app.server.maxConnections = MAX_CONNECTIONS
  // Bodies are read as text whatever their content type: `exchange` judges them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  refuseTheRest(app, sandbox, isLoopback(host))
  const stopping = new AbortController()
  for (const operation of OPERATIONS) {
    app.post(`/api/v1/${operation}`, async (request, reply) => {
      const result = sandbox.exchange(operation, typeof request.body === 'string' ? request.body : '')
      return deliver(sandbox, reply, result, stopping.signal)
    })
  }
  const origin = (): string => `http://${host.includes(':') ? `[${host}]` : host}:${portOf(app, port)}`
  addPages(app, sandbox, origin)
  await app.listen({ host, port })
  const close = async (): Promise<void> => {
    stopping.abort()
    await app.close()
  }
  return { url: origin(), close }
}

/** The port that the server listens on; before that the requested one. */
function portOf(app: FastifyInstance, asked: number): number {
  const address = app.addresses()[0]
  return typeof address === 'object' ? address.port : asked
}

/** The page for people, and the documents for tools. */
function addPages(app: FastifyInstance, sandbox: Sandbox, origin: () => string): void {
  const json = (reply: FastifyReply, value: unknown): FastifyReply =>
    reply
      .header('content-type', JSON_TYPE)
      .header('x-content-type-options', 'nosniff')
      .send(`${JSON.stringify(value, undefined, 2)}\n`)
  app.get(OPENAPI_PATH, (_request, reply) => json(reply, openApiDocument(sandbox.switches)))
  app.get(FIXTURE_SCHEMA_PATH, (_request, reply) => json(reply, FIXTURE_SCHEMA))
  app.get('/', (_request, reply) =>
    reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'no-referrer' })
      .header('x-content-type-options', 'nosniff')
      .send(sandboxPage(sandbox, origin())),
  )
}

const PAGES: readonly string[] = ['/', OPENAPI_PATH, FIXTURE_SCHEMA_PATH]

const OPERATIONS = ['Analytics', 'UserPageAnalytics', 'CascadeAnalytics', 'GetUsageConfig', 'UsageConfig', 'GetTeamCreditBalance'] as const

/** Sends the result of a request, after its delay on the sandbox's clock; a closing server does not wait. */
async function deliver(sandbox: Sandbox, reply: FastifyReply, result: Exchange, stopping: AbortSignal): Promise<FastifyReply> {
  if (result.kind === 'silence') return reply.hijack()
  if (result.delayMs > 0) await sandbox.clock.sleep(result.delayMs, stopping).catch(() => undefined)
  if (result.kind === 'reset') {
    reply.hijack()
    reply.raw.socket?.resetAndDestroy()
    return reply
  }
  return sendEncoded(sandbox, reply.headers(result.headers), result.answer)
}

function sendEncoded(sandbox: Sandbox, reply: FastifyReply, { status, contentType, body }: Encoded): FastifyReply {
  return reply.code(status).header('content-type', contentType).header('date', new Date(sandbox.clock.now()).toUTCString()).send(body)
}

/** Refuses unknown paths, other methods, and bodies that HTTP itself refuses. */
function refuseTheRest(app: FastifyInstance, sandbox: Sandbox, isPrivate: boolean): void {
  const refuse = (reply: FastifyReply, status: number, message: string): FastifyReply =>
    sendEncoded(sandbox, reply, encodeHttpRefusal(sandbox.switches.errors, status, message))
  // The keys are public: a page of another site must not use them through a browser on this machine.
  app.addHook('onRequest', async (request, reply) => {
    if (isPrivate && !isHostOfHere(request.headers.host ?? 'localhost')) return refuse(reply, 421, 'this address answers to localhost only')
  })
  const paths = new Set(OPERATIONS.map((operation) => `/api/v1/${operation}`))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (paths.has(path)) return refuse(reply.header('allow', 'POST'), 405, 'every operation is a POST')
    if (PAGES.includes(path)) return refuse(reply.header('allow', 'GET, HEAD'), 405, 'this page can only be read')
    return refuse(reply, 404, 'page not found: operations are POST /api/v1/{operation}')
  })
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
    if (status === 413) return refuse(reply, 413, `the request body is larger than ${MAX_BODY_BYTES} bytes`)
    if (status >= 400 && status < 500) return refuse(reply, 400, 'the request body cannot be read')
    return refuse(reply, 500, 'internal error of the sandbox')
  })
}
