// The house rules about the content of files: no effects in the core, time and chance only in their files, names of the wire format only in
// their folders, and a few conventions that the linter does not know.
import { posix } from 'node:path'
import { isIn, places, type Rules, type SourceFile } from './house.ts'
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

/** What is expected there is plain text, which is read in review as code is. */
const TEXTS = ['test/scenes/scenes.test.ts', 'test/deploy/renderings.test.ts', 'test/support/tables.ts', 'test/mutation/collect.ts']
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

/** What reads a path, beside `node:fs` of which `statSync` and its like open nothing. */
const READERS = /^(open|openSync|readFile|readFileSync|createReadStream|openAsBlob|promises)$/

/** `files.ts` reads what comes from outside; the others open what they write themselves, the manifest of this program, and /proc. */
const OPENERS = [
  'src/files.ts',
  'src/cli/shared/reader.ts',
  'src/cli/shared/text.ts',
  'src/daemon/http/server.ts',
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
  WriteClient: ['src/ports.ts', 'src/api/client.ts', 'src/daemon/workspace.ts'],
  writeCap: ['src/ports.ts', 'src/api/client.ts', 'src/daemon/cycle/write/writes.ts'],
  // `doctor` asks with it for a person who cannot exist, and without a cap.
  "operation : 'UsageConfig'": ['src/api/client.ts', 'src/api/probe.ts'],
}

export const CODE_RULES: Rules = {
  'only files.ts opens paths for reading': each((file) => inSource(file) && !OPENERS.includes(file.path), readers),
  'only disk.ts looks at the disk for what loads policies and their commits': each(
    (file) => isIn(file.path, ['src/policy/load/']) && !file.path.endsWith('/disk.ts'),
    looks,
  ),
  'core is pure: plain data in, plain data out': each((file) => isIn(file.path, ['src/core/']), runs(EFFECTS)),
  'time and chance come from ports': each((file) => inSource(file) && !isIn(file.path, [CLOCK_HOME, BROWSER]), ownClock(TIME_AND_CHANCE)),
  'ports.ts holds types only': each((file) => file.path === 'src/ports.ts', values),
  'wire names stay in api and sandbox': each((file) => inSource(file) && !isIn(file.path, ['src/api/', 'src/sandbox/']), wireNames),
  'the key is put into a body in one place only': each(
    (file) => inSource(file) && !isIn(file.path, ['src/api/wire.ts', 'src/api/send.ts', 'src/sandbox/']),
    (file) => file.code.filter(({ text }) => /^['"]?service_key['"]?$/.test(text)).map((token) => at(file, token)),
  ),
  'a cap is written from one place, and only `apply` and `run` get there': each(inSource, (file) =>
    Object.entries(WRITERS).flatMap(([word, homes]) => (isIn(file.path, [...homes, 'src/sandbox/']) ? [] : places(file, word))),
  ),
  'no cast goes through unknown': each(inSource, (file) => places(file, 'as unknown as')),
  'the checks of the house are never switched off': each(inSource, (file) =>
    file.comments.filter(({ text }) => SUPPRESSION.test(text)).map((token) => at(file, token)),
  ),
  [`no file is longer than ${MOST_LINES} lines`]: each(
    () => true,
    ({ path, text }) => (lineCount(text) > MOST_LINES ? [`${path} has ${lineCount(text)} lines`] : []),
  ),
  [`a folder of src holds at most ${MOST_FILES} files, and rooms for the rest`]: crowded,
  'each source begins with what it decides': each(inSource, ({ path, text }) =>
    /^(#!.*\n)?\/[/*]/.test(text) ? [] : [`${path} begins without a comment`],
  ),
  'tests take no snapshots but scenes, renderings and tables, use no .only, and do not read the real clock': each(
    (file) => file.path.startsWith('test/'),
    (file) => [
      ...runs('toMatchSnapshot,toMatchInlineSnapshot,. only (,. only .')(file),
      ...(TEXTS.includes(file.path) ? [] : runs('toMatchFileSnapshot')(file)),
      ...(isIn(file.path, REAL_TIME_TESTS) ? [] : ownClock(REAL_TIME)(file)),
    ],
  ),
}
