// `npm run sim:mutants`: runs the simulation against every planted bug until a seed catches it. Prints a table; exit code 1 when a bug was
// not caught, or when the program without a bug fails, also on the seeds that caught one. `--only TEXT`, repeatable, selects bugs by name;
// `--seeds`, `--days` and `--limit` (seconds for each bug) bound the search; `--known` runs only the seeds that caught the bug before.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { invariantsFor } from '../invariants/all.ts'
import { PLANTS } from './plants.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    days: { type: 'string', default: '2' },
    jobs: { type: 'string', default: '2' },
    only: { type: 'string', multiple: true, default: [''] },
    sound: { type: 'string', default: '20' },
    limit: { type: 'string', default: '3600' },
    known: { type: 'boolean', default: false },
  },
})

/** Seeds that the program without a bug must pass. */
const SOUND_SEEDS = Number(values.sound)

const hunter = fileURLToPath(new URL('./hunt.ts', import.meta.url))
const hook = new URL('./plant.ts', import.meta.url).href

interface Caught {
  readonly seed: number
  readonly invariant: string
  readonly message: string
  /** The day of the violation, from 1. */
  readonly day: number
}

type Outcome =
  | { readonly kind: 'caught'; readonly by: Caught }
  | { readonly kind: 'missed' }
  | { readonly kind: 'broken'; readonly why: string }

interface Hunt {
  /** How many seeds, from 1 on; the seeds that suit the bug come first. */
  readonly seeds: number
  /** Seeds to run before those. */
  readonly first: readonly number[]
  readonly days: number
}

/** Runs seeds until an invariant is violated. */
async function hunt(name: string | undefined, { seeds, first: known, days }: Hunt): Promise<Outcome> {
  const hooks = name === undefined ? [] : ['--import', hook]
  const { needs = [] } = PLANTS[name ?? ''] ?? {}
  const search = ['--seeds', `${seeds}`, '--days', `${days}`, '--needs', needs.join(), '--first', known.join()]
  const args = ['--no-warnings', ...hooks, hunter, ...search]
  const env = { ...process.env, ...(name !== undefined && { CAPKEEPER_PLANT: name }) }
  const timeout = name === undefined ? undefined : Number(values.limit) * 1000
  const child = spawn(process.execPath, args, { env, timeout, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr]: [string[], string[]] = [[], []]
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text))
  const signal = await new Promise((resolve) => child.once('close', (_code, by) => resolve(by)))
  if (signal === 'SIGTERM') return { kind: 'missed' }
  const [first, second] = stdout.join('').trim().split('\n')
  if (second !== undefined) return { kind: 'caught', by: JSON.parse(first ?? '') }
  if (first === '"over"') return { kind: 'missed' }
  return {
    kind: 'broken',
    why:
      stderr
        .join('')
        .trim()
        .split('\n')
        .find((line) => line.includes('Error')) ?? 'it ended without a word',
  }
}

function show(name: string, outcome: Outcome): void {
  const text = {
    caught: () => (outcome.kind === 'caught' ? `seed ${String(outcome.by.seed).padStart(4)}  ${outcome.by.invariant}` : ''),
    missed: () => `NOT CAUGHT within ${values.seeds} seeds and ${values.limit} s`,
    broken: () => (outcome.kind === 'broken' ? `DID NOT RUN: ${outcome.why}` : ''),
  }[outcome.kind]()
  console.log(`${name.padEnd(76)}  ${text}`)
}

/** Seeds that the program without a bug fails too, up to the days that were run. */
async function violatedWithout(caught: readonly Caught[]): Promise<readonly Caught[]> {
  const found: Caught[] = []
  for (const [days, ones] of Map.groupBy(caught, ({ day }) => day)) {
    let first = [...new Set(ones.map(({ seed }) => seed))]
    while (first.length > 0) {
      const outcome = await hunt(undefined, { seeds: 0, first, days })
      if (outcome.kind === 'broken') throw new Error(outcome.why)
      if (outcome.kind === 'missed') break
      found.push(outcome.by)
      first = first.slice(first.indexOf(outcome.by.seed) + 1)
    }
  }
  return found
}

async function main(): Promise<boolean> {
  const { only: texts } = values
  const chosen = Object.entries(PLANTS).filter(([name]) => texts.some((text) => name.includes(text)))
  const days = Number(values.days)
  const sound = await hunt(undefined, { seeds: SOUND_SEEDS, first: [], days })
  console.log(sound.kind === 'missed' ? `without a bug ${SOUND_SEEDS} seeds pass` : `WITHOUT A BUG: ${JSON.stringify(sound)}`)
  const pending = chosen.values()
  const caught: Caught[] = []
  const work = async (): Promise<void> => {
    for (const [name, { caughtBy = [] }] of pending) {
      const outcome = await hunt(name, { seeds: values.known ? 0 : Number(values.seeds), first: caughtBy, days })
      if (outcome.kind === 'caught') caught.push(outcome.by)
      show(name, outcome)
    }
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, work))
  const unsound = await violatedWithout(caught)
  for (const { seed, invariant, message } of unsound) console.log(`seed ${seed} PROVES NOTHING: without a bug ${invariant}: ${message}`)
  const proven = caught.filter(({ seed }) => !unsound.some((one) => one.seed === seed)).length
  console.log(`${Math.round(process.uptime())} s`)
  console.log(`${proven} of ${chosen.length} planted bugs caught`)
  const silent =
    chosen.length < Object.keys(PLANTS).length ? [] : invariantsFor([]).filter(({ name }) => !caught.some((one) => one.invariant === name))
  for (const { name } of silent) console.log(`NO BUG SHOWED that it can fail: ${name}`)
  return sound.kind === 'missed' && proven === chosen.length && silent.length === 0
}

process.exitCode = (await main()) ? 0 : 1
