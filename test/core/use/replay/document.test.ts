// What a simulation tells: which policies it compares, the record, the rows of a cycle, what is said of single people and caps over all cycles,
// in which order, and its notes, each where it is true and nowhere else.
import { describe, expect, test } from 'vitest'
import { DAY, email, type PolicySketch, policy, roster } from '../../../support/declare.ts'
import { historyOf, ownedCap, raise, TEAM } from '../../../support/ledger.ts'
import { cyclesOf, group, recordedOf, type Sketch, START, simulated, weekdays } from '../../../support/replay.ts'

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

const LAST =
  'Groups and roles are those of today, and a person whose address changed counts twice. Recorded use does not tell what people would have done had they known of another cap.'
const NOTHING_KNOWN =
  'The ledger knows of no cap that was in force: people count as without one, and nobody as blocked; in 1 person-cycle a cap may have cut demand.'
const OTHERS =
  'In force counts what the ledger knows: caps that capkeeper wrote or declared, and what it saw other clients write there. A cap that was set ' +
  'where no policy declares one is not in the ledger and counts as none.'
const POOLS =
  'Pools are dealt once a day from the use of the days before, with a first deal on the first day shown; a daemon deals up to every 4 h, and so blocks fewer.'
const estimated = (perSeat: number): string =>
  `Add-on use is estimated: what a person used in a cycle beyond the credits of a seat, assumed to be today's ${perSeat}.`
const unknownMembers = (names: string): string =>
  `The ledger does not know the members of ${names}, so their caps reach nobody here; a daemon lists them once its policies declare them.`

const notes = (sketch: Partial<Sketch>): readonly string[] => simulated({ use: { ada: weekdays(10) }, ...sketch }).notes
/** Every note but the last, which always stands. */
const special = (sketch: Partial<Sketch>): readonly string[] => {
  const all = notes(sketch)
  expect(all.at(-1)).toBe(LAST)
  return all.slice(0, -1)
}

describe('a simulation says', () => {
  const pools: PolicySketch = { pools: [{ name: 'p', members: { kind: 'emails', emails: [] }, credits: 10 }] }
  const beside: Partial<Sketch> = { against: {} }
  const measured = { ...recordedOf({ ada: weekdays(10) }), addOn: 'measured' } as const
  const stopped = { owned: [ownedCap(TEAM, 95)], cycles: cyclesOf(2) }
  const atCap = (were: string): string =>
    `${were} at a cap: what they would have used is the mean of up to four earlier equal weekdays; ranges go from nothing more to the highest of them.`
  const untold = (count: number): string =>
    `For ${count} of them no earlier day tells what they would have used; nothing is added for those days.`
  const history = [historyOf(raise(TEAM, 1000, 95), START + 28 * DAY)]
  const twice = [...weekdays(10), ...weekdays(10).map((amount, day) => (day < 11 ? amount : day === 11 ? 5 : 0))]
  const late = [...weekdays(0), 95, ...weekdays(0, 27)]

  test.each<readonly [string, Partial<Sketch>, readonly string[]]>([
    ['that use is estimated from seats, and that no cap is known', { perSeat: 20 }, [estimated(20), NOTHING_KNOWN]],
    ['nothing of seats where add-on use was measured', { recorded: measured, ...beside }, []],
    ['where caps in force come from: of what is ours', { owned: [ownedCap(TEAM, 1000)] }, [estimated(0), OTHERS]],
    ['where caps in force come from: of what was written', { history: [historyOf(raise(TEAM, 500, 1000), START)] }, [estimated(0), OTHERS]],
    [
      'since when caps in force are known',
      { cycles: cyclesOf(2), owned: [{ ...ownedCap(TEAM, 1000), verifiedAt: START + DAY }] },
      [
        estimated(0),
        OTHERS,
        'The first cap on record is of 2026-06-02, and what was in force before is not known; in 1 person-cycle a cap may have cut demand.',
      ],
    ],
    ['nothing of caps where there is nobody', { use: {}, roster: roster({}) }, [estimated(0)]],
    ['how pools are dealt, also those of the other policy', { against: pools }, [estimated(0), POOLS]],
    ['which groups it does not know', { caps: { caps: { 'group:a': 5 } }, ...beside }, [unknownMembers('group:a (A)'), estimated(0)]],
    [
      'of five groups all',
      { caps: { bare: ['a', 'b', 'c', 'd', 'e'] }, ...beside },
      [unknownMembers('group:a (A), group:b (B), group:c (C), group:d (D), group:e (E)'), estimated(0)],
    ],
    [
      'of more groups than five how many',
      { caps: { bare: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }, ...beside },
      [unknownMembers('group:a (A), group:b (B), group:c (C), group:d (D), group:e (E) and 2 more'), estimated(0)],
    ],
    ['how many were at a cap', { use: { ada: twice }, ...stopped, history }, [estimated(0), atCap('1 person was'), OTHERS]],
    [
      'of how many of them nothing tells what they wanted',
      { use: { ada: twice, bob: late, cy: late }, ...stopped, history },
      [estimated(0), atCap('3 people were'), untold(2), OTHERS],
    ],
  ])('%s', (_name, sketch, expected) => expect(special(sketch)).toEqual(expected))

  test('what is wrong with the policy on a replayed day', () => {
    const set = { caps: { 'group:a': 50, 'group:b': 30 } }
    const said = special({ caps: set, groups: [group('a', 'ada'), group('b', 'ada')], ...beside })
    expect(said.slice(1)).toEqual([estimated(0)])
    expect(said[0]).toContain('is in groups with different caps')
    expect(policy(set).groups).toHaveLength(2)
  })
})

test('a cycle that began before the first cap on record has no side in force to tell who was blocked, and nobody gains or loses in it', () => {
  const of = (more: Partial<Sketch>) =>
    simulated({ use: { ada: weekdays(10, 56) }, caps: { caps: { ada: 150 } }, cycles: cyclesOf(2), ...more })
  const told = ({ cycles, blocked, losses }: ReturnType<typeof of>) => ({
    cycles: cycles.map(({ total }) => total.beside.blockedDays?.middle),
    blocked: blocked.length,
    lost: losses.map(({ credits }) => credits.beside),
  })
  const recorded = (at: number) => ({ history: [historyOf(raise(TEAM, 500, 1000), at)] })
  expect(told(of(recorded(START)))).toEqual({ cycles: [0, 0], blocked: 2, lost: [400] })
  expect(told(of(recorded(START + 28 * DAY)))).toEqual({ cycles: [undefined, 0], blocked: 2, lost: [200] })
  expect(told(of({}))).toEqual({ cycles: [undefined, undefined], blocked: 2, lost: [] })
  expect(told(of({ against: {} }))).toEqual({ cycles: [0, 0], blocked: 2, lost: [400] })
})
