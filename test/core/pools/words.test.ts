// The words about pools: the figures for one person, and the notes for the author of the policy.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { dealLines, poolFigures } from '../../../src/core/pools/figures.ts'
import { poolNotes } from '../../../src/core/pools/notes.ts'
import { CYCLE, DAY, email, HOUR, NOW, type PoolSketch, policy } from '../../support/declare.ts'
import { type MemberSketch, type Members, since, stateOf } from './world.ts'

const member = (use: number, more: MemberSketch = {}): MemberSketch => ({ use, ...more })
const state = (members: Members, more?: Parameters<typeof stateOf>[1]) => stateOf(members, more, NOW)
type PoolState = ReturnType<typeof state>

const sketch = (more: Partial<PoolSketch> = {}) =>
  policy({ pools: [{ name: 'research', credits: 100, members: { kind: 'emails', emails: [] }, ...more }] }).pools
const day = (at: number): string => new Date(at).toISOString().slice(0, 10)

describe('the figures of a pool', () => {
  test('count members, use and caps', () => {
    const figures = poolFigures(
      { credits: credits(100) },
      state({ ada: { use: 40, cap: 60 }, bob: { use: 10, cap: 20, left: { at: NOW } } }),
    )
    expect(figures).toMatchObject({ readAt: NOW, credits: 100, used: 50, dealt: 70, members: 1, isUsedUp: false })
  })
  test.each<readonly [string, number, Members, boolean]>([
    ['with less than that', 11, { ada: { use: 5 }, bob: { use: 5 } }, true],
    [
      'counting nobody who is protected or left',
      11,
      { ada: { use: 5 }, bob: { use: 5, protected: true }, cyd: { use: 0, left: { at: NOW } } },
      false,
    ],
    ['with nobody left to raise', 10, { ada: { use: 10, protected: true } }, true],
  ])('say whether it is used up: %s', (_name, total, members, expected) =>
    expect(poolFigures({ credits: credits(total) }, state(members)).isUsedUp).toBe(expected),
  )

  /** 2026-11-16, a Monday, after ten working days of ten credits. */
  const MONDAY = CYCLE.startAt + 15 * DAY
  const spent = (more: Partial<PoolState> = {}) => state({ ada: { use: 100 } }, { readAt: MONDAY, ...more })
  test.each<readonly [string, number, PoolState, number | undefined]>([
    ['at the end of Friday, with five days left', 150, spent(), MONDAY + 5 * DAY],
    ['on the next Monday, with six days left', 160, spent(), MONDAY + 8 * DAY],
    ['at the same time within an hour', 125, spent({ readAt: MONDAY + HOUR - 1 }), MONDAY + HOUR - 1 + 2.5 * DAY],
    ['now, also on a Saturday', 100, spent({ readAt: MONDAY + 5 * DAY }), MONDAY + 5 * DAY],
    ['not beyond 400 days', 2965, spent({ cycle: { ...CYCLE, endAt: MONDAY + 1000 * DAY } }), undefined],
  ])('say when it is used up: %s', (_name, total, one, expected) =>
    expect(poolFigures({ credits: credits(total) }, one).exhaustedAt).toBe(expected),
  )

  const lines = (pool: Partial<PoolSketch>, one: PoolState, who = 'ada') =>
    sketch(pool).flatMap((terms) => dealLines('research', terms, one, email(who), day))
  const ALONE = { cap: 60 }
  const OPEN = 'used 20.13, counted at more than the credits: a member has no known cap, or had none lately'
  const EVERYTHING = state({
    ada: member(30.126, {
      ...{ base: 10, dealt: 50, fixed: 70, protected: true, ...ALONE },
      ...{ lowered: [since(80, NOW), since('none', NOW)], sent: [since(55, NOW)] },
    }),
  })
  test('in words: its terms, its figures, when it was dealt and runs out, and the member', () =>
    expect(lines({ credits: 31 }, state({ ada: member(30, ALONE) }))).toEqual([
      'pool research: 31 credits for 1 member, by need',
      'used 30, counted at 60',
      'dealt 2026-11-20, use read 2026-11-20',
      'expected to be used up 2026-11-20',
      'ada@example.com: used 30 of it',
    ]))
  test('in words: nothing of what was not dealt, nor of who is not in it', () => {
    expect(lines({}, state({ ada: member(0, ALONE) }, { dealtAt: undefined }))).toHaveLength(3)
    expect(lines({}, state({ bob: member(0, ALONE) }))).toHaveLength(3)
  })
  test.each<readonly [string, Partial<PoolSketch>, PoolState, string]>([
    [
      'all terms',
      { share: 'equal', min: 5, max: 50 },
      state({ bob: member(0, ALONE), cyd: { use: 0, cap: 'none' } }),
      'pool research: 100 credits for 2 members, the same head-room for everybody, at least 5, at most 50',
    ],
    ['a sum that is not known', {}, EVERYTHING, OPEN],
    [
      'everything that is known of a member',
      {},
      EVERYTHING,
      'ada@example.com: used 20.13 of it, joined at a use of 10, dealt 50, own cap 70, dealt first, not dealt, counts at the cap in force, ' +
        'counts at 80 until use up to 2026-11-20 shows, counts at no cap until use up to 2026-11-20 shows, 55 sent 2026-11-20 may still land',
    ],
    ['no use where none is known', {}, state({ ada: { dealt: 5, ...ALONE } }), 'ada@example.com: dealt 5'],
  ])('in words: %s', (_name, pool, one, expected) => expect(lines(pool, one)).toContain(expected))
})

interface Given {
  readonly pool?: Partial<PoolSketch>
  /** Its state, where there is one. */
  readonly is?: PoolState
  /** Default: ada. */
  readonly names?: readonly string[]
  readonly frozen?: Readonly<Record<string, string>>
}
const OLD = { research: 'use is old' }
const NOBODY = 'POOL_NOBODY has no members: no approved person'

test.each<readonly [string, Given, string | undefined]>([
  ['who is not in it, by e-mail', { names: [] }, `${NOBODY} has one of its e-mails`],
  ['who is not in it, by a group', { names: [], pool: { members: { kind: 'groups', ids: ['g'] } } }, `${NOBODY} is in group g`],
  [
    'who is not in it, by groups',
    { names: [], pool: { members: { kind: 'groups', ids: ['g', 'h'] } } },
    `${NOBODY} is in one of the groups g, h`,
  ],
  [
    'who is not in it, by a condition',
    { names: [], pool: { members: { kind: 'when', when: { role: 'x' } } } },
    `${NOBODY} meets its condition in two readings that agree`,
  ],
  ['why it is frozen, and nothing of who is in it then', { names: [], frozen: OLD }, 'POOL_FROZEN nothing is dealt: use is old'],
  ['why its last deal stays', { is: state({ ada: { use: 7, cap: 60 } }), frozen: OLD }, 'POOL_FROZEN the last deal stays: use is old'],
  ['nothing of why another pool is frozen', { frozen: { design: 'use is old' } }, undefined],
  [
    'what it cannot pay',
    { pool: { min: 51 }, names: ['ada', 'bob'] },
    'POOL_BOUNDS cannot pay its min, so nothing is dealt: 2 members at 51 are 102 credits, it has 100',
  ],
  ['nothing while it can just pay it', { pool: { min: 50 }, names: ['ada', 'bob'] }, undefined],
  [
    'that it is used up',
    { is: state({ ada: { use: 99.6, cap: 100 } }) },
    'POOL_USED_UP 100 of 100 credits are used; everybody stays at their use until the next cycle',
  ],
  [
    'that it is above its credits',
    { is: state({ ada: { use: 7, cap: 100 }, bob: { use: 0, cap: 1 } }) },
    'POOL_ABOVE use and caps count at 101, above its 100 credits; caps are only lowered, never below use, until they fit',
  ],
  ['nothing at just its credits', { is: state({ ada: { use: 7, cap: 100 } }) }, undefined],
  ['nothing of a sum before anything was dealt', { is: state({ ada: { use: 7, cap: 101 } }, { dealtAt: undefined }) }, undefined],
  [
    'who has no known cap',
    { is: state({ ada: { use: 7 } }) },
    'POOL_ABOVE ada@example.com has no known cap in force, or had none lately, so nobody is raised',
  ],
  [
    'who is about to get a first cap, and who just got one',
    { is: state({ ada: { use: 7, dealt: 9 }, bob: { use: 7, cap: 9, lowered: [since('none', NOW)] } }) },
    'POOL_ABOVE 2 members, ada@example.com first, have no known cap in force, or had none lately, so nobody is raised',
  ],
])('the notes on a pool say %s', (_name, { pool = {}, is, names = ['ada'], frozen = {} }, expected) => {
  const pools = sketch(pool).map((each) => ({ pool: each, members: names.map((name) => ({ email: email(name) })) }))
  const found = poolNotes(pools, is ? { research: is } : {}, frozen)
  expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual(expected ? [expected.replace(' ', ' pool research: ')] : [])
  for (const note of found)
    expect([note.pool, note.at.line, note.version]).toEqual(['research', 301, note.code === 'POOL_FROZEN' ? 'use is old' : ''])
})

test.each([
  [['ada'], '1 person, who stays'],
  [['ada', 'bob'], '2 people, who stay'],
] as const)('a note says of how many it is not known whether they are members: %j', (names, whom) => {
  const [pool] = sketch({ members: { kind: 'when', when: { role: 'a' } } })
  if (!pool) return
  const unknown = { emails: names.map(email), why: 'role: the roster has no role' }
  expect(poolNotes([{ pool, members: [{ email: email('cyd') }], unknown }], {}, {})).toMatchObject([
    {
      code: 'POOL_UNKNOWN',
      message: `pool research: whether its condition holds is not known for ${whom} in or out of it as before (role: the roster has no role)`,
    },
  ])
})
