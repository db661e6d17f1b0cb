// The OpenAPI document of /api/v1 and /status: openapi.yaml, with what is made of the table of addresses and the tables of the documents.
import { API, API_ROUTES, type ApiRoute, EVENTS_QUERY } from './api-table.ts'
import { MOST_LETTERS, type Parameter } from './documents/documents.ts'
import { STATUS } from './documents/workspaces.ts'
import { FRAME } from './openapi.generated.ts'

/** As OpenAPI writes the parts of a path. */
const pathText = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

const pathParameters = (path: string) =>
  Object.entries(FRAME.pathParts).flatMap(([name, description]) =>
    path.includes(`:${name}`) ? [{ name, in: 'path', required: true, description, schema: { type: 'string', minLength: 1 } }] : [],
  )

function queryParameter({ name, about, kind, words, pattern, least, most, usually }: Parameter) {
  const types = {
    text: { type: 'string', maxLength: MOST_LETTERS, pattern: pattern?.source },
    word: { type: 'string', enum: words },
    whole: { type: 'integer', minimum: least, maximum: most },
    instant: { anyOf: ['date-time', 'date'].map((format) => ({ type: 'string', format })) },
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
  return {
    get: {
      operationId: `get${kind}`,
      summary,
      parameters: [...pathParameters(path), ...parameters.map(queryParameter)],
      responses: {
        200: {
          description: summary,
          headers: { ETag: { description: 'Names the state.', schema: { type: 'string' } } },
          content: { 'application/json': { schema: { $ref: `#/components/schemas/${kind}` } } },
        },
        ...FRAME.responses,
        404: isOwn || path.includes(':') ? FRAME.notFound[isOwn ? 'own' : 'other'] : undefined,
      },
    },
  }
}

/** JSON alone: what is absent has no key. */
const plain = (document: object): Readonly<Record<string, unknown>> => JSON.parse(JSON.stringify(document))

export const OPENAPI = plain({
  ...FRAME.document,
  paths: {
    ...Object.fromEntries(API_ROUTES.map((route) => [pathText(route.path), operation(route)])),
    [`${API}/events`]: {
      get: {
        ...FRAME.events,
        parameters: EVENTS_QUERY.map((one) => ({
          ...queryParameter(one),
          schema: { type: 'string', minLength: 1, maxLength: MOST_LETTERS },
        })),
      },
    },
    '/status': { get: FRAME.status },
  },
  components: {
    securitySchemes: FRAME.securitySchemes,
    schemas: { ...Object.fromEntries(API_ROUTES.map(({ kind, schema }) => [kind, schema])), Status: STATUS.schema, Error: FRAME.error },
  },
})
