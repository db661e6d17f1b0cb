// The final check before a request is sent: whatever happens while it connects, nothing is sent once it may not leave.
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { authoritiesIn } from '../../src/api/transport/authorities.ts'
import { createHttpTransport } from '../../src/api/transport/http.ts'
import { TEAM } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { type Authority, authority, certificateFolder, hasOpenssl, httpsServer } from '../support/certificates.ts'
import { realClock } from '../support/real-clock.ts'
import { KEY, listen, testClient } from './world.ts'

type HttpTransport = ReturnType<typeof createHttpTransport>

const BODY = { team_level: true, service_key: KEY }
const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

function transportTo(baseUrl: string, more: Partial<Parameters<typeof createHttpTransport>[0]> = {}): HttpTransport {
  const transport = createHttpTransport({ baseUrl, userAgent: 'x', proxyEnv: {}, concurrency: 1, ...more })
  open.push(transport)
  return transport
}

interface Way {
  readonly transport: HttpTransport
  readonly arrived: () => number
}

/** A proxy that connects every CONNECT to one port. */
async function proxyTo(port: number): Promise<string> {
  const proxy = createServer().on('connect', (_request, near) => {
    const far = connect(port, '127.0.0.1', () => near.write('HTTP/1.1 200 OK\r\n\r\n'))
    near.pipe(far).pipe(near)
    for (const one of [near, far]) one.on('error', () => undefined)
    near.on('close', () => far.destroy())
  })
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
  open.push({ close: () => new Promise((done) => proxy.close(done)) })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

describe('a write', () => {
  const { folder, remove } = certificateFolder()
  let ours: Authority | undefined
  beforeAll(() => {
    if (hasOpenssl) ours = authority(folder, 'ours')
  })
  afterAll(remove)

  async function http(): Promise<Way> {
    const server = await listen((_request, response) => response.end('{}'))
    open.push(server)
    return { transport: transportTo(server.url), arrived: () => server.requests.length }
  }
  async function httpByProxy(): Promise<Way> {
    const server = await listen((_request, response) => response.end('{}'))
    open.push(server)
    const proxy = await proxyTo(Number(new URL(server.url).port))
    return { transport: transportTo('http://service.example', { proxyEnv: { HTTP_PROXY: proxy } }), arrived: () => server.requests.length }
  }
  async function https(isByProxy = false): Promise<Way> {
    let arrived = 0
    const certificate = ours?.sign('IP:127.0.0.1,DNS:service.example')
    if (!ours || !certificate) throw new Error('there is no openssl')
    const server = await httpsServer(certificate, (_request, response) => {
      arrived += 1
      response.end('{}')
    })
    open.push(server)
    const trusting = { authorities: authoritiesIn(ours.file) }
    const proxied = { ...trusting, proxyEnv: { HTTPS_PROXY: isByProxy ? await proxyTo(server.port) : '' } }
    const transport = isByProxy ? transportTo('https://service.example', proxied) : transportTo(server.url, trusting)
    return { transport, arrived: () => arrived }
  }
  const needsOpenssl = (way: () => Promise<Way>) => (hasOpenssl ? way : undefined)
  const WAYS: readonly (readonly [string, (() => Promise<Way>) | undefined])[] = [
    ['http', http],
    ['http through a proxy', httpByProxy],
    ['https', needsOpenssl(https)],
    ['https through a proxy', needsOpenssl(() => https(true))],
  ]

  test.each(WAYS)('over %s is sent if it may leave and kept back otherwise, on a new connection and on a kept one', async (_name, way) => {
    if (!way) return
    const send = ({ transport }: Way, mayLeave: () => boolean) => transport.send('UsageConfig', BODY, { timeoutMs: 60_000, mayLeave })
    const fresh = await way()
    expect(await send(fresh, () => false)).toMatchObject({ kind: 'network', isKeptBack: true })
    expect(fresh.arrived()).toBe(0)
    expect(await send(fresh, () => true)).toMatchObject({ status: 200, body: '{}' })
    expect(await send(fresh, () => false)).toMatchObject({ isKeptBack: true })
    expect(fresh.arrived()).toBe(1)
    expect(await send(fresh, () => true)).toMatchObject({ status: 200 })
    expect(fresh.arrived()).toBe(2)
  })

  test('is checked only when its connection is open', async () => {
    const server = await listen((_request, response) => response.end('{}'))
    open.push(server)
    let lookedUp = false
    const transport = transportTo(server.url.replace('127.0.0.1', 'localhost'), {
      lookup: (_name, options, found) => {
        lookedUp = true
        const answer = () => (options.all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4))
        void realClock().sleep(20).then(answer)
      },
    })
    const asked: boolean[] = []
    const mayLeave = (): boolean => {
      asked.push(lookedUp)
      return true
    }
    expect(await transport.send('UsageConfig', BODY, { timeoutMs: 60_000, mayLeave })).toMatchObject({ status: 200 })
    expect(asked).toEqual([true])
  })

  test('that was kept back is reported as unsent and is no failure of the service; reads are never checked', async () => {
    const asked: number[] = []
    const keptBack = { kind: 'network', message: 'the request was kept back', isKeptBack: true } as const
    const late = testClient(() => keptBack, { mayLeave: (ms) => asked.push(ms) > 0 })
    expect(await late.client.writeCap(TEAM, credits(5))).toMatchObject({ kind: 'refused', failure: { unsent: true } })
    expect([late.sent.length, late.events, asked.length]).toEqual([1, [], 1])
    const never = testClient(() => ({}), { mayLeave: () => false })
    expect(await never.client.writeCap(TEAM, credits(5))).toMatchObject({ kind: 'refused', failure: { unsent: true } })
    expect([never.sent, never.events]).toEqual([[], []])
    expect(await never.client.readCap(TEAM)).toMatchObject({ observed: 'none' })
  })
})
