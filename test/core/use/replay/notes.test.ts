// The notes of a simulation: each appears where it is true, and nowhere else.
import { describe, expect, test } from 'vitest'
import { DAY, type PolicySketch, policy, roster } from '../../../support/declare.ts'
import { historyOf, ownedCap, raise, TEAM } from '../../../support/ledger.ts'
import { cyclesOf, group, recordedOf, type Sketch, START, simulated, weekdays } from '../../../support/replay.ts'

const LAST = 'Groups and roles are those of today. Recorded use does not tell what people would have done had they known of another cap.'
const NOTHING_KNOWN =
  'The ledger knows of no cap that was in force: people count as without one, and nobody as blocked; in 1 person-cycle a cap may have cut demand.'
const OTHERS =
  'In force counts what the ledger knows: caps that capkeeper wrote or declared, and what it saw other clients write there. A cap that was set ' +
  'where no policy declares one is not in the ledger and counts as none.'
const POOLS =
  'Pools are dealt once a day from the use of the days before, with a first deal on the first day shown; a daemon deals up to every 4 h, and so blocks fewer.'
const estimated = (perSeat: number): string =>
  `Add-on use is estimated: what a person used in a cycle beyond the credits of a seat, assumed to be today's ${perSeat}.`
const silent = (on: string): string => `${on} no use at all: if no daemon ran then, that use counts on the day after, or is missing.`
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
    ['one weekday without use', { use: { ada: weekdays(10).with(8, 0) }, ...beside }, [estimated(0), silent('1 weekday has')]],
    [
      'only of shown cycles which days have no use',
      { use: { ada: weekdays(10, 84).with(8, 0).with(78, 0) }, cycles: cyclesOf(2), shown: 1, ...beside },
      [estimated(0)],
    ],
    [
      'also of the first and the last shown day that they have use',
      { use: { ada: weekdays(0, 84).with(28, 1).with(53, 1).with(56, 1) }, cycles: cyclesOf(2), shown: 1, ...beside },
      [estimated(0), silent('18 weekdays have')],
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
