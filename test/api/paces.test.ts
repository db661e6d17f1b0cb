// The pace belongs to a key and outlives the clients: reloads, changed keys and changed limits never let a request leave too early.
import { describe, expect, it } from 'vitest'
import { TEAM } from '../../src/core/model/scope.ts'
import { failing, inOrder, people } from './answers.ts'
import { hastyClock, keyRing, scripted, type TestClient, testClient } from './world.ts'

const RATE = { start: 5, max: 5, concurrency: 8 }
const GAP_MS = 1_000 / RATE.max

/** Clients one after the other, as reloads make them, over one transport. */
function house(...answers: Parameters<typeof inOrder>) {
  const clock = hastyClock()
  const transport = scripted(clock, inOrder(...answers))
  const { paces } = testClient(() => ({}))
  const open = (overrides: Parameters<typeof testClient>[1] = {}): TestClient =>
    // A new ring each time, as after a reload.
    testClient(() => ({}), { transport, paces, keys: keyRing(), rate: RATE, ...overrides }, clock)
  const gaps = (): number[] => transport.sent.slice(1).map(({ at }, index) => at - (transport.sent[index]?.at ?? 0))
  return { clock, open, gaps, sent: transport.sent }
}

describe('the pace of a key', () => {
  it('continues after a reload from the last request', async () => {
    const { open, gaps } = house({})
    await open().client.readCap(TEAM)
    await open().client.readCap(TEAM)
    expect(gaps()).toEqual([GAP_MS])
  })

  it('keeps its learned rate over a reload', async () => {
    const { open } = house({}, failing(429), {})
    const first = open({ rate: { ...RATE, max: 20 } })
    await Promise.all(people(3).map((scope) => first.client.readCap(scope)))
    const rate = first.client.ratePerSecond('default')
    const second = open({ rate: { ...RATE, max: 20 } })
    expect(second.client.ratePerSecond('default')).toBe(rate)
  })

  it('waits until the end of a block that began before the reload', async () => {
    const { clock, open, sent } = house(failing(429, 'x', { 'retry-after': '30' }), {})
    const stop = new AbortController()
    const before = open({ signal: stop.signal }).client.readCap(TEAM)
    // Until the refusal has come.
    await clock.sleep(40)
    stop.abort(new Error('stopped'))
    await before.catch(() => undefined)
    await open().client.readCap(TEAM)
    expect((sent[1]?.at ?? 0) - (sent[0]?.at ?? 0)).toBeGreaterThanOrEqual(30_000)
  })

  it('keeps to a lower limit from the first request after the reload', async () => {
    const { open, gaps } = house({})
    await open().client.readCap(TEAM)
    const slow = open({ rate: { ...RATE, max: 1 } }).client
    await Promise.all(people(2).map((scope) => slow.readCap(scope)))
    expect(gaps()).toEqual([1_000, 1_000])
  })

  it('is shared by two names of one key', async () => {
    const { open, gaps } = house({})
    const env = { A: 'one-key-0123456789', B: 'one-key-0123456789' }
    const keys = keyRing(env, { default: { env: 'A' }, billingWrite: { env: 'B' } })
    const { client } = open({ keys })
    await Promise.all([client.readCap(TEAM), client.writeCap(TEAM, 'none')])
    expect(gaps()).toEqual([GAP_MS])
  })

  it('keeps the gap when the key changes, even while requests wait', async () => {
    const { open, gaps, sent } = house({})
    const env = { KEY: 'old-key-0123456789' }
    const { client } = open({ keys: keyRing(env) })
    const waiting = people(5).map((scope) => client.readCap(scope))
    await waiting[0]
    env.KEY = 'new-key-0123456789'
    const later = people(5).map((scope) => client.readCap(scope))
    await Promise.all([...waiting, ...later])
    expect(new Set(sent.map(({ body }) => body['service_key'])).size).toBe(2)
    expect(Math.min(...gaps())).toBeGreaterThanOrEqual(GAP_MS - 20)
    expect((sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0)).toBeGreaterThanOrEqual(9 * GAP_MS - 20)
  })
})
