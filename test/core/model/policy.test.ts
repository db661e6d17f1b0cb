// What is told of a policy set as a whole: how much it declares, whom it protects, and which commit it is of; and of the entry behind a cap: when
// two ask for the same, and whose the cap is.
import { describe, expect, test } from 'vitest'
import {
  declaredCount,
  GIVEN_UP,
  isSameEntry,
  ownerOf,
  protectedEmails,
  shortRevision,
  UNDECLARED,
  whileInvalid,
} from '../../../src/core/model/policy.ts'
import { DAY, email, entryOf, NOW, policy } from '../../support/declare.ts'

type PolicyEntry = Parameters<typeof ownerOf>[0]

describe('a policy', () => {
  test('declares by caps, grants, rules and pools', () => {
    const grants = [1, 2].map((line) => ({ on: 'ada', cap: 5, until: NOW + DAY, line }))
    const rules = ['a', 'b', 'c', 'd'].map((role) => ({ when: { role }, cap: 5 }))
    const pools = [{ credits: 5, members: { kind: 'emails' as const, emails: [] } }]
    const counts: readonly Parameters<typeof policy>[0][] = [
      {},
      { caps: { team: 5, ada: 6 } },
      { grants },
      { rules },
      { pools },
      { caps: { team: 5 }, grants, rules, pools },
    ]
    expect(counts.map((sketch) => declaredCount(policy(sketch)))).toEqual([0, 2, 2, 4, 1, 8])
  })
  test('protects people, in order', () =>
    expect(protectedEmails(policy({ protect: ['bob', 'ada'] }))).toEqual([email('ada'), email('bob')]))
  test('that is not whole keeps the last one in force, where there was one', () => {
    expect([whileInvalid(''), whileInvalid('aaaabbbbcccc')]).toEqual([
      'no set was whole yet, so no cap is kept',
      'the last good set stays in force',
    ])
  })
})

test.each([
  ['', ''],
  ['0123456789abcdef', '0123456789ab'],
  ['0123456789abcdef+dirty', '0123456789ab+dirty'],
  ['0123456789ab', '0123456789ab'],
  ['0123456789abc 0123456789abd', '0123456789ab 0123456789ab'],
])('the revision %j is shown as %j', (revision, shown) => expect(shortRevision(revision)).toBe(shown))

test.each<readonly [string, PolicyEntry, PolicyEntry, boolean]>([
  ['of one kind and cap are the same', entryOf('cap', 5), entryOf('cap', 5), true],
  ['of another cap are not', entryOf('cap', 5), entryOf('cap', 6), false],
  ['of another kind are not', entryOf('cap', 5), entryOf('grant', 5), false],
  ['of nothing declared are the same', UNDECLARED, { kind: 'undeclared' }, true],
  ['of something given up are the same', GIVEN_UP, { kind: 'given_up' }, true],
  ['of nothing declared and of something given up are not', UNDECLARED, GIVEN_UP, false],
])('two entries: %s', (_title, one, other, same) => expect(isSameEntry(one, other)).toBe(same))

test.each([entryOf('kept', 1), UNDECLARED])('a cap of %o belongs to the policy', (entry) => expect(ownerOf(entry)).toBe('policy'))
