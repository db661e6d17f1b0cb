// Encodes questions to Analytics and CascadeAnalytics, and decodes their answers. Pure. Columns of Analytics are named by the caller, so
// their values stay text. Agent rows are summed, because the service may split one conversation over several rows (docs/service.md,
// Rows of the agent).

import { BugError } from '../core/model/problem.ts'
import { compareText } from '../core/model/scope.ts'
import { type Cents, type Credits, cents, creditsOf, DAY_MS, type Instant } from '../core/model/units.ts'
import type { RowPath, RowPlan } from '../ports.ts'
import { counterOf, type Fields, numberOf, objectOf, rowsOf } from './decode.ts'
import { isObject, malformed } from './errors.ts'

import {
  type AnalyticsRequest,
  CASCADE_WRAPPER,
  type CascadeRequest,
  type CascadeSource,
  type IdeType,
  type WireQueryRequest,
} from './wire.ts'

/** Days of agent analytics in one request (docs/service.md, What the client tolerates, point 8). */
const CASCADE_CHUNK_DAYS = 30
/** The longest range of one question: ten years. Choice. */
const MAX_CHUNKS = 122

// ---- Analytics

interface AnalyticsQuery {
  /** `addOn`: add-on use by person, which only some deployments tell (docs/service.md). */
  readonly source: 'user' | 'chat' | 'command' | 'pcw' | 'addOn'
  /** Either every selection has a `fn`, or none has. */
  readonly select: readonly {
    readonly field: string
    readonly as?: string
    readonly fn?: 'count' | 'sum' | 'avg' | 'max' | 'min'
  }[]
  readonly where?: readonly { readonly field: string; readonly is: '=' | '!=' | '>' | '<' | '>=' | '<='; readonly value: string }[]
  readonly groupBy?: readonly { readonly field: string; readonly as: string }[]
}

export interface AnalyticsQuestion {
  readonly groupName?: string
  /** Date bounds of `pcw` queries. */
  readonly startAt?: Instant
  readonly endAt?: Instant
  readonly queries: readonly AnalyticsQuery[]
}

/** One row: column alias to text. */
export type AnalyticsRow = Readonly<Record<string, string>>

const SOURCES = {
  user: 'QUERY_DATA_SOURCE_USER_DATA',
  chat: 'QUERY_DATA_SOURCE_CHAT_DATA',
  command: 'QUERY_DATA_SOURCE_COMMAND_DATA',
  pcw: 'QUERY_DATA_SOURCE_PCW_DATA',
  addOn: 'QUERY_DATA_SOURCE_CASCADE_DATA',
} as const
const FUNCTIONS = {
  count: 'QUERY_AGGREGATION_COUNT',
  sum: 'QUERY_AGGREGATION_SUM',
  avg: 'QUERY_AGGREGATION_AVG',
  max: 'QUERY_AGGREGATION_MAX',
  min: 'QUERY_AGGREGATION_MIN',
} as const
const FILTERS = {
  '=': 'QUERY_FILTER_EQUAL',
  '!=': 'QUERY_FILTER_NOT_EQUAL',
  '>': 'QUERY_FILTER_GREATER_THAN',
  '<': 'QUERY_FILTER_LESS_THAN',
  '>=': 'QUERY_FILTER_GE',
  '<=': 'QUERY_FILTER_LE',
} as const

export const timestamp = (at: Instant): string => new Date(at).toISOString()

/** docs/service.md, Analytics. */
export function encodeAnalytics(question: AnalyticsQuestion): AnalyticsRequest {
  return {
    group_name: question.groupName,
    start_timestamp: question.startAt === undefined ? undefined : timestamp(question.startAt),
    end_timestamp: question.endAt === undefined ? undefined : timestamp(question.endAt),
    query_requests: question.queries.map(encodeQuery),
  }
}

function encodeQuery(query: AnalyticsQuery): WireQueryRequest {
  return {
    data_source: SOURCES[query.source],
    selections: query.select.map(({ field, as, fn }) => ({
      field,
      name: as,
      aggregation_function: fn === undefined ? undefined : FUNCTIONS[fn],
    })),
    filters: query.where?.map(({ field, is, value }) => ({ name: field, filter: FILTERS[is], value })),
    aggregations: query.groupBy?.map(({ field, as }) => ({ field, name: as })),
  }
}

/** The rows of each query, in the order asked. A missing list has no rows; in one of another length the queries cannot be told apart. */
export function decodeAnalytics(body: unknown, queries: readonly AnalyticsQuery[]): readonly (readonly AnalyticsRow[])[] {
  const answer = objectOf('Analytics', body)
  const results = answer['queryResults'] ?? []
  if (!Array.isArray(results)) throw malformed('Analytics', 'queryResults is not an array')
  if (results.length !== 0 && results.length !== queries.length) {
    throw malformed('Analytics', `the answer has ${results.length} results for ${queries.length} queries`)
  }
  return queries.map((query, index) => {
    const result: unknown = results[index]
    const items = isObject(result) ? rowsOf('Analytics', result['responseItems'], 'responseItems') : []
    return items.map((item) => rowOf(isObject(item['item']) ? item['item'] : {}, query))
  })
}

/** Columns without an alias may come back in the live spelling of the fields. */
function rowOf(item: Fields, query: AnalyticsQuery): AnalyticsRow {
  const named = new Set([...query.select.map((one) => one.as), ...(query.groupBy ?? []).map((one) => one.as)])
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [named.has(name) ? name : name.replace('codeium_bytes', 'assistant_bytes'), textOf(value)]),
  )
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined || typeof value === 'object' ? '' : String(value)
}

// ---- CascadeAnalytics

export interface CascadeQuestion {
  readonly sources: readonly CascadeSource[]
  readonly startAt: Instant
  /** Exclusive. */
  readonly endAt: Instant
  /** One group's people, or these; never both. Absent: everyone. */
  readonly of?: { readonly groupName: string } | { readonly emails: readonly string[] }
  /** Absent: all. */
  readonly ideTypes?: readonly IdeType[]
}

/** The sum of one day, model and mode. `day` is `YYYY-MM-DD`; `used` is absent when the plan shows no credits at all. */
interface CascadeRuns {
  readonly day: string
  readonly model: string
  readonly mode: string
  readonly messages: number
  readonly conversations: number
  readonly used?: Credits
}

interface CascadeLines {
  readonly day: string
  readonly suggested: number
  readonly accepted: number
}

interface CascadeTool {
  readonly tool: string
  readonly count: number
}

/** Lists of sources that were not requested are empty. All lists are sorted by their texts. */
export interface CascadeUse {
  readonly runs: readonly CascadeRuns[]
  readonly lines: readonly CascadeLines[]
  readonly tools: readonly CascadeTool[]
}

/** docs/service.md, CascadeAnalytics, in chunks cut at UTC midnights. A chunk ends 1 ms before the next, so that no day counts twice. */
export function encodeCascade(question: CascadeQuestion): readonly CascadeRequest[] {
  const common = {
    ...(question.of && ('groupName' in question.of ? { group_name: question.of.groupName } : { emails: question.of.emails })),
    ide_types: question.ideTypes,
    query_requests: question.sources.map((source) => ({ [source]: {} })),
  }
  const chunks: CascadeRequest[] = []
  let from = question.startAt
  while (from < question.endAt && chunks.length < MAX_CHUNKS) {
    const next = (Math.floor(from / DAY_MS) + CASCADE_CHUNK_DAYS) * DAY_MS
    const to = next < question.endAt ? next - 1 : question.endAt
    chunks.push({ ...common, start_timestamp: timestamp(from), end_timestamp: timestamp(to) })
    from = next
  }
  if (from < question.endAt) throw new BugError(`agent analytics over more than ${MAX_CHUNKS * CASCADE_CHUNK_DAYS} days asked for`)
  return chunks
}

/** The paths of runs in an answer; the inner wrapper may be missing. */
export const RUN_PATHS: readonly RowPath[] = [
  ['queryResults', '*', 'cascadeRuns', 'cascadeRuns', '*'],
  ['queryResults', '*', 'cascadeRuns', '*'],
]

export const ANALYTICS_ROWS: RowPlan = { at: [['queryResults', '*', 'responseItems', '*']], keeper: () => (row) => row }
export const CASCADE_ROWS: RowPlan = {
  at: [...RUN_PATHS, ...['cascadeLines', 'cascadeToolUsage'].map((name) => ['queryResults', '*', name, name, '*'])],
  keeper: () => (row) => row,
}

/** Rows that are not summed yet: the chunks are joined first. */
export type CascadeRows = Readonly<Record<CascadeSource, readonly Fields[]>>

/** A result tells its source by its wrapper; a wrapper or its list may be missing. */
export function decodeCascade(body: unknown): CascadeRows {
  const answer = objectOf('CascadeAnalytics', body)
  const results = rowsOf('CascadeAnalytics', answer['queryResults'], 'queryResults')
  const rows = (source: CascadeSource): readonly Fields[] =>
    results.flatMap((result) => {
      const name = CASCADE_WRAPPER[source]
      const wrapper = result[name]
      return rowsOf('CascadeAnalytics', isObject(wrapper) ? wrapper[name] : wrapper, name)
    })
  return { cascade_lines: rows('cascade_lines'), cascade_runs: rows('cascade_runs'), cascade_tool_usage: rows('cascade_tool_usage') }
}

/** Sums all chunks. Counters that cannot be read are malformed. */
export function sumCascade(chunks: readonly CascadeRows[]): CascadeUse {
  const all = (source: CascadeSource): readonly Fields[] => chunks.flatMap((chunk) => chunk[source])
  const count = (row: Fields, name: string): number => counterOf('CascadeAnalytics', row, name)
  const lines = grouped(all('cascade_lines'), (row) => [dayOf(row)])
  const tools = grouped(all('cascade_tool_usage'), (row) => [textOf(row['tool'])])
  return {
    runs: sumRuns(all('cascade_runs')),
    lines: lines.map(([[day = ''], rows]) => ({
      day,
      suggested: sum(rows.map((row) => count(row, 'linesSuggested'))),
      accepted: sum(rows.map((row) => count(row, 'linesAccepted'))),
    })),
    tools: tools.map(([[tool = ''], rows]) => ({ tool, count: sum(rows.map((row) => count(row, 'count'))) })),
  }
}

function sumRuns(all: readonly Fields[]): readonly CascadeRuns[] {
  const tellsUse = all.some((row) => numberOf(row['promptsUsed']) !== undefined)
  const usedCents = (row: Fields): Cents => cents(counterOf('CascadeAnalytics', row, 'promptsUsed'))
  return grouped(all, (row) => [dayOf(row), textOf(row['model']), textOf(row['mode'])]).map(
    ([[day = '', model = '', mode = ''], rows]) => ({
      day,
      model,
      mode,
      messages: sum(rows.map((row) => counterOf('CascadeAnalytics', row, 'messagesSent'))),
      conversations: new Set(rows.map((row) => row['cascadeId']).filter((id) => typeof id === 'string')).size,
      used: tellsUse ? creditsOf(cents(sum(rows.map(usedCents)))) : undefined,
    }),
  )
}

/** `2026-02-03T00:00:00Z`, `2026-02-03 00:00:00 +0000 UTC` and `2026-02-03` are the same day. */
const dayOf = (row: Fields): string => textOf(row['day']).trim().slice(0, 10)

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)

function grouped(
  rows: readonly Fields[],
  wordsOf: (row: Fields) => readonly string[],
): readonly (readonly [readonly string[], readonly Fields[]])[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(wordsOf(row)))
  return [...groups.entries()].sort(([a], [b]) => compareText(a, b)).map(([, members]) => [wordsOf(members[0] ?? {}), members])
}
