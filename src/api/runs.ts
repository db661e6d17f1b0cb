// Runs of agents: the question, the answer, and their sums by day, model and mode for the record of use (docs/service.md, Rows of the agent).
// Pure.
import type { RunsReading, RunUse } from '../core/model/observed.ts'
import { cents, creditsOf, DAY_MS, type Instant } from '../core/model/units.ts'
import type { RunsQuestion } from '../ports.ts'
import { countOf, dayAtOf, type Judged, MAX_NAME, nameOf, readSums, type SumKind, shown, withoutFuture } from './add-on.ts'
import { type Fields, isAbsent, MAX_CENTS, MAX_FIGURE, objectOf, type Reading, rowsOf, setAside } from './decode.ts'
import { isObject } from './errors.ts'
import type { Wire } from './wire.ts'

/** Sums of one answer: a month of 20 models in 10 modes has a third of that. Choice. */
const MAX_RUN_SUMS = 20_000

/** One day, model and mode. */
interface RunSum extends Pick<RunUse, 'dayAt' | 'model' | 'mode'> {
  messages: number
  /** Undefined while no row told credits. */
  cents: number | undefined
}

const RUNS: SumKind<RunSum> = {
  operation: 'CascadeAnalytics',
  of: 'runs',
  most: MAX_RUN_SUMS,
  judge,
  keyOf: ({ dayAt, model, mode }) => JSON.stringify([dayAt, model, mode]),
  add(into, { messages, cents: used }) {
    into.messages = Math.min(MAX_FIGURE, into.messages + messages)
    if (used !== undefined) into.cents = Math.min(MAX_FIGURE, (into.cents ?? 0) + used)
  },
}

/** Each result tells its source by a wrapper around a list of the same name, which may be missing. */
const RUN_ROWS = [
  ['queryResults', '*', 'cascadeRuns', 'cascadeRuns', '*'],
  ['queryResults', '*', 'cascadeRuns', '*'],
] as const

export const timestamp = (at: Instant): string => new Date(at).toISOString()

/** docs/service.md, CascadeAnalytics: runs of some days in one request. A range ends 1 ms before the day that it excludes. */
export function encodeRuns({ fromAt, untilAt, groupName, email }: RunsQuestion): Wire<'CascadeAnalyticsRequest'> {
  return {
    group_name: groupName,
    emails: email === undefined ? undefined : [email],
    start_timestamp: timestamp(fromAt),
    end_timestamp: untilAt === undefined ? undefined : timestamp(untilAt - 1),
    query_requests: [{ cascade_runs: {} }],
  }
}

/** The runs of the requested days. Rows that make no sense, or are later than a day from now, are set aside; malformed when nothing else is left. */
export const readRuns = ({ fromAt, untilAt = Number.POSITIVE_INFINITY }: RunsQuestion, now: () => Instant): Reading<RunsReading> =>
  readSums(RUN_ROWS, RUNS, (body, summed) => {
    for (const { cascadeRuns: wrapper } of rowsOf('CascadeAnalytics', objectOf('CascadeAnalytics', body)['queryResults'], 'queryResults'))
      rowsOf('CascadeAnalytics', isObject(wrapper) ? wrapper['cascadeRuns'] : wrapper, 'cascadeRuns')
    const { sums, aside } = withoutFuture(summed, now() + DAY_MS, 'CascadeAnalytics')
    const tellsUse = sums.some((sum) => sum.cents !== undefined)
    const rows = sums
      .filter(({ dayAt }) => dayAt >= fromAt && dayAt < untilAt)
      .map(({ dayAt, model, mode, messages, cents: used = 0 }) => ({
        ...{ dayAt, model, mode, messages },
        used: tellsUse ? creditsOf(cents(used)) : undefined,
      }))
    return { rows, ...setAside(aside) }
  })

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
