import { describe, expect, test } from 'vitest'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import type { DesiredInputs, Resolution } from '../../../src/core/resolve/resolution.ts'
import {
  asked,
  byGrant,
  checkDecision,
  type Decision,
  desiredInputs,
  members,
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
    ['and a rule of their own is no conflict', { policy: { caps: { ...caps, eve: 7 } }, more: both, desired: { ...wide, eve: 'cap 7' } }],
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
      'is not rejected while nobody knows whether a rule decides for the person',
      {
        policy: { caps, rules: [{ when: { role: 'member' }, cap: 5 }] },
        more: { ...both, roster: roster({ eve: 'approved' }) },
        desired: wide,
      },
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

  test.each(['min', 'max'] as const)('gets the first of equal caps under %s, so that its place does not wander', (onGroupConflict) => {
    const three = { groups: members({ a: ['eve'], b: ['eve'], c: ['eve'] }) }
    const equal = onGroupConflict === 'min' ? 900 : 1500
    const inputs = desiredInputs({ caps: { ...caps, 'group:c': equal }, onGroupConflict }, three)
    expect(resolveDesired(inputs).desired.at(-1)?.origin.at?.line).toBe(onGroupConflict === 'min' ? 2 : 1)
  })
})

describe('a cap of the conflict rule whose conflict is gone', () => {
  const policy: PolicySketch = { caps: { 'group:a': 1500, 'group:b': 900 }, onGroupConflict: 'min' }
  const owned = ownedCaps({ eve: { cap: 900, owner: 'conflict' } })
  const gone = (more: Partial<DesiredInputs> = {}): Resolution =>
    resolveDesired(desiredInputs(policy, { owned, groups: members({ a: ['eve'], b: [] }), ...more }))

  test.each<[string, Partial<DesiredInputs>, string | undefined, Record<string, number>]>([
    ['is not counted down at all before a first new reading', { newReading: undefined }, 'conflict 900', {}],
    ['is not counted down while one of the groups was not read', { groups: members({ a: ['eve'] }) }, 'conflict 900', {}],
    ['stays gone as long as it is ours', { conflictsGone: { 'eve@example.com': 2 } }, undefined, { 'eve@example.com': 2 }],
    [
      'stays gone without another reading',
      { conflictsGone: { 'eve@example.com': 2 }, newReading: undefined },
      undefined,
      { 'eve@example.com': 2 },
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

  test('stays for a reading as it is when the conflict rule was removed as well', () => {
    const inside = { owned, groups: members({ a: ['eve'], b: [] }), ...inBoth }
    expect(asked(resolveDesired(desiredInputs({ caps: policy.caps ?? {} }, inside)))['eve']).toBe('conflict 900')
  })
})
