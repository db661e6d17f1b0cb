// What a deal aims at, when that is worth a write, and what of it goes out at once, person by person; its laws are in laws.test.ts.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { aim, give, matters, type Room } from '../../../src/core/pools/share-out.ts'
import type { PoolMember, PoolState, PoolTerms } from '../../../src/core/pools/state.ts'
import { layOut } from '../../../src/core/pools/table.ts'
import { CYCLE, cap, DAY, email, type PlainCap } from '../../support/declare.ts'

const AT = CYCLE.startAt + 9 * DAY

interface Person {
  readonly use?: number
  /** In force; absent: never read. */
  readonly cap?: PlainCap
  readonly fixed?: number
  readonly base?: number
  readonly dealt?: number
  /** What still counts though it was lowered. */
  readonly lowered?: number
  /** Credits a working day. */
  readonly pace?: number
}

const memberOf = ({ use = 0, base = 0, fixed, lowered, dealt, ...one }: Person): PoolMember => ({
  base: credits(base),
  use: credits(use),
  ...(one.cap !== undefined && { inForce: { cap: cap(one.cap), at: CYCLE.startAt } }),
  ...{ sent: [], lowered: lowered === undefined ? [] : [{ cap: credits(lowered), at: AT }] },
  ...(fixed !== undefined && { fixed: credits(fixed) }),
  ...(dealt !== undefined && { dealt: credits(dealt) }),
})

const terms = (total: number, more: Partial<Record<'min' | 'max', number>> = {}): PoolTerms => ({
  ...{ credits: credits(total), share: 'equal', min: credits(more.min ?? 0) },
  ...(more.max !== undefined && { max: credits(more.max) }),
})

const byName = (emails: readonly string[], column: Float64Array): Readonly<Record<string, number>> =>
  Object.fromEntries(emails.map((who, place) => [who.split('@')[0] ?? '', column[place] ?? Number.NaN]))

/** Aimed at, and given with so much room. */
function shared(members: Readonly<Record<string, Person>>, under: PoolTerms, { room, isOver }: Room = { room: 0, isOver: false }) {
  const state: PoolState = {
    ...{ cycle: CYCLE, readAt: AT },
    members: Object.fromEntries(Object.entries(members).map(([name, one]) => [email(name), memberOf(one)])),
  }
  const { emails, table, undealt } = layOut(under, state)
  for (const [place, who] of emails.entries()) table.pace[place] = members[who.split('@')[0] ?? '']?.pace ?? 0
  const aimed = aim(table, under, undealt)
  give(table, aimed, { room, isOver })
  return {
    target: byName(emails, table.target),
    given: byName(emails, table.given),
    left: aimed.left,
    matters: matters(table, aimed, isOver),
  }
}

/** Nine who are far from their caps, which are as they should be. */
const NINE = (amount: number, use = 0): Readonly<Record<string, Person>> =>
  Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, { cap: amount, use }]))

describe('the final caps', () => {
  test.each<readonly [string, Readonly<Record<string, Person>>, PoolTerms, Readonly<Record<string, number>>, number]>([
    ['is the same head-room', { ada: { use: 100 }, bob: { use: 300 } }, terms(1000), { ada: 400, bob: 600 }, 600],
    [
      'is a cap of their own first, of what the least of the others leaves above use',
      { ada: { use: 300, fixed: 500 }, bob: {} },
      terms(1000, { min: 900 }),
      { ada: 300, bob: 700 },
      699,
    ],
    [
      'is all of a cap of their own where the credits pay for it',
      { ada: { fixed: 500 }, bob: {} },
      terms(1000),
      { ada: 500, bob: 500 },
      998,
    ],
    [
      'is the least of all, though a cap of their own is higher',
      { ada: { fixed: 900 }, bob: {} },
      terms(1000, { min: 300 }),
      { ada: 700, bob: 300 },
      998,
    ],
    ['is no min above the max', { ada: { fixed: 900 }, bob: {} }, terms(1000, { min: 300, max: 200 }), { ada: 800, bob: 200 }, 998],
    [
      'is use, where the credits do not pay for more',
      { ada: { use: 700 }, bob: { use: 600.5 } },
      terms(1000),
      { ada: 700, bob: 601 },
      -301,
    ],
    ['is what the pool pays beyond others', { ada: { use: 400, base: 300 }, bob: {} }, terms(1000), { ada: 850, bob: 450 }, 899],
  ])('%s', (_name, members, under, target, left) => {
    const found = shared(members, under)
    expect(found.target).toEqual(target)
    expect(found.left).toBe(left)
  })
})

describe('a deal matters', () => {
  const two = (ada: PlainCap, bob: PlainCap): Readonly<Record<string, Person>> => ({ ada: { cap: ada }, bob: { cap: bob } })
  test.each<readonly [string, Readonly<Record<string, Person>>, PoolTerms, boolean, boolean]>([
    ['where a member has no cap', two(500, 'none'), terms(1000), false, true],
    ['not where it moves by a tenth of it', two(500, 500), terms(1100), false, false],
    ['where it moves up by more', two(500, 500), terms(1102), false, true],
    ['not where it moves down by little', two(540, 540), terms(1000), false, false],
    ['where it moves down by more', two(700, 700), terms(1000), false, true],
    ['where it moves for one as much as for another', two(380, 620), terms(1000), false, true],
    ['where the sum is above, and a member has to come down', two(540, 540), terms(1000), true, true],
    ['not where the sum is above, and nobody has to', two(500, 500), terms(1100), true, false],
    [
      'where somebody near the cap gains a tenth of their head-room',
      { ada: { use: 425, cap: 500 }, ...NINE(83) },
      terms(1255),
      false,
      true,
    ],
    ['where they gain just that', { ada: { use: 450, cap: 500 }, ...NINE(55) }, terms(1000), false, true],
    ['not where they gain less', { ada: { use: 425, cap: 500 }, ...NINE(82) }, terms(1245), false, false],
    ['not where they gain more and are not near it', { ada: { use: 424, cap: 500 }, ...NINE(84) }, terms(1264), false, false],
    ['not where no member may have more', { ada: { use: 99, cap: 100 }, ...NINE(100) }, terms(2000, { max: 100 }), false, false],
    [
      'not where somebody above their cap would only get their use',
      { ada: { use: 149.5, cap: 100 }, ...NINE(100, 100) },
      terms(1050),
      false,
      false,
    ],
    ['not where a member above the max has less', { ada: { use: 120, cap: 110 }, ...NINE(100) }, terms(2000, { max: 100 }), false, false],
    [
      'where the credits pay for all of a cap of their own, by however little',
      { ada: { cap: 119, fixed: 120 }, ...NINE(100) },
      terms(1020),
      false,
      true,
    ],
    ['not where they pay for little more of it', { ada: { cap: 119, fixed: 140 }, ...NINE(100) }, terms(1020, { min: 100 }), false, false],
    [
      'where somebody with a cap of their own gets more of it',
      { ada: { use: 90, cap: 100, fixed: 120 }, ...NINE(100) },
      terms(1020),
      false,
      true,
    ],
  ])('%s', (_name, members, under, isOver, expected) => {
    expect(shared(members, under, { room: 0, isOver }).matters).toBe(expected)
  })
})

describe('at once', () => {
  const given = (members: Readonly<Record<string, Person>>, under: PoolTerms, room: number, isOver = false) =>
    shared(members, under, { room, isOver }).given
  test.each<readonly [string, Person, number]>([
    ['is lowered to it', { cap: 600 }, 400],
    ['keeps it for less than a fifth of their head-room', { cap: 499 }, 499],
    ['is lowered for a fifth of it', { cap: 500 }, 400],
    ['keeps it for less than a fifth of what is left above use', { use: 300, cap: 612 }, 612],
    ['is lowered for a fifth of what is left above use', { use: 300, cap: 613 }, 550],
    ['is not lowered below use and most of a day’s pace', { cap: 900, pace: 500.5 }, 451],
    ['keeps it where a day’s pace needs more', { cap: 600, pace: 900 }, 600],
    ['is lowered to a cap of their own by however little', { cap: 499, fixed: 400, pace: 900 }, 400],
    ['gets it as the first one', { cap: 'none' }, 400],
  ])('a member whose cap is above %s', (_name, ada, expected) => {
    expect(given({ ada, bob: { cap: 400 } }, terms(800), 0)['ada']).toBe(expected)
  })

  test('everybody comes down, even by little, while the sum is above', () => {
    expect(given({ ada: { cap: 410, pace: 900 }, bob: { cap: 410 } }, terms(800), -20, true)).toEqual({ ada: 400, bob: 400 })
  })

  test.each<readonly [string, Readonly<Record<string, Person>>, PoolTerms, number, Readonly<Record<string, number>>]>([
    [
      'a member whose cap was never read is not dealt, whatever was dealt',
      { ada: { dealt: 50 }, bob: { cap: 500 } },
      terms(1000),
      900,
      { ada: Number.NaN, bob: 500 },
    ],
    [
      'who counts at more anyway pays for nobody else',
      { ada: { cap: 100, lowered: 900 }, bob: { cap: 100 } },
      terms(1000),
      100,
      { ada: 200, bob: 200 },
    ],
    ['a member whose cap was never read is not dealt', { ada: {}, bob: { cap: 500 } }, terms(1000), 900, { ada: Number.NaN, bob: 500 }],
    [
      'nobody is dealt at 0 for whom there is no room',
      { ada: { cap: 0 }, bob: { cap: 500 } },
      terms(1000),
      0,
      { ada: Number.NaN, bob: 500 },
    ],
    ['a member rises from 0 where there is room', { ada: { cap: 0 }, bob: { cap: 500 } }, terms(1000), 500, { ada: 500, bob: 500 }],
    ['a member rises as far as the room allows', { ada: { cap: 100 }, bob: { cap: 500 } }, terms(1000), 200, { ada: 300, bob: 500 }],
    ['nobody rises without room', { ada: { cap: 100 }, bob: { cap: 500 } }, terms(1000), 0, { ada: 100, bob: 500 }],
    [
      'nobody rises while the sum is above',
      { ada: { cap: 100, lowered: 900 }, bob: { cap: 500 } },
      terms(1000),
      -1,
      { ada: 100, bob: 500 },
    ],
    [
      'several rise to the same',
      { ada: { cap: 100 }, bob: { cap: 200 }, cyd: { cap: 10 } },
      terms(1500),
      290,
      { ada: 200, bob: 200, cyd: 200 },
    ],
    [
      'who counts at more anyway rises for nothing',
      { ada: { cap: 100, lowered: 300 }, bob: { cap: 500 } },
      terms(1000),
      0,
      { ada: 300, bob: 500 },
    ],
    [
      'what others paid for costs nothing',
      { ada: { cap: 100, use: 100, base: 100 }, bob: { cap: 500 } },
      terms(1000),
      100,
      { ada: 200, bob: 500 },
    ],
    ['nobody rises by a tenth', { ada: { cap: 500 }, bob: { cap: 500 } }, terms(1100), 900, { ada: 500, bob: 500 }],
    ['everybody rises by more', { ada: { cap: 500 }, bob: { cap: 500 } }, terms(1102), 900, { ada: 551, bob: 551 }],
    ['a member near the cap rises by less', { ada: { use: 450, cap: 500 }, bob: { cap: 60 } }, terms(570), 900, { ada: 510, bob: 60 }],
    ['caps of their own go before', { ada: { cap: 100, fixed: 300 }, bob: { cap: 100 } }, terms(700), 250, { ada: 300, bob: 150 }],
    ['a cap of their own rises no further', { ada: { cap: 100, fixed: 300 }, bob: { cap: 100 } }, terms(1000), 900, { ada: 300, bob: 700 }],
    [
      'nobody rises above the most, whatever they used',
      { ada: { use: 900, cap: 700 }, bob: { cap: 100 } },
      terms(2000, { max: 800 }),
      900,
      { ada: 700, bob: 800 },
    ],
    ['nobody rises to their use alone', { ada: { use: 150, cap: 100 }, bob: { use: 50, cap: 50 } }, terms(1000), 0, { ada: 100, bob: 50 }],
  ])('%s', (_name, members, under, room, expected) => expect(given(members, under, room)).toEqual(expected))
})
