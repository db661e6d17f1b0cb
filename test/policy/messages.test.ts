// What somebody who makes a mistake in a policy or in the config is told: where, how long the caret is, and the code, for each kind of
// mistake. The table lies beside this file; it must not change when the code that finds the mistakes does, unless for the better.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { CONFIG_SCHEMA, POLICY_SCHEMA } from '../../src/cli/schema.ts'
import { hasErrors, type Problem } from '../../src/core/model/problem.ts'
import { parseConfigText } from '../../src/daemon/config/file.ts'
import { joinDocuments } from '../../src/policy/join.ts'
import { parsePolicyText } from '../../src/policy/parse.ts'
import { compareProblems } from '../../src/policy/yaml.ts'
import { policyText } from './support.ts'

const CONFIG = 'apiVersion: capkeeper/v1\nkind: Config\n'

function policyProblems(text: string): readonly Problem[] {
  const { source, documents, problems, damaged } = parsePolicyText('f.yaml', text)
  return [
    ...problems,
    ...joinDocuments({ workspace: 'w', documents, sources: new Map([['f.yaml', source]]), incomplete: damaged }).problems,
  ]
}

const configProblems = (text: string): readonly Problem[] => parseConfigText('f.yaml', text).problems

/** The whole text of each kind. */
const KINDS: Readonly<Record<string, (lines: string) => string>> = {
  policy: (text) => text,
  spec: policyText,
  config: (text) => text,
  top: (lines) => `${CONFIG}${lines}\n`,
  acme: (lines) => `${CONFIG}workspaces:\n- name: acme\n  ${lines.replaceAll('\n', '\n  ')}\n`,
}
const isOfPolicy = (kind: string): boolean => kind === 'policy' || kind === 'spec'

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true })
const [isPolicy, isConfig] = [ajv.compile(POLICY_SCHEMA), ajv.compile(CONFIG_SCHEMA)]

/** What no schema sees: how a value is written, zones, a calendar, and two values beside each other. */
const UNSEEN_CODES = /^(YAML_.*|TIMEZONE|GRANT_TIMES|DUPLICATE_NAME)$/
const UNSEEN_NAMES = [
  ...['with a fraction', 'with an exponent', 'in hexadecimal', 'in octal', 'with a sign'].map((how) => `a cap that is ${how}`),
  ...['a leave for zero that is True', 'an empty config', 'a price with an exponent', 'a start above max', 'a start above the default max'],
]

interface Row {
  readonly kind: string
  readonly name: string
  readonly text: string
  readonly told: string
}

const table = readFileSync(join(import.meta.dirname, 'messages.txt'), 'utf8')

const rows: readonly Row[] = table
  .split('\n# ')
  .slice(1)
  .map((entry) => {
    const [heading = '', ...lines] = entry.trimEnd().split('\n')
    const [kind = '', name = ''] = heading.split(/: (.*)/)
    const marked = (mark: string): readonly string[] => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(2))
    return { kind, name, text: marked('>').join('\n'), told: marked('=').join('') }
  })

const told = ({ at, length, code }: Problem): string => `${at?.line}:${at?.column}+${length} ${code}`

test('the table is long, and has each mistake once', () => {
  expect(rows.length).toBeGreaterThan(200)
  expect(new Set(rows.map(({ kind, text }) => `${kind}: ${text}`)).size).toBe(rows.length)
})

describe.each(Object.entries(KINDS))('in a text of the kind %s', (kind, textOf) => {
  const own = rows.filter((row) => row.kind === kind).map((row) => [row.name, row] as const)
  test.each(own)('%s', (_name, row) => {
    const problems = (isOfPolicy(kind) ? policyProblems : configProblems)(textOf(row.text))
    expect(problems.toSorted(compareProblems).map(told).join(', ')).toBe(row.told)
  })

  test.each(own.filter(([name]) => !UNSEEN_NAMES.includes(name)))('%s: the published schema says so too', (_name, row) => {
    const text = textOf(row.text)
    const { problems } = isOfPolicy(kind) ? parsePolicyText('f.yaml', text) : parseConfigText('f.yaml', text)
    if (problems.some(({ code }) => UNSEEN_CODES.test(code))) return
    const values = parseAllDocuments(text).map((document) => document.toJS())
    expect(values.every((value) => (isOfPolicy(kind) ? isPolicy : isConfig)(value))).toBe(!hasErrors(problems))
  })
})

test('none where a number is needed is answered with where none belongs, and never with none again', () => {
  const spec = 'grants: [{user: a@b.c, cap: none, until: 2027-01-01, reason: r}, {user: b@b.c, add: None, until: 2027-01-01, reason: r}]'
  const hints = policyProblems(policyText(spec)).map(({ hint }) => hint)
  const hint = 'a number is needed here: none is for the caps of the team, a group, a user or a rule'
  expect(hints).toEqual([hint, hint])
})
