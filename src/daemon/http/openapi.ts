// The OpenAPI document of /api/v1 and /status, made of the table of addresses and the tables of the documents.
import { API, API_ROUTES, type ApiRoute, EVENTS_QUERY, PATH_PARTS } from './api-table.ts'
import { MOST_LETTERS, type Parameter } from './documents/documents.ts'
import { object } from './documents/field.ts'
import * as t from './documents/parts.ts'
import { DOCUMENTS } from './documents/table.ts'

const ERROR = object<{ readonly status: number; readonly message: string }>('Why there is no answer.')({
  apiVersion: t.literal('capkeeper/v1'),
  kind: t.literal('Error'),
  status: t.whole({}),
  message: t.plain('What is wrong, and the way out.'),
})

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (name: string) => ({ 'application/json': { schema: reference(name) } })

const refusal = (description: string) => ({ description, content: json('Error') })
const plainRefusal = (description: string) => ({ description, content: { 'text/plain': { schema: { type: 'string' } } } })

/** As OpenAPI writes the parts of a path. */
const pathText = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

const pathParameters = (path: string) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARTS[name] ?? '',
    schema: { type: 'string', minLength: 1 },
  }))

function queryParameter({ name, about, kind, words, pattern, least, most, usually }: Parameter) {
  const types = {
    text: { type: 'string', maxLength: MOST_LETTERS, pattern: pattern?.source },
    word: { type: 'string', enum: words },
    whole: { type: 'integer', minimum: least, maximum: most },
    instant: {
      anyOf: [
        { type: 'string', format: 'date-time' },
        { type: 'string', format: 'date' },
      ],
    },
  }
  return {
    name,
    in: 'query',
    required: false,
    description: about,
    schema: { ...types[kind], default: usually },
  }
}

function operation({ path, summary, kind, parameters, isOwn }: ApiRoute) {
  const notFound = isOwn
    ? 'The proxy names no address of the reader, or nobody has it.'
    : 'It does not exist, or the reader may not see it.'
  return {
    get: {
      operationId: `get${kind}`,
      summary,
      parameters: [...pathParameters(path), ...parameters.map(queryParameter)],
      responses: {
        200: {
          description: summary,
          headers: { ETag: { description: 'Names the state.', schema: { type: 'string' } } },
          content: json(kind),
        },
        304: { description: 'The answer is the one that `If-None-Match` names.' },
        400: refusal('An unknown parameter, or an invalid value.'),
        401: refusal('The token, or the header of the proxy, is missing or wrong.'),
        403: refusal('The reader may not see this.'),
        404: isOwn || path.includes(':') ? refusal(notFound) : undefined,
        503: refusal('Too many answers are being sent to slow readers.'),
      },
    },
  }
}

const EVENTS = {
  get: {
    operationId: 'getEvents',
    summary:
      'Server-sent events: `hello` first, `change` with a workspace and what changed, `beat` every 15 s, `reset` when events were missed.',
    parameters: EVENTS_QUERY.map((one) => ({ ...queryParameter(one), schema: { type: 'string', minLength: 1, maxLength: MOST_LETTERS } })),
    responses: {
      200: {
        description: 'A stream that lasts until either side closes it.',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      400: refusal('An unknown parameter.'),
      401: refusal('The token, or the header of the proxy, is missing or wrong.'),
      403: refusal('The reader may not see this.'),
      404: refusal('There is no such workspace, or the reader may not see it.'),
      503: refusal('There are too many listeners.'),
    },
  },
}

/** Older than `/api/v1`. */
const STATUS_PATH = {
  get: {
    operationId: 'getStatus',
    summary: 'The state of every workspace in one document.',
    responses: {
      200: { description: 'The state of every workspace.', content: json('Status') },
      401: plainRefusal('The token, or the header of the proxy, is missing or wrong.'),
      403: plainRefusal('The reader may not see this.'),
    },
  },
}

/** JSON alone: what is absent has no key. */
const plain = (document: object): Readonly<Record<string, unknown>> => JSON.parse(JSON.stringify(document))

export const OPENAPI = plain({
  openapi: '3.1.0',
  info: {
    title: 'capkeeper',
    version: '1',
    summary: 'What the console shows, as JSON. Read-only.',
    description:
      'Instants are RFC 3339 in UTC, credits are numbers, what was never known is absent. Fields and documents may be added; none is renamed or changes its meaning.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{}, { token: [] }],
  paths: {
    ...Object.fromEntries(API_ROUTES.map((route) => [pathText(route.path), operation(route)])),
    [`${API}/events`]: EVENTS,
    '/status': STATUS_PATH,
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'Needed where the config has `auth.token`.' } },
    schemas: Object.fromEntries(Object.entries({ ...DOCUMENTS, Error: ERROR }).map(([kind, { schema }]) => [kind, schema])),
  },
})
