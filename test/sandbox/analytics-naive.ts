// A naive evaluation of Analytics: plain TypeScript over the raw rows, written from docs/service.md, without any code shared with
// the sandbox's queries. Every cell of a row is computed first; filters, groups and functions then work on cells.
import type { Wire } from '../../src/api/wire.ts'
import type { Store } from '../../src/sandbox/store.ts'
import type { UseOf } from '../../src/sandbox/use.ts'

/** A cell that can be compared and summed: times as milliseconds, booleans as 1 and 0. */
type Value = string | number
type Cells = Readonly<Record<string, Value>>
type Item = Readonly<Record<string, string>>

interface NaiveBounds {
  readonly fromAt: number
  readonly untilAt: number
  /** The people whose rows count. */
  readonly people: ReadonlySet<number>
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
const floor = (at: number, unit: number): number => at - (((at % unit) + unit) % unit)
const stamp = (at: number): string => new Date(at).toISOString()

/** The expected items of one query request, in no particular order. */
export function evaluate(store: Store, query: Wire<'Query'>, bounds: NaiveBounds): readonly Item[] {
  if (query.data_source === 'QUERY_DATA_SOURCE_PCW_DATA') return [written(store, query, bounds)]
  const keys = new Map(store.people().map((person) => [person.id, person.apiKey]))
  const keyOf = (person: number): string => keys.get(person) ?? ''
  const cells =
    query.data_source === 'QUERY_DATA_SOURCE_CASCADE_DATA'
      ? agentCells(store, keyOf)
      : rowsOf(store, query.data_source).map((row) => ({ ...cellsOf(row, keyOf(row.person)), person: row.person }))
  const rows = cells
    .filter((row) => Number(row['at']) <= bounds.untilAt && bounds.people.has(Number(row['person'])))
    .filter((cells) => (query.filters ?? []).every((filter) => passes(cells, filter)))
  return grouped(rows, query)
}

function rowsOf(store: Store, source: string): readonly UseOf<'autocomplete' | 'chat' | 'command'>[] {
  if (source === 'QUERY_DATA_SOURCE_USER_DATA') return [...store.use('autocomplete')]
  if (source === 'QUERY_DATA_SOURCE_CHAT_DATA') return [...store.use('chat')]
  return [...store.use('command')]
}

function cellsOf(row: UseOf<'autocomplete' | 'chat' | 'command'>, apiKey: string): Cells {
  const common = { at: row.at, api_key: apiKey, date: floor(row.at, DAY), ide: row.ide, version: row.version }
  if (row.source === 'autocomplete') {
    return {
      ...common,
      ...{ hour: floor(row.at, HOUR), language: row.language, num_acceptances: row.acceptances },
      ...{ num_lines_accepted: row.linesAccepted, num_bytes_accepted: row.bytesAccepted, distinct_users: apiKey },
      distinct_developer_days: `${apiKey} ${show('date', floor(row.at, DAY))}`,
      distinct_developer_hours: `${apiKey} ${show('hour', floor(row.at, HOUR))}`,
    }
  }
  if (row.source === 'chat') {
    return {
      ...common,
      ...{ model_id: row.model, latest_intent_type: row.intent, num_chats_received: row.chatsReceived, chat_loc_used: row.linesUsed },
      ...{ chat_accepted: Number(row.accepted), chat_inserted_at_cursor: Number(row.insertedAtCursor), chat_applied: Number(row.applied) },
    }
  }
  return {
    ...common,
    ...{ timestamp: floor(row.at, 1000), language: row.language, command_source: row.commandSource, provider_source: row.providerSource },
    ...{ lines_added: row.linesAdded, lines_removed: row.linesRemoved, bytes_added: row.bytesAdded, bytes_removed: row.bytesRemoved },
    ...{ selection_lines: row.selectionLines, selection_bytes: row.selectionBytes, accepted: Number(row.accepted) },
  }
}

/** The add-on part of a row: the person's use in the month beyond the seat's credits, after the row less before it. */
function agentCells(store: Store, keyOf: (person: number) => string): readonly Cells[] {
  const seat = (store.meta('creditsPerSeat') ?? 0) * 100
  const used = new Map<string, number>()
  return [...store.use('agent')].map((row) => {
    const month = `${row.person} ${stamp(row.at).slice(0, 7)}`
    const before = used.get(month) ?? 0
    used.set(month, before + row.cents)
    return {
      ...{ at: row.at, person: row.person, api_key: keyOf(row.person), date: floor(row.at, DAY), ide: row.ide, metadata: '<nil>' },
      ...{ prompts_used: row.cents, flex_credits_used: Math.max(0, before + row.cents - seat) - Math.max(0, before - seat) },
      model: row.model === 'UNKNOWN' ? '<nil>' : `MODEL_${row.model.toUpperCase().replace(' ', '_')}`,
    }
  })
}

/** `date UTC-8` is the day it was eight hours before UTC. */
function cell(cells: Cells, field: string): Value {
  const shift = /^date UTC([+-])(\d+)(?::(\d+))?$/.exec(field)
  if (!shift) return cells[field] ?? ''
  const offset = (Number(shift[2]) * 60 + Number(shift[3] ?? 0)) * 60_000 * (shift[1] === '-' ? -1 : 1)
  return floor(Number(cells['at']) + offset, DAY)
}

const TICKS = new Set(['chat_accepted', 'chat_inserted_at_cursor', 'chat_applied', 'accepted'])

function show(field: string, value: Value): string {
  if (TICKS.has(field)) return value === 1 ? 'true' : 'false'
  if (field === 'date' || field.startsWith('date UTC')) return stamp(Number(value)).slice(0, 10)
  if (field === 'hour' || field === 'timestamp') return stamp(Number(value)).replace('T', ' ').replace('.000Z', ' +0000 UTC')
  return String(value)
}

function read(cellValue: Value, text: string): Value {
  if (typeof cellValue === 'string') return text
  if (text === 'true' || text === 'false') return text === 'true' ? 1 : 0
  if (/^\d{4}-/.test(text)) return Date.parse(text.replace(' +0000 UTC', 'Z').replace(' ', 'T'))
  return Number(text)
}

function passes(cells: Cells, { name, filter, value }: Wire<'Filter'>): boolean {
  const left = cell(cells, name)
  const right = read(left, value)
  switch (filter) {
    case 'QUERY_FILTER_EQUAL':
      return left === right
    case 'QUERY_FILTER_NOT_EQUAL':
      return left !== right
    case 'QUERY_FILTER_GREATER_THAN':
      return left > right
    case 'QUERY_FILTER_LESS_THAN':
      return left < right
    case 'QUERY_FILTER_GE':
      return left >= right
    case 'QUERY_FILTER_LE':
      return left <= right
  }
}

function grouped(rows: readonly Cells[], query: Wire<'Query'>): readonly Item[] {
  const groups = query.aggregations ?? []
  const functions = query.selections.map((one) => one.aggregation_function ?? 'QUERY_AGGREGATION_UNSPECIFIED')
  if (groups.length === 0 && functions.every((fn) => fn === 'QUERY_AGGREGATION_UNSPECIFIED')) {
    const items = rows.map((cells) => itemOf([cells], query))
    const listsDistinct = query.selections.some((one) => one.field.startsWith('distinct_'))
    return listsDistinct ? [...new Map(items.map((item) => [JSON.stringify(item), item])).values()] : items
  }
  if (groups.length === 0) return [itemOf(rows, query)]
  const members = Map.groupBy(rows, (cells) => JSON.stringify(groups.map((group) => cell(cells, group.field))))
  return [...members.values()].map((group) => itemOf(group, query))
}

function itemOf(rows: readonly Cells[], query: Wire<'Query'>): Item {
  const first = rows[0] ?? {}
  const groups = (query.aggregations ?? []).map((group) => [group.name, show(group.field, cell(first, group.field))])
  const selections = query.selections.map(({ field, name, aggregation_function: fn = 'QUERY_AGGREGATION_UNSPECIFIED' }) => {
    const alias = name ?? `${fn.slice('QUERY_AGGREGATION_'.length)}_${field}`.toLowerCase()
    return [alias, applied(fn, field, rows)]
  })
  return Object.fromEntries([...selections, ...groups])
}

function applied(fn: string, field: string, rows: readonly Cells[]): string {
  const values = rows.map((cells) => cell(cells, field))
  const numbers = values.map(Number)
  const sum = numbers.reduce((total, value) => total + value, 0)
  const ofNothing = numbers.length === 0
  switch (fn) {
    case 'QUERY_AGGREGATION_COUNT':
      return String(field.startsWith('distinct_') ? new Set(values).size : values.length)
    case 'QUERY_AGGREGATION_SUM':
      return String(sum)
    case 'QUERY_AGGREGATION_AVG':
      return ofNothing ? '<nil>' : String(sum / numbers.length)
    case 'QUERY_AGGREGATION_MAX':
      return ofNothing ? '<nil>' : String(numbers.reduce((a, b) => Math.max(a, b)))
    case 'QUERY_AGGREGATION_MIN':
      return ofNothing ? '<nil>' : String(numbers.reduce((a, b) => Math.min(a, b)))
    default:
      return show(field, values[0] ?? '')
  }
}

/** Percent code written: accepted autocomplete, accepted commands, and typed code, within the bounds. */
function written(store: Store, query: Wire<'Query'>, { fromAt, untilAt, people }: NaiveBounds): Item {
  type Place = { at: number; person: number; language: string; ide: string; version: string }
  const counts = ({ at, person, language, ide, version }: Place): boolean =>
    at >= fromAt && at <= untilAt && people.has(person) && (query.filters ?? []).every((one) => passes({ language, ide, version }, one))
  const total = <Row extends Place>(rows: Iterable<Row>, bytes: (row: Row) => number): number =>
    [...rows].filter(counts).reduce((sum, row) => sum + bytes(row), 0)
  const autocomplete = total(store.use('autocomplete'), (row) => row.bytesAccepted)
  const command = total(store.use('command'), (row) => (row.accepted ? row.bytesAdded : 0))
  const user = total(store.use('typing'), (row) => row.bytes)
  const all = autocomplete + command + user
  const figures: Readonly<Record<string, number>> = {
    assistant_bytes: autocomplete + command,
    user_bytes: user,
    total_bytes: all,
    assistant_bytes_by_autocomplete: autocomplete,
    assistant_bytes_by_command: command,
  }
  const texts = query.selections.map(({ field, name }) => {
    const share = all === 0 ? '<nil>' : String((autocomplete + command) / all)
    return [name ?? `unspecified_${field}`, field === 'percent_code_written' ? share : String(figures[field])]
  })
  return Object.fromEntries(texts)
}
