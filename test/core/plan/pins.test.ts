// What is shown and asked for, and may only be inherited: when it is made the scope's own before an ancestor moves.
import { describe, expect, test } from 'vitest'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { cap, email, keysOf, NOW, policy, scope } from '../../support/declare.ts'
import { lines, type PlanMore, type PlanSketch, planOf, scopes } from '../../support/plan.ts'

const PEOPLE = ['ada', 'bob']
const OFF = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off', emptyPolicy: false, semantics: false } as const
const given = (sketch: PlanSketch): PlanSketch => ({ people: PEOPLE, readsExplicit: false, guards: OFF, ...sketch })
const planned = (sketch: PlanSketch, more: PlanMore = {}): string =>
  lines(planOf(given(sketch), more))
    .toSorted()
    .join(', ')
const [ADA] = keysOf('ada')
const found = (sketch: PlanSketch, more: PlanMore = {}) => {
  const { plan, differences, desired } = planOf(given(sketch), more)
  return { changes: plan.changes, ada: differences.get(ADA ?? ('' as never)), asked: desired.get(ADA ?? ('' as never)) }
}
const TEAM = scopes('team 500>400, ada 500>500')
const UNLISTED = { facts: { unlistedGroups: keysOf('group:g') } }
const g = { groups: { g: ['ada'] } }

test.each<readonly [string, PlanSketch, string]>([
  ['is set before the team goes below it', TEAM, 'ada set none>500 policy, team lower 500>400 policy'],
  ['is set before the team goes above it', scopes('team 500>600, ada 500>500'), 'ada set none>500 policy, team raise 500>600 policy'],
  [
    'is not set where it was given back after a grant, and may follow the team as before it',
    {
      ...scopes('team 500>600, ada 500'),
      owned: { ada: { cap: 900, owner: 'grant', grant: { on: 'ada', cap: 900, until: NOW - 1 }, baseline: 500 } },
    },
    'team raise 500>600 policy',
  ],
  [
    'is not set where nothing is asked for, and goes once it turns out to be set there',
    scopes('team 500 ours 500, ada 500>none'),
    'ada clear 500>none policy, team clear 500>none orphan',
  ],
  [
    'is set before a group of the person goes below it',
    { ...g, ...scopes('group:g 500>400, ada 500>500') },
    'ada set none>500 policy, group:g lower 500>400 policy',
  ],
  [
    'is set at a group before the team goes below it',
    { ...g, ...scopes('team 500>400, group:g 500>500') },
    'group:g set none>500 policy, team lower 500>400 policy',
  ],
  [
    'is left as it is at a group when another one with unknown members goes below it',
    { ...UNLISTED, ...scopes('team 500>500, group:g 500>400, group:h 500>500') },
    'group:g lower 500>400 policy held:readQuality',
  ],
  ['is left as it is where reads are explicit', { ...TEAM, readsExplicit: true }, 'team lower 500>400 policy'],
  [
    'is set again after the copy, not before it, where caps are copied',
    { ...TEAM, capSemantics: 'copied' },
    'ada raise 400>500 policy, team lower 500>400 policy',
  ],
])('a cap that may only be inherited %s', (_name, sketch, expected) => expect(planned(sketch)).toBe(expected))

test('a cap that may only be inherited is set in the order of scopes, and tells why where the policy gives no reason', () => {
  const { changes, ada } = found(scopes('team 500>400, ada 500>500, bob 550>600'))
  expect(changes.map(({ scope: at, reason, source }) => [at.kind, reason, source?.line])).toEqual([
    ['user', 'it may only be inherited, and the cap it may be inherited from changes', 2],
    ['user', undefined, 3],
    ['team', undefined, 1],
  ])
  expect(ada).toMatchObject({ pin: true, healing: false, grantEnd: false })
  expect(ada?.pool).toBeUndefined()
})

describe('a member of a pool who inherits a cap', () => {
  const research = { name: 'research', credits: 100, members: { kind: 'emails', emails: PEOPLE.map(email) } } as const
  const [pool] = policy({ pools: [research] }).pools
  /** The pool has so much room for members who have used so much before they joined. */
  const following = (room: number, base: Readonly<Record<string, number>> = { ada: 0, bob: 0 }, isLeftAtZero = false): PlanMore => {
    const members = Object.entries(base).map(([name, used]) => ({ email: email(name), base: cap(used) as never, count: 40, isLeftAtZero }))
    return { followers: pool ? [{ pool, room, members }] : [] }
  }
  const alone = (room: number, base = 0) => following(room, { ada: base })
  const raised = (text = 'team 40>60, ada none, bob none', more: PlanSketch = {}): PlanSketch => ({
    readsExplicit: true,
    ...scopes(text),
    ...more,
  })
  const GOES = 'team raise 40>60 policy'
  const ADA_KEEPS = `ada set none>40 policy, ${GOES}`
  const BOTH_KEEP = `ada set none>40 policy, bob set none>40 policy, ${GOES}`

  test.each<readonly [string, PlanSketch, PlanMore, string]>([
    ['keeps it when the team’s goes up and the credits do not pay for all', raised(), following(39), BOTH_KEEP],
    ['follows the team’s when the credits pay for all', raised(), following(40), GOES],
    [
      'keeps the 0 at which the deal leaves them, also where all of the ancestor’s cap was used before',
      raised('team 0>40, ada none, bob none'),
      following(0, { ada: 0 }, true),
      'ada block none>0 policy, team raise 0>40 policy',
    ],
    [
      'keeps it when the team’s goes',
      raised('team 40 ours 40, ada none, bob none'),
      following(1000),
      'ada set none>40 policy, bob set none>40 policy, team clear 40>none orphan',
    ],
    [
      'keeps it while its pool is above the credits, though what it counts at is as much: then only lowers go',
      raised(),
      following(-1, { ada: 0, bob: 20 }),
      BOTH_KEEP,
    ],
    ['follows downwards while its pool is above the credits', raised('team 40>30, ada none'), following(-1), 'team lower 40>30 policy'],
    ['counts what was used since joining of what it would get', raised(), alone(10, 10), GOES],
    ['is not given room by others who would be lifted by less than nothing', raised(), following(19, { ada: 0, bob: 60 }), ADA_KEEPS],
    [
      'keeps it where only the way there goes above the credits',
      raised('team 40>60, group:g none>45, ada none', g),
      alone(10),
      `ada set none>40 policy, group:g set none>45 policy, ${GOES}`,
    ],
    ['follows its group’s, which stays, when the team’s goes up', raised('team 40>60, group:g 40>40, ada none', g), alone(0), GOES],
    [
      'keeps it when the team’s goes up, though a group with unknown members loses its cap',
      raised('team 40>60, group:g 50>none, ada none', UNLISTED),
      alone(19),
      `ada set none>40 policy, group:g clear 50>none policy held:readQuality, ${GOES}`,
    ],
    [
      'keeps it when a group with unknown members, perhaps its own, is raised',
      { ...UNLISTED, ...scopes('group:g 40>60, group:h 70>70, ada 40'), groups: { h: ['ada'] } },
      alone(19),
      'ada set none>40 policy, group:g raise 40>60 policy held:readQuality',
    ],
    ['has what policy asks for instead, whatever the team gets', raised('team 40>60, ada 50>50, bob none'), following(20), GOES],
    ['waits for the reading when it was never read', raised('team 40>60, bob none'), following(39), `bob set none>40 policy, ${GOES}`],
    ['is no person who left', raised(undefined, { people: ['bob'] }), following(19), `bob set none>40 policy, ${GOES}`],
    ['is left alone while nothing moves', raised('team 40>40, ada none, bob none'), following(0), ''],
    [
      'keeps it when the team’s goes up and its group shows the same, which may be no cap of its own',
      { ...g, ...scopes('team 40>60, group:g 40>none, ada 40') },
      alone(19),
      `ada set none>40 policy, group:g clear 40>none policy, ${GOES}`,
    ],
    [
      'keeps it when a group with unknown members goes up',
      raised('team 40>40, group:g 50>60, ada none, bob none', UNLISTED),
      following(39),
      'ada set none>40 policy, bob set none>40 policy, group:g raise 50>60 policy held:readQuality',
    ],
  ])('%s', (_name, sketch, more, expected) => expect(planned(sketch, more)).toBe(expected))

  test.each<readonly [string, PlanSketch, PlanMore, string]>([
    [
      'keeps what is wider back while its own cap is held, where the credits do not pay for it',
      raised('team 40>60, ada none>30', { guards: { ...OFF, maxLowered: { percent: 0, floor: 0 } } }),
      alone(19),
      'team ada@example.com comes first, and a hold keeps it back, user held',
    ],
    [
      'lets what is wider go while its own cap is held, where the credits pay',
      raised('team 40>60, ada none>30', { guards: { ...OFF, maxLowered: { percent: 0, floor: 0 } } }),
      alone(20),
      'team ready, user held',
    ],
    [
      'defers the ancestor where the service has refused its own cap',
      raised(undefined, { quarantined: [{ scope: scope('ada'), code: 'CAP_REFUSED', message: 'no', entry: UNDECLARED, at: NOW }] }),
      alone(0),
      'team ada@example.com comes first, and is refused: no',
    ],
    [
      'keeps nothing back where the service does not know them',
      raised(undefined, { quarantined: [{ scope: scope('ada'), code: 'SCOPE_UNKNOWN', message: 'no', entry: UNDECLARED, at: NOW }] }),
      alone(0),
      'team ready',
    ],
  ])('%s', (_name, sketch, more, expected) => {
    const told = found(sketch, more).changes.map(
      ({ scope: at, disposition: to }) => `${at.kind} ${to.kind === 'deferred' ? to.reason.replace(/hold \w+/, 'a hold') : to.kind}`,
    )
    expect(told.toSorted().join(', ')).toBe(expected)
  })

  test('says why it keeps it', () => {
    const { changes, asked } = found(raised(), following(39))
    expect(changes[0]).toMatchObject({
      reason: "pool research: the credits do not pay for the ancestor's cap; what is in force stays",
      source: { line: 301 },
    })
    const [entry, origin] = [
      { kind: 'pool', cap: 40 },
      { kind: 'pool', pool: 'research' },
    ]
    expect(asked).toMatchObject({ owner: 'pool', entry, origin, losers: [] })
  })

  test('gets a dealt cap that is only inherited as its own before the team goes up', () => {
    const members = { [email('ada')]: { base: cap(0) as never, dealt: cap(40) as never, sent: [], lowered: [] } }
    const dealt = { research: { cycle: undefined as never, readAt: 0, dealtAt: 0, members } }
    const sketch: PlanSketch = { ...scopes('team 40>60, ada 40'), pools: [research], dealt }
    expect(planned(sketch)).toBe(ADA_KEEPS)
    expect(planned({ ...sketch, ...g, ...scopes('team 30>40, group:g 40>40, ada 40') })).toBe('team raise 30>40 policy')
    expect(found(sketch).ada).toMatchObject({ pin: true, pool: { name: 'research', isReviewed: false } })
  })
})
