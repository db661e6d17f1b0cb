// The addresses of /api/v1, as the table of documents has them. The server and the OpenAPI document are both made of these.

import { asked, type Query, text } from './documents/documents.ts'
import type { Documents } from './documents/make.ts'
import { DOCUMENTS, type DocumentRow } from './documents/table.ts'

export const API = '/api/v1'

const route = (name: string, { path, says, ...row }: DocumentRow) => {
  const parts = [...path.matchAll(/:(\w+)/g)].map(([, part = '']) => part)
  return {
    ...row,
    path: API + path,
    schema: says.schema,
    kind: String(says.fields.kind.schema['const']),
    make(documents: Documents, params: Readonly<Record<string, string>>, query: Query): Promise<object> {
      if (row.parameters.length === 0) asked(query, [])
      const method = documents[name as keyof typeof DOCUMENTS] as (...asked: readonly unknown[]) => Promise<object>
      return method(...parts.map((part) => params[part] ?? ''), query)
    },
  }
}

export type ApiRoute = ReturnType<typeof route>

export const API_ROUTES = Object.entries<DocumentRow>(DOCUMENTS).map(([name, row]) => route(name, row))

/** Of the stream of events. */
export const EVENTS_QUERY = [text('workspace', 'Only changes of this workspace.')]
