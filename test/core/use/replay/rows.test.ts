// The rows of a replayed cycle: which groups have one, who counts in them, and what the difference is worth.
import { describe, expect, test } from 'vitest'
import { email, roster } from '../../../support/declare.ts'
import { cyclesOf, group, simulated, weekdays } from '../../../support/replay.ts'

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
