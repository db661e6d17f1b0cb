// The network to the services: one daemon with a good workspace beside workspaces whose service hangs, resets, refuses, fails TLS or drops
// packets; and host names that resolve late or wrongly.
import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHttpTransport } from '../../src/api/transport/http.ts'
import { authority, certificateFolder, hasOpenssl, httpsServer } from '../support/certificates.ts'
import { until } from '../support/process.ts'
import {
  atEnd,
  type Daemon,
  daemon,
  endAll,
  heals,
  IS_HEAVY,
  liveWithinMs,
  pause,
  port,
  type Service,
  service,
  watchLife,
} from './world.ts'

/** An address on loopback that drops packets: its program is stopped, and its queue is full. */
async function droppedAddress(): Promise<string> {
  const program = "const s=require('net').createServer().listen({port:0,host:'127.0.0.1',backlog:1},()=>console.log(s.address().port))"
  const child: ChildProcess = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] })
  atEnd(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const number = Number(await until('a port', () => said.trim() || undefined))
  child.kill('SIGSTOP')
  for (let filler = 0; filler < 4; filler += 1) {
    const socket = connect(number, '127.0.0.1').on('error', () => undefined)
    atEnd(() => socket.destroy())
    await pause(50)
  }
  return `http://127.0.0.1:${number}`
}

/** A fault of the network, and the expected words in the log. */
const CASES: readonly (readonly [string, string, RegExp])[] = [
  ['hangs', 'hangs', /asking the service/],
  ['resets each connection', 'resets', /ECONNRESET/],
  ['refuses connections', 'refuses', /nothing listens at the address/],
  ['cuts its answers off', 'cuts', /cut off|ECONNRESET/],
  ['does not speak HTTP', 'garbage', /HPE_INVALID/],
  ['does not speak TLS where it should', 'plain', /EPROTO|TLS/],
  ['drops packets', 'drops', /no connection within 10 s/],
  ['fails every other request', 'flaps', /the service failed \(500\)/],
  ...(hasOpenssl ? ([['shows a certificate that has expired', 'expired', /the certificate has expired/]] as const) : []),
]

const state: { daemon?: Daemon; good?: Service; flaps?: Service; hangs?: string; longest: number; readyMs?: number } = { longest: 0 }
const running = (): Daemon => {
  if (!state.daemon) throw new Error('no daemon')
  return state.daemon
}

async function addresses(): Promise<Record<string, string | Record<string, unknown>>> {
  const { folder, remove } = certificateFolder()
  atEnd(remove)
  const ours = hasOpenssl ? authority(folder, 'ours') : undefined
  const expired = ours && (await httpsServer(ours.sign('IP:127.0.0.1', -1), (_, response) => response.end('{}')))
  atEnd(() => expired?.close())
  const plain = await port((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
  let count = 0
  state.flaps = await service({
    UserPageAnalytics: (_, response) => {
      count += 1
      if (count % 2 === 1) response.writeHead(500).end()
      else response.writeHead(200).end('{"userTableStats":[{"email":"ada@example.com"}]}')
    },
  })
  state.hangs = await port(() => undefined)
  return {
    hangs: state.hangs,
    resets: await port((socket) => socket.resetAndDestroy()),
    refuses: 'http://127.0.0.1:9',
    cuts: await port((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"addOn'))),
    garbage: await port((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n\r\n'))),
    plain: plain.replace('http:', 'https:'),
    drops: await droppedAddress(),
    flaps: state.flaps.url,
    ...(expired && ours && { expired: { baseUrl: expired.url, caFile: ours.file } }),
  }
}

beforeAll(async () => {
  state.good = await service()
  const workspaces = { ...(await addresses()), good: state.good.url }
  // More workspaces, for the load: half of them hang.
  const others = Array.from(
    { length: IS_HEAVY ? 40 : 6 },
    (_, index) => [`more-${index}`, index % 2 === 0 ? state.hangs : 'http://127.0.0.1:9'] as const,
  )
  state.daemon = await daemon({
    workspaces: { ...workspaces, ...Object.fromEntries(others.map(([name, url]) => [name, `${url}/${name}`])) },
  })
  const watch = watchLife(running())
  await heals(state.good)
  await until('all but what hangs to be told', () => CASES.every(([, name, told]) => told.test(running().said(name)))).catch(
    () => undefined,
  )
  await heals(state.good)
  state.longest = await watch.stop()
})
afterAll(endAll)

describe('a workspace whose service', () => {
  test.each(CASES)('%s gets the reason in the log, and disturbs no other', (_what, name, told) => {
    expect(running().said(name)).toMatch(told)
    expect(running().said(name)).toContain('asking the service')
    expect(running().said('good')).not.toMatch(/first request failed|_UNREAD|cycle failed/)
  })

  test('is away delays no other workspace', async () => {
    expect(running().ended()).toBeUndefined()
    expect(state.longest).toBeLessThan(liveWithinMs(state.longest))
    if (state.good) await heals(state.good)
  })

  test('fails at times is kept all the same', async () => {
    if (state.flaps) await heals(state.flaps)
  })

  test.runIf(IS_HEAVY)('never answers delays the readiness of the daemon by 30 s at most', async () => {
    await until('the daemon to be ready', async () => (await running().get('/readyz')).status === 200)
  })
})

describe('a name of a host', () => {
  type Lookup = NonNullable<Parameters<typeof createHttpTransport>[0]['lookup']>
  const rows: readonly (readonly [string, Lookup, object])[] = [
    ['that is never answered', () => undefined, { kind: 'timeout', message: 'no answer within 0.5 s' }],
    [
      'that is not known',
      (_host, _options, done) => done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), '', 4),
      { kind: 'network' },
    ],
    ['that leads to the wrong place', (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]), { kind: 'network' }],
  ]
  test.each(rows)('%s fails that request in its time', async (_what, lookup, expected) => {
    const transport = createHttpTransport({
      baseUrl: 'http://service.test:9',
      userAgent: 'capkeeper/0',
      proxyEnv: {},
      concurrency: 1,
      lookup,
    })
    atEnd(() => transport.close())
    expect(await transport.send('GetUsageConfig', {}, { timeoutMs: 500 })).toMatchObject(expected)
  })
})
