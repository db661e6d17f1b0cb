// One daemon, with the heap of the image, keeps a good workspace beside one workspace for each misbehaviour of a service.
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/process.ts'
import {
  type Answers,
  CAP,
  type Daemon,
  daemon,
  endAll,
  heals,
  IS_HEAVY,
  liveWithinMs,
  POD_LIMIT_MIB,
  pause,
  rosterOf,
  type Service,
  service,
  watchLife,
} from './world.ts'

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
const BOMB = Buffer.concat(Array.from({ length: IS_HEAVY ? 500 : 50 }, () => MEMBER))
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
const CASES: readonly (readonly [string, string, Answers, RegExp])[] = [
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
  ['60 KB of [', 'deeper', { GetUsageConfig: text('['.repeat(60_000)) }, /nested more than 32 deep/],
  [
    'a row of 1 MB',
    'row',
    { UserPageAnalytics: text(`{"userTableStats":[{"email":"${'a'.repeat(1_000_000)}@x.y"}]}`) },
    /row of the answer is larger than 16 KiB/,
  ],
  [
    'a figure beyond all sense',
    'figure',
    { UserPageAnalytics: text(row({ promptCreditsUsed: '1e19' })) },
    /1 row of the roster made no sense/,
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

const state: { daemon?: Daemon; good?: Service; slow?: Service; longest: number } = { longest: 0 }
const running = (): Daemon => {
  if (!state.daemon) throw new Error('no daemon')
  return state.daemon
}

beforeAll(async () => {
  const workspaces: Record<string, string> = {}
  state.good = await service()
  for (const [, name, answers] of CASES) workspaces[name] = (await service(answers)).url
  state.slow = await service({ GetUsageConfig: (_, response) => void drip(response) })
  const started = await daemon({
    workspaces: { ...workspaces, good: state.good.url, drip: state.slow.url },
    settings: { interval: '3s', usageInterval: '1h' },
  })
  state.daemon = started
  const watch = watchLife(started)
  for (let round = 0; round < (IS_HEAVY ? 20 : 2); round += 1) await heals(state.good)
  await until('each of them to be told', () => CASES.every(([, name, , told]) => told.test(started.said(name)))).catch(() => undefined)
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

describe('with the heap of the image, a workspace whose service answers with', () => {
  test.each(CASES)('%s gets the reason in the log, and no other workspace does', (_name, name, _answers, told) => {
    expect(running().ended()).toBeUndefined()
    expect(running().said(name)).toMatch(told)
    expect(running().said('good')).not.toMatch(told)
  })

  test('a byte at intervals delays no other workspace', async () => {
    expect(state.slow?.asked.get('GetUsageConfig')).toBeGreaterThan(0)
    if (state.good) await heals(state.good)
  })
})

describe('meanwhile', () => {
  test('the process runs, and /livez answers within a second', () => {
    expect(running().ended()).toBeUndefined()
    expect(state.longest).toBeLessThan(liveWithinMs(state.longest))
  })

  test('memory stays below the limit of the pod', () => expect(running().peakMiB()).toBeLessThan(POD_LIMIT_MIB))

  test('the good workspace is kept as without them', async () => {
    expect(state.good?.cap).toBe(CAP)
    const inSync = /capkeeper_scopes\{[^}]*workspace="good"[^}]*kind="team"[^}]*state="in_sync"[^}]*\} 1/
    await until('the good workspace in sync', async () => inSync.test((await running().get('/metrics')).text))
  })

  test('the record can be written', async () => {
    expect((await running().get('/metrics')).text).toMatch(/^capkeeper_ledger_writable 1$/m)
  })
})
