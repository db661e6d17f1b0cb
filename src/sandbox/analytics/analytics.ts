// Analytics: reads, compiles, runs and shows each query of a request, in the order of the request. Bounds the size of an answer.
import type { Wire } from '../../api/wire.ts'
import { type Fields, Refusal, textField, timeField } from '../refusal.ts'
import { kept, peopleOf, type ServiceContext } from '../roster.ts'
import type { SqlValue, StoredKey } from '../store.ts'
import { type AggregationFunction, FILTERS, type FieldType, FUNCTIONS, type NamedField } from './fields.ts'
import { type ApiKeyOf, type Filter, type Query, queriesOf, type Selection, writeCell } from './query.ts'

/** The most values in one answer; a larger answer is refused with 400. Choice. */
const MAX_VALUES = 1_500_000

/**
 * docs/service.md, Analytics. The time range of the request applies only to sources of totals, both ends included; without one all
 * rows count (choice). A key limited to one group sees only the people of that group.
 */
export function analytics(context: ServiceContext, key: StoredKey, fields: Fields): Wire<'AnalyticsAnswer'> {
  const { store, switches, now } = context
  const groupName = textField(fields, 'group_name')
  const fromAt = timeField(fields, 'start_timestamp') ?? 0
  const untilAt = timeField(fields, 'end_timestamp') ?? now
  const queries = queriesOf(fields, switches)
  const seenUntil = now - switches.analyticsDelay
  const limited = groupName !== undefined || key.groupId !== undefined
  const people = peopleOf(store, key, groupName)
  const whose = limited ? people.map((one) => one.id) : undefined
  const apiKeys = new Map(people.map((one) => [one.id, one.apiKey]))
  const apiKeyOf = (person: number): string => apiKeys.get(person) ?? ''
  let room = MAX_VALUES
  const queryResults = queries.map((query) => {
    const span = query.source.totals ? { fromAt, untilAt: Math.min(untilAt, seenUntil) } : { fromAt: 0, untilAt: seenUntil }
    const { sql, parameters, columns } = compile(query, { ...span, people: whose, room })
    const rows = store.select(sql, parameters)
    room -= rows.length * columns.length
    if (room < 0) throw new Refusal(400, TOO_LARGE)
    const items = rows.map((row) => ({ item: itemOf(row, columns, apiKeyOf) }))
    return { responseItems: kept(items, switches) }
  })
  return { queryResults }
}

const TOO_LARGE = `the answer would hold more than ${MAX_VALUES} values: select or filter for less, or ask in several requests`

/** `Object.fromEntries` makes own properties of all names: an alias may be `__proto__`. */
const itemOf = (row: readonly SqlValue[], columns: readonly Column[], apiKeyOf: ApiKeyOf): Readonly<Record<string, string>> =>
  Object.fromEntries(columns.map(({ alias, type }, index) => [alias, writeCell(type, row[index] ?? null, apiKeyOf)]))

// Turns a valid query into parameterised SQL. All SQL comes from the table of fields or from this file. Values from the request are bound,
// and its aliases never reach the database: columns are known by their position.

/** The people and the time whose rows count; both ends are included. */
interface Reach {
  readonly fromAt: number
  readonly untilAt: number
  /** Undefined: everybody on the roster. */
  readonly people: readonly number[] | undefined
  /** The most values that the answer has room for; one row more than fits shows that there are too many. */
  readonly room: number
}

/** The name and the type of a column in the answer. */
interface Column {
  readonly alias: string
  readonly type: FieldType
}

interface Part {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

/** Groups are the first columns. Rows come oldest first, groups and distinct values by value. Rule 6 leaves the order open: choice. */
function compile({ source, selections, groups, filters }: Query, reach: Reach) {
  const columns = [...groups.map((one) => plain(one)), ...selections.map((one) => aggregated(one))]
  const conditions = [...reachOf(reach), ...filters.map(conditionOf)]
  const distinct = selections.some((one) => one.fn === 'QUERY_AGGREGATION_UNSPECIFIED' && one.field.plain !== undefined)
  const places = (count: number): string => Array.from({ length: count }, (_, index) => index + 1).join(', ')
  const rows = !source.totals && groups.length === 0 && selections.every((one) => one.fn === 'QUERY_AGGREGATION_UNSPECIFIED')
  const sql = [
    `SELECT ${distinct ? 'DISTINCT ' : ''}${columns.map((one) => one.sql).join(', ')}`,
    `FROM ${source.rows}`,
    `WHERE ${conditions.map((one) => one.sql).join(' AND ')}`,
    ...(groups.length > 0 ? [`GROUP BY ${places(groups.length)} ORDER BY ${places(groups.length)}`] : []),
    ...(rows ? [`ORDER BY ${distinct ? places(columns.length) : 'at, rowid'}`] : []),
    'LIMIT ?',
  ].join(' ')
  const parameters = [...columns, ...conditions].flatMap((one) => one.parameters)
  return {
    sql,
    parameters: [...parameters, Math.floor(reach.room / columns.length) + 1],
    /** In the order of the result's columns. */
    columns: [...groups, ...selections].map((one): Column => ({ alias: one.alias, type: typeOf(one) })),
  }
}

/** The offset is a whole number of milliseconds, so that shifted days stay whole. */
const plain = ({ field, offsetMs }: NamedField): Part => ({
  sql: field.sql,
  parameters: field.name === 'date UTC-x' ? [BigInt(offsetMs)] : [],
})

function aggregated(selection: Selection): Part {
  const { field, fn } = selection
  if (fn === 'QUERY_AGGREGATION_UNSPECIFIED') return plain(selection)
  if (field.plain !== undefined) return { sql: `COUNT(DISTINCT ${field.sql})`, parameters: [] }
  return { sql: FUNCTIONS[fn](field.sql), parameters: [] }
}

const typeOf = (column: NamedField & { readonly fn?: AggregationFunction }): FieldType =>
  column.fn === undefined || column.fn === 'QUERY_AGGREGATION_UNSPECIFIED' ? column.field.type : 'number'

/** The unary plus stops the database from looking up rows person by person when the rows of all people are needed. */
function reachOf({ fromAt, untilAt, people }: Reach): readonly Part[] {
  return [
    { sql: 'at BETWEEN ? AND ?', parameters: [fromAt, untilAt] },
    people
      ? { sql: 'person IN (SELECT value FROM json_each(?))', parameters: [JSON.stringify(people)] }
      : { sql: '+person IN (SELECT id FROM people)', parameters: [] },
  ]
}

function conditionOf(filter: Filter): Part {
  const { sql, parameters } = plain(filter)
  const comparison = FILTERS[filter.operation]
  if (filter.field.type === 'person') {
    return { sql: `${sql} IN (SELECT id FROM people WHERE apiKey ${comparison} ?)`, parameters: [filter.value] }
  }
  return { sql: `${sql} ${comparison} ?`, parameters: [...parameters, filter.value] }
}
