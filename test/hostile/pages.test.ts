// Clients of the pages that ask for too much: /ledger of a large workspace that is never read, thousands of connections, and slow ones.
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/process.ts'
import {
  atEnd,
  type Daemon,
  daemon,
  endAll,
  heals,
  IS_HEAVY,
  liveWithinMs,
  POD_LIMIT_MIB,
  pause,
  type Service,
  service,
  watchLife,
} from './world.ts'

/** The old space that deploy/README.md gives for 50,000 people. */
const [PEOPLE, ENV] = IS_HEAVY ? [50_000, { NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=160' }] : [4_000, undefined]
const CONNECTIONS = IS_HEAVY ? 5_000 : 1_000
/** How often each page, and each document of the API, is requested at once: far more than are answered at a time. */
const [ASKED, ASKED_OF_API] = IS_HEAVY ? [200, 40] : [100, 20]

const IN_ACME = [
  '',
  '/groups',
  '/people',
  '/people?sort=use&limit=500',
  '/changes',
  '/holds',
  '/policies',
  '/health',
  '/series/near',
  '/series/credits',
]
const DOCUMENTS = ['/api/v1/workspaces', ...IN_ACME.map((path) => `/api/v1/workspaces/acme${path}`)]

const state: { daemon?: Daemon; good?: Service } = {}
const running = (): { readonly daemon: Daemon; readonly good: Service } => {
  if (!state.daemon || !state.good) throw new Error('no daemon')
  return { daemon: state.daemon, good: state.good }
}

beforeAll(async () => {
  state.good = await service({}, PEOPLE)
  state.daemon = await daemon({
    workspaces: { acme: state.good.url },
    settings: { interval: IS_HEAVY ? '5s' : '1s', usageInterval: '1h' },
    ...(ENV && { env: ENV }),
  })
  await heals(state.good)
})
afterAll(endAll)

function connection(daemonOf: Daemon): Socket {
  const { hostname, port } = new URL(daemonOf.url)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  atEnd(() => socket.destroy())
  return socket
}

/** Under this load the daemon runs, answers and reverts foreign changes. */
async function holdsUnder(trial: (daemonOf: Daemon) => Promise<void>): Promise<void> {
  const { daemon: one, good } = running()
  const watch = watchLife(one)
  await trial(one)
  // The reason why it ended is more useful than the missing revert.
  expect(one.ended()).toBeUndefined()
  await heals(good)
  const longest = await watch.stop()
  expect(one.ended()).toBeUndefined()
  expect(longest).toBeLessThan(liveWithinMs(longest))
  expect(one.peakMiB()).toBeLessThan(POD_LIMIT_MIB)
}

describe(`the pages of a workspace of ${PEOPLE} people`, () => {
  test('survive 200 clients that request /ledger and read nothing', () =>
    holdsUnder(async (one) => {
      for (let client = 0; client < 200; client += 1) {
        const socket = connection(one).pause()
        socket.write('GET /ledger HTTP/1.1\r\nHost: localhost\r\n\r\n')
      }
      await pause(1_500)
    }))

  test('survive hundreds of requests for every page at once', () =>
    holdsUnder(async (one) => {
      const asked = ['/', '/status', '/metrics', ...DOCUMENTS].flatMap((path) =>
        Array.from({ length: path.startsWith('/api') ? ASKED_OF_API : ASKED }, () => one.get(path).catch(() => undefined)),
      )
      const answers = await Promise.all(asked)
      expect(answers.filter((answer) => answer?.status === 200).length).toBeGreaterThan(0)
    }))

  test('survive 300 clients that each request another page of people, and read nothing', () =>
    holdsUnder(async (one) => {
      for (let client = 0; client < 300; client += 1) {
        const path = `/api/v1/workspaces/acme/people?limit=500&page=${1 + (client % (PEOPLE / 500))}&search=${client % 7}`
        connection(one).pause().write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
        if (client % 50 === 49) await pause(20)
      }
      await pause(1_500)
    }))

  test('survive 400 clients that listen for events and read nothing', () =>
    holdsUnder(async (one) => {
      for (let client = 0; client < 400; client += 1) {
        connection(one).pause().write('GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
      }
      await pause(1_500)
    }))

  test(`survive ${CONNECTIONS} silent connections`, () =>
    holdsUnder(async (one) => {
      for (let client = 0; client < CONNECTIONS; client += 1) {
        connection(one)
        if (client % 100 === 99) await pause(20)
      }
      await pause(300)
    }))

  test('survive 300 connections that send a header at intervals', () =>
    holdsUnder(async (one) => {
      const slow = Array.from({ length: 300 }, () => connection(one))
      for (const socket of slow) socket.write('GET /status HTTP/1.1\r\nHost: localhost\r\n')
      for (let round = 0; round < 5; round += 1) {
        for (const socket of slow) socket.write('X-A: b\r\n')
        await pause(100)
      }
    }))

  test('/ledger is complete for a client that reads it', async () => {
    const { daemon: one } = running()
    const ledger = await until('the ledger', async () => JSON.parse((await one.get('/ledger')).text))
    expect(ledger.workspaces[0].facts.usage.roster.people).toHaveLength(PEOPLE)
  })
})

describe('/ledger beyond loopback', () => {
  test('is refused without a configured token', async () => {
    const one = await daemon({ workspaces: { acme: running().good.url }, listen: '0.0.0.0:0' })
    expect(await one.get('/ledger')).toMatchObject({ status: 403, text: expect.stringContaining('ledgerToken') })
    expect(await one.get('/livez')).toMatchObject({ status: 200 })
  })

  test('is served to a client with the token', async () => {
    const workspaces = { acme: running().good.url }
    const one = await daemon({ workspaces, listen: '0.0.0.0:0', config: { ledgerToken: { env: 'TOKEN' } }, env: { TOKEN: 'the-token' } })
    expect(await one.get('/ledger')).toMatchObject({ status: 401 })
    expect(await one.get('/ledger', { authorization: 'Bearer wrong' })).toMatchObject({ status: 401 })
    expect(await one.get('/ledger', { authorization: 'Bearer the-token' })).toMatchObject({ status: 200 })
    expect(one.stderr()).not.toContain('the-token')
  })
})
