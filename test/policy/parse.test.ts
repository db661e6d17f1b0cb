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
  approvals: [7d1f0c2a9b347d1f0c2a9b347d1f0c2a, 12345678901234567890123456789012, 1e100000000010000000001000000000, " 0000000000000000000000000000000A "]
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
    ['a 0 that is allowed', '0\n  allowZero: true', 0],
    ['none, whatever allowZero says', 'none\n  allowZero: true', 'none'],
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
  it('may be empty', () => {
    expect(parseOne('groups:\nusers: []\ngrants: ~\nprotected:\napprovals: null\ntimezone:').rules).toEqual([])
  })

  it('keep ids and names as written, numbers included', () => {
    expect(parseOne('groups: [{id: 007, name: 1e3, cap: 5}]').groups).toMatchObject([{ scope: { id: '007' }, name: '1e3' }])
  })

  it('know a group without a cap', () =>
    expect(parseOne('groups: [{id: g, name: G}]')).toMatchObject({ rules: [], groups: [{ name: 'G' }] }))
})

describe('what a document is', () => {
  it.each([
    ['no spec', 'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: x}\n', true],
    ['a workspace that is not a text', policyText('workspace: []'), false],
    ['a wrong cap', policyText('workspace: acme\nteam: {cap: x}'), false],
  ])('can be read in part or not at all, with %s', (_name, text, damaged) => {
    expect(parsePolicyText('p.yaml', text).damaged).toBe(damaged)
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
