// Who is in a pool, and what is asked for members: what was dealt, what is declared for them, or what is in force.
import { describe, expect, test } from 'vitest'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import {
  byGrant,
  CYCLE,
  cap,
  decided,
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

type More = NonNullable<Parameters<typeof desiredInputs>[1]>
type PoolState = NonNullable<More['pools']>[string]

const PEOPLE = roster({ cyd: 'approved', ada: 'approved', bob: 'approved', dan: 'pending' })
const emails = (...names: readonly string[]): PoolSketch['members'] => ({ kind: 'emails', emails: names.map(email) })
const research = (more: Partial<PoolSketch> = {}): PoolSketch => ({
  ...{ name: 'research', credits: 100, members: emails('cyd', 'ada', 'dan') },
  ...more,
})
const design = research({ name: 'design', members: emails('ada', 'bob') })
const resolved = (sketch: PolicySketch, more: More = {}) =>
  resolveDesired(desiredInputs({ pools: [research()], ...sketch }, { roster: PEOPLE, ...more }))
const amount = (value: number) => cap(value) as never
const inForce = (value: number, at = NOW) => ({ inForce: { cap: amount(value), at } })
/** What the ledger knows of ada's part of the deal. */
const dealt = (more: object = {}, to: number | undefined = 40): PoolState => ({
  ...{ cycle: CYCLE, readAt: NOW, dealtAt: NOW },
  members: {
    [email('ada')]: { base: amount(0), use: amount(7), sent: [], lowered: [], ...(to !== undefined && { dealt: amount(to) }), ...more },
  },
})

describe('the members of a pool', () => {
  test.each<readonly [string, PolicySketch, More, string]>([
    ['are the approved ones of those who are named, by name', {}, {}, 'ada cyd'],
    [
      'are the members of its groups',
      { pools: [research({ members: { kind: 'groups', ids: ['g'] } })] },
      { groups: members({ g: ['bob', 'dan', 'eve'] }) },
      'bob',
    ],
    ['are those for whom its condition holds', { pools: [research({ members: { kind: 'when', when: { email: '?o?@*' } } })] }, {}, 'bob'],
    ['are nobody while there is no roster', {}, { roster: undefined as never }, ''],
  ])('%s', (_name, sketch, more, expected) =>
    expect(
      resolved(sketch, more)
        .pools[0]?.members.map((one) => one.email.split('@')[0])
        .join(' '),
    ).toBe(expected),
  )

  test('are known with our cap, for protected members', () => {
    const { pools } = resolved({ protect: ['ada'] }, { owned: ownedCaps({ ada: { cap: 30 }, cyd: { cap: 20 } }) })
    expect(pools[0]?.members).toEqual([{ email: email('ada'), fixed: 30, protected: true }, { email: email('cyd') }])
  })
})

test.each<readonly [string, PolicySketch, string]>([
  [
    'somebody in two pools, who counts in both and is dealt nothing',
    { caps: { ada: 30 }, pools: [research(), design] },
    'POOL_TWICE 302 ada@example.com is in two pools: research (acme.yaml:301:5) and design (acme.yaml:302:5); take the person out of one of them',
  ],
  [
    'a member without a cap, who counts',
    { caps: { ada: 'none' } },
    'POOL_NONE 1 ada@example.com has the cap none and is a member of pool research (acme.yaml:301:5); a pool needs a cap',
  ],
])('policy cannot have %s', (_name, sketch, expected) => {
  const { rejected, desired, pools } = resolved(sketch)
  expect(rejected.map(({ code, at, message }) => `${code} ${at?.line} ${message}`)).toEqual([expected])
  expect(desired).toEqual([])
  for (const pool of pools) expect(pool.members[0]).toEqual({ email: email('ada'), protected: true })
})

test.each<readonly [string, PolicySketch, PoolState | undefined]>([
  ['the deal leaves them at 0', {}, dealt(inForce(0), 9)],
  ['a cap declared for them has to wait', { caps: { ada: 50 } }, dealt({ ...inForce(0), fixed: amount(50) }, 9)],
  ['nothing was dealt yet', {}, undefined],
])('no groups decide for a member of a pool, though they differ, where %s', (_why, { caps }, state) => {
  const declared = { caps: { ...caps, 'group:g': 100, 'group:h': 20 }, pools: [research({ credits: 5 })] }
  const more = { roster: PEOPLE, groups: members({ g: ['ada'], h: ['ada'] }), ...(state && { pools: { research: state } }) }
  expect(decided(declared, more)).toBe(caps ? 'ada -' : '')
})

describe('of a member is asked', () => {
  const IDLE: PolicySketch = { rules: [{ name: 'idle', when: { inactiveDays: 7 }, cap: 5 }] }
  const NOTHING_BY_RULE: PolicySketch = { rules: [{ when: { email: 'ada@*' }, cap: 'none' }] }
  const GUARDED: PolicySketch = { protect: ['ada'] }
  const TOO_MUCH: PolicySketch = { ...GUARDED, caps: { ada: 190 } }
  const POOR: PolicySketch = { pools: [research({ credits: 5 })] }
  const waiting = (more: object): PoolState => dealt({ protected: true, fixed: amount(190), ...more })
  const mine = (value: PlainCap): OwnedSketch => ({ cap: value, owner: 'pool' })
  const NEED = 'pool pool research: by need, of 100 credits'
  const stays = (why: string) => `pool pool research: ${why}; what is in force stays`
  const NOT_YET = stays('nothing is dealt yet')
  const PROTECTED = stays('nothing is dealt to protected members')
  const UNPAID = stays('the credits do not pay for the cap declared')
  test.each<readonly [string, PolicySketch, PoolState | undefined, OwnedSketch | undefined, string]>([
    ['what was dealt, with why', {}, dealt(), undefined, `40 ${NEED}`],
    [
      'what was dealt as the same head-room',
      { pools: [research({ share: 'equal' })] },
      dealt(),
      undefined,
      '40 pool pool research: the same head-room for everybody, of 100 credits',
    ],
    [
      'what is left of their own cap',
      { caps: { ada: 90 } },
      dealt({ fixed: amount(90) }),
      undefined,
      `40 ${NEED}, at most what is left of the 90 declared`,
    ],
    ['their own cap where all of it was dealt', { caps: { ada: 40 } }, dealt({ fixed: amount(40) }), undefined, '40 policy undefined'],
    ['what was dealt, whoever else is protected', { protect: ['cyd'] }, dealt(), undefined, `40 ${NEED}`],
    ['what was dealt after a grant, also while nobody knows whether a rule matches', IDLE, dealt(), byGrant(20), `40 ${NEED}`],
    ['what a grant gives back, where it is less than it gave', {}, undefined, byGrant(20), '20 grant the grant is no longer declared'],
    ['what a grant gave, where it gives back no less', {}, undefined, byGrant(6000), `6000 ${NOT_YET.replace('pool', 'grant')}`],
    ['what a grant gave, where it gives back nothing', {}, undefined, byGrant('none'), `6000 ${NOT_YET.replace('pool', 'grant')}`],
    ['nothing before anything was dealt', {}, undefined, undefined, ''],
    ['what is in force, where it is ours and nothing was dealt yet', {}, undefined, mine(30), `30 ${NOT_YET}`],
    [
      'their own cap, while they are protected',
      { ...GUARDED, caps: { ada: 90 } },
      dealt({ protected: true }),
      undefined,
      '90 policy undefined',
    ],
    ['what is in force, while they are protected', GUARDED, dealt({ protected: true }), mine(30), `30 ${PROTECTED}`],
    ['so it is where a rule sets nothing', { ...GUARDED, ...NOTHING_BY_RULE }, dealt({ protected: true }), mine(30), `30 ${PROTECTED}`],
    [
      'what is ours, while they are protected and the credits pay for it, though others have lowered it',
      GUARDED,
      dealt({ protected: true, fixed: amount(30), ...inForce(20) }),
      mine(30),
      `30 ${PROTECTED}`,
    ],
    ['what is in force, while the credits do not pay for their own cap', TOO_MUCH, waiting(inForce(30)), mine(30), `30 ${UNPAID}`],
    ['what is ours, where others have raised it', TOO_MUCH, waiting(inForce(50)), mine(30), `30 ${UNPAID}`],
    ['what is ours, where it was lower when we wrote', TOO_MUCH, waiting(inForce(20, NOW - HOUR)), mine(30), `30 ${UNPAID}`],
    [
      'what others have lowered, while they are protected and the credits do not pay for more',
      GUARDED,
      waiting(inForce(20)),
      mine(190),
      `20 ${stays('the credits do not pay for the cap that another client lowered')}`,
    ],
    [
      'what others have set since we left them without a cap',
      {},
      dealt({ ...inForce(20), dealt: undefined }),
      mine('none'),
      `20 ${NOT_YET}`,
    ],
    [
      'the 0 that is theirs, while the credits do not pay for more',
      POOR,
      dealt(inForce(0)),
      mine(0),
      `0 ${stays('the credits do not pay for more')}`,
    ],
    ['nothing, where another client lowered it to 0 and a rule’s answer is not known', IDLE, dealt(inForce(0)), mine(30), ''],
    [
      'what others have lowered, while nobody knows whether a rule matches',
      IDLE,
      dealt(inForce(20)),
      mine(30),
      '20 pool whether rule idle matches is not known (inactiveDays: the roster has no time of use for any person); what is in force stays',
    ],
    ['nothing, where others have lowered it to 0', POOR, dealt(inForce(0)), mine(30), ''],
  ])('%s', (_name, sketch, state, ours, expected) => {
    const owned = ownedCaps(ours ? { ada: ours } : {})
    const own = resolved(sketch, { owned, ...(state && { pools: { research: state } }) }).desired.filter(
      ({ scope }) => short(scope) === 'ada',
    )
    expect(own.map((one) => `${one.cap} ${one.owner} ${one.origin.reason}`).join()).toBe(expected)
  })

  test('what stays in force as the pool’s, with its place in the policy', () => {
    const [ada] = resolved({}, { owned: ownedCaps({ ada: mine(30) }) }).desired
    expect(ada?.origin).toMatchObject({ kind: 'pool', pool: 'research', at: { line: 301 }, cap: 30 })
  })

  test('what was dealt, with the raises that wait for newer figures', () => {
    const at = NOW - HOUR
    const member = (use: number, given: number, more: object = {}) => ({
      ...{ base: amount(0), use: amount(use), dealt: amount(given), sent: [], lowered: [], ...inForce(given, at) },
      ...more,
    })
    const state = { [email('ada')]: member(480, 500), [email('cyd')]: member(0, 260, { lowered: [{ cap: amount(500), at }] }) }
    const pools = { research: { ...dealt(), members: state } }
    const { desired } = resolved({ pools: [research({ credits: 1000, share: 'equal' })] }, { pools })
    expect(desired.map((one) => [short(one.scope), one.cap, one.waits])).toEqual([
      ['ada', 500, 'a raise to 740 waits until use up to 2026-11-20 11:00 UTC shows'],
      ['cyd', 260, undefined],
    ])
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
