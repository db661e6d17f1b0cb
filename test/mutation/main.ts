// `npm run mutation`: breaks the decisions one by one (a condition turned round, a call left out, a word emptied), runs the tests that
// reach the spot, and counts how many of the breaks some test notices. `npm run mutation -- src/core/plan/diff.ts` for some files alone, with
// `:12-40` for some lines. What nobody noticed is listed with its place. `--idle` also lists the tests that noticed nothing which the tests asked
// before them had not noticed; `--first=GLOB` asks some tests before all others. Works on a copy in the system's folder for temporary files.
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { testsThatReach } from './reach.ts'

/** What must be held by tests so tightly that hardly any break gets through. */
const MUTATED = ['src/core/**/*.ts', 'src/policy/parse.ts', 'src/api/decode.ts']

/**
 * Who is asked: the tests of the mutated files themselves, which take milliseconds. Tests of whole cycles would notice more, but a rule that
 * only they hold is a rule without a test.
 */
const TESTS = [
  'test/core/**/*.test.ts',
  'test/policy/{load,messages,read,yaml}.test.ts',
  'test/api/{analytics,answers,cut}.test.ts',
  'test/policy/edit/{laws,plan}.test.ts',
]

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number]

const CAUGHT = new Set(['Killed', 'Timeout'])
const MISSED = new Set(['Survived', 'NoCoverage'])

const root = join(import.meta.dirname, '../..')
process.chdir(root)
const flags = process.argv.slice(2).filter((one) => one.startsWith('--'))
const unknown = flags.filter((one) => one !== '--idle' && !one.startsWith('--first='))
if (unknown.length > 0) throw new Error(`${unknown.join(' ')}: there are --idle and --first=GLOB`)
const scratch = mkdtempSync(join(tmpdir(), 'capkeeper-mutation-'))
const named = process.argv.slice(2).filter((one) => !one.startsWith('--'))
const mutate = named.length > 0 ? named : MUTATED
const broken = globSync(mutate.map((one) => one.replace(/:\d.*$/, '')))
process.env['CAPKEEPER_TESTS'] = testsThatReach(broken, globSync(TESTS)).join(' ')
process.env['CAPKEEPER_MUTATED'] = broken.join(' ')
process.env['CAPKEEPER_FIRST'] = globSync(flags.filter((one) => one.startsWith('--first=')).map((one) => one.slice(8))).join(' ')
const idle = join(scratch, 'idle.json')
if (flags.includes('--idle')) process.env['CAPKEEPER_IDLE'] = idle
try {
  const mutants = await new Stryker({
    testRunner: 'in-process',
    plugins: [join(import.meta.dirname, 'runner.ts')],
    mutate,
    coverageAnalysis: 'perTest',
    // Two make the run no faster on two cores, on which other things run too.
    concurrency: 1,
    // The machine may be busy with other things, and what comes too late would count as noticed.
    timeoutMS: 10_000,
    tempDirName: scratch,
    reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only'],
    // TypeScript 7 has no functions that Stryker could read tsconfig.json with, and nothing here needs it: types are stripped.
    tsconfigFile: 'none',
    disableTypeChecks: false,
    allowConsoleColors: false,
  }).runMutationTest()
  for (const mutant of mutants.filter(({ status }) => MISSED.has(status))) console.log(lineOf(mutant))
  console.log(tableOf(mutants))
  if (flags.includes('--idle')) console.log(idleOf(JSON.parse(readFileSync(idle, 'utf8')), mutants))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function lineOf({ fileName, location, mutatorName, replacement, status }: Mutant): string {
  const { line, column } = location.start
  return `${relative(root, fileName)}:${line}:${column} ${status === 'Survived' ? 'not noticed' : 'not reached'}: ${mutatorName} -> ${replacement.replace(/\s+/g, ' ').slice(0, 80)}`
}

/** The tests without a break of their own, by file. */
function idleOf(tests: readonly string[], mutants: readonly Mutant[]): string {
  const busy = new Set(mutants.flatMap(({ killedBy = [] }) => killedBy))
  const groups = Map.groupBy(tests, (id) => id.slice(0, id.indexOf('#')))
  const blocks = [...groups].map(([file, own]) => {
    const without = own.filter((id) => !busy.has(id))
    return [`${file}: ${without.length} of ${own.length} idle`, ...without.map((id) => `  ${id.slice(file.length)}`)].join('\n')
  })
  return ['', ...blocks].join('\n')
}

/** One row a file, the worst first, and one for all: of the breaks that were tried, how many a test noticed. */
function tableOf(mutants: readonly Mutant[]): string {
  const groups = Map.groupBy(mutants, ({ fileName }) => relative(root, fileName))
  const rows = [...groups].map(([name, own]) => rowOf(name, own)).sort((a, b) => a.score - b.score)
  const lines = [...rows, rowOf('all', mutants)].map(
    ({ name, score, caught, missed }) => `| ${name} | ${score.toFixed(1)} | ${caught} | ${missed} |`,
  )
  return ['', '| file | score | noticed | not noticed |', '|---|---|---|---|', ...lines].join('\n')
}

function rowOf(name: string, mutants: readonly Mutant[]) {
  const caught = mutants.filter(({ status }) => CAUGHT.has(status)).length
  const missed = mutants.filter(({ status }) => MISSED.has(status)).length
  return { name, caught, missed, score: caught + missed === 0 ? 100 : (100 * caught) / (caught + missed) }
}
