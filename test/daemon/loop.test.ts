// When a workspace does what: hours of its life on a clock that the test moves. Intervals, edits in the middle of a long sweep, grants,
// clocks that jump, a service that is away, and a stop at any moment.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { PolicyStatus } from '../../src/core/events.ts'
import { type Loop, startLoop } from '../../src/daemon/loop.ts'
import type { Transport } from '../../src/ports.ts'
import { CYCLE, DAY, HOUR, NOW } from '../support/declare.ts'
import { createWorld, type Declared, revisionOf, testWorld, type World, type WorldOptions } from '../support/world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

interface Living {
  readonly one: World
  readonly loop: Loop
  /** A policy set was loaded. */
  set(declared: Declared, valid?: boolean): void
  stop(): Promise<void>
  readonly cut: AbortController
  readonly stopping: AbortController
}

const statusOf = (valid: boolean): PolicyStatus => ({ valid, digest: 'd', revision: '', loadedAt: NOW, problems: [] })

/** A running loop. It is stopped with the test. */
function live(one: World): Living {
  const stopping = new AbortController()
  const cut = new AbortController()
  const loop = startLoop(one.workspace, { stop: stopping.signal, cut: cut.signal })
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('stopped'))
    await one.clock.until(loop.done)
  }
  return {
    one,
    loop,
    stopping,
    cut,
    stop,
    set: (declared, valid = true) => loop.setPolicy(valid ? revisionOf(declared) : undefined, statusOf(valid)),
  }
}

async function living(options: WorldOptions = {}): Promise<Living> {
  const one = await createWorld(options)
  const life = live(one)
  onTestFinished(async () => {
    life.set({})
    await life.stop()
    await one.close()
  })
  return life
}

const person = (number: number): string => `p${String(number).padStart(3, '0')}`
const capsOf = (count: number, cap = 1000): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [person(index + 1), cap]))

/** Lets time pass until something is true; returns how long that took. */
async function passUntil(one: World, isTrue: () => boolean, mostMs: number, stepMs = 50): Promise<number> {
  const startedAt = one.clock.monotonic()
  while (!isTrue() && one.clock.monotonic() - startedAt < mostMs) await one.clock.pass(stepMs)
  return one.clock.monotonic() - startedAt
}

describe('intervals', () => {
  test('caps are looked at once an interval, use once an interval of its own, and nothing is written in vain', async () => {
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

  test('everything is due at once when a signal asks for it', async () => {
    const { one, set, loop } = await living()
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    one.forget()
    loop.hurry()
    await one.clock.pass(SECOND)
    expect(one.reads()).toEqual(['team'])
    expect(one.count('GetTeamCreditBalance')).toBe(1)
  })
})

describe('an edit of the policy', () => {
  test('goes out within a second and a round trip, and only what changed is looked at', async () => {
    const { one, set } = await living({ people: 50, rate: 10 })
    set({ caps: capsOf(50) })
    await one.clock.pass(4 * MINUTE)
    one.forget()
    set({ caps: { ...capsOf(50), p007: 2000 } })
    await one.clock.pass(1.2 * SECOND)
    expect(one.writes()).toEqual(['p007 2000'])
    expect(new Set(one.reads())).toEqual(new Set(['p007']))
  })

  test('in the middle of a sweep of 1,000 scopes goes out first, and the sweep goes on without reading again what it had read', async () => {
    const { one, set } = await living({ people: 1000, rate: 10 })
    for (const [name, cap] of Object.entries(capsOf(1000))) one.foreign(name, cap)
    set({ caps: capsOf(1000) })
    await one.clock.pass(50 * SECOND)
    const before = one.reads().length
    expect(before).toBeGreaterThan(300)
    expect(before).toBeLessThan(600)
    set({ caps: { ...capsOf(1000), p999: 2000 } })
    const took = await passUntil(one, () => one.writes().length > 0, 10 * SECOND)
    expect(took).toBeLessThanOrEqual(SECOND + 100)
    expect(one.writes()).toEqual(['p999 2000'])
    await one.clock.pass(70 * SECOND)
    // What was in flight when the edit came is read again, and so is the edited scope: before the write and after it.
    expect(one.reads().length).toBeLessThanOrEqual(1000 + 8 + 3)
    expect(new Set(one.reads()).size).toBe(1000)
    expect(one.told('cycle-finished').map((event) => event.result)).toEqual(['success', 'noop'])
  })

  test('while another is being written lets the write in flight finish, drops the rest and goes on with the newest', async () => {
    const { one, set } = await living({ people: 40, rate: 10, config: { rate: { concurrency: 1 } } })
    set({ caps: capsOf(40) })
    await one.clock.pass(20 * SECOND)
    one.forget()
    set({ caps: { ...capsOf(40), ...capsOf(20, 3000) } })
    await passUntil(one, () => one.writes().length >= 3, 30 * SECOND)
    set({ caps: { ...capsOf(40), ...capsOf(20, 4000) } })
    await one.clock.pass(60 * SECOND)
    expect(one.caps()).toEqual({ ...capsOf(40), ...capsOf(20, 4000) })
    expect(one.writes().filter((write) => write.endsWith(' 3000')).length).toBeLessThanOrEqual(4)
    expect(one.ledger.openIntents()).toEqual([])
    expect(one.told('foreign-change')).toEqual([])
  })

  test('that only moves lines or adds a comment costs nothing', async () => {
    const { one, set } = await living()
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    one.forget()
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    expect(one.calls).toEqual([])
  })

  test('that releases a hold takes effect at once', async () => {
    const { one, set } = await living({ people: 20 })
    set({ caps: capsOf(10) })
    await one.clock.pass(MINUTE)
    set({ caps: capsOf(10, 500) })
    await one.clock.pass(SECOND)
    const [hold] = one.workspace.shown.planned?.plan.holds ?? []
    expect(hold).toBeDefined()
    set({ caps: capsOf(10, 500), approvals: [hold?.id ?? ''] })
    await one.clock.pass(SECOND)
    expect(one.caps()).toEqual(capsOf(10, 500))
  })

  test('that cannot be read leaves the last good one in force and prunes nothing', async () => {
    const { one, set } = await living({ people: 20 })
    set({ caps: { team: 500, p001: 4000, p002: 900 } })
    await one.clock.pass(MINUTE)
    one.foreign('p001', 1)
    set({}, false)
    await one.clock.pass(10 * MINUTE)
    expect(one.caps()).toEqual({ team: 500, p001: 4000, p002: 900 })
    expect(one.workspace.shown.policy?.valid).toBe(false)
  })

  test('that declares a new group reads its members first', async () => {
    const { one, set } = await living({ people: 20, groups: { a: ['p001', 'p002'], b: ['p002'] } })
    set({ caps: { 'group:a': 900 }, onGroupConflict: 'max' })
    await one.clock.pass(MINUTE)
    set({ caps: { 'group:a': 900, 'group:b': 1200 }, onGroupConflict: 'max' })
    await one.clock.pass(SECOND)
    expect(one.caps()).toEqual({ 'group:a': 900, 'group:b': 1200, p002: 1200 })
  })

  test('while the service is away is tried again soon, not only after the interval', async () => {
    const away = { is: false }
    const { one, set } = await living({ wrapTransport: outage(away) })
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    away.is = true
    set({ caps: { team: 600 } })
    await one.clock.pass(5 * SECOND)
    away.is = false
    await one.clock.pass(40 * SECOND)
    expect(one.caps()).toEqual({ team: 600 })
  })
})

/** A service that refuses every connection while `away.is`. */
const outage =
  (away: { is: boolean; attempts?: number }) =>
  (inner: Transport): Transport => ({
    async send(operation, body, options) {
      if (!away.is) return inner.send(operation, body, options)
      away.attempts = (away.attempts ?? 0) + 1
      return { kind: 'network', message: 'connection refused' }
    },
  })

describe('grants', () => {
  const declared: Declared = {
    caps: { team: 500, ada: 1000 },
    grants: [{ on: 'ada', cap: 6000, from: NOW + 7 * MINUTE, until: NOW + 22 * MINUTE }],
  }

  test('start and end at their instants', async () => {
    const { one, set } = await living()
    set(declared)
    await one.clock.pass(7 * MINUTE - SECOND)
    expect(one.caps()['ada']).toBe(1000)
    await one.clock.pass(2 * SECOND)
    expect(one.caps()['ada']).toBe(6000)
    await one.clock.pass(15 * MINUTE - 3 * SECOND)
    expect(one.caps()['ada']).toBe(6000)
    await one.clock.pass(3 * SECOND)
    expect(one.caps()['ada']).toBe(1000)
    expect(one.told('foreign-change')).toEqual([])
  })

  test('start in the middle of a sweep, which then goes on', async () => {
    const { one, set } = await living({ people: 600, rate: 4 })
    for (const [name, cap] of Object.entries(capsOf(600))) one.foreign(name, cap)
    set({ caps: capsOf(600), grants: [{ on: 'p001', cap: 6000, from: NOW + MINUTE, until: NOW + DAY }] })
    await one.clock.pass(MINUTE + 2 * SECOND)
    expect(one.caps()['p001']).toBe(6000)
    await one.clock.pass(3 * MINUTE)
    expect(one.reads().length).toBeLessThanOrEqual(600 + 8 + 3)
    expect(one.told('cycle-finished')).toHaveLength(2)
  })

  test('that start while a cycle writes are not missed until the next one', async () => {
    const { one, set } = await living({ people: 30, rate: 2, config: { rate: { concurrency: 1 } } })
    set({ caps: capsOf(30), grants: [{ on: 'p001', cap: 6000, from: NOW + 40 * SECOND, until: NOW + DAY }] })
    await one.clock.pass(90 * SECOND)
    expect(one.caps()['p001']).toBe(6000)
  })

  test('give back what stood there where nothing is declared', async () => {
    const { one, set } = await living({ caps: { bob: 300 } })
    set({ grants: [{ on: 'bob', cap: 6000, from: NOW, until: NOW + HOUR }] })
    await one.clock.pass(MINUTE)
    expect(one.caps()).toEqual({ bob: 6000 })
    await one.clock.pass(HOUR)
    expect(one.caps()).toEqual({ bob: 300 })
    await one.clock.pass(HOUR)
    one.foreign('bob', 6000)
    await one.clock.pass(HOUR)
    expect(one.caps()).toEqual({ bob: 6000 })
  })

  test('until cycleEnd end with the cycle', async () => {
    const { one, set } = await living({ people: 20, config: { intervalMs: 6 * HOUR, usageIntervalMs: 6 * HOUR } })
    set({ caps: { p001: 1000 }, grants: [{ on: 'p001', cap: 6000, from: NOW - DAY, until: 'cycleEnd' }] })
    await one.clock.pass(CYCLE.endAt - NOW - MINUTE)
    expect(one.caps()).toEqual({ p001: 6000 })
    await one.clock.pass(MINUTE + SECOND)
    expect(one.caps()).toEqual({ p001: 1000 })
  })

  test('end after a restart that slept over their end', async () => {
    const { one, set, stop } = await living()
    set(declared)
    await one.clock.pass(10 * MINUTE)
    await stop()
    await one.clock.pass(DAY)
    one.restart()
    const again = live(one)
    again.set(declared)
    await one.clock.pass(SECOND)
    expect(one.caps()['ada']).toBe(1000)
    await again.stop()
  })
})

describe('clocks', () => {
  const declared: Declared = {
    caps: { team: 500, ada: 1000 },
    grants: [{ on: 'ada', cap: 6000, from: NOW + 7 * HOUR, until: NOW + 22 * HOUR }],
  }
  /** The service's own clock, apart from ours. */
  const serviceClock =
    (skew: { ms: number }) =>
    (inner: Transport): Transport => ({
      async send(operation, body, options) {
        const answer = await inner.send(operation, body, options)
        if ('kind' in answer) return answer
        const date = Date.parse(answer.headers['date'] ?? '') + skew.ms
        return { ...answer, headers: { ...answer.headers, date: new Date(date).toUTCString() } }
      },
    })

  test('a wall clock that jumps forwards starts a grant within a minute and makes no sweep of its own', async () => {
    const { one, set } = await living()
    set(declared)
    await one.clock.pass(MINUTE)
    one.forget()
    one.clock.jumpWall(8 * HOUR)
    await one.clock.pass(61 * SECOND)
    expect(one.caps()['ada']).toBe(6000)
    expect(one.reads()).not.toContain('team')
  })

  test('a wall clock that jumps backwards neither repeats nor delays a sweep', async () => {
    const { one, set } = await living()
    set(declared)
    await one.clock.pass(MINUTE)
    one.clock.jumpWall(-3 * HOUR)
    one.forget()
    await one.clock.pass(20 * MINUTE)
    expect(one.reads().filter((name) => name === 'team')).toHaveLength(4)
    one.foreign('ada', 9000)
    await one.clock.pass(6 * MINUTE)
    expect(one.caps()['ada']).toBe(1000)
  })

  test('a backward jump with an answer outstanding leaves no intent open once time has caught up', async () => {
    const { one, set } = await living()
    set({ caps: { team: 500 } })
    await one.clock.pass(MINUTE)
    one.onCall = ({ operation }) => void (operation === 'UsageConfig' && one.clock.jumpWall(-HOUR))
    set({ caps: { team: 600 } })
    await one.clock.pass(SECOND)
    one.onCall = undefined
    await one.clock.pass(2 * HOUR)
    expect(one.caps()).toEqual({ team: 600 })
    expect(one.ledger.openIntents()).toEqual([])
  })

  test('more than five minutes between the service’s clock and ours freeze grants, until they agree again', async () => {
    const skew = { ms: 6 * MINUTE }
    const { one, set } = await living({ wrapTransport: serviceClock(skew) })
    set(declared)
    await one.clock.pass(8 * HOUR)
    expect(one.caps()['ada']).toBe(1000)
    expect(one.workspace.knowledge?.clockSkewMs).toBeGreaterThan(5 * MINUTE)
    skew.ms = 0
    await one.clock.pass(6 * MINUTE)
    expect(one.caps()['ada']).toBe(6000)
    skew.ms = -DAY
    await one.clock.pass(20 * HOUR)
    expect(one.caps()['ada']).toBe(6000)
    skew.ms = 0
    await one.clock.pass(6 * MINUTE)
    expect(one.caps()['ada']).toBe(1000)
  })

  test('our own wall clock gone wrong neither starts nor ends a grant', async () => {
    const skew = { ms: 0 }
    const { one, set } = await living({ wrapTransport: serviceClock(skew) })
    set(declared)
    await one.clock.pass(MINUTE)
    one.clock.jumpWall(8 * HOUR)
    skew.ms = -8 * HOUR
    await one.clock.pass(10 * MINUTE)
    expect(one.caps()['ada']).toBe(1000)
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
    const again = live(one)
    again.set({ caps: capsOf(30) })
    await one.clock.pass(10 * MINUTE)
    expect(one.count('UsageConfig')).toBe(30)
    expect(one.ledger.openIntents()).toEqual([])
    await again.stop()
  })

  test('that takes too long cuts even the write in flight, whose intent stays', async () => {
    const { one, set, stopping, cut, loop } = await living({ people: 3, switches: { latency: 20_000 } })
    set({ caps: { p001: 5 } })
    await passUntil(one, () => one.count('UsageConfig') >= 1, 5 * MINUTE, 100)
    stopping.abort(new Error('stopped'))
    await one.clock.pass(8 * SECOND)
    cut.abort(new Error('the grace period is over'))
    const before = one.clock.monotonic()
    await one.clock.until(loop.done)
    expect(one.clock.monotonic() - before).toBeLessThan(10)
    expect(one.ledger.openIntents()).toHaveLength(1)
  })
})
