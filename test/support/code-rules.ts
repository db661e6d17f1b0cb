// The house rules about the content of files: no effects in the core, time and chance only in their files, names of the wire format only in
// their folders, and a few conventions that the linter does not know.
import { posix } from 'node:path'
import { isIn, places, type Rule, type SourceFile, type Sources } from './house.ts'
import type { Token } from './tokens.ts'

const MOST_LINES = 400
const MOST_FILES = 18

const EFFECTS =
  'async,await,Promise,Date,Math . random,process,globalThis,console,fetch,performance,crypto,setTimeout,setInterval,setImmediate,queueMicrotask'
const REAL_TIME = 'Date . now,Date ( ),new Date ;,Math . random,setTimeout,setInterval,performance .,process . hrtime,AbortSignal . timeout'
const TIME_AND_CHANCE = `${REAL_TIME},setImmediate,randomUUID,randomBytes,randomInt,getRandomValues`
const CLOCK_MODULES = /^(node:)?(timers|timers\/promises|perf_hooks)$/

const CLOCK_HOME = 'src/daemon/schedule/system.ts'
/** Code that runs in a browser has no ports. */
const BROWSER = 'src/console/browser/'

/** Where tests may read the real clock. */
const SCENES = [
  'test/scenes/scenes.test.ts',
  'test/deploy/renderings.test.ts',
  'test/policy/messages.test.ts',
  'test/api/answers.test.ts',
  'test/mutation/collect.ts',
]
const REAL_TIME_TESTS = ['test/adversary/', 'test/replicas/', 'test/e2e/', 'test/bench/', 'test/support/real-clock.ts']

/** Names that only the wire format has; none contains a word of ours. docs/service.md and the spellings of live deployments. */
const WIRE_NAMES = new RegExp(
  `^(?:${[
    '(set_|clear_)?add_on_credit_cap|addOnCreditCap|addOnCredits(Available|Used)|promptCredits(Used|PerSeat)|promptsUsed|numSeats',
    'service_key|team_level|group_id|group_name|user_email|userTableStats|billingCycle(Start|End)|teamStatus|disable(Service|Codeium)',
    'lastUpdateTime|signupTime|last(Autocomplete|Chat|Command)UsageTime|query_requests|queryResults|responseItems',
    '(start|end)_timestamp|ide_types|data_source|aggregation_function|cascade(Lines|Runs|ToolUsage)|cascade_(lines|runs|tool_usage)',
    'lines(Suggested|Accepted)|messagesSent|cascadeId|USER_TEAM_STATUS_\\w+|QUERY_(DATA_SOURCE|AGGREGATION|FILTER)_\\w+|\\w*codeium\\w*',
  ].join('|')})$`,
)

const inSource = (file: SourceFile): boolean => file.path.startsWith('src/')

const at = (file: SourceFile, token: Token): string => `${file.path}:${token.line} has ${token.text}`

/** Offences in each file that `where` selects. */
const each =
  (where: (file: SourceFile) => boolean, offences: (file: SourceFile) => readonly string[]) =>
  (files: readonly SourceFile[]): readonly string[] =>
    files.filter(where).flatMap(offences)

const runs =
  (list: string) =>
  (file: SourceFile): readonly string[] =>
    list.split(',').flatMap((run) => places(file, run))

const clockImports = (file: SourceFile): readonly string[] =>
  file.imports.filter((one) => CLOCK_MODULES.test(one.specifier ?? '')).map((one) => `${file.path}:${one.line} imports ${one.specifier}`)

const ownClock =
  (list: string) =>
  (file: SourceFile): readonly string[] => [...runs(list)(file), ...clockImports(file)]

/** A word, a key in quotes, or a member by name in brackets; a mention in prose is no use. */
const wireNames = (file: SourceFile): readonly string[] =>
  file.code.filter(({ kind, text }) => WIRE_NAMES.test(kind === 'string' ? text.slice(1, -1) : text)).map((token) => at(file, token))

const VALUES = new Set(['const', 'let', 'var', 'function', 'class', 'enum', 'default', 'await', 'new', 'return'])

const values = (file: SourceFile): readonly string[] => [
  ...file.code.filter((token) => VALUES.has(token.text)).map((token) => at(file, token)),
  ...file.imports.filter((one) => !one.typeOnly).map((one) => `${file.path}:${one.line} loads ${one.specifier}`),
]

const SUPPRESSION =
  /biome-ignore.*(noExcessiveLinesPerFunction|noExplicitAny|noDefaultExport|noEnum|noNonNullAssertion|noConsole)|@ts-(ignore|nocheck|expect-error)/

const lineCount = (text: string): number => text.replace(/\n$/, '').split('\n').length

function crowded(files: readonly SourceFile[]): readonly string[] {
  const folders = Map.groupBy(files.filter(inSource), ({ path }) => posix.dirname(path))
  return [...folders].flatMap(([folder, all]) => (all.length > MOST_FILES ? [`${folder} holds ${all.length} files`] : []))
}

/** One folder with so many files. */
const folderOf = (count: number): Sources => Object.fromEntries(Array.from({ length: count }, (_, at) => [`src/core/plan/x${at}.ts`, '']))

/** What reads a path, beside `node:fs` of which `statSync` and its like open nothing. */
const READERS = /^(open|openSync|readFile|readFileSync|createReadStream|openAsBlob|promises)$/

/** `files.ts` reads what comes from outside; the others open what they write themselves, the manifest of this program, and /proc. */
const OPENERS = [
  'src/files.ts',
  'src/cli/shared/reader.ts',
  'src/cli/shared/text.ts',
  'src/daemon/http/connections.ts',
  'src/daemon/ledger/sqlite/file.ts',
  'src/daemon/ledger/sqlite/database.ts',
  'src/policy/edit/write.ts',
]

const readers = (file: SourceFile): readonly string[] =>
  file.imports
    .filter(({ specifier = '' }) => /^(node:)?fs(\/promises)?$/.test(specifier))
    .flatMap((one) =>
      one.specifier?.endsWith('/promises') || one.names.some(({ name }) => name === '*' || name === 'default' || READERS.test(name))
        ? [`${file.path}:${one.line} may open a path by ${one.specifier}`]
        : [],
    )

/** What waits for the disk on the thread that asks. */
const looks = (file: SourceFile): readonly string[] =>
  file.imports
    .filter(({ specifier = '' }) => /^(node:)?fs$/.test(specifier))
    .flatMap(({ names, line }) => (names.some(({ name }) => name.endsWith('Sync')) ? [`${file.path}:${line} may wait for the disk`] : []))

/** All files with a step on the way to a write of a cap: from the commands that write to the operation of the service. */
const WRITERS = {
  connectWriter: ['src/cli/apply/run.ts', 'src/cli/run/host.ts', 'src/cli/compose.ts'],
  createWriteClient: ['src/cli/compose.ts', 'src/api/client.ts'],
  WriteClient: ['src/ports.ts', 'src/api/client.ts', 'src/daemon/workspace.ts', 'src/daemon/cycle/write/writes.ts'],
  writeCap: ['src/ports.ts', 'src/api/client.ts', 'src/daemon/cycle/write/writes.ts'],
  // `doctor` asks with it for a person who cannot exist, and without a cap.
  "operation : 'UsageConfig'": ['src/api/client.ts', 'src/api/probe.ts'],
}

export const CODE_RULES: readonly Rule[] = [
  {
    rule: 'only files.ts opens paths for reading',
    offences: each((file) => inSource(file) && !OPENERS.includes(file.path), readers),
    breaks: [
      "import { readFileSync } from 'node:fs'",
      "import { openSync } from 'fs'",
      "import fs from 'node:fs'",
      "import * as fs from 'node:fs'",
      "import { readFile } from 'node:fs/promises'",
    ].map((source) => ({ 'src/cli/x.ts': source })),
    keeps: { 'src/cli/x.ts': "import { statSync } from 'node:fs'", 'src/files.ts': "import { openSync } from 'node:fs'" },
  },
  {
    rule: 'only steps.ts looks at the disk for what loads policies and their commits',
    offences: each((file) => isIn(file.path, ['src/policy/load/']) && !file.path.endsWith('/steps.ts'), looks),
    breaks: [{ 'src/policy/load/git.ts': "import { statSync } from 'node:fs'" }],
    keeps: {
      'src/policy/load/watch.ts': "import { watch } from 'node:fs'",
      'src/policy/load/steps.ts': "import { statSync } from 'node:fs'",
    },
  },
  {
    rule: 'core is pure: plain data in, plain data out',
    offences: each((file) => isIn(file.path, ['src/core/']), runs(EFFECTS)),
    breaks: [
      'export const a = async () => 1',
      'export const a = (b: Promise<void>) => b',
      'export const a = () => new Date(0)',
      'export const a = Math.random()',
      "export const a = process.env['A']",
      'export const a = () => setTimeout(b, 1)',
      `export const a = \`\${console.log(1)}\``,
    ].map((source) => ({ 'src/core/x.ts': source })),
    keeps: {
      'src/core/x.ts': "// Date.now() and async\nexport const a = 'await Date' + Math.max(1)",
      'src/daemon/x.ts': 'export const a = async () => 1',
    },
  },
  {
    rule: 'time and chance come from ports',
    offences: each((file) => inSource(file) && !isIn(file.path, [CLOCK_HOME, BROWSER]), ownClock(TIME_AND_CHANCE)),
    breaks: [
      'export const a = Date.now()',
      'export const a = new Date()',
      'export const a = Date()',
      'export const a = Math.random',
      'setTimeout(a, 1)',
      'globalThis.setInterval(a, 1)',
      'setImmediate(a)',
      'export const a = performance.now()',
      'export const a = process.hrtime.bigint()',
      'export const a = AbortSignal.timeout(5)',
      "import { randomUUID } from 'node:crypto'",
      "import { setTimeout as sleep } from 'node:timers/promises'",
    ].map((source) => ({ 'src/daemon/x.ts': source })),
    keeps: {
      'src/daemon/x.ts': 'export const a = new Date(ms).toISOString() + Date.parse(b) // Date.now()',
      'src/daemon/schedule/system.ts': 'export const now = () => Date.now()',
    },
  },
  {
    rule: 'ports.ts holds types only',
    offences: each((file) => file.path === 'src/ports.ts', values),
    breaks: [
      'export const a = 1',
      'export function a() {}',
      'export class A {}',
      "import { a } from './core/a.ts'",
      "import { type A } from './core/a.ts'",
    ].map((source) => ({ 'src/ports.ts': source })),
    keeps: { 'src/ports.ts': "import type { A } from './core/a.ts'\nexport interface B { a(): A }\nexport type C = (a: A) => B" },
  },
  {
    rule: 'wire names stay in api and sandbox',
    offences: each((file) => inSource(file) && !isIn(file.path, ['src/api/', 'src/sandbox/']), wireNames),
    breaks: [
      'export const a = b.addOnCreditCap',
      'export const a = { set_add_on_credit_cap: 5 }',
      "export const a = b['userTableStats']",
      'export const a = { service_key }',
      `export const a = \`\${b.group_id}\``,
      "export const a = 'USER_TEAM_STATUS_APPROVED'",
      'export const a = b.disableCodeium',
    ].map((source) => ({ 'src/daemon/x.ts': source })),
    keeps: {
      'src/policy/x.ts': "export const help = 'group_id of the service; used for caps' // addOnCreditCap",
      'src/api/decode.ts': 'export const a = b.addOnCreditCap',
      'src/daemon/x.ts': "export const a = 'capkeeper_addon_credits_used'",
    },
  },
  {
    rule: 'the key is put into a body in one place only',
    offences: each(
      (file) => inSource(file) && !isIn(file.path, ['src/api/wire.ts', 'src/api/send.ts', 'src/sandbox/']),
      (file) => file.code.filter(({ text }) => /^['"]?service_key['"]?$/.test(text)).map((token) => at(file, token)),
    ),
    breaks: [{ 'src/api/transport/http.ts': 'send({ service_key: key })' }, { 'src/api/client.ts': "body['service_key'] = key" }],
    keeps: { 'src/api/send.ts': 'send({ service_key: key })', 'src/sandbox/refusal.ts': 'read(body.service_key)' },
  },
  {
    rule: 'a cap is written from one place, and only `apply` and `run` get there',
    offences: each(inSource, (file) =>
      Object.entries(WRITERS).flatMap(([word, homes]) => (isIn(file.path, [...homes, 'src/sandbox/']) ? [] : places(file, word))),
    ),
    breaks: [
      { 'src/daemon/cycle/preview.ts': "import type { WriteClient } from '../ports.ts'" },
      { 'src/cli/plan/run.ts': 'client.writeCap(scope, 5)' },
      { 'src/daemon/cycle/passes.ts': 'client.writeCap(scope, 5)' },
      { 'src/cli/audit.ts': 'const { client } = connectWriter(cli, config)' },
      { 'src/cli/compose.ts': "sender.send({ operation: 'UsageConfig' })" },
    ],
    keeps: {
      'src/daemon/cycle/preview.ts': "import type { ReadClient } from '../ports.ts'",
      'src/daemon/cycle/write/writes.ts': 'client.writeCap(scope, 5)',
    },
  },
  {
    rule: 'no cast goes through unknown',
    offences: each(inSource, (file) => places(file, 'as unknown as')),
    breaks: [{ 'src/sandbox/x.ts': 'export const a = b as unknown as Row[]' }],
    keeps: { 'src/sandbox/x.ts': 'export const a: unknown = b\nexport const c = d as const' },
  },
  {
    rule: 'the checks of the house are never switched off',
    offences: each(inSource, (file) => file.comments.filter(({ text }) => SUPPRESSION.test(text)).map((token) => at(file, token))),
    breaks: [
      { 'src/core/x.ts': '// biome-ignore lint/complexity/noExcessiveLinesPerFunction: long\nexport const a = 1' },
      { 'src/core/x.ts': '/* @ts-expect-error */ export const a = 1' },
    ],
    keeps: { 'src/core/x.ts': '// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema\nexport const a = 1' },
  },
  {
    rule: `no file is longer than ${MOST_LINES} lines`,
    offences: each(
      () => true,
      ({ path, text }) => (lineCount(text) > MOST_LINES ? [`${path} has ${lineCount(text)} lines`] : []),
    ),
    breaks: [{ 'src/core/x.ts': 'export const a = 1\n'.repeat(MOST_LINES + 1) }, { 'test/core/x.test.ts': '\n'.repeat(MOST_LINES + 1) }],
    keeps: { 'src/core/x.ts': '\n'.repeat(MOST_LINES) },
  },
  {
    rule: `a folder of src holds at most ${MOST_FILES} files, and rooms for the rest`,
    offences: crowded,
    breaks: [folderOf(MOST_FILES + 1)],
    keeps: { ...folderOf(MOST_FILES), 'src/core/plan/room/x.ts': '', 'test/core/plan/x.test.ts': '' },
  },
  {
    rule: 'each source begins with what it decides',
    offences: each(inSource, ({ path, text }) => (/^(#!.*\n)?\/[/*]/.test(text) ? [] : [`${path} begins without a comment`])),
    breaks: [{ 'src/core/x.ts': 'export const a = 1\n// late' }],
    keeps: { 'src/core/x.ts': '// Decides a.\nexport const a = 1', 'src/main.ts': '#!/usr/bin/env node\n// The way in.' },
  },
  {
    rule: 'tests take no snapshots but scenes, renderings, messages and answers, use no .only, and do not read the real clock',
    offences: each(
      (file) => file.path.startsWith('test/'),
      (file) => [
        ...runs('toMatchSnapshot,toMatchInlineSnapshot,. only (,. only .')(file),
        ...(SCENES.includes(file.path) ? [] : runs('toMatchFileSnapshot')(file)),
        ...(isIn(file.path, REAL_TIME_TESTS) ? [] : ownClock(REAL_TIME)(file)),
      ],
    ),
    breaks: [
      'expect(a).toMatchSnapshot()',
      'expect(a).toMatchFileSnapshot(b)',
      "it.only('a', b)",
      'test.only.each(a)',
      'await new Promise((done) => setTimeout(done, 5))',
      'const now = Date.now()',
    ].map((source) => ({ 'test/core/x.test.ts': source })),
    keeps: {
      'test/core/x.test.ts': 'const only = clock.now() + new Date(0).getTime()\nawait new Promise(setImmediate)',
      'test/scenes/scenes.test.ts': 'expect(a).toMatchFileSnapshot(b)',
      'test/e2e/x.test.ts': 'const now = Date.now()',
    },
  },
]
