// The service as an OpenAPI 3.1 document, as it is served at /openapi.json: made of wire.yaml and the table of analytics fields, whatever the
// switches. Points that docs/service.md leaves open are marked `x-choice`.
import { WIRE } from '../../api/wire.generated.ts'
import { OPERATION_PATH, PERMISSION_NAME, PERMISSION_OF } from '../../api/wire.ts'
import { OPERATIONS, type Operation } from '../../core/model/observed.ts'
import { type AnalyticsField, type AnalyticsSource, SOURCES } from '../analytics/fields.ts'

type Schema = Readonly<Record<string, unknown>>

const { Query, Selection, Filter, Aggregation, ...exchanged } = WIRE.components.schemas

/** The document. */
export function openApiDocument(): Schema {
  const { openapi, info, servers, security } = WIRE
  const schemas = Object.entries(exchanged).map(([name, schema]) => [name, name.endsWith('Request') ? withKey(schema) : schema])
  return {
    ...{ openapi, info, servers, security },
    paths: Object.fromEntries(OPERATIONS.map((operation) => [`${OPERATION_PATH}${operation}`, { post: operationOf(operation) }])),
    components: { schemas: { ...Object.fromEntries(schemas), ...querySchemas() } },
  }
}

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

const withKey = (request: Schema & { readonly properties?: Schema; readonly required?: readonly string[] }): Schema => ({
  ...request,
  properties: { service_key: WIRE.key, ...request.properties },
  required: ['service_key', ...(request.required ?? [])],
})

function operationOf(operation: Operation): Schema {
  const { summary, description, example } = WIRE.operations[operation]
  return {
    operationId: operation,
    summary,
    description: `${description}\n\nNeeds the permission ${PERMISSION_NAME[PERMISSION_OF[operation]]}.`,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: ref(`${operation}Request`),
          examples: { sandbox: { value: { service_key: 'sandbox-admin', ...example } } },
        },
      },
    },
    responses: responsesOf(operation),
  }
}

const CODES_ARE_OURS = 'the interface names no status codes'

function responsesOf(operation: Operation): Schema {
  const texts = WIRE.operations[operation]
  const refusal = (description: string, choice: string | undefined = CODES_ARE_OURS): Schema => ({
    description,
    content: { 'application/json': { schema: ref('Error') }, 'text/plain': { schema: { type: 'string' } } },
    'x-choice': choice,
  })
  const permission = PERMISSION_NAME[PERMISSION_OF[operation]]
  return {
    200: {
      description: operation === 'UsageConfig' ? 'the answer, or zero bytes' : 'the answer',
      content: {
        'application/json': {
          schema: { anyOf: [ref(`${operation}Answer`), ref('Error')] },
          examples: { sandbox: { value: texts.answered } },
        },
      },
    },
    400: refusal(`invalid: ${texts.invalid}`),
    401: refusal('missing or invalid service key'),
    403: refusal(`the key lacks the permission ${permission}, or is limited to another group, or a plan without the feature`),
    404: 'notFound' in texts ? refusal(texts.notFound) : undefined,
    405: { ...refusal('every operation is a POST'), headers: { allow: { schema: { type: 'string' } } } },
    413: refusal('the body is too large'),
    429: {
      ...refusal('rate limit exceeded', undefined),
      headers: { 'retry-after': { schema: { type: 'string' }, 'x-choice': 'no header is documented' } },
    },
    '5XX': { description: 'a fault, as --faults asks for' },
  }
}

// The query language: the parts of a query as wire.yaml has them, narrowed to the fields of each data source.

const UNSPECIFIED = Selection.properties.aggregation_function.default
const SHIFTED_DATE = 'date UTC-x'
/** Names of the shifted date; offsets are 14 hours at most. */
const SHIFTED_PATTERN = '^date UTC[+-]\\d{1,2}(:[0-5]\\d|\\.(25|5|50|75))?$'

/** The schemas of queries by name, for each data source; `Query` is any of them. */
function querySchemas(): Schema {
  const each = SOURCES.flatMap((source): readonly (readonly [string, Schema])[] => [
    [`Query.${shortName(source)}`, querySchema(source)],
    [`Selection.${shortName(source)}`, selectionSchema(source)],
    [`Filter.${shortName(source)}`, narrowed(Filter, { name: namesOf(source.fields.filter((field) => field.filterable)) })],
    ...(hasGroups(source)
      ? [
          [
            `Aggregation.${shortName(source)}`,
            narrowed(Aggregation, { field: namesOf(source.fields.filter((field) => field.groupable)) }),
          ] as const,
        ]
      : []),
  ])
  return { Query: { oneOf: SOURCES.map((source) => ref(`Query.${shortName(source)}`)) }, ...Object.fromEntries(each) }
}

/** `USER_DATA` of `QUERY_DATA_SOURCE_USER_DATA`. */
const shortName = (source: AnalyticsSource): string => source.name.replace('QUERY_DATA_SOURCE_', '')

const hasGroups = (source: AnalyticsSource): boolean => source.fields.some((field) => field.groupable)

const narrowed = (part: Schema & { readonly properties: Schema }, fields: Schema): Schema => ({
  ...part,
  properties: { ...part.properties, ...fields },
})

/** Both spellings of each field, and the pattern of the shifted date if the source has it. */
function namesOf(fields: readonly AnalyticsField[]): Schema {
  const names = fields
    .filter((field) => field.name !== SHIFTED_DATE)
    .flatMap((field) => [field.name, ...(field.liveName ? [field.liveName] : [])])
  const shifted = fields.some((field) => field.name === SHIFTED_DATE)
  const listed = { type: 'string', enum: names }
  return shifted ? { anyOf: [listed, { type: 'string', pattern: SHIFTED_PATTERN }] } : listed
}

function querySchema(source: AnalyticsSource): Schema {
  const { selections, filters, aggregations } = Query.properties
  const { type, ...query } = narrowed(Query, {
    data_source: { const: source.name },
    selections: { ...selections, items: ref(`Selection.${shortName(source)}`) },
    filters: { ...filters, items: ref(`Filter.${shortName(source)}`) },
    aggregations: hasGroups(source) ? { ...aggregations, items: ref(`Aggregation.${shortName(source)}`) } : undefined,
  })
  return { type, description: `${source.meaning}\n\n${fieldTable(source)}`, ...query }
}

function selectionSchema(source: AnalyticsSource): Schema {
  const selectable = source.fields.filter((field) => field.functions.length > 0)
  const groups = Object.groupBy(selectable, (field) => field.functions.join())
  const shapes = Object.values(groups).map((fields = []): Schema => {
    const functions = fields[0]?.functions ?? []
    // Choice: where nothing is aggregated, numbers too are valid as raw rows.
    const all = functions.some((one) => one === UNSPECIFIED) ? functions : [UNSPECIFIED, ...functions]
    return narrowed(Selection, {
      field: namesOf(fields),
      aggregation_function: { ...Selection.properties.aggregation_function, enum: all },
    })
  })
  return { anyOf: shapes }
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
