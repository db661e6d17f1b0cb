// Serves the addresses of api-table.ts, the OpenAPI document, and refusals as JSON. It decides nothing about what a document says.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { API, API_ROUTES } from './api-table.ts'
import { OPENAPI } from './openapi.generated.ts'
import { answer, type PageParts, paramsOf, queryOf } from './pages.ts'


export const OPENAPI_PATH = '/openapi.json'

/** Whether refusals of this path are JSON. */
export const isApi = (path: string): boolean => path === '/api' || path.startsWith('/api/')

export function addApi(server: FastifyInstance, parts: Omit<PageParts, 'console'>): void {
  for (const { path, make, isOwn = false } of API_ROUTES) {
    server.get(path, (request, reply) =>
      answer(reply, request, parts, {
        type: JSON_TYPE,
        isOwn,
        make: async (viewer) => `${JSON.stringify(await make(parts.documents.for(viewer), paramsOf(request), queryOf(request)))}\n`,
      }),
    )
  }
  const openapi = Buffer.from(`${JSON.stringify(OPENAPI)}\n`)
  server.get(OPENAPI_PATH, (_, reply) => reply.type(JSON_TYPE).send(openapi))
}

/** A refusal as JSON. */
export const refuseJson = (reply: FastifyReply, status: number, message: string): FastifyReply =>
  reply
    .code(status)
    .type(JSON_TYPE)
    .send(`${JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'Error', status, message: message.trimEnd() })}\n`)

export const API_HELP = `there is no such document; ${OPENAPI_PATH} names all documents of ${API}`
