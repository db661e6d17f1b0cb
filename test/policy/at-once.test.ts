// All errors are told at once (product.md, section 2): what is wrong between lines shows whatever else is wrong in these very lines.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { folders, places } from './support.ts'

const make = folders()

/** Problems of one document, `line:column code`. */
const told = (spec: string): readonly string[] => {
  const cwd = make({ 'p.yaml': `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: p}\nspec:\n${spec.replace(/^/gm, '  ')}\n` })
  return places(loadPolicies(['p.yaml'], { cwd }).problems)
}

describe('problems between lines are reported together with problems in them', () => {
  const UNTIL = 'until: 2036-01-05, reason: x'
  test.each<readonly [string, string, readonly string[]]>([
    [
      'two grants that overlap, one with a wrong cap',
      `grants:\n- {user: a@x.y, cap: -5, ${UNTIL}}\n- {user: a@x.y, cap: 5, ${UNTIL}}`,
      ['6:24 CAP', '7:12 GRANT_OVERLAP'],
    ],
    [
      'add on none, without a reason',
      'users: [{email: a@x.y, cap: none}]\ngrants:\n- {user: a@x.y, add: 5, until: 2036-01-05}',
      ['7:5 MISSING', '7:24 GRANT_ADD_BASE'],
    ],
    [
      'add without any base beside another mistake',
      `grants:\n- {user: a@x.y, add: 5, ${UNTIL}}\nprotected: [me]`,
      ['6:24 GRANT_ADD_BASE', '7:15 EMAIL'],
    ],
    [
      'a grant for a group that nobody declares, beside a group without a name',
      `groups: [{id: g, cap: 5}]\ngrants: [{group: other, cap: 5, ${UNTIL}}]`,
      ['5:12 MISSING', '6:20 GRANT_GROUP'],
    ],
    [
      'a rule for such a group, with a wrong cap',
      'rules: [{name: r, when: {groups: [g]}, cap: 1e3}]',
      ['5:37 UNDECLARED_GROUP', '5:47 CAP'],
    ],
    [
      'a pool for such a group, with wrong credits',
      'pools: [{name: p, members: {groups: [g]}, credits: 1e3}]',
      ['5:40 UNDECLARED_GROUP', '5:54 NUMBER'],
    ],
    [
      'two rules of one name, one of which asks for nothing',
      'rules: [{name: r, when: {}, cap: 5}, {name: r, when: {role: a}, cap: 5}]',
      ['5:27 RULE_WHEN', '5:47 DUPLICATE_RULE'],
    ],
    [
      'two pools of one name with one member, one without credits',
      'pools: [{name: p, members: {emails: [a@x.y]}}, {name: p, members: {emails: [a@x.y]}, credits: 5}]',
      ['5:11 MISSING', '5:57 DUPLICATE_POOL', '5:79 POOL_TWICE'],
    ],
    [
      'a member whose cap is none, and a min that cannot be paid, beside a wrong max',
      'users: [{email: a@x.y, cap: none}]\npools: [{name: p, members: {emails: [a@x.y, b@x.y]}, credits: 5, min: 4, max: 1e3}]',
      ['6:40 POOL_NONE', '6:73 POOL_BOUNDS', '6:81 NUMBER'],
    ],
    [
      'a group declared twice, both without a cap and one without a name',
      'groups: [{id: g}, {id: g, name: G}]',
      ['5:12 MISSING', '5:26 MISSING', '5:26 DUPLICATE_SCOPE'],
    ],
  ])('%s', (_name, spec, expected) => expect(told(spec)).toEqual(expected))

  test.each([
    [
      'a group of which nobody can read the id',
      `groups: [{id: 5.5.5, nam: x}, {name: G}]\ngrants: [{group: g, cap: 5, ${UNTIL}}]`,
      'GRANT_GROUP',
    ],
    ['a cap of which nobody can read whose it is', `users: [{cap: 5}]\ngrants: [{user: a@x.y, add: 5, ${UNTIL}}]`, 'GRANT_ADD_BASE'],
    ['a wider cap that is wrong', `team: {cap: 1e3}\ngrants: [{user: a@x.y, add: 5, ${UNTIL}}]`, 'GRANT_ADD_BASE'],
    ['a key that nobody knows', `gruops: [{id: g, name: G}]\ngrants: [{group: g, cap: 5, ${UNTIL}}]`, 'GRANT_GROUP'],
    ['a grant of which nobody can read whom it is for', `groups: [{id: g, name: G}]\ngrants: [{gruop: g, cap: 5, ${UNTIL}}]`, 'has no cap'],
  ])('%s may be what seems to be missing, which is not told then', (_name, spec, unwanted) =>
    expect(told(spec).filter((one) => one.includes(unwanted))).toEqual([]),
  )
})

test('a mistake in one entry never hides one between two others', () => {
  const between: readonly (readonly [string, string, string])[] = [
    ['users', '{email: a@x.y, cap: 5}, {email: A@x.y, cap: 6}', 'DUPLICATE_SCOPE'],
    ['grants', '{team: true, cap: 5, until: 2036-01-05, reason: x}, {team: true, cap: 5, until: 2036-01-06, reason: x}', 'GRANT_OVERLAP'],
    ['rules', '{name: r, when: {role: a}, cap: 5}, {name: r, when: {role: b}, cap: 5}', 'DUPLICATE_RULE'],
    ['pools', '{name: p, members: {emails: [a@x.y]}, credits: 5}, {name: q, members: {emails: [a@x.y]}, credits: 5}', 'POOL_TWICE'],
    ['groups', '{id: g, name: G, cap: 5}, {id: h, name: G, cap: 5}', 'DUPLICATE_GROUP_NAME'],
  ]
  const within: readonly (readonly [string, string, string])[] = [
    ['users', '{email: b@x.y, cap: 1e3}', 'CAP'],
    ['grants', '{user: c@x.y, cap: 5, until: never, reason: x}', 'TIME'],
    ['rules', '{name: s, when: {role: a}, cap: "5"}', 'CAP'],
    ['pools', '{name: s, members: {emails: [d@x.y]}, credits: 0}', 'NUMBER'],
    ['groups', '{id: i, cap: 5}', 'MISSING'],
  ]
  fc.assert(
    fc.property(fc.subarray([...between]), fc.subarray([...within]), (some, others) => {
      const lists = Map.groupBy([...some, ...others], ([key]) => key)
      const spec = [...lists].map(([key, entries]) => `${key}: [${entries.map(([, text]) => text).join(', ')}]`).join('\n')
      fc.pre(spec !== '' && parse(spec) !== null)
      const codes = told(spec).map((one) => one.split(' ')[1])
      expect(codes.toSorted()).toEqual([...some, ...others].map(([, , code]) => code).toSorted())
    }),
    { numRuns: 60 },
  )
})
