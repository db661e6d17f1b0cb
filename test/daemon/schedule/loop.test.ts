// The loop of a workspace: intervals, a service that is away, and a stop at any moment, on a clock that the test moves.
import { describe, expect, test } from 'vitest'
import { HOUR } from '../../support/declare.ts'
import { onLedger } from '../../support/faults.ts'
import { capsOf, live, living, loopOver, MINUTE, outage, passUntil, SECOND } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

describe('intervals', () => {
  test('caps are read once an interval, use once an interval of its own, and nothing is written without need', async () => {
    const { one, set } = await living({ groups: { a: ['ada'] } })
    set({ caps: { team: 500, 'group:a': 900 } })
    await one.clock.pass(MINUTE)
    expect(one.caps()).toEqual({ team: 500, 'group:a': 900 })
    one.forget()
    await one.clock.pass(HOUR)
    expect(one.writes()).toEqual([])
    expect(one.count('GetUsageConfig')).toBe(12 * 2)
    expect(one.count('UserPageAnalytics')).toBe(4 * 2)
    expect(one.count('GetTeamCreditBalance')).toBe(4)
  })

  test('vary by 10 % either way', async () => {
    for (const [roll, atMs] of [
      [0, 270 * SECOND],
      [0.999999, 330 * SECOND],
    ] as const) {
      const one = await testWorld()
      one.workspace = { ...one.workspace, random: { next: () => roll } }
      const { set, stop } = live(one)
      set({ caps: { team: 500 } })
      await one.clock.pass(SECOND)
      one.forget()
      await one.clock.pass(atMs - 2 * SECOND)
      expect(one.reads()).toEqual([])
      await one.clock.pass(3 * SECOND)
      expect(one.reads()).toEqual(['team'])
      await stop()
    }
  })

  test('a sweep that is longer than its interval never overlaps with the next', async () => {
    const { one, set } = await living({ people: 100, rate: 1, config: { intervalMs: 10 * SECOND } })
    set({ caps: capsOf(100) })
    one.onCall = undefined
    await one.clock.pass(10 * MINUTE)
    const reads = one.reads()
    for (let at = 0; at + 100 < reads.length; at += 1) expect(new Set(reads.slice(at, at + 20)).size).toBeGreaterThan(8)
    expect(one.caps()).toEqual(capsOf(100))
  })
})

describe('a service that is away', () => {
  test('for ten minutes is asked no more than one pass a cycle and then in single probes, and all goes on by itself', async () => {
    const away = { is: false, attempts: 0 }
    const { one, set } = await living({ people: 300, wrapTransport: outage(away) })
    set({ caps: capsOf(300) })
    await one.clock.pass(4 * MINUTE)
    away.is = true
    await one.clock.pass(10 * MINUTE)
    expect(away.attempts).toBeGreaterThan(0)
    expect(away.attempts).toBeLessThanOrEqual(60)
    expect(one.workspace.shown.lastCycle?.result).toBe('error')
    one.foreign('p001', 9000)
    away.is = false
    await one.clock.pass(11 * MINUTE)
    expect(one.caps()).toEqual(capsOf(300))
    expect(one.workspace.shown.lastCycle?.result).toBe('noop')
  })

  test('from the very start is asked in single probes, and the first plan goes out once it is there', async () => {
    const away = { is: true, attempts: 0 }
    const { one, set } = await living({ people: 300, wrapTransport: outage(away) })
    set({ caps: capsOf(300) })
    await one.clock.pass(10 * MINUTE)
    expect(away.attempts).toBeLessThanOrEqual(60)
    expect(one.workspace.attempted).toBe(true)
    away.is = false
    await one.clock.pass(11 * MINUTE)
    expect(one.caps()).toEqual(capsOf(300))
  })

  test('for one workspace does not slow down another', async () => {
    const away = { is: true }
    const first = await living({ wrapTransport: outage(away) })
    const second = await living({ clock: first.one.clock, name: 'beta' })
    first.set({ caps: { team: 500 } })
    second.set({ caps: { team: 700 } })
    await first.one.clock.pass(SECOND)
    expect(second.one.caps()).toEqual({ team: 700 })
    second.one.forget()
    await first.one.clock.pass(HOUR)
    expect(second.one.count('GetUsageConfig')).toBe(12)
    expect(first.one.caps()).toEqual({})
  })
})

describe('a stop', () => {
  test('while reading ends at once', async () => {
    const { one, set, stop } = await living({ people: 300, rate: 5 })
    set({ caps: capsOf(300) })
    await one.clock.pass(10 * SECOND)
    const before = one.clock.monotonic()
    await stop()
    expect(one.clock.monotonic() - before).toBeLessThan(10)
  })

  test('while nothing is to be done ends at once', async () => {
    const { one, set, stop } = await living()
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    const before = one.clock.monotonic()
    await stop()
    expect(one.clock.monotonic() - before).toBeLessThan(10)
  })

  test('while writing lets the write in flight finish and keeps its intent for the next start', async () => {
    const { one, set, stop, stopping } = await living({ people: 30, switches: { latency: 2000 }, config: { rate: { concurrency: 1 } } })
    set({ caps: capsOf(30) })
    await passUntil(one, () => one.count('UsageConfig') >= 3, 5 * MINUTE, 100)
    const before = one.clock.monotonic()
    await stop()
    expect(stopping.signal.aborted).toBe(true)
    expect(one.clock.monotonic() - before).toBeLessThanOrEqual(2 * SECOND + 100)
    expect(one.count('UsageConfig')).toBe(3)
    expect(one.ledger.openIntents()).toHaveLength(1)
    one.restart()
    loopOver(one, { caps: capsOf(30) })
    await one.clock.pass(10 * MINUTE)
    expect(one.count('UsageConfig')).toBe(30)
    expect(one.ledger.openIntents()).toEqual([])
  })
})

test('the desired state is made twice a sweep while nothing changes, and not for every sleep', async () => {
  let looks = 0
  const one = await testWorld({
    wrapLedger: onLedger((method) => {
      if (method === 'quarantined') looks += 1
    }),
    config: { usageIntervalMs: 24 * HOUR },
  })
  const { set } = live(one)
  set({ caps: { team: 500 } })
  await one.clock.pass(11 * MINUTE)
  looks = 0
  await one.clock.pass(HOUR)
  expect(looks).toBeLessThanOrEqual(2 * 13)
})
