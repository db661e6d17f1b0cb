// Whatever is typed: an answer, or what is wrong in words; the exit codes of the documents and no others; never a stack. Command lines are
// made of the program's own words and of others, and run in a folder that is thrown away, against a port on which nobody listens.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hastyClock } from '../api/world.ts'
import { policyText } from '../policy/support.ts'
import { commandNames, flagsOf } from '../support/command-lines.ts'
import { letter, runs } from '../support/fuzz.ts'
import { type Ran, run } from './world.ts'

const KEY = 'sk-very-secret-key-0123456789'
/** They serve until they are stopped, or write; their flags are tried with `--help` and among those that are wrong. */
const SERVING = new Set(['run', 'sandbox'])
const EXIT = { done: 0, failed: 1, pending: 2, held: 3, partial: 4, usage: 64, input: 65 }
const CODES = Object.values(EXIT)

/** Every command with all that it knows by name. */
const COMMANDS = commandNames().map((name) => ({ words: name.split(' '), flags: flagsOf(name) }))
type Known = (typeof COMMANDS)[number]
const QUIET = COMMANDS.filter(({ words }) => !SERVING.has(words[0] ?? ''))

const home = process.cwd()
const folder = mkdtempSync(join(tmpdir(), 'capkeeper-cli-'))
beforeAll(() => {
  mkdirSync(join(folder, 'policies'))
  writeFileSync(join(folder, 'policies/a.yaml'), policyText('team: {cap: 500}'))
  writeFileSync(join(folder, 'broken.yaml'), 'spec: [')
  writeFileSync(
    join(folder, 'config.yaml'),
    'apiVersion: capkeeper/v1\nkind: Config\nworkspaces:\n- {name: acme, baseUrl: "http://127.0.0.1:1"}\n',
  )
  writeFileSync(join(folder, 'key'), `${KEY}\n`)
  process.chdir(folder)
})
afterAll(() => {
  process.chdir(home)
  rmSync(folder, { recursive: true, force: true })
})

const NOWHERE = 'http://127.0.0.1:1'
const VALUES = [
  ...['policies', 'broken.yaml', 'config.yaml', 'key', 'x.db', ':memory:', 'absent/file', 'policies/a.yaml', '.', '/dev/null', ''],
  ...[NOWHERE, 'localhost', 'ftp://x', 'http://', 'acme', 'team', 'group:g', 'group:', 'ada@example.com', 'ada@', 'g=G', '='],
  ...[
    '7d1f0c2a9b34',
    '4h',
    '8d',
    '-1',
    '0',
    '1e3',
    '99999999999999999999',
    '2026-11-01',
    '2026-02-30',
    'yesterday',
    'why',
    'json',
    'csv',
    'bash',
  ],
]
const ODD = [
  '--',
  '-',
  '---',
  '-x',
  '-h=1',
  '--help=no',
  '--=',
  '--no-such',
  '-V',
  '\u0000',
  '\ud800',
  '\u001b[2J',
  '--__proto__',
  '--key',
  '%s',
  '🦊',
]

const someFlag = (known: readonly Known[]) => fc.constantFrom(...new Set(known.flatMap(({ flags }) => flags)), '--yes', '--policies')
const word = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 4, arbitrary: someFlag(QUIET) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.tuple(someFlag(QUIET), fc.constantFrom(...VALUES, ...ODD)).map((pair) => pair.join('=')) },
)
/** A command with its own flags and values, and a few words from anywhere. */
const line = fc.constantFrom(...QUIET).chain((known) =>
  fc
    .array(fc.oneof({ weight: 2, arbitrary: fc.tuple(someFlag([known]), word) }, { weight: 1, arbitrary: fc.tuple(word) }), {
      maxLength: 6,
    })
    .map((more) => [...known.words, ...more.flat()]),
)
const ran = (argv: readonly string[]): Promise<Ran> =>
  run(argv, { env: { CAPKEEPER_SERVICE_KEY: KEY, CAPKEEPER_BASE_URL: NOWHERE }, clock: hastyClock() })

function expectWords({ code, stdout, stderr }: Ran): void {
  expect(CODES).toContain(code)
  expect(stdout + stderr).not.toMatch(
    /\n\s+at .*[:(]|\b(Type|Reference|Range|Syntax|Bug|Assertion)Error\b|Cannot read prop|is not a function|undefined is not/,
  )
  expect(stdout + stderr).not.toContain(KEY)
  if (code === EXIT.usage || code === EXIT.input || code === EXIT.failed) expect(stderr + stdout).not.toBe('')
}

describe('a command line of any kind', () => {
  test('ends with a code of the documents and words, never a stack', async () => {
    const seen = new Set<number>()
    await fc.assert(
      fc.asyncProperty(line, async (argv) => {
        const result = await ran(argv)
        seen.add(result.code)
        expectWords(result)
        if (/^error: (unknown|missing required|option|too many|required)/m.test(result.stderr)) expect(result.code).toBe(EXIT.usage)
      }),
      runs(150),
    )
    expect([...seen]).toEqual(expect.arrayContaining([EXIT.done, EXIT.failed, EXIT.usage, EXIT.input]))
  })

  test('with an unknown command is wrong usage', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(word, fc.string({ unit: letter, maxLength: 8 })), { maxLength: 4 }), async (words) => {
        const result = await ran(['no-such-command', ...words.filter((one) => !/^(-h|--help|-V|--version)$/.test(one))])
        expectWords(result)
        expect(result.code).toBe(EXIT.usage)
      }),
      runs(30),
    )
  })

  test.each(COMMANDS.map(({ words }) => [words.join(' '), words] as const))(
    '%s --help prints help, with any other words',
    async (_name, words) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...VALUES, '--no-such', '-x', '--yes'), { maxLength: 4 }), async (more) => {
          const result = await ran([...words, '--help', ...more])
          expect(result).toMatchObject({ code: EXIT.done, stderr: '' })
          expect(result.stdout).toMatch(/^Usage: capkeeper /)
        }),
        runs(3),
      )
    },
  )

  test.each(COMMANDS.map(({ words }) => [words.join(' '), words] as const))(
    '%s refuses unknown flags before it does anything',
    async (_name, words) => {
      for (const wrong of ['--no-such', '--no-such=1', '-x']) {
        const result = await ran([...words, wrong])
        expectWords(result)
        expect(result.code).toBe(EXIT.usage)
      }
    },
  )
})
