// Collecting runs: from the previous cycle on, or all days that a forecast needs, chunk by chunk, beside everything else, and again where data may have changed.
import { describe, expect, test } from 'vitest'
import { groupScope, scopeKey, TEAM } from '../../../src/core/model/scope.ts'
import { DAY, HOUR, NOW } from '../../support/declare.ts'
import { answering, edited, type Match } from '../../support/faults.ts'
import { aheadBy, live, loopOver, loopUnder, MINUTE, outage, passUntil } from '../../support/living.ts'
import { daily, midnight, noon, recordPast } from '../../support/use.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const COMPANY = { people: ['ada', 'bob', 'cleo'], groups: { a: ['ada'], b: ['bob'] } }
const DECLARED = { caps: { team: 500, 'group:a': 900 } }
const ALWAYS = { fromAt: 0, untilAt: NOW + 400 * DAY }

/** The days of a request, such as `10-01 to 10-30`. */
const asked = ({ body }: World['calls'][number]): string => {
  const day = (field: string) => String(body[field] ?? 'now').replace(/^\d+-(\d+-\d+)T.*$/, '$1')
  return `${body['group_name'] ?? 'team'} ${day('start_timestamp')} to ${day('end_timestamp')}`
}
const questions = (one: World): readonly string[] => one.calls.filter(({ operation }) => operation === 'CascadeAnalytics').map(asked)
const isRuns: Match = (operation) => operation === 'CascadeAnalytics'
/** Which a service that has begun the next day may write as tomorrow's. */
const TODAYS = { who: 'ada', at: NOW - HOUR, credits: 7 }
const codes = (one: World): readonly string[] => one.warned()
const teamDays = async (one: World) =>
  (await one.ledger.runs(TEAM, ALWAYS)).map(({ dayAt, used }) => [new Date(dayAt).toISOString().slice(5, 10), used])

const collecting = (options: WorldOptions = {}, prepare?: (one: World) => void) => loopUnder(DECLARED, { ...COMPANY, ...options }, prepare)

describe('the first start', () => {
  test('reads all days that a forecast needs, in chunks of 30 days, for the team and each declared group', async () => {
    const { one } = await collecting({}, (world) => recordPast(world, daily('ada', 10, noon(5, 10))))
    await one.clock.pass(MINUTE)
    expect(questions(one)).toEqual(['team 09-24 to 10-23', 'team 10-24 to now', 'A 09-24 to 10-23', 'A 10-24 to now'])
    expect(await one.ledger.runs(TEAM, ALWAYS)).toHaveLength(46)
    expect(await one.ledger.runs(TEAM, { fromAt: midnight(5, 10), untilAt: midnight(6, 10) })).toEqual([
      { dayAt: midnight(5, 10), model: 'Large', mode: 'CONVERSATIONAL_PLANNER_MODE_DEFAULT', messages: 1, used: 10 },
    ])
    expect(one.view().use).toMatchObject({ models: [{ model: 'Large', used: 190 }] })
  })

  test('asks from the start of the previous cycle on where that is longer ago', async () => {
    const one = await testWorld(COMPANY)
    await one.clock.pass(9 * DAY)
    loopOver(one, DECLARED)
    await one.clock.pass(MINUTE)
    expect(questions(one).slice(0, 2)).toEqual(['team 10-01 to 10-30', 'team 10-31 to now'])
  })

  test('that is killed goes on with the chunk that was under way', async () => {
    const one = await testWorld({ ...COMPANY, config: { intervalMs: HOUR } })
    recordPast(one, daily('ada', 10, noon(5, 10)))
    let first = live(one)
    one.onCall = (call) => {
      if (asked(call) === 'team 10-24 to now') first.stopping.abort(new Error('killed'))
    }
    first.set(DECLARED)
    await one.clock.until(first.loop.done)
    one.onCall = undefined
    const before = questions(one).length
    expect(one.ledger.fact('runsAsked')?.[scopeKey(TEAM)]).toMatchObject({ throughAt: midnight(23, 10) })
    one.restart()
    first = live(one)
    first.set(DECLARED)
    await one.clock.pass(MINUTE)
    // Two days are read again, as after every break.
    expect(questions(one).slice(before)[0]).toBe('team 10-21 to 11-19')
    expect(await teamDays(one)).toHaveLength(46)
  })

  test('lets every cap be read before it asks for anything', async () => {
    const people = 60
    const caps = Object.fromEntries(Array.from({ length: people }, (_, index) => [`p${String(index + 1).padStart(3, '0')}`, 900]))
    const one = await testWorld({ people, caps, rate: 5 })
    loopOver(one, { caps })
    await passUntil(one, () => questions(one).length > 1, 10 * MINUTE, 1000)
    const order = one.calls.map(({ operation }) => operation)
    const lastRead = order.lastIndexOf('GetUsageConfig')
    expect(order.filter((operation, at) => operation === 'CascadeAnalytics' && at < lastRead).length).toBeLessThanOrEqual(1)
    expect(one.count('GetUsageConfig')).toBe(people + 1)
  })
})

describe('afterwards', () => {
  test.each(['11-20', '11-21'])('up to a row of %s the last day is read each interval, three every 6 h, groups once a day', async (day) => {
    const asWritten = edited(isRuns, (text) => text.replaceAll('2026-11-20', `2026-${day}`))
    const { one } = await collecting({ config: { intervalMs: HOUR }, wrapTransport: asWritten }, (world) => recordPast(world, [TODAYS]))
    await one.clock.pass(MINUTE)
    one.forget()
    await one.clock.pass(HOUR)
    expect(new Set(questions(one))).toEqual(new Set(['team 11-20 to now']))
    expect(questions(one).length).toBeLessThanOrEqual(5)
    one.forget()
    await one.clock.pass(DAY)
    const all = questions(one)
    expect(all.filter((question) => question.startsWith('A '))).toHaveLength(1)
    const wide = all.filter((question) => /^team 11-1[89] /.test(question))
    expect(wide.length).toBeGreaterThanOrEqual(3)
    expect(wide.length).toBeLessThanOrEqual(5)
    expect(all.filter((question) => question.startsWith('team')).length).toBeLessThan(110)
  })

  test('late and amended use is taken up, and withdrawn use removed', async () => {
    const { one } = await collecting({ switches: { analyticsDelay: 3 * HOUR } }, (world) =>
      recordPast(world, [{ who: 'ada', at: noon(19), credits: 5 }, TODAYS]),
    )
    await one.clock.pass(MINUTE)
    expect(await teamDays(one)).toEqual([['11-19', 5]])
    recordPast(one, [{ who: 'bob', at: noon(19), credits: 1 }])
    await one.clock.pass(7 * HOUR)
    expect(await teamDays(one)).toEqual([
      ['11-19', 6],
      ['11-20', 7],
    ])
  })

  test('days of which the daemon knew nothing are asked for when it comes back', async () => {
    const { one, stop } = await collecting()
    await one.clock.pass(MINUTE)
    await stop()
    recordPast(one, daily('ada', 4, noon(21), noon(26)))
    await one.clock.pass(6 * DAY)
    one.forget()
    one.restart()
    loopOver(one, DECLARED)
    await one.clock.pass(MINUTE)
    expect(questions(one)).toEqual(['team 11-18 to now', 'A 11-18 to now'])
    expect(await teamDays(one)).toHaveLength(5)
  })

  test.each([90])('days of a clock that was ahead by %i days are asked for again once it is right', async (days) => {
    const one = await testWorld({ ...COMPANY, config: { intervalMs: HOUR } })
    recordPast(one, daily('ada', 10, noon(5, 10)))
    const company = aheadBy(one, days * DAY)
    await company.live(DECLARED, 10 * MINUTE)
    company.putRight()
    recordPast(one, [{ who: 'ada', at: NOW + HOUR, credits: 700 }])
    await company.live(DECLARED, 31 * HOUR)
    for (const scope of [TEAM, groupScope('a')]) {
      const known = await one.ledger.runs(scope, { fromAt: midnight(20), untilAt: midnight(21) })
      expect(known.map(({ used }) => used)).toEqual([700])
      expect(one.ledger.fact('runsAsked')?.[scopeKey(scope)]?.fromAt).toBe(midnight(24, 9))
    }
  })

  test('a group has one row a day, over all models and modes', async () => {
    const { one } = await collecting({}, (world) =>
      recordPast(world, [
        { who: 'ada', at: noon(3), credits: 5, model: 'Large' },
        { who: 'ada', at: noon(3), credits: 2, model: 'Small' },
        { who: 'bob', at: noon(3), credits: 90 },
      ]),
    )
    await one.clock.pass(MINUTE)
    expect(await one.ledger.runs(groupScope('a'), ALWAYS)).toEqual([{ dayAt: midnight(3), model: '', mode: '', messages: 2, used: 7 }])
  })
})

describe('failures', () => {
  test('an outage of agent analytics is one line, stops nothing else, and is over by itself', async () => {
    const away = { is: true }
    const { one } = await collecting({ wrapTransport: outage(away, isRuns) })
    await one.clock.pass(2 * HOUR)
    expect(codes(one)).toEqual(['RUNS_UNREAD'])
    expect(one.view().conditions).toMatchObject([{ message: expect.stringContaining('runs of agents could not be read') }])
    expect(one.caps()).toEqual({ team: 500, 'group:a': 900 })
    expect((await one.ledger.useReadings()).length).toBeGreaterThan(4)
    away.is = false
    await one.clock.pass(HOUR)
    expect(codes(one)).toEqual(['RUNS_UNREAD'])
    expect(one.ended('UsageUnread')).toHaveLength(1)
    expect(one.view().conditions).toEqual([])
  })

  test('an answer that is too much for the service is asked for in shorter ranges at once, and in long ones again after nothing could be read', async () => {
    const asked: number[] = []
    const most = { days: 0 }
    const isTooLong: Match = (operation, body) => {
      if (operation !== 'CascadeAnalytics') return false
      const [from, until] = [body['start_timestamp'], body['end_timestamp'] ?? new Date(NOW).toISOString()]
      asked.push((Date.parse(String(until)) - Date.parse(String(from))) / DAY)
      return (asked.at(-1) ?? 0) > most.days
    }
    const { one } = await collecting({ wrapTransport: answering(isTooLong, 400) }, (world) =>
      recordPast(world, daily('ada', 10, noon(5, 10))),
    )
    await one.clock.pass(HOUR)
    expect(await teamDays(one)).toEqual([])
    most.days = 8
    asked.length = 0
    await one.clock.pass(DAY)
    expect(await teamDays(one)).toHaveLength(46)
    expect(asked[0]).toBeGreaterThan(8)
    expect(codes(one).slice(1)).not.toContain('RUNS_UNREAD')
  })

  test('a plan that shows no credits is one line, and has no use by model', async () => {
    const { one } = await collecting({ switches: { plan: 'quota' } }, (world) => recordPast(world, daily('ada', 10, noon(1))))
    await one.clock.pass(2 * HOUR)
    expect(codes(one).filter((code) => code === 'RUNS_WITHOUT_CREDITS')).toHaveLength(1)
    expect(one.view().use?.models).toBeUndefined()
    expect((await teamDays(one))[0]).toEqual(['11-01', undefined])
  })

  test('figures that differ by a factor of 100 are one line about units', async () => {
    const cut = edited(isRuns, (text) => text.replaceAll(/"promptsUsed":"(\d+)00"/g, '"promptsUsed":"$1"'))
    const { one } = await collecting({ wrapTransport: cut }, (world) => recordPast(world, daily('ada', 100, noon(1))))
    await one.clock.pass(2 * HOUR)
    expect(codes(one)).toEqual(['UNIT_DOUBTED'])
    expect(one.begun('UnitDoubted')[0]?.message).toContain('a factor of 100')
  })
})
