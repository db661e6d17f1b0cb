// `npm run sim`: runs many seeds, or replays one with its trace. Exit code 1 when an invariant was violated, with the command that replays
// it, or when an invariant had no case in a hundred seeds or more.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { addFigures, addReport, type Figures, noFigures, printFigures, replayCommand, uncheckedIn } from './figures.ts'
import { WORKSPACE } from './lives/process.ts'
import type { Cut } from './lives/scenario.ts'
import { runSeed } from './run.ts'
import { shrink } from './shrink.ts'
import type { SimLedger } from './world/ledger/kind.ts'

// Thousands of simulated failures a day: their stacks are never used, and take a twentieth of the time.
Error.stackTraceLimit = 0

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    days: { type: 'string', default: '3' },
    'seed-from': { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    without: { type: 'string', default: '' },
    until: { type: 'string' },
    'no-shrink': { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
    twice: { type: 'string', default: '20' },
    memory: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    ledger: { type: 'string', default: 'sqlite' },
  },
})

const days = Number(values.days)
const cut: Cut = {
  without: new Set(values.without.split(',').filter((kind) => kind !== '')),
  until: values.until === undefined ? undefined : Number(values.until),
}

async function replay(seed: number): Promise<boolean> {
  const report = await runSeed({
    seed,
    days,
    cut,
    patient: values['keep-going'],
    ...(values.trace && { onLine: (line) => console.log(line) }),
  })
  for (const { invariant, message, atMs } of report.violations)
    console.log(`seed ${seed}, ${(atMs / 3_600_000).toFixed(2)} h: ${invariant}: ${message}`)
  console.log(`never checked: ${uncheckedIn(report.checked).join('; ')}`)
  console.log(`seed ${seed}: ${report.requests} requests, ${report.writes} writes, digest ${report.digest.slice(0, 16)}`)
  return report.violations.length === 0
}

async function fail(seed: number): Promise<void> {
  if (values['no-shrink']) {
    console.log(`\nreplay: ${replayCommand(seed, days, cut)}`)
    return
  }
  const least = await shrink(seed, days, cut)
  console.log(`\nreplay: ${replayCommand(seed, least.days, least.cut)}`)
  const lines: string[] = []
  await runSeed({ seed, days: least.days, cut: least.cut, onLine: (line) => void lines.push(line) })
  const end = lines.findIndex((line) => line.includes('!! '))
  console.log(lines.slice(Math.max(0, end - 40), end + 1).join('\n'))
}

/** `ledgerOf`: another kind of ledger for each seed, on which traces may differ from run to run. */
async function many(from: number, count: number, ledgerOf?: () => Promise<SimLedger>): Promise<Figures> {
  const figures = noFigures()
  const before = process.cpuUsage()
  for (let seed = from; seed < from + count; seed += 1) {
    const isRepeated = ledgerOf === undefined && seed % Number(values.twice) === 0
    const ledger = await ledgerOf?.()
    const isTraced = values.trace && ledger !== undefined
    const kind = { ...(ledger && { ledger }), ...(isTraced && { onLine: (line: string) => console.log(line) }) }
    const report = await runSeed({ seed, days, cut, digest: isRepeated, ...kind })
    addReport(figures, report)
    if (isRepeated) {
      const again = await runSeed({ seed, days, cut })
      figures.repeated += 1
      if (again.digest !== report.digest) figures.failures.push({ seed, message: 'the same seed gave another trace' })
    }
    const [first] = report.violations
    if (first) process.stderr.write(`seed ${seed}: ${first.invariant}: ${first.message}\n`)
    if (process.stderr.isTTY) process.stderr.write(`\r${seed - from + 1}/${count} seeds, ${figures.failures.length} failed `)
  }
  const { user, system } = process.cpuUsage(before)
  // Processor time, which does not depend on other work of the machine.
  figures.coreMs += (user + system) / 1000
  return figures
}

/** One process for each core; each prints its figures as JSON. */
async function manyJobs(from: number, count: number, jobs: number): Promise<Figures> {
  const share = Math.ceil(count / jobs)
  const parts = Array.from({ length: jobs }, (_, job) => ({ from: from + job * share, count: Math.min(share, count - job * share) }))
  const texts = await Promise.all(parts.filter((one) => one.count > 0).map((one) => child(one.from, one.count)))
  const figures = noFigures()
  for (const text of texts) addFigures(figures, JSON.parse(text))
  return figures
}

const child = (from: number, count: number): Promise<string> => {
  const self = fileURLToPath(import.meta.url)
  const given = [...process.argv.slice(2), '--jobs', '1', '--seeds', `${count}`, '--seed-from', `${from}`, '--json']
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['--no-warnings', self, ...given], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (stdout.startsWith('{')) resolve(stdout)
      else reject(error ?? new Error(stderr))
    }).stderr?.pipe(process.stderr)
  })
}

async function memory(): Promise<boolean> {
  const { checkMemory } = await import('./memory.ts')
  return checkMemory(Number(values['seed-from']), Math.max(days, 60))
}

/** On a real PostgreSQL. It is slower, and traces may differ from run to run, because the order of its answers does. */
async function onPostgres(from: number, count: number): Promise<Figures> {
  const { hasPostgres, startPostgres } = await import('../support/postgres.ts')
  const { postgresLedger } = await import('./world/ledger/postgres.ts')
  if (!hasPostgres) throw new Error('PostgreSQL is not installed here (Debian: postgresql-15)')
  const server = await startPostgres()
  try {
    return await many(from, count, async () => postgresLedger(await server.create(), WORKSPACE))
  } finally {
    await server.remove()
  }
}

async function main(): Promise<boolean> {
  if (values.memory) return memory()
  const isSqlite = values.ledger !== 'postgres'
  if (isSqlite && values.seed !== undefined) return replay(Number(values.seed))
  const jobs = Number(values.jobs)
  const [from, count] = values.seed === undefined ? [Number(values['seed-from']), Number(values.seeds)] : [Number(values.seed), 1]
  const figures = await (isSqlite ? (jobs > 1 ? manyJobs(from, count, jobs) : many(from, count)) : onPostgres(from, count))
  if (values.json) console.log(JSON.stringify(figures))
  else {
    printFigures(figures)
    const [first] = figures.failures
    if (first && isSqlite) await fail(first.seed)
  }
  // With so many lives every invariant must have had a case.
  return figures.failures.length === 0 && (figures.seeds < 100 || uncheckedIn(figures.checked).length === 0)
}

process.exitCode = (await main()) ? 0 : 1
