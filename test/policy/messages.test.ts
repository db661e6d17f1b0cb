// What somebody who makes a mistake in a policy or in the config is told: where, how long the caret is, and the code, for each kind of
// mistake. The table lies beside this file; it must not change when the code that finds the mistakes does, unless for the better.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Problem } from '../../src/core/model/problem.ts'
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

const KINDS: Readonly<Record<string, (lines: string) => readonly Problem[]>> = {
  policy: policyProblems,
  spec: (lines) => policyProblems(policyText(lines)),
  config: configProblems,
  top: (lines) => configProblems(`${CONFIG}${lines}\n`),
  acme: (lines) => configProblems(`${CONFIG}workspaces:\n- name: acme\n  ${lines.replaceAll('\n', '\n  ')}\n`),
}

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

describe.each(Object.entries(KINDS))('in a text of the kind %s', (kind, problemsOf) => {
  test.each(rows.filter((row) => row.kind === kind).map((row) => [row.name, row] as const))('%s', (_name, row) => {
    const problems = problemsOf(row.text).toSorted(compareProblems)
    expect(problems.map(told).join(', ')).toBe(row.told)
  })
})

test('none where a number is needed is answered with where none belongs, and never with none again', () => {
  const spec = 'grants: [{user: a@b.c, cap: none, until: 2027-01-01, reason: r}, {user: b@b.c, add: None, until: 2027-01-01, reason: r}]'
  const hints = policyProblems(policyText(spec)).map(({ hint }) => hint)
  const hint = 'a number is needed here: none is for the caps of the team, a group, a user or a rule'
  expect(hints).toEqual([hint, hint])
})
