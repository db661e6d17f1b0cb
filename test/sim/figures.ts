// The figures of a run over many seeds, and how they are printed.

import type { Cut } from './lives/scenario.ts'
import type { RunReport } from './run.ts'

export interface Figures {
  seeds: number
  days: number
  requests: number
  writes: number
  /** Seeds that ran twice to compare their traces. */
  repeated: number
  coreMs: number
  readonly met: Record<string, number>
  readonly checked: Record<string, number>
  readonly failures: { readonly seed: number; readonly message: string }[]
}

export const noFigures = (): Figures => ({
  seeds: 0,
  days: 0,
  requests: 0,
  writes: 0,
  repeated: 0,
  coreMs: 0,
  met: {},
  checked: {},
  failures: [],
})

const COUNTS = ['seeds', 'days', 'requests', 'writes', 'repeated', 'coreMs'] as const

export function addFigures(figures: Figures, part: Figures): void {
  for (const name of COUNTS) figures[name] += part[name]
  for (const [sums, own] of [[figures.met, part.met] as const, [figures.checked, part.checked] as const])
    for (const [name, times] of Object.entries(own)) sums[name] = (sums[name] ?? 0) + times
  figures.failures.push(...part.failures)
}

export function addReport(figures: Figures, { seed, days, requests, writes, met, checked, violations: [first] }: RunReport): void {
  const failures = first ? [{ seed, message: `${first.invariant}: ${first.message}` }] : []
  addFigures(figures, { ...noFigures(), seeds: 1, days, requests, writes, met: { ...met }, checked: { ...checked }, failures })
}

/** Invariants that had no case in these lives, so they could not fail. */
export const uncheckedIn = (checked: Figures['checked']): readonly string[] =>
  Object.entries(checked).flatMap(([name, times]) => (times === 0 ? [name] : []))

const table = (rows: Readonly<Record<string, number>>): string =>
  Object.entries(rows)
    .map(([name, times]) => `  ${String(times).padStart(10)}  ${name}`)
    .join('\n')

export function printFigures(figures: Figures): void {
  const speed = (figures.days * 86_400_000) / Math.max(1, figures.coreMs)
  console.log(`\n${figures.seeds} seeds, ${figures.days} simulated days, ${figures.requests} requests, ${figures.writes} writes`)
  console.log(`${Math.round(speed)}x real time on one core; ${figures.repeated} seeds lived twice and compared`)
  console.log(`\nfaults and events met\n${table(figures.met)}`)
  console.log(`\ninvariants checked\n${table(figures.checked)}`)
  for (const name of uncheckedIn(figures.checked)) console.log(`\nNEVER CHECKED: ${name}`)
  console.log(`\nviolations: ${figures.failures.length}`)
  for (const { seed, message } of figures.failures.slice(0, 50)) console.log(`  seed ${seed}: ${message}`)
}

/** The command that runs a failing seed again. */
export function replayCommand(seed: number, days: number, { without, until }: Cut): string {
  const left = without.size > 0 ? ` --without ${[...without].join(',')}` : ''
  return `npm run sim -- --seed ${seed} --days ${days}${left}${until === undefined ? '' : ` --until ${until}`} --trace`
}
