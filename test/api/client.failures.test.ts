import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { TEAM } from '../../src/core/model/scope.ts'
import { failing, failureOf, ok, people, rejection } from './answers.ts'
import { hastyClock, KEY, keyRing, type Script, testClient } from './world.ts'

describe('an outage', () => {
  const CYCLE_MS = 300_000

  /** One pass over all scopes every five minutes for ten minutes. */
  async function tenMinutes(count: number) {
    let down = true
    const world = testClient(() => (down ? failing(503) : ok({ addOnCreditCap: 1 })))
    const attempts: number[] = []
    const pass = async () => {
      const before = world.sent.length
      const readings = await Promise.all(people(count).map((scope) => world.client.readCap(scope)))
      attempts.push(world.sent.length - before)
      world.clock.pass(CYCLE_MS - (world.clock.monotonic() % CYCLE_MS))
      return readings
    }
    for (let cycle = 0; cycle < 3; cycle += 1) await pass()
    return { ...world, attempts, pass, heal: () => (down = false) }
  }

  it.each([20, 1_000])('of ten minutes costs at most 1.1 passes over %i scopes, then single probes', async (count) => {
    const { attempts } = await tenMinutes(count)
    expect(attempts[0]).toBeLessThanOrEqual(1.1 * count)
    expect(attempts.slice(1)).toEqual([1, 1])
  })

  it('has a failure for every scope, and says that it was not asked', async () => {
    const { pass } = await tenMinutes(20)
    const readings = await pass()
    expect(readings.at(-1)?.failure).toEqual({
      kind: 'server',
      message: expect.stringContaining('GetUsageConfig: not asked again yet, after GetUsageConfig: '),
    })
  })

  it('that is over is noticed by one probe, and the whole pass succeeds', async () => {
    const { pass, heal, attempts } = await tenMinutes(100)
    heal()
    const readings = await pass()
    expect(readings.every((reading) => reading.observed === 1)).toBe(true)
    expect(attempts.at(-1)).toBe(100)
  })
})

it('a redirect is not asked again, because the answer would be the same', async () => {
  const { client, sent } = testClient(() => ({ status: 302, headers: { location: 'https://elsewhere.example' }, body: '' }))
  expect((await client.readCap(TEAM)).failure?.message).toContain('redirects are not followed')
  expect(sent).toHaveLength(1)
})

describe('a refused key', () => {
  it('stops only the requests of its operation, at once', async () => {
    const { client, sent } = testClient(({ operation }) =>
      operation === 'GetUsageConfig' ? failing(403, 'no') : ok({ userTableStats: [] }),
    )
    expect((await client.readCap(TEAM)).failure).toEqual({
      kind: 'auth',
      message: 'GetUsageConfig: the key was refused (403): needs Billing Read; the service said: no',
    })
    const rest = await Promise.all(people(50).map((scope) => client.readCap(scope)))
    expect(rest.every((reading) => reading.failure?.kind === 'auth')).toBe(true)
    expect(sent).toHaveLength(1)
    expect((await client.readRoster()).people).toEqual([])
  })

  it.each([
    ['403 with an empty body', { status: 403, body: '' }],
    ['401', failing(401)],
    ['403 with words', failing(403, 'permission denied')],
  ])('for the balance (%s) stops no cap from being read or written, though caps need the same permission', async (_name, refusal) => {
    const { client, sent } = testClient(({ operation }) => (operation === 'GetTeamCreditBalance' ? refusal : ok({ addOnCreditCap: 1 })))
    await expect(client.readBalance()).rejects.toMatchObject({ kind: 'auth' })
    await expect(client.readBalance()).rejects.toMatchObject({ kind: 'auth', unsent: true })
    const readings = await Promise.all([TEAM, ...people(5)].map((scope) => client.readCap(scope)))
    expect(readings.map(({ observed }) => observed)).toEqual([1, 1, 1, 1, 1, 1])
    expect(await client.writeCap(TEAM, 'none')).toEqual({ kind: 'accepted' })
    expect(sent.filter(({ operation }) => operation === 'GetTeamCreditBalance')).toHaveLength(1)
  })

  it('is offered again after thirty seconds, and at once when it changes', async () => {
    const clock = hastyClock()
    const env = { KEY: 'bad-key' }
    const keys = keyRing(env)
    const { client, sent } = testClient(
      ({ body }) => (body['service_key'] === 'bad-key' ? failing(401) : ok({ addOnCreditCap: 4 })),
      { keys },
      clock,
    )
    await client.readCap(TEAM)
    clock.pass(29_000)
    await client.readCap(TEAM)
    expect(sent).toHaveLength(1)
    clock.pass(1_000)
    await client.readCap(TEAM)
    expect(sent).toHaveLength(2)
    env.KEY = 'good-key'
    expect((await client.readCap(TEAM)).observed).toBe(4)
  })

  it('for one scope does not stop the others once the key has worked', async () => {
    const { client } = testClient(({ body }) => (body['user_email'] === 'p3@example.com' ? failing(403, 'no') : ok({ addOnCreditCap: 1 })))
    const readings = await Promise.all([TEAM, ...people(30)].map((scope) => client.readCap(scope)))
    expect(readings.filter((reading) => reading.observed === 'unknown')).toHaveLength(1)
  })

  it('that cannot even be loaded is an auth failure without a request', async () => {
    const clock = hastyClock()
    const keys = keyRing({}, { default: { env: 'NOT_SET' } })
    const { client, sent } = testClient(() => ({}), { keys }, clock)
    expect((await client.readCap(TEAM)).failure).toMatchObject({ kind: 'auth', message: expect.stringContaining('NOT_SET') })
    expect(await client.writeCap(TEAM, 'none')).toMatchObject({ kind: 'refused', failure: { kind: 'auth' } })
    expect(sent).toEqual([])
  })
})

it('the clock of the service is unknown before the first answer, then known to half a second', async () => {
  const clock = hastyClock()
  const { client } = testClient(() => ({ headers: { date: new Date(clock.now() + 600_000).toUTCString() } }), {}, clock)
  expect(client.clockSkewMs()).toBeUndefined()
  await client.readCap(TEAM)
  expect(Math.abs((client.clockSkewMs() ?? 0) - 600_000)).toBeLessThanOrEqual(520)
})

const echo = (body: Readonly<Record<string, unknown>>): string => `bad key ${String(body['service_key'])} in ${JSON.stringify(body)}`
const everyFailure: readonly [string, Script][] = [
  ['401 that echoes the request', ({ body }) => failing(401, echo(body))],
  ['400, a code that echoes it', ({ body }) => ({ status: 400, body: JSON.stringify({ code: 'invalid_argument', message: echo(body) }) })],
  ['500 with plain text', ({ body }) => ({ status: 500, body: echo(body) })],
  ['502 with a page', ({ body }) => ({ status: 502, body: `<html><title>${echo(body)}</title></html>` })],
  ['200 with an error', ({ body }) => ({ body: JSON.stringify({ error: echo(body) }) })],
  [
    'a redirect',
    ({ body }) => ({
      status: 302,
      headers: { location: `https://x/${String(body['service_key'])}?k=${String(body['service_key'])}` },
      body: '',
    }),
  ],
  ['an answer that is no cap', ({ body }) => ({ body: JSON.stringify({ addOnCreditCap: echo(body) }) })],
  ['a transport that says too much', ({ body }) => ({ kind: 'network', message: echo(body) })],
]

const everyKey = everyFailure.flatMap(([name, script]) =>
  [KEY, 'short-key'].map((value) => [value === KEY ? 'long' : 'short', name, script, value] as const),
)

it.each(everyKey)('the key (a %s one) is not shown after %s', async (_length, _name, script, value) => {
  const clock = hastyClock()
  const { client, events, learned } = testClient(script, { keys: keyRing(value) }, clock)
  const seen = [
    await client.readCap(TEAM),
    await client.writeCap(TEAM, 'none'),
    await rejection(client.readRoster()),
    await rejection(client.readBalance()),
    await rejection(client.readRuns({ fromAt: 0 })),
  ]
  expect(seen[0]).toMatchObject({ observed: 'unknown', failure: expect.anything() })
  const shown = seen.map((one) => (one instanceof Error ? [one.message, one.stack, one] : one))
  for (const text of [
    JSON.stringify([shown, events, learned]),
    inspect([shown, events, learned, client], { depth: 20, showHidden: true }),
  ]) {
    expect(text).not.toContain(value)
    expect(text).not.toContain(value.slice(0, 20))
  }
})

describe('a failure', () => {
  it('has a bounded message for any length of the service’s message', async () => {
    const { client } = testClient(() => failing(400, 'x y '.repeat(100_000)))
    expect((await client.readCap(TEAM)).failure?.message).toMatch(/^.{150,400}…$/)
  })

  it('has only the fields on its list', async () => {
    const { client } = testClient(() => failing(500, 'm'))
    const error = failureOf(await rejection(client.readRoster()))
    expect(Object.keys(error).sort()).toEqual(['kind', 'name', 'operation', 'status'])
    expect('cause' in error).toBe(false)
    expect(inspect(error)).not.toContain('undefined')
  })
})
