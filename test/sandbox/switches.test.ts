// How the flags are read, as the page of the running sandbox and its refusals tell, and the switches that need a clock. The effect of the others
// on answers is in test/scenes/service-switches.txt, and more refusals in sandbox-refused.txt there.
import { expect, onTestFinished, test } from 'vitest'
import { fakeClock } from '../support/clock.ts'
import { inside, serving } from '../support/inside.ts'
import { startSandbox } from '../support/sandbox.ts'

const SMALL = ['sandbox', '--port', '0', '--days', '0']

test.each([
  ['', 'all as by default'],
  ['--rate-limit 10/s', '--rate-limit {"limit":10,"windowMs":1000}'],
  ['--rate-limit 600/m', '--rate-limit {"limit":600,"windowMs":60000}'],
  ['--latency 20 --jitter 5', '--latency 20, --jitter 5'],
  ['--faults 5xx=0.1,reset-after=1', '--faults {"5xx":0.1,"reset-after":1}'],
  ['--faults timeout=.5,html=0', '--faults {"timeout":0.5,"html":0}'],
  ['--analytics-delay 3h', '--analytics-delay 10800000'],
])('the flags %j are read, and those that differ from the defaults are told', async (flags, told) => {
  const { url, end } = await serving([...SMALL, '--people', '5', ...flags.split(' ').filter(Boolean)], /(http:\/\/[\w.:]+)/)
  const page = await (await fetch(url)).text()
  expect(page.replaceAll('&quot;', '"')).toContain(`<p>Switches: ${told}</p>`)
  expect(page).toContain('5 invented people in 8 groups')
  await end()
})

test.each([
  ...['10', '-1/s', '1.5/s', '10/d', ' '].map((text) => ['--rate-limit', text] as const),
  ...['5xx', '5xx=-0.1', 'fire=0.1', '5xx=0.1;html=0.1', 'constructor=1'].map((text) => ['--faults', text] as const),
  ...['3', 'soon', '3 h', '-3h'].map((text) => ['--analytics-delay', text] as const),
  ...['20ms', '1e3', '-1', '999999999'].map((text) => ['--latency', text] as const),
  ...[['--groups', '-1'] as const, ['--days', '1.5'] as const, ['--seed', '99999999999'] as const],
])('%s %s is refused', async (flag, text) => {
  const { code, stderr } = await inside([...SMALL, `${flag}=${text}`])
  expect([code, stderr]).toEqual([64, expect.stringMatching(/: (not a value of this switch; write|must be a whole number from) /)])
})

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
