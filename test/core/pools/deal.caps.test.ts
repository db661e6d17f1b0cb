// What a deal gives, to the credit: what it aims at, whether that is worth a write, and what of it goes out at once; its laws are in laws.test.ts.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { dealPool } from '../../../src/core/pools/deal.ts'
import type { PoolMember, PoolState } from '../../../src/core/pools/state.ts'
import { CYCLE, cap, DAY, email, HOUR, type PlainCap } from '../../support/declare.ts'

type PoolTerms = Parameters<typeof dealPool>[0]

/** A Monday, after five of the 21 working days. */
const AT = CYCLE.startAt + 8 * DAY

interface Person {
  readonly use?: number
  /** In force; `unread`: never read. */
  readonly cap?: PlainCap | 'unread'
  readonly fixed?: number
  readonly base?: number
  readonly dealt?: number
  /** What still counts though it was lowered. */
  readonly lowered?: number
  readonly protected?: true
  readonly left?: true
}
type People = Readonly<Record<string, Person>>

const memberOf = ({ use = 0, base = 0, fixed, lowered, dealt, cap: inForce = 'none', left, ...one }: Person): PoolMember => ({
  ...{ base: credits(base), use: credits(use), ...one },
  ...(inForce !== 'unread' && { inForce: { cap: cap(inForce), at: CYCLE.startAt } }),
  ...{ sent: [], lowered: lowered === undefined ? [] : [{ cap: credits(lowered), at: AT }] },
  ...(fixed !== undefined && { fixed: credits(fixed) }),
  ...(dealt !== undefined && { dealt: credits(dealt) }),
  ...(left && { left: { at: AT } }),
})

type Bounds = Partial<Record<'min' | 'max', number>>
const terms = (total: number, more: Bounds = {}, share: PoolTerms['share'] = 'equal'): PoolTerms => ({
  ...{ credits: credits(total), share, min: credits(more.min ?? 0) },
  ...(more.max !== undefined && { max: credits(more.max) }),
})
const need = (total: number, more: Bounds = {}): PoolTerms => terms(total, more, 'need')

const stateOf = (members: People, more: Partial<PoolState> = {}): PoolState => ({
  ...{ cycle: CYCLE, readAt: AT },
  members: Object.fromEntries(Object.entries(members).map(([name, one]) => [email(name), memberOf(one)])),
  ...more,
})

/** What everybody is dealt. */
const dealt = (members: People, under: PoolTerms): Readonly<Record<string, number | undefined>> => {
  const { state } = dealPool(under, stateOf(members), AT, { always: true })
  return Object.fromEntries(Object.entries(state.members).map(([who, one]) => [who.split('@')[0], one.dealt]))
}

/** Nine who are far from their caps, which are as they should be. */
const NINE = (amount: number, use = 0): People =>
  Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, { cap: amount, use }]))

describe('people without a cap get', () => {
  /** Expected to use 216, 126 and 36 in all, at paces of 9.75, 6 and 2.25 a day. */
  const three: People = { ada: { use: 60 }, bob: { use: 30 }, cyd: {} }
  test.each<readonly [string, People, PoolTerms, Readonly<Record<string, number | undefined>>]>([
    ['the same head-room', { ada: { use: 100 }, bob: { use: 300 } }, terms(1000), { ada: 400, bob: 600 }],
    ['first a cap of their own', { ada: { use: 300, fixed: 500 }, bob: {} }, terms(1000, { min: 900 }), { ada: 300, bob: 700 }],
    ['all of a cap of their own', { ada: { fixed: 500 }, bob: {} }, terms(1000), { ada: 500, bob: 500 }],
    [
      'the least of all, though a cap of their own is higher',
      { ada: { fixed: 900 }, bob: {} },
      terms(1000, { min: 300 }),
      { ada: 700, bob: 300 },
    ],
    ['no min above the max', { ada: { fixed: 900 }, bob: {} }, terms(1000, { min: 300, max: 200 }), { ada: 800, bob: 200 }],
    ['use, where the credits pay for no more', { ada: { use: 700 }, bob: { use: 600.5 } }, terms(1000), { ada: 700, bob: 601 }],
    ['what the pool pays beyond others', { ada: { use: 400, base: 300 }, bob: {} }, terms(1000), { ada: 850, bob: 450 }],
    ['1 where their own cap is 0', { ada: { fixed: 0 }, bob: {} }, terms(1000), { ada: 1, bob: 999 }],
    ['their own cap, also below their use', { ada: { use: 10, fixed: 4 }, bob: {} }, terms(1000), { ada: 4, bob: 990 }],
    ['no more than any cap may be', { ada: {} }, terms(2 ** 40), { ada: 2_147_483_647 }],
    ['their use, above the most', { ada: { use: 22.5 }, bob: {} }, terms(1000, { max: 20 }), { ada: 23, bob: 20 }],
    ['by need', three, need(200), { ada: 82, bob: 82, cyd: 36 }],
    ['by need what is left over', three, need(1000), { ada: 553, bob: 333, cyd: 113 }],
    ['by need the least', three, need(500, { min: 150 }), { ada: 200, bob: 150, cyd: 150 }],
    ['by need the least as far as it goes', three, need(240, { min: 90 }), { ada: 80, bob: 80, cyd: 80 }],
    ['by need the most', three, need(500, { max: 180 }), { ada: 180, bob: 180, cyd: 140 }],
    [
      'by need nothing that others paid for',
      { ada: { use: 60, base: 50 }, bob: { use: 30, base: 40 }, cyd: {} },
      need(200),
      { ada: 128, bob: 126, cyd: 36 },
    ],
    ['by need the same where nobody used anything', { ada: {}, bob: {} }, need(201), { ada: 100, bob: 100 }],
    ['by need, of use in parts', { ada: { use: 8.2 }, bob: { use: 0.4 } }, need(20), { ada: 14, bob: 6 }],
    ['by need, of use in parts', { ...three, ada: { use: 8.2 }, bob: { use: 8.2 } }, need(24), { ada: 9, bob: 9, cyd: 6 }],
    ['by need, less than others paid for', { ...three, ada: { use: 60, base: 300 } }, need(200), { ada: 200, bob: 154, cyd: 46 }],
    ['at the pace of those who stay', { ...three, cyd: { use: 900, left: true } }, need(1900), { ada: 610, bob: 390 }],
    ['by need, beside who left', { ada: { use: 60 }, bob: { use: 30 }, cyd: { use: 900, left: true } }, need(1100), { ada: 100, bob: 100 }],
    ['what a protected member leaves', { ada: {}, bob: { protected: true, cap: 60, fixed: 70 } }, terms(1000), { ada: 940 }],
    ['what a protected member is to get', { ada: {}, bob: { protected: true, fixed: 70, base: 4, use: 10 } }, terms(1000), { ada: 934 }],
    ['what a protected member used', { ada: {}, bob: { protected: true, fixed: 12, base: 4, use: 16 } }, terms(1000), { ada: 988 }],
    [
      'what a protected member used who was never read',
      { ada: {}, bob: { protected: true, cap: 'unread', use: 10 } },
      terms(1000),
      { ada: 990 },
    ],
    ['what one who left used, whatever was to come', { ada: {}, bob: { left: true, fixed: 70, use: 10 } }, terms(1000), { ada: 990 }],
  ])('%s', (_name, members, under, expected) => expect(dealt(members, under)).toEqual(expected))
})

describe('a deal matters', () => {
  const two = (ada: PlainCap, bob: PlainCap): People => ({ ada: { cap: ada }, bob: { cap: bob } })
  /** Four hours after a deal of the caps in force. */
  const matters = (members: People, under: PoolTerms): boolean => {
    const known = Object.entries(members).map(
      ([name, one]) => [name, typeof one.cap === 'number' ? { dealt: one.cap, ...one } : one] as const,
    )
    return dealPool(under, stateOf(Object.fromEntries(known), { terms: under, dealtAt: AT - 4 * HOUR }), AT).isNew
  }
  test.each<readonly [string, People, PoolTerms, boolean]>([
    ['where a member has no cap', two(500, 'none'), terms(1000), true],
    ['not where it moves by a tenth of it', two(500, 500), terms(1100), false],
    ['where it moves up by more', two(500, 500), terms(1102), true],
    ['where it moves down by more', two(700, 700), terms(1000), true],
    ['not where a single one would come down', { ada: { cap: 130 }, ...NINE(97) }, terms(1003), false],
    ['where it moves for one as much as for another', two(370, 630), terms(1000), true],
    ['where the sum is above, and a member has to come down', two(540, 540), terms(1000), true],
    ['where somebody near the cap gains a tenth of their head-room', { ada: { use: 425, cap: 500 }, ...NINE(83) }, terms(1255), true],
    ['where they gain just that', { ada: { use: 450, cap: 500 }, ...NINE(55) }, terms(1000), true],
    ['not where they gain less', { ada: { use: 425, cap: 500 }, ...NINE(82) }, terms(1245), false],
    ['not where they gain more and are not near it', { ada: { use: 424, cap: 500 }, ...NINE(84) }, terms(1264), false],
    ['not where no member may have more', { ada: { use: 99, cap: 100 }, ...NINE(100) }, terms(2000, { max: 100 }), false],
    ['not where one above their cap would only get their use', { ada: { use: 149.5, cap: 100 }, ...NINE(100, 100) }, terms(1050), false],
    ['not where a member above the max has less', { ada: { use: 120, cap: 110 }, ...NINE(100) }, terms(2000, { max: 100 }), false],
    ['where all of a cap of their own is paid for, by however little', { ada: { cap: 119, fixed: 120 }, ...NINE(100) }, terms(1020), true],
    ['not where little more of it is', { ada: { cap: 119, fixed: 140 }, ...NINE(100) }, terms(1020, { min: 100 }), false],
    ['where one at a cap of their own gets more of it', { ada: { use: 90, cap: 100, fixed: 120 }, ...NINE(100) }, terms(1020), true],
  ])('%s', (_name, members, under, expected) => expect(matters(members, under)).toBe(expected))
})

describe('at once', () => {
  /** bob has what ada leaves, so that the sum is not above. */
  test.each<readonly [string, number, Person, number]>([
    ['is lowered to it', 800, { cap: 600 }, 400],
    ['keeps it for less than a fifth of their head-room', 800, { cap: 499 }, 499],
    ['is lowered for a fifth of it', 800, { cap: 500 }, 400],
    ['keeps it for less than a fifth of what is left above use', 800, { use: 300, cap: 612 }, 612],
    ['is lowered for a fifth of what is left above use', 800, { use: 300, cap: 613 }, 550],
    ['is not lowered below use and most of a day’s pace', 360, { use: 300, cap: 360 }, 344],
    ['keeps it where a day’s pace needs that', 360, { use: 300, cap: 345 }, 345],
    ['is lowered to a cap of their own by however little', 800, { cap: 499, fixed: 400 }, 400],
  ])('a member whose cap is above %s', (_name, total, ada, expected) => {
    expect(dealt({ ada, bob: { cap: total - Number(ada.cap) } }, terms(total))['ada']).toBe(expected)
  })

  test.each<readonly [string, People, PoolTerms, Readonly<Record<string, number | undefined>>]>([
    [
      'everybody comes down, even by little, while the sum is above',
      { ada: { cap: 410 }, bob: { cap: 410 } },
      terms(800),
      { ada: 400, bob: 400 },
    ],
    [
      'one whose cap was never read is not dealt, whatever was',
      { ada: { cap: 'unread', dealt: 50 }, bob: { cap: 500 } },
      terms(1000),
      { ada: 50, bob: 500 },
    ],
    ['one whose cap was never read is not dealt', { ada: { cap: 'unread' }, bob: { cap: 500 } }, terms(1000), { ada: undefined, bob: 500 }],
    [
      'who counts at more anyway pays for nobody else',
      { ada: { cap: 100, lowered: 800 }, bob: { cap: 100 } },
      terms(1000),
      { ada: 200, bob: 200 },
    ],
    [
      'nobody is dealt at 0 for whom there is no room',
      { ada: { cap: 0 }, bob: { cap: 500, lowered: 1000 } },
      terms(1000),
      { ada: undefined, bob: 500 },
    ],
    ['a member rises from 0 where there is room', { ada: { cap: 0 }, bob: { cap: 500 } }, terms(1000), { ada: 500, bob: 500 }],
    [
      'a member rises as far as the room allows',
      { ada: { cap: 100 }, bob: { cap: 500, lowered: 700 } },
      terms(1000),
      { ada: 300, bob: 500 },
    ],
    ['nobody rises without room', { ada: { cap: 100 }, bob: { cap: 500, lowered: 900 } }, terms(1000), { ada: 100, bob: 500 }],
    ['nobody rises while the sum is above', { ada: { cap: 100, lowered: 900 }, bob: { cap: 500 } }, terms(1000), { ada: 100, bob: 500 }],
    [
      'several rise to the same',
      { ada: { cap: 100 }, bob: { cap: 200 }, cyd: { cap: 10 }, dan: { cap: 500, lowered: 1400 } },
      terms(2000),
      { ada: 200, bob: 200, cyd: 200, dan: 500 },
    ],
    [
      'who counts at more anyway rises for nothing',
      { ada: { cap: 100, lowered: 300 }, bob: { cap: 500, lowered: 700 } },
      terms(1000),
      { ada: 300, bob: 500 },
    ],
    [
      'what others paid for costs nothing',
      { ada: { cap: 100, use: 100, base: 100 }, bob: { cap: 500, lowered: 900 } },
      terms(1000),
      { ada: 200, bob: 500 },
    ],
    ['nobody rises by a tenth', { ada: { cap: 500 }, bob: { cap: 500 } }, terms(1100), { ada: 500, bob: 500 }],
    ['everybody rises by more', { ada: { cap: 500 }, bob: { cap: 500 } }, terms(1102), { ada: 551, bob: 551 }],
    ['a member near the cap rises by less', { ada: { use: 450, cap: 500 }, bob: { cap: 60 } }, terms(570), { ada: 510, bob: 60 }],
    [
      'caps of their own go before',
      { ada: { cap: 100, fixed: 300 }, bob: { cap: 100 }, dan: { cap: 400, lowered: 650 } },
      terms(1100),
      { ada: 300, bob: 150, dan: 400 },
    ],
    ['a cap of their own rises no further', { ada: { cap: 100, fixed: 300 }, bob: { cap: 100 } }, terms(1000), { ada: 300, bob: 700 }],
    [
      'nobody rises above the most, whatever they used',
      { ada: { use: 900, cap: 700 }, bob: { cap: 100 } },
      terms(2000, { max: 800 }),
      { ada: 700, bob: 800 },
    ],
    [
      'nobody rises to their use alone',
      { ada: { use: 150, cap: 100 }, bob: { use: 50, cap: 50 }, dan: { cap: 266, lowered: 800 } },
      terms(1000),
      { ada: 100, bob: 50, dan: 266 },
    ],
  ])('%s', (_name, members, under, expected) => expect(dealt(members, under)).toEqual(expected))
})
