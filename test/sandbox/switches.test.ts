// The switches that need a clock; the effect of the others on answers is in test/scenes/service-switches.txt, and how their texts are read and refused
// in service-switches.txt and sandbox-refused.txt there.
import { expect, onTestFinished, test } from 'vitest'
import { parseSettings, parseSwitches } from '../../src/sandbox/switches.ts'
import { fakeClock } from '../support/clock.ts'
import { startSandbox } from '../support/sandbox.ts'

const DEFAULTS = parseSwitches({})

test('texts that no scene gives are read, and the defaults are complete', () => {
  if (DEFAULTS.kind !== 'switches') throw new Error('the defaults are wrong')
  const { switches } = DEFAULTS
  expect(switches).toMatchObject({ capSemantics: 'layered', rateLimit: 'off', latency: 0, faults: {}, analyticsDelay: 0 })
  expect(Object.values(switches)).not.toContain(undefined)
  for (const [texts, expected] of [
    [{ rateLimit: '10/s' }, { rateLimit: { limit: 10, windowMs: 1000 } }],
    [{ rateLimit: '600/m' }, { rateLimit: { limit: 600, windowMs: 60_000 } }],
    [
      { latency: '20', jitter: '5' },
      { latency: 20, jitter: 5 },
    ],
    [{ faults: '5xx=0.1,reset-after=1' }, { faults: { '5xx': 0.1, 'reset-after': 1 } }],
    [{ faults: ['timeout=.5', 'html=0'] }, { faults: { timeout: 0.5, html: 0 } }],
    [{ analyticsDelay: '3h' }, { analyticsDelay: 10_800_000 }],
  ] as const)
    expect(parseSwitches(texts)).toEqual({ kind: 'switches', switches: { ...switches, ...expected } })
  expect(parseSettings({})).toMatchObject({ settings: { people: 200, groups: 8, days: 90, seed: 1, speed: 1 } })
  expect(parseSettings({ people: '5', speed: '3600' })).toMatchObject({ settings: { people: 5, speed: 3600 } })
})

test.each([
  ...['10', '-1/s', '1.5/s', '10/d', ''].map((rateLimit) => ({ rateLimit })),
  ...['5xx', '5xx=-0.1', 'fire=0.1', '5xx=0.1;html=0.1', 'constructor=1'].map((faults) => ({ faults })),
  ...['3', 'soon', '3 h', '-3h'].map((analyticsDelay) => ({ analyticsDelay })),
  ...['20ms', '1e3', '-1', '999999999'].map((latency) => ({ latency })),
])('%j is refused', (texts) => expect(parseSwitches(texts)).toMatchObject({ kind: 'problems', problems: { length: 1 } }))

test.each([{ groups: '-1' }, { days: '1.5' }, { seed: '99999999999' }])('the setting %j is refused', (texts) =>
  expect(parseSettings(texts)).toMatchObject({ kind: 'problems', problems: { length: 1 } }),
)

async function transportOf(switches: Parameters<typeof startSandbox>[0]) {
  const { close, transport } = await startSandbox(switches)
  onTestFinished(close)
  return transport
}

test('with a rate limit refuses beyond it, per key, until the window is over; unknown keys do not count', async () => {
  const clock = fakeClock()
  const transport = await transportOf({ clock, rateLimit: { limit: 2, windowMs: 60_000 }, retryAfter: 'seconds' })
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

test('with latency answers after it, and with jitter no earlier and not much later', async () => {
  const clock = fakeClock()
  const transport = await transportOf({ clock, latency: 100, jitter: 50 })
  const started = clock.monotonic()
  const asked = transport.send('GetTeamCreditBalance', { service_key: 'sandbox-admin' }, { timeoutMs: 1000 })
  await clock.advance(99)
  expect(clock.sleeping()).toBe(1)
  await clock.advance(51)
  expect(await asked).toMatchObject({ status: 200 })
  expect(clock.monotonic() - started).toBe(150)
})
