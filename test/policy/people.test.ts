// Rules and pools as they are written: what they become, and what is said of those that make no sense, with its place.
import { describe, expect, it } from 'vitest'
import { loadPolicies } from '../../src/policy/load/load.ts'
import { parsePolicyText } from '../../src/policy/parse.ts'
import { folders, places, placesWithFiles, policyText } from './support.ts'

const folder = folders()
const load = (files: Readonly<Record<string, string>>) => loadPolicies(['.'], { cwd: folder(files) })
const loadOne = (spec: string) => load({ 'a.yaml': policyText(spec, 'a') })
const setOf = (spec: string) => {
  const loaded = loadOne(spec)
  expect(loaded.problems).toEqual([])
  return loaded.sets.get('default')?.set
}

describe('rules', () => {
  it('are read with every condition, in their order', () => {
    const set = setOf(`groups: [{id: g, name: G}, {id: h, name: H}]
rules:
- name: contractors
  when: {email: " *@Contractor.Example "}
  cap: 100
  reason: they have their own budget
- name: quiet
  when: {role: member, groups: [h, g, h], inactiveDays: 30, joinedWithinDays: 14, activeDays: {below: 5, within: 30}}
  cap: 0
  allowZero: true
- {name: rest, when: {role: guest}, cap: none}`)
    const at = (line: number, column: number) => ({ at: { file: 'a.yaml', line, column }, document: 'a' })
    expect(set?.peopleRules).toEqual([
      { name: 'contractors', when: { email: '*@contractor.example' }, cap: 100, reason: 'they have their own budget', ...at(10, 10) },
      {
        name: 'quiet',
        when: { role: 'member', groups: ['g', 'h'], inactiveDays: 30, joinedWithinDays: 14, activeDays: { below: 5, within: 30 } },
        ...{ cap: 0, ...at(14, 10) },
      },
      { name: 'rest', when: { role: 'guest' }, cap: 'none', ...at(16, 44) },
    ])
  })

  it('of several documents count by the names of the documents, whatever the files are called', () => {
    const rule = (name: string) => `rules: [{name: ${name}, when: {role: r}, cap: 5}]`
    for (const [one, two] of [
      ['a.yaml', 'b.yaml'],
      ['b.yaml', 'a.yaml'],
    ] as const) {
      const set = load({ [one]: policyText(rule('first'), 'alpha'), [two]: policyText(rule('second'), 'beta') }).sets.get('default')?.set
      expect(set?.peopleRules.map(({ name }) => name)).toEqual(['first', 'second'])
    }
  })

  it('in another order are another policy', () => {
    const [a, b] = ['{name: a, when: {role: r}, cap: 5}', '{name: b, when: {role: s}, cap: 5}']
    const digest = (spec: string) => loadOne(spec).sets.get('default')?.digest
    expect(digest(`rules: [${a}, ${b}]`)).not.toBe(digest(`rules: [${b}, ${a}]`))
    expect(digest(`rules: [${a}, ${b}]`)).toBe(digest(`rules:\n- ${a}\n# and\n- ${b}`))
  })

  it.each([
    ['without anything', 'rules: [{}]', ['6:11 MISSING', '6:11 MISSING', '6:11 MISSING']],
    ['with an empty condition', 'rules: [{name: a, when: {}, cap: 5}]', ['6:27 RULE_WHEN']],
    ['with an unknown key', 'rules: [{name: a, when: {role: r}, cap: 5, capp: 6}]', ['6:46 UNKNOWN_KEY']],
    ['with an unknown condition', 'rules: [{name: a, when: {rolle: r}, cap: 5}]', ['6:28 UNKNOWN_KEY']],
    ['with a 0 that nobody meant', 'rules: [{name: a, when: {role: r}, cap: 0}]', ['6:43 CAP_ZERO']],
    ['with a pattern without quotes', 'rules: [{name: a, when: {email: *@x.y}, cap: 5}]', ['6:35 YAML_ALIAS']],
    ['with a pattern that no address can match', 'rules: [{name: a, when: {email: x.y}, cap: 5}]', ['6:35 EMAIL_PATTERN']],
    ['with days as a fraction', 'rules: [{name: a, when: {inactiveDays: 1.5}, cap: 5}]', ['6:42 NUMBER']],
    ['with days as 30.0', 'rules: [{name: a, when: {inactiveDays: 30.0}, cap: 5}]', ['6:42 NUMBER']],
    ['with no days', 'rules: [{name: a, when: {joinedWithinDays: 0}, cap: 5}]', ['6:46 NUMBER']],
    ['with half of activeDays', 'rules: [{name: a, when: {activeDays: {below: 5}}, cap: 5}]', ['6:40 MISSING']],
    ['that is always so', 'rules: [{name: a, when: {activeDays: {below: 31, within: 30}}, cap: 5}]', ['6:40 RULE_WHEN']],
    ['without groups', 'rules: [{name: a, when: {groups: []}, cap: 5}]', ['6:36 MISSING']],
    [
      'that are wrong in several ways',
      'rules: [{name: a, when: {role: }, cap: x}, {name: b, when: {inactiveDays: "3"}, cap: -1}]',
      ['6:28 NOT_TEXT', '6:42 CAP', '6:77 NUMBER', '6:88 CAP'],
    ],
  ])('%s are refused', (_name, spec, told) => {
    expect(places(parsePolicyText('p.yaml', policyText(spec)).problems).toSorted()).toEqual(told.toSorted())
  })

  it.each([
    [
      'the same name twice',
      'rules: [{name: a, when: {role: r}, cap: 5}, {name: a, when: {role: s}, cap: 5}]',
      ['a.yaml:6:54 DUPLICATE_RULE (a.yaml:6:18)'],
    ],
    [
      'a group that nothing declares',
      'groups: [{id: grp_a, name: A, cap: 5}]\nrules: [{name: a, when: {groups: [grp_b]}, cap: 5}]',
      ['a.yaml:7:37 UNDECLARED_GROUP'],
    ],
    ['a pattern for everybody', 'rules: [{name: a, when: {email: "*@*"}, cap: 5}]', ['a.yaml:6:35 RULE_EVERYBODY']],
    ['a pattern for everybody beside another condition', 'rules: [{name: a, when: {email: "*", role: r}, cap: 5}]', []],
    [
      'none below the cap of the team',
      'team: {cap: 5}\nrules: [{name: a, when: {role: r}, cap: none}]',
      ['a.yaml:7:43 NONE_FALLS_BACK (a.yaml:6:15)'],
    ],
    ['a group without a cap', 'groups: [{id: g, name: G}]\nrules: [{name: a, when: {groups: [g]}, cap: 5}]', []],
  ])('together with the rest: %s', (_name, spec, told) => expect(placesWithFiles(loadOne(spec).problems)).toEqual(told))

  it('hints at what was meant', () => {
    const hints = (spec: string) => loadOne(spec).problems.map(({ hint }) => hint)
    expect(hints('groups: [{id: grp_a, name: A, cap: 5}]\nrules: [{name: a, when: {groups: [grp_b]}, cap: 5}]')).toEqual([
      'did you mean "grp_a"?',
    ])
    expect(hints('rules: [{name: a, when: {email: x.y}, cap: 5}]')).toEqual(['write "*@x.y"'])
    expect(hints('rules: [{name: a, when: {email: *@x.y}, cap: 5}]')).toEqual(['write "*@x.y" in quotes'])
    expect(hints('rules: [{name: a, when: {inactiveDay: 5}, cap: 5}]')).toEqual(['did you mean "inactiveDays"?'])
  })
})

describe('pools', () => {
  it('are read with their defaults, by name', () => {
    const set = setOf(`groups: [{id: g, name: G}]
pools:
- {name: research, members: {groups: [g]}, credits: 20000, share: equal, min: 50, max: 3000}
- {name: guests, members: {when: {email: "*@guest.example"}}, credits: 500}
- {name: pair, members: {emails: [B@x.y, a@x.y]}, credits: 500, share: need}`)
    const at = (line: number, column: number) => ({ at: { file: 'a.yaml', line, column }, document: 'a' })
    expect(set?.pools).toEqual([
      { name: 'guests', members: { kind: 'when', when: { email: '*@guest.example' } }, credits: 500, share: 'need', min: 0, ...at(9, 74) },
      { name: 'pair', members: { kind: 'emails', emails: ['a@x.y', 'b@x.y'] }, credits: 500, share: 'need', min: 0, ...at(10, 62) },
      { name: 'research', members: { kind: 'groups', ids: ['g'] }, credits: 20000, share: 'equal', min: 50, max: 3000, ...at(8, 55) },
    ])
  })

  it.each([
    ['without anything', 'pools: [{}]', ['6:11 MISSING', '6:11 MISSING', '6:11 MISSING']],
    ['of nobody', 'pools: [{name: p, members: {}, credits: 5}]', ['6:30 POOL_MEMBERS']],
    ['of two kinds of members', 'pools: [{name: p, members: {emails: [a@b.c], groups: [g]}, credits: 5}]', ['6:48 POOL_MEMBERS']],
    ['of no credits', 'pools: [{name: p, members: {emails: [a@b.c]}, credits: 0}]', ['6:58 NUMBER']],
    ['of credits with a point', 'pools: [{name: p, members: {emails: [a@b.c]}, credits: 5.0}]', ['6:58 NUMBER']],
    ['with an unknown share', 'pools: [{name: p, members: {emails: [a@b.c]}, credits: 5, share: fair}]', ['6:68 UNKNOWN_VALUE']],
    ['with an unknown key', 'pools: [{name: p, member: {emails: [a@b.c]}, credits: 5}]', ['6:21 UNKNOWN_KEY', '6:11 MISSING']],
    ['with a min above max', 'pools: [{name: p, members: {emails: [a@b.c]}, credits: 50, min: 9, max: 8}]', ['6:67 POOL_BOUNDS']],
    ['with a min above the credits', 'pools: [{name: p, members: {emails: [a@b.c]}, credits: 50, min: 51}]', ['6:67 POOL_BOUNDS']],
    ['with an empty condition', 'pools: [{name: p, members: {when: {}}, credits: 5}]', ['6:37 RULE_WHEN']],
    ['with somebody who is no address', 'pools: [{name: p, members: {emails: [ada]}, credits: 5}]', ['6:40 EMAIL']],
  ])('%s are refused', (_name, spec, told) => {
    expect(places(parsePolicyText('p.yaml', policyText(spec)).problems).toSorted()).toEqual(told.toSorted())
  })

  const pool = (name: string, members: string, more = '') => `{name: ${name}, members: {${members}}, credits: 100${more}}`
  it.each([
    [
      'the same name twice',
      `pools: [${pool('p', 'emails: [a@b.c]')}, ${pool('p', 'emails: [d@e.f]')}]`,
      ['a.yaml:6:71 DUPLICATE_POOL (a.yaml:6:18)'],
    ],
    [
      'a person in two',
      `pools: [${pool('p', 'emails: [a@b.c]')}, ${pool('q', 'emails: [A@b.c]')}]`,
      ['a.yaml:6:93 POOL_TWICE (a.yaml:6:40)'],
    ],
    ['a person twice in one', `pools: [${pool('p', 'emails: [a@b.c, A@B.c]')}]`, ['a.yaml:6:47 POOL_TWICE (a.yaml:6:40)']],
    [
      'a group in two',
      `groups: [{id: g, name: G}]\npools: [${pool('p', 'groups: [g]')}, ${pool('q', 'groups: [g]')}]`,
      ['a.yaml:7:89 POOL_TWICE (a.yaml:7:40)'],
    ],
    [
      'a group in the conditions of two',
      `groups: [{id: g, name: G}]\npools: [${pool('p', 'when: {groups: [g], role: a}')}, ${pool('q', 'when: {groups: [g], role: b}')}]`,
      [],
    ],
    ['a group that nothing declares', `pools: [${pool('p', 'groups: [g]')}]`, ['a.yaml:6:40 UNDECLARED_GROUP']],
    [
      'a min that cannot be paid',
      `pools: [${pool('p', 'emails: [a@b.c, d@b.c, e@b.c]', ', min: 34')}]`,
      ['a.yaml:6:82 POOL_BOUNDS (a.yaml:6:72)'],
    ],
    ['a min that can be paid', `pools: [${pool('p', 'emails: [a@b.c, d@b.c, e@b.c]', ', min: 33')}]`, []],
    [
      'none for a member',
      `users: [{email: a@b.c, cap: none}]\npools: [${pool('p', 'emails: [a@b.c]')}]`,
      ['a.yaml:7:40 POOL_NONE (a.yaml:6:31)'],
    ],
    ['a number for a member', `users: [{email: a@b.c, cap: 5}]\npools: [${pool('p', 'emails: [a@b.c]')}]`, []],
  ])('together with the rest: %s', (_name, spec, told) => expect(placesWithFiles(loadOne(spec).problems)).toEqual(told))

  it('are refused where caps are copied, and nowhere else', () => {
    const cwd = folder({ 'a.yaml': policyText(`pools: [${pool('p', 'emails: [a@b.c]')}]`, 'a') })
    const loaded = (capSemantics: 'layered' | 'copied') => loadPolicies(['.'], { cwd, workspaces: [{ name: 'w', capSemantics }] })
    expect(placesWithFiles(loaded('copied').problems)).toEqual(['a.yaml:6:18 POOL_COPIED'])
    expect(loaded('copied').sets.size).toBe(0)
    expect(loaded('layered').problems).toEqual([])
  })

  it('say both numbers and the way out', () => {
    const [problem] = loadOne(`pools: [${pool('p', 'emails: [a@b.c, d@b.c, e@b.c]', ', min: 34')}]`).problems
    expect(problem).toMatchObject({
      message: 'pool "p" cannot pay its min: 3 members at 34 are 102 credits, it has 100',
      hint: 'write a min of 33 or less, or credits of 102 or more',
    })
  })
})
