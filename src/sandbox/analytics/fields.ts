// The fields of the data sources as queries use them: fields.yaml with what may be done with a field of each kind.
import type { Wire } from '../../api/wire.ts'
import { HOUR_MS } from '../../core/model/units.ts'
import type { Switches } from '../switches.ts'
import { FIELDS } from './fields.generated.ts'

export type AggregationFunction = NonNullable<Wire<'Selection'>['aggregation_function']>

/** The functions of selections, as SQL over an expression; the sum of no rows is 0. */
export const FUNCTIONS: Readonly<Record<AggregationFunction, (sql: string) => string>> = {
  QUERY_AGGREGATION_UNSPECIFIED: (sql) => sql,
  QUERY_AGGREGATION_COUNT: () => 'COUNT(*)',
  QUERY_AGGREGATION_SUM: (sql) => `COALESCE(SUM(${sql}), 0)`,
  QUERY_AGGREGATION_AVG: (sql) => `AVG(${sql})`,
  QUERY_AGGREGATION_MAX: (sql) => `MAX(${sql})`,
  QUERY_AGGREGATION_MIN: (sql) => `MIN(${sql})`,
}

/** The six operations of filters and their SQL. docs/service.md, Query requests. */
export const FILTERS: Readonly<Record<Wire<'Filter'>['filter'], string>> = {
  QUERY_FILTER_EQUAL: '=',
  QUERY_FILTER_NOT_EQUAL: '<>',
  QUERY_FILTER_GREATER_THAN: '>',
  QUERY_FILTER_LESS_THAN: '<',
  QUERY_FILTER_GE: '>=',
  QUERY_FILTER_LE: '<=',
}

type Kind = (typeof FIELDS.sources)[number]['fields'][number]['kind']

/**
 * The type of a field's values. `person` is the hash of an API key. `date`, `hour` and `timestamp` are read as whole days, hours and
 * seconds since the epoch. The `distinct …` types are the persons or pairs that these fields list and count, read as one number.
 */
export type FieldType = Exclude<Kind, 'shifted date' | 'total' | 'filter'>

/** What all fields of a kind have in common. */
interface FieldKind {
  readonly type: FieldType
  /** Functions that a selection may carry; empty: the field can only be filtered on. */
  readonly functions: readonly AggregationFunction[]
  readonly filterable: boolean
  readonly groupable: boolean
  readonly sql?: string
  /** For a `distinct …` field: the fields to group by instead. */
  readonly plain?: readonly string[]
}

const LISTED = {
  functions: ['QUERY_AGGREGATION_UNSPECIFIED', 'QUERY_AGGREGATION_COUNT'],
  filterable: true,
  groupable: true,
} as const
const DISTINCT = { functions: LISTED.functions, filterable: false, groupable: false } as const
const SUMMED = ['QUERY_AGGREGATION_SUM', 'QUERY_AGGREGATION_MAX', 'QUERY_AGGREGATION_MIN', 'QUERY_AGGREGATION_AVG'] as const

const DAY = 'at / 86400000'
const HOUR = 'at / 3600000'
/** Packs a person and a number of days or hours since the epoch into one number. */
export const PAIR = 4_194_304

/** A `?` in SQL stands for the offset in milliseconds. */
const KINDS: Readonly<Record<Kind, FieldKind>> = {
  text: { type: 'text', ...LISTED },
  person: { type: 'person', ...LISTED, sql: 'person' },
  date: { type: 'date', ...LISTED, sql: DAY },
  'shifted date': { type: 'date', ...LISTED, sql: '(at + ?) / 86400000' },
  hour: { type: 'hour', ...LISTED, sql: HOUR },
  timestamp: { type: 'timestamp', ...LISTED, sql: 'at / 1000' },
  number: { type: 'number', ...LISTED, functions: SUMMED },
  boolean: { type: 'boolean', ...LISTED, functions: ['QUERY_AGGREGATION_SUM', 'QUERY_AGGREGATION_COUNT'] },
  'distinct users': { type: 'distinct users', ...DISTINCT, sql: 'person', plain: ['api_key'] },
  'distinct developer days': {
    ...{ type: 'distinct developer days', ...DISTINCT, plain: ['api_key', 'date'] },
    sql: `person * ${PAIR} + ${DAY}`,
  },
  'distinct developer hours': {
    ...{ type: 'distinct developer hours', ...DISTINCT, plain: ['api_key', 'hour'] },
    sql: `person * ${PAIR} + ${HOUR}`,
  },
  total: { type: 'number', functions: ['QUERY_AGGREGATION_UNSPECIFIED'], filterable: false, groupable: false },
  filter: { type: 'text', functions: [], filterable: true, groupable: false },
}

export interface AnalyticsField extends FieldKind {
  readonly name: string
  readonly liveName?: string
  readonly meaning: string
  readonly sql: string
  readonly values?: readonly string[]
}

export interface AnalyticsSource {
  readonly name: Wire<'Query'>['data_source']
  readonly meaning: string
  /** The SQL after FROM; it has the columns `person` and `at`. */
  readonly rows: string
  /** An answer is one item of totals over the time range of the request, without rows and groups. */
  readonly totals?: true
  readonly fields: readonly AnalyticsField[]
}

/** All data sources. */
export const SOURCES: readonly AnalyticsSource[] = FIELDS.sources.map((source) => ({
  ...source,
  fields: source.fields.map((field) => ({ sql: field.name, ...KINDS[field.kind], ...field })),
}))

/** The data sources that the sandbox serves. A plan without credit fields in analytics does not have the fifth (choice). */
export const sourcesServed = ({ addOnRows, plan }: Pick<Switches, 'addOnRows' | 'plan'>): readonly AnalyticsSource[] =>
  addOnRows === 'served' && plan !== 'quota' ? SOURCES : SOURCES.filter(({ name }) => name !== 'QUERY_DATA_SOURCE_CASCADE_DATA')

/** A field as a request names it; `offsetMs` is the shift of its dates, 0 except for `date UTC-x`. */
export type NamedField = NonNullable<ReturnType<typeof findField>>

const SHIFTED = /^date UTC([+-])(\d{1,2})(?::([0-5]\d)|\.(25|5|50|75))?$/
/** Time zones lie between -12 and +14 hours, and the sign of an offset is open, so up to 14 hours are accepted either way. Choice. */
const MOST_OFFSET_MS = 14 * HOUR_MS

/** The field with this name in either spelling, such as `date UTC-8`, `date UTC+2` or `date UTC+5:30`; undefined when there is none. */
export function findField(source: AnalyticsSource, name: string) {
  const shifted = SHIFTED.exec(name)
  const wanted = shifted ? 'date UTC-x' : name
  const field = source.fields.find((one) => one.name === wanted || one.liveName === wanted)
  if (!field || (!shifted && field.name === 'date UTC-x')) return undefined
  const [, sign, hours, minutes, hundredths] = shifted ?? []
  const size = Number(hours ?? 0) + Number(minutes ?? 0) / 60 + Number(`0.${hundredths ?? 0}`)
  const offsetMs = Math.round(size * HOUR_MS) * (sign === '-' ? -1 : 1)
  return Math.abs(offsetMs) > MOST_OFFSET_MS ? undefined : { field, name: shifted ? name : field.name, offsetMs }
}
