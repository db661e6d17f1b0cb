// What the program has, the documents name: every command and flag, metric, key of config and policy, and switch of the sandbox. The lists
// come from the program; what the documents have too much of is held in guide.test.ts and here.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COUNTERS, GAUGES, HISTOGRAMS } from '../../src/daemon/http/metrics/gauges.ts'
import { commandNames, flagsOf, presetsOf } from '../support/command-lines.ts'
import { SETTINGS } from '../support/declare.ts'
import { sourceFiles } from '../support/house.ts'
import { CONFIG_KEYS, POLICY_KEYS } from '../support/schema-keys.ts'
import { DOCUMENTS } from './documents.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const README = read('README.md')
const sectionOf = (text: string, heading: string): string => text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
const rowsOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.startsWith('| '))
const quotes = (text: string, word: string): boolean => new RegExp(`[\` ]${word}(?![\\w-])`).test(text)

const METRICS = { ...GAUGES, ...COUNTERS, ...HISTOGRAMS }
const TOP_COMMANDS = commandNames().filter((name) => !name.includes(' '))

describe('the README', () => {
  const commands = rowsOf(sectionOf(README, 'Commands'))

  test.each(TOP_COMMANDS)('has a row for %s', (name) => {
    expect(commands.filter((line) => quotes(line.split(' | ')[0] ?? '', name))).toHaveLength(1)
  })

  test('leads to every page', () => {
    const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
    expect(pages.filter((name) => !README.includes(`](docs/${name})`))).toEqual([])
  })

  test.each([
    ['README.md', 200],
    ['ARCHITECTURE.md', 250],
  ])('is short: %s has at most %i lines', (path, most) => {
    expect(read(path).trimEnd().split('\n').length).toBeLessThanOrEqual(most)
  })
})

describe('docs/commands.md', () => {
  const manual = read('docs/commands.md')
  const shared = rowsOf(sectionOf(manual, 'Shared flags')).map((row) => row.split(' | '))
  const sharedBy = (name: string): string => shared.flatMap(([flags = '', by = '']) => (by.includes(`\`${name}\``) ? [flags] : [])).join()
  const chapterOf = (name: string): string => sectionOf(manual.replaceAll('\n### ', '\n## '), name)

  test.each(commandNames())('has a chapter on %s, with its flags', (name) => {
    const chapter = chapterOf(name)
    expect(chapter).not.toBe('')
    const named = name === 'sandbox' ? read('docs/sandbox.md') : rowsOf(chapter).join('\n') + sharedBy(name)
    expect(flagsOf(name).filter((flag) => !quotes(named, flag))).toEqual([])
  })

  test.each(commandNames().filter((name) => name !== 'sandbox'))('gives %s no flag that it does not take', (name) => {
    const first = rowsOf(chapterOf(name)).map((row) => row.split(' | ')[0] ?? '')
    const named = [...first, sharedBy(name)].flatMap((text) => text.match(/--[\w-]+/g) ?? [])
    expect(named.filter((flag) => !flagsOf(name).includes(flag))).toEqual([])
  })
})

test('docs/configuration.md and the chapter on guards show every key of the config, with its form', () => {
  const text = read('docs/configuration.md') + sectionOf(read('docs/guards-and-approvals.md'), 'The guards')
  const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, body = '']) => body).join('')
  expect([...new Set(Object.values(CONFIG_KEYS).flat())].filter((key) => !new RegExp(`[\\s{]${key}:`).test(blocks))).toEqual([])
})

test('docs/configuration.md has a row for every key of the config and of a workspace', () => {
  const rows = rowsOf(read('docs/configuration.md')).map((row) => row.split(' | ')[0] ?? '')
  const keys = [...CONFIG_KEYS.document, ...CONFIG_KEYS.workspace, ...CONFIG_KEYS.keys].filter(
    (key) => key !== 'apiVersion' && key !== 'kind',
  )
  expect(keys.filter((key) => !rows.some((row) => new RegExp(`\`${key}[\`.]`).test(row)))).toEqual([])
})

test('docs/policies.md shows every key of a policy', () => {
  const text = read('docs/policies.md')
  expect([...new Set(Object.values(POLICY_KEYS).flat())].filter((key) => !new RegExp(`[\\s{(#]${key}:`).test(text))).toEqual([])
})

test('docs/guards-and-approvals.md has a row for every guard, and no other', () => {
  const rows = rowsOf(sectionOf(read('docs/guards-and-approvals.md'), 'The guards'))
  const named = rows.flatMap((row) => /^\| `(\w+)`/.exec(row)?.[1] ?? [])
  expect(named).toEqual(Object.keys(SETTINGS.guards))
})

describe('docs/codes.md', () => {
  const codes = read('docs/codes.md')
  const inSources = (pattern: RegExp): readonly string[] =>
    sourceFiles(ROOT)
      .filter(({ path }) => path.startsWith('src/'))
      .flatMap(({ text }) => [...text.matchAll(pattern)].map(([, code = '']) => code))

  const [, list = ''] = read('src/core/model/problem.ts').split('const PROBLEM_CODES = [')
  const inList = [...list.matchAll(/'([A-Z_]+)'/g)].map(([, code = '']) => code)

  test.each([
    ['policies and config', inList],
    ['the ledger', inSources(/'(LEDGER_[A-Z_]+)'/g)],
    ['the sources', inSources(/\b(?:code: |new ApiError\(|new CommandError\()'([A-Z]+_[A-Z_]+)'/g)],
  ])('names every code of %s', (_what, known) => {
    expect(known.length).toBeGreaterThan(5)
    expect([...new Set(known)].filter((code) => !codes.includes(`\`${code}\``))).toEqual([])
  })
})

test('docs/metrics.md has a row for every metric with its type, labels and help, and no other', () => {
  const rowsFor = (type: string, metrics: Readonly<Record<string, { readonly help: string; readonly labels: readonly string[] }>>) =>
    Object.entries(metrics).map(([name, { labels, help }]) => `| \`${name}\` | ${type} | ${labels.join(', ') || '–'} | ${help} |`)
  const rows = rowsOf(read('docs/metrics.md')).filter((row) => row.startsWith('| `capkeeper_'))
  expect(rows.toSorted()).toEqual(
    [...rowsFor('gauge', GAUGES), ...rowsFor('counter', COUNTERS), ...rowsFor('histogram', HISTOGRAMS)].toSorted(),
  )
})

test.each(DOCUMENTS)('%s names no metric that the daemon does not have', (path) => {
  expect((read(path).match(/`capkeeper_\w+`/g) ?? []).filter((name) => !(name.slice(1, -1) in METRICS))).toEqual([])
})

describe('docs/sandbox.md', () => {
  const rows = rowsOf(read('docs/sandbox.md')).map((row) => row.split(' | '))
  const valuesOf = (flag: string): readonly string[] | undefined => rows.find(([name]) => name === `| \`${flag}\``)?.[1]?.split(' · ')

  test('names every flag, and no other', () => {
    expect(rows.flatMap(([name = '']) => /--[\w-]+/.exec(name) ?? []).toSorted()).toEqual([...flagsOf('sandbox')].toSorted())
  })

  const presets = presetsOf('sandbox')

  test.each(presets)('has the values of %s, the default first', (flag, words, byDefault) => {
    expect(valuesOf(flag)).toEqual(words.includes(byDefault) ? words : [byDefault, ...words])
  })

  test('has them of every flag with a default in words', () => expect(presets.length).toBe(24))
})
