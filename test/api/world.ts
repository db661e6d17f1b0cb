// Shared by the client's tests: a clock that jumps to the next alarm when the event loop is idle, scripted answers, a service
// on a loopback port, and a client made of them.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWriteClient, type ServiceWriter } from '../../src/api/client.ts'
import { createKeyRing, type KeyRing } from '../../src/api/keys.ts'
import type { ClientOptions, RequestEvent } from '../../src/api/send.ts'
import { createPaces } from '../../src/api/transport/queue.ts'
import type { Operation } from '../../src/core/model/observed.ts'
import type { Clock, Transport, TransportFailure, WireAnswer } from '../../src/ports.ts'

export const KEY = 'test-key-0123456789-abcdefghijklmnop'

/** Sleeping takes no real time: the earliest sleeper wakes as soon as the event loop is idle. */
export function hastyClock(startAt = Date.UTC(2026, 10, 20, 12)): Clock & { elapsed(): number; pass(ms: number): void } {
  let elapsed = 0
  let sleepers: { at: number; wake: () => void }[] = []
  const wakeNext = (): void => {
    sleepers.sort((a, b) => a.at - b.at)
    const next = sleepers.shift()
    if (!next) return
    elapsed = Math.max(elapsed, next.at)
    next.wake()
  }
  return {
    now: () => startAt + elapsed,
    monotonic: () => elapsed,
    elapsed: () => elapsed,
    pass: (ms) => {
      elapsed += ms
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const sleeper = { at: elapsed + ms, wake: resolve }
        sleepers.push(sleeper)
        setImmediate(wakeNext)
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((one) => one !== sleeper)
          reject(signal.reason)
        })
      }),
  }
}

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

export interface TestClient {
  readonly client: ServiceWriter
  readonly clock: ReturnType<typeof hastyClock>
  readonly sent: Sent[]
  readonly events: RequestEvent[]
  readonly learned: [string, unknown, number][]
}

export const keyRing = (value = KEY): KeyRing => createKeyRing({ default: { env: 'KEY' } }, { env: { KEY: value } })

/** A client over scripted answers, fast enough that pacing does not show unless a test wants it. */
export function testClient(script: Script, overrides: Partial<ClientOptions> = {}, clock = hastyClock()): TestClient {
  const transport = scripted(clock, script)
  const events: RequestEvent[] = []
  const learned: [string, unknown, number][] = []
  const client = createWriteClient({
    transport,
    keys: keyRing(),
    clock,
    random: { next: () => 0.5 },
    rate: { start: 1_000, max: 1_000, concurrency: 8 },
    paces: createPaces(),
    onRequest: (event) => events.push(event),
    onLearned: (...told) => learned.push(told),
    ...overrides,
  })
  return { client, clock, sent: transport.sent, events, learned }
}

export interface TestServer {
  readonly url: string
  readonly server: Server
  /** Every request with its body. */
  readonly requests: { readonly request: IncomingMessage; readonly body: string }[]
  close(): Promise<void>
}

/** A service on a free loopback port. */
export async function listen(handler: (request: IncomingMessage, response: ServerResponse, body: string) => void): Promise<TestServer> {
  const requests: TestServer['requests'] = []
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
