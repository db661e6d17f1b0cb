import { describe, expect, test } from 'vitest'
import { byScope } from '../../../src/core/model/scope.ts'
import { MAX_CAP } from '../../../src/core/model/units.ts'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import {
  asked,
  byGrant,
  checkDecision,
  coming,
  DAY,
  type Decision,
  desiredInputs,
  members,
  NOW,
  over,
  ownedCaps,
  roster,
  running,
  withoutCycle,
} from '../../support/declare.ts'

describe('a grant that adds', () => {
  const add = { add: 800, ...running }
  const inA = { groups: members({ a: ['bob'] }) }
  const inAB = { groups: members({ a: ['bob'], b: ['bob'] }) }
  test.each<[string, Decision]>([
    [
      'comes on top of the group’s rule',
      {
        policy: { caps: { team: 500, 'group:a': 1500 }, grants: [{ on: 'bob', ...add }] },
        more: inA,
        desired: { team: 'cap 500', 'group:a': 'cap 1500', bob: 'grant 2300' },
      },
    ],
    [
      'passes by a group that sets none',
      {
        policy: { caps: { team: 500, 'group:a': 'none' }, grants: [{ on: 'bob', ...add }] },
        more: inA,
        desired: { team: 'cap 500', 'group:a': 'cap none', bob: 'grant 1300' },
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
        desired: { team: 'cap 500', 'group:a': 'grant 9000', bob: 'grant 1300' },
      },
    ],
    [
      'comes on top of the lower group under min',
      {
        policy: { caps: { 'group:a': 1500, 'group:b': 900 }, onGroupConflict: 'min', grants: [{ on: 'bob', ...add }] },
        more: inAB,
        desired: { 'group:a': 'cap 1500', 'group:b': 'cap 900', bob: 'grant 1700' },
      },
    ],
    [
      'comes on top of the higher group under max',
      {
        policy: { caps: { 'group:a': 1500, 'group:b': 900 }, onGroupConflict: 'max', grants: [{ on: 'bob', ...add }] },
        more: inAB,
        desired: { 'group:a': 'cap 1500', 'group:b': 'cap 900', bob: 'grant 2300' },
      },
    ],
    ['is rejected where nothing is declared', { policy: { grants: [{ on: 'bob', ...add }] }, rejected: { bob: 'ADD_WITHOUT_BASE' } }],
    [
      'is rejected where a group’s none is all there is',
      {
        policy: { caps: { 'group:a': 'none' }, grants: [{ on: 'bob', ...add }] },
        more: inA,
        desired: { 'group:a': 'cap none' },
        rejected: { bob: 'ADD_WITHOUT_BASE' },
      },
    ],
    [
      'is rejected while a declared group was never read',
      {
        policy: { caps: { team: 500, 'group:a': 1500 }, grants: [{ on: 'bob', ...add }] },
        desired: { team: 'cap 500', 'group:a': 'cap 1500' },
        rejected: { bob: 'ADD_WITHOUT_BASE' },
      },
    ],
    [
      'needs no group readings on top of an own rule',
      {
        policy: { caps: { 'group:a': 1500, bob: 2000 }, grants: [{ on: 'bob', ...add }] },
        desired: { 'group:a': 'cap 1500', bob: 'grant 2800' },
      },
    ],
    [
      'on a group without a rule comes on top of the team’s',
      { policy: { caps: { team: 500 }, grants: [{ on: 'group:a', ...add }] }, desired: { team: 'cap 500', 'group:a': 'grant 1300' } },
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
    ['does not count while it does not run', { policy: { grants: [{ on: 'bob', add: 800, ...coming }] } }],
  ])('%s', (_, row) => checkDecision(row))

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

describe('the end of a grant on a scope without a rule', () => {
  const ended = { grants: [{ on: 'bob', cap: 6000, ...over }] }
  const owned = ownedCaps({ bob: byGrant(300) })
  const overOurs = byScope([...owned.values()].map((one) => ({ ...one, baselineIsOurs: true })))
  test.each<[string, Decision]>([
    ['restores the cap from before it', { policy: ended, more: { owned }, desired: { bob: 'restore 300' } }],
    ['restores it even when the grant is gone from the policy', { more: { owned }, desired: { bob: 'restore 300' } }],
    ['restores it for the team', { more: { owned: ownedCaps({ team: byGrant(300) }) }, desired: { team: 'restore 300' } }],
    ['gives it back to a group', { more: { owned: ownedCaps({ 'group:a': byGrant(300) }) }, desired: { 'group:a': 'restore 300' } }],
    [
      'gives back nothing that was ours and that policy declares no more, where such caps are pruned',
      { policy: ended, more: { owned: overOurs }, desired: { bob: 'restore none' } },
    ],
    [
      'gives back also what was ours while nobody knows whether a rule asks for it',
      {
        policy: { ...ended, rules: [{ when: { role: 'member' }, cap: 300 }] },
        more: { owned: overOurs, roster: roster({ bob: 'approved' }) },
        desired: { bob: 'restore 300' },
      },
    ],
    ['leaves to pruning what has no memory of a base', { policy: ended, more: { owned: ownedCaps({ bob: byGrant() }) } }],
    ['restores nothing that a rule wrote', { more: { owned: ownedCaps({ bob: { cap: 6000, baseline: 300 } }) } }],
    [
      'yields to a rule none that was declared meanwhile',
      { policy: { ...ended, caps: { bob: 'none' } }, more: { owned }, desired: { bob: 'cap none' } },
    ],
    ['does not come while the clocks disagree', { policy: ended, more: { owned, grantsFrozen: true }, desired: { bob: 'grant 6000' } }],
    [
      'yields to the conflict rule',
      {
        policy: { ...ended, caps: { 'group:a': 1, 'group:b': 2 }, onGroupConflict: 'max' },
        more: { owned, groups: members({ a: ['bob'], b: ['bob'] }) },
        desired: { 'group:a': 'cap 1', 'group:b': 'cap 2', bob: 'conflict 2' },
      },
    ],
    [
      'yields to the cap that is copied to the person',
      {
        policy: { ...ended, caps: { team: 500 } },
        more: { owned, capSemantics: 'copied', roster: roster({ bob: 'approved' }) },
        desired: { team: 'cap 500', bob: 'copied 500' },
      },
    ],
    [
      'gives it back where no number is copied to the person',
      {
        policy: { ...ended, caps: { team: 'none' } },
        more: { owned, capSemantics: 'copied', roster: roster({ bob: 'approved' }) },
        desired: { team: 'cap none', bob: 'restore 300' },
      },
    ],
  ])('%s', (_, row) => checkDecision(row))

  test('points at the grant also where it was moved into the future', () => {
    const [bob] = resolveDesired(desiredInputs({ grants: [{ on: 'bob', ...coming }] }, { owned })).desired
    expect(bob?.origin).toMatchObject({ at: { line: 101 }, reason: 'release week', untilAt: coming.until })
  })

  test('waits for the cycle to be known', () => {
    const inputs = desiredInputs({ grants: [{ on: 'bob', cap: 6000, from: NOW - 90 * DAY, until: 'cycleEnd' }] }, { owned })
    expect(asked(resolveDesired(withoutCycle(inputs)))).toEqual({ bob: 'grant 6000' })
    expect(asked(resolveDesired(inputs))).toEqual({ bob: 'restore 300' })
  })
})
