// Every field of the data sources: its meaning, type, functions, values, and the SQL that reads it. Queries, errors, the OpenAPI document
// and the tests use this table and nothing else. Only the SQL in this table is run: a request selects from it, and its values are bound as
// parameters. docs/service.md, Fields of the data sources.

import type { Wire } from '../../api/wire.ts'
import { HOUR_MS } from '../../core/model/units.ts'
import type { Switches } from '../switches.ts'

export type AggregationFunction = NonNullable<Wire<'Selection'>['aggregation_function']>

/**
 * The type of a field's values. `person` is the hash of an API key. `date`, `hour` and `timestamp` are read as whole days, hours and
 * seconds since the epoch. The `distinct …` types are the persons or pairs that these fields list and count, read as one number.
 */
export type FieldType =
  | 'text'
  | 'person'
  | 'number'
  | 'boolean'
  | 'date'
  | 'hour'
  | 'timestamp'
  | 'distinct users'
  | 'distinct developer days'
  | 'distinct developer hours'

export interface AnalyticsField {
  readonly name: string
  /** How live deployments spell it (docs/service.md, How deployments differ); requests take both. */
  readonly liveName?: string
  readonly meaning: string
  readonly type: FieldType
  /** Functions that a selection may carry; empty: the field can only be filtered on. */
  readonly functions: readonly AggregationFunction[]
  readonly filterable: boolean
  readonly groupable: boolean
  /** An expression over one row of the source; for `totals`, over all rows. A `?` stands for the offset in milliseconds. */
  readonly sql: string
  /** The known values of a field that may have others. */
  readonly values?: readonly string[]
  /** For a `distinct …` field: the fields to group by instead. */
  readonly plain?: readonly string[]
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

export const INTENTS = [
  'CHAT_INTENT_GENERIC',
  'CHAT_INTENT_FUNCTION_EXPLAIN',
  'CHAT_INTENT_FUNCTION_DOCSTRING',
  'CHAT_INTENT_FUNCTION_REFACTOR',
  'CHAT_INTENT_CODE_BLOCK_EXPLAIN',
  'CHAT_INTENT_CODE_BLOCK_REFACTOR',
  'CHAT_INTENT_PROBLEM_EXPLAIN',
  'CHAT_INTENT_FUNCTION_UNIT_TESTS',
] as const

export const COMMAND_SOURCES = [
  'COMMAND_REQUEST_SOURCE_LINE_HINT_CODE_LENS',
  'COMMAND_REQUEST_SOURCE_DEFAULT',
  'COMMAND_REQUEST_SOURCE_RIGHT_CLICK_REFACTOR',
  'COMMAND_REQUEST_SOURCE_FUNCTION_CODE_LENS',
  'COMMAND_REQUEST_SOURCE_FOLLOWUP',
  'COMMAND_REQUEST_SOURCE_CLASS_CODE_LENS',
  'COMMAND_REQUEST_SOURCE_PLAN',
  'COMMAND_REQUEST_SOURCE_SELECTION_HINT_CODE_LENS',
] as const

const PROVIDER_SOURCES = ['PROVIDER_SOURCE_COMMAND_GENERATE', 'PROVIDER_SOURCE_COMMAND_EDIT'] as const

const LISTED: readonly AggregationFunction[] = ['QUERY_AGGREGATION_UNSPECIFIED', 'QUERY_AGGREGATION_COUNT']
const SUMMED: readonly AggregationFunction[] = [
  'QUERY_AGGREGATION_SUM',
  'QUERY_AGGREGATION_MAX',
  'QUERY_AGGREGATION_MIN',
  'QUERY_AGGREGATION_AVG',
]
const TICKED: readonly AggregationFunction[] = ['QUERY_AGGREGATION_SUM', 'QUERY_AGGREGATION_COUNT']

const PLAIN = { filterable: true, groupable: true } as const
const text = (name: string, meaning: string, sql: string, values?: readonly string[]): AnalyticsField => ({
  ...{ name, meaning, type: 'text', functions: LISTED, ...PLAIN, sql },
  values,
})
const number = (name: string, meaning: string, sql: string): AnalyticsField => ({
  ...{ name, meaning, type: 'number', functions: SUMMED, ...PLAIN, sql },
})
const tick = (name: string, meaning: string, sql: string): AnalyticsField => ({
  ...{ name, meaning, type: 'boolean', functions: TICKED, ...PLAIN, sql },
})

const DAY = 'at / 86400000'
const HOUR = 'at / 3600000'
/** Packs a person and a number of days or hours since the epoch into one number. */
export const PAIR = 4_194_304

const API_KEY: AnalyticsField = {
  ...{ name: 'api_key', meaning: 'hash of the user API key', type: 'person', functions: LISTED, ...PLAIN, sql: 'person' },
}
const date = (meaning: string): AnalyticsField => ({ name: 'date', meaning, type: 'date', functions: LISTED, ...PLAIN, sql: DAY })
/** The command source has no shifted date: docs/service.md, Fields of the data sources. */
const datesOf = (meaning: string): readonly AnalyticsField[] => [
  date(meaning),
  {
    name: 'date UTC-x',
    meaning: 'date shifted by a timezone offset (x replaced by the offset)',
    ...{ type: 'date', functions: LISTED, ...PLAIN, sql: '(at + ?) / 86400000' },
  },
]
const LANGUAGE = text('language', 'programming language', 'language')
const IDE = text('ide', 'IDE in use', 'ide')
const VERSION = text('version', 'client version', 'version')

type DistinctType = Extract<FieldType, `distinct ${string}`>
const distinct = (type: DistinctType, meaning: string, sql: string, plain: readonly string[]): AnalyticsField => ({
  ...{ name: type.replaceAll(' ', '_'), meaning, type, functions: LISTED, filterable: false, groupable: false, sql, plain },
})

const USER_DATA: AnalyticsSource = {
  name: 'QUERY_DATA_SOURCE_USER_DATA',
  meaning: 'autocomplete, per user and hour',
  rows: 'autocomplete_use',
  fields: [
    API_KEY,
    ...datesOf('UTC date'),
    { name: 'hour', meaning: 'UTC hour', type: 'hour', functions: LISTED, ...PLAIN, sql: HOUR },
    LANGUAGE,
    IDE,
    VERSION,
    number('num_acceptances', 'autocomplete acceptances', 'acceptances'),
    number('num_lines_accepted', 'lines accepted', 'linesAccepted'),
    number('num_bytes_accepted', 'bytes accepted', 'bytesAccepted'),
    distinct('distinct users', 'distinct users', 'person', ['api_key']),
    distinct('distinct developer days', 'distinct (user, day) pairs', `person * ${PAIR} + ${DAY}`, ['api_key', 'date']),
    distinct('distinct developer hours', 'distinct (user, hour) pairs', `person * ${PAIR} + ${HOUR}`, ['api_key', 'hour']),
  ],
}

const CHAT_DATA: AnalyticsSource = {
  name: 'QUERY_DATA_SOURCE_CHAT_DATA',
  meaning: 'legacy chat, one row for each response of a model',
  rows: 'chat_use',
  fields: [
    API_KEY,
    text('model_id', 'chat model identifier', 'model'),
    ...datesOf('UTC date of the response'),
    IDE,
    VERSION,
    text('latest_intent_type', 'chat intent', 'intent', INTENTS),
    number('num_chats_received', 'chat messages received', 'chatsReceived'),
    tick('chat_accepted', 'response accepted (thumbs up)', 'accepted'),
    tick('chat_inserted_at_cursor', 'the Insert button was used', 'insertedAtCursor'),
    tick('chat_applied', 'the Apply Diff button was used', 'applied'),
    number('chat_loc_used', 'lines of code used from chat', 'linesUsed'),
  ],
}

const COMMAND_DATA: AnalyticsSource = {
  name: 'QUERY_DATA_SOURCE_COMMAND_DATA',
  meaning: 'commands, declined ones too',
  rows: 'command_use',
  fields: [
    API_KEY,
    date('UTC date'),
    { name: 'timestamp', meaning: 'UTC timestamp', type: 'timestamp', functions: LISTED, ...PLAIN, sql: 'at / 1000' },
    LANGUAGE,
    IDE,
    VERSION,
    text('command_source', 'trigger source', 'commandSource', COMMAND_SOURCES),
    text('provider_source', 'generation or edit mode', 'providerSource', PROVIDER_SOURCES),
    number('lines_added', 'lines added', 'linesAdded'),
    number('lines_removed', 'lines removed', 'linesRemoved'),
    number('bytes_added', 'bytes added', 'bytesAdded'),
    number('bytes_removed', 'bytes removed', 'bytesRemoved'),
    number('selection_lines', 'lines selected (zero for generations)', 'selectionLines'),
    number('selection_bytes', 'bytes selected (zero for generations)', 'selectionBytes'),
    tick('accepted', 'command accepted', 'accepted'),
  ],
}

/** What the assistant wrote is what the other two sources count as accepted; typed code has rows of its own. */
const WRITTEN = `(
  SELECT person, at, language, ide, version, bytesAccepted AS autocompleteBytes, 0 AS commandBytes, 0 AS userBytes FROM autocomplete_use
  UNION ALL SELECT person, at, language, ide, version, 0, bytesAdded, 0 FROM command_use WHERE accepted
  UNION ALL SELECT person, at, language, ide, version, 0, 0, bytes FROM typing_use)`

const total = (name: string, meaning: string, sql: string, liveName?: string): AnalyticsField => ({
  ...{ name, meaning, type: 'number', functions: ['QUERY_AGGREGATION_UNSPECIFIED'], filterable: false, groupable: false, sql },
  liveName,
})
const filterOnly = (name: string, meaning: string): AnalyticsField => ({
  ...{ name, meaning, type: 'text', functions: [], filterable: true, groupable: false, sql: name },
})

const ASSISTANT = 'SUM(autocompleteBytes + commandBytes)'
const EVERYTHING = 'SUM(autocompleteBytes + commandBytes + userBytes)'

const PCW_DATA: AnalyticsSource = {
  name: 'QUERY_DATA_SOURCE_PCW_DATA',
  meaning: 'percent code written, as totals',
  rows: WRITTEN,
  totals: true,
  fields: [
    total('percent_code_written', 'assistant_bytes / (assistant_bytes + user_bytes)', `CAST(${ASSISTANT} AS REAL) / ${EVERYTHING}`),
    total('assistant_bytes', 'bytes generated by the assistant', `COALESCE(${ASSISTANT}, 0)`, 'codeium_bytes'),
    total('user_bytes', 'bytes written by the user', 'COALESCE(SUM(userBytes), 0)'),
    total('total_bytes', 'assistant_bytes + user_bytes', `COALESCE(${EVERYTHING}, 0)`),
    total(
      'assistant_bytes_by_autocomplete',
      'assistant bytes from autocomplete',
      'COALESCE(SUM(autocompleteBytes), 0)',
      'codeium_bytes_by_autocomplete',
    ),
    total('assistant_bytes_by_command', 'assistant bytes from commands', 'COALESCE(SUM(commandBytes), 0)', 'codeium_bytes_by_command'),
    filterOnly('language', 'programming language, upper case'),
    filterOnly('ide', 'IDE identifier, lower case'),
    filterOnly('version', 'client version string'),
  ],
}

/** The data sources of the interface. */
const ANALYTICS_SOURCES: readonly AnalyticsSource[] = [USER_DATA, CHAT_DATA, COMMAND_DATA, PCW_DATA]

/**
 * Add-on use per person (docs/service.md). Choices: one row for each entry of a conversation; `prompts_used` is its whole cost,
 * as `promptsUsed` of CascadeAnalytics, and `flex_credits_used` the part of it that was paid from add-on credits; metadata is unknown.
 */
const CASCADE_DATA: AnalyticsSource = {
  name: 'QUERY_DATA_SOURCE_CASCADE_DATA',
  meaning: 'credits of agent use, one row for each entry of a conversation',
  rows: 'add_on_use',
  fields: [
    API_KEY,
    date('UTC date'),
    number('prompts_used', 'credits used, in cents', 'cents'),
    number('flex_credits_used', 'what of them was paid from add-on credits, in cents', 'addOnCents'),
    text('model', 'model enum; <nil> when unknown', 'modelName'),
    IDE,
    text('metadata', 'always <nil>', 'metadata'),
  ],
}

/** The data sources that the sandbox serves. A plan without credit fields in analytics does not have the fifth (choice). */
export const sourcesServed = ({ addOnRows, plan }: Pick<Switches, 'addOnRows' | 'plan'>): readonly AnalyticsSource[] =>
  addOnRows === 'served' && plan !== 'quota' ? [...ANALYTICS_SOURCES, CASCADE_DATA] : ANALYTICS_SOURCES

/** A field as a request names it; `offsetMs` is the shift of its dates, 0 except for `date UTC-x`. */
export interface NamedField {
  readonly field: AnalyticsField
  readonly name: string
  readonly offsetMs: number
}

const SHIFTED = /^date UTC([+-])(\d{1,2})(?::([0-5]\d)|\.(25|5|50|75))?$/
/** Time zones lie between -12 and +14 hours, and the sign of an offset is open, so up to 14 hours are accepted either way. Choice. */
const MOST_OFFSET_MS = 14 * HOUR_MS

/** The field with this name in either spelling, such as `date UTC-8`, `date UTC+2` or `date UTC+5:30`; undefined when there is none. */
export function findField(source: AnalyticsSource, name: string): NamedField | undefined {
  const shifted = SHIFTED.exec(name)
  const wanted = shifted ? 'date UTC-x' : name
  const field = source.fields.find((one) => one.name === wanted || one.liveName === wanted)
  if (!field || (!shifted && field.name === 'date UTC-x')) return undefined
  const [, sign, hours, minutes, hundredths] = shifted ?? []
  const size = Number(hours ?? 0) + Number(minutes ?? 0) / 60 + Number(`0.${hundredths ?? 0}`)
  const offsetMs = Math.round(size * HOUR_MS) * (sign === '-' ? -1 : 1)
  return Math.abs(offsetMs) > MOST_OFFSET_MS ? undefined : { field, name: shifted ? name : field.name, offsetMs }
}
