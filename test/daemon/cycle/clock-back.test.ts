// A wall clock that was a month ahead and is set back: whatever it dated still ends in time. One that is wrong for a while, against the service's:
// no wait ends early because of it.
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, research, SETTINGS } from '../../support/declare.ts'
import { answering, type Match, reads, serviceClock, whenAsked, writes } from '../../support/faults.ts'
import { capsOf, later, worldUnder } from '../../support/living.ts'
import { noon, recordPast } from '../../support/use.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const ahead = 30 * DAY
const SERIAL = { rate: { concurrency: 1 } } as const

describe('on a clock that was a month ahead', () => {
  test('a pause lasts as long as it was meant to, and no longer', async () => {
    const one = await testWorld({ people: ['ada'] })
    const pausedAt = one.clock.now() + ahead
    await one.ledger.savePause({ pausedAt, untilAt: pausedAt + 4 * HOUR, reason: 'a move' })
    await one.cycle({ caps: { ada: 500 } })
    await later(one, 3 * HOUR)
    expect(one.caps()).toEqual({})
    await later(one, 2 * HOUR)
    expect(one.caps()).toEqual({ ada: 500 })
  })

  test('a plan that is not through counts from where it began for a day', async () => {
    const one = await worldUnder({ caps: { team: 100, p001: 700 }, protect: ['p001'] }, { people: 100 })
    one.clock.jumpWall(ahead)
    await one.cycle({ caps: { team: 500, p001: 600 }, protect: ['p001'] })
    expect(one.caps()).toEqual({ team: 500, p001: 700 })
    one.clock.jumpWall(-ahead)
    await later(one, 3 * DAY)
    await one.cycle({ caps: { team: 150, p001: 600 }, protect: ['p001'] })
    expect(one.caps()['team']).toBe(500)
  })

  test('a person who cannot be read defers a team write for a day', async () => {
    const bad = { broken: false }
    const one = await testWorld({
      people: 10,
      wrapTransport: answering(reads('p001'), 500, bad),
      config: { guards: { ...SETTINGS.guards, maxAffected: 'off', maxLowered: 'off', readQuality: 'off' } },
    })
    await one.cycle({ caps: { team: 1000 } })
    bad.broken = true
    one.clock.jumpWall(ahead)
    await one.cycle({ caps: { team: 1000, p001: 700 } })
    one.clock.jumpWall(-ahead)
    await one.cycle({ caps: { team: 600, p001: 700 } })
    expect(one.caps()['team']).toBe(1000)
    await later(one, 1.1 * DAY)
    await one.cycle()
    expect(one.caps()['team']).toBe(600)
  })

  /** Read by the clock of then, and not any more. */
  const unreadForADay = async (match: Match, more: WorldOptions = {}) => {
    const bad = { broken: false }
    const one = await testWorld({ people: 10, ...more, wrapTransport: answering(match, 500, bad) })
    one.clock.jumpWall(ahead)
    await one.cycle({ caps: { team: 500 } })
    bad.broken = true
    one.clock.jumpWall(-ahead)
    await one.clock.pass(1.1 * DAY)
    return { one, bad }
  }

  test('a roster that cannot be read any more serves for a day at most', async () => {
    const { one, bad } = await unreadForADay((operation) => operation === 'UserPageAnalytics')
    await one.cycle({ caps: { team: 600 } })
    expect(one.caps()['team']).toBe(500)
    bad.broken = false
    await one.cycle()
    expect(one.caps()['team']).toBe(600)
  })

  test('a balance that cannot be read any more counts for a day at most', async () => {
    const { one } = await unreadForADay((operation) => operation === 'GetTeamCreditBalance', { addOn: 10 })
    await one.cycle({ caps: { team: 600 } })
    expect(one.caps()['team']).toBe(600)
  })

  test('the descendants of a team write are checked once, also when an earlier write has a later time', async () => {
    const one = await worldUnder({ caps: { team: 500, p001: 900 } }, { people: 12, caps: { team: 500, p001: 900 } })
    one.clock.jumpWall(ahead)
    await one.cycle({ caps: { team: 600, p001: 900 } })
    one.clock.jumpWall(-ahead)
    await one.cycle({ caps: { team: 700, p001: 900 } })
    await one.clock.pass(25 * HOUR)
    one.forget()
    await one.cycle()
    expect(one.reads().toSorted()).toEqual(['p001', 'team'])
  })
})

/** For two cycles of four our clock is wrong. */
async function wrongFor(one: World, skew: { ms: number }, wrongMs: number, restart?: () => void): Promise<void> {
  for (const ms of [wrongMs, 0, -wrongMs, 0]) {
    one.clock.jumpWall(ms)
    skew.ms -= ms
    if (ms === wrongMs) restart?.()
    await later(one, HOUR / 6)
  }
}

test.each([
  ['ahead by a day', 25 * HOUR, false],
  ['ahead by a day at a start', 25 * HOUR, true],
  ['behind by a day', -25 * HOUR, false],
  ['behind by a day at a start', -25 * HOUR, true],
])(
  'a raise of a pool waits until use under the lowered caps shows, while our clock is %s, and once it is right again',
  async (_name, wrongMs, restarts) => {
    const skew = { ms: 0 }
    const config = { usageLagMs: 2 * HOUR }
    const one = await worldUnder(
      { pools: [research(1000, ['ada', 'bob'])] },
      { people: ['ada', 'bob'], config, wrapTransport: serviceClock(skew) },
    )
    recordPast(one, [{ who: 'ada', at: noon(19), credits: 980 }])
    await later(one, 5 * HOUR)
    await wrongFor(one, skew, wrongMs, restarts ? () => one.restart() : undefined)
    expect(one.caps()).toEqual({ ada: 500, bob: 260 })
    await later(one, 1.5 * HOUR)
    expect(one.caps()).toEqual({ ada: 740, bob: 260 })
  },
)

describe.each([
  ['ahead by a day', 25 * HOUR, false],
  ['behind by a day', -25 * HOUR, false],
  ['behind by a day at a start', -25 * HOUR, true],
])('while our clock is %s, and once it is right again,', (_name, wrongMs, restarts) => {
  test('weaker guards count a day later for what was not shown before', async () => {
    const skew = { ms: 0 }
    const weaker = { guards: { ...SETTINGS.guards, maxLowered: 'off', maxAffected: 'off' } } as const
    const one = await worldUnder({ caps: capsOf(20) }, { people: 20, wrapTransport: serviceClock(skew) })
    one.restart(weaker)
    await later(one, HOUR / 6)
    await later(one, HOUR / 6, { caps: capsOf(20, 300) })
    await wrongFor(one, skew, wrongMs, restarts ? () => one.restart(weaker) : undefined)
    expect(one.caps()).toEqual(capsOf(20))
    await later(one, DAY - HOUR / 2)
    expect(one.caps()).toEqual(capsOf(20, 300))
  })

  test('a pause lasts', async () => {
    const skew = { ms: 0 }
    const one = await worldUnder({ caps: { ada: 500 } }, { wrapTransport: serviceClock(skew) })
    const pausedAt = one.clock.now()
    await one.ledger.savePause({ pausedAt, untilAt: pausedAt + 4 * HOUR, reason: 'a move' })
    await one.cycle({ caps: { ada: 600 } })
    await wrongFor(one, skew, wrongMs, restarts ? () => one.restart({}) : undefined)
    expect(one.caps()).toEqual({ ada: 500 })
    await later(one, 4 * HOUR)
    expect(one.caps()).toEqual({ ada: 600 })
  })
})

describe('with a service whose clock is ten minutes ahead for good', () => {
  const skew = { ms: HOUR / 6 }

  test.each(['between cycles', 'during a request'])('hours for which the machine was suspended %s have passed', async (when) => {
    const one = await worldUnder({ caps: { ada: 500 } }, { wrapTransport: serviceClock(skew) })
    const pausedAt = one.clock.now()
    await one.ledger.savePause({ pausedAt, untilAt: pausedAt + 4 * HOUR, reason: 'a move' })
    // The service's clock, too, goes by this one.
    const suspend = (): void => {
      one.onCall = undefined
      one.clock.jumpWall(8 * HOUR)
    }
    if (when === 'during a request') whenAsked(one, reads('ada'), suspend)
    else suspend()
    await one.cycle({ caps: { ada: 600 } })
    await one.cycle()
    await one.cycle()
    expect(one.caps()).toEqual({ ada: 600 })
  })

  test('a start leaves the time of an earlier process behind, whose clock was a month ahead', async () => {
    const one = await testWorld({ wrapTransport: serviceClock(skew) })
    one.clock.jumpWall(ahead)
    await one.cycle({ caps: { ada: 500 } })
    one.clock.jumpWall(-ahead)
    one.restart()
    await one.cycle()
    expect(Math.abs((one.view().roster?.readAt ?? 0) - one.clock.now())).toBeLessThan(HOUR)
  })
})

test('an answer without a date, such as of a gateway before the service, makes no clock right that has jumped', async () => {
  const [gateway, skew] = [{ broken: false }, { ms: 0 }]
  const behind = answering(() => true, 502, gateway)
  const one = await worldUnder({ caps: { ada: 500 } }, { wrapTransport: (wire) => behind(serviceClock(skew)(wire)) })
  const pausedAt = one.clock.now()
  await one.ledger.savePause({ pausedAt, untilAt: pausedAt + 4 * HOUR, reason: 'a move' })
  gateway.broken = true
  one.clock.jumpWall(25 * HOUR)
  skew.ms = -25 * HOUR
  await one.cycle({ caps: { ada: 600 } })
  gateway.broken = false
  await later(one, HOUR / 6)
  expect(one.caps()).toEqual({ ada: 500 })
})

test('a pause that begins between two writes is kept, also while our clock is a day behind', async () => {
  const skew = { ms: 0 }
  const one = await worldUnder({ caps: { ada: 500, bob: 500 } }, { wrapTransport: serviceClock(skew), config: SERIAL })
  one.clock.jumpWall(-25 * HOUR)
  skew.ms = 25 * HOUR
  whenAsked(one, writes(), () => {
    const pausedAt = one.clock.now()
    void one.ledger.savePause({ pausedAt, untilAt: pausedAt + 4 * HOUR, reason: 'a move' })
  })
  await one.cycle({ caps: { ada: 600, bob: 600 } })
  expect(one.caps()).toEqual({ ada: 600, bob: 500 })
})
