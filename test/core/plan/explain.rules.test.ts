// What explain tells of rules: which one won and by which value, why others lost, and which field is absent.
import { expect, test } from 'vitest'
import type { DesiredInputs } from '../../../src/core/resolve/resolution.ts'
import { members, ownedCaps, type PolicySketch, rosterRows } from '../../support/declare.ts'
import { explained, lines } from '../../support/explained.ts'

const MEMBER = { when: { role: 'member' }, cap: 100, reason: 'as agreed' } as const
const roster = rosterRows({ ada: { role: 'member' }, dan: {} })
const ada = (sketch: PolicySketch, more: Partial<DesiredInputs> = {}) => lines(explained('ada', sketch, { roster, ...more }))

test.each<[string, PolicySketch, readonly string[]]>([
  [
    'a rule over the groups, which then need not agree',
    { caps: { 'group:a': 1, 'group:b': 2 }, rules: [MEMBER] },
    [
      '> rule ada 100 at acme.yaml:201:5: the first rule that matches, and nothing is declared for the person alone',
      'cap group:a 1 at acme.yaml:1:5: a rule is narrower',
      'cap group:b 2 at acme.yaml:2:5: a rule is narrower',
    ],
  ],
  [
    'none of the person, which keeps the rule away',
    { caps: { ada: 'none', 'group:a': 1 }, rules: [MEMBER] },
    [
      '> cap group:a 1 at acme.yaml:2:5: the narrowest cap declared',
      'cap ada none at acme.yaml:1:5: sets nothing here, so the next wider one applies',
      'rule ada 100 at acme.yaml:201:5: a cap for the person goes before rules',
    ],
  ],
  [
    'none of the person, which keeps the rule away from groups that differ, too',
    { caps: { ada: 'none', 'group:a': 1, 'group:b': 2 }, rules: [MEMBER] },
    [
      'cap ada none at acme.yaml:1:5: sets nothing here, so the next wider one applies',
      'rule ada 100 at acme.yaml:201:5: a cap for the person goes before rules',
      'cap group:a 1 at acme.yaml:2:5: the groups of this person differ and spec.onGroupConflict is not set',
      'cap group:b 2 at acme.yaml:3:5: the groups of this person differ and spec.onGroupConflict is not set',
    ],
  ],
])('tells %s', (_name, sketch, expected) => expect(ada(sketch, { groups: members({ a: ['ada'], b: ['ada'] }) })).toEqual(expected))

test('says of whom it is not known which field is absent, and that what is in force stays', () => {
  const sketch = { caps: { team: 500 }, rules: [MEMBER] }
  const open = explained('dan', sketch, { roster })
  expect(lines(open)).toEqual([
    'rule dan 100 at acme.yaml:201:5: it is not known whether it matches, so the cap in force stays and no later rule is tried',
    'cap team 500 at acme.yaml:1:5: whether rule r1 matches is not known',
  ])
  expect(open.chain[0]?.candidate.reason).toBe('rule r1 (role: the roster has no role): as agreed')
  expect(open.cap).toBeUndefined()
  const kept = explained('dan', sketch, { roster, owned: ownedCaps({ dan: { cap: 50, owner: 'rule' } }) })
  expect(kept.desired?.cap).toBe(50)
  expect(kept.chain.map(({ wins, candidate, why }) => [wins, candidate.cap, why])).toEqual([
    [true, 50, 'it is not known whether it matches, so the cap in force stays and no later rule is tried'],
    [false, 500, 'whether rule r1 matches is not known'],
  ])
})
