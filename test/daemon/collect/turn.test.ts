// The turn of a billing cycle: a service that still shows the old figures, and single answers that name another cycle; and what of that is
// burned, notified, granted and counted by guards.
import { describe, expect, test } from 'vitest'
import { EMAIL_LABELS } from '../../../src/daemon/http/status/labels.ts'
import { worldClock } from '../../support/clock.ts'
import { email, HOUR, NOW } from '../../support/declare.ts'
import { edited } from '../../support/faults.ts'
import { loopOver, MINUTE, person } from '../../support/living.ts'
import { NOTIFY } from '../../support/notify.ts'
import { daily, midnight, noon, recordPast } from '../../support/use.ts'
import { SETTINGS, testWorld, type World, type WorldOptions } from '../../support/world.ts'

interface Answer {
  readonly billingCycleStart?: string
  readonly billingCycleEnd?: string
  readonly userTableStats: readonly { readonly promptCreditsUsed?: number }[]
}

/** Changes the answers of the roster. */
const roster = (say: (answer: Answer) => Answer) =>
  edited(
    (operation) => operation === 'UserPageAnalytics',
    (text) => JSON.stringify(say(JSON.parse(text) as Answer)),
  )

const NOVEMBER = { billingCycleStart: '2026-11-01T00:00:00Z', billingCycleEnd: '2026-12-01T00:00:00Z' }
const DECEMBER = { billingCycleStart: '2026-12-01T00:00:00Z', billingCycleEnd: '2027-01-01T00:00:00Z' }
const DECEMBER_AT = midnight(1, 12)

/** December begins, and the roster shows the figures of November for `forMs` more; the service's clock is `aheadMs` ahead of ours. */
function turning(forMs: number, aheadMs = 0): Pick<WorldOptions, 'clock' | 'wrapTransport'> {
  const clock = worldClock(midnight(30) + 22 * HOUR)
  let last: Answer['userTableStats'] = []
  const wrapTransport = roster((answer) => {
    const now = clock.now() + aheadMs
    if (now < DECEMBER_AT) {
      last = answer.userTableStats
      return answer
    }
    return { ...answer, ...DECEMBER, ...(now < DECEMBER_AT + forMs && { userTableStats: last }) }
  })
  return { clock, wrapTransport }
}

/** While `is`, the roster names this cycle. */
function naming(cycle: object) {
  const names = { is: false }
  return { names, wrapTransport: roster((answer) => (names.is ? { ...answer, ...cycle } : answer)) }
}

/** A daemon that notifies people, and its notifications. */
async function telling(options: WorldOptions) {
  const subjects: string[] = []
  const notifier: NonNullable<World['workspace']['notifier']> = {
    ...EMAIL_LABELS,
    settings: { ...NOTIFY, pools: [] },
    async send({ subject, to }) {
      subjects.push(`${to.kind === 'email' ? to.address : ''}: ${subject}`)
      return { kind: 'sent' }
    },
    kept: async () => [],
  }
  const one = await testWorld({ people: ['ada', 'bob'], parts: { notifier }, ...options })
  loopOver(one, { caps: { team: 1000 } })
  return { one, subjects: (): readonly string[] => [...subjects] }
}

describe('while the figures are those of the cycle before', () => {
  test.each([2])('nothing is burned, also by a clock that is %i min behind the service', async (minutes) => {
    const one = await testWorld({
      people: ['ada', 'bob'],
      ...turning(2 * HOUR, minutes * MINUTE),
      config: { intervalMs: HOUR, usageIntervalMs: MINUTE },
    })
    recordPast(one, daily('ada', 100, noon(5), midnight(30)))
    loopOver(one, { caps: { team: 500 } })
    await one.clock.pass(5 * HOUR)
    const days = await one.ledger.useByPerson({ fromAt: 0, untilAt: NOW + 60 * 24 * HOUR })
    expect({ burned: one.ledger.fact('burned')?.team, days }).toEqual({ burned: 0, days: [] })
  })

  test.each([2])('for %i h, no person is notified of them, and later figures are notified', async (hours) => {
    const { one, subjects } = await telling(turning(hours * HOUR))
    recordPast(one, [{ who: 'ada', at: noon(10), credits: 1500 }])
    await one.clock.pass(HOUR)
    const ended = ['ada@example.com: 100 % of your add-on credits are used']
    expect(subjects()).toEqual(ended)
    await one.clock.pass(12 * HOUR)
    expect(subjects()).toEqual(ended)
    recordPast(one, [{ who: 'ada', at: one.clock.now() + MINUTE, credits: 1600 }])
    await one.clock.pass(2 * HOUR)
    expect(subjects().slice(1)).toEqual(['ada@example.com: 110 % of your add-on credits are used'])
  })

  test('use in the new cycle is unknown, and the old figures count for the previous cycle', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], ...turning(2 * HOUR) })
    recordPast(one, [{ who: 'ada', at: noon(10), credits: 1500 }])
    await one.cycle({ caps: { team: 500 } })
    const shown = () => {
      const { roster, previousCycle, turn } = one.state.usage ?? {}
      const used = roster?.people.find((person) => person.email === email('ada'))?.used
      return { used, startAt: roster?.cycle?.startAt, before: previousCycle?.used[email('ada')], isOpen: turn !== undefined }
    }
    await one.clock.pass(3 * HOUR)
    await one.cycle()
    expect(shown()).toEqual({ used: undefined, startAt: DECEMBER_AT, before: 1500, isOpen: true })
    one.restart()
    await one.clock.pass(2 * HOUR)
    await one.cycle()
    expect(shown()).toEqual({ used: 0, startAt: DECEMBER_AT, before: 1500, isOpen: false })
  })
})

describe('one answer that names another cycle', () => {
  test('keeps no person from being notified', async () => {
    const { names, wrapTransport } = naming(DECEMBER)
    const { one, subjects } = await telling({ wrapTransport })
    recordPast(one, [{ who: 'ada', at: noon(10), credits: 1500 }])
    await one.clock.pass(HOUR)
    names.is = true
    await one.clock.pass(15 * MINUTE)
    names.is = false
    await one.clock.pass(2 * HOUR)
    recordPast(one, [{ who: 'bob', at: one.clock.now(), credits: 1600 }])
    await one.clock.pass(3 * HOUR)
    expect(subjects().map((text) => text.split(':')[0])).toEqual(['ada@example.com', 'bob@example.com'])
  })

  test.each([
    ['a later one', DECEMBER, NOW, NOW - HOUR],
    ['an earlier one', NOVEMBER, DECEMBER_AT + HOUR, DECEMBER_AT],
  ])('(%s) ends no grant', async (_which, cycle, startAt, from) => {
    const { names, wrapTransport } = naming(cycle)
    const one = await testWorld({ people: ['ada', 'bob'], clock: worldClock(startAt), wrapTransport })
    await one.cycle({ caps: { team: 500, ada: 1000 }, grants: [{ on: 'ada', cap: 6000, from, until: 'cycleEnd' }] })
    expect(one.caps()['ada']).toBe(6000)
    one.forget()
    for (const is of [true, false]) {
      names.is = is
      await one.clock.pass(15 * MINUTE)
      await one.cycle()
    }
    expect(one.writes()).toEqual([])
  })
})

test('an approved roster that names a later cycle once is believed for its people, and not for its cycle', async () => {
  const { names, wrapTransport } = naming(DECEMBER)
  const one = await testWorld({ people: 10, wrapTransport })
  recordPast(one, [{ who: 'p001', at: noon(10), credits: 1300 }])
  await one.cycle({ caps: { team: 2000 } })
  names.is = true
  await one.clock.pass(15 * MINUTE)
  for (const number of [7, 8, 9]) one.setStatus(person(number), 'PENDING')
  const { planned } = await one.cycle({ caps: { team: 1900 } })
  expect(one.state.usage?.doubted).toBeDefined()
  await one.cycle(undefined, { usage: false, approve: planned.plan.holds.map(({ id }) => id) })
  const { roster, doubted, turn } = one.state.usage ?? {}
  expect(doubted).toBeUndefined()
  expect(roster?.people.filter(({ status }) => status === 'pending')).toHaveLength(3)
  expect([roster?.cycle?.endAt, turn?.cycle.startAt]).toEqual([DECEMBER_AT, DECEMBER_AT])
  expect(roster?.people.find((one) => one.email === email('p001'))?.used).toBe(1300)
})

test.each(['the roster', 'only the balance'])('a cycle that %s names leaves the figures of the last one counting for 6 h', async (who) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const capped = (cap: number) => ({ caps: Object.fromEntries(names.map((name) => [name, cap])) })
  const one: World = await testWorld({
    people: names,
    clock: worldClock(midnight(30) + 23 * HOUR),
    config: { guards: { ...SETTINGS.guards, maxAffected: 'off', maxLowered: 'off' } },
    wrapTransport: roster(({ billingCycleStart, billingCycleEnd, ...rest }) =>
      who === 'the roster' ? ({ billingCycleStart, billingCycleEnd, ...rest } as Answer) : rest,
    ),
  })
  recordPast(
    one,
    names.map((name) => ({ who: name, at: noon(10), credits: 1300 })),
  )
  await one.cycle(capped(2000))
  await one.clock.pass(HOUR + 10 * MINUTE)
  await one.cycle()
  one.forget()
  const { planned } = await one.cycle(capped(700))
  expect(planned.plan.holds).toMatchObject([{ guards: ['maxBlocked'], people: 6 }])
  expect(one.writes()).toEqual([])
})
