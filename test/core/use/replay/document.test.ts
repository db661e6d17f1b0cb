// What a simulation tells: which policies it compares, the record, the rows of a cycle, and what is said of single people and caps over all
// cycles, in which order.
import { describe, expect, test } from 'vitest'
import { DAY, email, roster } from '../../../support/declare.ts'
import { cyclesOf, group, recordedOf, START, simulated, weekdays } from '../../../support/replay.ts'

const revision = { digest: '0123456789ab', revision: '' }

test('the policy and the other side are named', () => {
  const use = { ada: weekdays(1) }
  expect(simulated({ use })).toMatchObject({ workspace: 'acme', policy: revision, beside: { kind: 'inForce' } })
  expect(simulated({ use, against: {} }).beside).toEqual({ kind: 'policy', ...revision })
})

test('the record is named with its span and its kind, and an empty one has a span of no days', () => {
  const recorded = { ...recordedOf({ ada: weekdays(1) }), addOn: 'measured' } as const
  expect(simulated({ use: {}, recorded })).toMatchObject({ addOn: 'measured', recorded: { firstAt: START, lastAt: START + 25 * DAY } })
  expect(simulated({ use: {} }).recorded).toEqual({ firstAt: 0, lastAt: 0 })
  expect(simulated({ use: {}, cycles: [] }).cycles).toEqual([])
})

test('people are the approved ones of the roster, and nobody without one', () => {
  const count = (people?: ReturnType<typeof roster>) => simulated({ use: { ada: weekdays(1) }, roster: people }).cycles[0]?.total.people
  expect([count(roster({ bob: 'approved', cy: 'pending' })), count()]).toEqual([2, 1])
})

describe('the rows', () => {
  const use = { ada: weekdays(10), bob: weekdays(10), cy: weekdays(10) }
  const rows = (groups: Parameters<typeof simulated>[0]['groups'], caps: Parameters<typeof simulated>[0]['caps'] = {}) =>
    simulated({ use, groups: groups ?? [], caps }).cycles[0]?.groups.map(({ key, name, people }) => [key, name, people])

  test('are by the names of groups: those of the policy, else of the service', () => {
    const listed = [
      { ...group('x', 'ada'), name: 'Beta' },
      { ...group('a', 'bob'), name: 'Zeta' },
      { ...group('c', 'cy'), name: 'Alpha' },
    ]
    expect(rows(listed)).toEqual([
      ['group:c', 'Alpha', 1],
      ['group:x', 'Beta', 1],
      ['group:a', 'Zeta', 1],
    ])
    expect(rows(listed, { caps: { 'group:a': 500 } })?.map(([key]) => key)).toEqual(['group:a', 'group:c', 'group:x'])
  })
  test('end with people in no group, where there are groups and such people', () => {
    expect(rows([group('a', 'ada', 'bob')])).toEqual([
      ['group:a', 'A', 2],
      ['-', 'in no group', 1],
    ])
    expect(rows([group('a', 'ada', 'bob', 'cy')])).toEqual([['group:a', 'A', 3]])
    expect(rows([])).toEqual([])
  })
  test('have one for everybody', () =>
    expect(simulated({ use }).cycles[0]?.total).toMatchObject({ key: 'team', name: 'everybody', people: 3, workingDays: 60 }))
})

test('people who left count in the cycles in which they used something; approved people count in all', () => {
  const use = { ada: weekdays(10, 56), bob: [...weekdays(10), ...weekdays(0)], cy: weekdays(0, 56) }
  const { cycles, caps } = simulated({
    use,
    cycles: cyclesOf(2),
    roster: roster({ ada: 'approved', cy: 'approved', dan: 'pending' }),
    caps: { caps: { team: 95, bob: 50 } },
  })
  expect(cycles.map(({ total }) => total.people)).toEqual([3, 2])
  expect(caps.map(({ scope, personCycles, blocked }) => [scope, personCycles, blocked])).toEqual([['team', 5, 3]])
  expect(cycles.map(({ total }) => total.policy.blockedPeople.middle)).toEqual([2, 1])
  expect(caps.some(({ scope }) => scope === email('bob'))).toBe(false)
})

test('what is kept has a worth where a price is known', () => {
  const priced = simulated({ use: { ada: weekdays(10) }, caps: { caps: { team: 50 } }, pricePerCredit: 0.25 }).cycles[0]?.total
  expect(priced).toMatchObject({ kept: 150, keptMoney: 37.5 })
  expect(simulated({ use: { ada: weekdays(10) } }).cycles[0]?.total?.keptMoney).toBeUndefined()
})

const all = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, weekdays(10)]))
const whose = (list: readonly { readonly email: string }[]): readonly string[] => list.map((one) => one.email.replace('@example.com', ''))

test('caps that were reached come first, then by their names', () => {
  const { caps } = simulated({ use: all('ada', 'bob', 'cy', 'zoe'), caps: { caps: { zoe: 10, ada: 1000, cy: 500, bob: 20 } } })
  expect(caps.map(({ scope, isReached }) => [scope, isReached])).toEqual([
    [email('bob'), true],
    [email('zoe'), true],
    [email('ada'), false],
    [email('cy'), false],
  ])
})

test('blocked people are by cycle, the last one first, then by days, then by name', () => {
  const use = Object.fromEntries(['cy', 'bob', 'ada'].map((name) => [name, weekdays(10, 56)]))
  const { blocked } = simulated({
    use,
    cycles: cyclesOf(2),
    caps: { caps: { cy: 100, bob: 50, ada: 100 } },
    against: { caps: { ada: 100 } },
  })
  expect(blocked.map((one) => [one.email.replace('@example.com', ''), (one.cycleStartAt - START) / (28 * DAY), one.policy?.days])).toEqual([
    ['bob', 1, 15],
    ['ada', 1, 10],
    ['cy', 1, 10],
    ['bob', 0, 15],
    ['ada', 0, 10],
    ['cy', 0, 10],
  ])
  expect(blocked.map((one) => [one.workingDays, one.beside?.days, one.beside !== undefined])).toEqual([
    [20, undefined, false],
    [20, 10, true],
    [20, undefined, false],
    [20, undefined, false],
    [20, 10, true],
    [20, undefined, false],
  ])
})

/** Over two cycles, so that sums are told from single ones. */
const LESS = { caps: { zoe: 50, eve: 100, dan: 101, bob: 101, ada: 105, cy: 1000 } }
const inAll = Object.fromEntries(['cy', 'zoe', 'eve', 'dan', 'bob', 'ada'].map((name) => [name, weekdays(10, 56)]))

test('gains are by days, then by credits, then by name; with equal days more use is a gain', () => {
  const { gains, losses } = simulated({ use: inAll, cycles: cyclesOf(2), caps: {}, against: LESS })
  expect([whose(gains), losses]).toEqual([['zoe', 'eve', 'bob', 'dan', 'ada'], []])
  const more = simulated({
    use: inAll,
    cycles: cyclesOf(2),
    caps: { caps: { zoe: 55, eve: 105, dan: 105, bob: 105, ada: 102 } },
    against: LESS,
  })
  expect([whose(more.gains), whose(more.losses)]).toEqual([['eve', 'zoe', 'bob', 'dan'], []])
})
