// The words about pools: the figures for one person, and the notes for the author of the policy.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { dealLines, poolFigures } from '../../../src/core/pools/figures.ts'
import { poolNotes } from '../../../src/core/pools/notes.ts'
import type { MemberNow, PoolMember, PoolState } from '../../../src/core/pools/state.ts'
import { CYCLE, cap, DAY, email, HOUR, NOW, type PlainCap, type PoolSketch, policy } from '../../support/declare.ts'

const since = (value: PlainCap) => ({ cap: cap(value), at: NOW })
const member = (use: number, more: Partial<PoolMember> = {}): PoolMember => ({
  base: credits(0),
  use: credits(use),
  sent: [],
  lowered: [],
  ...more,
})
const state = (members: Readonly<Record<string, PoolMember>>, more: Partial<PoolState> = {}): PoolState => ({
  cycle: CYCLE,
  readAt: NOW,
  dealtAt: NOW,
  members: Object.fromEntries(Object.entries(members).map(([name, one]) => [email(name), one])),
  ...more,
})
const sketch = (more: Partial<PoolSketch> = {}) =>
  policy({ pools: [{ name: 'research', credits: 100, members: { kind: 'emails', emails: [] }, ...more }] }).pools
const day = (at: number): string => new Date(at).toISOString().slice(0, 10)

describe('the figures of a pool', () => {
  test('count members, use and caps', () => {
    const figures = poolFigures(
      { credits: credits(100) },
      state({ ada: member(40, { inForce: since(60) }), bob: member(10, { inForce: since(20), left: { at: NOW } }) }),
    )
    expect(figures).toMatchObject({ readAt: NOW, credits: 100, used: 50, dealt: 70, members: 1, isUsedUp: false })
  })
  test('name no sum while a cap is not known, and no end without any use', () => {
    const figures = poolFigures({ credits: credits(100) }, state({ ada: member(0) }))
    expect(figures).toEqual({ readAt: NOW, credits: 100, used: 0, members: 1, isUsedUp: false })
  })
  test.each<readonly [string, number, Readonly<Record<string, PoolMember>>, boolean]>([
    ['with a credit for each who is dealt to', 12, { ada: member(5), bob: member(5) }, false],
    ['with less than that', 11, { ada: member(5), bob: member(5) }, true],
    [
      'counting nobody who is protected or left',
      11,
      { ada: member(5), bob: member(5, { protected: true }), cyd: member(0, { left: { at: NOW } }) },
      false,
    ],
    ['with nobody left to raise', 10, { ada: member(10, { protected: true }) }, true],
  ])('say whether it is used up: %s', (_name, total, members, expected) =>
    expect(poolFigures({ credits: credits(total) }, state(members)).isUsedUp).toBe(expected),
  )

  /** 2026-11-16, a Monday, after ten working days of ten credits. */
  const MONDAY = CYCLE.startAt + 15 * DAY
  const spent = (more: Partial<PoolState> = {}) => state({ ada: member(100) }, { readAt: MONDAY, ...more })
  test.each<readonly [string, number, PoolState, number | undefined]>([
    ['now, when nothing is left', 100, spent(), MONDAY],
    ['now, when more than all is gone', 95, spent(), MONDAY],
    ['on Wednesday noon, with two and a half days left', 125, spent(), MONDAY + 2.5 * DAY],
    ['at the end of Friday, with five days left', 150, spent(), MONDAY + 5 * DAY],
    ['on the next Monday, with six days left', 160, spent(), MONDAY + 8 * DAY],
    ['at the same time within an hour', 125, spent({ readAt: MONDAY + HOUR - 1 }), MONDAY + HOUR - 1 + 2.5 * DAY],
    ['now, also on a Saturday', 100, spent({ readAt: MONDAY + 5 * DAY }), MONDAY + 5 * DAY],
    ['not within the cycle', 1000, spent(), undefined],
    ['within 400 days', 2955, spent({ cycle: { ...CYCLE, endAt: MONDAY + 1000 * DAY } }), MONDAY + 399.5 * DAY],
    ['not beyond 400 days', 2965, spent({ cycle: { ...CYCLE, endAt: MONDAY + 1000 * DAY } }), undefined],
  ])('say when it is used up: %s', (_name, total, one, expected) =>
    expect(poolFigures({ credits: credits(total) }, one).exhaustedAt).toBe(expected),
  )

  const lines = (pool: Partial<PoolSketch>, one: PoolState, who = 'ada') =>
    sketch(pool).flatMap((terms) => dealLines('research', terms, one, email(who), day))
  const ALONE = { inForce: since(60) }
  test.each<readonly [string, Partial<PoolSketch>, PoolState, readonly string[]]>([
    [
      'for one member, before anything is dealt',
      {},
      state({ ada: member(0, ALONE) }, { dealtAt: undefined as never }),
      ['pool research: 100 credits for 1 member, by need', 'used 0, counted at 60', 'ada@example.com: used 0 of it'],
    ],
    [
      'with its terms, for who is not in it',
      { share: 'equal', min: 5, max: 50 },
      state({ bob: member(0, ALONE), cyd: member(0, { inForce: since('none') }) }),
      [
        'pool research: 100 credits for 2 members, the same head-room for everybody, at least 5, at most 50',
        'used 0, counted at more than the credits: a member has no known cap, or had none lately',
        'dealt 2026-11-20, use read 2026-11-20',
      ],
    ],
    [
      'with everything that is known of a member',
      {},
      state({
        ada: member(30.126, {
          base: credits(10),
          dealt: credits(50),
          fixed: credits(70),
          protected: true,
          ...ALONE,
          lowered: [since(80), since('none')],
          sent: [since(55)],
        }),
      }),
      [
        'pool research: 100 credits for 1 member, by need',
        'used 20.13, counted at more than the credits: a member has no known cap, or had none lately',
        'dealt 2026-11-20, use read 2026-11-20',
        'ada@example.com: used 20.13 of it, joined at a use of 10, dealt 50, own cap 70, dealt first, not dealt, counts at the cap in force, ' +
          'counts at 80 until use up to 2026-11-20 shows, counts at no cap until use up to 2026-11-20 shows, 55 sent 2026-11-20 may still land',
      ],
    ],
    [
      'with the day on which it runs out',
      { credits: 31 },
      state({ ada: member(30, ALONE) }),
      [
        'pool research: 31 credits for 1 member, by need',
        'used 30, counted at 60',
        'dealt 2026-11-20, use read 2026-11-20',
        'expected to be used up 2026-11-20',
        'ada@example.com: used 30 of it',
      ],
    ],
    [
      'without the use of somebody of whom none is known',
      {},
      state({ ada: { base: credits(0), sent: [], lowered: [], dealt: credits(5), ...ALONE } }),
      [
        'pool research: 100 credits for 1 member, by need',
        'used 0, counted at 60',
        'dealt 2026-11-20, use read 2026-11-20',
        'ada@example.com: dealt 5',
      ],
    ],
  ])('in words: %s', (_name, pool, one, expected) => expect(lines(pool, one)).toEqual(expected))
})

describe('the notes on a pool', () => {
  const notes = (
    pool: Partial<PoolSketch>,
    one: PoolState | undefined,
    names: readonly string[] = ['ada'],
    frozen: Readonly<Record<string, string>> = {},
  ) =>
    poolNotes(
      sketch(pool).map((each) => ({ pool: each, members: names.map((name): MemberNow => ({ email: email(name) })) })),
      one ? { research: one } : {},
      frozen,
    )
  test.each<
    readonly [
      string,
      Partial<PoolSketch>,
      PoolState | undefined,
      readonly string[] | undefined,
      Readonly<Record<string, string>>,
      readonly string[],
    ]
  >([
    ['nothing of one that works', {}, state({ ada: member(7, { inForce: since(60) }) }), undefined, {}, []],
    [
      'who is not in it, by e-mail',
      {},
      undefined,
      [],
      {},
      ['POOL_NOBODY pool research: has no members: no approved person has one of its e-mails'],
    ],
    [
      'who is not in it, by a group',
      { members: { kind: 'groups', ids: ['g'] } },
      undefined,
      [],
      {},
      ['POOL_NOBODY pool research: has no members: no approved person is in group g'],
    ],
    [
      'who is not in it, by groups',
      { members: { kind: 'groups', ids: ['g', 'h'] } },
      undefined,
      [],
      {},
      ['POOL_NOBODY pool research: has no members: no approved person is in one of the groups g, h'],
    ],
    [
      'who is not in it, by a condition',
      { members: { kind: 'when', when: { role: 'x' } } },
      undefined,
      [],
      {},
      ['POOL_NOBODY pool research: has no members: no approved person meets its condition in two readings that agree'],
    ],
    [
      'why it is frozen, and nothing of who is in it then',
      {},
      undefined,
      [],
      { research: 'use is old' },
      ['POOL_FROZEN pool research: nothing is dealt: use is old'],
    ],
    [
      'why its last deal stays',
      {},
      state({ ada: member(7, { inForce: since(60) }) }),
      undefined,
      { research: 'use is old' },
      ['POOL_FROZEN pool research: the last deal stays: use is old'],
    ],
    ['nothing of why another pool is frozen', {}, undefined, undefined, { design: 'use is old' }, []],
    [
      'what it cannot pay',
      { min: 51 },
      undefined,
      ['ada', 'bob'],
      {},
      ['POOL_BOUNDS pool research: cannot pay its min, so nothing is dealt: 2 members at 51 are 102 credits, it has 100'],
    ],
    ['nothing while it can just pay it', { min: 50 }, undefined, ['ada', 'bob'], {}, []],
    [
      'that it is used up',
      {},
      state({ ada: member(99.6, { inForce: since(100) }) }),
      undefined,
      {},
      ['POOL_USED_UP pool research: 100 of 100 credits are used; everybody stays at their use until the next cycle'],
    ],
    [
      'that it is above its credits',
      {},
      state({ ada: member(7, { inForce: since(100) }), bob: member(0, { inForce: since(1) }) }),
      undefined,
      {},
      [
        'POOL_ABOVE pool research: use and caps count at 101, above its 100 credits; caps are only lowered, never below use, until they fit',
      ],
    ],
    ['nothing at just its credits', {}, state({ ada: member(7, { inForce: since(100) }) }), undefined, {}, []],
    [
      'nothing of a sum before anything was dealt',
      {},
      state({ ada: member(7, { inForce: since(101) }) }, { dealtAt: undefined as never }),
      undefined,
      {},
      [],
    ],
    [
      'who has no known cap',
      {},
      state({ ada: member(7) }),
      undefined,
      {},
      ['POOL_ABOVE pool research: ada@example.com has no known cap in force, or had none lately, so nobody is raised'],
    ],
    [
      'how many have no known cap, and the first of them',
      {},
      state({ ada: member(7), bob: member(7), cyd: member(7, { inForce: since(9) }) }),
      undefined,
      {},
      ['POOL_ABOVE pool research: 2 members, ada@example.com first, have no known cap in force, or had none lately, so nobody is raised'],
    ],
    [
      'who is about to get a first cap, and who just got one',
      {},
      state({ ada: member(7, { dealt: credits(9) }), bob: member(7, { inForce: since(9), lowered: [since('none')] }) }),
      undefined,
      {},
      ['POOL_ABOVE pool research: 2 members, ada@example.com first, have no known cap in force, or had none lately, so nobody is raised'],
    ],
  ])('say %s', (_name, pool, one, names, frozen, expected) => {
    const found = notes(pool, one, names, frozen)
    expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual(expected)
    expect(found.map((note) => [note.pool, note.at.line])).toEqual(expected.map(() => ['research', 301]))
    expect(found.map(({ version }) => version)).toEqual(expected.map((text) => (text.startsWith('POOL_FROZEN') ? 'use is old' : '')))
  })
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
