// What is told of a policy set as a whole: how much it declares, whom it protects, and which commit it is of.
import { describe, expect, test } from 'vitest'
import { declaredCount, protectedEmails, shortRevision, whileInvalid } from '../../../src/core/model/policy.ts'
import { userScope } from '../../../src/core/model/scope.ts'
import { DAY, email, NOW, policy } from '../../support/declare.ts'

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
  test('protects people, in order', () => {
    const at = { file: 'a.yaml', line: 1, column: 1 }
    const protectedPeople = ['bob', 'ada'].map((name) => ({ scope: userScope(email(name)), at }))
    expect(protectedEmails({ protectedPeople })).toEqual([email('ada'), email('bob')])
  })
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
