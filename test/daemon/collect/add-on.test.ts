// Collecting add-on use by person: this cycle first, then all days before it; and the figures that are shown.
import { describe, expect, test } from 'vitest'
import { worldClock } from '../../support/clock.ts'
import { CYCLE, DAY, email, HOUR, NOW } from '../../support/declare.ts'
import { answerOf, edited, instead } from '../../support/faults.ts'
import { aheadBy, live, loopOver, loopUnder, MINUTE } from '../../support/living.ts'
import { daily, midnight, noon, recordPast } from '../../support/use.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const COMPANY = { people: ['ada', 'bob', 'cleo'] }
const DECLARED = { caps: { team: 500 } }
const ALWAYS = { fromAt: 0, untilAt: NOW + 400 * DAY }
const SERVED = { addOnRows: 'served' } as const

interface AskedQuery {
  readonly filters: readonly { readonly name: string; readonly filter: string; readonly value: string }[]
}

/** The days of a request, such as `11-01 to 11-21`. */
function asked({ body }: Pick<World['calls'][number], 'body'>): string {
  const [query] = body['query_requests'] as readonly AskedQuery[]
  const [from, to] = (query?.filters ?? []).map(({ value }) => value)
  return `${from?.slice(5)} to ${to?.slice(5)}`
}
const questions = (one: World): readonly string[] => one.calls.filter(({ operation }) => operation === 'Analytics').map(asked)
const codes = (one: World): readonly string[] => one.warned()
/** Add-on use of one person, as it is shown. */
const shown = ({ view }: World, name = 'ada') => {
  const { used, source } = view().people.find((person) => person.email === email(name)) ?? {}
  return { used, source }
}

const collecting = (options: WorldOptions = {}, prepare?: (one: World) => void) =>
  loopUnder(DECLARED, { ...COMPANY, switches: SERVED, ...options }, prepare)

/** Answers of Analytics in the place of the sandbox's; undefined leaves its own. */
const analytics = (say: (body: Readonly<Record<string, unknown>>) => ReturnType<typeof answerOf> | undefined) =>
  instead((operation, body) => (operation === 'Analytics' ? say(body) : undefined))

describe('a service that tells it', () => {
  test('is asked for this cycle first, then for the days before until 90 of them held nothing', async () => {
    const { one } = await collecting({}, (world) => recordPast(world, daily('ada', 100, noon(5, 9))))
    await one.clock.pass(MINUTE)
    expect(questions(one)).toEqual([
      ...['11-01 to 11-21', '10-02 to 10-31', '09-02 to 10-01'],
      ...['08-03 to 09-01', '07-04 to 08-02', '06-04 to 07-03'],
    ])
    expect(one.ledger.fact('addOnAsked')).toMatchObject({ emptyDays: 90, hasRows: true })
    expect(await one.ledger.addOnOfPerson(email('ada'), { fromAt: midnight(5, 9), untilAt: midnight(6, 9) })).toEqual([
      { dayAt: midnight(5, 9), used: 100, addOn: 0 },
    ])
    // 19 days at 100 credits, of which the seat includes 500.
    expect(shown(one)).toEqual({ used: 1400, source: 'measured' })
    expect(one.view().people.find((person) => person.email === email('ada'))).toMatchObject({
      ...{ used: 1400, source: 'measured', band: 'at_cap' },
    })
    expect(one.view().measured?.latestDayAt).toBe(midnight(19))
    expect(codes(one)).not.toContain('ADD_ON_USE_UNREAD')
  })

  test('is asked for the last day again each time, and every 6 h for the two before it', async () => {
    const { one } = await collecting({}, (world) => recordPast(world, daily('ada', 100, noon(5))))
    await one.clock.pass(MINUTE)
    const before = questions(one).length
    await one.clock.pass(30 * MINUTE)
    expect(questions(one).slice(before)).toEqual(['11-20 to 11-21', '11-20 to 11-21'])
    await one.clock.pass(6 * HOUR)
    expect(questions(one)).toContain('11-18 to 11-21')
  })

  test('is asked for the day before after midnight, too, as long as use of it may still arrive', async () => {
    const { one } = await collecting({ switches: { ...SERVED, analyticsDelay: 3 * HOUR }, config: { intervalMs: HOUR } }, (world) =>
      recordPast(world, [
        { who: 'ada', at: noon(5), credits: 600 },
        { who: 'ada', at: midnight(21) - HOUR / 2, credits: 50 },
      ]),
    )
    await one.clock.pass(midnight(21) + HOUR - NOW)
    expect(shown(one)).toMatchObject({ used: 100 })
    await one.clock.pass(2 * HOUR)
    expect(shown(one)).toMatchObject({ used: 150 })
    const before = questions(one).length
    await one.clock.pass(2 * HOUR)
    expect(questions(one).slice(before).at(-1)).toBe('11-21 to 11-22')
  })

  test('that is killed meanwhile is asked on from where it was', async () => {
    const one = await testWorld({ ...COMPANY, switches: SERVED, config: { intervalMs: HOUR } })
    recordPast(one, daily('ada', 100, noon(5, 9)))
    const first = live(one)
    one.onCall = (call) => {
      if (call.operation === 'Analytics' && asked(call) === '09-02 to 10-01') first.stopping.abort(new Error('killed'))
    }
    first.set(DECLARED)
    await one.clock.until(first.loop.done)
    one.onCall = undefined
    const before = questions(one).length
    one.restart()
    loopOver(one, DECLARED)
    await one.clock.pass(MINUTE)
    expect(questions(one).slice(before)).toEqual(['11-20 to 11-21', '09-02 to 10-01', '08-03 to 09-01', '07-04 to 08-02', '06-04 to 07-03'])
    expect(await one.ledger.addOnOfPerson(email('ada'), ALWAYS)).toHaveLength(76)
  })

  test.each([90])('is asked again, of all days, once a clock that was ahead by %i days is right', async (days) => {
    const one = await testWorld({ ...COMPANY, switches: SERVED, config: { intervalMs: HOUR } })
    recordPast(one, daily('ada', 100, noon(5, 9)))
    const company = aheadBy(one, days * DAY)
    await company.live(DECLARED, 10 * MINUTE)
    company.putRight()
    recordPast(one, [{ who: 'bob', at: NOW + HOUR, credits: 700 }])
    await company.live(DECLARED, 31 * HOUR)
    expect(shown(one, 'bob')).toEqual({ used: 200, source: 'measured' })
    expect(one.ledger.fact('addOnAsked')).toMatchObject({ fromAt: midnight(4, 6), throughAt: midnight(21), emptyDays: 90 })
  })

  test('and has no rows at all tells nothing: use is estimated', async () => {
    const { one } = await collecting({ wrapTransport: analytics(() => answerOf(200, '{"queryResults":[{}]}')) }, (world) =>
      recordPast(world, daily('ada', 100, noon(5))),
    )
    await one.clock.pass(MINUTE)
    expect(shown(one)).toMatchObject({ source: 'estimated' })
  })

  test('names people whose key is unknown: their use counts only in the sum', async () => {
    const { one } = await collecting({}, (world) => {
      recordPast(world, [...daily('ada', 100, noon(1)), ...daily('bob', 60, noon(1))])
      const bob = world.sandbox.store.person(email('bob'))
      if (bob) world.sandbox.store.savePerson({ ...bob, apiKey: '' })
    })
    await one.clock.pass(MINUTE)
    expect(shown(one)).toMatchObject({ source: 'measured' })
    expect(shown(one, 'bob')).toMatchObject({ source: 'estimated' })
  })

  test('still tells the use of people who left after their days were read, which counts in the sum, and is theirs when they are back', async () => {
    const fault = { broken: false }
    const wrapTransport = analytics(() => (fault.broken ? answerOf(503) : undefined))
    const { one } = await collecting({ wrapTransport }, (world) => {
      recordPast(world, daily('ada', 100, noon(5)))
      recordPast(world, daily('bob', 50, noon(5)))
    })
    await one.clock.pass(MINUTE)
    one.removePerson('bob')
    await one.clock.pass(31 * MINUTE)
    expect(one.view().measured?.cycles[0]?.others).toBe(250)
    fault.broken = true
    one.addPerson('bob')
    await one.clock.pass(31 * MINUTE)
    expect(shown(one, 'bob')).toEqual({ used: 250, source: 'measured' })
  })

  test('is asked for the whole cycle again when somebody has another address, to whom all of it belongs', async () => {
    let name = 'bob@'
    const renamed = (text: string): string => text.replaceAll('bob@', name)
    const { one } = await collecting({ wrapTransport: edited((operation) => operation === 'UserPageAnalytics', renamed) }, (world) =>
      recordPast(world, daily('bob', 50, noon(5))),
    )
    await one.clock.pass(MINUTE)
    name = 'robert@'
    await one.clock.pass(61 * MINUTE)
    expect(shown(one, 'robert')).toEqual({ used: 250, source: 'measured' })
  })

  test('goes on in the next cycle, and the last one counts in its first hours', async () => {
    const clock = worldClock(CYCLE.endAt - 2 * HOUR)
    const { one } = await collecting({ clock }, (world) => recordPast(world, daily('ada', 100, noon(1), midnight(1, 12))))
    await one.clock.pass(3 * HOUR)
    const { measured, roster } = one.view()
    expect(measured?.cycles.map(({ startAt }) => startAt)).toEqual([midnight(1, 12), midnight(1)])
    expect(shown(one)).toEqual({ used: 0, source: 'measured' })
    expect(roster?.cycle?.startAt).toBe(midnight(1, 12))
    const people = one.workspace.shown.desiredState?.people
    expect(people).toMatchObject({ useSource: 'measured' })
    expect(people?.approved.find((person) => person.email === email('ada'))?.use).toBe(2500)
  })
})

describe('a service that does not tell it', () => {
  test('is asked once, and again after a day', async () => {
    const { one } = await collecting({ switches: { addOnRows: 'refused' } }, (world) => recordPast(world, daily('ada', 100, noon(5))))
    await one.clock.pass(3 * HOUR)
    expect(questions(one)).toHaveLength(1)
    expect(shown(one)).toMatchObject({ source: 'estimated' })
    expect(one.view().notMeasured).toBe('absent')
    one.workspace.collector.addOn.restUntil -= 20 * HOUR
    await one.clock.pass(2 * HOUR)
    expect(questions(one)).toHaveLength(2)
    expect(codes(one)).not.toContain('ADD_ON_USE_UNREAD')
  })

  test.each(['error', 'connect', 'text', 'ok'] as const)('is understood in errors of the shape %s', async (errors) => {
    const { one } = await collecting({ switches: { addOnRows: 'refused', errors } })
    await one.clock.pass(2 * HOUR)
    expect(questions(one)).toHaveLength(1)
  })

  test('any more makes use an estimate at once', async () => {
    let isGone = false
    const gone = analytics(() => (isGone ? answerOf(400, '{"error":"invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED"}') : undefined))
    const { one } = await collecting({ wrapTransport: gone }, (world) => recordPast(world, daily('ada', 100, noon(5))))
    await one.clock.pass(MINUTE)
    expect(shown(one).source).toBe('measured')
    isGone = true
    await one.clock.pass(20 * MINUTE)
    expect(shown(one).source).toBe('estimated')
    expect(one.ledger.fact('addOn')).toBeUndefined()
  })

  test('to this key is asked again after an hour, and raises no alert', async () => {
    const asked = { times: 0 }
    const denied = analytics(() => {
      asked.times += 1
      return answerOf(403, '{"error":"insufficient permissions: Analytics needs Analytics Read"}')
    })
    const { one } = await collecting({ wrapTransport: denied })
    await one.clock.pass(50 * MINUTE)
    expect(asked.times).toBe(1)
    expect(one.view().notMeasured).toBe('denied')
    await one.clock.pass(30 * MINUTE)
    expect(asked.times).toBe(2)
    expect(codes(one)).toEqual([])
  })
})

const days = (body: Readonly<Record<string, unknown>>): number => {
  const [query] = body['query_requests'] as readonly AskedQuery[]
  const [from = 0, to = 0] = (query?.filters ?? []).map(({ value }) => Date.parse(value))
  return (to - from) / DAY + 1
}
const atMost = (most: number) => analytics((body) => (days(body) > most ? answerOf(400, '{"error":"the range is too long"}') : undefined))

describe('an answer that is too much', () => {
  test.each([
    ['is asked for in smaller chunks', analytics((body) => (days(body) > 16 ? answerOf(200, 'too much') : undefined)), 3 * HOUR],
    ['for a service that takes a day at a time is asked for by days at once', atMost(1), MINUTE],
  ])('%s', async (_name, wrapTransport, forMs) => {
    const { one } = await collecting({ wrapTransport }, (world) => recordPast(world, daily('ada', 100, noon(5, 10))))
    await one.clock.pass(forMs)
    expect(one.ledger.fact('addOnAsked')).toMatchObject({ emptyDays: 90 })
    expect(shown(one)).toEqual({ used: 1400, source: 'measured' })
  })
  test('even of one day is asked for again after a day, of all days at once', async () => {
    const asks: number[] = []
    const picky = analytics((body) => {
      asks.push(days(body))
      return answerOf(400, '{"error":"no"}')
    })
    const { one } = await collecting({ wrapTransport: picky })
    await one.clock.pass(3 * HOUR)
    expect(asks).toEqual([21, 15, 7, 3, 1])
    expect(codes(one)).toContain('ADD_ON_USE_UNREAD')
    one.workspace.collector.addOn.restUntil -= DAY
    await one.clock.pass(HOUR)
    expect(asks.slice(5)).toEqual([21, 15, 7, 3, 1])
  })
})

describe('a cycle of a command, which collects nothing', () => {
  test.each([
    ['at once', 30, ['11-01 to 11-21']],
    ['in smaller chunks where that is too much', 14, ['11-01 to 11-07', '11-08 to 11-14', '11-15 to 11-21']],
  ])('reads this cycle itself, %s, and guards count by its figures', async (_name, most, asked) => {
    const people = Array.from({ length: 8 }, (_, index) => `p${index}`)
    const one = await testWorld({ people, switches: SERVED, caps: { team: 5000 }, wrapTransport: atMost(most) })
    // Everybody used 1900 credits by now, 1400 beyond their seat.
    recordPast(
      one,
      people.flatMap((name) => daily(name, 100, noon(1))),
    )
    const { planned } = await one.cycle({ caps: { team: 1300 } }, { alone: true })
    expect(planned.plan.holds.map(({ message }) => message)).toEqual([expect.stringContaining('(use is measured)')])
    expect(questions(one)).toEqual(asked)
  })

  test('and of a new ledger is estimated where the service began within it, as runs of earlier days tell', async () => {
    const began = (text: string): string => text.replaceAll(/\{"item":\{[^}]*"2026-11-0\d"[^}]*\}\},?/g, '')
    const wrapTransport = edited((operation) => operation === 'Analytics', began)
    const { one } = await collecting({ wrapTransport }, (world) => recordPast(world, daily('ada', 100, noon(5))))
    await one.clock.pass(MINUTE)
    expect(shown(one)).toEqual({ used: 1000, source: 'estimated' })
    const alone = await testWorld({ ...COMPANY, switches: SERVED, wrapTransport })
    recordPast(alone, daily('ada', 100, noon(5)))
    expect((await alone.cycle(DECLARED, { alone: true })).desired.people.useSource).toBe('estimated')
  })

  test('does not read what the ledger knows recently', async () => {
    const { one, stop } = await collecting({}, (world) => recordPast(world, daily('ada', 100, noon(5))))
    await one.clock.pass(MINUTE)
    await stop()
    one.restart()
    const before = questions(one).length
    const { desired } = await one.cycle(DECLARED, { alone: true })
    expect(desired.people.useSource).toBe('measured')
    expect(questions(one)).toHaveLength(before)
  })
})

test('the past of a person who was forgotten is not read back: their rows name nobody', async () => {
  const one = await testWorld({ people: ['ada', 'bob'], switches: { addOnRows: 'served' } })
  for (const name of ['ada', 'bob']) recordPast(one, daily(name, 100, noon(2)))
  const life = live(one)
  life.set({ caps: { team: 5000 } })
  await one.clock.pass(MINUTE)
  await one.ledger.forget(email('ada'))
  await one.clock.pass(DAY)
  const sumsFrom = async (fromAt: number) => [...(await one.ledger.addOnSums({ fromAt, untilAt: NOW + 2 * DAY })).keys()]
  const sums = [await sumsFrom(midnight(18)), await sumsFrom(0)]
  await life.stop()
  expect(new Set(sums[0])).toEqual(new Set(['', email('bob')]))
  expect(sums[1]).not.toContain(email('ada'))
  expect(one.ledger.fact('addOn')?.unassignable).toEqual([email('ada')])
})
