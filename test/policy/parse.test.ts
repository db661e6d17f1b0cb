import { describe, expect, it } from 'vitest'
import { type PolicyDocument, parsePolicyText } from '../../src/policy/parse.ts'
import { places, policyText } from './support.ts'

function parseOne(spec: string): PolicyDocument {
  const { documents, problems } = parsePolicyText('p.yaml', policyText(spec))
  expect(problems).toEqual([])
  const [document] = documents
  if (!document) throw new Error('no document')
  return document
}

const problemsOf = (spec: string) => parsePolicyText('p.yaml', policyText(spec)).problems
const grant = (lines: string): string => `grants:\n- user: a@b.c\n  ${lines.replaceAll('\n', '\n  ')}`
const UNTIL = 'until: 2027-01-31\nreason: r'

describe('a whole document', () => {
  const document = parsePolicyText(
    'policies/acme.yaml',
    `# yaml-language-server: $schema=./cap-policy.schema.json
apiVersion: capkeeper/v1
kind: CapPolicy
metadata:
  name: acme
  labels: {owner: platform, tier: 1, live: true}
  annotations:
spec:
  workspace: acme
  team:
    cap: 500
  groups:
    - id: grp_platform
      name: Platform
      cap: 1500
      reason: builds the build
  users:
    - email: " Ada@Example.com"
      cap: none
      reason: migration lead
  grants:
    - user: bob@example.com
      add: 800
      from: 2026-11-20
      until: 2026-12-15
      reason: release week
      ticket: 4711
  protected: [OnCall@example.com]
  approvals: [7d1f0c2a9b347d1f0c2a9b347d1f0c2a, 12345678901234567890123456789012, 1e100000000010000000001000000000, "0000000000000000000000000000000A"]
  onGroupConflict: max
`,
  )

  it('has no problems', () => expect(document.problems).toEqual([]))

  it('is read with the place of every declaration', () => {
    const file = 'policies/acme.yaml'
    expect(document.documents).toEqual([
      {
        file,
        name: { value: 'acme', at: { file, line: 5, column: 9 } },
        workspace: { value: 'acme', at: { file, line: 9, column: 14 } },
        rules: [
          {
            value: { scope: { kind: 'team' }, cap: 500, at: { file, line: 11, column: 10 }, document: 'acme' },
            at: { file, line: 10, column: 3 },
          },
          {
            value: {
              scope: { kind: 'group', id: 'grp_platform' },
              cap: 1500,
              reason: 'builds the build',
              at: { file, line: 15, column: 12 },
              document: 'acme',
            },
            at: { file, line: 13, column: 11 },
          },
          {
            value: {
              scope: { kind: 'user', email: 'ada@example.com' },
              cap: 'none',
              reason: 'migration lead',
              at: { file, line: 19, column: 12 },
              document: 'acme',
            },
            at: { file, line: 18, column: 14 },
          },
        ],
        declared: [
          { value: { kind: 'team' }, at: { file, line: 10, column: 3 }, isBare: false },
          { value: { kind: 'group', id: 'grp_platform' }, at: { file, line: 13, column: 11 }, isBare: false },
          { value: { kind: 'user', email: 'ada@example.com' }, at: { file, line: 18, column: 14 }, isBare: false },
        ],
        groups: [
          {
            scope: { kind: 'group', id: 'grp_platform' },
            name: 'Platform',
            at: { file, line: 13, column: 11 },
            nameAt: { file, line: 14, column: 13 },
          },
        ],
        grants: [
          {
            scope: { kind: 'user', email: 'bob@example.com' },
            amount: { value: { kind: 'add', credits: 800 }, at: { file, line: 23, column: 12 } },
            times: { fromAt: Date.UTC(2026, 10, 20), until: { kind: 'instant', at: Date.UTC(2026, 11, 16) } },
            value: {
              scope: { kind: 'user', email: 'bob@example.com' },
              amount: { kind: 'add', credits: 800 },
              fromAt: Date.UTC(2026, 10, 20),
              until: { kind: 'instant', at: Date.UTC(2026, 11, 16) },
              reason: 'release week',
              ticket: '4711',
              at: { file, line: 23, column: 12 },
              document: 'acme',
            },
            at: { file, line: 22, column: 13 },
          },
        ],
        protectedPeople: [{ scope: { kind: 'user', email: 'oncall@example.com' }, at: { file, line: 28, column: 15 } }],
        peopleRules: [],
        pools: [],
        problems: [],
        approvals: [
          { id: '7d1f0c2a9b347d1f0c2a9b347d1f0c2a', at: { file, line: 29, column: 15 } },
          { id: '12345678901234567890123456789012', at: { file, line: 29, column: 49 } },
          { id: '1e100000000010000000001000000000', at: { file, line: 29, column: 83 } },
          { id: '0000000000000000000000000000000a', at: { file, line: 29, column: 117 } },
        ],
        onGroupConflict: { value: 'max', at: { file, line: 30, column: 20 } },
        unread: new Set(),
        whole: true,
      },
    ])
  })
})

const NO_TEMPLATE = 'this file is not a template: write the value itself, or fill the file in before capkeeper reads it'

describe('caps', () => {
  it.each([
    ['a number', '500', 500],
    ['the largest', '2147483647', 2147483647],
    ['none', 'none', 'none'],
    ['none in quotes, which is the same text', '"none"', 'none'],
    ['a comment after it', '500 # each', 500],
  ])('are read from %s', (_name, cap, expected) => expect(parseOne(`team:\n  cap: ${cap}`).rules[0]?.value.cap).toBe(expected))

  it.each([
    ['an underscore', '1_000', 'write 1000'],
    ['a comma before three digits', '"12,500"', 'write 12500 if the "," separates thousands; if not, 12.500 is no whole number'],
    ['a point before three digits', '1.500', 'write 1500 if the "." separates thousands; if not, 1.500 is no whole number'],
    ['a point before three zeros', '12.000', 'write 12000 if the "." separates thousands, or 12 if it is a decimal point'],
    ['several points', '1.000.000', 'write 1000000'],
    ['several commas', '"1,000,000"', 'write 1000000'],
    ['a fraction below 1', '0.500', 'write a whole number: there are no fractions here'],
    ['a fraction with a comma', '"1,5"', 'write a whole number: there are no fractions here'],
    ['a placeholder', `\${TEAM_CAP}`, NO_TEMPLATE],
    ['a placeholder of Helm', '{{ .Values.cap }}', NO_TEMPLATE],
    ['a placeholder in quotes', '"{{ .Values.cap }}"', NO_TEMPLATE],
    ['an exponent', '1e3', 'write 1000'],
    ['hexadecimal', '0x10', 'write 16'],
    ['octal', '0o17', 'write 15'],
    ['a leading zero', '010', 'write 10'],
    ['a fraction of nothing', '500.0', 'write 500'],
    ['a fraction', '1.5', 'write a whole number: there are no fractions here'],
    ['a plus', '+5', 'write 5'],
    ['quotes', '"500"', 'write 500 without quotes'],
    ['single quotes', "'500'", 'write 500 without quotes'],
    ['a negative number', '-5', 'a cap is never negative: write 0 with allowZero: true, or none'],
    ['more than the largest', '2147483648', '2147483647 is the largest cap'],
    ['far more than the largest', '99999999999999999999', '2147483647 is the largest cap'],
    ['None', 'None', 'write none'],
    ['a boolean', 'true', 'write the credits per person, such as 500, or none'],
    ['a word', 'unlimited', 'write the credits per person, such as 500, or none'],
    ['infinity', '.inf', 'write the credits per person, such as 500, or none'],
    ['not a number', '.nan', 'write the credits per person, such as 500, or none'],
  ])('with %s are errors that say what to write', (_name, cap, hint) => {
    const problems = problemsOf(`team:\n  cap: ${cap}`)
    expect(places(problems)).toEqual(['7:10 CAP'])
    expect(problems[0]?.hint).toBe(hint)
    expect(problems[0]?.length).toBe(cap.length)
  })

  it.each([
    ['nothing', 'cap:', '7:5 CAP'],
    ['null', 'cap: null', '7:5 CAP'],
    ['a tilde', 'cap: ~', '7:5 CAP'],
    ['a list', 'cap: [500]', '7:10 CAP'],
    ['a mapping', 'cap: {of: 500}', '7:10 CAP'],
    ['no key', 'reason: why', '7:5 MISSING'],
  ])('that are %s are errors', (_name, line, expected) => expect(places(problemsOf(`team:\n  ${line}`))).toEqual([expected]))

  it.each([
    ['alone', 'cap: 0', ['7:10 CAP_ZERO']],
    ['with allowZero: false', 'cap: 0\n  allowZero: false', ['7:10 CAP_ZERO']],
    ['with allowZero: true', 'cap: 0\n  allowZero: true', []],
    ['with allowZero before it', 'allowZero: true\n  cap: 0', []],
    ['with a quoted allowZero', 'cap: 0\n  allowZero: "true"', ['8:16 NOT_BOOLEAN']],
    ['with allowZero: yes', 'cap: 0\n  allowZero: yes', ['8:16 NOT_BOOLEAN']],
    ['and none beside allowZero', 'cap: none\n  allowZero: true', []],
  ])('of 0 %s', (_name, lines, expected) => expect(places(problemsOf(`team:\n  ${lines}`))).toEqual(expected))
})

describe('amounts of grants', () => {
  it.each([
    ['a cap below 0', 'cap: -5', 'a cap is never negative: write 0 with allowZero: true'],
    ['a cap of 0', 'cap: 0', expect.stringMatching(/when 0 is meant, or leave the grant out$/)],
    ['a word', 'cap: much', 'write the credits per person, such as 500'],
    ['nothing', 'cap:', 'write the credits per person, such as 500'],
    ['less', 'add: -5', 'a grant only adds: write cap: and the cap while it lasts'],
    ['nothing to add', 'add: 0', 'leave the grant out'],
  ])('with %s get no hint of none, which a grant does not take', (_name, amount, hint) =>
    expect(problemsOf(`grants:\n- {user: a@b.c, until: 2026-12-01, reason: r}`.replace('until', `${amount}, until`))[0]?.hint).toEqual(
      hint,
    ),
  )
})

describe('groups, users and lists', () => {
  it.each([
    ['a group without a name', 'groups:\n- id: g\n  cap: 5', ['7:5 MISSING']],
    ['a group without an id', 'groups:\n- name: G\n  cap: 5', ['7:5 MISSING']],
    ['a group with an empty name', 'groups:\n- id: g\n  name: ""\n  cap: 5', ['8:11 NOT_TEXT']],
    ['a group with a boolean name', 'groups:\n- id: g\n  name: true\n  cap: 5', ['8:11 NOT_TEXT']],
    ['a group as a word', 'groups: [g]', ['6:12 NOT_A_MAPPING']],
    ['a user without an e-mail', 'users:\n- cap: 5', ['7:5 MISSING']],
    ['a user without a cap', 'users:\n- email: a@b.c', ['7:5 MISSING']],
    ['an e-mail without @', 'users:\n- email: ada\n  cap: 5', ['7:12 EMAIL']],
    ['an e-mail with a space', 'users:\n- email: a da@b.c\n  cap: 5', ['7:12 EMAIL']],
    ['an e-mail that reads as a scope', 'users:\n- email: group:a@b.c\n  cap: 5', ['7:12 EMAIL']],
    ['an empty item', 'users:\n-\n- email: a@b.c\n  cap: 5', ['7:4 MISSING']],
    ['a mapping where a list belongs', 'users: {email: a@b.c}', ['6:10 NOT_A_LIST']],
    ['a list where a mapping belongs', 'team: [cap]', ['6:9 NOT_A_MAPPING']],
    ['a team that is empty', 'team:', ['6:3 MISSING']],
    ['an empty reason', 'team:\n  cap: 5\n  reason: " "', ['8:13 NOT_TEXT']],
    ['a protected that is no e-mail', 'protected: [oncall]', ['6:15 EMAIL']],
    ['an approval with 31 digits', 'approvals: [7d1f0c2a9b347d1f0c2a9b347d1f0c2]', ['6:15 APPROVAL']],
    ['an approval that is not hex', 'approvals: [7d1f0c2a9b347d1f0c2a9b347d1f0c2g]', ['6:15 APPROVAL']],
    ['an unknown onGroupConflict', 'onGroupConflict: avg', ['6:20 UNKNOWN_VALUE']],
    ['a time zone that does not exist', 'timezone: Mars/Olympus', ['6:13 TIMEZONE']],
    ['an empty workspace', 'workspace:', ['6:3 NOT_TEXT']],
  ])('report %s', (_name, spec, expected) => expect(places(problemsOf(spec))).toEqual(expected))

  it('may be empty', () => {
    expect(parseOne('groups:\nusers: []\ngrants: ~\nprotected:\napprovals: null\ntimezone:').rules).toEqual([])
  })

  it('keep ids and names as written, numbers included', () => {
    expect(parseOne('groups: [{id: 007, name: 1e3, cap: 5}]').groups).toMatchObject([{ scope: { id: '007' }, name: '1e3' }])
  })

  it('know a group without a cap', () =>
    expect(parseOne('groups: [{id: g, name: G}]')).toMatchObject({ rules: [], groups: [{ name: 'G' }] }))
})

describe('unknown and repeated keys', () => {
  it.each([
    [
      'at the top',
      'apiVersion: capkeeper/v1\nkind: CapPolicy\nmeta: {}\nmetadata: {name: x}\nspec: {}\n',
      '3:1 UNKNOWN_KEY',
      /metadata|known here/,
    ],
    [
      'in metadata',
      'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: x, label: {}}\nspec: {}\n',
      '3:21 UNKNOWN_KEY',
      /"labels"/,
    ],
    ['in spec', policyText('user: []'), '6:3 UNKNOWN_KEY', /"users"/],
    ['in a rule', policyText('team: {cap: 5, reson: x}'), '6:18 UNKNOWN_KEY', /"reason"/],
    ['with another case', policyText('team: {Cap: 5, cap: 5}'), '6:10 UNKNOWN_KEY', /"cap"/],
    ['with two letters swapped', policyText('onGroupConflcit: min'), '6:3 UNKNOWN_KEY', /"onGroupConflict"/],
    ['as a merge', policyText('team: {<<: {cap: 5}, cap: 5}'), '6:10 UNKNOWN_KEY', /merge/],
    ['as a mapping', policyText('team: {? {a: 1} : 5, cap: 5}'), '6:12 UNKNOWN_KEY', /^$/],
  ])('are reported %s', (_name, text, expected, hint) => {
    const { problems } = parsePolicyText('p.yaml', text)
    expect(places(problems)).toEqual([expected])
    expect(problems[0]?.hint ?? '').toMatch(hint)
  })

  it('name both places of a repeated key', () => {
    const problems = problemsOf('team: {cap: 5}\nteam: {cap: 6}')
    expect(places(problems)).toEqual(['7:3 YAML_DUPLICATE_KEY'])
    expect(problems[0]?.other).toEqual({ file: 'p.yaml', line: 6, column: 3 })
  })
})

describe('what a document is', () => {
  const rest = 'metadata: {name: x}\nspec: {}\n'
  it.each([
    ['no apiVersion', `kind: CapPolicy\n${rest}`, ['1:1 KIND']],
    ['another apiVersion', `apiVersion: v1\nkind: CapPolicy\n${rest}`, ['1:13 KIND']],
    ['no kind', `apiVersion: capkeeper/v1\n${rest}`, ['1:1 KIND']],
    ['the kind of the config', `apiVersion: capkeeper/v1\nkind: Config\n${rest}`, ['2:7 KIND']],
    ['no metadata', 'apiVersion: capkeeper/v1\nkind: CapPolicy\nspec: {}\n', ['1:1 MISSING']],
    ['no name', 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {}\nspec: {}\n', ['3:11 MISSING']],
    ['no spec', 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: x}\n', ['1:1 MISSING']],
    ['an empty spec', 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: x}\nspec:\n', ['4:1 MISSING']],
    ['a list', '- a\n', ['1:1 NOT_A_MAPPING']],
    ['a word', 'hello\n', ['1:1 NOT_A_MAPPING']],
  ])('is an error with %s', (_name, text, expected) => expect(places(parsePolicyText('p.yaml', text).problems)).toEqual(expected))

  it.each([
    ['no spec', 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: x}\n', true],
    ['a workspace that is not a text', policyText('workspace: []'), false],
    ['a wrong cap', policyText('workspace: acme\nteam: {cap: x}'), false],
  ])('can be read in part or not at all, with %s', (_name, text, damaged) => {
    expect(parsePolicyText('p.yaml', text).damaged).toBe(damaged)
  })

  it('reports everything at once', () => {
    const problems = problemsOf('team: {cap: x}\nusers: [{email: a, cap: -1}, {mail: b@c.d, cap: 5}]\nprotected: [z]\ntimezone: nowhere')
    expect(places(problems).length).toBe(7)
  })
})

describe('grants', () => {
  it.each([
    ['for a user', 'user: A@b.c', { kind: 'user', email: 'a@b.c' }],
    ['for a group', 'group: g', { kind: 'group', id: 'g' }],
    ['for the team', 'team: true', { kind: 'team' }],
  ])('are read %s', (_name, line, scope) => {
    expect(parseOne(`grants:\n- ${line}\n  cap: 5\n  until: 2027-01-31\n  reason: r`).grants[0]?.value?.scope).toEqual(scope)
  })

  it.each([
    ['nobody', 'grants:\n- cap: 5\n  until: 2027-01-31\n  reason: r', ['7:5 GRANT_SCOPE']],
    ['two', 'grants:\n- user: a@b.c\n  team: true\n  cap: 5\n  until: 2027-01-31\n  reason: r', ['8:5 GRANT_SCOPE']],
    ['team: false', 'grants:\n- team: false\n  cap: 5\n  until: 2027-01-31\n  reason: r', ['7:11 GRANT_SCOPE']],
    ['team: yes', 'grants:\n- team: yes\n  cap: 5\n  until: 2027-01-31\n  reason: r', ['7:11 NOT_BOOLEAN']],
    ['neither cap nor add', grant(UNTIL), ['7:5 GRANT_AMOUNT']],
    ['both cap and add', grant(`cap: 5\nadd: 5\n${UNTIL}`), ['9:5 GRANT_AMOUNT']],
    ['cap: none', grant(`cap: none\n${UNTIL}`), ['8:10 CAP']],
    ['cap: 0', grant(`cap: 0\n${UNTIL}`), ['8:10 CAP_ZERO']],
    ['cap: 0 that is meant', grant(`cap: 0\nallowZero: true\n${UNTIL}`), []],
    ['add: 0', grant(`add: 0\n${UNTIL}`), ['8:10 CAP']],
    ['add: -5', grant(`add: -5\n${UNTIL}`), ['8:10 CAP']],
    ['no until', grant('cap: 5\nreason: r'), ['7:5 MISSING']],
    ['no reason', grant('cap: 5\nuntil: 2027-01-31'), ['7:5 MISSING']],
    ['an empty reason', grant('cap: 5\nuntil: 2027-01-31\nreason: ""'), ['10:13 NOT_TEXT']],
    ['a reason that is nothing', grant('cap: 5\nuntil: 2027-01-31\nreason:'), ['10:5 MISSING']],
    ['a day that does not exist', grant('cap: 5\nuntil: 2027-02-30\nreason: r'), ['9:12 TIME']],
    ['a time without a zone', grant('cap: 5\nuntil: 2027-01-31T10:00:00\nreason: r'), ['9:12 TIME']],
    ['cycleend', grant('cap: 5\nfrom: 2027-01-01\nuntil: cycleend\nreason: r'), ['10:12 TIME']],
    ['cycleEnd without from', grant('cap: 5\nuntil: cycleEnd\nreason: r'), ['9:12 GRANT_TIMES']],
    ['from: cycleEnd', grant('cap: 5\nfrom: cycleEnd\nuntil: 2027-01-31\nreason: r'), ['9:11 TIME']],
    ['an end before its start', grant('cap: 5\nfrom: 2027-02-01\nuntil: 2027-01-31\nreason: r'), ['10:12 GRANT_TIMES']],
    [
      'an end at its start',
      grant('cap: 5\nfrom: 2027-01-31T10:00:00Z\nuntil: 2027-01-31T11:00:00+01:00\nreason: r'),
      ['10:12 GRANT_TIMES'],
    ],
    ['one day', grant('cap: 5\nfrom: 2027-01-31\nuntil: 2027-01-31\nreason: r'), []],
    ['an unknown key', grant(`cap: 5\nuntill: 2027\n${UNTIL}`), ['9:5 UNKNOWN_KEY']],
  ])('with %s', (_name, spec, expected) => expect(places(problemsOf(spec))).toEqual(expected))

  it('take dates in the time zone of their document, through the end of the day, also over a change of clocks', () => {
    const spec = `timezone: Europe/Berlin\n${grant('cap: 5\nfrom: 2026-10-25\nuntil: 2026-10-25\nreason: r')}`
    expect(parseOne(spec).grants[0]?.value).toMatchObject({
      fromAt: Date.parse('2026-10-24T22:00:00Z'),
      until: { kind: 'instant', at: Date.parse('2026-10-25T23:00:00Z') },
    })
  })

  it('take quoted dates, instants and cycleEnd', () => {
    expect(parseOne(grant('cap: 5\nfrom: "2026-11-20"\nuntil: 2026-12-15T18:00:00+01:00\nreason: r')).grants[0]?.value).toMatchObject({
      fromAt: Date.UTC(2026, 10, 20),
      until: { kind: 'instant', at: Date.parse('2026-12-15T17:00:00Z') },
    })
    expect(parseOne(grant('cap: 5\nfrom: 2026-11-20\nuntil: cycleEnd\nreason: r')).grants[0]?.value?.until).toEqual({ kind: 'cycleEnd' })
  })
})
