// `npm run sim:mutants`: every planted bug against the simulation, until a seed catches it. Prints a table; ends with 1 when one got away, or
// when the program without any bug does not pass. `--only TEXT`, once or more, takes those whose name holds the text; `--seeds`, `--days` and
// `--limit` (seconds for each) bound the search; `--known` lives the seeds alone that caught before.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PLANTS, type Plant } from './plants.ts'

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
}

type Outcome =
  | { readonly kind: 'caught'; readonly by: Caught }
  | { readonly kind: 'missed' }
  | { readonly kind: 'broken'; readonly why: string }

/** Lives seeds until one is violated. */
async function hunt(plant: Plant | undefined, seeds: number): Promise<Outcome> {
  const hooks = plant === undefined ? [] : ['--import', hook]
  const { needs = [], caughtBy = [] } = plant ?? {}
  const search = ['--seeds', `${seeds}`, '--days', values.days, '--needs', needs.join(), '--first', caughtBy.join()]
  const args = ['--no-warnings', ...hooks, hunter, ...search]
  const env = { ...process.env, ...(plant && { CAPKEEPER_PLANT: plant.name }) }
  const timeout = Number(values.limit) * 1000
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

async function main(): Promise<boolean> {
  const { only: texts } = values
  const chosen = PLANTS.filter(({ name }) => texts.some((text) => name.includes(text)))
  const sound = await hunt(undefined, SOUND_SEEDS)
  console.log(sound.kind === 'missed' ? `without a bug ${SOUND_SEEDS} seeds pass` : `WITHOUT A BUG: ${JSON.stringify(sound)}`)
  const pending = chosen.values()
  let caught = 0
  const work = async (): Promise<void> => {
    for (const plant of pending) {
      const outcome = await hunt(plant, values.known ? 0 : Number(values.seeds))
      if (outcome.kind === 'caught') caught += 1
      show(plant.name, outcome)
    }
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, work))
  console.log(`${Math.round(process.uptime())} s`)
  console.log(`${caught} of ${chosen.length} planted bugs caught`)
  return sound.kind === 'missed' && caught === chosen.length
}

process.exitCode = (await main()) ? 0 : 1
