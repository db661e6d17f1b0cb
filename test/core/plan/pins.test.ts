// What is shown and asked for, and may only be inherited: when it is made the scope's own before an ancestor moves.
import { describe, expect, test } from 'vitest'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'

import { cap, email, NOW, type PlainCap, policy, scope } from '../../support/declare.ts'
import { lines, type PlanMore, type PlanSketch, planOf } from '../../support/plan.ts'

const PEOPLE = ['ada', 'bob']
const GUARDS = {
  maxAffected: 'off',
  maxLowered: 'off',
  maxBlocked: 'off',
  maxCleared: 'off',
  emptyPolicy: false,
  semantics: false,
} as const
const planned = (sketch: PlanSketch, more: PlanMore = {}): string[] =>
  lines(planOf({ people: PEOPLE, readsExplicit: false, guards: GUARDS, ...sketch }, more))

describe('a cap that may only be inherited', () => {
  const TEAM = (to: PlainCap): PlanSketch => ({ caps: { team: to, ada: 500 }, observed: { team: 500, ada: 500 } })
  const GROUP: PlanSketch = {
    groups: { g: ['ada'] },
    caps: { 'group:g': 400, ada: 500 },
    observed: { 'group:g': 500, ada: 500 },
  }
  test.each<readonly [string, PlanSketch, readonly string[]]>([
    ['is set before the team goes below it', TEAM(400), ['ada set none>500 policy', 'team lower 500>400 policy']],
    ['is set before the team goes above it', TEAM(600), ['ada set none>500 policy', 'team raise 500>600 policy']],
    [
      'is not set where it was given back after a grant, and may follow the team as before it',
      {
        caps: { team: 600 },
        observed: { team: 500, ada: 500 },
        owned: { ada: { cap: 900, owner: 'grant', grant: { on: 'ada', cap: 900, until: NOW - 1 }, baseline: 500 } },
      },
      ['team raise 500>600 policy'],
    ],
    [
      'is not set where nothing is asked for, and goes once it turns out to be set there',
      { caps: { ada: 'none' }, observed: { team: 500, ada: 500 }, owned: { team: { cap: 500 } } },
      ['ada clear 500>none policy', 'team clear 500>none orphan'],
    ],
    ['is set before a group of the person goes below it', GROUP, ['ada set none>500 policy', 'group:g lower 500>400 policy']],
    [
      'is set at a group before the team goes below it',
      { caps: { team: 400, 'group:g': 500 }, observed: { team: 500, 'group:g': 500 }, groups: { g: ['ada'] } },
      ['group:g set none>500 policy', 'team lower 500>400 policy'],
    ],
    [
      'is left as it is at a group when another one with unknown members goes below it',
      {
        caps: { team: 500, 'group:g': 400, 'group:h': 500 },
        observed: { team: 500, 'group:g': 500, 'group:h': 500 },
        facts: { unlistedGroups: new Set([scopeKey(scope('group:g'))]) },
      },
      ['group:g lower 500>400 policy held:readQuality'],
    ],
    ['is left as it is where reads are explicit', { ...TEAM(400), readsExplicit: true }, ['team lower 500>400 policy']],
    [
      'is set again after the copy, not before it, where caps are copied',
      { ...TEAM(400), capSemantics: 'copied' },
      ['ada raise 400>500 policy', 'team lower 500>400 policy'],
    ],
  ])('%s', (_name, sketch, expected) => expect(planned(sketch).toSorted()).toEqual(expected.toSorted()))

  test('is set in the order of scopes', () => {
    const sketch: PlanSketch = { caps: { team: 400, ada: 500, bob: 600 }, observed: { team: 500, ada: 500, bob: 550 } }
    expect(planned(sketch)).toEqual(['ada set none>500 policy', 'bob raise 550>600 policy', 'team lower 500>400 policy'])
  })

  test('is told with why it is set, where the policy gives no reason', () => {
    const { plan } = planOf({ people: PEOPLE, readsExplicit: false, guards: GUARDS, ...TEAM(400) })
    expect(plan.changes.map(({ reason, source }) => [reason, source?.line])).toEqual([
      ['it may only be inherited, and the cap it may be inherited from changes', 2],
      [undefined, 1],
    ])
    const { differences } = planOf({ people: PEOPLE, readsExplicit: false, guards: GUARDS, ...TEAM(400) })
    expect(differences.get(scopeKey(scope('ada')))).toMatchObject({ pin: true, healing: false, grantEnd: false })
    expect(differences.get(scopeKey(scope('ada')))?.pool).toBeUndefined()
  })
})

describe('a member of a pool who inherits a cap', () => {
  const [pool] = policy({ pools: [{ name: 'research', credits: 100, members: { kind: 'emails', emails: PEOPLE.map(email) } }] }).pools
  const following = (
    room: number,
    names: readonly string[] = PEOPLE,
    base: number | readonly number[] = 0,
    atZero: readonly string[] = [],
  ): PlanMore => {
    const members = names.map((name, index) => {
      const used = credits(typeof base === 'number' ? base : (base[index] ?? 0))
      return { email: email(name), base: used, count: 40, isLeftAtZero: atZero.includes(name) }
    })
    return { followers: pool ? [{ pool, room, members }] : [] }
  }
  const RAISED: PlanSketch = { readsExplicit: true, caps: { team: 60 }, observed: { team: 40, ada: 'none', bob: 'none' } }
  const KEPT = ['ada set none>40 policy', 'bob set none>40 policy', 'team raise 40>60 policy']
  test.each<readonly [string, PlanSketch, PlanMore, readonly string[]]>([
    ['keeps it when the team’s goes up and the credits do not pay for all', RAISED, following(39), KEPT],
    ['follows the team’s when the credits pay for all', RAISED, following(40), ['team raise 40>60 policy']],
    [
      'keeps the 0 at which the deal leaves them, also where all of the ancestor’s cap was used before',
      { ...RAISED, caps: { team: 40 }, observed: { team: 0, ada: 'none', bob: 'none' } },
      following(0, ['ada'], 0, ['ada']),
      ['ada block none>0 policy', 'team raise 0>40 policy'],
    ],
    [
      'keeps it when the team’s goes',
      { ...RAISED, caps: {}, owned: { team: { cap: 40 } } },
      following(1000),
      ['ada set none>40 policy', 'bob set none>40 policy', 'team clear 40>none orphan'],
    ],
    ['follows the team’s when that goes down', { ...RAISED, caps: { team: 30 } }, following(0), ['team lower 40>30 policy']],
    ['counts only what was used since joining', RAISED, following(0, PEOPLE, 20), ['team raise 40>60 policy']],
    [
      'keeps it while its pool is above the credits, though what it counts at is as much: then only lowers go',
      RAISED,
      following(-1, PEOPLE, [0, 20]),
      ['ada set none>40 policy', 'bob set none>40 policy', 'team raise 40>60 policy'],
    ],
    [
      'follows downwards while its pool is above the credits',
      { ...RAISED, caps: { team: 30 } },
      following(-1),
      ['team lower 40>30 policy'],
    ],
    ['counts what was used since joining of what it would get', RAISED, following(10, ['ada'], 10), ['team raise 40>60 policy']],
    [
      'is not given room by others who would be lifted by less than nothing',
      RAISED,
      following(19, PEOPLE, [0, 60]),
      ['ada set none>40 policy', 'team raise 40>60 policy'],
    ],
    [
      'keeps it where only the way there goes above the credits',
      { ...RAISED, caps: { team: 60, 'group:g': 45 }, groups: { g: ['ada'] }, observed: { team: 40, 'group:g': 'none', ada: 'none' } },
      following(10, ['ada']),
      ['ada set none>40 policy', 'group:g set none>45 policy', 'team raise 40>60 policy'],
    ],
    [
      'follows its group’s, which stays, when the team’s goes up',
      { ...RAISED, caps: { team: 60, 'group:g': 40 }, groups: { g: ['ada'] }, observed: { team: 40, 'group:g': 40, ada: 'none' } },
      following(0, ['ada']),
      ['team raise 40>60 policy'],
    ],
    [
      'keeps it when the team’s goes up, though a group with unknown members loses its cap',
      {
        ...{ ...RAISED, caps: { team: 60, 'group:g': 'none' }, observed: { team: 40, 'group:g': 50, ada: 'none' } },
        facts: { unlistedGroups: new Set([scopeKey(scope('group:g'))]) },
      },
      following(19, ['ada']),
      ['ada set none>40 policy', 'group:g clear 50>none policy held:readQuality', 'team raise 40>60 policy'],
    ],
    [
      'keeps it when a group with unknown members, perhaps its own, is raised',
      {
        ...{ readsExplicit: false, caps: { 'group:g': 60, 'group:h': 70 }, groups: { h: ['ada'] } },
        observed: { 'group:g': 40, 'group:h': 70, ada: 40 },
        facts: { unlistedGroups: new Set([scopeKey(scope('group:g'))]) },
      },
      following(19, ['ada']),
      ['ada set none>40 policy', 'group:g raise 40>60 policy held:readQuality'],
    ],
    [
      'keeps it where others have caps of their own',
      { ...RAISED, observed: { team: 40, ada: 'none', bob: 40 } },
      following(19),
      ['ada set none>40 policy', 'team raise 40>60 policy'],
    ],
    [
      'has what policy asks for instead, whatever the team gets',
      { ...RAISED, caps: { team: 60, ada: 50 }, observed: { team: 40, ada: 50, bob: 'none' } },
      following(20),
      ['team raise 40>60 policy'],
    ],
    [
      'waits for the reading when it was never read',
      { ...RAISED, observed: { team: 40, bob: 'none' } },
      following(39),
      ['bob set none>40 policy', 'team raise 40>60 policy'],
    ],
    ['is no person who left', { ...RAISED, people: ['bob'] }, following(19), ['bob set none>40 policy', 'team raise 40>60 policy']],
    ['is left alone while nothing moves', { ...RAISED, caps: { team: 40 } }, following(0), []],
    [
      'keeps it when the team’s goes up and its group shows the same, which may be no cap of its own',
      {
        ...{ ...RAISED, readsExplicit: false, groups: { g: ['ada'] } },
        ...{ caps: { team: 60, 'group:g': 'none' }, observed: { team: 40, 'group:g': 40, ada: 40 } },
      },
      following(19, ['ada']),
      ['ada set none>40 policy', 'group:g clear 40>none policy', 'team raise 40>60 policy'],
    ],
    [
      'keeps it when a group with unknown members goes up',
      {
        ...RAISED,
        caps: { team: 40, 'group:g': 60 },
        observed: { team: 40, 'group:g': 50, ada: 'none', bob: 'none' },
        facts: { unlistedGroups: new Set([scopeKey(scope('group:g'))]) },
      },
      following(39),
      ['ada set none>40 policy', 'bob set none>40 policy', 'group:g raise 50>60 policy held:readQuality'],
    ],
  ])('%s', (_name, sketch, more, expected) => expect(planned(sketch, more).toSorted()).toEqual([...expected].toSorted()))

  test.each<readonly [string, number, string]>([
    ['keeps what is wider back, where the credits do not pay for it', 19, 'deferred'],
    ['lets what is wider go, where the credits pay', 20, 'ready'],
  ])('whose own cap is held %s', (_name, room, expected) => {
    const sketch = { ...RAISED, caps: { team: 60, ada: 30 }, guards: { ...GUARDS, maxLowered: { percent: 0, floor: 0 } } }
    const { plan } = planOf({ people: PEOPLE, ...sketch }, following(room, ['ada']))
    const kinds = Object.fromEntries(plan.changes.map(({ scope: at, disposition }) => [at.kind, disposition?.kind]))
    expect(kinds).toEqual({ team: expected, user: 'held' })
  })

  test.each<readonly [string, string, string]>([
    ['defers the ancestor, where the service has refused it', 'CAP_REFUSED', 'ada@example.com comes first, and is refused: no'],
    ['keeps nothing back, where the service does not know them', 'SCOPE_UNKNOWN', 'ready'],
  ])('whose own cap would have to be set first %s', (_name, code, expected) => {
    const quarantined = [{ scope: scope('ada'), code, message: 'no', entry: UNDECLARED, at: NOW }]
    const { plan } = planOf({ people: PEOPLE, guards: GUARDS, ...RAISED, quarantined }, following(0, ['ada']))
    const told = plan.changes.map(({ scope: at, disposition: to }) => [at.kind, to.kind === 'deferred' ? to.reason : to.kind])
    expect(told).toEqual([['team', expected]])
  })

  test('says why it keeps it', () => {
    const { plan, desired } = planOf({ people: PEOPLE, guards: GUARDS, ...RAISED }, following(39))
    expect(plan.changes[0]?.reason).toBe("pool research: the credits do not pay for the ancestor's cap; what is in force stays")
    expect(plan.changes[0]?.source?.line).toBe(301)
    const [entry, origin] = [
      { kind: 'pool', cap: 40 },
      { kind: 'pool', pool: 'research' },
    ]
    expect(desired.get(scopeKey(scope('ada')))).toMatchObject({ owner: 'pool', entry, origin, losers: [] })
  })

  test('gets a dealt cap that is only inherited as its own before the team goes up', () => {
    const dealt = {
      cycle: undefined as never,
      readAt: 0,
      dealtAt: 0,
      members: { [email('ada')]: { base: cap(0) as never, dealt: cap(40) as never, sent: [], lowered: [] } },
    }
    const sketch: PlanSketch = {
      caps: { team: 60 },
      observed: { team: 40, ada: 40 },
      pools: [{ name: 'research', credits: 100, members: { kind: 'emails', emails: [email('ada')] } }],
      dealt: { research: dealt },
    }
    expect(planned(sketch).toSorted()).toEqual(['ada set none>40 policy', 'team raise 40>60 policy'])
    const reached: PlanSketch = {
      ...sketch,
      groups: { g: ['ada'] },
      caps: { team: 40, 'group:g': 40 },
      observed: { team: 30, 'group:g': 40, ada: 40 },
    }
    expect(planned(reached)).toEqual(['team raise 30>40 policy'])
    const { differences } = planOf({ people: PEOPLE, readsExplicit: false, guards: GUARDS, ...sketch })
    expect(differences.get(scopeKey(scope('ada')))).toMatchObject({ pin: true, pool: { name: 'research', isReviewed: false } })
  })
})
