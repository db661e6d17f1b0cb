// Each switch of docs/sandbox.md, Behaviour: how its text is read, and its effect on answers.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Operation } from '../../src/core/model/observed.ts'

import { DEFAULT_SWITCHES, parseSettings, parseSwitches, SETTINGS, SWITCHES, type Switches } from '../../src/sandbox/switches.ts'
import { fakeClock } from '../support/clock.ts'
import { startSandbox } from '../support/sandbox.ts'

type SwitchTexts = Parameters<typeof parseSwitches>[0]

const ADA = 'ada.lovelace@example.com'

describe('the table of switches', () => {
  test('gives the defaults when no switch is given', () => {
    expect(parseSwitches({})).toEqual({ kind: 'switches', switches: DEFAULT_SWITCHES })
    expect(DEFAULT_SWITCHES).toMatchObject({ capSemantics: 'layered', rateLimit: 'off', latency: 0, faults: {}, analyticsDelay: 0 })
    expect(Object.values(DEFAULT_SWITCHES)).not.toContain(undefined)
  })

  test('names every flag of the notes', () => {
    expect(Object.values(SWITCHES).map((spec) => spec.flag)).toEqual([
      ...['--cap-semantics', '--cap-reads', '--zero-cap', '--cap-spelling', '--write-body', '--names', '--int64', '--zeros', '--errors'],
      ...['--rate-limit', '--retry-after', '--latency', '--jitter', '--faults', '--plan', '--add-on-rows', '--runs-filter', '--runs-order'],
      '--analytics-delay',
    ])
  })

  const good: readonly (readonly [SwitchTexts, Partial<Switches>])[] = [
    [{ capSemantics: 'fan-out' }, { capSemantics: 'fan-out' }],
    [{ rateLimit: '10/s' }, { rateLimit: { limit: 10, windowMs: 1000 } }],
    [{ rateLimit: '600/m' }, { rateLimit: { limit: 600, windowMs: 60_000 } }],
    [{ rateLimit: '10/h' }, { rateLimit: { limit: 10, windowMs: 3_600_000 } }],
    [
      { latency: '20', jitter: '5' },
      { latency: 20, jitter: 5 },
    ],
    [{ faults: '5xx=0.1,reset-after=1' }, { faults: { '5xx': 0.1, 'reset-after': 1 } }],
    [{ faults: ['timeout=.5', 'html=0'] }, { faults: { timeout: 0.5, html: 0 } }],
    [{ analyticsDelay: '3h' }, { analyticsDelay: 10_800_000 }],
  ]
  test.each(good)('reads %j', (texts, expected) => {
    expect(parseSwitches(texts)).toEqual({ kind: 'switches', switches: { ...DEFAULT_SWITCHES, ...expected } })
  })

  const bad: readonly SwitchTexts[] = [
    ...['10', '0/s', '-1/s', '1.5/s', '10/d', 'often', ''].map((rateLimit) => ({ rateLimit })),
    ...['5xx', '5xx=2', '5xx=-0.1', 'fire=0.1', '5xx=0.1;html=0.1', 'constructor=1'].map((faults) => ({ faults })),
    ...['3', 'soon', '3 h', '-3h'].map((analyticsDelay) => ({ analyticsDelay })),
    ...['20ms', '1e3', '-1', '999999999'].map((latency) => ({ latency })),
    { capSemantics: 'copied' },
    { addOnRows: 'yes' },
    { errors: 'ERROR' },
  ]
  test.each(bad)('refuses %j in one line that names the flag and the valid values', (texts) => {
    const result = parseSwitches(texts)
    const name = Object.keys(texts)[0] as keyof Switches
    expect(result).toMatchObject({ kind: 'problems', problems: [expect.stringContaining(`${SWITCHES[name].flag} `)] })
    if (result.kind === 'problems') expect(result.problems[0]).toContain(SWITCHES[name].values)
  })

  test('reports every problem at once', () => {
    expect(parseSwitches({ errors: 'x', plan: 'y', latency: 'z' })).toMatchObject({ problems: { length: 3 } })
  })
})

describe('the settings of the company', () => {
  test('have defaults and read whole numbers', () => {
    expect(parseSettings({})).toMatchObject({ settings: { people: 200, groups: 8, days: 90, seed: 1, speed: 1 } })
    expect(parseSettings({ people: '5', speed: '3600' })).toMatchObject({ settings: { people: 5, speed: 3600 } })
    expect(parseSettings(Object.fromEntries(SETTINGS.map((one) => [one.name, one.default])))).toEqual(parseSettings({}))
  })

  test.each([{ people: '0' }, { people: 'many' }, { groups: '-1' }, { days: '1.5' }, { speed: '0' }, { seed: '99999999999' }])(
    'refuse %j',
    (texts) => {
      expect(parseSettings(texts)).toMatchObject({
        kind: 'problems',
        problems: [expect.stringMatching(/^--\w+ .*: must be a whole number from/)],
      })
    },
  )
})

/** A sandbox until the test ends, and requests to it over HTTP. */
async function asking(switches: Parameters<typeof startSandbox>[0]) {
  const fixture = await startSandbox({ clock: fakeClock(), days: 10, ...switches })
  onTestFinished(() => fixture.close())
  const ask = async (operation: Operation, body: object = {}, key = 'sandbox-admin') => {
    const init = { method: 'POST', body: JSON.stringify({ service_key: key, ...body }), headers: { 'content-type': 'application/json' } }
    const answer = await fetch(`${fixture.url}/api/v1/${operation}`, init)
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  const jsonOf = async (...asked: Parameters<typeof ask>) => JSON.parse((await ask(...asked)).text)
  return { ...fixture, ask, jsonOf }
}

describe('a sandbox', () => {
  test('with fan-out copies a group write to its members, and a clear too; layered does not', async () => {
    for (const capSemantics of ['layered', 'fan-out'] as const) {
      const { ask, capOf, setCap } = await asking({ capSemantics })
      setCap(ADA, 9)
      setCap('edsger.dijkstra@example.com', 9)
      await ask('UsageConfig', { group_id: 'grp_platform', set_add_on_credit_cap: 5 })
      expect([capOf('group:grp_platform'), capOf(ADA), capOf('edsger.dijkstra@example.com')]).toEqual([
        5,
        capSemantics === 'layered' ? 9 : 5,
        9,
      ])
      await ask('UsageConfig', { team_level: true, clear_add_on_credit_cap: true })
      expect(capOf(ADA)).toBe(capSemantics === 'layered' ? 9 : undefined)
      expect(capOf('group:grp_platform')).toBe(5)
    }
  })

  test('with inherited reads shows the cap that applies: user, else the lowest group, else team', async () => {
    const { jsonOf, setCap } = await asking({ capReads: 'inherited' })
    const read = async (scope: object) => (await jsonOf('GetUsageConfig', scope)).addOnCreditCap
    const barbara = { user_email: 'barbara.liskov@example.com' }
    setCap('team', 500)
    expect([await read(barbara), await read({ group_id: 'grp_data' }), await read({ team_level: true })]).toEqual([500, 500, 500])
    setCap('group:grp_platform', 1500)
    setCap('group:grp_data', 800)
    expect(await read(barbara)).toBe(800)
    setCap('barbara.liskov@example.com', 4000)
    expect(await read(barbara)).toBe(4000)
  })

  test.each([
    ['stored', 200, { addOnCreditCap: 0 }],
    ['omitted', 200, {}],
    ['rejected', 400, { addOnCreditCap: 7 }],
  ] as const)('with zero caps %s answers a write of 0 with %i and a read with %j', async (zeroCap, status, read) => {
    const { ask, jsonOf, setCap } = await asking({ zeroCap })
    setCap('team', 7)
    expect((await ask('UsageConfig', { team_level: true, set_add_on_credit_cap: 0 })).status).toBe(status)
    expect(await jsonOf('GetUsageConfig', { team_level: true })).toEqual(read)
  })

  test.each([
    ['camel', { addOnCreditCap: 5 }],
    ['snake', { add_on_credit_cap: 5 }],
    ['both', { addOnCreditCap: 5, add_on_credit_cap: 5 }],
  ] as const)('with %s spelling answers %j', async (capSpelling, body) => {
    const { jsonOf, setCap } = await asking({ capSpelling })
    setCap('team', 5)
    expect(await jsonOf('GetUsageConfig', { team_level: true })).toEqual(body)
  })

  test.each([
    ['object', '{}'],
    ['empty', ''],
  ] as const)('with write body %s answers a write with "%s"', async (writeBody, text) => {
    const { ask } = await asking({ writeBody })
    expect(await ask('UsageConfig', { team_level: true, set_add_on_credit_cap: 5 })).toMatchObject({ status: 200, text })
  })

  test('with live names says disableCodeium', async () => {
    for (const names of ['spec', 'live'] as const) {
      const { jsonOf, sandbox } = await asking({ names })
      const ada = sandbox.store.person(ADA)
      if (ada) sandbox.store.savePerson({ ...ada, disabled: true })
      const [first] = (await jsonOf('UserPageAnalytics')).userTableStats
      expect(first[names === 'live' ? 'disableCodeium' : 'disableService']).toBe(true)
      expect(Object.keys(first).filter((name) => name.startsWith('disable'))).toHaveLength(1)
    }
  })

  test('with 64-bit texts writes credits used and the balance as texts, caps and days as numbers', async () => {
    const { ask, jsonOf, setCap } = await asking({ int64: 'string' })
    setCap('team', 5)
    const [first] = (await jsonOf('UserPageAnalytics')).userTableStats
    expect([typeof first.promptCreditsUsed, typeof first.activeDays]).toEqual(['string', 'number'])
    const { billingCycleStart, billingCycleEnd, ...figures } = await jsonOf('GetTeamCreditBalance')
    expect(Object.values(figures).map((value) => typeof value)).toEqual(['string', 'string', 'string', 'string'])
    expect((await ask('GetUsageConfig', { team_level: true })).text).toBe('{"addOnCreditCap":5}')
  })

  test('with zeros omitted leaves out zero figures and empty lists', async () => {
    const { jsonOf, sandbox } = await asking({ zeros: 'omitted', int64: 'string' })
    const ada = sandbox.store.person(ADA)
    sandbox.store.saveGroup({ id: 'grp_empty', name: 'Empty' })
    const rows: readonly Record<string, unknown>[] = (await jsonOf('UserPageAnalytics')).userTableStats
    expect(rows.some((row) => row['promptCreditsUsed'] === '0' || row['activeDays'] === 0)).toBe(false)
    expect(rows.some((row) => !('promptCreditsUsed' in row))).toBe(true)
    expect(Object.keys(await jsonOf('UserPageAnalytics', { group_name: 'Empty' }))).toEqual(['billingCycleStart', 'billingCycleEnd'])
    expect(ada).toBeDefined()
  })

  const styles: readonly (readonly [Switches['errors'], number, string, string])[] = [
    ['error', 403, '{"error":"insufficient permissions: GetUsageConfig needs Billing Read"}', 'application/json'],
    [
      'connect',
      403,
      '{"code":"permission_denied","message":"insufficient permissions: GetUsageConfig needs Billing Read"}',
      'application/json',
    ],
    ['text', 403, 'insufficient permissions: GetUsageConfig needs Billing Read', 'text/plain'],
    ['ok', 200, '{"error":"insufficient permissions: GetUsageConfig needs Billing Read"}', 'application/json'],
  ]
  test.each(styles)('with errors as %s refuses with %i', async (errors, status, text, type) => {
    const { ask } = await asking({ errors })
    const told = await ask('GetUsageConfig', { team_level: true }, 'sandbox-analytics')
    expect(told).toMatchObject({ status, text })
    expect(told.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
  })

  const codes = [
    [401, 'unauthenticated', 'GetUsageConfig', { team_level: true }, 'nobody'],
    [400, 'invalid_argument', 'GetUsageConfig', {}, 'sandbox-admin'],
    [404, 'not_found', 'GetUsageConfig', { group_id: 'x' }, 'sandbox-admin'],
  ] as const
  test.each(codes)('in the connect style writes %i as %s', async (status, code, operation, body, key) => {
    const { ask } = await asking({ errors: 'connect' })
    const told = await ask(operation, body, key)
    expect([told.status, JSON.parse(told.text).code]).toEqual([status, code])
  })

  test('with a rate limit refuses beyond it, per key, until the window is over; unknown keys do not count', async () => {
    const clock = fakeClock()
    const { transport } = await asking({ clock, rateLimit: { limit: 2, windowMs: 60_000 }, retryAfter: 'seconds' })
    const ask = (key: string) => transport.send('GetTeamCreditBalance', { service_key: key }, { timeoutMs: 1000 })
    for (let turn = 0; turn < 5; turn += 1) expect(await ask('nobody')).toMatchObject({ status: 401 })
    expect(await ask('sandbox-admin')).toMatchObject({ status: 200 })
    await clock.advance(30_500)
    expect(await ask('sandbox-admin')).toMatchObject({ status: 200 })
    expect(await ask('sandbox-admin')).toMatchObject({
      status: 429,
      headers: { 'retry-after': '30' },
      body: '{"error":"rate limit exceeded"}',
    })
    expect(await ask('sandbox-billing-read')).toMatchObject({ status: 200 })
    await clock.advance(29_499)
    expect(await ask('sandbox-admin')).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    await clock.advance(1)
    expect(await ask('sandbox-admin')).toMatchObject({ status: 200 })
  })

  test.each(['none', 'seconds', 'date'] as const)('writes Retry-After as %s', async (retryAfter) => {
    const { ask } = await asking({ rateLimit: { limit: 1, windowMs: 3_600_000 }, retryAfter })
    await ask('GetTeamCreditBalance')
    const told = await ask('GetTeamCreditBalance')
    const expected = { none: null, seconds: '3600', date: 'Fri, 20 Nov 2026 13:00:00 GMT' }[retryAfter]
    expect([told.status, told.headers.get('retry-after')]).toEqual([429, expected])
  })

  test('with latency answers after it, and with jitter no earlier and not much later', async () => {
    const clock = fakeClock()
    const { transport } = await asking({ clock, latency: 100, jitter: 50 })
    const started = clock.monotonic()
    const asked = transport.send('GetTeamCreditBalance', { service_key: 'sandbox-admin' }, { timeoutMs: 1000 })
    await clock.advance(99)
    expect(clock.sleeping()).toBe(1)
    await clock.advance(51)
    expect(await asked).toMatchObject({ status: 200 })
    expect(clock.monotonic() - started).toBe(150)
  })

  test.each([
    ['enterprise', 200, true],
    ['team', 403, true],
    ['quota', 200, false],
    ['no-caps', 403, true],
  ] as const)('on the %s plan answers the balance with %i; credits in analytics: %s', async (plan, status, credits) => {
    const { ask, jsonOf } = await asking({ plan })
    const balance = await ask('GetTeamCreditBalance')
    expect(balance.status).toBe(status)
    if (plan === 'team') expect(balance.text).toContain('plan without the feature')
    const [first] = (await jsonOf('UserPageAnalytics')).userTableStats
    expect('promptCreditsUsed' in first).toBe(credits)
    const runs = await ask('CascadeAnalytics', { query_requests: [{ cascade_runs: {} }] })
    expect(runs.text.includes('promptsUsed')).toBe(credits)
  })

  test('with an analytics delay shows use that late, while the balance and caps are current', async () => {
    const clock = fakeClock()
    const { sandbox, jsonOf } = await asking({ clock, days: 0, working: false, analyticsDelay: 3 * 3_600_000 })
    const figures = async () => [
      (await jsonOf('UserPageAnalytics')).userTableStats[0].promptCreditsUsed,
      (await jsonOf('GetTeamCreditBalance')).addOnCreditsUsed,
    ]
    sandbox.recordUse(ADA, 70_000)
    expect(await figures()).toEqual([0, 200])
    await clock.advance(3 * 3_600_000)
    expect(await figures()).toEqual([70_000, 200])
  })
})
