// One daemon, with the heap of the image, keeps a good workspace beside one for each misbehaviour of a service: it hangs, resets, refuses, fails TLS, drops
// packets, or answers with too much, too deep or without end.
import { type ChildProcess, spawn } from 'node:child_process'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authority, hasOpenssl, httpsServer } from '../support/certificates.ts'
import { until } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'
import {
  type Answers,
  atEnd,
  CAP,
  type Daemon,
  daemon,
  endAll,
  heals,
  IS_HEAVY,
  liveWithinMs,
  POD_LIMIT_MIB,
  pause,
  port,
  rosterOf,
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
const WAYS: readonly (readonly [string, string, RegExp])[] = [
  ['resets each connection', 'resets', /ECONNRESET/],
  ['refuses connections', 'refuses', /nothing listens at the address/],
  ['cuts its answers off', 'cuts', /cut off|ECONNRESET/],
  ['does not speak HTTP', 'garbage', /HPE_INVALID/],
  ['does not speak TLS where it should', 'plain', /EPROTO|TLS/],
  ['drops packets', 'drops', /no connection within 10 s/],
  ['fails every other request', 'flaps', /the service failed \(500\)/],
  ...(hasOpenssl ? ([['shows a certificate that has expired', 'expired', /the certificate has expired/]] as const) : []),
]

const MIB = 1024 * 1024

/** Writes the same piece until so many bytes are sent, or for ever, as fast as they are read. */
function pour(response: ServerResponse, head: string, piece: string, bytes = Number.POSITIVE_INFINITY, tail = ''): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write(head)
  const block = piece.repeat(Math.ceil(65_536 / piece.length))
  let left = bytes
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= block.length
      if (!response.write(block)) return void response.once('drain', more)
    }
    if (left <= 0) response.end(tail)
  }
  more()
}

/** One gzip member after the other, as the format allows: compressing so much into one takes seconds, and decompresses to the same. */
const MEMBER = gzipSync(Buffer.alloc(8_000_000, 0x20))
const BOMB = Buffer.concat(Array.from({ length: IS_HEAVY ? 500 : 10 }, () => MEMBER))
const DEEP = '['.repeat(400_000)
const HUGE = rosterOf(IS_HEAVY ? 300_000 : 60_000)
const row = (more: object): string =>
  JSON.stringify({
    userTableStats: [
      { email: 'ada@example.com', teamStatus: 'USER_TEAM_STATUS_APPROVED', ...more },
      { email: 'bob@example.com', teamStatus: 'USER_TEAM_STATUS_APPROVED', promptCreditsUsed: '100' },
    ],
    billingCycleStart: '2026-11-01T00:00:00Z',
    billingCycleEnd: '2036-12-01T00:00:00Z',
  })

const gzipped = (bytes: Buffer) => (_: unknown, response: ServerResponse) =>
  void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes)
const text = (body: string) => (_: unknown, response: ServerResponse) => void response.writeHead(200).end(body)

/** A misbehaviour of a service, and the expected words in the log. */
const ANSWERS: readonly (readonly [string, string, Answers, RegExp])[] = [
  [
    'a balance of 60 MiB',
    'balance',
    { GetTeamCreditBalance: (_, response) => pour(response, '{"numSeats":1,"x":"', 'x', 60 * MIB, '"}') },
    /larger than 64 KiB/,
  ],
  ['an endless cap', 'endless', { GetUsageConfig: (_, response) => pour(response, '{"x":"', 'x') }, /larger than 64 KiB/],
  [
    'a roster without end',
    'people',
    { UserPageAnalytics: (_, response) => pour(response, '{"userTableStats":[', '{"email":"a@x.y"},') },
    /answers together may take|more than 500000 rows|larger than 64 MiB/,
  ],
  [
    'a roster of rows that are thrown away, without end',
    'noise',
    { UserPageAnalytics: (_, response) => pour(response, '{"userTableStats":[', '7,') },
    /more than 500000 rows/,
  ],
  ['more people than the heap can hold', 'many', { UserPageAnalytics: text(HUGE) }, /answers together may take/],
  [
    'runs of agents in millions of kinds',
    'runs',
    { CascadeAnalytics: (_, response) => void pourRuns(response) },
    /more than 20000 kinds of runs|answers together may take/,
  ],
  ['a gzip bomb instead of a cap', 'bomb', { GetUsageConfig: gzipped(BOMB) }, /larger than 64 KiB/],
  ['a gzip bomb instead of the roster', 'bombs', { UserPageAnalytics: gzipped(BOMB) }, /larger than 64 (K|M)iB/],
  ['a gzip bomb within a gzip bomb', 'twice', { UserPageAnalytics: gzipped(gzipSync(BOMB)) }, /UserPageAnalytics/],
  [
    '400 KB of [ in place of everything',
    'deep',
    { UserPageAnalytics: text(DEEP), GetTeamCreditBalance: text(DEEP), CascadeAnalytics: text(DEEP), GetUsageConfig: text(DEEP) },
    /nested more than 32 deep|larger than 64 KiB/,
  ],
  ['60 KB of [', 'deeper', { GetUsageConfig: text('['.repeat(60_000)) }, /the answer is not JSON/],
  ['60 KB of [ and ]', 'deepest', { GetUsageConfig: text(`${'['.repeat(30_000)}${']'.repeat(30_000)}`) }, /nested more than 32 deep/],
  [
    'a row of 1 MB',
    'row',
    { UserPageAnalytics: text(`{"userTableStats":[{"email":"${'a'.repeat(1_000_000)}@x.y"}]}`) },
    /row of the answer is larger than 16 KiB/,
  ],
  [
    'an absurd figure',
    'figure',
    { UserPageAnalytics: text(row({ promptCreditsUsed: '1e19' })) },
    /1 row of the roster made no sense and was set aside/,
  ],
  [
    'a header without end',
    'header',
    { GetUsageConfig: (_, response) => void response.socket?.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}`) },
    /HPE_HEADER_OVERFLOW|network|GetUsageConfig/,
  ],
  ['a failure with an endless body', 'talk', { GetUsageConfig: (_, response) => pour503(response) }, /the service failed \(500\)/],
]

function pour503(response: ServerResponse): void {
  response.writeHead(500)
  const more = (): void => {
    while (!response.destroyed) if (!response.write('x'.repeat(65_536))) return void response.once('drain', more)
  }
  more()
}

function pourRuns(response: ServerResponse): void {
  let count = 0
  response.writeHead(200).write('{"queryResults":[{"cascadeRuns":{"cascadeRuns":[')
  const more = (): void => {
    while (!response.destroyed) {
      const rows = Array.from({ length: 500 }, (_, index) => `{"day":"2026-11-20","model":"m${count + index}","messagesSent":"1"},`)
      count += rows.length
      if (!response.write(rows.join(''))) return void response.once('drain', more)
    }
  }
  more()
}

const CASES = [...WAYS, ...ANSWERS.map(([what, name, _answers, told]) => [what, name, told] as const)]
const state: { daemon?: Daemon; good?: Service; flaps?: Service; slow?: Service; longest: number } = { longest: 0 }
const running = (): Daemon => {
  if (!state.daemon) throw new Error('no daemon')
  return state.daemon
}

type Addresses = Record<string, string | Record<string, unknown>>

async function unreachable(): Promise<Addresses> {
  const folder = temporaryFolder()
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
  const hangs = await port(() => undefined)
  // More workspaces, for the load: half of them hang.
  const others = Array.from(
    { length: IS_HEAVY ? 40 : 0 },
    (_, index) => [`more-${index}`, `${index % 2 === 0 ? hangs : 'http://127.0.0.1:9'}/${index}`] as const,
  )
  return {
    hangs,
    resets: await port((socket) => socket.resetAndDestroy()),
    refuses: 'http://127.0.0.1:9',
    cuts: await port((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"addOn'))),
    garbage: await port((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n\r\n'))),
    plain: plain.replace('http:', 'https:'),
    drops: await droppedAddress(),
    flaps: { baseUrl: state.flaps.url, interval: '1s' },
    ...(expired && ours && { expired: { baseUrl: expired.url, caFile: ours.file } }),
    ...Object.fromEntries(others),
  }
}

beforeAll(async () => {
  state.good = await service()
  state.slow = await service({ GetUsageConfig: (_, response) => void drip(response) })
  const workspaces: Addresses = { ...(await unreachable()), good: { baseUrl: state.good.url, interval: '1s' }, drip: state.slow.url }
  for (const [, name, answers] of ANSWERS) workspaces[name] = (await service(answers)).url
  state.daemon = await daemon({ workspaces, settings: { interval: IS_HEAVY ? '3s' : '1h', usageInterval: '1h' } })
  const watch = watchLife(running())
  for (let round = 0; round < (IS_HEAVY ? 20 : 2); round += 1) await heals(state.good)
  await until('each of them to be told', () => CASES.every(([, name, told]) => told.test(running().said(name)))).catch(() => undefined)
  await heals(state.good)
  state.longest = await watch.stop()
})
afterAll(endAll)

/** Sends a byte at intervals, so that the connection never looks dead. */
async function drip(response: ServerResponse): Promise<void> {
  response.writeHead(200)
  for (let byte = 0; byte < 10_000 && !response.destroyed; byte += 1) {
    response.write(' ')
    await pause(200)
  }
}

describe('a workspace whose service', () => {
  test.each(CASES)('%s gets the reason in the log, and no other workspace does', (_what, name, told) => {
    expect(running().said(name)).toMatch(told)
    expect(running().said('good')).not.toMatch(told)
  })

  test('is away, or sends a byte at intervals, delays no other, and the process answers within a second', async () => {
    expect(running().ended()).toBeUndefined()
    expect(state.slow?.asked.get('GetUsageConfig')).toBeGreaterThan(0)
    expect(state.longest).toBeLessThan(liveWithinMs(state.longest))
    expect(running().said('good')).not.toMatch(/first request failed|_UNREAD/)
    expect(running().said('hangs')).toContain('asking the service')
  })

  test('fails at times is kept all the same', async () => {
    if (state.flaps) await heals(state.flaps)
  })

  test.runIf(IS_HEAVY)('never answers delays the readiness of the daemon by 30 s at most', async () => {
    await until('the daemon to be ready', async () => (await running().get('/readyz')).status === 200)
  })
})

describe('meanwhile', () => {
  test('memory stays below the limit of the pod', () => expect(running().peakMiB()).toBeLessThan(POD_LIMIT_MIB))

  test('the good workspace is kept as without them, and the record can be written', async () => {
    expect(state.good?.cap).toBe(CAP)
    const inSync = /capkeeper_scopes\{[^}]*workspace="good"[^}]*kind="team"[^}]*state="in_sync"[^}]*\} 1/
    await until('the good workspace in sync', async () => inSync.test((await running().get('/metrics')).text))
    expect((await running().get('/metrics')).text).toMatch(/^capkeeper_ledger_writable 1$/m)
  })
})
