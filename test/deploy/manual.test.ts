// What the program has, the documents name: every command and flag, metric, key of config and policy, and switch of the sandbox. The lists
// come from the program; what the documents have too much of is held in guide.test.ts and here.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CONFIG_KEYS } from '../../src/daemon/config/schema.ts'
import { COUNTERS, GAUGES, HISTOGRAMS } from '../../src/daemon/http/metrics-definitions.ts'
import { POLICY_KEYS } from '../../src/policy/schema.ts'
import { SETTINGS } from '../../src/sandbox/settings.ts'
import { SWITCHES } from '../../src/sandbox/switches.ts'
import { commandNames, flagsOf } from '../support/command-lines.ts'

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const README = read('README.md')
const sectionOf = (text: string, heading: string): string => text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
const rowsOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.startsWith('| '))
const quotes = (text: string, word: string): boolean => new RegExp(`[\` ]${word}(?![\\w-])`).test(text)

describe('the README', () => {
  const commands = rowsOf(sectionOf(README, 'Commands'))
  const shared = rowsOf(sectionOf(README, 'Configuration')).join('\n')

  test.each(commandNames().filter((name) => name !== 'ledger'))('has a row for %s, with its flags', (name) => {
    const row = commands.find((line) => quotes(line.split(' | ')[0] ?? '', name)) ?? ''
    expect(row).not.toBe('')
    const named = name === 'sandbox' ? read('docs/sandbox.md') : row + shared
    expect(flagsOf(name).filter((flag) => !quotes(named, flag))).toEqual([])
  })

  test('names every key of the config, with its form', () => {
    const text =
      sectionOf(README, 'First steps on a real service') +
      sectionOf(README, 'Configuration') +
      sectionOf(README, 'Guards, and how to approve')
    expect([...new Set(Object.values(CONFIG_KEYS).flat())].filter((key) => !new RegExp(`[\`\\s{]${key}[:\`]`).test(text))).toEqual([])
  })

  test('with the example policies, which it leads to, names every key of a policy', () => {
    const text = sectionOf(README, 'Policies') + read('policies/acme.yaml') + read('policies/temporary.yaml')
    const isNamed = (key: string): boolean => new RegExp(`[\\s{(#]${key}:| ${key} are for you`).test(text)
    expect([...new Set(Object.values(POLICY_KEYS).flat())].filter((key) => !isNamed(key))).toEqual([])
  })
})

test('deploy/README.md lists the metrics of the daemon, all of them and no other', () => {
  const named = rowsOf(sectionOf(read('deploy/README.md'), 'Metrics')).flatMap((row) => row.match(/capkeeper_\w+/g) ?? [])
  expect(named.toSorted()).toEqual(Object.keys({ ...GAUGES, ...COUNTERS, ...HISTOGRAMS }).toSorted())
})

test('the README names no metric that the daemon does not have', () => {
  const metrics = Object.keys({ ...GAUGES, ...COUNTERS, ...HISTOGRAMS })
  expect((README.match(/`capkeeper_\w+`/g) ?? []).filter((name) => !metrics.includes(name.slice(1, -1)))).toEqual([])
})

describe('docs/sandbox.md', () => {
  const rows = rowsOf(read('docs/sandbox.md')).map((row) => row.split(' | '))
  const valuesOf = (flag: string): readonly string[] | undefined => rows.find(([name]) => name === `| \`${flag}\``)?.[1]?.split(' · ')
  const tables = [...SETTINGS, ...Object.values(SWITCHES)]

  test('names every flag, and no other', () => {
    expect(rows.flatMap(([name = '']) => /--[\w-]+/.exec(name) ?? []).toSorted()).toEqual([...flagsOf('sandbox')].toSorted())
  })

  test.each(tables.map(({ flag, values, default: byDefault }) => [flag, values, byDefault] as const))(
    'has the values of %s, the default first',
    (flag, values, byDefault) => {
      const words = values.split(' | ')
      expect(valuesOf(flag)).toEqual(words.includes(byDefault) ? words : [byDefault, ...words])
    },
  )
})
