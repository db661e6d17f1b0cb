// Faults: each kind over loopback HTTP and in process, whether the request took effect, and that the seed decides.
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'
import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'

type Faults = NonNullable<NonNullable<Parameters<typeof startSandbox>[0]>['faults']>
type FaultName = keyof Faults

const write = { service_key: 'sandbox-admin', team_level: true, set_add_on_credit_cap: 5 }
const read = { service_key: 'sandbox-admin', team_level: true }

const post = (fixture: SandboxFixture, operation: string, body: object, signal?: AbortSignal) =>
  fetch(`${fixture.url}/api/v1/${operation}`, { method: 'POST', body: JSON.stringify(body), ...(signal ? { signal } : {}) })

async function always(name: FaultName, clock = fakeClock()) {
  const fixture = await startSandbox({ faults: { [name]: 1 }, clock })
  onTestFinished(() => fixture.close())
  return fixture
}

describe('a fault', () => {
  test.each([
    ['reset-before', undefined],
    ['reset-after', 5],
  ] as const)('%s breaks the connection, and leaves the cap %s', async (name, cap) => {
    const fixture = await always(name)
    await expect(post(fixture, 'UsageConfig', write)).rejects.toThrow()
    expect(fixture.capOf('team')).toBe(cap)
    fixture.setCap('team', undefined)
    expect(await fixture.transport.send('UsageConfig', write, { timeoutMs: 100 })).toMatchObject({ kind: 'network' })
    expect(fixture.capOf('team')).toBe(cap)
  })

  test('5xx answers a server error in the configured style, without effect', async () => {
    const fixture = await always('5xx')
    const statuses = new Set<number>()
    for (let turn = 0; turn < 30; turn += 1) {
      const answer = await post(fixture, 'UsageConfig', write)
      statuses.add(answer.status)
      expect(await answer.json()).toEqual({ error: expect.any(String) })
    }
    expect([...statuses].sort()).toEqual([500, 502, 503])
    expect(fixture.capOf('team')).toBeUndefined()
  })

  test('timeout gives no answer until the client gives up, without effect; closing the server ends it', async () => {
    const fixture = await startSandbox({ faults: { timeout: 1 }, clock: fakeClock() })
    const gaveUp = new AbortController()
    const asked = post(fixture, 'UsageConfig', write, gaveUp.signal).catch(() => 'gave up')
    while (fixture.calls.count() === 0) await new Promise((resolve) => setImmediate(resolve))
    gaveUp.abort()
    expect(await asked).toBe('gave up')
    const clock = fakeClock()
    const inside = await always('timeout', clock)
    const sent = inside.transport.send('UsageConfig', write, { timeoutMs: 30_000 })
    await clock.advance(30_000)
    expect(await sent).toMatchObject({ kind: 'timeout' })
    const left = post(fixture, 'UsageConfig', write).catch(() => 'ended')
    while (fixture.calls.count() === 1) await new Promise((resolve) => setImmediate(resolve))
    await fixture.close()
    expect(await left).toBe('ended')
  })

  test('truncated cuts the answer in two, after its effect', async () => {
    const fixture = await always('truncated')
    const answer = await post(fixture, 'GetTeamCreditBalance', read)
    const text = await answer.text()
    expect(answer.status).toBe(200)
    expect(() => JSON.parse(text)).toThrow()
    expect(await (await post(fixture, 'UsageConfig', write)).text()).toBe('{')
    expect(fixture.capOf('team')).toBe(5)
  })

  test('html answers a page with 200 or 503, without effect', async () => {
    const fixture = await always('html')
    const statuses = new Set<number>()
    for (let turn = 0; turn < 20; turn += 1) {
      const answer = await post(fixture, 'UsageConfig', write)
      statuses.add(answer.status)
      expect(answer.headers.get('content-type')).toContain('text/html')
      expect(await answer.text()).toMatch(/^<!DOCTYPE html>/)
    }
    expect([...statuses].sort()).toEqual([200, 503])
    expect(fixture.capOf('team')).toBeUndefined()
  })

  test('stale-read answers the cap before the last write', async () => {
    const fixture = await always('stale-read')
    const readCap = async () => (await post(fixture, 'GetUsageConfig', read)).json()
    expect(await readCap()).toEqual({})
    await post(fixture, 'UsageConfig', write)
    expect(await readCap()).toEqual({})
    await post(fixture, 'UsageConfig', { ...write, set_add_on_credit_cap: 6 })
    expect(await readCap()).toEqual({ addOnCreditCap: 5 })
  })

  test('short-roster leaves out half of the people', async () => {
    const fixture = await always('short-roster')
    const body = await (await post(fixture, 'UserPageAnalytics', read)).json()
    expect(body).toMatchObject({ userTableStats: { length: 10 } })
  })
})

describe('chance', () => {
  const drawMany = (seed: number, faults: Faults, name: FaultName) => {
    const drawn: boolean[] = []
    const sandbox = createSandbox({
      ...{ clock: fakeClock(), company: { people: 1, groups: 1, days: 0, seed }, switches: { faults } },
      onCall: (call) => void drawn.push(call.faults.includes(name)),
    })
    for (let turn = 0; turn < 2000; turn += 1) sandbox.exchange('GetTeamCreditBalance', '{}')
    sandbox.close()
    return drawn
  }
  const half = { timeout: 0.5, 'reset-before': 0.5, '5xx': 0.5, html: 0.5, 'reset-after': 0.5, truncated: 0.5 }

  test('is the same under the same seed, and another under another', () => {
    expect(drawMany(3, half, '5xx')).toEqual(drawMany(3, half, '5xx'))
    expect(drawMany(3, half, '5xx')).not.toEqual(drawMany(4, half, '5xx'))
  })

  test('of one fault does not depend on the others', () => {
    expect(drawMany(3, { timeout: 0.5 }, 'timeout')).toEqual(drawMany(3, half, 'timeout'))
  })

  test('has its probability', () => {
    const share = drawMany(1, { html: 0.1 }, 'html').filter(Boolean).length / 2000
    expect(share).toBeGreaterThan(0.07)
    expect(share).toBeLessThan(0.13)
    expect(drawMany(1, {}, 'html')).not.toContain(true)
    expect(drawMany(1, { html: 1 }, 'html')).not.toContain(false)
  })
})
