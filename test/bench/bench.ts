// What the benches share: sides that take turns, medians, and the table that each of them prints. A bench measures and prints; it never fails a test by
// time.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** One line of the table. `met` is absent for what is told for information only. */
export interface Row {
  /** The number of the goal, such as `G1`. */
  readonly goal: string
  readonly figure: string
  readonly limit: string
  readonly measured: string
  readonly ratio?: number
  readonly met?: boolean
}

/** How often a side of a ratio is run; the sides take turns. */
export const ROUNDS = 5

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

export const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)} ms`
export const seconds = (value: number): string => `${(value / 1000).toFixed(2)} s`
export const mib = (kib: number): string => `${Math.round(kib / 1024)} MiB`
export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`

/** A figure that is good when it is at most so much. */
export const atMost = (goal: string, figure: string, measured: string, ratio: number, limit: number): Row => ({
  goal,
  figure,
  limit: `<= ${limit} x`,
  measured,
  ratio,
  met: ratio <= limit,
})

/** Ours beside something else, and how many times as much it may be. */
export const beside = (goal: string, figure: string, [ours, other]: Pair, limit?: number, show: Show = ms): Row => {
  const measured = `${show(ours)} / ${show(other)}`
  return limit === undefined ? told(goal, figure, measured, ours / other) : atMost(goal, figure, measured, ours / other, limit)
}

/** A figure that is good when it is no more than `most`. */
export const within = (goal: string, figure: string, value: number, most: number, show: Show = ms, measured = show(value)): Row =>
  judged(goal, figure, `<= ${show(most)}`, measured, value <= most, value / most)

export const judged = (goal: string, figure: string, limit: string, measured: string, met: boolean, ratio?: number): Row => ({
  goal,
  figure,
  limit,
  measured,
  met,
  ...(ratio !== undefined && { ratio }),
})

export const exactly = (goal: string, figure: string, measured: number, wanted: number): Row =>
  judged(goal, figure, String(wanted), String(measured), measured === wanted)

/** For information: no goal is set for it. */
export const told = (goal: string, figure: string, measured: string, ratio?: number): Row => ({
  goal,
  figure,
  limit: '-',
  measured,
  ...(ratio !== undefined && { ratio }),
})

type Pair = readonly [ours: number, other: number]
type Show = (value: number) => string

/** How long work takes, in milliseconds. */
export async function took(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Medians of what sides measure of themselves; they take turns, so that other work on the machine weighs on all of them. */
export async function turns<Side extends string>(
  sides: Readonly<Record<Side, () => number | Promise<number>>>,
  { rounds = ROUNDS, warmUps = 1 } = {},
): Promise<Readonly<Record<Side, number>>> {
  const found = Object.entries<() => number | Promise<number>>(sides).map(([side, measure]) => ({ side, measure, values: [] as number[] }))
  for (let round = -warmUps; round < rounds; round += 1)
    for (const { measure, values } of found) {
      const value = await measure()
      if (round >= 0) values.push(value)
    }
  return Object.fromEntries(found.map(({ side, values }) => [side, median(values)])) as Record<Side, number>
}

/** The heap without garbage, in KiB. */
export function heapKib(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage().heapUsed / 1024
}

const HEAD = ['goal', 'figure', 'limit', 'measured', 'ratio', 'met']

/** The rows as a Markdown table that also reads well as text. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ goal, figure, limit, measured, ratio, met }) => [
    goal,
    figure,
    limit,
    measured,
    ratio === undefined ? '' : ratio.toFixed(2),
    met === undefined ? '' : met ? 'yes' : '**no**',
  ])
  const widths = HEAD.map((name, at) => Math.max(name.length, ...cells.map((line) => line[at]?.length ?? 0)))
  const lineOf = (line: readonly string[]): string => `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [lineOf(HEAD), lineOf(widths.map((width) => '-'.repeat(width))), ...cells.map(lineOf)].join('\n')
}

/** Prints the table of one bench, and hands its rows to main.ts when that has started it. */
export function publish(title: string, rows: readonly Row[]): void {
  console.log(`\n${title}\n\n${tableOf(rows)}`)
  process.send?.(rows)
}

/** Looks at the event loop all the time; the answer is the longest time that it did not come round. */
export function watchLoop(): () => number {
  let last = performance.now()
  let longest = 0
  let going = true
  const look = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (going) setImmediate(look)
  }
  look()
  return () => {
    going = false
    look()
    return longest
  }
}
