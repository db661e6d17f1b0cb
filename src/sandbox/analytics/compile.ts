// Turns a valid query into parameterised SQL. All SQL comes from the table of fields or from this file. Values from the request are bound,
// and its aliases never reach the database: columns are known by their position.
import type { AggregationFunction } from '../../api/wire.ts'
import type { SqlValue } from '../store.ts'
import { FILTERS, type FieldType, type NamedField } from './fields.ts'
import type { Filter, Query, Selection } from './query.ts'

/** The people and the time whose rows count; both ends are included. */
export interface Reach {
  readonly fromAt: number
  readonly untilAt: number
  /** Absent: all people. */
  readonly people?: readonly number[]
  /** There are rows of people who left the roster; these do not count. */
  readonly departed: boolean
  /** The most rows that the caller can use. */
  readonly limit: number
}

/** The name and the type of a column in the answer. */
export interface Column {
  readonly alias: string
  readonly type: FieldType
}

interface Compiled {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  /** In the order of the result's columns. */
  readonly columns: readonly Column[]
}

interface Part {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

/** Groups are the first columns. Rows come oldest first, groups and distinct values by value. Rule 6 leaves the order open: choice. */
export function compile({ source, selections, groups, filters }: Query, reach: Reach): Compiled {
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
    parameters: [...parameters, reach.limit],
    columns: [...groups, ...selections].map((one) => ({ alias: one.alias, type: typeOf(one) })),
  }
}

/** The offset is a whole number of milliseconds, so that shifted days stay whole. */
const plain = ({ field, offsetMs }: NamedField): Part => ({
  sql: field.sql,
  parameters: field.name === 'date UTC-x' ? [BigInt(offsetMs)] : [],
})

/** The SQL of each function over an expression; the sum of no rows is 0. */
const FUNCTION_SQL: Readonly<Record<AggregationFunction, (sql: string) => string>> = {
  QUERY_AGGREGATION_UNSPECIFIED: (sql) => sql,
  QUERY_AGGREGATION_COUNT: () => 'COUNT(*)',
  QUERY_AGGREGATION_SUM: (sql) => `COALESCE(SUM(${sql}), 0)`,
  QUERY_AGGREGATION_AVG: (sql) => `AVG(${sql})`,
  QUERY_AGGREGATION_MAX: (sql) => `MAX(${sql})`,
  QUERY_AGGREGATION_MIN: (sql) => `MIN(${sql})`,
}

function aggregated(selection: Selection): Part {
  const { field, fn } = selection
  if (fn === 'QUERY_AGGREGATION_UNSPECIFIED') return plain(selection)
  if (field.plain !== undefined) return { sql: `COUNT(DISTINCT ${field.sql})`, parameters: [] }
  return { sql: FUNCTION_SQL[fn](field.sql), parameters: [] }
}

const typeOf = (column: NamedField & { readonly fn?: AggregationFunction }): FieldType =>
  column.fn === undefined || column.fn === 'QUERY_AGGREGATION_UNSPECIFIED' ? column.field.type : 'number'

/** The unary plus stops the database from looking up rows person by person when the rows of all people are needed. */
function reachOf({ fromAt, untilAt, people, departed }: Reach): readonly Part[] {
  return [
    { sql: 'at BETWEEN ? AND ?', parameters: [fromAt, untilAt] },
    ...(people ? [{ sql: 'person IN (SELECT value FROM json_each(?))', parameters: [JSON.stringify(people)] }] : []),
    ...(departed && !people ? [{ sql: '+person IN (SELECT id FROM people)', parameters: [] }] : []),
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
