// What the benches share: medians, and the table that each of them prints. A bench measures and prints; it never fails a test by time.

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

export const exactly = (goal: string, figure: string, measured: number, wanted: number): Row => ({
  goal,
  figure,
  limit: String(wanted),
  measured: String(measured),
  met: measured === wanted,
})

/** For information: no goal is set for it. */
export const told = (goal: string, figure: string, measured: string, ratio?: number): Row => ({
  goal,
  figure,
  limit: '-',
  measured,
  ...(ratio === undefined ? {} : { ratio }),
})

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
