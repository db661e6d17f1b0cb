// Sums runs of agents by day, model and mode as they arrive, because a team may have hundreds of thousands in a month and a handful of sums.
// A row that makes no sense is set aside and counted, with the first reason; sums can be summed again. Pure.
import type { RunsReading } from '../core/model/observed.ts'
import { cents, creditsOf, type Instant } from '../core/model/units.ts'
import type { RowPath, RowPlan } from '../ports.ts'
import { BoundError } from './bounds.ts'
import { compareText, type Fields, MAX_CENTS, MAX_FIGURE, numberOf, setAside } from './decode.ts'
import { isObject, malformed } from './errors.ts'

/** Where runs stand; the inner wrapper may be missing. */
export const RUN_PATHS: readonly RowPath[] = [
  ['queryResults', '*', 'cascadeRuns', 'cascadeRuns', '*'],
  ['queryResults', '*', 'cascadeRuns', '*'],
]

/** Names of models and modes are short; what is longer is no name. */
const MAX_NAME = 200

/** Sums of one answer: a month of 20 models in 10 modes has a third of that, and each becomes a record. */
export const MAX_RUN_SUMS = 20_000

/** JSON has no such key: what carries it was summed here. */
const SUM = Symbol('a sum of runs')

/** One day, model and mode. */
interface RunSum {
  readonly [SUM]: true
  readonly dayAt: Instant
  readonly model: string
  readonly mode: string
  messages: number
  /** Undefined while no row told credits. */
  cents: number | undefined
}

/** What was set aside, beside the sums. */
interface Aside {
  readonly [SUM]: true
  readonly why: string
  rows: number
}

export interface RunSums {
  /** Returns what is new to be kept, undefined when the row went into a sum that is there. Throws a `BoundError`. */
  take(row: Fields): RunSum | Aside | undefined
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

export function createRunSums(): RunSums {
  const sums = new Map<string, RunSum>()
  let aside: Aside | undefined
  function leave(why: string, rows: number): Aside | undefined {
    if (aside) aside.rows += rows
    else {
      aside = { [SUM]: true, why, rows }
      return aside
    }
    return undefined
  }
  return {
    take(row) {
      const judged = isOurs(row) ? row : sumOf(row)
      if ('why' in judged) return leave(judged.why, judged.rows)
      const key = JSON.stringify([judged.dayAt, judged.model, judged.mode])
      const known = sums.get(key)
      if (!known) {
        if (sums.size >= MAX_RUN_SUMS) throw new BoundError(`the answer has more than ${MAX_RUN_SUMS} kinds of runs and was dropped`)
        sums.set(key, judged)
      } else {
        known.messages = Math.min(MAX_FIGURE, known.messages + judged.messages)
        if (judged.cents !== undefined) known.cents = Math.min(MAX_FIGURE, (known.cents ?? 0) + judged.cents)
      }
      return known ? undefined : judged
    },
    reading(latestAt = Number.POSITIVE_INFINITY) {
      const all = [...sums].sort(([a], [b]) => compareText(a, b)).map(([, sum]) => sum)
      const good = all.filter(({ dayAt }) => dayAt <= latestAt)
      const bad = (aside?.rows ?? 0) + all.length - good.length
      if (good.length === 0 && bad > 0) throw malformed('CascadeAnalytics', aside?.why ?? 'all runs are of days to come')
      const tellsUse = good.some((sum) => sum.cents !== undefined)
      const rows = good.map(({ dayAt, model, mode, messages, cents: used = 0 }) => ({
        ...{ dayAt, model, mode, messages },
        ...(tellsUse && { used: creditsOf(cents(used)) }),
      }))
      return { rows, ...setAside(bad) }
    },
  }
}

const isOurs = (row: object): row is RunSum | Aside => SUM in row

function sumOf(row: Fields): RunSum | Aside {
  const [day, model, mode] = [row['day'], row['model'], row['mode']].map(textOf)
  const dayAt = Date.parse((day ?? '').trim().slice(0, 10))
  const [messages, used] = [countOf(row['messagesSent']), countOf(row['promptsUsed'])]
  const wrong = (why: string): Aside => ({ [SUM]: true, why, rows: 1 })
  if (Number.isNaN(dayAt) || !/^\s*\d{4}-\d\d-\d\d/.test(day ?? '')) return wrong('a run has no day')
  if ((model ?? '').length > MAX_NAME || (mode ?? '').length > MAX_NAME)
    return wrong(`a name of a run has more than ${MAX_NAME} characters`)
  if (!Number.isInteger(messages) || Math.abs(messages ?? 0) > MAX_FIGURE)
    return wrong(`messagesSent of a run is ${shown(row['messagesSent'])}`)
  if (Number.isNaN(used) || Math.abs(used ?? 0) > MAX_CENTS) return wrong(`promptsUsed of a run is ${shown(row['promptsUsed'])}`)
  return {
    [SUM]: true,
    dayAt,
    model: model ?? '',
    mode: mode ?? '',
    messages: messages ?? 0,
    cents: isAbsent(row['promptsUsed']) ? undefined : used,
  }
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** Absent and null count 0; what is no number is NaN. */
const countOf = (value: unknown): number => (isAbsent(value) ? 0 : (numberOf(value) ?? Number.NaN))

/** Models and modes are open data; anything but text reads as none, or as it would be written. */
function textOf(value: unknown): string {
  // As a record can hold it: one that it would change could meet another in the same place.
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '')
  return value === null || value === undefined || typeof value === 'object' ? '' : String(value)
}

/** A piece of an answer that may be shown. */
const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 40) ?? 'nothing'
