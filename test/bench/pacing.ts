// Prints how well unknown rate limits are used (docs/development.md, Figures): a table by family for the set the design was tuned on and for the hold-out
// set it was not, then every case that misses the goal. Simulated time; a run takes about a minute and is the same every time.
// Use = successes over what the limiter would have allowed; refused = refusals over requests; both over two hours after the warm-up.
import { type Case, casesOf, HOLD_OUT, TUNING } from '../sim/pacing/cases.ts'
import { type RunResult, runPacing } from '../sim/pacing/run.ts'

interface Row {
  readonly one: Case
  readonly result: RunResult
}

const LEAST_USE = 0.85

export function printPacing(): void {
  for (const [title, parameters] of [
    ['tuned on', TUNING],
    ['hold-out', HOLD_OUT],
  ] as const) {
    const rows = casesOf(parameters).map((one): Row => ({ one, result: runPacing(one.run) }))
    console.log(`\nG5 unknown rate limits, ${title}: ${rows.length} cases`)
    for (const retryAfter of [true, false]) printFamilies(rows, retryAfter)
    const missed = rows.filter(({ one, result }) => result.use < LEAST_USE || result.refused > one.refusedGoal)
    console.log(missed.length === 0 ? 'every case reaches the goal' : `${missed.length} cases miss the goal:`)
    for (const { one, result } of missed) console.log(`  ${one.retryAfter ? 'with' : 'no'} Retry-After, ${one.name}: ${figures([result])}`)
  }
}

function printFamilies(rows: readonly Row[], retryAfter: boolean): void {
  const chosen = rows.filter(({ one }) => one.retryAfter === retryAfter)
  console.log(`${retryAfter ? 'with' : 'without'} Retry-After`)
  for (const family of new Set(chosen.map(({ one }) => one.family))) {
    const results = chosen.filter(({ one }) => one.family === family).map(({ result }) => result)
    console.log(`  ${family.padEnd(24)} ${String(results.length).padStart(3)} cases  ${figures(results)}`)
  }
  console.log(`  ${'all'.padEnd(24)} ${String(chosen.length).padStart(3)} cases  ${figures(chosen.map(({ result }) => result))}`)
}

function figures(results: readonly RunResult[]): string {
  const uses = results.map(({ use }) => use).sort((a, b) => a - b)
  const percent = (share: number, digits: number): string => `${(100 * share).toFixed(digits)} %`
  const refused = Math.max(...results.map((result) => result.refused))
  return `use median ${percent(median(uses), 1)}, worst ${percent(uses[0] ?? 0, 1)}; refused at most ${percent(refused, 2)}`
}

export const median = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? 0

if (import.meta.main) printPacing()
