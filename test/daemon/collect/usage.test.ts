// Reading people, groups and the balance: a part that fails keeps its last known good value, is reported, and never stops the others.
// And the turn of a billing cycle: a service that still shows the old figures, single answers that name another cycle, and what follows of that.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { EMAIL_LABELS } from '../../../src/daemon/http/labels.ts'
import { worldClock } from '../../support/clock.ts'
import { CYCLE, email, HOUR, NOW, type PolicySketch, SETTINGS } from '../../support/declare.ts'
import { answering, edited, instead, listings, type Match } from '../../support/faults.ts'
import { living, loopOver, MINUTE, outage, passUntil, person, SECOND, worldUnder } from '../../support/living.ts'
import { NOTIFY } from '../../support/notify.ts'
import { daily, midnight, noon, recordPast } from '../../support/use.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const DECLARED: PolicySketch = { caps: { team: 500, 'group:a': 900, 'group:b': 800 } }
const COMPANY = { people: ['ada', 'bob', 'cleo'], groups: { a: ['ada'], b: ['bob'] } }

const ofPeople: Match = (operation) => operation === 'UserPageAnalytics'
const ofRoster: Match = (operation, body) => operation === 'UserPageAnalytics' && !('group_name' in body)

describe('a part that fails', () => {
  test.each<readonly [string, string, Match]>([
    ['the roster', 'ROSTER_UNREAD', ofRoster],
    ['the balance', 'BALANCE_UNREAD', (operation) => operation === 'GetTeamCreditBalance'],
    ['the members of a group', 'GROUP_UNREAD', listings('A')],
  ])('%s: the last good value serves, one warning says so, and the others are read', async (_row, code, fails) => {
    const storm = { broken: false }
    const one = await worldUnder(DECLARED, { ...COMPANY, wrapTransport: answering(fails, 400, storm) })
    const before = one.state.usage
    storm.broken = true
    one.forget()
    await one.clock.pass(HOUR)
    one.setMembers('b', ['bob', 'cleo'])
    await one.cycle()
    await one.cycle()
    expect(one.begun('UsageUnread').map(({ reason }) => reason)).toEqual([code])
    const after = one.state.usage
    expect(after?.roster.people).toEqual(before?.roster.people)
    expect(after?.groups.map((group) => group.emails.length)).toEqual([1, 2])
    expect(after?.balance).toBeDefined()
  })

  test.each<readonly [string, Match]>([
    ['the roster', ofRoster],
    ['groups', listings()],
    ['both', ofPeople],
  ])('%s, unanswered for ever: caps wait for it no longer than one answer may take, and some', async (_row, hangs) => {
    const hung = { is: false, since: 0 }
    const clock = worldClock()
    const wrapTransport = instead(async (operation, body, _ask, { timeoutMs, signal }) => {
      if (!hung.is || !hangs(operation, body)) return undefined
      hung.since ||= clock.monotonic()
      await clock.sleep(timeoutMs, signal)
      return { kind: 'timeout', message: 'no answer' }
    })
    const { one, set } = await living({ ...COMPANY, clock, wrapTransport, config: { intervalMs: MINUTE } })
    set(DECLARED)
    await one.clock.pass(HOUR)
    hung.is = true
    await passUntil(one, () => hung.since > 0, HOUR, SECOND)
    one.foreign('group:a', 5)
    await passUntil(one, () => one.caps()['group:a'] === 900, HOUR, SECOND)
    expect(clock.monotonic() - hung.since).toBeLessThan(3 * MINUTE)
    expect(one.begun('UsageUnread').length).toBeGreaterThan(0)
  })

  test('a key that may not list people still shows the balance', async () => {
    const one = await worldUnder(DECLARED, { ...COMPANY, wrapTransport: answering(ofPeople, 400) })
    expect(one.view()).toMatchObject({ balance: { seats: expect.any(Number) } })
    expect(one.view().roster).toBeUndefined()
  })

  test('an outage and its end are reported once each, and a later outage again', async () => {
    const away = { is: false }
    const { one, set } = await living({ ...COMPANY, wrapTransport: outage(away) })
    set(DECLARED)
    await one.clock.pass(HOUR)
    for (let round = 1; round <= 2; round += 1) {
      away.is = true
      one.forget()
      await one.clock.pass(3 * HOUR)
      const told = one.begun('UsageUnread').map(({ subject, reason }) => `${subject} ${reason}`)
      expect(told).toEqual([...new Set(told)])
      expect(one.begun('ServiceUnreachable')).toHaveLength(1)
      expect(
        one
          .view()
          .conditions.map(({ type }) => type)
          .sort(),
      ).toEqual(['ServiceUnreachable'])
      away.is = false
      await one.clock.pass(HOUR)
      expect(one.view().conditions).toEqual([])
      expect(one.ended('ServiceUnreachable', 'CycleFailed')).toHaveLength(1)
    }
  })

  test('for good keeps the caps, and after 24 h the old roster holds everything', async () => {
    const storm = { broken: false }
    const one = await worldUnder(DECLARED, { ...COMPANY, wrapTransport: answering(ofPeople, 400, storm) })
    storm.broken = true
    await one.clock.pass(23 * HOUR)
    expect((await one.cycle({ caps: { ...DECLARED.caps, team: 600 } })).result).toBe('success')
    await one.clock.pass(2 * HOUR)
    expect((await one.cycle({ caps: { ...DECLARED.caps, team: 700 } })).result).toBe('held')
    expect(one.caps()).toMatchObject({ team: 600 })
  })
})

describe('special cases', () => {
  test('when no row has a status everybody is approved, with one warning', async () => {
    const one = await testWorld({ wrapTransport: edited(ofPeople, (text) => text.replaceAll(/,"teamStatus":"[A-Z_]+"/g, '')) })
    expect((await one.cycle({ caps: { ada: 500 } })).result).toBe('success')
    await one.cycle()
    expect(one.warned()).toEqual(['STATUSES_ABSENT'])
    expect(one.caps()).toEqual({ ada: 500 })
  })

  test('old figures of use count for six hours of a new cycle', async () => {
    const one = await testWorld({ people: 40 })
    for (const name of ['p001', 'p002', 'p003', 'p004']) one.sandbox.recordUse(`${name}@example.com`, 250_000)
    const caps = { p001: 4000, p002: 4000, p003: 4000, p004: 4000 }
    const lower = { p001: 1900, p002: 1900, p003: 1900, p004: 1900 }
    await one.clock.pass(CYCLE.endAt - NOW - HOUR)
    await one.cycle({ caps })
    await one.clock.pass(2 * HOUR)
    const { planned } = await one.cycle({ caps: lower })
    expect(one.state.usage?.previousCycle?.used['p001@example.com']).toBe(credits(2500))
    expect(planned.plan.holds).toMatchObject([{ guards: ['maxBlocked'], people: 4 }])
    await one.clock.pass(6 * HOUR)
    expect((await one.cycle()).result).toBe('success')
  })
})

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
  await one.cycle(undefined, { alone: false, approve: planned.plan.holds.map(({ id }) => id) })
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
