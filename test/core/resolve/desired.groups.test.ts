import { describe, expect, test } from 'vitest'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import type { DesiredInputs, Resolution } from '../../../src/core/resolve/resolution.ts'
import {
  asked,
  byGrant,
  checkDecision,
  codes,
  type Decision,
  desiredInputs,
  entryOf,
  members,
  over,
  ownedCaps,
  type PolicySketch,
  roster,
  running,
} from '../../support/declare.ts'

describe('a person in several groups', () => {
  const caps = { 'group:a': 1500, 'group:b': 900 }
  const wide = { 'group:a': 'cap 1500', 'group:b': 'cap 900' }
  const both = { groups: members({ a: ['eve'], b: ['eve'] }) }
  test.each<[string, Decision]>([
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
      { policy: { caps: { 'group:a': 9, 'group:b': 9 } }, more: both, desired: { 'group:a': 'cap 9', 'group:b': 'cap 9' } },
    ],
    [
      'with none twice is no conflict',
      {
        policy: { caps: { 'group:a': 'none', 'group:b': 'none' } },
        more: both,
        desired: { 'group:a': 'cap none', 'group:b': 'cap none' },
      },
    ],
    [
      'with none and a number is a conflict',
      {
        policy: { caps: { 'group:a': 'none', 'group:b': 9 } },
        more: both,
        desired: { 'group:a': 'cap none', 'group:b': 'cap 9' },
        rejected: { eve: 'GROUP_CONFLICT' },
      },
    ],
    [
      'with none and a number gets the number under min',
      {
        policy: { caps: { 'group:a': 'none', 'group:b': 9 }, onGroupConflict: 'min' },
        more: both,
        desired: { 'group:a': 'cap none', 'group:b': 'cap 9', eve: 'conflict 9' },
      },
    ],
    [
      'with a number and none gets the number under max',
      {
        policy: { caps: { 'group:a': 9, 'group:b': 'none' }, onGroupConflict: 'max' },
        more: both,
        desired: { 'group:a': 'cap 9', 'group:b': 'cap none', eve: 'conflict 9' },
      },
    ],
    ['and a rule of their own is no conflict', { policy: { caps: { ...caps, eve: 7 } }, more: both, desired: { ...wide, eve: 'cap 7' } }],
    [
      'and a none of their own gets the conflict rule',
      { policy: { caps: { ...caps, eve: 'none' }, onGroupConflict: 'min' }, more: both, desired: { ...wide, eve: 'conflict 900' } },
    ],
    [
      'and a none of their own is rejected without a conflict rule',
      { policy: { caps: { ...caps, eve: 'none' } }, more: both, desired: wide, rejected: { eve: 'GROUP_CONFLICT' } },
    ],
    [
      'and a none of their own, which goes before a rule, gets the conflict rule',
      {
        policy: { caps: { ...caps, eve: 'none' }, onGroupConflict: 'min', rules: [{ when: { email: 'eve@*' }, cap: 5 }] },
        more: { ...both, roster: roster({ eve: 'approved' }) },
        desired: { ...wide, eve: 'conflict 900' },
      },
    ],
    [
      'and a none of their own is rejected also where it is not known whether a rule matches',
      {
        policy: { caps: { ...caps, eve: 'none' }, rules: [{ when: { role: 'member' }, cap: 5 }] },
        more: { ...both, roster: roster({ eve: 'approved' }) },
        desired: wide,
        rejected: { eve: 'GROUP_CONFLICT' },
      },
    ],
    [
      'and the none of a rule gets the conflict rule',
      {
        policy: { caps, onGroupConflict: 'max', rules: [{ when: { email: 'eve@*' }, cap: 'none' }] },
        more: { ...both, roster: roster({ eve: 'approved' }) },
        desired: { ...wide, eve: 'conflict 1500' },
      },
    ],
    [
      'and the none of a rule is rejected without a conflict rule',
      {
        policy: { caps, rules: [{ when: { email: 'eve@*' }, cap: 'none' }] },
        more: { ...both, roster: roster({ eve: 'approved' }) },
        desired: wide,
        rejected: { eve: 'GROUP_CONFLICT' },
      },
    ],
    [
      'and a none of their own keeps nothing of a grant that ended, though the person is rejected',
      {
        policy: { caps: { ...caps, eve: 'none' } },
        more: { ...both, owned: ownedCaps({ eve: byGrant('none') }) },
        desired: { ...wide, eve: 'restore none' },
        rejected: { eve: 'GROUP_CONFLICT' },
      },
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
        desired: { 'group:a': 'cap 1500', 'group:b': 'grant 8000', eve: 'conflict 1500' },
      },
    ],
    [
      'is no conflict when a running grant makes the caps equal',
      {
        policy: { caps, grants: [{ on: 'group:b', cap: 1500, ...running }] },
        more: both,
        desired: { 'group:a': 'cap 1500', 'group:b': 'grant 1500' },
      },
    ],
    [
      'is no conflict while the service does not know one of them',
      { policy: { caps }, more: { ...both, unknownGroups: ['b'] }, desired: { 'group:a': 'cap 1500' } },
    ],
    [
      'listed twice in one group is no conflict',
      { policy: { caps }, more: { groups: members({ a: ['eve', 'eve'], b: [] }) }, desired: wide },
    ],
    [
      'whose second group nothing declares is no conflict',
      { policy: { caps: { 'group:a': 1500 } }, more: both, desired: { 'group:a': 'cap 1500' } },
    ],
    [
      'is not rejected while nobody knows whether a rule decides for the person',
      {
        policy: { caps, rules: [{ when: { role: 'member' }, cap: 5 }] },
        more: { ...both, roster: roster({ eve: 'approved' }) },
        desired: wide,
      },
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
  ])('%s', (_, row) => checkDecision(row))

  test('is rejected with both groups, both caps and both places', () => {
    const [eve] = resolveDesired(desiredInputs({ caps }, both)).rejected
    expect(eve?.at?.line).toBe(1)
    expect(eve?.message).toBe(
      'eve@example.com is in groups with different caps: group:a (cap 1500, acme.yaml:1:5) and group:b (cap 900, acme.yaml:2:5); set spec.onGroupConflict to min or max, or declare a cap for this user',
    )
  })

  test.each(['min', 'max'] as const)('gets the first of equal caps under %s, so that its place does not wander', (onGroupConflict) => {
    const three = { groups: members({ a: ['eve'], b: ['eve'], c: ['eve'] }) }
    const equal = onGroupConflict === 'min' ? 900 : 1500
    const inputs = desiredInputs({ caps: { ...caps, 'group:c': equal }, onGroupConflict }, three)
    expect(resolveDesired(inputs).desired.at(-1)?.origin.at?.line).toBe(onGroupConflict === 'min' ? 2 : 1)
  })

  test('gets a cap that points at the group it was taken from', () => {
    const eve = resolveDesired(desiredInputs({ caps, onGroupConflict: 'min' }, both)).desired.at(-1)
    expect(eve).toMatchObject({ owner: 'conflict', entry: entryOf('conflict', 900), origin: { at: { line: 2 } } })
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
    expect(eve).toMatchObject({ owner: 'conflict', entry: entryOf('conflict', 900), origin: { at: { line: 1 } } })
    expect(eve?.origin.reason).toBe('no longer in groups with different caps; dropped after 2 agreeing readings, 1 so far')
  })

  test.each<[string, Partial<DesiredInputs>, string | undefined, Record<string, number>]>([
    [
      'is not counted down by the same reading seen again',
      { newReading: undefined, conflictsGone: { 'eve@example.com': 1 } },
      'conflict 900',
      { 'eve@example.com': 1 },
    ],
    ['is not counted down at all before a first new reading', { newReading: undefined }, 'conflict 900', {}],
    ['is not counted down while one of the groups was not read', { groups: members({ a: ['eve'] }) }, 'conflict 900', {}],
    [
      'is not counted down while the service does not know one of the groups',
      { groups: members({ a: ['eve'] }), unknownGroups: ['b'] },
      'conflict 900',
      {},
    ],
    ['stays gone as long as it is ours', { conflictsGone: { 'eve@example.com': 2 } }, undefined, { 'eve@example.com': 2 }],
    [
      'stays gone without another reading',
      { conflictsGone: { 'eve@example.com': 2 }, newReading: undefined },
      undefined,
      { 'eve@example.com': 2 },
    ],
    [
      'starts to count afresh when the conflict is back',
      { groups: members({ a: ['eve'], b: ['eve'] }), conflictsGone: { 'eve@example.com': 1 } },
      'conflict 900',
      {},
    ],
    [
      'is forgotten of who is away with a cap that does not come from the conflict rule',
      { owned: ownedCaps({ eve: { cap: 900 } }), roster: roster({ eve: 'pending' }), conflictsGone: { 'eve@example.com': 1 } },
      undefined,
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

  const inBoth = { conflictGroups: { 'eve@example.com': ['a', 'b'] } }

  test.each<[string, PolicySketch['caps'], Partial<DesiredInputs>, string | undefined]>([
    ['goes at once when one of them is not declared any more', { 'group:a': 1500, 'group:c': 900 }, inBoth, undefined],
    ['goes at once when they are to have the same', { 'group:a': 7, 'group:b': 7, 'group:c': 900 }, inBoth, undefined],
    ['stays for a reading while they differ', { 'group:a': 1500, 'group:b': 900 }, inBoth, 'conflict 900'],
    ['follows what they are to have', { 'group:a': 1500, 'group:b': 800 }, inBoth, 'conflict 800'],
    ['stays as it is while their groups are not known', { 'group:a': 1500, 'group:b': 800 }, {}, 'conflict 900'],
    ['goes at once when no groups differ', { 'group:a': 1500 }, {}, undefined],
  ])('%s', (_, caps, more, expected) => {
    const groups = members({ a: ['eve'], b: [], c: [] })
    const resolution = resolveDesired(desiredInputs({ caps: caps ?? {}, onGroupConflict: 'min' }, { owned, groups, ...more }))
    expect(asked(resolution)['eve']).toBe(expected)
    expect(resolution.conflictGroups).toStrictEqual(more.conflictGroups ?? {})
  })

  test.each(['approved', 'pending'] as const)('remembers the groups that differ, for a person who is %s then', (status) => {
    const inputs = desiredInputs(policy, { owned, groups: members({ a: ['eve'], b: ['eve'] }), roster: roster({ eve: 'approved' }) })
    const { conflictGroups } = resolveDesired(inputs)
    expect(conflictGroups).toEqual({ 'eve@example.com': ['a', 'b'] })
    const later = { ...inputs, groups: members({ a: [], b: [] }), conflictGroups, roster: roster({ eve: status }) }
    expect(resolveDesired(later).conflictGroups).toEqual(conflictGroups)
  })

  test('gives way at once to a declaration of their own', () => {
    const caps = { 'group:a': 1500, 'group:b': 900, eve: 7 }
    const resolution = resolveDesired(desiredInputs({ caps }, { owned, groups: members({ a: ['eve'], b: [] }) }))
    expect([asked(resolution)['eve'], resolution.conflictsGone]).toEqual(['cap 7', {}])
  })

  test('stays for a reading also beside a none of their own', () => {
    const caps = { 'group:a': 1500, 'group:b': 900, eve: 'none' } as const
    const inputs = desiredInputs({ caps, onGroupConflict: 'min' }, { owned, groups: members({ a: ['eve'], b: [] }) })
    const first = resolveDesired(inputs)
    const second = resolveDesired({ ...inputs, conflictsGone: first.conflictsGone })
    expect([asked(first)['eve'], asked(second)['eve']]).toEqual(['conflict 900', 'cap none'])
  })

  test('stays for a reading as it is when the conflict rule was removed as well', () => {
    const inside = { owned, groups: members({ a: ['eve'], b: [] }), ...inBoth }
    expect(asked(resolveDesired(desiredInputs({ caps: policy.caps ?? {} }, inside)))['eve']).toBe('conflict 900')
  })

  test('is left alone and reported when the conflict rule itself was removed', () => {
    const resolution = resolveDesired(desiredInputs({ caps: policy.caps ?? {} }, { owned, groups: members({ a: ['eve'], b: ['eve'] }) }))
    expect([asked(resolution)['eve'], codes(resolution)]).toEqual([undefined, { eve: 'GROUP_CONFLICT' }])
  })
})
