// The service as an OpenAPI 3.1 document: made from the tables that the operations use, for the switches in force, and served at
// /openapi.json. Points that docs/service.md leaves open are marked `x-choice`.
import type { Operation } from '../../core/model/observed.ts'

import { PERMISSION_OF, WITHOUT_CAPS } from '../service.ts'
import type { Switches } from '../switches.ts'
import { answerSchemas, REQUEST_SCHEMAS, type Schema, sharedSchemas } from './openapi-schemas.ts'

interface OperationText {
  readonly summary: string
  readonly description: string
  /** A request body that works on any company, without the key. */
  readonly example: Readonly<Record<string, unknown>>
  readonly answer: unknown
  /** When the operation answers 400 and 404; docs/service.md, Errors, and the rules of Endpoints. */
  readonly invalid: string
  readonly notFound?: string
}

const CYCLE = { billingCycleStart: '2026-11-01T00:00:00Z', billingCycleEnd: '2026-12-01T00:00:00Z' }
const SCOPES = 'more than one scope, no scope, or a field of another type'
const EMAIL = 'ada.lovelace@example.com'

/** Every operation in the order of the interface. */
export const OPERATION_TEXTS: Readonly<Record<Operation, OperationText>> = {
  Analytics: {
    summary: 'Queries autocomplete, chat, command and percent-code-written data',
    description:
      'Several query requests are answered in order; all values are strings. Within one query either all selections carry an aggregation function ' +
      'or none does; aliases are unique over selections and aggregations; distinct_* fields cannot be grouped by.',
    example: {
      query_requests: [
        {
          data_source: 'QUERY_DATA_SOURCE_USER_DATA',
          selections: [{ field: 'num_acceptances', aggregation_function: 'QUERY_AGGREGATION_SUM' }],
          filters: [{ name: 'date', filter: 'QUERY_FILTER_GE', value: '2026-11-01' }],
          aggregations: [{ field: 'date UTC-8', name: 'day' }],
        },
      ],
    },
    answer: { queryResults: [{ responseItems: [{ item: { day: '2026-11-02', sum_num_acceptances: '125' } }] }] },
    invalid: 'a rule of the query language is broken; the message names the field, the function and what would be valid',
    notFound: 'group not found',
  },
  UserPageAnalytics: {
    summary: 'Lists people with their activity and their credits of this billing cycle',
    description: 'People of every team status. The range affects activeDays only.',
    example: {},
    answer: {
      userTableStats: [
        {
          ...{ name: 'Ada Lovelace', email: EMAIL, lastUpdateTime: '2026-11-20T09:41:07.123456Z', apiKey: 'caf5203b87b9', activeDays: 61 },
          teamStatus: 'USER_TEAM_STATUS_APPROVED',
        },
      ],
      ...CYCLE,
    },
    invalid: 'invalid timestamp format, or a field of another type',
    notFound: 'group not found',
  },
  CascadeAnalytics: {
    summary: 'Agent use: lines, runs and tools',
    description:
      'Each query request holds exactly one data source and keeps its slot in the answer. One conversation may be split over several entries, and ' +
      'UNKNOWN is data: consumers sum by the field of interest. Of cli alone only cascade_runs returns data.',
    example: { query_requests: [{ cascade_lines: {} }, { cascade_runs: {} }, { cascade_tool_usage: {} }] },
    answer: {
      queryResults: [
        { cascadeLines: { cascadeLines: [{ day: '2026-11-02T00:00:00Z', linesSuggested: '120', linesAccepted: '81' }] } },
        { cascadeRuns: { cascadeRuns: [] } },
        { cascadeToolUsage: { cascadeToolUsage: [{ tool: 'VIEW_FILE', count: '14' }] } },
      ],
    },
    invalid:
      'group_name together with emails, an unknown ide type, no query, not exactly one data source in a query, or an invalid timestamp',
    notFound: 'group not found',
  },
  GetUsageConfig: {
    summary: 'Reads the add-on credit cap at a scope',
    description: 'Exactly one scope. An empty object: no cap is configured there.',
    example: { team_level: true },
    answer: {},
    invalid: SCOPES,
    notFound: 'invalid group id or user e-mail',
  },
  UsageConfig: {
    summary: 'Sets or clears the add-on credit cap at a scope',
    description: 'Exactly one cap field and exactly one scope. A cap is per person: a team or group scope is no shared pool.',
    example: { team_level: true, set_add_on_credit_cap: 4000 },
    answer: {},
    invalid: `both cap fields, neither cap field, a cap outside 0 to 2147483647, ${SCOPES}`,
    notFound: 'invalid group id or user e-mail',
  },
  GetTeamCreditBalance: {
    summary: 'Reads the credit balance of this billing cycle',
    description: 'Requires an enterprise-tier plan.',
    example: {},
    answer: { promptCreditsPerSeat: 500, numSeats: 204, addOnCreditsAvailable: 102_000, addOnCreditsUsed: 31_250, ...CYCLE },
    invalid: 'the body is not a JSON object',
  },
}

/** The document. */
export function openApiDocument(switches: Switches): Schema {
  const operations = Object.entries(OPERATION_TEXTS).map(([name, texts]) => operationOf(name as Operation, texts, switches))
  const answers = Object.entries(answerSchemas(switches)).map(([name, schema]) => [`${name}Answer`, schema])
  const requests = Object.entries(REQUEST_SCHEMAS).map(([name, schema]) => [`${name}Request`, schema])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Usage, Billing and Analytics Reporting Service, as the capkeeper sandbox serves it',
      version: '1',
      description:
        'Six operations, all POST with JSON bodies, also behind any path prefix; the key travels in the body as service_key. The document describes the service with the ' +
        'switches in force. What the interface does not say is marked x-choice.',
      'x-choice': 'in requests null, an empty text and false of a flag count as not given, and fields that are not known are passed over',
    },
    servers: [{ url: '/' }],
    security: [],
    paths: Object.fromEntries(operations.map((operation) => [`/api/v1/${operation['operationId']}`, { post: operation }])),
    components: { schemas: { ...Object.fromEntries([...requests, ...answers]), ...sharedSchemas(switches), Error: errorSchema(switches) } },
  }
}

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

function operationOf(operation: Operation, texts: OperationText, switches: Switches): Schema {
  const { summary, description, example } = texts
  const refused = switches.plan === 'no-caps' ? WITHOUT_CAPS[operation] : undefined
  const plan = refused === undefined ? '' : `\n\nThis plan has it not: every request of a known key is refused with ${refused}.`
  return {
    operationId: operation,
    summary,
    description: `${description}\n\nNeeds the permission ${PERMISSION_OF[operation]}.${plan}`,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: ref(`${operation}Request`),
          examples: { sandbox: { value: { service_key: 'sandbox-admin', ...example } } },
        },
      },
    },
    responses: responsesOf(operation, texts, switches),
  }
}

const CODES_ARE_OURS = 'the interface names no status codes'

function responsesOf(operation: Operation, { invalid, notFound, answer }: OperationText, switches: Switches): Schema {
  const refusal = (description: string, choice: string | undefined = CODES_ARE_OURS): Schema => ({
    description,
    content: { [switches.errors === 'text' ? 'text/plain' : 'application/json']: { schema: ref('Error') } },
    'x-choice': choice,
  })
  const plan = operation === 'GetTeamCreditBalance' ? ', or a plan without the feature' : ''
  const refusals = {
    400: refusal(`invalid: ${invalid}`),
    401: refusal('missing or invalid service key'),
    403: refusal(`the key lacks the permission ${PERMISSION_OF[operation]}, or is limited to another group${plan}`),
    404: notFound === undefined ? undefined : refusal(notFound),
  }
  const faulty = Object.values(switches.faults).some((probability) => probability > 0)
  return {
    200: success(operation, answer, switches),
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

function success(operation: Operation, answer: unknown, switches: Switches): Schema {
  if (operation === 'UsageConfig' && switches.writeBody === 'empty' && switches.errors !== 'ok') return { description: 'zero bytes' }
  const schema = switches.errors === 'ok' ? { anyOf: [ref(`${operation}Answer`), ref('Error')] } : ref(`${operation}Answer`)
  // The examples are in the default spelling of figures and fields.
  const examples = switches.int64 === 'number' ? { examples: { sandbox: { value: answer } } } : {}
  return { description: 'the answer', content: { 'application/json': { schema, ...examples } } }
}

/** docs/service.md, Errors; the other shapes were seen on live deployments (docs/service.md). */
function errorSchema({ errors }: Switches): Schema {
  const text = { type: 'string' }
  if (errors === 'text') return text
  const names = errors === 'connect' ? ['code', 'message'] : ['error']
  return { type: 'object', required: names, properties: Object.fromEntries(names.map((name) => [name, text])), additionalProperties: false }
}
