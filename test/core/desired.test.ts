import { describe, expect, test } from 'vitest'
import { type DesiredInputs, type Resolution, resolveDesired, resolvePerson } from '../../src/core/desired.ts'
import { scopeKey } from '../../src/core/scope.ts'
import { MAX_CAP } from '../../src/core/units.ts'
import {
  CYCLE,
  DAY,
  desiredInputs,
  HOUR,
  members,
  NOW,
  type OwnedSketch,
  ownedCaps,
  type PlainCap,
  type PolicySketch,
  roster,
  withoutCycle,
} from '../support/declare.ts'

const short = (key: string): string => key.replace('@example.com', '')

/** What is asked, by scope: `kind cap` of the winner. */
const asked = ({ desired }: Resolution): Record<string, string> =>
  Object.fromEntries(desired.map(({ scope, origin, cap }) => [short(scopeKey(scope)), `${origin.kind} ${cap}`]))

const codes = ({ rejected }: Resolution): Record<string, string> =>
  Object.fromEntries(rejected.map((one) => [short(scopeKey(one.scope)), one.code]))

const skips = ({ skipped }: Resolution): Record<string, string> =>
  Object.fromEntries(skipped.map((one) => [short(scopeKey(one.scope)), one.why]))

const running = { from: NOW - DAY, until: NOW + 3 * DAY }
const over = { from: NOW - 3 * DAY, until: NOW - DAY }
const coming = { from: NOW + DAY, until: NOW + 3 * DAY }
const byGrant = (baseline?: PlainCap): OwnedSketch => ({ cap: 6000, owner: 'grant', ...(baseline !== undefined && { baseline }) })

interface Row {
  readonly policy?: PolicySketch
  readonly more?: Partial<DesiredInputs>
  readonly desired?: Record<string, string>
  readonly rejected?: Record<string, string>
}

function check({ policy = {}, more = {}, desired = {}, rejected = {} }: Row): void {
  const resolution = resolveDesired(desiredInputs(policy, more))
  expect({ desired: asked(resolution), rejected: codes(resolution) }).toEqual({ desired, rejected })
}

describe('what is asked of a scope', () => {
  test.each<[string, Row]>([
    ['nothing where nothing is declared', {}],
    [
      'its own rule',
      {
        policy: { caps: { team: 500, 'group:a': 1500, ada: 4000 } },
        desired: { team: 'rule 500', 'group:a': 'rule 1500', ada: 'rule 4000' },
      },
    ],
    ['none where the rule says none', { policy: { caps: { team: 500, ada: 'none' } }, desired: { team: 'rule 500', ada: 'rule none' } }],
    [
      'a running grant before its rule',
      { policy: { caps: { ada: 4000 }, grants: [{ on: 'ada', cap: 6000, ...running }] }, desired: { ada: 'grant 6000' } },
    ],
    [
      'a running grant before its rule even when it is lower',
      { policy: { caps: { team: 500 }, grants: [{ on: 'team', cap: 9, ...running }] }, desired: { team: 'grant 9' } },
    ],
    ['a running grant without a rule', { policy: { grants: [{ on: 'ada', cap: 6000, ...running }] }, desired: { ada: 'grant 6000' } }],
    [
      'its rule before a grant starts',
      { policy: { caps: { ada: 4000 }, grants: [{ on: 'ada', ...coming }] }, desired: { ada: 'rule 4000' } },
    ],
    ['its rule after a grant ended', { policy: { caps: { ada: 4000 }, grants: [{ on: 'ada', ...over }] }, desired: { ada: 'rule 4000' } }],
    ['nothing before a grant without a rule starts', { policy: { grants: [{ on: 'ada', ...coming }] } }],
    [
      'the one of two grants that runs',
      {
        policy: {
          grants: [
            { on: 'ada', cap: 1, ...over },
            { on: 'ada', cap: 2, ...running },
          ],
        },
        desired: { ada: 'grant 2' },
      },
    ],
  ])('is %s', (_, row) => check(row))

  test('says where it stands, why, and which declarations lost', () => {
    const inputs = desiredInputs(
      { caps: { team: 500, 'group:a': 1500, ada: 4000 }, grants: [{ on: 'ada', cap: 6000, ticket: 'OPS-12', ...running }] },
      { groups: members({ a: ['ada'] }) },
    )
    const ada = resolveDesired(inputs).desired.at(-1)
    expect(ada).toMatchObject({ owner: 'grant', entry: 'grant|6000' })
    const { from: fromAt, until: untilAt } = running
    expect(ada?.origin).toMatchObject({ at: { line: 101 }, reason: 'release week', ticket: 'OPS-12', fromAt, untilAt })
    expect(ada?.losers.map((one) => `${one.kind} ${one.cap} line ${one.at.line}`)).toEqual([
      'rule 4000 line 3',
      'rule 1500 line 2',
      'rule 500 line 1',
    ])
  })

  test('of a group names the team as a loser', () => {
    const [, group] = resolveDesired(desiredInputs({ caps: { team: 500, 'group:a': 1500 } })).desired
    expect(group?.losers.map((one) => one.cap)).toEqual([500])
  })

  test('keeps its identity when only reason, line and file change', () => {
    const entry = (reason: string, line: number) =>
      resolveDesired(desiredInputs({ grants: [{ on: 'ada', cap: 6, reason, line, ...running }] })).desired[0]?.entry
    expect(entry('one', 1)).toBe(entry('another', 99))
  })

  test('comes in the canonical order', () => {
    const { desired } = resolveDesired(desiredInputs({ caps: { zoe: 1, ada: 2, 'group:z': 3, 'group:a': 4, team: 5 } }))
    expect(desired.map((one) => short(scopeKey(one.scope)))).toEqual(['team', 'group:a', 'group:z', 'ada', 'zoe'])
  })

  test('is the first place in the files should a scope come twice', () => {
    const { set, ...rest } = desiredInputs({ caps: { ada: 1, 'ada@EXAMPLE.com': 2 } })
    for (const rules of [set.rules, set.rules.toReversed()])
      expect(asked(resolveDesired({ ...rest, set: { ...set, rules } }))).toEqual({ ada: 'rule 1' })
  })
})

describe('a grant that adds', () => {
  const add = { add: 800, ...running }
  const inA = { groups: members({ a: ['bob'] }) }
  const inAB = { groups: members({ a: ['bob'], b: ['bob'] }) }
  test.each<[string, Row]>([
    [
      'comes on top of the person’s own rule',
      {
        policy: { caps: { team: 500, 'group:a': 1500, bob: 2000 }, grants: [{ on: 'bob', ...add }] },
        more: inA,
        desired: { team: 'rule 500', 'group:a': 'rule 1500', bob: 'grant 2800' },
      },
    ],
    [
      'comes on top of the group’s rule',
      {
        policy: { caps: { team: 500, 'group:a': 1500 }, grants: [{ on: 'bob', ...add }] },
        more: inA,
        desired: { team: 'rule 500', 'group:a': 'rule 1500', bob: 'grant 2300' },
      },
    ],
    [
      'comes on top of the team’s rule',
      { policy: { caps: { team: 500 }, grants: [{ on: 'bob', ...add }] }, desired: { team: 'rule 500', bob: 'grant 1300' } },
    ],
    [
      'passes by a group that sets none',
      {
        policy: { caps: { team: 500, 'group:a': 'none' }, grants: [{ on: 'bob', ...add }] },
        more: inA,
        desired: { team: 'rule 500', 'group:a': 'rule none', bob: 'grant 1300' },
      },
    ],
    [
      'ignores grants on wider scopes',
      {
        policy: {
          caps: { team: 500 },
          grants: [
            { on: 'bob', ...add },
            { on: 'team', cap: 9000, ...running },
          ],
        },
        desired: { team: 'grant 9000', bob: 'grant 1300' },
      },
    ],
    [
      'ignores a group that only a grant declares',
      {
        policy: {
          caps: { team: 500 },
          grants: [
            { on: 'bob', ...add },
            { on: 'group:a', cap: 9000, ...running },
          ],
        },
        more: inA,
        desired: { team: 'rule 500', 'group:a': 'grant 9000', bob: 'grant 1300' },
      },
    ],
    [
      'comes on top of the lower group under min',
      {
        policy: { caps: { 'group:a': 1500, 'group:b': 900 }, onGroupConflict: 'min', grants: [{ on: 'bob', ...add }] },
        more: inAB,
        desired: { 'group:a': 'rule 1500', 'group:b': 'rule 900', bob: 'grant 1700' },
      },
    ],
    [
      'comes on top of the higher group under max',
      {
        policy: { caps: { 'group:a': 1500, 'group:b': 900 }, onGroupConflict: 'max', grants: [{ on: 'bob', ...add }] },
        more: inAB,
        desired: { 'group:a': 'rule 1500', 'group:b': 'rule 900', bob: 'grant 2300' },
      },
    ],
    [
      'is rejected when the groups differ without a rule',
      {
        policy: { caps: { 'group:a': 1500, 'group:b': 900 }, grants: [{ on: 'bob', ...add }] },
        more: inAB,
        desired: { 'group:a': 'rule 1500', 'group:b': 'rule 900' },
        rejected: { bob: 'ADD_WITHOUT_BASE' },
      },
    ],
    [
      'is rejected on a person’s own none',
      {
        policy: { caps: { team: 500, bob: 'none' }, grants: [{ on: 'bob', ...add }] },
        desired: { team: 'rule 500' },
        rejected: { bob: 'ADD_WITHOUT_BASE' },
      },
    ],
    ['is rejected where nothing is declared', { policy: { grants: [{ on: 'bob', ...add }] }, rejected: { bob: 'ADD_WITHOUT_BASE' } }],
    [
      'is rejected where a group’s none is all there is',
      {
        policy: { caps: { 'group:a': 'none' }, grants: [{ on: 'bob', ...add }] },
        more: inA,
        desired: { 'group:a': 'rule none' },
        rejected: { bob: 'ADD_WITHOUT_BASE' },
      },
    ],
    [
      'is rejected while a declared group was never read',
      {
        policy: { caps: { team: 500, 'group:a': 1500 }, grants: [{ on: 'bob', ...add }] },
        desired: { team: 'rule 500', 'group:a': 'rule 1500' },
        rejected: { bob: 'ADD_WITHOUT_BASE' },
      },
    ],
    [
      'needs no group readings on top of an own rule',
      {
        policy: { caps: { 'group:a': 1500, bob: 2000 }, grants: [{ on: 'bob', ...add }] },
        desired: { 'group:a': 'rule 1500', bob: 'grant 2800' },
      },
    ],
    [
      'on a group comes on top of its rule',
      {
        policy: { caps: { team: 500, 'group:a': 1500 }, grants: [{ on: 'group:a', ...add }] },
        desired: { team: 'rule 500', 'group:a': 'grant 2300' },
      },
    ],
    [
      'on a group without a rule comes on top of the team’s',
      { policy: { caps: { team: 500 }, grants: [{ on: 'group:a', ...add }] }, desired: { team: 'rule 500', 'group:a': 'grant 1300' } },
    ],
    [
      'on a group is rejected on its none',
      {
        policy: { caps: { team: 500, 'group:a': 'none' }, grants: [{ on: 'group:a', ...add }] },
        desired: { team: 'rule 500' },
        rejected: { 'group:a': 'ADD_WITHOUT_BASE' },
      },
    ],
    [
      'on the team comes on top of its rule',
      { policy: { caps: { team: 500 }, grants: [{ on: 'team', ...add }] }, desired: { team: 'grant 1300' } },
    ],
    ['on the team is rejected without a rule', { policy: { grants: [{ on: 'team', ...add }] }, rejected: { team: 'ADD_WITHOUT_BASE' } }],
    [
      'may reach the largest cap',
      { policy: { caps: { team: MAX_CAP - 800 }, grants: [{ on: 'team', ...add }] }, desired: { team: `grant ${MAX_CAP}` } },
    ],
    [
      'may not pass the largest cap',
      { policy: { caps: { team: MAX_CAP - 799 }, grants: [{ on: 'team', ...add }] }, rejected: { team: 'CAP_TOO_LARGE' } },
    ],
    ['is not looked at while it does not run', { policy: { grants: [{ on: 'bob', add: 800, ...coming }] } }],
  ])('%s', (_, row) => check(row))

  test('says both numbers and the way out when it is rejected', () => {
    const [none] = resolveDesired(desiredInputs({ caps: { bob: 'none' }, grants: [{ on: 'bob', ...add }] })).rejected
    expect(none).toMatchObject({ at: { line: 101 } })
    expect(none?.message).toBe(
      'bob@example.com: a grant adds 800 credits, but the cap to add to is none (acme.yaml:1:5); declare that cap, or write cap: in place of add:',
    )
    const [large] = resolveDesired(desiredInputs({ caps: { bob: MAX_CAP }, grants: [{ on: 'bob', ...add }] })).rejected
    expect(large?.message).toBe(
      'bob@example.com: a grant adds 800 credits to 2147483647, which makes 2147484447, above the largest cap 2147483647; add less',
    )
  })

  test('is shown with what it adds', () => {
    const [, bob] = resolveDesired(desiredInputs({ caps: { team: 500 }, grants: [{ on: 'bob', ...add }] })).desired
    expect(bob?.origin).toMatchObject({ cap: 1300, add: 800 })
  })
})

describe('grants that overlap once the cycle is known', () => {
  test('are rejected with both places, and the scope is left alone', () => {
    const policy: PolicySketch = {
      caps: { bob: 1 },
      grants: [
        { on: 'bob', cap: 2, from: CYCLE.startAt, until: 'cycleEnd' },
        { on: 'bob', cap: 3, ...running },
      ],
    }
    const resolution = resolveDesired(desiredInputs(policy))
    expect([asked(resolution), codes(resolution)]).toEqual([{}, { bob: 'GRANTS_OVERLAP' }])
    expect(resolution.rejected[0]?.message).toContain('acme.yaml:101:5 and acme.yaml:102:5')
  })
})

describe('the end of a grant on a scope without a rule', () => {
  const ended = { grants: [{ on: 'bob', cap: 6000, ...over }] }
  const owned = ownedCaps({ bob: byGrant(300) })
  test.each<[string, Row]>([
    ['gives back the cap that stood there', { policy: ended, more: { owned }, desired: { bob: 'restore 300' } }],
    [
      'gives back nothing where nothing stood',
      { policy: ended, more: { owned: ownedCaps({ bob: byGrant('none') }) }, desired: { bob: 'restore none' } },
    ],
    ['gives it back also when the grant is gone from the policy', { more: { owned }, desired: { bob: 'restore 300' } }],
    [
      'gives it back also when the grant was moved into the future',
      { policy: { grants: [{ on: 'bob', ...coming }] }, more: { owned }, desired: { bob: 'restore 300' } },
    ],
    ['gives it back to the team', { more: { owned: ownedCaps({ team: byGrant(300) }) }, desired: { team: 'restore 300' } }],
    ['gives it back to a group', { more: { owned: ownedCaps({ 'group:a': byGrant(300) }) }, desired: { 'group:a': 'restore 300' } }],
    ['leaves to pruning what has no memory of a base', { policy: ended, more: { owned: ownedCaps({ bob: byGrant() }) } }],
    ['gives back nothing that a rule wrote', { more: { owned: ownedCaps({ bob: { cap: 6000, baseline: 300 } }) } }],
    [
      'yields to a rule that was declared meanwhile',
      { policy: { ...ended, caps: { bob: 1000 } }, more: { owned }, desired: { bob: 'rule 1000' } },
    ],
    [
      'yields to a rule none that was declared meanwhile',
      { policy: { ...ended, caps: { bob: 'none' } }, more: { owned }, desired: { bob: 'rule none' } },
    ],
    [
      'is not there while the grant runs',
      { policy: { grants: [{ on: 'bob', cap: 6000, ...running }] }, more: { owned }, desired: { bob: 'grant 6000' } },
    ],
    ['does not come while the clocks disagree', { policy: ended, more: { owned, grantsFrozen: true }, desired: { bob: 'grant 6000' } }],
    [
      'yields to the conflict rule',
      {
        policy: { ...ended, caps: { 'group:a': 1, 'group:b': 2 }, onGroupConflict: 'max' },
        more: { owned, groups: members({ a: ['bob'], b: ['bob'] }) },
        desired: { 'group:a': 'rule 1', 'group:b': 'rule 2', bob: 'conflict 2' },
      },
    ],
    [
      'comes before a conflict without a rule is reported',
      {
        policy: { ...ended, caps: { 'group:a': 1, 'group:b': 2 } },
        more: { owned, groups: members({ a: ['bob'], b: ['bob'] }) },
        desired: { 'group:a': 'rule 1', 'group:b': 'rule 2', bob: 'restore 300' },
      },
    ],
    [
      'yields to the cap that is copied to the person',
      {
        policy: { ...ended, caps: { team: 500 } },
        more: { owned, capSemantics: 'copied', roster: roster({ bob: 'approved' }) },
        desired: { team: 'rule 500', bob: 'copied 500' },
      },
    ],
    [
      'gives it back where no number is copied to the person',
      {
        policy: { ...ended, caps: { team: 'none' } },
        more: { owned, capSemantics: 'copied', roster: roster({ bob: 'approved' }) },
        desired: { team: 'rule none', bob: 'restore 300' },
      },
    ],
  ])('%s', (_, row) => check(row))

  test('points at the grant while it is still there, and nowhere once it is gone', () => {
    const [there] = resolveDesired(
      desiredInputs(
        {
          grants: [
            { on: 'bob', ...over, ticket: 'OPS-1' },
            { on: 'bob', ...coming },
          ],
        },
        { owned },
      ),
    ).desired
    expect(there).toMatchObject({
      owner: 'grant',
      entry: 'restore|300',
      origin: { at: { line: 101 }, ticket: 'OPS-1', untilAt: over.until },
    })
    const [gone] = resolveDesired(desiredInputs({}, { owned })).desired
    expect(gone?.origin.at).toEqual({ file: '', line: 0, column: 0 })
    expect(gone?.origin.reason).toBe('the grant is no longer declared')
  })

  test('waits for the cycle to be known', () => {
    const inputs = desiredInputs({ grants: [{ on: 'bob', cap: 6000, from: NOW - 90 * DAY, until: 'cycleEnd' }] }, { owned })
    expect(asked(resolveDesired(withoutCycle(inputs)))).toEqual({ bob: 'grant 6000' })
    expect(asked(resolveDesired(inputs))).toEqual({ bob: 'restore 300' })
  })
})

describe('a person in several groups', () => {
  const caps = { 'group:a': 1500, 'group:b': 900 }
  const wide = { 'group:a': 'rule 1500', 'group:b': 'rule 900' }
  const both = { groups: members({ a: ['eve'], b: ['eve'] }) }
  test.each<[string, Row]>([
    [
      'with different caps gets the lower under min',
      { policy: { caps, onGroupConflict: 'min' }, more: both, desired: { ...wide, eve: 'conflict 900' } },
    ],
    [
      'with different caps gets the higher under max',
      { policy: { caps, onGroupConflict: 'max' }, more: both, desired: { ...wide, eve: 'conflict 1500' } },
    ],
    [
      'with different caps is rejected without a conflict rule',
      { policy: { caps }, more: both, desired: wide, rejected: { eve: 'GROUP_CONFLICT' } },
    ],
    [
      'with the same cap twice is no conflict',
      { policy: { caps: { 'group:a': 9, 'group:b': 9 } }, more: both, desired: { 'group:a': 'rule 9', 'group:b': 'rule 9' } },
    ],
    [
      'with none twice is no conflict',
      {
        policy: { caps: { 'group:a': 'none', 'group:b': 'none' } },
        more: both,
        desired: { 'group:a': 'rule none', 'group:b': 'rule none' },
      },
    ],
    [
      'with none and a number is a conflict',
      {
        policy: { caps: { 'group:a': 'none', 'group:b': 9 } },
        more: both,
        desired: { 'group:a': 'rule none', 'group:b': 'rule 9' },
        rejected: { eve: 'GROUP_CONFLICT' },
      },
    ],
    [
      'with none and a number gets the number under min',
      {
        policy: { caps: { 'group:a': 'none', 'group:b': 9 }, onGroupConflict: 'min' },
        more: both,
        desired: { 'group:a': 'rule none', 'group:b': 'rule 9', eve: 'conflict 9' },
      },
    ],
    [
      'with a number and none gets the number under max',
      {
        policy: { caps: { 'group:a': 9, 'group:b': 'none' }, onGroupConflict: 'max' },
        more: both,
        desired: { 'group:a': 'rule 9', 'group:b': 'rule none', eve: 'conflict 9' },
      },
    ],
    ['and a rule of their own is no conflict', { policy: { caps: { ...caps, eve: 7 } }, more: both, desired: { ...wide, eve: 'rule 7' } }],
    [
      'and a none of their own is no conflict',
      { policy: { caps: { ...caps, eve: 'none' }, onGroupConflict: 'min' }, more: both, desired: { ...wide, eve: 'rule none' } },
    ],
    [
      'and a running grant of their own is no conflict',
      { policy: { caps, grants: [{ on: 'eve', cap: 7, ...running }] }, more: both, desired: { ...wide, eve: 'grant 7' } },
    ],
    [
      'is judged by the groups once their own grant ended',
      { policy: { caps, grants: [{ on: 'eve', cap: 7, ...over }] }, more: both, desired: wide, rejected: { eve: 'GROUP_CONFLICT' } },
    ],
    [
      'is judged by a running grant of a group',
      {
        policy: { caps, onGroupConflict: 'min', grants: [{ on: 'group:b', cap: 8000, ...running }] },
        more: both,
        desired: { 'group:a': 'rule 1500', 'group:b': 'grant 8000', eve: 'conflict 1500' },
      },
    ],
    [
      'is no conflict when a running grant makes the caps equal',
      {
        policy: { caps, grants: [{ on: 'group:b', cap: 1500, ...running }] },
        more: both,
        desired: { 'group:a': 'rule 1500', 'group:b': 'grant 1500' },
      },
    ],
    [
      'is no conflict while the service does not know one of them',
      { policy: { caps }, more: { ...both, unknownGroups: ['b'] }, desired: { 'group:a': 'rule 1500' } },
    ],
    [
      'listed twice in one group is no conflict',
      { policy: { caps }, more: { groups: members({ a: ['eve', 'eve'], b: [] }) }, desired: wide },
    ],
    [
      'whose second group nothing declares is no conflict',
      { policy: { caps: { 'group:a': 1500 } }, more: both, desired: { 'group:a': 'rule 1500' } },
    ],
    [
      'who is pending is neither written nor rejected',
      { policy: { caps }, more: { ...both, roster: roster({ eve: 'pending' }) }, desired: wide },
    ],
    [
      'who is approved gets the conflict rule',
      {
        policy: { caps, onGroupConflict: 'min' },
        more: { ...both, roster: roster({ eve: 'approved' }) },
        desired: { ...wide, eve: 'conflict 900' },
      },
    ],
  ])('%s', (_, row) => check(row))

  test('is rejected with both groups, both caps and both places', () => {
    const [eve] = resolveDesired(desiredInputs({ caps }, both)).rejected
    expect(eve?.at?.line).toBe(1)
    expect(eve?.message).toBe(
      'eve@example.com is in groups with different caps: group:a (cap 1500, acme.yaml:1:5) and group:b (cap 900, acme.yaml:2:5); set spec.onGroupConflict to min or max, or declare a cap for this user',
    )
  })

  test('gets a cap that points at the group it was taken from', () => {
    const eve = resolveDesired(desiredInputs({ caps, onGroupConflict: 'min' }, both)).desired.at(-1)
    expect(eve).toMatchObject({ owner: 'conflict', entry: 'conflict|900', origin: { at: { line: 2 } } })
    expect(eve?.origin.reason).toBe('onGroupConflict: min of group:a (1500) and group:b (900)')
    expect(eve?.losers.map((one) => one.cap)).toEqual([1500, 900])
  })
})

describe('a cap of the conflict rule whose conflict is gone', () => {
  const policy: PolicySketch = { caps: { 'group:a': 1500, 'group:b': 900 }, onGroupConflict: 'min' }
  const owned = ownedCaps({ eve: { cap: 900, owner: 'conflict' } })
  const gone = (more: Partial<DesiredInputs> = {}): Resolution =>
    resolveDesired(desiredInputs(policy, { owned, groups: members({ a: ['eve'], b: [] }), ...more }))

  test('stays after the first reading that says so, and goes after the second', () => {
    const first = gone()
    expect([asked(first)['eve'], first.conflictsGone]).toEqual(['conflict 900', { 'eve@example.com': 1 }])
    const second = gone({ conflictsGone: first.conflictsGone })
    expect([asked(second)['eve'], second.conflictsGone]).toEqual([undefined, { 'eve@example.com': 2 }])
  })

  test('keeps its policy entry and says how long it stays', () => {
    const eve = gone().desired.at(-1)
    expect(eve).toMatchObject({ owner: 'conflict', entry: 'conflict|900', origin: { at: { line: 1 } } })
    expect(eve?.origin.reason).toBe('no longer in groups with different caps; goes after 2 agreeing readings, 1 so far')
  })

  test.each<[string, Partial<DesiredInputs>, string | undefined, Record<string, number>]>([
    [
      'is not counted down by the same reading seen again',
      { groupReadingIsNew: false, conflictsGone: { 'eve@example.com': 1 } },
      'conflict 900',
      { 'eve@example.com': 1 },
    ],
    ['is not counted down at all before a first new reading', { groupReadingIsNew: false }, 'conflict 900', {}],
    ['is not counted down while one of the groups was not read', { groups: members({ a: ['eve'] }) }, 'conflict 900', {}],
    [
      'is counted down when the service does not know the group',
      { groups: members({ a: ['eve'] }), unknownGroups: ['b'] },
      'conflict 900',
      { 'eve@example.com': 1 },
    ],
    ['stays gone as long as it is ours', { conflictsGone: { 'eve@example.com': 2 } }, undefined, { 'eve@example.com': 2 }],
    [
      'stays gone without another reading',
      { conflictsGone: { 'eve@example.com': 2 }, groupReadingIsNew: false },
      undefined,
      { 'eve@example.com': 2 },
    ],
    [
      'starts to count afresh when the conflict is back',
      { groups: members({ a: ['eve'], b: ['eve'] }), conflictsGone: { 'eve@example.com': 1 } },
      'conflict 900',
      {},
    ],
    ['is forgotten once it is no longer ours', { owned: new Map(), conflictsGone: { 'eve@example.com': 2 } }, undefined, {}],
    [
      'waits with its count while the person is away',
      { roster: roster({ eve: 'pending' }), conflictsGone: { 'eve@example.com': 1 } },
      undefined,
      { 'eve@example.com': 1 },
    ],
    [
      'stays before a copy takes its place',
      { capSemantics: 'copied', roster: roster({ eve: 'approved' }) },
      'conflict 900',
      { 'eve@example.com': 1 },
    ],
    [
      'gives way to a copy in the end',
      { capSemantics: 'copied', roster: roster({ eve: 'approved' }), conflictsGone: { 'eve@example.com': 1 } },
      'copied 1500',
      { 'eve@example.com': 2 },
    ],
  ])('%s', (_, more, expected, conflictsGone) => {
    const resolution = gone(more)
    expect([asked(resolution)['eve'], resolution.conflictsGone]).toEqual([expected, conflictsGone])
  })

  test('gives way at once to a declaration of their own', () => {
    const caps = { 'group:a': 1500, 'group:b': 900, eve: 7 }
    const resolution = resolveDesired(desiredInputs({ caps }, { owned, groups: members({ a: ['eve'], b: [] }) }))
    expect([asked(resolution)['eve'], resolution.conflictsGone]).toEqual(['rule 7', {}])
  })

  test('is left alone and reported when the conflict rule itself was removed', () => {
    const resolution = resolveDesired(desiredInputs({ caps: policy.caps ?? {} }, { owned, groups: members({ a: ['eve'], b: ['eve'] }) }))
    expect([asked(resolution)['eve'], codes(resolution)]).toEqual([undefined, { eve: 'GROUP_CONFLICT' }])
  })
})

describe('a scope is skipped', () => {
  const declared: PolicySketch = { caps: { team: 500, 'group:a': 1500, ada: 4000 }, grants: [{ on: 'bob', cap: 6, ...running }] }
  const skipped = (more: Partial<DesiredInputs>, policy = declared) => {
    const resolution = resolveDesired(desiredInputs(policy, more))
    return { skipped: skips(resolution), asked: Object.keys(asked(resolution)) }
  }
  const both = ['team', 'group:a', 'ada', 'bob']

  test.each<[string, Partial<DesiredInputs>, ReturnType<typeof skipped>]>([
    ['for nobody while the roster is unknown', {}, { skipped: {}, asked: both }],
    ['for nobody who is approved', { roster: roster({ ada: 'approved', bob: 'approved' }) }, { skipped: {}, asked: both }],
    ['for nobody who is approved and disabled', { roster: roster({ ada: 'disabled', bob: 'disabled' }) }, { skipped: {}, asked: both }],
    [
      'for nobody on a roster without statuses',
      { roster: roster({ ada: 'unspecified', bob: 'unspecified' }, { statusesAbsent: true }) },
      { skipped: {}, asked: both },
    ],
    [
      'for the pending',
      { roster: roster({ ada: 'pending', bob: 'approved' }) },
      { skipped: { ada: 'ada@example.com is pending, not approved' }, asked: ['team', 'group:a', 'bob'] },
    ],
    [
      'for the rejected',
      { roster: roster({ ada: 'approved', bob: 'rejected' }) },
      { skipped: { bob: 'bob@example.com is rejected, not approved' }, asked: ['team', 'group:a', 'ada'] },
    ],
    [
      'for those without a status where others have one',
      { roster: roster({ ada: 'unspecified', bob: 'approved' }) },
      { skipped: { ada: 'ada@example.com is unspecified, not approved' }, asked: ['team', 'group:a', 'bob'] },
    ],
    [
      'for those off the roster',
      { roster: roster({ bob: 'approved' }) },
      { skipped: { ada: 'ada@example.com is not on the roster' }, asked: ['team', 'group:a', 'bob'] },
    ],
    [
      'for groups the service does not know',
      { unknownGroups: ['a'] },
      { skipped: { 'group:a': 'the service does not know group a' }, asked: ['team', 'ada', 'bob'] },
    ],
    [
      'when it is ours and its person is away, so that it is no orphan',
      { roster: roster({ ada: 'approved', bob: 'approved' }), owned: ownedCaps({ eve: { cap: 1 } }) },
      { skipped: { eve: 'eve@example.com is not on the roster' }, asked: both },
    ],
    [
      'when it is ours and its group unknown, so that it is no orphan',
      { unknownGroups: ['x'], owned: ownedCaps({ 'group:x': { cap: 1 } }) },
      { skipped: { 'group:x': 'the service does not know group x' }, asked: both },
    ],
    [
      'before a base is given back to somebody away',
      { roster: roster({ ada: 'approved', bob: 'approved' }), owned: ownedCaps({ eve: byGrant(300) }) },
      { skipped: { eve: 'eve@example.com is not on the roster' }, asked: both },
    ],
  ])('%s', (_, more, expected) => expect(skipped(more)).toEqual(expected))

  test('with the place of its declaration', () => {
    const places = (more: Partial<DesiredInputs>) => resolveDesired(desiredInputs(declared, more)).skipped.map((one) => one.at?.line)
    expect(places({ roster: roster({}), unknownGroups: ['a'] })).toEqual([2, 3, 101])
    expect(places({ owned: ownedCaps({ 'group:x': { cap: 1 } }), unknownGroups: ['x'] })).toEqual([undefined])
  })

  test('rather than rejected when its grant makes no sense either', () => {
    const resolution = resolveDesired(desiredInputs({ grants: [{ on: 'bob', add: 1, ...running }] }, { roster: roster({}) }))
    expect([skips(resolution), codes(resolution), resolution.skipped[0]?.at?.line]).toEqual([
      { bob: 'bob@example.com is not on the roster' },
      {},
      101,
    ])
  })

  test('not for a person of whom nothing is declared or ours', () => {
    expect(
      skips(resolveDesired(desiredInputs({ caps: { team: 1 } }, { roster: roster({ eve: 'pending' }), capSemantics: 'copied' }))),
    ).toEqual({})
  })
})

describe('where the service copies wide caps to people', () => {
  const everybody = roster({ ada: 'approved', bob: 'approved', cyd: 'disabled', dan: 'pending' })
  const copied = (more: Partial<DesiredInputs> = {}): Partial<DesiredInputs> => ({
    capSemantics: 'copied',
    roster: everybody,
    groups: members({ a: ['bob'] }),
    ...more,
  })
  const caps = { team: 500, 'group:a': 1500 }
  const wide = { team: 'rule 500', 'group:a': 'rule 1500' }
  test.each<[string, Row]>([
    [
      'everybody approved keeps the cap that applies to them',
      { policy: { caps }, more: copied(), desired: { ...wide, ada: 'copied 500', bob: 'copied 1500', cyd: 'copied 500' } },
    ],
    [
      'a declaration of their own stays one',
      {
        policy: { caps: { ...caps, ada: 4000 } },
        more: copied(),
        desired: { ...wide, ada: 'rule 4000', bob: 'copied 1500', cyd: 'copied 500' },
      },
    ],
    [
      'a grant of their own stays one',
      {
        policy: { caps, grants: [{ on: 'ada', cap: 6000, ...running }] },
        more: copied(),
        desired: { ...wide, ada: 'grant 6000', bob: 'copied 1500', cyd: 'copied 500' },
      },
    ],
    [
      'a none of their own gives them what they fall back to',
      {
        policy: { caps: { ...caps, bob: 'none' } },
        more: copied(),
        desired: { ...wide, ada: 'copied 500', bob: 'copied 1500', cyd: 'copied 500' },
      },
    ],
    [
      'a none of their own with nothing wider stays none',
      { policy: { caps: { bob: 'none' } }, more: copied(), desired: { bob: 'rule none' } },
    ],
    [
      'a grant on the group reaches its members',
      {
        policy: { caps, grants: [{ on: 'group:a', cap: 9, ...running }] },
        more: copied(),
        desired: { team: 'rule 500', 'group:a': 'grant 9', ada: 'copied 500', bob: 'copied 9', cyd: 'copied 500' },
      },
    ],
    [
      'a grant on the team does not lift those with a group cap',
      {
        policy: { caps, grants: [{ on: 'team', cap: 9000, ...running }] },
        more: copied(),
        desired: { team: 'grant 9000', 'group:a': 'rule 1500', ada: 'copied 9000', bob: 'copied 1500', cyd: 'copied 9000' },
      },
    ],
    [
      'nobody gets anything where nothing applies',
      { policy: { caps: { 'group:a': 1500 } }, more: copied(), desired: { 'group:a': 'rule 1500', bob: 'copied 1500' } },
    ],
    [
      'none is not written to those of whom nothing is ours',
      { policy: { caps: { team: 'none' } }, more: copied(), desired: { team: 'rule none' } },
    ],
    [
      'none is written to those who have a cap of ours',
      {
        policy: { caps: { team: 'none' } },
        more: copied({ owned: ownedCaps({ ada: { cap: 500, owner: 'copied' } }) }),
        desired: { team: 'rule none', ada: 'copied none' },
      },
    ],
    [
      'a cap of ours that nothing declares is left to pruning',
      { more: copied({ owned: ownedCaps({ ada: { cap: 500, owner: 'copied' } }) }) },
    ],
    [
      'the conflict rule is still called so',
      {
        policy: { caps: { ...caps, 'group:b': 900 }, onGroupConflict: 'min' },
        more: copied({ groups: members({ a: ['bob'], b: ['bob'] }) }),
        desired: { ...wide, 'group:b': 'rule 900', ada: 'copied 500', bob: 'conflict 900', cyd: 'copied 500' },
      },
    ],
    [
      'a conflict without a rule is rejected',
      {
        policy: { caps: { 'group:a': 1500, 'group:b': 900 } },
        more: copied({ groups: members({ a: ['bob'], b: ['bob'] }) }),
        desired: { 'group:a': 'rule 1500', 'group:b': 'rule 900' },
        rejected: { bob: 'GROUP_CONFLICT' },
      },
    ],
    [
      'a none of their own over groups that clash is rejected',
      {
        policy: { caps: { 'group:a': 1500, 'group:b': 900, bob: 'none' } },
        more: copied({ groups: members({ a: ['bob'], b: ['bob'] }) }),
        desired: { 'group:a': 'rule 1500', 'group:b': 'rule 900' },
        rejected: { bob: 'GROUP_CONFLICT' },
      },
    ],
    [
      'a none of their own falls back by the conflict rule',
      {
        policy: { caps: { 'group:a': 1500, 'group:b': 900, bob: 'none' }, onGroupConflict: 'min' },
        more: copied({ groups: members({ a: ['bob'], b: ['bob'] }) }),
        desired: { 'group:a': 'rule 1500', 'group:b': 'rule 900', bob: 'copied 900' },
      },
    ],
    [
      'nothing new is copied while the members of a group are not known',
      { policy: { caps: { ...caps, ada: 4000 } }, more: copied({ groups: [] }), desired: { ...wide, ada: 'rule 4000' } },
    ],
    [
      'what was copied stays while the members of a group are not known',
      {
        policy: { caps },
        more: copied({ groups: [], owned: ownedCaps({ bob: { cap: 77, owner: 'copied' } }) }),
        desired: { ...wide, bob: 'copied 77' },
      },
    ],
    [
      'a base still comes back while the members of a group are not known',
      { policy: { caps }, more: copied({ groups: [], owned: ownedCaps({ bob: byGrant(300) }) }), desired: { ...wide, bob: 'restore 300' } },
    ],
    [
      'an unknown group keeps nobody waiting',
      {
        policy: { caps },
        more: copied({ groups: [], unknownGroups: ['a'] }),
        desired: { team: 'rule 500', ada: 'copied 500', bob: 'copied 500', cyd: 'copied 500' },
      },
    ],
    [
      'what was copied stays while the roster is unknown',
      {
        policy: { caps },
        more: { capSemantics: 'copied', groups: members({ a: ['bob'] }), owned: ownedCaps({ bob: { cap: 1500, owner: 'copied' } }) },
        desired: { ...wide, bob: 'copied 1500' },
      },
    ],
  ])('%s', (_, row) => check(row))

  test('a copy says where its cap is declared and that it is a copy', () => {
    const bob = resolveDesired(desiredInputs({ caps }, copied())).desired.find((one) => scopeKey(one.scope).startsWith('bob'))
    expect(bob).toMatchObject({
      owner: 'copied',
      entry: 'copied|1500',
      origin: { kind: 'copied', scope: { kind: 'group', id: 'a' }, at: { line: 2 } },
    })
    expect(bob?.losers.map((one) => one.cap)).toEqual([500])
  })

  test('what is kept stays under the entry it was verified with', () => {
    const owned = ownedCaps({ bob: { cap: 4000, owner: 'policy' } })
    const bob = resolveDesired(desiredInputs({ caps }, copied({ groups: [], owned }))).desired.at(-1)
    expect(bob).toMatchObject({ owner: 'policy', entry: 'rule|4000' })
    expect(bob?.origin.reason).toContain('group:a')
  })
})

describe('the cap of a person', () => {
  const caps = { team: 500, 'group:a': 1500, 'group:b': 900, ada: 4000, eve: 'none' as const }
  const groups = members({ a: ['ada', 'bob', 'eve'], b: ['bob'] })
  const person = (name: string, policy: PolicySketch, more: Partial<DesiredInputs> = {}) => {
    const found = resolvePerson(`${name}@example.com`, desiredInputs(policy, { groups, ...more }))
    return found && [found.cap, ...found.chain.map((one) => `${one.kind} ${short(scopeKey(one.scope))} ${one.cap}`)]
  }

  test.each<[string, string, PolicySketch, (string | number)[] | undefined]>([
    ['is their own rule', 'ada', { caps }, [4000, 'rule ada 4000', 'rule group:a 1500', 'rule team 500']],
    [
      'is their own grant before all else',
      'ada',
      { caps, grants: [{ on: 'ada', cap: 6, ...running }] },
      [6, 'grant ada 6', 'rule ada 4000', 'rule group:a 1500', 'rule team 500'],
    ],
    ['is the next wider one under a none', 'eve', { caps }, [1500, 'rule group:a 1500', 'rule eve none', 'rule team 500']],
    [
      'is the group’s grant before its rule',
      'eve',
      { caps, grants: [{ on: 'group:a', cap: 6, ...running }] },
      [6, 'grant group:a 6', 'rule eve none', 'rule group:a 1500', 'rule team 500'],
    ],
    ['is the team’s where nothing narrower is', 'zoe', { caps }, [500, 'rule team 500']],
    [
      'is the team’s grant before its rule',
      'zoe',
      { caps, grants: [{ on: 'team', cap: 6, ...running }] },
      [6, 'grant team 6', 'rule team 500'],
    ],
    [
      'is chosen by the conflict rule',
      'bob',
      { caps, onGroupConflict: 'max' },
      [1500, 'conflict bob 1500', 'rule group:a 1500', 'rule group:b 900', 'rule team 500'],
    ],
    ['is undecided where groups clash', 'bob', { caps }, undefined],
    [
      'is decided where groups clash beneath a cap of their own',
      'bob',
      { caps: { ...caps, bob: 7 } },
      [7, 'rule bob 7', 'rule group:a 1500', 'rule group:b 900', 'rule team 500'],
    ],
    ['is undecided where groups clash beneath a none of their own', 'bob', { caps: { ...caps, bob: 'none' } }, undefined],
    ['is none where the team’s none is all', 'zoe', { caps: { team: 'none' } }, ['none', 'rule team none']],
    ['is none by the widest none', 'eve', { caps: { team: 'none', eve: 'none' } }, ['none', 'rule team none', 'rule eve none']],
    ['is undefined where nothing is declared', 'zoe', { caps: { ada: 1 } }, undefined],
  ])('%s', (_, name, policy, expected) => expect(person(name, policy)).toEqual(expected))

  test('is found whatever the spelling of the e-mail', () => {
    expect(resolvePerson(' Ada@Example.COM ', desiredInputs({ caps }))?.cap).toBe(4000)
  })

  test('passes by a grant that makes no sense', () => {
    expect(person('zoe', { caps: { 'group:a': 5 }, grants: [{ on: 'zoe', add: 1, ...running }] })).toBeUndefined()
    expect(person('ada', { caps: { ada: MAX_CAP }, grants: [{ on: 'ada', add: 1, ...running }] })?.[0]).toBe(MAX_CAP)
  })

  test('does not hang on the person’s status', () => {
    expect(person('ada', { caps }, { roster: roster({}) })?.[0]).toBe(4000)
  })
})

describe('grants in a resolution', () => {
  test('are all reported with their state, whoever they are for', () => {
    const grants = [
      { on: 'ada', ...over },
      { on: 'bob', ...running },
      { on: 'cyd', until: NOW + HOUR },
      { on: 'team', ...coming },
    ]
    const { grants: reported } = resolveDesired(desiredInputs({ grants }, { roster: roster({}) }))
    expect(reported.map((one) => `${short(scopeKey(one.grant.scope))} ${one.state}`)).toEqual([
      'team pending',
      'ada ended',
      'bob active',
      'cyd expiring',
    ])
  })
})
