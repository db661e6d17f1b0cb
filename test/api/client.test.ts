import { describe, expect, it } from 'vitest'
import { groupScope, TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { failing, inOrder, ok, people, rejection } from './answers.ts'
import { hastyClock, KEY, keyRing, type Script, testClient } from './world.ts'

const RESET = { kind: 'network', message: 'the connection was cut (ECONNRESET)' } as const
const LATE = { kind: 'timeout', message: 'no answer within 30 s' } as const

describe('a request', () => {
  it.each([
    ['the team', TEAM, { team_level: true }],
    ['a group', groupScope('grp_1'), { group_id: 'grp_1' }],
    ['a user', userScope('Ada@Example.com '), { user_email: 'ada@example.com' }],
  ])('names %s by one scope field, and carries the key', async (_name, scope, body) => {
    const { client, sent } = testClient(() => ok({ addOnCreditCap: 7 }))
    expect(await client.readCap(scope)).toMatchObject({ scope, observed: 7 })
    await client.writeCap(scope, credits(9))
    await client.writeCap(scope, 'none')
    expect(sent.map((one) => [one.operation, one.body])).toEqual([
      ['GetUsageConfig', { ...body, service_key: KEY }],
      ['UsageConfig', { ...body, set_add_on_credit_cap: 9, service_key: KEY }],
      ['UsageConfig', { ...body, clear_add_on_credit_cap: true, service_key: KEY }],
    ])
  })

  it('for people names the group by its name', async () => {
    const { client, sent } = testClient(() => ok({ userTableStats: [{ email: 'a@x.y' }] }))
    expect((await client.readRoster()).people).toHaveLength(1)
    expect(await client.readGroup({ id: 'grp_1', name: 'Platform' })).toMatchObject({ id: 'grp_1', name: 'Platform', emails: ['a@x.y'] })
    expect(sent.map((one) => one.body)).toEqual([{ service_key: KEY }, { group_name: 'Platform', service_key: KEY }])
  })

  it('has the key of its permission', async () => {
    const clock = hastyClock()
    const keys = keyRing({ A: 'reader', B: 'writer' }, { default: { env: 'A' }, billingWrite: { env: 'B' } })
    const { client, sent } = testClient(() => ({}), { keys }, clock)
    await client.readCap(TEAM)
    await client.writeCap(TEAM, 'none')
    expect(sent.map((one) => one.body['service_key'])).toEqual(['reader', 'writer'])
  })

  it('has the key that is current when it is sent, not when it was queued', async () => {
    const clock = hastyClock()
    const env = { KEY: 'old-key' }
    const keys = keyRing(env)
    const { client, sent } = testClient(() => ({}), { keys, rate: { start: 1, max: 1, concurrency: 1 } }, clock)
    const reads = [client.readCap(TEAM), client.readCap(userScope('a@x.y'))]
    env.KEY = 'new-key'
    await Promise.all(reads)
    expect(sent.map((one) => one.body['service_key'])).toEqual(['old-key', 'new-key'])
  })

  it('cannot be a write from a reading client', () => {
    const { reader } = testClient(() => ({}))
    expect(reader).not.toHaveProperty('writeCap')
    // @ts-expect-error: the type has no writing method either.
    expect(reader.writeCap).toBeUndefined()
  })
})

describe('a balance', () => {
  it('is unavailable on a plan without the feature, and cap reads with the same permission go on', async () => {
    const { client, sent } = testClient(({ operation }) =>
      operation === 'GetTeamCreditBalance' ? failing(403, 'enterprise plan needed') : ok({ addOnCreditCap: 1 }),
    )
    for (let turn = 0; turn < 5; turn += 1) expect(await client.readBalance()).toBe('unavailable')
    expect((await client.readCap(TEAM)).observed).toBe(1)
    expect(sent).toHaveLength(6)
  })

  it('that fails otherwise rejects', async () => {
    const { client } = testClient(() => failing(400, 'nonsense'))
    expect(await rejection(client.readBalance())).toMatchObject({ name: 'ApiError', kind: 'invalid' })
  })
})

describe('a read that fails', () => {
  it.each([
    ['5xx', failing(503), 'server'],
    ['a time-out', LATE, 'timeout'],
    ['a broken connection', RESET, 'network'],
    ['half an answer', { body: '{"addOnCredit' }, 'malformed'],
    ['zero bytes', { body: '' }, 'malformed'],
    ['a page', { body: '<html></html>' }, 'malformed'],
  ])('with %s is tried four times in all, then unknown', async (_name, answer, kind) => {
    const { client, sent, events } = testClient(() => answer)
    expect(await client.readCap(TEAM)).toMatchObject({
      observed: 'unknown',
      failure: { kind, message: expect.stringMatching(/^GetUsageConfig: /) },
    })
    expect(sent).toHaveLength(4)
    expect(events.map((event) => event.outcome)).toEqual([kind, kind, kind, kind])
  })

  it.each([
    ['400', failing(400, 'one scope please'), 'invalid'],
    ['404 about the person', failing(404, 'user not found'), 'not_found'],
    ['403', failing(403, 'no'), 'auth'],
  ])('with %s is not tried again', async (_name, answer, kind) => {
    const { client, sent } = testClient(() => answer)
    expect((await client.readCap(userScope('ada@example.com'))).failure?.kind).toBe(kind)
    expect(sent).toHaveLength(1)
  })

  it('waits longer before each further attempt, and as long as the service asks', async () => {
    const { client, sent } = testClient(
      inOrder(failing(503), failing(503), failing(503, 'x', { 'retry-after': '20' }), ok({ addOnCreditCap: 3 })),
    )
    expect((await client.readCap(TEAM)).observed).toBe(3)
    const gaps = sent.slice(1).map((one, index) => one.at - (sent[index]?.at ?? 0) - 20)
    expect(gaps).toEqual([375, 750, 20_000])
  })

  it('is not tried again when the service asks for a longer wait than the timeout', async () => {
    const { client, sent } = testClient(() => failing(503, 'x', { 'retry-after': '31' }))
    expect((await client.readCap(TEAM)).failure?.kind).toBe('server')
    expect(sent).toHaveLength(1)
  })

  it.each([
    ['a page', '<html></html>'],
    ['nothing', ''],
    ['words of a proxy', 'default backend - 404'],
  ])('with 404 and %s is tried again, and counted by its status', async (_name, body) => {
    const { client, events } = testClient(inOrder({ status: 404, body }, ok({ addOnCreditCap: 3 })))
    expect((await client.readCap(userScope('ada@example.com'))).observed).toBe(3)
    expect(events.map((event) => event.outcome)).toEqual(['not_found', 'ok'])
  })

  it('of a group that the service does not know rejects with not_found', async () => {
    const { client } = testClient(() => failing(403, 'invalid group name: Platform'))
    expect(await rejection(client.readGroup({ id: 'g', name: 'Platform' }))).toMatchObject({ name: 'ApiError', kind: 'not_found' })
  })
})

describe('a write', () => {
  it.each([
    ['a time-out', LATE],
    ['a broken connection', RESET],
  ])('answered by %s is sent once, and may have landed', async (_name, answer) => {
    const { client, sent } = testClient(() => answer)
    expect((await client.writeCap(userScope('ada@example.com'), credits(5))).kind).toBe('ambiguous')
    expect(sent).toHaveLength(1)
  })

  it('refused for the rate is sent again, because it had no effect', async () => {
    const { client, sent } = testClient(inOrder(failing(429), failing(429), { body: '' }))
    expect(await client.writeCap(TEAM, credits(5))).toEqual({ kind: 'accepted' })
    expect(sent).toHaveLength(3)
  })

  it('that was never sent is refused, not ambiguous', async () => {
    const { client, sent } = testClient(() => failing(500))
    for (let turn = 0; turn < 10; turn += 1) await client.writeCap(TEAM, credits(5))
    expect(await client.writeCap(TEAM, credits(5))).toMatchObject({ kind: 'refused', failure: { kind: 'server' } })
    expect(sent).toHaveLength(10)
  })
})

describe('the pace', () => {
  it('never exceeds the rate, nor the bound on requests under way', async () => {
    let underWay = 0
    let most = 0
    const clock = hastyClock()
    const transport = {
      async send() {
        underWay += 1
        most = Math.max(most, underWay)
        await clock.sleep(1_000)
        underWay -= 1
        return { status: 200, headers: {}, body: '{}' }
      },
    }
    const { client } = testClient(() => ({}), { transport, rate: { start: 10, max: 10, concurrency: 4 } }, clock)
    await Promise.all(people(40).map((scope) => client.readCap(scope)))
    expect(most).toBe(4)
    expect(clock.monotonic()).toBeGreaterThanOrEqual(10_000)
  })

  it('does not count refusals for the rate as failures', async () => {
    const { client, sent, events } = testClient((_one, count) => (count <= 30 ? failing(429) : ok({ addOnCreditCap: 2 })), {
      rate: { start: 5, max: 10, concurrency: 8 },
    })
    expect((await client.readCap(TEAM)).observed).toBe(2)
    expect(sent).toHaveLength(31)
    expect(events.filter((event) => event.outcome === 'rate_limited')).toHaveLength(30)
  })

  it('gives up with rate_limited after a hundred refusals of one request', async () => {
    const { client, sent } = testClient(() => failing(429, 'x', { 'retry-after': '1' }))
    expect((await client.readCap(TEAM)).failure?.kind).toBe('rate_limited')
    expect(sent.length).toBeLessThanOrEqual(101)
  })

  it('is learned once for two permissions with one key, and reported under both names', async () => {
    const { client, learned } = testClient(inOrder(failing(429), {}, {}), { rate: { start: 5, max: 10, concurrency: 8 } })
    await client.readCap(TEAM)
    await client.writeCap(TEAM, 'none')
    expect(learned.length).toBeGreaterThan(0)
    expect(new Set(learned.map(([name]) => name))).toEqual(new Set(['default']))
    expect(learned.at(-1)?.[1]).toMatchObject({ limited: true })
    expect(client.ratePerSecond('default')).toBeLessThanOrEqual(5)
    expect(client.ratePerSecond('billingWrite')).toBeUndefined()
  })

  it('starts at the pace of earlier runs', async () => {
    const { client } = testClient(() => ({}), {
      rate: { start: 5, max: 10, concurrency: 8 },
      learned: { default: { rate: 2.5, limited: true } },
    })
    await client.readCap(TEAM)
    expect(client.ratePerSecond('default')).toBe(2.5)
  })

  it('of a changed key continues at that of its predecessor', async () => {
    const clock = hastyClock()
    const env = { KEY: 'old-key' }
    const keys = keyRing(env)
    // Removed before the change, so that only the predecessor's pace is known.
    const learned: Record<string, unknown> = { default: { rate: 2.5, limited: true } }
    const { client, sent } = testClient(() => ({}), { keys, learned, rate: { start: 5, max: 10, concurrency: 8 } }, clock)
    await client.readCap(TEAM)
    delete learned['default']
    env.KEY = 'new-key'
    await client.readCap(TEAM)
    expect(sent.map((one) => one.body['service_key'])).toEqual(['old-key', 'new-key'])
    expect(client.ratePerSecond('default')).toBe(2.5)
  })

  it('continues at once when a probe is answered, without waiting out the probe’s interval', async () => {
    const { client, sent } = testClient(inOrder(failing(429), {}), { rate: { start: 5, max: 10, concurrency: 8 } })
    await Promise.all([client.readCap(TEAM), client.readCap(userScope('next@example.com'))])
    await Promise.all(people(3).map((scope) => client.readCap(scope)))
    expect(sent.at(-1)?.at).toBeLessThan(20_000)
  })
})

it('the order of requests is a write, then an urgent reading, then a sweep, then measurements', async () => {
  const { client, sent } = testClient(({ operation }) => (operation === 'UserPageAnalytics' ? ok({ userTableStats: [] }) : {}), {
    rate: { start: 5, max: 5, concurrency: 1 },
  })
  const urgentScope = userScope('urgent@example.com')
  await Promise.all([
    client.readCap(TEAM),
    client.readRoster(),
    client.readCap(userScope('sweep@example.com')),
    client.readCap(urgentScope, undefined, 'urgent'),
    client.writeCap(TEAM, credits(1)),
  ])
  const order = sent.map((one) => one.body['user_email'] ?? one.operation)
  expect(order).toEqual(['GetUsageConfig', 'urgent@example.com', 'UsageConfig', 'sweep@example.com', 'UserPageAnalytics'])
})

describe('aborting', () => {
  const stuck: Script = () => new Promise(() => undefined)

  it('ends waiting and reading at once', async () => {
    const stop = new AbortController()
    const { client, sent } = testClient(() => ({}), { rate: { start: 1, max: 1, concurrency: 8 }, signal: stop.signal })
    const transportWaits = testClient(stuck, { signal: stop.signal })
    const reads = [...people(5).map((scope) => rejection(client.readCap(scope))), rejection(transportWaits.client.readCap(TEAM))]
    stop.abort(new Error('stopping'))
    for (const reason of await Promise.all(reads)) expect(reason).toMatchObject({ message: 'stopping' })
    expect(sent.length).toBeLessThanOrEqual(1)
    expect(await rejection(client.readCap(TEAM))).toMatchObject({ message: 'stopping' })
  })

  it('everything does not end a write under way; its own signal does', async () => {
    const stop = new AbortController()
    const cut = new AbortController()
    const answer = Promise.withResolvers<{ body: string }>()
    const { client, sent } = testClient(() => answer.promise, { signal: stop.signal })
    const write = client.writeCap(TEAM, credits(1), cut.signal)
    while (sent.length === 0) await Promise.resolve()
    stop.abort(new Error('stopping'))
    answer.resolve({ body: '{}' })
    expect(await write).toEqual({ kind: 'accepted' })

    const second = testClient(() => ({}), {})
    const other = second.client.writeCap(TEAM, credits(1), cut.signal)
    cut.abort(new Error('eight seconds are over'))
    expect(await rejection(other)).toMatchObject({ message: 'eight seconds are over' })
  })

  it('one reading does not affect the others or their turn', async () => {
    const one = new AbortController()
    const { client } = testClient(() => ({}), { rate: { start: 1, max: 1, concurrency: 1 } })
    const first = client.readCap(TEAM)
    const aborted = rejection(client.readCap(userScope('a@x.y'), one.signal))
    const last = client.readCap(userScope('b@x.y'))
    one.abort(new Error('not needed'))
    expect(await aborted).toMatchObject({ message: 'not needed' })
    expect([(await first).observed, (await last).observed]).toEqual(['none', 'none'])
  })
})
