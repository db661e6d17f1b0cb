// The simulation's own model of a policy, by examples from docs/policies.md; and the real parser accepts its text.
import { expect, it } from 'vitest'
import type { ScopeKey } from '../../../src/core/model/scope.ts'
import { parsePolicyText } from '../../../src/policy/parse.ts'
import { type Belonging, emptyModel, type PolicyModel, personCap, policyFiles, userCap } from './policy-model.ts'

const ADA = 'ada@example.com'
const NOW = Date.UTC(2026, 10, 20)
const HOUR = 3_600_000

const inGroups = (...groups: readonly string[]): Belonging => ({ approved: [ADA], groupsOf: () => groups })

function model(more: Partial<PolicyModel> & { readonly caps?: Readonly<Record<string, number | 'none'>> }): PolicyModel {
  const { caps = {}, ...rest } = more
  const made = { ...emptyModel(), ...rest }
  for (const [id, cap] of Object.entries(caps)) made.groups.set(id, { name: `Group ${id}`, cap })
  return made
}

const grant = (scope: string, cap: number) => ({ scope: scope as ScopeKey, cap, untilAt: NOW + HOUR })

const adding = (add: number) => ({ scope: ADA as ScopeKey, add, untilAt: NOW + HOUR })

const ROWS: readonly (readonly [
  title: string,
  policy: PolicyModel,
  groups: readonly string[],
  cap: number | 'none' | 'conflict' | undefined,
])[] = [
  ['without declarations no cap is desired', model({}), [], undefined],
  ['the team is the last resort', model({ team: 500 }), ['a'], 500],
  ['a group is before the team', model({ team: 500, caps: { a: 1500 } }), ['a'], 1500],
  ['a user is before their group', model({ users: new Map([[ADA, 4000]]), caps: { a: 1500 } }), ['a'], 4000],
  ['a grant is before everything else at its scope', model({ users: new Map([[ADA, 4000]]), grants: [grant(ADA, 6000)] }), [], 6000],
  [
    'a team grant does not lift a person with a group cap',
    model({ team: 500, caps: { a: 800 }, grants: [grant('team', 9000)] }),
    ['a'],
    800,
  ],
  ['a grant that has ended does not count', model({ team: 500, grants: [{ ...grant('team', 9000), untilAt: NOW }] }), [], 500],
  ['a grant adds to their own cap', model({ users: new Map([[ADA, 400]]), caps: { a: 800 }, grants: [adding(100)] }), ['a'], 500],
  [
    'a grant adds to what groups declare where nothing is declared of a person, by the conflict rule',
    model({ team: 500, caps: { a: 800, b: 900 }, onGroupConflict: 'min', grants: [adding(100), grant('group:a', 50)] }),
    ['a', 'b'],
    900,
  ],
  ['and to the cap of the team where no group has one', model({ team: 500, caps: { a: 'none' }, grants: [adding(100)] }), ['a'], 600],
  ['a grant without a cap to add to has no effect', model({ caps: { a: 800, b: 900 }, grants: [adding(100)] }), ['a', 'b'], 'conflict'],
  ['groups that differ are a conflict', model({ caps: { a: 800, b: 900 } }), ['a', 'b'], 'conflict'],
  ['the conflict rule chooses', model({ caps: { a: 800, b: 900 }, onGroupConflict: 'max' }), ['a', 'b'], 900],
  [
    'the first rule that matches is before groups',
    model({
      caps: { a: 1 },
      rules: [
        { starts: 'b', cap: 2 },
        { starts: 'a', cap: 3 },
        { starts: 'ada', cap: 4 },
      ],
    }),
    ['a'],
    3,
  ],
  ['a user is before rules', model({ users: new Map([[ADA, 4000]]), rules: [{ starts: 'ada', cap: 3 }] }), [], 4000],
  [
    'none at a user leaves it to the conflict rule',
    model({ users: new Map([[ADA, 'none' as const]]), caps: { a: 800, b: 900 }, onGroupConflict: 'max' }),
    ['a', 'b'],
    900,
  ],
  [
    'none at a user is a conflict where groups differ',
    model({ users: new Map([[ADA, 'none' as const]]), caps: { a: 8, b: 9 } }),
    ['a', 'b'],
    'conflict',
  ],
  ['none at a user falls back to the ancestor', model({ team: 500, users: new Map([[ADA, 'none' as const]]) }), [], 500],
]

it.each(ROWS)('%s', (_title, policy, groups, cap) => {
  expect(personCap(policy, ADA, inGroups(...groups), NOW)).toBe(cap)
})

it('the conflict rule writes at user scope, agreeing groups do not', () => {
  const policy = model({ caps: { a: 800, b: 900, c: 800 }, onGroupConflict: 'min' })
  expect(userCap(policy, ADA, inGroups('a', 'b'), NOW)).toBe(800)
  expect(userCap(policy, ADA, inGroups('a', 'c'), NOW)).toBeUndefined()
})

it('the real parser accepts the text of a model', () => {
  const policy = model({
    team: 0,
    caps: { a: 800, b: 'none' },
    users: new Map<string, number | 'none'>([[ADA, 0]]),
    grants: [grant(ADA, 6000), { scope: 'team' as ScopeKey, add: 100, fromAt: NOW, untilAt: NOW + HOUR, cycleEnd: true }],
    protectedPeople: new Set([ADA]),
    approvals: new Set(['7d1f0c2a9b347d1f0c2a9b347d1f0c2a']),
    onGroupConflict: 'min',
    rules: [
      { starts: 'ada', cap: 0 },
      { starts: 'b', cap: 'none' },
    ],
  })
  for (const [file, text] of policyFiles(policy)) expect(parsePolicyText(file, text).problems.map(({ message }) => message)).toEqual([])
})
