// Sums runs of agents by day, model and mode (interface-spec.md, Agent analytics result objects). Pure.
import type { RunsReading } from '../core/model/observed.ts'
import { cents, creditsOf, type Instant } from '../core/model/units.ts'
import type { RowPath, RowPlan } from '../ports.ts'
import { type Fields, MAX_CENTS, MAX_FIGURE, setAside } from './decode.ts'
import { isObject, malformed } from './errors.ts'
import { countOf, createRowSums, dayAtOf, isAbsent, type Judged, MAX_NAME, nameOf, type RowSums, type SumKind, shown } from './row-sums.ts'

/** Where runs stand; the inner wrapper may be missing. */
export const RUN_PATHS: readonly RowPath[] = [
  ['queryResults', '*', 'cascadeRuns', 'cascadeRuns', '*'],
  ['queryResults', '*', 'cascadeRuns', '*'],
]

/** Sums of one answer: a month of 20 models in 10 modes has a third of that, and each becomes a record. */
export const MAX_RUN_SUMS = 20_000

/** One day, model and mode. */
interface RunSum {
  readonly dayAt: Instant
  readonly model: string
  readonly mode: string
  messages: number
  /** Undefined while no row told credits. */
  cents: number | undefined
}

export interface RunSums extends Pick<RowSums<RunSum>, 'take'> {
  /** Days of after `latestAt` make no sense either. Throws `malformed` when nothing made sense. */
  reading(latestAt?: Instant): RunsReading
}

/** How runs are read row by row. */
export const RUN_ROWS: RowPlan = {
  at: RUN_PATHS,
  keeper() {
    const sums = createRunSums()
    return (row) => (isObject(row) ? sums.take(row) : undefined)
  },
}

const RUNS: SumKind<RunSum> = {
  of: 'runs',
  most: MAX_RUN_SUMS,
  judge,
  keyOf: ({ dayAt, model, mode }) => JSON.stringify([dayAt, model, mode]),
  add(into, { messages, cents: used }) {
    into.messages = Math.min(MAX_FIGURE, into.messages + messages)
    if (used !== undefined) into.cents = Math.min(MAX_FIGURE, (into.cents ?? 0) + used)
  },
}

export function createRunSums(): RunSums {
  const { take, all } = createRowSums(RUNS)
  return {
    take,
    reading(latestAt = Number.POSITIVE_INFINITY) {
      const { sums, aside, why } = all()
      const good = sums.filter(({ dayAt }) => dayAt <= latestAt)
      const bad = aside + sums.length - good.length
      if (good.length === 0 && bad > 0) throw malformed('CascadeAnalytics', why ?? 'all runs are of days to come')
      const tellsUse = good.some((sum) => sum.cents !== undefined)
      const rows = good.map(({ dayAt, model, mode, messages, cents: used = 0 }) => ({
        ...{ dayAt, model, mode, messages },
        ...(tellsUse && { used: creditsOf(cents(used)) }),
      }))
      return { rows, ...setAside(bad) }
    },
  }
}

function judge(row: Fields): Judged<RunSum> {
  const [day = '', model = '', mode = ''] = [row['day'], row['model'], row['mode']].map(nameOf)
  const dayAt = dayAtOf(day)
  const [messages, used] = [countOf(row['messagesSent']), countOf(row['promptsUsed'])]
  if (Number.isNaN(dayAt)) return { why: 'a run has no day' }
  if (model.length > MAX_NAME || mode.length > MAX_NAME) return { why: `a name of a run has more than ${MAX_NAME} characters` }
  if (!Number.isInteger(messages) || Math.abs(messages) > MAX_FIGURE)
    return { why: `messagesSent of a run is ${shown(row['messagesSent'])}` }
  if (Number.isNaN(used) || Math.abs(used) > MAX_CENTS) return { why: `promptsUsed of a run is ${shown(row['promptsUsed'])}` }
  return { sum: { dayAt, model, mode, messages, cents: isAbsent(row['promptsUsed']) ? undefined : used } }
}
