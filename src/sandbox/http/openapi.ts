// The service as an OpenAPI 3.1 document, as it is served at /openapi.json: made of wire.yaml and the table of analytics fields, for the switches
// in force. Points that docs/service.md leaves open are marked `x-choice`.
import { WIRE } from '../../api/wire.generated.ts'
import { OPERATION_PATH, PERMISSION_NAME, PERMISSION_OF } from '../../api/wire.ts'
import { OPERATIONS, type Operation } from '../../core/model/observed.ts'
import { type AnalyticsField, type AnalyticsSource, sourcesServed } from '../analytics/fields.ts'
import { COMPANY } from '../company/company.generated.ts'
import { WITHOUT_CAPS } from '../service.ts'
import type { Switches } from '../switches.ts'

type Schema = Readonly<Record<string, unknown>>

const { Query, Selection, Filter, Aggregation, User, Error: Failure, ...exchanged } = WIRE.components.schemas

/** The document. */
export function openApiDocument(switches: Switches): Schema {
  const { openapi, info, servers, security } = WIRE
  const operations = OPERATIONS.map((operation) => operationOf(operation, switches))
  const schemas = Object.entries(exchanged).map(([name, schema]) => {
    return [name, inForce(name.endsWith('Request') ? withKey(schema) : schema, switches)] as const
  })
  return {
    ...{ openapi, info, servers, security },
    paths: Object.fromEntries(operations.map((operation) => [`${OPERATION_PATH}${operation['operationId']}`, { post: operation }])),
    components: {
      schemas: {
        ...{ ...Object.fromEntries(schemas), ...querySchemas(switches), User: inForce(User, switches) },
        Error: switches.errors === 'text' ? { type: 'string' } : inForce(Failure, switches),
      },
    },
  }
}

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

function operationOf(operation: Operation, switches: Switches): Schema {
  const { summary, description, example } = WIRE.operations[operation]
  const refused = switches.plan === 'no-caps' ? WITHOUT_CAPS[operation] : undefined
  const plan = refused === undefined ? '' : `\n\nThis plan has it not: every request of a known key is refused with ${refused}.`
  return {
    operationId: operation,
    summary,
    description: `${description}\n\nNeeds the permission ${PERMISSION_NAME[PERMISSION_OF[operation]]}.${plan}`,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: ref(`${operation}Request`),
          examples: { sandbox: { value: { service_key: 'sandbox-admin', ...example } } },
        },
      },
    },
    responses: responsesOf(operation, switches),
  }
}

const CODES_ARE_OURS = 'the interface names no status codes'

function responsesOf(operation: Operation, switches: Switches): Schema {
  const texts = WIRE.operations[operation]
  const refusal = (description: string, choice: string | undefined = CODES_ARE_OURS): Schema => ({
    description,
    content: { [switches.errors === 'text' ? 'text/plain' : 'application/json']: { schema: ref('Error') } },
    'x-choice': choice,
  })
  const plan = operation === 'GetTeamCreditBalance' ? ', or a plan without the feature' : ''
  const permission = PERMISSION_NAME[PERMISSION_OF[operation]]
  const refusals = {
    400: refusal(`invalid: ${texts.invalid}`),
    401: refusal('missing or invalid service key'),
    403: refusal(`the key lacks the permission ${permission}, or is limited to another group${plan}`),
    404: 'notFound' in texts ? refusal(texts.notFound) : undefined,
  }
  const faulty = Object.values(switches.faults).some((probability) => probability > 0)
  return {
    200: success(operation, texts.answered, switches),
    // The style `ok` answers with 200 instead.
    ...(switches.errors === 'ok' ? {} : refusals),
    405: { ...refusal('every operation is a POST'), headers: { allow: { schema: { type: 'string' } } } },
    413: refusal('the body is too large'),
    429: {
      ...refusal('rate limit exceeded', undefined),
      headers: { 'retry-after': { schema: { type: 'string' }, 'x-choice': 'no header is documented' } },
    },
    '5XX': faulty ? { description: 'a fault, as --faults asks for' } : undefined,
  }
}

function success(operation: Operation, answered: Schema, switches: Switches): Schema {
  if (operation === 'UsageConfig' && switches.writeBody === 'empty' && switches.errors !== 'ok') return { description: 'zero bytes' }
  const schema = switches.errors === 'ok' ? { anyOf: [ref(`${operation}Answer`), ref('Error')] } : ref(`${operation}Answer`)
  // The examples are in the default spelling of figures and fields.
  const examples = switches.int64 === 'number' ? { examples: { sandbox: { value: answered } } } : {}
  return { description: 'the answer', content: { 'application/json': { schema, ...examples } } }
}

/** A schema of wire.yaml with its marks. */
interface Marked extends Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Marked>>
  readonly required?: readonly string[]
  readonly items?: Marked
  readonly oneOf?: readonly Marked[]
  readonly 'x-switches'?: { readonly [Name in keyof Switches]?: Switches[Name] | readonly Switches[Name][] }
  readonly 'x-omitted-when-zero'?: true
  readonly 'x-examples'?: keyof typeof EXAMPLES
}

const EXAMPLES = { modes: [...new Set(COMPANY.modes)], tools: COMPANY.tools.map(({ tool }) => tool) }

const withKey = (request: Marked): Marked => ({
  ...request,
  properties: { service_key: WIRE.key, ...request.properties },
  required: ['service_key', ...(request.required ?? [])],
})

/** A schema as the switches have it, without its marks. */
function inForce(schema: Marked, switches: Switches): Schema {
  const { 'x-switches': _, 'x-omitted-when-zero': _z, 'x-examples': list, ...plain } = schema
  const { type, properties, required = [], items, oneOf } = plain
  const exists = (field: Marked): boolean =>
    Object.entries(field['x-switches'] ?? {}).every(([name, values]) => [values].flat().includes(switches[name as keyof Switches]))
  const isRequired = ([name, field]: readonly [string, Marked]): boolean =>
    required.includes(name) || (field['x-omitted-when-zero'] === true && switches.zeros === 'kept')
  const fields = Object.entries(properties ?? {}).filter(([, field]) => exists(field))
  const figure = switches.int64 === 'string' ? { type: 'string', minimum: undefined } : { type: 'integer', pattern: undefined }
  return {
    ...plain,
    ...(properties && {
      properties: Object.fromEntries(fields.map(([name, field]) => [name, inForce(field, switches)])),
      required: fields.filter(isRequired).map(([name]) => name),
    }),
    ...(Array.isArray(type) ? figure : {}),
    items: items && inForce(items, switches),
    oneOf: oneOf?.map((one) => inForce(one, switches)),
    ...(list && { examples: EXAMPLES[list] }),
  }
}

// The query language: the parts of a query as wire.yaml has them, narrowed to the fields of each data source.

const UNSPECIFIED = Selection.properties.aggregation_function.default
const SHIFTED_DATE = 'date UTC-x'
/** Names of the shifted date; offsets are 14 hours at most. */
const SHIFTED_PATTERN = '^date UTC[+-]\\d{1,2}(:[0-5]\\d|\\.(25|5|50|75))?$'

/** The schemas of queries by name, for the data sources that are served under the switches; `Query` is any of them. */
function querySchemas(switches: Switches): Schema {
  const sources = sourcesServed(switches)
  const each = sources.flatMap((source): readonly (readonly [string, Schema])[] => [
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
  return { Query: { oneOf: sources.map((source) => ref(`Query.${shortName(source)}`)) }, ...Object.fromEntries(each) }
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
