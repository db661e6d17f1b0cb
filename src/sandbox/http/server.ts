// The embedded service over HTTP: six POST routes with bounded bodies, every refusal in the configured error style, and three pages. Must
// never answer with a stack trace, nor with a 500 because of what a client sent.

import { createHash } from 'node:crypto'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { WIRE } from '../../api/wire.generated.ts'
import { PERMISSION_NAME, PERMISSION_OF } from '../../api/wire.ts'
import { htmlText } from '../../core/escape/text.ts'
import { isHostOfHere, isLoopback } from '../../core/model/loopback.ts'
import { OPERATIONS } from '../../core/model/observed.ts'

import { addedKeys } from '../fixture/file.ts'
import { FIXTURE_SCHEMA } from '../fixture/schema.generated.ts'
import { FIXTURE_SCHEMA_PATH } from '../fixture/schema.ts'
import { type Encoded, encodeHttpRefusal, JSON_TYPE } from '../refusal.ts'
import { SANDBOX_KEYS, type Sandbox } from '../sandbox.ts'
import type { Exchange } from '../service.ts'
import type { StoredKey } from '../store.ts'
import { DEFAULT_SWITCHES, SWITCHES } from '../switches.ts'
import { openApiDocument } from './openapi.ts'

/** The largest request body, in bytes; larger ones get 413. Choice. */
const MAX_BODY_BYTES = 1_048_576

const MAX_CONNECTIONS = 1_024

/** Tenants may have a path prefix (docs/service.md, Requests): any prefix is accepted. */
const PREFIX = /^(?:\/[^/?#]+)+(?=\/api\/v1\/)/

interface SandboxServerOptions {
  readonly sandbox: Sandbox
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

/** Listens; rejects when the port cannot be had. docs/service.md, Requests. */
export async function startSandboxServer({ sandbox, host, port }: SandboxServerOptions) {
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    rewriteUrl: ({ url = '/' }) => url.replace(PREFIX, ''),
    requestTimeout: 30_000,
    // Longer than any client waits when no answer comes.
    connectionTimeout: 300_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 5_000, maxHeaderSize: 16_384 },
    // A path that cannot be decoded.
    frameworkErrors: (_error, _request, reply) =>
      void sendEncoded(sandbox, reply, encodeHttpRefusal(sandbox.switches.errors, 404, NO_SUCH_PAGE)),
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
  return {
    /** Such as `http://127.0.0.1:8787`; operations are under `/api/v1/`, behind any path prefix too. */
    url: origin(),
    /** Ends open connections at once. Does not close the sandbox. */
    async close(): Promise<void> {
      stopping.abort()
      await app.close()
    },
  }
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
  app.get(OPENAPI_PATH, (_request, reply) => json(reply, openApiDocument()))
  app.get(FIXTURE_SCHEMA_PATH, (_request, reply) => json(reply, FIXTURE_SCHEMA))
  app.get('/', (_request, reply) =>
    reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'no-referrer' })
      .header('x-content-type-options', 'nosniff')
      .send(sandboxPage(sandbox, origin())),
  )
}

/** Where the OpenAPI document is. */
const OPENAPI_PATH = '/openapi.json'

const PAGES: readonly string[] = ['/', OPENAPI_PATH, FIXTURE_SCHEMA_PATH]

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

const NO_SUCH_PAGE = 'page not found: operations are POST /api/v1/{operation}'

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
    return refuse(reply, 404, NO_SUCH_PAGE)
  })
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
    if (status === 413) return refuse(reply, 413, `the request body is larger than ${MAX_BODY_BYTES} bytes`)
    if (status >= 400 && status < 500) return refuse(reply, 400, 'the request body cannot be read')
    return refuse(reply, 500, 'internal error of the sandbox')
  })
}

// The sandbox's page: its operations with a curl line each, its keys, and links to the documents. It has no script, loads nothing, and
// escapes every value.

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1b1f24; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem; margin: 1.2rem 0 0 }
p { margin: .2rem 0 } pre { background: #f3f4f6; padding: .6rem .8rem; overflow-x: auto; margin: .4rem 0 } code, pre { font-size: .85rem }
table { border-collapse: collapse } th, td { text-align: left; padding: .2rem 1.2rem .2rem 0; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #14171a } pre { background: #22272c } a { color: #8ab4ff } }
`

/** Only the page's own style is allowed. */
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The page as HTML; `url` is where the service is, such as `http://127.0.0.1:8787`. */
function sandboxPage({ store, switches, now }: Pick<Sandbox, 'store' | 'switches' | 'now'>, url: string): string {
  const operations = OPERATIONS.map(
    (name) => `<h3>${htmlText(name)}</h3>
<p>${htmlText(WIRE.operations[name].summary)}. Needs ${htmlText(PERMISSION_NAME[PERMISSION_OF[name]])}.</p>
<pre>${htmlText(curlLine(url, name, WIRE.operations[name].example))}</pre>`,
  )
  const keys = [...SANDBOX_KEYS, ...addedKeys(store)].map(keyRow)
  const changed = SWITCHES.filter(({ name }) => JSON.stringify(switches[name]) !== JSON.stringify(DEFAULT_SWITCHES[name]))
  const links = [OPENAPI_PATH, FIXTURE_SCHEMA_PATH].map((path) => `<a href="${path}">${path}</a>`)
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>capkeeper sandbox</title><meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>
<body>
<h1>capkeeper sandbox</h1>
<p>The service on this machine, with ${store.people().length} invented people in ${store.groups().length} groups. It is ${new Date(now()).toISOString().slice(0, 16).replace('T', ' ')} UTC here.</p>
<p>Documents: ${links.join(', ')}</p>
<p>Switches: ${changed.length === 0 ? 'all as by default' : htmlText(changed.map(({ flag, name }) => `${flag} ${JSON.stringify(switches[name])}`).join(', '))}</p>
<h2>Operations</h2>
${operations.join('\n')}
<h2>Keys</h2>
<table><tr><th>key</th><th>permissions</th></tr>
${keys.join('\n')}
</table>
</body>
</html>
`
}

const keyRow = ({ secret, permissions, groupId }: StoredKey): string =>
  `<tr><td><code>${htmlText(secret)}</code></td><td>${htmlText(permissions.join(', '))}${groupId === undefined ? '' : ` (group ${htmlText(groupId)} only)`}</td></tr>`

/** A line that can be pasted into a shell. */
function curlLine(url: string, operation: string, example: Readonly<Record<string, unknown>>): string {
  const body = JSON.stringify({ service_key: 'sandbox-admin', ...example })
  return `curl -s ${url}/api/v1/${operation} -H 'Content-Type: application/json' -d '${body}'`
}
