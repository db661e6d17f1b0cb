// The breaker from end to end: failures of a shared cause stop the writes, also over restarts, until a retry succeeds.
import { describe, expect, test } from 'vitest'
import { HOUR, SETTINGS } from '../../support/declare.ts'
import { answering, answerOf, either, type Fault, instead, writes } from '../../support/faults.ts'
import { capsOf, later, loopOver, MINUTE, person } from '../../support/living.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

interface Outage extends Fault {
  readonly status?: number
  /** Only these people's writes. */
  people?: readonly string[]
}

const failing = (fault: Outage) =>
  answering(
    (...asked) => (fault.people ? either(...fault.people.map(writes)) : writes())(...asked),
    fault.status ?? 500,
    fault,
    fault.status === 404 ? '{"error":"invalid user e-mail"}' : undefined,
  )

const world = (fault: Outage, more: WorldOptions = {}) =>
  testWorld({ people: 20, wrapTransport: failing(fault), config: { rate: { concurrency: 1 } }, ...more })

const failures = async (one: World): Promise<number> => (await one.ledger.history()).filter(({ result }) => result === 'failed').length
const guards = (one: World): readonly string[] => one.workspace.shown.planned?.plan.holds.map((hold) => hold.guards.join('+')) ?? []

describe('writes that fail for a shared cause', () => {
  test('stop after three in a row; the rest is held and shown, and nothing is tried until it is time', async () => {
    const fault = { broken: true }
    const one = await world(fault)
    const first = await one.cycle({ caps: capsOf(12) })
    expect({ result: first.result, interrupted: first.applied?.interrupted }).toEqual({ result: 'error', interrupted: 'breaker' })
    expect(await failures(one)).toBe(3)
    expect(guards(one)).toEqual(['breaker'])
    expect(one.begun('Held', 'Contested', 'BreakerOpen')).toMatchObject([{ type: 'BreakerOpen', fields: { guards: ['breaker'] } }])
    await one.clock.pass(5 * MINUTE)
    one.forget()
    const second = await one.cycle()
    expect(second.result).toBe('held')
    expect(second.planned.plan.counts.held).toBe(12)
    expect(one.writes()).toEqual([])
    expect(one.ledger.openIntents()).toEqual([])
  })

  test('are tried again after 10 min, doubling to 2 h, and are over with one success', async () => {
    const fault = { broken: true }
    const one = await world(fault)
    await one.cycle({ caps: capsOf(12) })
    const tried: number[] = []
    for (let minute = 5; minute <= 300; minute += 5) {
      await one.clock.pass(5 * MINUTE)
      const before = await failures(one)
      await one.cycle()
      if ((await failures(one)) > before) tried.push(minute)
    }
    expect(tried.map((minute, index) => minute - (tried[index - 1] ?? 0))).toEqual([10, 20, 40, 80, 120])
    fault.broken = false
    expect((await later(one, 120 * MINUTE)).result).toBe('success')
    expect(one.caps()).toEqual(capsOf(12))
    expect(one.ledger.fact('breaker')).toBeUndefined()
    expect(guards(one)).toEqual([])
  })

  test('stop when more than 10 % have failed, in a row or not', async () => {
    const people = [1, 4, 7, 10].map(person)
    const one = await world({ broken: true, people })
    const { applied, result } = await one.cycle({ caps: capsOf(20) })
    expect({ interrupted: applied?.interrupted, result }).toEqual({ interrupted: 'breaker', result: 'partial' })
    expect(await failures(one)).toBe(3)
    expect(Object.keys(one.caps())).toHaveLength(4)
  })

  test('a few that fail first keep the others back for 10 min and no longer: those go first then', async () => {
    const people = [1, 2, 3].map(person)
    const one = await world({ broken: true, people })
    await one.cycle({ caps: capsOf(20) })
    expect(one.caps()).toEqual({})
    await later(one, 10 * MINUTE)
    expect(Object.keys(one.caps())).toHaveLength(17)
  })

  test('the oldest failure is tried first, whether a raise or a lowering', async () => {
    const fault: Outage = { broken: false }
    const one = await world(fault)
    await one.cycle({ caps: capsOf(20, 100) })
    fault.broken = true
    const lowered = Object.fromEntries([18, 19, 20].map((number) => [person(number), 90]))
    for (let minute = 0; minute <= 6 * 60; minute += 5) {
      await one.cycle({ caps: { ...capsOf(20, 100), ...capsOf(6, 110), ...lowered } })
      await one.clock.pass(5 * MINUTE)
      // Half way, all but some raises go through.
      if (minute === 2 * 60) fault.people = Object.keys(capsOf(6))
    }
    expect(Object.keys(lowered).map((name) => one.caps()[name])).toEqual([90, 90, 90])
  })

  test('are tried one at a time after a failure, until one succeeds', async () => {
    const one = await world({ broken: true }, { config: { rate: { concurrency: 8 } } })
    await one.cycle({ caps: capsOf(20) })
    const before = await failures(one)
    await later(one, 10 * MINUTE)
    expect((await failures(one)) - before).toBe(3)
  })

  test('are tried at once when their hold is approved, once for each approval', async () => {
    const fault = { broken: true }
    const one = await world(fault)
    const { after } = await one.cycle({ caps: capsOf(12) })
    const id = after.plan.holds[0]?.id ?? ''
    await later(one, MINUTE, undefined, { approve: [id] })
    expect(await failures(one)).toBe(6)
    await one.cycle()
    expect(await failures(one)).toBe(6)
    fault.broken = false
    await one.cycle(undefined, { approve: [id] })
    expect((await later(one, 20 * MINUTE)).result).not.toBe('held')
    expect(one.caps()).toEqual(capsOf(12))
  })
})

describe('writes that are turned down', () => {
  test.each([400, 404])('most of them, with %i: none is quarantined, and they are not sent in every cycle', async (status) => {
    const fault = { broken: true, status }
    const one = await world(fault)
    await one.cycle({ caps: capsOf(6) })
    expect(one.ledger.quarantined()).toEqual([])
    expect(await failures(one)).toBe(6)
    expect((await later(one, 5 * MINUTE)).result).toBe('held')
    expect(await failures(one)).toBe(6)
    fault.broken = false
    await later(one, 5 * MINUTE)
    expect(one.caps()).toEqual(capsOf(6))
  })

  test.each([3, 12])('%i of them and nothing else: foreign changes elsewhere are still reverted', async (refused) => {
    const people = Object.keys(capsOf(refused))
    const fault = { broken: true, status: 400, people }
    const one = await world(fault)
    await one.cycle({ caps: { team: 500, [person(20)]: 700 } })
    await one.cycle({ caps: { team: 500, [person(20)]: 700, ...capsOf(refused) } })
    await one.clock.pass(5 * MINUTE)
    one.foreign('team', 90_000)
    one.foreign(person(20), 90_000)
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500, [person(20)]: 700 })
  })

  test('so many that they stop the writes: nothing of that run is tried while the breaker is open, the team neither', async () => {
    const fault = { broken: false, status: 400 }
    const one = await world(fault)
    await one.cycle({ caps: { team: 500, ...capsOf(20) } })
    fault.broken = true
    await one.cycle({ caps: { team: 600, ...capsOf(20, 2000) } })
    const tried = await failures(one)
    for (let minute = 1; minute < 10; minute += 3) await later(one, 3 * MINUTE)
    expect(await failures(one)).toBe(tried)
    expect(one.workspace.shown.planned?.plan.counts.held).toBe(21)
    expect(one.ledger.quarantined()).toEqual([])
    fault.broken = false
    await later(one, MINUTE)
    expect(one.caps()).toEqual({ team: 600, ...capsOf(20, 2000) })
  })

  test('a refusal before any success is not quarantined for a day', async () => {
    const fault = { broken: true, status: 400 }
    const one = await world(fault)
    await one.cycle({ caps: capsOf(6) })
    await later(one, MINUTE, { caps: { [person(20)]: 700, ...capsOf(6) } })
    await one.cycle()
    expect(await failures(one)).toBe(7)
    expect(one.ledger.quarantined()).toEqual([])
    expect(one.workspace.shown.planned?.plan.counts.held).toBe(7)
    fault.broken = false
    await later(one, 10 * MINUTE)
    expect(one.caps()).toEqual({ [person(20)]: 700, ...capsOf(6) })
  })
})

test('a running workspace quarantines a bad scope that is the only one to try after an outage, and goes on with its dependants', async () => {
  let isDown = false
  const isBad = writes('p001')
  const wrapTransport = instead((operation, body) =>
    isDown && operation === 'UsageConfig' ? answerOf(503) : isBad(operation, body) ? answerOf(400) : undefined,
  )
  const guards = { ...SETTINGS.guards, maxAffected: 'off', maxLowered: 'off' } as const
  const one = await testWorld({ people: 20, wrapTransport, config: { guards } })
  const life = loopOver(one, { caps: { team: 1000 } })
  await one.clock.pass(10 * MINUTE)
  isDown = true
  life.set({ caps: { team: 1000, p002: 1500, p003: 1500, p004: 1500, p005: 1500 } })
  await one.clock.pass(10 * MINUTE)
  expect(one.ledger.fact('breaker')).toBeDefined()
  isDown = false
  life.set({ caps: { team: 990, p001: 995 } })
  await one.clock.pass(2 * HOUR)
  await life.stop()
  expect(one.caps()).toEqual({ team: 990 })
})

test('caps that our own team write overwrote are restored as soon as a write succeeds, whatever the breaker says', async () => {
  const names = Object.keys(capsOf(8))
  const fault = { broken: false, people: names }
  const own = capsOf(8, 2000)
  const one = await world(fault, { switches: { capSemantics: 'fan-out' }, config: { capSemantics: 'copied', rate: { concurrency: 1 } } })
  await one.cycle({ caps: { team: 3000, ...own } })
  fault.broken = true
  const torn = await one.cycle({ caps: { team: 3500, ...own } })
  expect(torn.applied?.interrupted).toBe('breaker')
  expect(one.inForce()[person(8)]).toBe(3500)
  fault.broken = false
  await later(one, 5 * MINUTE)
  for (const name of names) expect({ [name]: one.inForce()[name] }).toEqual({ [name]: 2000 })
})
