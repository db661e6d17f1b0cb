// What a pool takes from readings and what it deals, case by case: cycles, people who join and leave, protected people, own caps, calm.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { dealPool } from '../../../src/core/pools/deal.ts'
import { CYCLE, DAY, email, HOUR, type PlainCap } from '../../support/declare.ts'
import { countOf, LAG_MS, type Sight, see } from './world.ts'

type PoolTerms = Parameters<typeof dealPool>[0]

const START = CYCLE.startAt + 10 * DAY
const NEXT = { startAt: CYCLE.endAt, endAt: CYCLE.endAt + 30 * DAY }

const stateAfter = (before: Parameters<typeof see>[0], sight: Sight, members?: readonly string[]) => {
  const { state } = see(before, { now: START, members, ...sight })
  if (!state) throw new Error('nothing is known')
  return state
}

const terms = (total: number, more: Partial<PoolTerms> = {}): PoolTerms => ({
  credits: credits(total),
  share: 'equal',
  min: credits(0),
  ...more,
})

const dealtIn = (state: ReturnType<typeof dealPool>): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(Object.entries(state.members).map(([who, { dealt }]) => [who.split('@')[0], dealt]))

test.each<readonly [string, Sight, PoolTerms, Readonly<Record<string, number | undefined>>]>([
  [
    'leaves the others their min, whatever own cap a member has',
    { use: { ada: 0, bob: 0 }, caps: { ada: 'none', bob: 'none' }, own: { ada: 1500 } },
    terms(1000, { min: credits(50) }),
    { ada: 950, bob: 50 },
  ],
  [
    'gives own caps at most what is left',
    { use: { ada: 0, bob: 600 }, caps: { ada: 'none', bob: 'none' }, own: { ada: 700 } },
    terms(1000),
    { ada: 400, bob: 600 },
  ],
  [
    'counts protected members at their cap in force, and deals them nothing',
    { use: { ada: 0, bob: 0 }, caps: { ada: 700, bob: 'none' }, protected: ['ada'] },
    terms(1000),
    { ada: undefined, bob: 300 },
  ],
  ['leaves an unread one alone, raises nobody', { use: { ada: 0, bob: 0 }, caps: { ada: 50 } }, terms(1000), { ada: 50, bob: undefined }],
])('a first deal %s', (_name, sight, under, expected) => {
  expect(dealtIn(dealPool(under, stateAfter(undefined, sight), START))).toEqual(expected)
})

test('a value sent with an unknown outcome counts for a day', () => {
  const sight = { use: { ada: 10 }, caps: { ada: 500 } }
  const sent = stateAfter(stateAfter(undefined, sight), { ...sight, sent: { ada: 800 } })
  expect([sent, stateAfter(sent, { ...sight, now: START + DAY })].map((state) => countOf(state, 'ada'))).toEqual([800, 500])
})

describe('who joins and leaves', () => {
  const use = { ada: 100, bob: 100 }
  const caps = { ada: 400, bob: 400 }
  const first = dealPool(terms(1000), stateAfter(undefined, { use, caps: { ada: 'none', bob: 'none' } }), START)

  test('a newcomer counts from the use at joining', () => {
    const joined = stateAfter(first, { now: START + DAY, use: { ...use, eve: 3000 }, caps: { ...caps, eve: 3100 } })
    expect(joined.members[email('eve')]).toMatchObject({ base: 3000, use: 3000 })
    expect(countOf(joined, 'eve')).toBe(100)
  })

  test('a person who left counts with the cap still in force, and with use alone once it is gone and use must have shown', () => {
    const set = stateAfter(first, { now: START + HOUR, use, caps: { ada: 500, bob: 500 } })
    const gone = stateAfter(set, { now: START + DAY, use, caps: { ada: 500, bob: 500 } }, ['ada'])
    expect(countOf(gone, 'bob')).toBe(500)
    const cleared = stateAfter(gone, { now: START + DAY + HOUR, use: { ada: 100, bob: 200 }, caps: { ada: 500, bob: 'none' } }, ['ada'])
    const settled = stateAfter(cleared, { now: START + DAY + HOUR + LAG_MS, use: { ada: 100, bob: 230 }, caps: { bob: 'none' } }, ['ada'])
    expect(countOf(settled, 'bob')).toBe(230)
    const far = stateAfter(settled, { now: START + 3 * DAY, use: { ada: 100, bob: 9000 }, caps: { bob: 'none' } }, ['ada'])
    expect(countOf(far, 'bob')).toBe(230)
  })

  describe('a person who left counts', () => {
    const read = stateAfter(first, { now: START + HOUR, use, caps: { ada: 500, bob: 500 } })
    const set = stateAfter(read, { now: START + HOUR + LAG_MS, use })
    const lower = dealPool(terms(600), set, START + HOUR + LAG_MS)

    test('at the cap still in force, whatever lower one was dealt, even when the clock was set back before they left', () => {
      const gone = stateAfter(lower, { now: START - DAY, use, caps: { ada: 500, bob: 500 } }, ['ada'])
      expect(countOf(gone, 'bob')).toBe(500)
      expect(countOf(stateAfter(gone, { now: START + DAY, use, caps: { ada: 300, bob: 500 } }, ['ada']), 'bob')).toBe(500)
    })

    test('at the old cap, even when another client raised it, until use under it must have shown', () => {
      const gone = stateAfter(set, { now: START + DAY, use, caps: { ada: 500, bob: 500 } }, ['ada'])
      const raised = stateAfter(gone, { now: START + DAY + HOUR, use, caps: { ada: 500, bob: 900 } }, ['ada'])
      expect(countOf(raised, 'bob')).toBe(500)
      const shown = stateAfter(raised, { now: START + DAY + HOUR + LAG_MS, use: { ada: 100, bob: 480 }, caps: { bob: 900 } }, ['ada'])
      expect(countOf(shown, 'bob')).toBe(480)
    })

    test('at the cap that was in force when nothing was dealt to them, until use under it must have shown', () => {
      const sight = { use, caps: { ada: 500, bob: 500 }, protected: ['bob'] }
      const before = stateAfter(undefined, sight)
      const gone = stateAfter(before, { ...sight, now: START + HOUR }, ['ada'])
      expect(countOf(gone, 'bob')).toBe(500)
      const shown = stateAfter(gone, { ...sight, now: START + HOUR + LAG_MS, use: { ada: 100, bob: 130 } }, ['ada'])
      expect(countOf(shown, 'bob')).toBe(130)
    })
  })

  test.each<readonly [string, PlainCap, number]>([
    ['at the cap they had', 500, 500],
    ['at known use where they had none', 'none', 100],
  ])('a person no longer listed counts %s until the cycle ends', (_row, had, expected) => {
    const here = stateAfter(first, { now: START + HOUR, use, caps: { ada: 400, bob: had } })
    const gone = stateAfter(here, { now: START + DAY, use: { ada: 100 }, caps: { ada: 400, bob: 'none' } })
    const late = stateAfter(gone, { now: START + 3 * DAY, use: { ada: 100 }, caps: { ada: 400, bob: 'none' } })
    expect(countOf(late, 'bob')).toBe(expected)
    const back = stateAfter(late, { now: START + 4 * DAY, use: { ada: 100, bob: 130 }, caps: { ada: 400, bob: 'none' } }, ['ada'])
    expect(countOf(back, 'bob')).toBe(130)
  })

  test('a person who left is forgotten with the next cycle', () => {
    const gone = stateAfter(first, { now: START + DAY, use, caps }, ['ada'])
    const named = stateAfter(gone, { now: NEXT.startAt + HOUR, use: { ada: 0, bob: 0 }, caps, cycle: NEXT }, ['ada'])
    const begun = stateAfter(named, { now: NEXT.startAt + HOUR + 600_000, use: { ada: 0, bob: 0 }, caps, cycle: NEXT }, ['ada'])
    expect(Object.keys(begun.members)).toEqual([email('ada')])
  })
})

describe('the last deal stays', () => {
  const use = { ada: 100, bob: 100 }
  const first = dealPool(terms(1000), stateAfter(undefined, { use, caps: { ada: 'none', bob: 'none' } }), START)
  const later = START + 20 * DAY

  test.each<readonly [string, Sight, RegExp]>([
    ['while nothing was read of the cycle that has begun', { now: CYCLE.endAt, use }, /cycle is over/],
    ['while an earlier cycle is named', { use, cycle: { startAt: 0, endAt: 1 } }, /earlier/],
  ])('%s', (_row, sight, why) => {
    const { state, frozen } = see(first, { now: later, members: ['ada', 'bob'], ...sight })
    expect(frozen).toMatch(why)
    expect(state?.members[email('ada')]).toMatchObject({ use: 100, dealt: 500 })
  })

  test('until a second reading ten minutes later names the same cycle; then use starts again', () => {
    const named = stateAfter(first, { now: later, use: { ada: 3, bob: 0 }, cycle: NEXT })
    expect(see(named, { now: later + 599_999, use: { ada: 3, bob: 0 }, cycle: NEXT }).frozen).toMatch(/named once/)
    const begun = see(named, { now: later + 600_000, use: { ada: 4, bob: 0 }, cycle: NEXT })
    expect(begun).toMatchObject({ state: { cycle: NEXT, members: { [email('ada')]: { use: 4, base: 0 } } } })
    expect(begun.frozen).toBeUndefined()
  })

  test('while a new cycle still shows the figures of the last one', () => {
    const named = stateAfter(first, { now: NEXT.startAt + HOUR, use, cycle: NEXT })
    expect(see(named, { now: NEXT.startAt + 2 * HOUR, use, cycle: NEXT }).frozen).toMatch(/figures of the last/)
  })

  test('after a reading of the old cycle, until a new one is named twice again', () => {
    const named = stateAfter(first, { now: later, use: { ada: 0, bob: 0 }, cycle: NEXT })
    const back = stateAfter(named, { now: later + 300_000, use })
    expect(see(back, { now: later + 900_000, use: { ada: 0, bob: 0 }, cycle: NEXT }).frozen).toMatch(/named once/)
  })
})
