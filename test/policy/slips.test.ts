// What is said of mistakes that YAML words in terms of its grammar, or reports at another line.
import { describe, expect, test } from 'vitest'
import { parseConfigText } from '../../src/daemon/config/file.ts'
import { parsePolicyText } from '../../src/policy/parse.ts'
import { places, policyText } from './support.ts'

const said = (spec: string): readonly string[] =>
  parsePolicyText('x.yaml', policyText(spec).replace(/^ {2}(?=[<=>]{7})/gm, '')).problems.map(
    ({ at, message, hint }) => `${at?.line}:${at?.column} ${message}; ${hint}`,
  )

const MERGE =
  'is a mark of a merge conflict that is not resolved; keep one of the two sides, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>'
const NO_TEMPLATE = 'this file is not a template: write the value itself, or fill the file in before capkeeper reads it'

describe('one sentence and place is told', () => {
  test.each<readonly [string, string, readonly string[]]>([
    [
      'of each mark of a merge conflict',
      'team:\n<<<<<<< HEAD\n  cap: 500\n=======\n  cap: 600\n>>>>>>> other\nusers: []',
      [`7:1 <<<<<<< ${MERGE}`, `9:1 ======= ${MERGE}`, `11:1 >>>>>>> ${MERGE}`],
    ],
    ['of a tab', 'team:\n\tcap: 500', ['7:3 the indentation has a tab (U+0009); indent with spaces']],
    [
      'of a no-break space before a key',
      'team: {cap: 500}\n\u00a0users: []',
      ['7:3 the indentation has a no-break space (U+00A0); indent with spaces'],
    ],
    [
      'of a no-break space after spaces',
      'team:\n  cap: 5\n \u00a0reason: r',
      ['8:4 the indentation has a no-break space (U+00A0); indent with spaces'],
    ],
    [
      'of a key one column to the left',
      'team:\n  cap: 5\n reason: r',
      ['8:4 "reason" is indented by 3 spaces, and nothing above it is; indent it by 4, as "cap" is, or by 2, as "team" is'],
    ],
    [
      'of a key one column to the right',
      'team:\n  cap: 5\n   reason: r',
      ['8:6 "reason" is indented by 5 spaces, and nothing above it is; indent it by 4, as "cap" is'],
    ],
    [
      'of a key in an item that is one column off',
      'users:\n- email: a@b.c\n   cap: 5',
      ['8:6 "cap" is indented by 5 spaces, and nothing above it is; indent it by 4, as "email" is'],
    ],
    ['of a placeholder in braces', `team: {cap: \${CAP}}`, [`6:15 \${CAP} is not filled in; ${NO_TEMPLATE}`]],
    ['of a line of a template', '{{- if .Values.x }}\nteam: {cap: 5}', [`6:3 {{- if .Values.x }} is not filled in; ${NO_TEMPLATE}`]],
  ])('%s', (_row, spec, expected) => expect(said(spec)).toEqual(expected))
})

describe('nothing is said', () => {
  test.each([
    ['of a tab within a text', 'team:\n  cap: 5\n  reason: |\n    a\n    \tb'],
    ['of a no-break space that begins a line of a text', 'team:\n  cap: 5\n  reason: |\n    a\n    \u00a0b'],
    ['of a placeholder within a text', `team: {cap: 5, reason: "for \${NAME}"}`],
  ])('%s', (_row, spec) => expect(said(spec)).toEqual([]))
})

describe('an address', () => {
  test.each([
    ['with curly quotes', '“ada@b.example”', '“ (U+201C) is in no mail address'],
    ['with a curly apostrophe', 'o’brien@b.example', '’ (U+2019) is in no mail address'],
    ['with straight quotes', '\'"ada"@b.example\'', '" (U+0022) is in no mail address'],
    ['with a zero-width space', '"ad\u200ba@b.example"', 'a zero-width space (U+200B) is in no mail address'],
    ['with a soft hyphen', '"ad\u00ada@b.example"', 'the invisible character U+00AD is in no mail address'],
    ['with a Cyrillic letter', '\u0430da@b.example', '\u0430 (U+0430) looks like a Latin letter and is none'],
    ['with a Greek letter in the domain', 'ada@b.ex\u03b1mple', '\u03b1 (U+03B1) looks like a Latin letter and is none'],
    ['with a name beside it', '"Ada <ada@b.example>"', 'a space (U+0020) is in no mail address'],
    ['with a comma', '"ada@b.example,"', ', (U+002C) is in no mail address'],
  ])('%s is an error wherever it stands, with the character', (_row, address, why) => {
    const hint = `${why}: type the address anew`
    const problems = (text: string) => parsePolicyText('x.yaml', policyText(text)).problems
    for (const spec of [
      `users: [{email: ${address}, cap: 5}]`,
      `protected: [${address}]`,
      `grants: [{user: ${address}, cap: 5, until: 2026-12-01, reason: r}]`,
      `pools: [{name: p, members: {emails: [${address}]}, credits: 5}]`,
    ])
      expect(problems(spec)).toMatchObject([{ code: 'EMAIL', hint }])
    expect(problems(`rules: [{name: r, when: {email: ${address}}, cap: 5}]`)).toMatchObject([{ code: 'EMAIL_PATTERN', hint }])
    const config = `apiVersion: capkeeper/v1\nkind: Config\nnotify: {email: {host: h, from: ${address}}}\nworkspaces: []`
    expect(parseConfigText('c.yaml', config).problems.filter(({ code }) => code === 'EMAIL')).toMatchObject([{ hint }])
  })

  test.each([
    "o'brien@b.example",
    'ada+tag@b.example',
    'jörg@b.example',
    'почта@пример.example',
    'ada@bücher.example',
    'a_b-c.d@b.example',
  ])('%s is one', (address) =>
    expect(places(parsePolicyText('x.yaml', policyText(`users: [{email: "${address}", cap: 5}]`)).problems)).toEqual([]),
  )
})

describe('of a time that looks nearly right', () => {
  test.each([
    ['2026-12-3', 'month and day need two digits: write 2026-12-03'],
    ['2026-1-3T18:00:00Z', 'month and day need two digits: write 2026-01-03T18:00:00Z'],
    ['2027-02-29', '2027 has no 29 February: that month has 28 days'],
    ['2028-02-30', '2028 has no 30 February: that month has 29 days'],
    ['2026-11-31T00:00:00Z', '2026 has no 31 November: that month has 30 days'],
    ['2026-13-01', 'there is no month 13; write year, month and day, such as 2026-12-15'],
    [
      '2026-12-15T18:00:00',
      'add Z or an offset, because the time zone of the instant is not said: 2026-12-15T18:00:00Z, or 2026-12-15T18:00:00+01:00',
    ],
    [
      '2026-12-15 18:00',
      'add Z or an offset, because the time zone of the instant is not said: 2026-12-15 18:00:00Z, or 2026-12-15 18:00:00+01:00',
    ],
    ['15.12.2026', 'write a date such as 2026-12-15, or an instant such as 2026-12-15T18:00:00Z, or cycleEnd'],
  ])('%s it is said what is wrong', (until, hint) => {
    const { problems } = parsePolicyText('x.yaml', policyText(`grants: [{team: true, cap: 5, until: ${until}, reason: r}]`))
    expect(problems).toMatchObject([{ code: 'TIME', hint }])
  })
})
