// The policy entry behind a cap: when two ask for the same, and whose the cap is.
import { describe, expect, test } from 'vitest'
import { GIVEN_UP, isSameEntry, ownerOf, type PolicyEntry, UNDECLARED } from '../../../src/core/model/policy.ts'
import { credits } from '../../../src/core/model/units.ts'

const ruleOf = (cap: number): PolicyEntry => ({ kind: 'cap', cap: credits(cap) })

describe('two entries', () => {
  test.each<readonly [string, PolicyEntry, PolicyEntry, boolean]>([
    ['of one kind and cap are the same', ruleOf(5), ruleOf(5), true],
    ['of another cap are not', ruleOf(5), ruleOf(6), false],
    ['of another kind are not', ruleOf(5), { kind: 'grant', cap: credits(5) }, false],
    ['of nothing declared are the same', UNDECLARED, { kind: 'undeclared' }, true],
    ['of something given up are the same', GIVEN_UP, { kind: 'given_up' }, true],
    ['of nothing declared and of something given up are not', UNDECLARED, GIVEN_UP, false],
  ])('%s', (_title, one, other, same) => expect(isSameEntry(one, other)).toBe(same))
})

test.each<readonly [PolicyEntry['kind'], string]>([
  ['cap', 'policy'],
  ['kept', 'policy'],
  ['undeclared', 'policy'],
  ['given_up', 'policy'],
  ['grant', 'grant'],
  ['restore', 'grant'],
  ['rule', 'rule'],
  ['pool', 'pool'],
  ['conflict', 'conflict'],
  ['copied', 'copied'],
])('a cap of an entry %s belongs to: %s', (kind, owner) => {
  const entry: PolicyEntry = kind === 'undeclared' || kind === 'given_up' ? { kind } : { kind, cap: credits(1) }
  expect(ownerOf(entry)).toBe(owner)
})
