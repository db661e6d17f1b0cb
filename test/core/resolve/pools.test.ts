// Who is in a pool, and what is asked for members: what was dealt, what is declared for them, or what is in force.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import type { PoolMember, PoolState } from '../../../src/core/pools/state.ts'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import type { DesiredInputs } from '../../../src/core/resolve/resolution.ts'
import {
  byGrant,
  CYCLE,
  desiredInputs,
  email,
  HOUR,
  members,
  NOW,
  type OwnedSketch,
  ownedCaps,
  type PlainCap,
  type PolicySketch,
  type PoolSketch,
  roster,
  rosterRows,
  short,
} from '../../support/declare.ts'

const PEOPLE = roster({ cyd: 'approved', ada: 'approved', bob: 'approved', dan: 'pending' })
const emails = (...names: readonly string[]): PoolSketch['members'] => ({ kind: 'emails', emails: names.map(email) })
const research = (more: Partial<PoolSketch> = {}): PoolSketch => ({
  name: 'research',
  credits: 100,
  members: emails('cyd', 'ada', 'dan'),
  ...more,
})
const resolved = (sketch: PolicySketch, more: Partial<DesiredInputs> = {}) =>
  resolveDesired(desiredInputs({ pools: [research()], ...sketch }, { roster: PEOPLE, ...more }))
const named = (all: readonly { readonly email: string }[] | undefined): string | undefined =>
  all?.map((one) => one.email.split('@')[0]).join(' ')

/** The pool is above its credits, and ada is at 0. */
const atZero = (more: Partial<PoolMember>): PoolState => ({
  ...{ cycle: CYCLE, readAt: NOW, dealtAt: NOW },
  members: {
    [email('ada')]: { base: credits(0), use: credits(7), sent: [], lowered: [], inForce: { cap: credits(0), at: NOW }, ...more },
  },
})

describe('the members of a pool', () => {
  test.each<readonly [string, PolicySketch, Partial<DesiredInputs>, string]>([
    ['are the approved ones of those who are named, by name', {}, {}, 'ada cyd'],
    [
      'are the members of its groups',
      { pools: [research({ members: { kind: 'groups', ids: ['g'] } })] },
      { groups: members({ g: ['bob', 'dan', 'eve'] }) },
      'bob',
    ],
    ['are those for whom its condition holds', { pools: [research({ members: { kind: 'when', when: { email: '?o?@*' } } })] }, {}, 'bob'],
    [
      'are also who is in another pool as well',
      { pools: [research(), research({ name: 'design', members: emails('ada', 'bob') })] },
      {},
      'ada cyd',
    ],
  ])('%s', (_name, sketch, more, expected) => expect(named(resolved(sketch, more).pools[0]?.members)).toBe(expected))

  test('are nobody while there is no roster', () => {
    const { pools } = resolveDesired(desiredInputs({ pools: [research()] }))
    expect(pools.map((one) => one.members)).toEqual([[]])
  })

  test('are known with our cap, for protected members', () => {
    const { pools } = resolved({ protected: ['ada'] }, { owned: ownedCaps({ ada: { cap: 30 }, cyd: { cap: 20 } }) })
    expect(pools[0]?.members).toEqual([{ email: email('ada'), fixed: credits(30), protected: true }, { email: email('cyd') }])
  })
})

describe('policy cannot have', () => {
  test('somebody in two pools, who counts in both and is dealt nothing', () => {
    const { rejected, desired, pools } = resolved({
      caps: { ada: 30 },
      pools: [research(), research({ name: 'design', members: emails('ada', 'bob') })],
    })
    for (const { members } of pools) expect(members[0]).toEqual({ email: email('ada'), protected: true })
    expect(rejected).toMatchObject([
      {
        code: 'POOL_TWICE',
        message:
          'ada@example.com is in two pools: research (acme.yaml:301:5) and design (acme.yaml:302:5); take the person out of one of them',
        at: { line: 302 },
      },
    ])
    expect(desired).toEqual([])
  })
  test('a member without a cap', () => {
    const { rejected, pools } = resolved({ caps: { ada: 'none' } })
    expect(rejected).toMatchObject([
      {
        code: 'POOL_NONE',
        message: 'ada@example.com has the cap none and is a member of pool research (acme.yaml:301:5); a pool needs a cap',
        at: { line: 1 },
      },
    ])
    expect(pools[0]?.members[0]).toEqual({ email: email('ada'), protected: true })
  })
})

test.each<readonly [string, PolicySketch, Readonly<Record<string, PoolState>>]>([
  ['the deal leaves them at 0', {}, { research: atZero({ dealt: credits(9) }) }],
  ['a cap declared for them has to wait', { caps: { ada: 50 } }, { research: atZero({ dealt: credits(9), fixed: credits(50) }) }],
  ['nothing was dealt yet', {}, {}],
])('no groups decide for a member of a pool, though they differ, where %s', (_why, { caps, ...sketch }, pools) => {
  const declared = { ...sketch, caps: { ...caps, 'group:g': 100, 'group:h': 20 }, pools: [research({ credits: 5 })] }
  const { rejected, desired } = resolved(declared, { pools, groups: members({ g: ['ada'], h: ['ada'] }) })
  expect(rejected).toEqual([])
  expect(desired.map(({ scope }) => scope.kind)).toEqual(['group', 'group'])
})

describe('of a member is asked', () => {
  const dealt = (more: Partial<PoolMember> = {}, state: Partial<PoolState> = {}): PoolState => ({
    cycle: CYCLE,
    readAt: NOW,
    dealtAt: NOW,
    members: { [email('ada')]: { base: credits(0), use: credits(7), dealt: credits(40), sent: [], lowered: [], ...more } },
    ...state,
  })
  const inForce = (amount: number, at = NOW) => ({ inForce: { cap: credits(amount), at } })
  const IDLE: PolicySketch = { rules: [{ name: 'idle', when: { inactiveDays: 7 }, cap: 5 }] }
  const MINE = (value: PlainCap): Readonly<Record<string, OwnedSketch>> => ({ ada: { cap: value, owner: 'pool' } })
  test.each<readonly [string, PolicySketch, PoolState | undefined, Readonly<Record<string, OwnedSketch>>, readonly unknown[]]>([
    ['what was dealt, with why', {}, dealt(), {}, [40, 'pool', 'pool research: by need, of 100 credits']],
    [
      'what was dealt as the same head-room',
      { pools: [research({ share: 'equal' })] },
      dealt(),
      {},
      [40, 'pool', 'pool research: the same head-room for everybody, of 100 credits'],
    ],
    [
      'what is left of their own cap',
      { caps: { ada: 90 } },
      dealt({ fixed: credits(90) }),
      {},
      [40, 'pool', 'pool research: by need, of 100 credits, at most what is left of the 90 declared'],
    ],
    ['their own cap where all of it was dealt', { caps: { ada: 40 } }, dealt({ fixed: credits(40) }), {}, [40, 'policy', undefined]],
    [
      'what was dealt, whoever else is protected',
      { protected: ['cyd'] },
      dealt(),
      {},
      [40, 'pool', 'pool research: by need, of 100 credits'],
    ],
    [
      'what was dealt after a grant of theirs, also while nobody knows whether a rule matches',
      IDLE,
      dealt(),
      { ada: byGrant(20) },
      [40, 'pool', 'pool research: by need, of 100 credits'],
    ],
    [
      'what a grant gives back, where nothing was dealt yet and it is less than the grant gave',
      {},
      undefined,
      { ada: byGrant(20) },
      [20, 'grant', 'the grant is no longer declared'],
    ],
    ...[6000, 'none' as const].map(
      (baseline) =>
        [
          `what a grant gave, where nothing was dealt yet and it gives back no less: ${baseline}`,
          {},
          undefined,
          { ada: byGrant(baseline) },
          [6000, 'grant', 'pool research: nothing is dealt yet; what is in force stays'],
        ] as const,
    ),
    [
      'what was dealt where a rule sets nothing',
      { rules: [{ when: { email: 'ada@*' }, cap: 'none' }] },
      dealt(),
      {},
      [40, 'pool', 'pool research: by need, of 100 credits'],
    ],
    ['nothing before anything was dealt', {}, undefined, {}, []],
    ['nothing before anything was dealt to them', {}, dealt({}, { members: {} }), {}, []],
    [
      'what is in force, where it is ours and nothing was dealt yet',
      {},
      undefined,
      MINE(30),
      [30, 'pool', 'pool research: nothing is dealt yet; what is in force stays'],
    ],
    [
      'their own cap, while they are protected',
      { caps: { ada: 90 }, protected: ['ada'] },
      dealt({ protected: true }),
      {},
      [90, 'policy', undefined],
    ],
    [
      'what is in force, while they are protected and nothing is declared',
      { protected: ['ada'] },
      dealt({ protected: true }),
      MINE(30),
      [30, 'pool', 'pool research: nothing is dealt to protected members; what is in force stays'],
    ],
    [
      'what is in force, while they are protected and a rule sets nothing',
      { protected: ['ada'], rules: [{ when: { email: 'ada@*' }, cap: 'none' }] },
      dealt({ protected: true }),
      MINE(30),
      [30, 'pool', 'pool research: nothing is dealt to protected members; what is in force stays'],
    ],
    [
      'what is ours, while they are protected and the credits pay for it, though others have lowered it',
      { protected: ['ada'] },
      dealt({ protected: true, fixed: credits(30), ...inForce(20) }),
      MINE(30),
      [30, 'pool', 'pool research: nothing is dealt to protected members; what is in force stays'],
    ],
    [
      'what is in force, while the credits do not pay for the cap of a protected member',
      { caps: { ada: 190 }, protected: ['ada'] },
      dealt({ protected: true, fixed: credits(190), ...inForce(30) }),
      MINE(30),
      [30, 'pool', 'pool research: the credits do not pay for the cap declared; what is in force stays'],
    ],
    [
      'what others have lowered since, while the credits do not pay for more',
      { caps: { ada: 190 }, protected: ['ada'] },
      dealt({ protected: true, fixed: credits(190), ...inForce(20) }),
      MINE(30),
      [20, 'pool', 'pool research: the credits do not pay for the cap declared; what is in force stays'],
    ],
    [
      'what is ours, where others have raised it, while the credits do not pay for more',
      { caps: { ada: 190 }, protected: ['ada'] },
      dealt({ protected: true, fixed: credits(190), ...inForce(50) }),
      MINE(30),
      [30, 'pool', 'pool research: the credits do not pay for the cap declared; what is in force stays'],
    ],
    [
      'what is ours, where it was lower before we wrote',
      { caps: { ada: 190 }, protected: ['ada'] },
      dealt({ protected: true, fixed: credits(190), ...inForce(20, NOW - 2 * HOUR) }),
      MINE(30),
      [30, 'pool', 'pool research: the credits do not pay for the cap declared; what is in force stays'],
    ],
    [
      'what is ours, where it was lower when we wrote',
      { caps: { ada: 190 }, protected: ['ada'] },
      dealt({ protected: true, fixed: credits(190), ...inForce(20, NOW - HOUR) }),
      MINE(30),
      [30, 'pool', 'pool research: the credits do not pay for the cap declared; what is in force stays'],
    ],
    [
      'what others have lowered, while they are protected and the credits do not pay for more',
      { protected: ['ada'] },
      dealt({ protected: true, fixed: credits(190), ...inForce(20) }),
      MINE(190),
      [20, 'pool', 'pool research: the credits do not pay for the cap that another client lowered; what is in force stays'],
    ],
    [
      'what others have lowered, while nothing is dealt yet',
      {},
      dealt({}, { members: { [email('ada')]: { base: credits(0), sent: [], lowered: [], ...inForce(20) } } }),
      MINE(30),
      [20, 'pool', 'pool research: nothing is dealt yet; what is in force stays'],
    ],
    [
      'what others have set since we left them without a cap, while nothing is dealt yet',
      {},
      dealt({}, { members: { [email('ada')]: { base: credits(0), sent: [], lowered: [], ...inForce(20) } } }),
      MINE('none'),
      [20, 'pool', 'pool research: nothing is dealt yet; what is in force stays'],
    ],
    [
      'the 0 that is theirs, while the credits do not pay for more',
      { pools: [research({ credits: 5 })] },
      dealt({ ...inForce(0), use: credits(7) }),
      MINE(0),
      [0, 'pool', 'pool research: the credits do not pay for more; what is in force stays'],
    ],
    ['nothing, where another client lowered it to 0 and a rule’s answer is not known', IDLE, dealt(inForce(0)), MINE(30), []],
    [
      'what others have lowered, while nobody knows whether a rule matches',
      IDLE,
      dealt(inForce(20)),
      MINE(30),
      [20, 'pool', expect.stringContaining('whether rule idle matches is not known')],
    ],
    [
      'nothing, where others have lowered it to 0',
      { pools: [research({ credits: 5 })] },
      dealt({ ...inForce(0), use: credits(7) }),
      MINE(30),
      [],
    ],
  ])('%s', (_name, sketch, state, owned, expected) => {
    const { desired } = resolved(sketch, { owned: ownedCaps(owned), ...(state && { pools: { research: state } }) })
    const own = desired.filter(({ scope: at }) => short(at) === 'ada')
    expect(own.flatMap(({ cap: value, owner, origin }) => [value, owner, origin.reason])).toEqual(expected)
  })

  test('what stays in force as the pool’s, with its place in the policy', () => {
    const [ada] = resolved({}, { owned: ownedCaps(MINE(30)) }).desired
    expect(ada?.origin).toMatchObject({ kind: 'pool', pool: 'research', at: { line: 301 }, cap: 30 })
  })

  test('what was dealt, with the raises that wait for newer figures', () => {
    const at = NOW - HOUR
    const member = (use: number, given: number, more: Partial<PoolMember> = {}): PoolMember => ({
      ...{ base: credits(0), use: credits(use), dealt: credits(given), inForce: { cap: credits(given), at }, sent: [], lowered: [] },
      ...more,
    })
    const state = { [email('ada')]: member(480, 500), [email('cyd')]: member(0, 260, { lowered: [{ cap: credits(500), at }] }) }
    const { desired } = resolved(
      { pools: [research({ credits: 1000, share: 'equal' })] },
      { pools: { research: dealt({}, { members: state }) } },
    )
    expect(desired.map(({ scope, cap, waits }) => [short(scope), cap, waits])).toEqual([
      ['ada', 500, 'a raise to 740 waits until use up to 2026-11-20 11:00 UTC shows'],
      ['cyd', 260, undefined],
    ])
    expect(desired[1]?.waits).toBeUndefined()
  })
})

test('it is known of whom it is not known whether a condition holds, also while they stay a member', () => {
  const policy: PolicySketch = { pools: [{ name: 'p', credits: 100, members: { kind: 'when', when: { role: 'a' } } }] }
  const rows = { ada: { role: 'a' }, bob: { role: 'b' }, dan: {}, pat: { status: 'pending' } } as const
  const first = resolveDesired(desiredInputs(policy, { roster: rosterRows(rows) }))
  expect(first.pools[0]).toMatchObject({
    members: [{ email: 'ada@example.com' }],
    unknown: { emails: ['dan@example.com'], why: 'role: the roster has no role' },
  })
  const later = desiredInputs(policy, { roster: rosterRows({ ...rows, ada: {} }), conditions: first.conditions })
  expect(resolveDesired(later).pools[0]).toMatchObject({
    members: [{ email: 'ada@example.com' }],
    unknown: { emails: ['ada@example.com', 'dan@example.com'] },
  })
})
