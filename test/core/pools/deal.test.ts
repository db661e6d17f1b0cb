// What a deal gives, to the credit: when a pool is dealt again, what a deal aims at, whether that is worth a write, and what of it goes out at
// once; its laws are in laws.test.ts.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { dealPool } from '../../../src/core/pools/deal.ts'
import { CYCLE, DAY, HOUR, NOW, type PlainCap } from '../../support/declare.ts'
import { figuresOf, type MemberSketch, type Members, since, stateOf } from './world.ts'

type PoolTerms = Parameters<typeof dealPool>[0]

/** A Monday, after five of the 21 working days. */
const AT = CYCLE.startAt + 8 * DAY

type Bounds = Partial<Record<'min' | 'max', number>>
const terms = (total: number, more: Bounds = {}, share: PoolTerms['share'] = 'equal'): PoolTerms => ({
  ...{ credits: credits(total), share, min: credits(more.min ?? 0) },
  ...(more.max !== undefined && { max: credits(more.max) }),
})
const need = (total: number, more: Bounds = {}): PoolTerms => terms(total, more, 'need')

/** People without a cap and without use, but for what is given. */
const stateAt = (members: Members, more: Parameters<typeof stateOf>[1]) => {
  const people = Object.entries(members).map(([name, one]): [string, MemberSketch] => [name, { use: 0, cap: 'none', ...one }])
  return stateOf(Object.fromEntries(people), { readAt: AT, ...more }, CYCLE.startAt)
}

/** What still counts though it was lowered. */
const low = (amount: number) => [since(amount, AT)]

/** What everybody is dealt. */
const dealt = (members: Members, under: PoolTerms): Readonly<Record<string, number | undefined>> => {
  const state = dealPool(under, stateAt(members, { dealtAt: undefined }), AT, { always: true })
  return Object.fromEntries(Object.entries(state.members).map(([who, one]) => [who.split('@')[0], one.dealt]))
}

/** Nine who are far from their caps, which are as they should be. */
const NINE = (amount: number, use = 0): Members =>
  Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, { cap: amount, use }]))

/** Expected to use 216, 126 and 36 in all, at paces of 9.75, 6 and 2.25 a day. */
const three: Members = { ada: { use: 60 }, bob: { use: 30 }, cyd: {} }
test.each<readonly [string, Members, PoolTerms, Readonly<Record<string, number | undefined>>]>([
  ['first a cap of their own', { ada: { use: 300, fixed: 500 }, bob: {} }, terms(1000, { min: 900 }), { ada: 300, bob: 700 }],
  [
    'nothing of what rounding leaves of caps that are not paid for in full',
    { ada: { fixed: 100 }, bob: { fixed: 100 }, cyd: { fixed: 100 }, dan: {} },
    terms(150, { min: 50 }),
    { ada: 33, bob: 33, cyd: 33, dan: 50 },
  ],
  ['no more than any cap may be', { ada: {} }, terms(2 ** 40), { ada: 2_147_483_647 }],
  ['by need what is left over', three, need(1000), { ada: 553, bob: 333, cyd: 113 }],
  ['by need the least', three, need(500, { min: 150 }), { ada: 200, bob: 150, cyd: 150 }],
  ['by need the most', three, need(500, { max: 180 }), { ada: 180, bob: 180, cyd: 140 }],
  ['by need, of use in parts', { ada: { use: 8.2 }, bob: { use: 0.4 } }, need(20), { ada: 14, bob: 6 }],
  ['by need, less than others paid for', { ...three, ada: { use: 60, base: 300 } }, need(200), { ada: 200, bob: 154, cyd: 46 }],
  ['at the pace of those who stay', { ...three, cyd: { use: 900, left: { at: AT } } }, need(1900), { ada: 610, bob: 390 }],
  ['what a protected member leaves', { ada: {}, bob: { protected: true, cap: 60, fixed: 70 } }, terms(1000), { ada: 940 }],
  ['what a protected member is to get', { ada: {}, bob: { protected: true, fixed: 70, base: 4, use: 10 } }, terms(1000), { ada: 934 }],
  ['what an unread protected member used', { ada: {}, bob: { protected: true, cap: undefined, use: 10 } }, terms(1000), { ada: 990 }],
  ['what one who left used, whatever was to come', { ada: {}, bob: { left: { at: AT }, fixed: 70, use: 10 } }, terms(1000), { ada: 990 }],
])('people without a cap get %s', (_name, members, under, expected) => expect(dealt(members, under)).toEqual(expected))

const two = (ada: PlainCap, bob: PlainCap): Members => ({ ada: { cap: ada }, bob: { cap: bob } })
/** Four hours after a deal of the caps in force. */
const matters = (members: Members, under: PoolTerms): boolean => {
  const known = Object.entries(members).map(
    ([name, one]) => [name, typeof one.cap === 'number' ? { dealt: one.cap, ...one } : one] as const,
  )
  const before = stateAt(Object.fromEntries(known), { terms: under, dealtAt: AT - 4 * HOUR })
  return dealPool(under, before, AT) !== before
}
test.each<readonly [string, Members, PoolTerms, boolean]>([
  ['not where a single one would come down', { ada: { cap: 130 }, ...NINE(97) }, terms(1003), false],
  [
    'nor beside one below the least who has used the most',
    { ada: { cap: 30 }, ...NINE(23), eve: { use: 30, cap: 5 } },
    terms(267, { min: 10, max: 30 }),
    false,
  ],
  ['nor beside one who has all of their own cap', { ada: { cap: 130 }, ...NINE(97), eve: { cap: 120, fixed: 120 } }, terms(1123), false],
  ['where it moves for one as much as for another', two(370, 630), terms(1000), true],
  ['where a tenth of all caps moves', { ...two(370, 630), cyd: { cap: 500 }, dan: { cap: 500 }, fay: { cap: 500 } }, terms(2500), true],
  [
    'not where less does',
    { ...two(370, 630), cyd: { cap: 500 }, dan: { cap: 500 }, fay: { cap: 500 }, gus: { cap: 500 } },
    terms(3000),
    false,
  ],
  ['where the sum is above, and a member has to come down', two(540, 540), terms(1000), true],
  ['where somebody near the cap gains a tenth of their head-room', { ada: { use: 425, cap: 500 }, ...NINE(83) }, terms(1255), true],
  ['where they gain just that', { ada: { use: 450, cap: 500 }, ...NINE(55) }, terms(1000), true],
  ['not where they gain less', { ada: { use: 425, cap: 500 }, ...NINE(82) }, terms(1245), false],
  ['not where they gain more and are not near it', { ada: { use: 424, cap: 500 }, ...NINE(84) }, terms(1264), false],
  ['where all of a cap of their own is paid for, by however little', { ada: { cap: 119, fixed: 120 }, ...NINE(100) }, terms(1020), true],
  ['not where little more of it is', { ada: { cap: 119, fixed: 140 }, ...NINE(100) }, terms(1020, { min: 100 }), false],
])('a deal matters %s', (_name, members, under, expected) => expect(matters(members, under)).toBe(expected))

describe('at once', () => {
  /** bob has what ada leaves, so that the sum is not above. */
  test.each<readonly [string, number, MemberSketch, number]>([
    ['is lowered for a fifth of it', 800, { cap: 500 }, 400],
    ['is not lowered below use and most of a day’s pace', 360, { use: 300, cap: 360 }, 344],
    ['keeps it where a day’s pace needs that', 360, { use: 300, cap: 345 }, 345],
  ])('a member whose cap is above %s', (_name, total, ada, expected) => {
    expect(dealt({ ada, bob: { cap: total - Number(ada.cap) } }, terms(total))['ada']).toBe(expected)
  })

  test.each<readonly [string, Members, PoolTerms, Readonly<Record<string, number | undefined>>]>([
    ['an unread one is not dealt', { ada: { cap: undefined, dealt: 50 }, bob: { cap: 500 } }, terms(1000), { ada: 50, bob: 500 }],
    ['nobody at 0 without room', { ada: { cap: 0 }, bob: { cap: 500, lowered: low(1000) } }, terms(1000), { ada: undefined, bob: 500 }],
    ['one rises as far as room allows', { ada: { cap: 100 }, bob: { cap: 500, lowered: low(700) } }, terms(1000), { ada: 300, bob: 500 }],
    [
      'who counts at more anyway rises for nothing',
      { ada: { cap: 100, lowered: low(300) }, bob: { cap: 500, lowered: low(700) } },
      terms(1000),
      { ada: 300, bob: 500 },
    ],
    [
      'what others paid for costs nothing',
      { ada: { cap: 100, use: 100, base: 100 }, bob: { cap: 500, lowered: low(900) } },
      terms(1000),
      { ada: 200, bob: 500 },
    ],
    ['nobody rises by a tenth', { ada: { cap: 500 }, bob: { cap: 500 } }, terms(1100), { ada: 500, bob: 500 }],
    ['a member near the cap rises by less', { ada: { use: 450, cap: 500 }, bob: { cap: 60 } }, terms(570), { ada: 510, bob: 60 }],
    ['a cap of their own rises no further', { ada: { cap: 100, fixed: 300 }, bob: { cap: 100 } }, terms(1000), { ada: 300, bob: 700 }],
    [
      'nobody rises to their use alone',
      { ada: { use: 150, cap: 100 }, bob: { use: 50, cap: 50 }, dan: { cap: 266, lowered: low(800) } },
      terms(1000),
      { ada: 100, bob: 50, dan: 266 },
    ],
  ])('%s', (_name, members, under, expected) => expect(dealt(members, under)).toEqual(expected))
})

/** Four hours after a deal of the same terms. */
const again = (members: Members, more: Parameters<typeof stateOf>[1] = {}) =>
  stateOf(members, { terms: TERMS, dealtAt: NOW - 4 * HOUR, ...more }, NOW - 9 * HOUR)
const TERMS: PoolTerms = terms(1000)
/** ada is at her cap, and bob has head-room to spare. */
const BLOCKED = { ada: { cap: 500, use: 500, dealt: 500 }, bob: { cap: 500, use: 0, dealt: 500 } }

test.each<readonly [string, ReturnType<typeof again>, PoolTerms, boolean]>([
  ['not without newer use', again(BLOCKED, { readAt: NOW - 4 * HOUR }), TERMS, false],
  ['after four hours', again(BLOCKED), TERMS, true],
  ['not before', again(BLOCKED, { dealtAt: NOW - 4 * HOUR + 1 }), TERMS, false],
  ['not where nobody needs more', again({ ada: { cap: 500, use: 0, dealt: 500 }, bob: { cap: 500, use: 0, dealt: 500 } }), TERMS, false],
  ['at once with another share', again(BLOCKED, { dealtAt: NOW - 1 }), { ...TERMS, share: 'need' }, true],
  ['at once where a member has no deal', again({ ...BLOCKED, cyd: { cap: 5, use: 0 } }, { dealtAt: NOW - 1 }), TERMS, true],
  ['not where that one was never read', again({ ...BLOCKED, cyd: { use: 0 } }, { dealtAt: NOW - 1 }), TERMS, false],
  ['not where that one is at 0', again({ ...BLOCKED, cyd: { cap: 0, use: 0 } }, { dealtAt: NOW - 1 }), TERMS, false],
])('a pool is dealt again %s', (_name, before, terms, isNew) => {
  const deal = dealPool(terms, before, NOW)
  expect(deal === before).toBe(!isNew)
  expect([deal.terms, deal.dealtAt]).toEqual(isNew ? [terms, NOW] : [before.terms, before.dealtAt])
})

test('nobody is lowered for raises that waited for use under lowered caps', () => {
  const freed = { ada: { cap: 500, use: 490, dealt: 500 }, bob: { cap: 260, use: 0, dealt: 260 }, cyd: { cap: 240, use: 0, dealt: 240 } }
  const before = again(freed, { dealtAt: NOW - HOUR })
  expect(dealPool(TERMS, before, NOW, { hasShown: true })).toBe(before)
})

test.each<readonly [string, Members, boolean]>([
  ['that it is not used up while there is a credit for each', { ada: { cap: 500, use: 499 }, bob: { cap: 500, use: 499 } }, false],
  ['that it is used up with less', { ada: { cap: 500, use: 500 }, bob: { cap: 500, use: 499 } }, true],
])('a pool tells %s', (_name, members, isUsedUp) => expect(figuresOf(TERMS, again(members)).isUsedUp).toBe(isUsedUp))
