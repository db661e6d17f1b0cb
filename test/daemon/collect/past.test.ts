// The past of people as the daemon's least urgent work: it fills the ledger, stays behind everything else, and tells how far it is.
import { describe, expect, test } from 'vitest'
import { DAY, email, HOUR, NOW } from '../../support/declare.ts'
import { edited } from '../../support/faults.ts'
import { capsOf, loopOver, loopUnder, MINUTE, person } from '../../support/living.ts'
import { daily, noon, recordPast } from '../../support/use.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const COMPANY = { people: ['ada', 'bob', 'cleo'] }
const DECLARED = { caps: { team: 500 } }
const DAYS = { fromAt: NOW - 60 * DAY, untilAt: NOW }

const running = (options: WorldOptions, prepare: (one: World) => void) => loopUnder(DECLARED, { ...COMPANY, ...options }, prepare)

/** Requests about single people. */
const asked = (one: World): readonly string[] =>
  one.calls.flatMap(({ operation, body }) =>
    operation === 'CascadeAnalytics' && Array.isArray(body['emails']) ? [String(body['emails'])] : [],
  )

describe('after the first cycle', () => {
  test('the daemon reads the past of everybody who was active, and shows how far it is', async () => {
    const { one } = await running({ config: { historyDays: 60 } }, (world) => {
      recordPast(world, daily('ada', 10, noon(1, 10)))
      recordPast(world, daily('bob', 2, noon(5, 11)))
    })
    await one.clock.pass(2 * MINUTE)
    // 1 October to 19 November.
    expect((await one.ledger.useOfPerson(email('ada'), DAYS)).map(({ used }) => used)).toEqual(Array(50).fill(10))
    expect(await one.ledger.useOfPerson(email('bob'), DAYS)).toHaveLength(15)
    expect(asked(one).filter((who) => !who.startsWith('nobody-'))).toEqual([email('ada'), email('bob'), email('ada')])
    expect(one.view().history).toMatchObject({
      days: { measured: 0, reconstructed: 180, partial: 0, missing: 0 },
      left: 0,
      untilAt: Date.UTC(2026, 10, 20),
    })
  })

  test('and every day the day before, once, when its use has arrived', async () => {
    const { one } = await running({ config: { historyDays: 60, intervalMs: HOUR, usageIntervalMs: HOUR } }, (world) =>
      recordPast(world, daily('ada', 10, noon(1, 10), NOW + 3 * DAY)),
    )
    await one.clock.pass(HOUR)
    const first = asked(one).length
    await one.clock.pass(DAY)
    expect((await one.ledger.useOfPerson(email('ada'), { fromAt: NOW - 2 * DAY, untilAt: NOW + DAY })).at(-2)?.used).toBe(10)
    // About her, and before that about nobody.
    expect(asked(one).length - first).toBe(2)
    expect(one.view().history).toMatchObject({ left: 0 })
  })

  test('months of which the service tells no credits are not left to be read', async () => {
    const withoutCredits = edited(
      (operation) => operation === 'CascadeAnalytics',
      (text) => text.replace(/("day":"2026-0[89][^}]*),"promptsUsed":"?\d+"?/g, '$1'),
    )
    const { one } = await running({ config: { historyDays: 90 }, wrapTransport: withoutCredits }, (world) =>
      recordPast(world, daily('ada', 10, noon(1, 8))),
    )
    await one.clock.pass(5 * MINUTE)
    const { days, left } = one.view().history ?? {}
    expect(days?.missing).toBeGreaterThan(60)
    expect(left).toBe(0)
  })

  test('nothing is read where it is off', async () => {
    const { one } = await running({ config: { historyDays: 0 } }, (world) => recordPast(world, daily('ada', 10, noon(1, 10))))
    await one.clock.pass(2 * MINUTE)
    expect(asked(one)).toEqual([])
    expect(one.view().history).toBeUndefined()
  })

  test('a service that ignores the filter is told once, and not asked again that day', async () => {
    const { one } = await running({ config: { historyDays: 60 }, switches: { runsFilter: 'ignored' } }, (world) =>
      recordPast(world, daily('ada', 10, noon(1, 10))),
    )
    await one.clock.pass(2 * HOUR)
    expect(asked(one)).toHaveLength(1)
    expect(one.workspace.conditions.map(({ type }) => type)).toContain('HistoryUnfiltered')
    expect(await one.ledger.histories()).toEqual([])
    expect(one.view().history).toMatchObject({ stopped: 'HISTORY_UNFILTERED' })
  })
})

/** The longest sweep of caps within half an hour, at 5 requests a second. */
async function longestSweep(historyDays: number) {
  const people = 60
  const one = await testWorld({ people, rate: 5, config: { historyDays, intervalMs: 2 * MINUTE, usageIntervalMs: 10 * MINUTE } })
  for (let number = 1; number <= people; number += 1) recordPast(one, daily(person(number), 1, noon(1, 6)))
  const life = loopOver(one, { caps: { team: 500, ...capsOf(people, 700) } })
  await one.clock.pass(10 * MINUTE)
  const begun = one.events.length
  await one.clock.pass(20 * MINUTE)
  const sweeps = one.events.slice(begun).flatMap((event) => (event.kind === 'cycle-finished' ? [event.observeMs] : []))
  const requests = asked(one).length
  await life.stop()
  return { longestMs: Math.max(...sweeps), sweeps: sweeps.length, requests }
}

test('beside the past, a sweep of caps takes at most 5 % longer', async () => {
  const [without, beside] = [await longestSweep(0), await longestSweep(180)]
  expect(without.requests).toBe(0)
  expect(beside.requests).toBeGreaterThan(300)
  expect(beside.sweeps).toBe(without.sweeps)
  expect(beside.longestMs).toBeLessThanOrEqual(1.05 * without.longestMs)
})
