// The query language of Analytics as JSON Schemas, made from the table of fields: what each data source can select, filter on and group by,
// and with which functions. Rules that a schema cannot express (aliases, mixing) are described in words.
import { type AnalyticsField, type AnalyticsSource, FILTERS, sourcesServed } from '../analytics/fields.ts'
import { MAX_ALIAS, MAX_PARTS } from '../analytics/query.ts'
import type { Switches } from '../switches.ts'

export type Schema = Readonly<Record<string, unknown>>

const UNSPECIFIED = 'QUERY_AGGREGATION_UNSPECIFIED'
const SHIFTED_DATE = 'date UTC-x'
/** Names of the shifted date; offsets are 14 hours at most. */
const SHIFTED_PATTERN = '^date UTC[+-]\\d{1,2}(:[0-5]\\d|\\.(25|5|50|75))?$'

/** `USER_DATA` of `QUERY_DATA_SOURCE_USER_DATA`. */
const shortName = (source: AnalyticsSource): string => source.name.replace('QUERY_DATA_SOURCE_', '')

/** Both spellings of each field, and the pattern of the shifted date if the source has it. */
function namesOf(fields: readonly AnalyticsField[]): Schema {
  const names = fields
    .filter((field) => field.name !== SHIFTED_DATE)
    .flatMap((field) => [field.name, ...(field.liveName ? [field.liveName] : [])])
  const shifted = fields.some((field) => field.name === SHIFTED_DATE)
  const listed = { type: 'string', enum: names }
  return shifted ? { anyOf: [listed, { type: 'string', pattern: SHIFTED_PATTERN }] } : listed
}

const ALIAS: Schema = { type: 'string', minLength: 1, maxLength: MAX_ALIAS }

function selectionSchema(source: AnalyticsSource): Schema {
  const selectable = source.fields.filter((field) => field.functions.length > 0)
  const groups = Object.groupBy(selectable, (field) => field.functions.join())
  const shapes = Object.values(groups).map((fields = []): Schema => {
    const functions = fields[0]?.functions ?? []
    // Choice: where nothing is aggregated, numbers too are valid as raw rows.
    const all = functions.some((one) => one === UNSPECIFIED) ? functions : [UNSPECIFIED, ...functions]
    return {
      type: 'object',
      required: ['field'],
      properties: {
        field: namesOf(fields),
        name: { ...ALIAS, description: 'the alias; by default {aggregation_function}_{field} in lower case, such as sum_num_acceptances' },
        aggregation_function: { type: 'string', enum: all, default: UNSPECIFIED },
      },
    }
  })
  return { anyOf: shapes }
}

function filterSchema(source: AnalyticsSource): Schema {
  return {
    type: 'object',
    required: ['name', 'filter', 'value'],
    properties: {
      name: namesOf(source.fields.filter((field) => field.filterable)),
      filter: { type: 'string', enum: Object.keys(FILTERS) },
      value: { type: 'string', description: 'always a text: a date as YYYY-MM-DD, a boolean as true or false' },
    },
  }
}

function groupSchema(source: AnalyticsSource): Schema {
  return {
    type: 'object',
    required: ['field', 'name'],
    properties: { field: namesOf(source.fields.filter((field) => field.groupable)), name: { ...ALIAS, description: 'the alias' } },
  }
}

/** A Markdown table of the fields: meaning, functions and uses. */
function fieldTable(source: AnalyticsSource): string {
  const rows = source.fields.map(({ name, meaning, functions, values, groupable }) => {
    const taken = functions.length > 0 ? functions.map((one) => one.replace('QUERY_AGGREGATION_', '')).join(', ') : 'only filters'
    const known = values ? `; one of ${values.join(', ')}` : ''
    return `| ${name} | ${meaning}${known} | ${taken} | ${groupable ? 'yes' : 'no'} |`
  })
  return ['| field | meaning | functions | group-by |', '|---|---|---|---|', ...rows].join('\n')
}

function querySchema(source: AnalyticsSource): Schema {
  const parts = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', maxItems: MAX_PARTS, items, ...more })
  const groupable = source.fields.some((field) => field.groupable)
  return {
    type: 'object',
    description: `${source.meaning}\n\n${fieldTable(source)}`,
    required: ['data_source', 'selections'],
    properties: {
      data_source: { const: source.name },
      selections: parts({ $ref: `#/components/schemas/Selection.${shortName(source)}` }, { minItems: 1 }),
      filters: parts({ $ref: `#/components/schemas/Filter.${shortName(source)}` }),
      ...(groupable ? { aggregations: parts({ $ref: `#/components/schemas/Aggregation.${shortName(source)}` }) } : {}),
    },
  }
}

/** The schemas of queries by name, for the data sources that are served under the switches; `Query` is any of them. */
export function querySchemas(switches: Switches): Readonly<Record<string, Schema>> {
  const sources = sourcesServed(switches)
  const each = sources.flatMap((source): readonly (readonly [string, Schema])[] => [
    [`Query.${shortName(source)}`, querySchema(source)],
    [`Selection.${shortName(source)}`, selectionSchema(source)],
    [`Filter.${shortName(source)}`, filterSchema(source)],
    ...(source.fields.some((field) => field.groupable) ? [[`Aggregation.${shortName(source)}`, groupSchema(source)] as const] : []),
  ])
  const refs = sources.map((source) => ({ $ref: `#/components/schemas/Query.${shortName(source)}` }))
  return { Query: { oneOf: refs }, ...Object.fromEntries(each) }
}
