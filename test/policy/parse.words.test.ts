// What the parser says, word for word, and what it gives back of documents that are wrong in part; where it says so is in parse.test.ts.
import { describe, expect, it } from 'vitest'
import { parsePolicyText } from '../../src/policy/parse.ts'
import { policyText } from './support.ts'

const said = (text: string): readonly string[] =>
  parsePolicyText('x.yaml', text).problems.map(({ message, hint }) => (hint === undefined ? message : `${message}; ${hint}`))
const document = (lines: Readonly<Record<string, string>>): string =>
  Object.entries({ apiVersion: 'capkeeper/v1', kind: 'CapPolicy', metadata: '{name: x}', spec: '{}', ...lines })
    .map(([key, value]) => (value === '-' ? '' : `${key}: ${value}\n`))
    .join('')

const WHAT_SPEC_HAS =
  'write below it what it has: workspace, timezone, onGroupConflict, team, groups, users, grants, rules, pools, protected, approvals'

describe('the head of a document', () => {
  it.each<readonly [string, Readonly<Record<string, string>>, readonly string[]]>([
    ['that is whole', {}, []],
    ['without apiVersion', { apiVersion: '-' }, ['the document has no apiVersion; write apiVersion: capkeeper/v1']],
    ['of another apiVersion', { apiVersion: 'v1' }, ['apiVersion is v1, not capkeeper/v1; write apiVersion: capkeeper/v1']],
    ['with a list for apiVersion', { apiVersion: '[a]' }, ['apiVersion is a list, not capkeeper/v1']],
    ['without kind', { kind: '-' }, ['the document has no kind; write kind: CapPolicy']],
    ['of another kind', { kind: 'Policy' }, ['kind is Policy, not CapPolicy; write kind: CapPolicy']],
    [
      'of the config',
      { kind: 'Config' },
      ['kind is Config, not CapPolicy; the config is given with --config and lies outside the policy folders'],
    ],
    ['without metadata', { metadata: '-' }, ['the document has no metadata; write metadata: …']],
    ['with a word for metadata', { metadata: 'x' }, ['metadata is x, not a mapping of keys; write it like {name: …}']],
    ['without a name', { metadata: '{}' }, ['metadata has no name; write name: …']],
    ['without a name, but with labels', { metadata: '{labels: {a: b}}' }, ['metadata has no name; write name: …']],
    [
      'with an unknown key in metadata',
      { metadata: '{name: x, owner: y}' },
      ['unknown key "owner" in metadata; known here: name, labels, annotations'],
    ],
    ['without spec', { spec: '-' }, ['the document has no spec; write spec: …']],
    ['with a word for spec', { spec: 'x' }, [`spec is x, not a mapping of keys; ${WHAT_SPEC_HAS}`]],
    ['with a key that nobody knows', { more: '1' }, ['unknown key "more" in the document; known here: apiVersion, kind, metadata, spec']],
    ['with labels that are text', { metadata: '{name: x, labels: {a: b, c: 5, d: }, annotations: {e: "f"}}' }, []],
    ['with no labels', { metadata: '{name: x, labels: , annotations: ~}' }, []],
    ['with a label that is a list', { metadata: '{name: x, labels: {a: [b]}}' }, ['metadata.labels.a is a list, not a text']],
    [
      'with an annotation that is a list',
      { metadata: '{name: x, annotations: {a: {}}}' },
      ['metadata.annotations.a is a mapping, not a text'],
    ],
    ['with labels that are a list', { metadata: '{name: x, labels: [a]}' }, ['metadata.labels is a list, not a mapping of keys']],
  ])('%s', (_name, lines, expected) => expect(said(document(lines))).toEqual(expected))
})

describe('a declaration', () => {
  it.each<readonly [string, string, readonly string[]]>([
    ['of a team without a cap', 'team: {reason: r}', ['spec.team has no cap; write cap: 500, or cap: none']],
    ['of a team that is empty', 'team:', ['spec.team is empty; write cap: 500 below it, or leave it out']],
    ['of a team that is null', 'team: ~', ['spec.team is empty; write cap: 500 below it, or leave it out']],
    ['of a user without a cap', 'users: [{email: a@b.c}]', ['spec.users[0] has no cap; write cap: 500, or cap: none']],
    ['of a user without an e-mail', 'users: [{cap: 5}]', ['spec.users[0] has no email; write email: …']],
    [
      'of a group without an id or a name',
      'groups: [{cap: 5}]',
      ['spec.groups[0] has no id; write id: …', 'spec.groups[0] has no name; write name: …'],
    ],
    [
      'of a group without a cap, whose other keys are wrong',
      'groups: [{id: g, name: G, allowZero: maybe, reason: ""}]',
      [
        'spec.groups[0].allowZero is maybe, not true or false; write true or false, without quotes',
        'spec.groups[0].reason is empty, not a text',
      ],
    ],
    [
      'with allowZero that is none',
      'team: {cap: 5, allowZero: 1}',
      ['spec.team.allowZero is 1, not true or false; write true or false, without quotes'],
    ],
    ['with a reason that is a list', 'team: {cap: 5, reason: [r]}', ['spec.team.reason is a list, not a text']],
    [
      'of a time zone that is none',
      'timezone: Mars',
      ['spec.timezone is "Mars", not a known time zone; write a name of the IANA database such as Europe/Berlin'],
    ],
    [
      'of an approval that is none',
      'approvals: [x]',
      ['spec.approvals[0] is x, not a hold id; a hold id has 32 hex digits, as `capkeeper plan` prints it'],
    ],
    [
      'of an approval that is longer',
      'approvals: [7d1f0c2a9b340]',
      ['spec.approvals[0] is 7d1f0c2a9b340, not a hold id; the whole id of 32 hex digits is needed, as `capkeeper plan` prints it'],
    ],
    [
      'of an approval with more before it',
      'approvals: [x7d1f0c2a9b34]',
      ['spec.approvals[0] is x7d1f0c2a9b34, not a hold id; a hold id has 32 hex digits, as `capkeeper plan` prints it'],
    ],
    ['of an approval that is a list', 'approvals: [[a]]', ['spec.approvals[0] is a list, not a hold id']],
    [
      'of a person who is only an address',
      'users: [a@b]',
      ['spec.users[0] is a@b, not a mapping of keys; write it like {email: a@b, cap: 500}'],
    ],
    ['of a grant that is a word', 'grants: [x]', ['spec.grants[0] is x, not a mapping of keys; write it like {until: …, reason: …}']],
    ['of a key that nobody knows', 'grant: []', ['unknown key "grant" in spec; did you mean "grants"?']],
    ['of a key in a rule that nobody knows', 'team: {cap: 5, reson: x}', ['unknown key "reson" in spec.team; did you mean "reason"?']],
    ['of a key in another case', 'team: {Cap: 5, cap: 5}', ['unknown key "Cap" in spec.team; did you mean "cap"?']],
    [
      'of a key with two letters swapped',
      'onGroupConflcit: min',
      ['unknown key "onGroupConflcit" in spec; did you mean "onGroupConflict"?'],
    ],
    ['of a key that is a mapping', 'team: {? {a: 1} : 5, cap: 5}', ['a key of spec.team is a mapping, not a word']],
    ['of a merge', 'team: {<<: {cap: 5}, cap: 5}', ['unknown key "<<" in spec.team; merge keys are not read: write the keys out']],
    ['of nothing', 'timezone:\nusers:\ngroups:\ngrants:\nprotected:\napprovals:', []],
  ])('%s', (_name, spec, expected) => expect(said(policyText(spec))).toEqual(expected))
})

describe('what is given back', () => {
  const parsed = (spec: string) => parsePolicyText('x.yaml', policyText(spec))
  const read = (spec: string) => {
    const [one, ...more] = parsed(spec).documents
    if (!one || more.length > 0) throw new Error('not one document')
    return one
  }

  it('of a document that says little: nothing that it does not say', () => {
    const one = read('team: {cap: 5}')
    expect([one.workspace, one.onGroupConflict]).toEqual([undefined, undefined])
    expect(parsed('team: {cap: 5}')).toMatchObject({ damaged: false, problems: [], source: { file: 'x.yaml' } })
    expect(one.rules[0]?.value).toEqual({ scope: { kind: 'team' }, cap: 5, at: { file: 'x.yaml', line: 6, column: 15 }, document: 'test' })
  })

  it('of a document that is wrong in part: the rest, and that it is not whole', () => {
    const one = read('team: {cap: x}\nusers: [{email: a@b.c, cap: 5}, {email: "", cap: 6}]\nonGroupConflict: avg')
    expect([one.whole, one.rules.map(({ value }) => value.cap), one.onGroupConflict]).toEqual([false, [5], undefined])
    expect(parsed('team: {cap: x}').damaged).toBe(false)
  })

  it('of entries that cannot be read: none', () => {
    const one = read('users: [{cap: 5}]\ngrants: [{cap: 5}]\nprotected: [me]\napprovals: [x]')
    expect([one.declared, one.rules, one.grants, one.protectedPeople, one.approvals]).toEqual([[], [], [], [], []])
  })

  it.each<readonly [string, string, readonly string[]]>([
    ['nothing, where everything can be read', 'team: {cap: 5}\ngroups: [{id: g, name: G}]\nusers: []', []],
    ['nothing, where a cap is wrong whose place is known', 'team: {cap: x}\nusers: [{email: a@b.c, cap: x}]', []],
    ['nothing, where it is known whom a rule and a pool are for', 'rules: [{when: {role: a}}]\npools: [{members: {emails: [a@b.c]}}]', []],
    ['caps, where the team is no mapping', 'team: x', ['caps']],
    ['caps, where a person cannot be read', 'users: [{email: a@b.c, cap: 5}, {cap: 5}]', ['caps']],
    ['groups and caps, where the id of a group cannot be read', 'groups: [{name: G}]', ['groups', 'caps']],
    ['caps, where the amount of a grant cannot be read', 'grants: [{team: true}]', ['caps']],
    ['caps, where it cannot be read whom a grant is for', 'grants: [{cap: 5}]', ['caps']],
    ['nothing, where it cannot be read whom a rule is for', 'rules: [{name: r, when: {role: a}}, {name: r, cap: 5}]', []],
    ['nothing, where it cannot be read whom a pool is for', 'pools: [{name: p, credits: 5}]', []],
    ['caps, where people are no list', 'users: x', ['caps']],
    ['groups and caps, where groups are no list', 'groups: x', ['groups', 'caps']],
    ['caps, where grants are no list', 'grants: x', ['caps']],
    ['nothing, where rules are no list', 'rules: {}', []],
    ['nothing, where pools are no list', 'pools: 5', []],
    ['anything, where nobody knows a key', 'gruops: []', ['groups', 'caps']],
    ['anything, where a key of the spec is no word', '[a]: b', ['groups', 'caps']],
    ['caps, where people stand twice', 'users: []\nusers: []', ['caps']],
    ['groups and caps, where groups stand twice', 'groups: []\ngroups: []', ['groups', 'caps']],
    ['groups and caps, where the id of a group stands twice', 'groups: [{id: g, id: h, name: G}]', ['groups', 'caps']],
    ['nothing, where the reason of a group stands twice', 'groups: [{id: g, name: G, reason: a, reason: b}]', []],
    ['nothing, where the alias of a cap leads nowhere', 'users: [{email: a@b.c, cap: *x}]', []],
    ['caps, where the alias of a person leads nowhere', 'users: [*x]', ['caps']],
  ])('what may be missing: %s', (_name, spec, parts) => {
    const { unread } = read(spec)
    expect([...unread]).toEqual(parts)
  })

  it('of groups: those with a cap, those without, and not those without an id or a name', () => {
    const one = read('groups:\n- {id: a, name: A, cap: 5}\n- {id: b, name: B}\n- {id: c, cap: 5}\n- {name: D}\n- {id: e, name: E, cap: x}')
    expect(one.groups.map(({ scope, name, at }) => [scope.id, name, at.line])).toEqual([
      ['a', 'A', 7],
      ['b', 'B', 8],
      ['e', 'E', 11],
    ])
    expect(one.declared.flatMap(({ value, isBare }) => (isBare && value.kind === 'group' ? [value.id] : []))).toEqual(['b'])
    expect(one.rules.map(({ value, at }) => [value.scope, at.column])).toEqual([[{ kind: 'group', id: 'a' }, 10]])
  })

  it('of a document without a name: an empty one, at its beginning', () => {
    const { documents } = parsePolicyText('x.yaml', document({ metadata: '{}', spec: '{team: {cap: 5}}' }))
    expect(documents).toMatchObject([
      { name: { value: '', at: { line: 1, column: 1 } }, whole: false, rules: [{ value: { document: '' } }] },
    ])
  })

  it.each([
    ['nothing without spec', document({ spec: '-' })],
    ['nothing of a list', '- a'],
    ['nothing of a text that is no YAML', 'a: ['],
  ])('%s, and the text is damaged', (_name, text) => {
    expect(parsePolicyText('x.yaml', text)).toMatchObject({ documents: [], damaged: true })
  })

  it('of a document with a tag: what can be read, with the problem, and the document is not whole', () => {
    const tagged = parsePolicyText('x.yaml', `${policyText('team: {cap: 5, reason: !x r}')}---\n${policyText('team: {cap: 5}', 'two')}`)
    expect([tagged.damaged, tagged.problems.map(({ code }) => code)]).toEqual([false, ['YAML_TAG']])
    expect(tagged.documents).toMatchObject([{ whole: false, problems: tagged.problems, unread: new Set() }, { whole: true }])
  })

  it('of nothing but a tag: its problem, and the text is damaged', () => {
    expect(parsePolicyText('x.yaml', '!x\n')).toMatchObject({ documents: [], damaged: true, problems: [{ code: 'YAML_TAG' }] })
  })

  it('of a document whose workspace is no text: everything else', () => {
    const { damaged, documents } = parsePolicyText('x.yaml', policyText('workspace: [a]\nteam: {cap: 5}'))
    expect(damaged).toBe(false)
    expect(documents).toMatchObject([{ whole: false, workspace: { value: undefined, at: { line: 6, column: 14 } }, rules: [{}] }])
  })

  it('of several documents: each that can be read, beside the damage', () => {
    const text = `${policyText('team: {cap: 5}', 'one')}---\n- a\n---\n${policyText('workspace: w', 'two')}`
    expect(parsePolicyText('x.yaml', text)).toMatchObject({
      damaged: true,
      documents: [{ name: { value: 'one' } }, { name: { value: 'two' } }],
    })
  })

  it('dates in UTC unless the document says otherwise', () => {
    const until = (zone: string) => read(`${zone}grants: [{team: true, cap: 5, until: 2026-12-15, reason: r}]`).grants[0]?.value?.until
    expect([until(''), until('timezone: ~\n'), until('timezone: Europe/Berlin\n')]).toEqual(
      [0, 0, -1].map((hours) => ({ kind: 'instant', at: Date.UTC(2026, 11, 16, hours) })),
    )
    expect(parsed('timezone: Mars\ngrants: [{team: true, cap: 5, until: 2026-12-15, reason: r}]').documents[0]?.grants).toHaveLength(1)
  })
})
