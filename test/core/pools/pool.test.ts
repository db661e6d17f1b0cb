// What a pool takes from readings and what it deals, case by case: cycles, people who join and leave, protected people, own caps, calm.
import { describe, expect, test } from 'vitest'
import type { Cycle } from '../../../src/core/model/observed.ts'
import { credits } from '../../../src/core/model/units.ts'
import { dealPool } from '../../../src/core/pools/deal.ts'
import { fullCount } from '../../../src/core/pools/figures.ts'
import { observePool } from '../../../src/core/pools/observe.ts'
import type { CapSince, MemberNow, PoolState } from '../../../src/core/pools/state.ts'
import { CYCLE, cap as capOf, DAY, email, HOUR, type PlainCap } from '../../support/declare.ts'
import { LAG_MS } from './world.ts'

type PoolTerms = Parameters<typeof dealPool>[0]

const START = CYCLE.startAt + 10 * DAY
const NEXT = { startAt: CYCLE.endAt, endAt: CYCLE.endAt + 30 * DAY }

interface Sight {
  readonly at?: number
  readonly use?: Readonly<Record<string, number>>
  readonly caps?: Readonly<Record<string, PlainCap>>
  readonly sent?: Readonly<Record<string, number>>
  readonly own?: Readonly<Record<string, number>>
  readonly protected?: readonly string[]
  readonly cycle?: Cycle
  readonly unknown?: string
}

/** Members are those with use, or named by `members`. */
function see(before: PoolState | undefined, sight: Sight, members = Object.keys(sight.use ?? {})): ReturnType<typeof observePool> {
  const { at = START, use = {}, caps = {}, sent = {}, own = {}, cycle = CYCLE } = sight
  const entries = <T>(record: Readonly<Record<string, T>>) => Object.entries(record).map(([name, value]) => [email(name), value] as const)
  const observation: Parameters<typeof observePool>[1] = {
    now: at,
    use:
      sight.unknown === undefined
        ? { kind: 'known', readAt: at, cycle, used: new Map(entries(use).map(([who, used]) => [who, credits(used)])) }
        : { kind: 'unknown', why: sight.unknown },
    caps: new Map(entries(caps).map(([who, cap]): [string, CapSince] => [who, { cap: capOf(cap), at }])),
    sent: new Map(entries(sent).map(([who, cap]): [string, readonly CapSince[]] => [who, [{ cap: credits(cap), at }]])),
    members: members.map((name): MemberNow => {
      const fixed = own[name]
      return {
        email: email(name),
        ...(fixed !== undefined && { fixed: credits(fixed) }),
        ...(sight.protected?.includes(name) && { protected: true }),
      }
    }),
    usageLagMs: LAG_MS,
  }
  return observePool(before, observation)
}

const stateAfter = (...args: Parameters<typeof see>): PoolState => {
  const { state } = see(...args)
  if (!state) throw new Error('nothing is known')
  return state
}

const terms = (total: number, more: Partial<PoolTerms> = {}): PoolTerms => ({
  credits: credits(total),
  share: 'equal',
  min: credits(0),
  ...more,
})

const dealtIn = ({ state }: Pick<ReturnType<typeof dealPool>, 'state'>): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(Object.entries(state.members).map(([who, { dealt }]) => [who.split('@')[0], dealt]))

describe('a first deal', () => {
  test('leaves the others their min, whatever own cap a member has', () => {
    const state = stateAfter(undefined, { use: { ada: 0, bob: 0 }, caps: { ada: 'none', bob: 'none' }, own: { ada: 1500 } })
    expect(dealtIn(dealPool(terms(1000, { min: credits(50) }), state, START))).toEqual({ ada: 950, bob: 50 })
  })

  test('only lowers while the sum is above', () => {
    const state = stateAfter(undefined, { use: { ada: 900, bob: 0, eve: 0 }, caps: { ada: 5000, bob: 5000, eve: 40 } })
    const deal = dealPool(terms(800), state, START)
    expect(dealtIn(deal)).toEqual({ ada: 900, bob: 1, eve: 1 })
    expect(deal).toMatchObject({ isUsedUp: true })
  })

  test('leaves a member whose cap was never read alone, and raises nobody meanwhile', () => {
    const state = stateAfter(undefined, { use: { ada: 0, bob: 0 }, caps: { ada: 50 } })
    const deal = dealPool(terms(1000), state, START)
    expect(dealtIn(deal)).toEqual({ ada: 50, bob: undefined })
    expect(deal.blockers).toEqual(['bob@example.com'])
  })
})

describe('user caps and grants of members', () => {
  test('are dealt first', () => {
    const state = stateAfter(undefined, {
      use: { ada: 0, bob: 0, eve: 0 },
      caps: { ada: 'none', bob: 'none', eve: 'none' },
      own: { ada: 700 },
    })
    expect(dealtIn(dealPool(terms(1000), state, START))).toEqual({ ada: 700, bob: 150, eve: 150 })
  })

  test('get at most what is left', () => {
    const state = stateAfter(undefined, { use: { ada: 0, bob: 600 }, caps: { ada: 'none', bob: 'none' }, own: { ada: 700 } })
    expect(dealtIn(dealPool(terms(1000), state, START))).toEqual({ ada: 400, bob: 600 })
  })
})

describe('protected members', () => {
  test('are not dealt, and count at their cap in force', () => {
    const sight = { use: { ada: 0, bob: 0 }, caps: { ada: 700, bob: 'none' as const }, protected: ['ada'] }
    expect(dealtIn(dealPool(terms(1000), stateAfter(undefined, sight), START))).toEqual({ ada: undefined, bob: 300 })
  })
})

describe('the sum', () => {
  const full = (state: PoolState, name: string): number | undefined => {
    const member = state.members[email(name)]
    return member && fullCount(member)
  }
  const before = stateAfter(undefined, { use: { ada: 10 }, caps: { ada: 500 } })

  test('counts a lowered cap at its old value until a reading whose data is newer than the lowering', () => {
    const lowered = stateAfter(before, { at: START + HOUR, use: { ada: 10 }, caps: { ada: 100 } })
    expect(full(lowered, 'ada')).toBe(500)
    const early = stateAfter(lowered, { at: START + HOUR + LAG_MS - 60_000, use: { ada: 20 }, caps: { ada: 100 } })
    expect(full(early, 'ada')).toBe(500)
    expect(full(stateAfter(early, { at: START + HOUR + LAG_MS, use: { ada: 130 }, caps: { ada: 100 } }), 'ada')).toBe(130)
  })

  test('does not take time for a reading: without a later one the old value counts on', () => {
    const lowered = stateAfter(before, { at: START + HOUR, use: { ada: 10 }, caps: { ada: 100 } })
    expect(full(stateAfter(lowered, { at: START + 12 * HOUR, unknown: 'away', caps: { ada: 100 } }, ['ada']), 'ada')).toBe(500)
  })

  test('counts a value sent with an unknown outcome, for a day', () => {
    const sent = stateAfter(before, { use: { ada: 10 }, caps: { ada: 500 }, sent: { ada: 800 } })
    expect(full(sent, 'ada')).toBe(800)
    expect(full(stateAfter(sent, { at: START + DAY, use: { ada: 10 }, caps: { ada: 500 } }), 'ada')).toBe(500)
  })

  test('counts what a deal gave as long as the deal lasts, even where it could not be written', () => {
    const dealt = dealPool(terms(900), before, START).state
    expect(dealtIn({ state: dealt })).toEqual({ ada: 900 })
    expect(full(stateAfter(dealt, { at: START + HOUR, use: { ada: 10 }, caps: { ada: 500 } }), 'ada')).toBe(900)
  })

  test('waits for data newer than the lowering even after a clock that was a day ahead', () => {
    const ahead = stateAfter(before, { at: START + DAY, use: { ada: 10 }, caps: { ada: 500 } })
    const lowered = stateAfter(ahead, { at: START + HOUR, use: { ada: 10 }, caps: { ada: 100 } })
    expect(full(lowered, 'ada')).toBe(500)
    expect(full(stateAfter(lowered, { at: START + HOUR + LAG_MS, use: { ada: 130 }, caps: { ada: 100 } }), 'ada')).toBe(130)
  })

  test('never takes use back within a cycle', () => {
    expect(stateAfter(before, { at: START + HOUR, use: { ada: 4 } }).members[email('ada')]?.use).toBe(10)
  })
})

describe('who joins and leaves', () => {
  const use = { ada: 100, bob: 100 }
  const caps = { ada: 400, bob: 400 }
  const first = dealPool(terms(1000), stateAfter(undefined, { use, caps: { ada: 'none', bob: 'none' } }), START).state

  test('a newcomer counts from the use at joining', () => {
    const joined = stateAfter(first, { at: START + DAY, use: { ...use, eve: 3000 }, caps: { ...caps, eve: 3100 } })
    expect(joined.members[email('eve')]).toMatchObject({ base: 3000, use: 3000 })
    expect(fullCount(joined.members[email('eve')] ?? { base: credits(0), sent: [], lowered: [] })).toBe(100)
  })

  test('an uncapped newcomer is dealt at once, and the others make room', () => {
    const joined = stateAfter(first, { at: START + HOUR, use: { ...use, eve: 0 }, caps: { ada: 500, bob: 500, eve: 'none' } })
    const deal = dealtIn(dealPool(terms(1000), joined, START + HOUR))
    expect(deal).toEqual({ ada: 366, bob: 366, eve: 266 })
  })

  test('a person who left counts with the cap still in force, and with use alone once it is gone and use must have shown', () => {
    const set = stateAfter(first, { at: START + HOUR, use, caps: { ada: 500, bob: 500 } })
    const gone = stateAfter(set, { at: START + DAY, use, caps: { ada: 500, bob: 500 } }, ['ada'])
    expect(fullCount(gone.members[email('bob')] ?? never())).toBe(500)
    const cleared = stateAfter(gone, { at: START + DAY + HOUR, use: { ada: 100, bob: 200 }, caps: { ada: 500, bob: 'none' } }, ['ada'])
    const settled = stateAfter(cleared, { at: START + DAY + HOUR + LAG_MS, use: { ada: 100, bob: 230 }, caps: { bob: 'none' } }, ['ada'])
    expect(fullCount(settled.members[email('bob')] ?? never())).toBe(230)
    const far = stateAfter(settled, { at: START + 3 * DAY, use: { ada: 100, bob: 9000 }, caps: { bob: 'none' } }, ['ada'])
    expect(fullCount(far.members[email('bob')] ?? never())).toBe(230)
  })

  describe('a person who left counts', () => {
    const read = stateAfter(first, { at: START + HOUR, use, caps: { ada: 500, bob: 500 } })
    const set = stateAfter(read, { at: START + HOUR + LAG_MS, use })
    const countOf = (state: PoolState): number => fullCount(state.members[email('bob')] ?? never())
    const lower = dealPool(terms(600), set, START + HOUR + LAG_MS).state

    test('at the cap still in force, whatever lower one was dealt, even when the clock was set back before they left', () => {
      const gone = stateAfter(lower, { at: START - DAY, use, caps: { ada: 500, bob: 500 } }, ['ada'])
      expect(countOf(gone)).toBe(500)
      expect(countOf(stateAfter(gone, { at: START + DAY, use, caps: { ada: 300, bob: 500 } }, ['ada']))).toBe(500)
    })

    test('at the old cap, even when another client raised it, until use under it must have shown', () => {
      const gone = stateAfter(set, { at: START + DAY, use, caps: { ada: 500, bob: 500 } }, ['ada'])
      const raised = stateAfter(gone, { at: START + DAY + HOUR, use, caps: { ada: 500, bob: 900 } }, ['ada'])
      expect(countOf(raised)).toBe(500)
      const shown = stateAfter(raised, { at: START + DAY + HOUR + LAG_MS, use: { ada: 100, bob: 480 }, caps: { bob: 900 } }, ['ada'])
      expect(countOf(shown)).toBe(480)
    })

    test('at the cap that was in force when nothing was dealt to them, until use under it must have shown', () => {
      const sight = { use, caps: { ada: 500, bob: 500 }, protected: ['bob'] }
      const before = stateAfter(undefined, sight)
      const gone = stateAfter(before, { ...sight, at: START + HOUR }, ['ada'])
      expect(countOf(gone)).toBe(500)
      const shown = stateAfter(gone, { ...sight, at: START + HOUR + LAG_MS, use: { ada: 100, bob: 130 } }, ['ada'])
      expect(countOf(shown)).toBe(130)
    })
  })

  test.each<readonly [string, PlainCap, number]>([
    ['at the cap they had', 500, 500],
    ['at known use where they had none', 'none', 100],
  ])('a person no longer listed counts %s until the cycle ends', (_row, had, expected) => {
    const here = stateAfter(first, { at: START + HOUR, use, caps: { ada: 400, bob: had } })
    const gone = stateAfter(here, { at: START + DAY, use: { ada: 100 }, caps: { ada: 400, bob: 'none' } })
    const late = stateAfter(gone, { at: START + 3 * DAY, use: { ada: 100 }, caps: { ada: 400, bob: 'none' } })
    expect(fullCount(late.members[email('bob')] ?? never())).toBe(expected)
    const back = stateAfter(late, { at: START + 4 * DAY, use: { ada: 100, bob: 130 }, caps: { ada: 400, bob: 'none' } }, ['ada'])
    expect(fullCount(back.members[email('bob')] ?? never())).toBe(130)
  })

  test('a person who left is forgotten with the next cycle', () => {
    const gone = stateAfter(first, { at: START + DAY, use, caps }, ['ada'])
    const named = stateAfter(gone, { at: NEXT.startAt + HOUR, use: { ada: 0, bob: 0 }, caps, cycle: NEXT }, ['ada'])
    const begun = stateAfter(named, { at: NEXT.startAt + HOUR + 600_000, use: { ada: 0, bob: 0 }, caps, cycle: NEXT }, ['ada'])
    expect(Object.keys(begun.members)).toEqual([email('ada')])
  })
})

function never(): never {
  throw new Error('not a member')
}

describe('the last deal stays', () => {
  const use = { ada: 100, bob: 100 }
  const first = dealPool(terms(1000), stateAfter(undefined, { use, caps: { ada: 'none', bob: 'none' } }), START).state
  const later = START + 20 * DAY

  test.each<readonly [string, Sight, RegExp]>([
    ['while use is unknown', { unknown: 'no row carries use' }, /no row carries use/],
    ['while one reading alone names a new cycle', { use: { ada: 0, bob: 0 }, cycle: NEXT }, /named once/],
    ['while nothing was read of the cycle that has begun', { at: CYCLE.endAt, use }, /cycle is over/],
    ['while an earlier cycle is named', { use, cycle: { startAt: 0, endAt: 1 } }, /earlier/],
  ])('%s', (_row, sight, why) => {
    const { state, frozen } = see(first, { at: later, ...sight }, ['ada', 'bob'])
    expect(frozen).toMatch(why)
    expect(state?.members[email('ada')]).toMatchObject({ use: 100, dealt: 500 })
  })

  test('until a second reading ten minutes later names the same cycle; then use starts again', () => {
    const named = stateAfter(first, { at: later, use: { ada: 3, bob: 0 }, cycle: NEXT })
    expect(see(named, { at: later + 599_999, use: { ada: 3, bob: 0 }, cycle: NEXT }).frozen).toMatch(/named once/)
    const begun = see(named, { at: later + 600_000, use: { ada: 4, bob: 0 }, cycle: NEXT })
    expect(begun).toMatchObject({ state: { cycle: NEXT, members: { [email('ada')]: { use: 4, base: 0 } } } })
    expect(begun.frozen).toBeUndefined()
  })

  test('while a new cycle still shows the figures of the last one', () => {
    const named = stateAfter(first, { at: NEXT.startAt + HOUR, use, cycle: NEXT })
    expect(see(named, { at: NEXT.startAt + 2 * HOUR, use, cycle: NEXT }).frozen).toMatch(/figures of the last/)
  })

  test('after a reading of the old cycle, until a new one is named twice again', () => {
    const named = stateAfter(first, { at: later, use: { ada: 0, bob: 0 }, cycle: NEXT })
    const back = stateAfter(named, { at: later + 300_000, use })
    expect(see(back, { at: later + 900_000, use: { ada: 0, bob: 0 }, cycle: NEXT }).frozen).toMatch(/named once/)
  })

  test('when use was not read for a day', () => {
    expect(see(first, { at: START + DAY + 1, unknown: 'away' }, ['ada', 'bob']).frozen).toBe('away')
  })
})

describe('a quiet pool', () => {
  const first = dealPool(terms(1000), stateAfter(undefined, { use: { ada: 0, bob: 0 }, caps: { ada: 'none', bob: 'none' } }), START).state
  const caps = { ada: 500, bob: 500 }

  test.each<readonly [string, number, Readonly<Record<string, number>>, Readonly<Record<string, number>>]>([
    ['keeps its deal while nobody comes near', 5 * HOUR, { ada: 30, bob: 0 }, { ada: 500, bob: 500 }],
    ['keeps its deal for four hours, whatever happens', 3.9 * HOUR, { ada: 480, bob: 0 }, { ada: 500, bob: 500 }],
    ['lowers a member for another near their cap', 5 * HOUR, { ada: 480, bob: 0 }, { ada: 500, bob: 260 }],
  ])('%s', (_row, after, use, dealt) => {
    expect(dealtIn(dealPool(terms(1000), stateAfter(first, { at: START + after, use, caps }), START + after))).toEqual(dealt)
  })

  test('raises only after a later reading, when what was lowered is free', () => {
    const at = START + 5 * HOUR
    const use = { ada: 480, bob: 0 }
    const lowered = dealPool(terms(1000), stateAfter(first, { at, use, caps }), at).state
    const written = stateAfter(lowered, { at: at + 60_000, use, caps: { ada: 500, bob: 260 } })
    const soon = dealPool(terms(1000), written, at + 60_000, { always: true })
    expect(dealtIn(soon)).toEqual({ ada: 500, bob: 260 })
    const shown = stateAfter(written, { at: at + 4.5 * HOUR, use, caps: { ada: 500, bob: 260 } })
    expect(dealtIn(dealPool(terms(1000), shown, at + 4.5 * HOUR))).toEqual({ ada: 740, bob: 260 })
  })

  test('deals at once under a changed declaration', () => {
    const at = START + HOUR
    expect(dealtIn(dealPool(terms(600), stateAfter(first, { at, use: { ada: 0, bob: 0 }, caps }), at))).toEqual({ ada: 300, bob: 300 })
  })

  test('puts a foreign raise back to what it gave', () => {
    const at = START + 5 * HOUR
    const raised = stateAfter(first, { at, use: { ada: 10, bob: 0 }, caps: { ada: 9000, bob: 500 } })
    expect(dealtIn(dealPool(terms(1000), raised, at))).toEqual({ ada: 500, bob: 500 })
  })
})

test('need gives more to members who use more, as far as their pace goes', () => {
  const state = stateAfter(undefined, { use: { ada: 400, bob: 50, eve: 0 }, caps: { ada: 'none', bob: 'none', eve: 'none' } })
  const dealt = dealtIn(dealPool(terms(1500, { share: 'need' }), state, START))
  expect(dealt['ada']).toBeGreaterThan(dealt['bob'] ?? 0)
  expect(dealt['bob']).toBeGreaterThan(dealt['eve'] ?? 0)
  expect((dealt['ada'] ?? 0) + (dealt['bob'] ?? 0) + (dealt['eve'] ?? 0)).toBeLessThanOrEqual(1500)
})
