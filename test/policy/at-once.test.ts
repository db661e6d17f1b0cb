// All errors are told at once (docs/policies.md): what is wrong between lines shows whatever else is wrong in these very lines.
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
      ['5:12 MISSING', '5:26 DUPLICATE_SCOPE'],
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

describe('a document of which the workspace is not known is checked all the same', () => {
  const UNTIL = 'until: 2036-01-05, reason: x'
  const WRONG = `users: [{email: a@x.y, cap: 1}, {email: a@x.y, cap: 2}]
rules: [{name: r, when: {groups: [zz]}, cap: 2}]
grants: [{user: q@x.y, cap: 1, ${UNTIL}}, {user: q@x.y, cap: 1, ${UNTIL}}]`
  const INSIDE = ['6:43 DUPLICATE_SCOPE', '7:37 UNDECLARED_GROUP', '8:72 GRANT_OVERLAP']
  const text = (name: string, spec: string): string =>
    `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: ${name}}\nspec:\n${spec.replace(/^/gm, '  ')}\n`
  const of = (files: Readonly<Record<string, string>>, workspaces: readonly string[] | undefined) =>
    loadPolicies(['.'], { cwd: make(files), ...(workspaces && { workspaces }) })
  const TWO = ['acme', 'beta']

  test.each<readonly [string, string, readonly string[] | undefined, string]>([
    ['with a mistyped workspace', 'workspace: acne', TWO, '5:14 WORKSPACE_UNKNOWN'],
    ['without one, where two read it', 'timezone: UTC', TWO, '3:18 WORKSPACE_MISSING'],
    ['with one that is no text', 'workspace: [acme]', undefined, '5:14 NOT_TEXT'],
    ['with one that is no text, where two read it', 'workspace: [acme]', TWO, '5:14 NOT_TEXT'],
  ])('%s', (_name, line, workspaces, expected) => {
    const { problems, problemsOf, sets } = of({ 'p.yaml': text('p', `${line}\n${WRONG}`) }, workspaces)
    expect(places(problems)).toEqual([expected, ...INSIDE])
    for (const theirs of problemsOf.values()) expect(theirs).toEqual(problems)
    expect(sets.size).toBe(0)
  })

  test('and hides nothing that is wrong in others', () => {
    const { problems } = of({ 'a.yaml': text('a', 'workspace: acne'), 'b.yaml': text('b', `workspace: acme\n${WRONG}`) }, TWO)
    expect(places(problems)).toEqual(['5:14 WORKSPACE_UNKNOWN', ...INSIDE])
  })

  test('together with those that name the same one', () => {
    const files = Object.fromEntries(['a', 'b'].map((name) => [`${name}.yaml`, text(name, 'workspace: acne\nteam: {cap: 5}')]))
    expect(places(of(files, TWO).problems)).toEqual(['5:14 WORKSPACE_UNKNOWN', '5:14 WORKSPACE_UNKNOWN', '6:3 DUPLICATE_SCOPE'])
  })

  test.each<readonly [string, string, string]>([
    ['a group that it may declare for others', 'groups: [{id: g, name: G, cap: 5}]', 'rules: [{name: r, when: {groups: [g]}, cap: 2}]'],
    ['a group that others may declare for it', 'rules: [{name: r, when: {groups: [g]}, cap: 2}]', 'groups: [{id: g, name: G, cap: 5}]'],
    ['a group without a cap that a grant of others may be for', 'groups: [{id: g, name: G}]', `grants: [{group: g, cap: 5, ${UNTIL}}]`],
    ['a cap that others may add to', 'users: [{email: a@x.y, cap: 5}]', `grants: [{user: a@x.y, add: 5, ${UNTIL}}]`],
    ['a cap that it may add to', `grants: [{user: a@x.y, add: 5, ${UNTIL}}]`, 'users: [{email: a@x.y, cap: 5}]'],
    ['a scope that others may declare, too', 'team: {cap: 5}', 'team: {cap: 5}'],
  ])('but not for %s', (_name, its, theirs) => {
    const { problems } = of({ 'a.yaml': text('a', `workspace: acne\n${its}`), 'b.yaml': text('b', `workspace: acme\n${theirs}`) }, TWO)
    expect(places(problems)).toEqual(['5:14 WORKSPACE_UNKNOWN'])
  })
})

test.each([
  ['a key that stands twice', 'users: [{email: a@x.y, cap: 5, cap: 5}]', '5:34 YAML_DUPLICATE_KEY'],
  ['a tag', 'users: [{email: a@x.y, cap: !int 5}]', '5:31 YAML_TAG'],
  ['an alias that leads nowhere', 'users: [{email: a@x.y, cap: *x}]', '5:31 YAML_ALIAS'],
])('%s hides no group that is not declared', (_name, spec, problem) => {
  expect(told(`${spec}\nrules: [{name: r, when: {groups: [zz]}, cap: 2}]`)).toEqual([problem, '6:37 UNDECLARED_GROUP'])
})
