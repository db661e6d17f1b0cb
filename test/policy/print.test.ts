import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PolicySet } from '../../src/core/model/policy.ts'
import { digestOf } from '../../src/policy/load/digest.ts'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { printPolicy } from '../../src/policy/print.ts'
import { runs } from '../support/fuzz.ts'
import { folders } from './support.ts'

const folder = folders()
const load = (files: Readonly<Record<string, string>>) => loadPolicies(['.'], { cwd: folder(files) })

/** What a set means, without places and document names. */
const meaning = (set: PolicySet): unknown =>
  JSON.parse(
    JSON.stringify(set, (key, value) =>
      ['at', 'nameAt', 'document', 'documents'].includes(key) && typeof value !== 'number' ? undefined : value,
    ),
  )

/** Policy sets of any shape that is valid. */
const email = fc.integer({ min: 0, max: 30 }).map((index) => `u${index}@example.com`)
const word = fc.constantFrom(
  'plain',
  'true',
  '12',
  '1e3',
  ': odd',
  '# no comment',
  '"quoted"',
  'two\nlines',
  'null',
  '007',
  "it's",
  '- item',
)
const cap = fc.oneof(fc.integer({ min: 0, max: 2147483647 }), fc.constant('none'))
const ruleOf = fc.record({ cap, reason: fc.option(word, { nil: undefined }) })
const days = fc.integer({ min: 1, max: 30 })
const when = fc
  .record(
    {
      email: fc.constantFrom('*@contractor.example', 'a?@*'),
      role: word.map((one) => one.trim()),
      inactiveDays: days,
      joinedWithinDays: days,
      activeDays: fc.record({ below: days, within: fc.constant(30) }),
      attributes: fc.constantFrom(
        { listed: false },
        { columns: { costCenter: '12' } },
        { listed: true, columns: { costCenter: '', unit: 'a' } },
      ),
    },
    { requiredKeys: [] },
  )
  .filter((one) => Object.keys(one).length > 0)
const members = fc.oneof(
  fc.record({ kind: fc.constant('emails'), emails: fc.constantFrom(['v1@example.com'], ['v1@example.com', 'v2@example.com']) }),
  fc.record({ kind: fc.constant('when'), when }),
)
const specs = fc.record({
  team: fc.option(ruleOf, { nil: undefined }),
  groups: fc.uniqueArray(fc.record({ id: fc.integer({ min: 0, max: 20 }), rule: ruleOf }), { selector: ({ id }) => id, maxLength: 6 }),
  users: fc.uniqueArray(fc.record({ email, rule: ruleOf }), { selector: (one) => one.email, maxLength: 10 }),
  grants: fc.uniqueArray(
    fc.record({ email, cap: fc.integer({ min: 1, max: 9999 }), until: fc.integer({ min: 1, max: 2_000_000_000_000 }), reason: word }),
    {
      selector: (one) => one.email,
      maxLength: 6,
    },
  ),
  protected: fc.array(email, { maxLength: 3 }),
  rules: fc.uniqueArray(fc.record({ name: word, when, rule: ruleOf }), { selector: ({ name }) => name.trim(), maxLength: 4 }),
  pools: fc.uniqueArray(
    fc.record({
      name: word,
      members,
      credits: fc.integer({ min: 5000, max: 9999 }),
      min: fc.constantFrom(0, 50),
      max: fc.constantFrom(undefined, 90),
    }),
    { selector: ({ name }) => name.trim(), maxLength: 1 },
  ),
})
type Spec = typeof specs extends fc.Arbitrary<infer T> ? T : never

function setFrom(spec: Spec): PolicySet {
  const at = { file: 'x', line: 1, column: 1 }
  const rule = (scope: unknown, { cap: value, reason }: { cap: unknown; reason?: string | undefined }) => ({
    scope,
    cap: value,
    ...(reason ? { reason: reason.trim() } : {}),
    at,
    document: 'x',
  })
  return {
    workspace: 'acme',
    rules: [
      ...(spec.team ? [rule({ kind: 'team' }, spec.team)] : []),
      ...spec.groups.map((group) => rule({ kind: 'group', id: `g${group.id}` }, group.rule)),
      ...spec.users.map((one) => rule({ kind: 'user', email: one.email }, one.rule)),
    ],
    groups: spec.groups.map(({ id }) => ({ scope: { kind: 'group', id: `g${id}` }, name: `Group ${id}`, at })),
    grants: spec.grants.map((one) => ({
      scope: { kind: 'user', email: one.email },
      amount: { kind: 'cap', credits: one.cap },
      until: { kind: 'instant', at: one.until },
      reason: one.reason.trim(),
      at,
      document: 'x',
    })),
    protectedPeople: spec.protected.map((one) => ({ scope: { kind: 'user', email: one }, at })),
    approvals: [],
    peopleRules: spec.rules.map(({ name, when, rule: one }) => ({ name: name.trim(), when, ...rule(undefined, one) })),
    pools: spec.pools.map(({ name, min, max, ...pool }) => ({
      ...pool,
      name: name.trim(),
      share: 'need',
      min,
      ...(max === undefined ? {} : { max }),
      at,
      document: 'x',
    })),
    documents: ['x'],
  } as unknown as PolicySet
}

describe('laws', () => {
  it('a printed set parses back to itself', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const root = folder({ 'a.yaml': printPolicy(setFrom(spec), { name: 'x' }) })
        const first = loadPolicies(['.'], { cwd: root }).sets.get('acme')
        expect(first?.digest).toBe(digestOf(uniquePeople(setFrom(spec))))
        writeFileSync(join(root, 'a.yaml'), printPolicy(first?.set ?? setFrom(spec), { name: 'x' }))
        const second = loadPolicies(['.'], { cwd: root }).sets.get('acme')
        expect(second && meaning(second.set)).toEqual(first && meaning(first.set))
        rmSync(root, { recursive: true, force: true })
      }),
      runs(60),
    )
  })

  it('the order of files and of documents never matters', () => {
    fc.assert(
      fc.property(specs, fc.nat({ max: 99 }), (spec, number) => {
        const set = setFrom(spec)
        const isEven = (_item: unknown, index: number) => index % 2 === 0
        const people = set.rules.filter(({ scope }) => scope.kind === 'user')
        const wide = set.rules.filter(({ scope }) => scope.kind !== 'user')
        const one = printPolicy({ ...set, rules: [...wide, ...people.filter(isEven)], grants: [] }, { name: 'one' })
        const two = printPolicy(
          { ...set, rules: people.filter((rule, index) => !isEven(rule, index)), groups: [], peopleRules: [], pools: [] },
          { name: 'two' },
        )
        const orders: readonly Record<string, string>[] = [
          { 'a.yaml': one, 'b.yaml': two },
          { [`z${number}.yaml`]: one, 'b.yaml': two },
          { 'a.yaml': `${two}---\n${one}` },
        ]
        const loaded = orders.map((files) => load(files).sets.get('acme'))
        expect(loaded[0]).toBeDefined()
        for (const revision of loaded) {
          expect(revision?.digest).toBe(loaded[0]?.digest)
          expect(revision && meaning(revision.set)).toEqual(loaded[0] && meaning(loaded[0].set))
        }
      }),
      runs(40),
    )
  })
})

const uniquePeople = (set: PolicySet): PolicySet => ({
  ...set,
  protectedPeople: set.protectedPeople.filter(({ scope }, index, all) => all.findIndex((one) => one.scope.email === scope.email) === index),
})
