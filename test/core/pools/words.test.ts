// The words about pools: the figures for one person, and the notes for the author of the policy.
import { expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { poolNotes } from '../../../src/core/pools/notes.ts'
import { CYCLE, DAY, email, HOUR, NOW, type PoolSketch, policy, roster } from '../../support/declare.ts'
import { explained } from '../../support/explained.ts'
import { type MemberSketch, type Members, since, stateOf } from './world.ts'

const member = (use: number, more: MemberSketch = {}): MemberSketch => ({ use, ...more })
const state = (members: Members, more?: Parameters<typeof stateOf>[1]) => stateOf(members, more, NOW)
type PoolState = ReturnType<typeof state>

const declared = (more: Partial<PoolSketch> = {}): PoolSketch => ({
  ...{ name: 'research', credits: 100, members: { kind: 'emails', emails: [] } },
  ...more,
})
/** What ada is told of the pool. */
const lines = (pool: Partial<PoolSketch>, one: PoolState): readonly string[] => {
  const pools = [declared({ ...pool, members: { kind: 'emails', emails: [email('ada')] } })]
  return explained('ada', { pools }, { roster: roster({ ada: 'approved' }), pools: { research: one } }).pool?.lines ?? []
}

const ALONE = { cap: 60 }
const OPEN = 'used 20.13, counted at more than the credits: a member has no known cap, or had none lately'
const EVERYTHING = state({
  ada: member(30.126, {
    ...{ base: 10, dealt: 50, fixed: 70, protected: true, ...ALONE },
    ...{ lowered: [since(80, NOW), since('none', NOW)], sent: [since(55, NOW)] },
  }),
})
test('a person is told of the pool its terms, its figures, when it was dealt and runs out, and their own part', () =>
  expect(lines({ credits: 31 }, state({ ada: member(30, ALONE) }))).toEqual([
    'pool research: 31 credits for 1 member, by need',
    'used 30, counted at 60',
    'dealt 2026-11-20 12:00 UTC, use read 2026-11-20 12:00 UTC',
    'expected to be used up 2026-11-20 23:36 UTC',
    'ada@example.com: used 30 of it',
  ]))
test('a person is told nothing of what was not dealt, nor of what they have no part in', () => {
  expect(lines({}, state({ ada: member(0, ALONE) }, { dealtAt: undefined }))).toHaveLength(3)
  expect(lines({}, state({ bob: member(0, ALONE) }))).toHaveLength(3)
})

/** 2026-11-16, a Monday, after ten working days of ten credits. */
const MONDAY = CYCLE.startAt + 15 * DAY
const spent = (more: Partial<PoolState> = {}) => state({ ada: { use: 100 } }, { readAt: MONDAY, ...more })
const usedUp = (instant: string): string => `expected to be used up ${instant} UTC`
test.each<readonly [string, Partial<PoolSketch>, PoolState, string]>([
  [
    'all terms',
    { share: 'equal', min: 5, max: 50 },
    state({ bob: member(0, ALONE), cyd: { use: 0, cap: 'none' } }),
    'pool research: 100 credits for 2 members, the same head-room for everybody, at least 5, at most 50',
  ],
  [
    'members who are there',
    {},
    state({ ada: { use: 40, cap: 60 }, bob: { use: 10, cap: 20, left: { at: NOW } } }),
    'pool research: 100 credits for 1 member, by need',
  ],
  ['use and caps of all', {}, state({ ada: { use: 40, cap: 60 }, bob: { use: 10, cap: 20, left: { at: NOW } } }), 'used 50, counted at 70'],
  ['a sum that is not known', {}, EVERYTHING, OPEN],
  [
    'everything that is known of a member',
    {},
    EVERYTHING,
    'ada@example.com: used 20.13 of it, joined at a use of 10, dealt 50, own cap 70, dealt first, not dealt, counts at the cap in force, ' +
      'counts at 80 until use up to 2026-11-20 12:00 UTC shows, counts at no cap until use up to 2026-11-20 12:00 UTC shows, ' +
      '55 sent 2026-11-20 12:00 UTC may still land',
  ],
  ['no use where none is known', {}, state({ ada: { dealt: 5, ...ALONE } }), 'ada@example.com: dealt 5'],
  ['the end of Friday, with five days left', { credits: 150 }, spent(), usedUp('2026-11-21 00:00')],
  ['the next Monday, with six days left', { credits: 160 }, spent(), usedUp('2026-11-24 00:00')],
  ['the same time within an hour', { credits: 125 }, spent({ readAt: MONDAY + HOUR - 60_000 }), usedUp('2026-11-18 12:59')],
  ['now, also on a Saturday', { credits: 100 }, spent({ readAt: MONDAY + 5 * DAY }), usedUp('2026-11-21 00:00')],
])('a person is told of the pool %s', (_name, pool, one, expected) => expect(lines(pool, one)).toContain(expected))

test('when a pool is used up is not told beyond 400 days', () =>
  expect(lines({ credits: 2965 }, spent({ cycle: { ...CYCLE, endAt: MONDAY + 1000 * DAY } })).join()).not.toContain('expected'))

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
    'that it is used up with less than a credit for each',
    { pool: { credits: 11 }, is: state({ ada: { use: 5, cap: 5 }, bob: { use: 5, cap: 5 } }) },
    'POOL_USED_UP 10 of 11 credits are used; everybody stays at their use until the next cycle',
  ],
  [
    'nothing where those who are protected or left would get none of the rest',
    {
      pool: { credits: 11 },
      is: state({ ada: { use: 5, cap: 5 }, bob: { use: 5, cap: 5, protected: true }, cyd: { use: 0, left: { at: NOW, cap: credits(0) } } }),
    },
    undefined,
  ],
  [
    'that it is used up with nobody left to raise',
    { pool: { credits: 10 }, is: state({ ada: { use: 10, cap: 10, protected: true } }) },
    'POOL_USED_UP 10 of 10 credits are used; everybody stays at their use until the next cycle',
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
  const pools = policy({ pools: [declared(pool)] }).pools.map((each) => ({
    pool: each,
    members: names.map((name) => ({ email: email(name) })),
  }))
  const found = poolNotes(pools, is ? { research: is } : {}, frozen)
  expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual(expected ? [expected.replace(' ', ' pool research: ')] : [])
  for (const note of found)
    expect([note.pool, note.at.line, note.version]).toEqual(['research', 301, note.code === 'POOL_FROZEN' ? 'use is old' : ''])
})

test.each([
  [['ada'], '1 person, who stays'],
  [['ada', 'bob'], '2 people, who stay'],
] as const)('a note says of how many it is not known whether they are members: %j', (names, whom) => {
  const [pool] = policy({ pools: [declared({ members: { kind: 'when', when: { role: 'a' } } })] }).pools
  if (!pool) return
  const unknown = { emails: names.map(email), why: 'role: the roster has no role' }
  expect(poolNotes([{ pool, members: [{ email: email('cyd') }], unknown }], {}, {})).toMatchObject([
    {
      code: 'POOL_UNKNOWN',
      message: `pool research: whether its condition holds is not known for ${whom} in or out of it as before (role: the roster has no role)`,
    },
  ])
})
