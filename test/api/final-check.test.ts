// The final check before a request is sent: whatever happens while it connects, nothing is sent once it may not leave.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { authoritiesIn } from '../../src/api/way.ts'
import { TEAM } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { type Authority, authority, hasOpenssl, httpsServer } from '../support/certificates.ts'
import { realClock } from '../support/real-clock.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { KEY, proxyTo, serve, testClient, transportTo } from './world.ts'

const BODY = { team_level: true, service_key: KEY }

interface Way {
  readonly transport: ReturnType<typeof transportTo>
  readonly arrived: () => number
}

describe('a write', () => {
  const folder = temporaryFolder()
  let ours: Authority | undefined
  beforeAll(() => {
    if (hasOpenssl) ours = authority(folder, 'ours')
  })

  async function http(isByProxy = false): Promise<Way> {
    const server = await serve((_request, response) => response.end('{}'))
    const proxyEnv = { HTTP_PROXY: isByProxy ? (await proxyTo(server.url)).url : '' }
    return {
      transport: transportTo(isByProxy ? 'http://service.example' : server.url, { proxyEnv }),
      arrived: () => server.requests.length,
    }
  }
  async function https(isByProxy = false): Promise<Way> {
    let arrived = 0
    const certificate = ours?.sign('IP:127.0.0.1,DNS:service.example')
    if (!ours || !certificate) throw new Error('there is no openssl')
    const server = await httpsServer(certificate, (_request, response) => {
      arrived += 1
      response.end('{}')
    })
    onTestFinished(() => server.close())
    const trusting = { authorities: authoritiesIn(ours.file) }
    const proxyEnv = { HTTPS_PROXY: isByProxy ? (await proxyTo(server.url)).url : '' }
    const transport = transportTo(isByProxy ? 'https://service.example' : server.url, { ...trusting, proxyEnv })
    return { transport, arrived: () => arrived }
  }
  const needsOpenssl = (way: () => Promise<Way>) => (hasOpenssl ? way : undefined)
  const WAYS: readonly (readonly [string, (() => Promise<Way>) | undefined])[] = [
    ['http', http],
    ['http through a proxy', () => http(true)],
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
    const server = await serve((_request, response) => response.end('{}'))
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
