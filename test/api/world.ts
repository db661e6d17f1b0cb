// Shared by the client's tests: scripted answers, a service on a loopback port, and a client made of them on a clock that never waits.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { createReadClient, createWriteClient } from '../../src/api/client.ts'
import { createKeyRing, type KeyRing } from '../../src/api/keys.ts'
import type { ClientOptions, RequestEvent } from '../../src/api/send.ts'
import { createCutter } from '../../src/api/transport/cut.ts'
import { createHttpTransport } from '../../src/api/transport/http.ts'
import { createPaces } from '../../src/api/transport/queue.ts'
import type { Operation } from '../../src/core/model/observed.ts'
import type { Clock, Transport, TransportFailure, WireAnswer } from '../../src/ports.ts'
import { hastyClock } from '../support/clock.ts'

export { hastyClock }

export const KEY = 'test-key-0123456789-abcdefghijklmnop'

export type Sent = { readonly operation: Operation; readonly body: Readonly<Record<string, unknown>>; readonly at: number }
export type Script = (sent: Sent, count: number) => Partial<WireAnswer> | TransportFailure | Promise<Partial<WireAnswer> | TransportFailure>

/** A transport that answers as the script says, after a latency on the clock. */
export function scripted(clock: Clock, script: Script, latencyMs = 20): Transport & { readonly sent: Sent[] } {
  const sent: Sent[] = []
  return {
    sent,
    async send(operation, body, { signal }) {
      const one = { operation, body, at: clock.monotonic() }
      sent.push(one)
      await clock.sleep(latencyMs, signal)
      const answer = await script(one, sent.length)
      return 'kind' in answer ? answer : { status: 200, headers: {}, body: '{}', ...answer }
    },
  }
}

/** As over a socket: rows are kept while they arrive. */
export const rowByRow = (transport: Transport): Transport => ({
  async send(operation, body, how) {
    const answer = await transport.send(operation, body, how)
    if ('kind' in answer || !how.rows) return answer
    const cutter = createCutter(how.rows)
    cutter.push(Buffer.from(answer.body))
    return { ...answer, body: cutter.end(), isCut: true }
  },
})

export type TestClient = ReturnType<typeof testClient>

/** Keys from variables: one for everything, unless a source is named for a permission. */
export const keyRing = (
  key: string | Readonly<Record<string, string>> = KEY,
  sources: Parameters<typeof createKeyRing>[0] = { default: { env: 'KEY' } },
  files?: Parameters<typeof createKeyRing>[1]['files'],
): KeyRing => createKeyRing(sources, { env: typeof key === 'string' ? { KEY: key } : key, ...(files && { files }) })

/** A client that writes and one that only reads, over scripted answers, fast enough that pacing does not show unless a test wants it. */
export function testClient(script: Script, overrides: Partial<ClientOptions> = {}, clock = hastyClock()) {
  const transport = scripted(clock, script)
  const events: RequestEvent[] = []
  const learned: [string, unknown][] = []
  const { paces = createPaces() } = overrides
  const options: ClientOptions = {
    transport,
    keys: keyRing(),
    clock,
    random: { next: () => 0.5 },
    rate: { start: 1_000, max: 1_000, concurrency: 8 },
    paces,
    onRequest: (event) => events.push(event),
    onLearned: (...told) => learned.push(told),
    ...overrides,
  }
  const [client, reader] = [createWriteClient(options), createReadClient(options)]
  return { client, reader, clock, sent: transport.sent, events, learned, paces }
}

export type TestServer = Awaited<ReturnType<typeof listen>>

/** A service on a free loopback port. */
export async function listen(handler: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  /** Every request with its body. */
  const requests: { readonly request: IncomingMessage; readonly body: string }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      requests.push({ request, body })
      handler(request, response, body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, requests, close }
}

/** A service on a free loopback port until the test ends. */
export async function serve(handler: Parameters<typeof listen>[0]): Promise<TestServer> {
  const server = await listen(handler)
  onTestFinished(() => server.close())
  return server
}

/** A transport to the address until the test ends. */
export function transportTo(baseUrl: string, more: Partial<Parameters<typeof createHttpTransport>[0]> = {}) {
  const transport = createHttpTransport({ baseUrl, userAgent: 'capkeeper/1.2.3', proxyEnv: {}, concurrency: 4, ...more })
  onTestFinished(() => transport.close())
  return transport
}

/** A proxy that connects every CONNECT to the port of the target, and remembers who was asked for; without a target it refuses. */
export async function proxyTo(target?: string): Promise<TestServer & { readonly asked: string[] }> {
  const asked: string[] = []
  const proxy = await serve((_request, response) => response.writeHead(500).end())
  proxy.server.on('connect', (request, near, head) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
    if (target === undefined) return near.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const far = connect(Number(new URL(target).port), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      far.write(head)
      near.pipe(far).pipe(near)
    })
    for (const one of [near, far]) one.on('error', () => undefined)
    near.on('close', () => far.destroy())
  })
  return { ...proxy, asked }
}
