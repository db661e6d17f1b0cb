// What the server needs of the console: pages by address, and the files they load. Types only, so that neither depends on the other's code.
import type { Query } from './documents/documents.ts'
import type { Documents } from './documents/make.ts'

/** A request for a page. */
interface PageRequest {
  /** Decoded parts of the path, by the names in `ConsoleRoute.path`. */
  readonly params: Readonly<Record<string, string>>
  /** Those parameters that the document of the same address takes. */
  readonly query: Query
  /** The path, without the query. */
  readonly path: string
}

/** Makes the whole HTML document. May throw a `DocumentError`, which is answered with its status and its message. */
export type Page = (documents: Documents, request: PageRequest) => Promise<string>

export interface ConsoleRoute {
  /** `/workspaces/:workspace/people`; a part that begins with a colon is a parameter. */
  readonly path: string
  /** About the person who asks: it is made for each request, and kept by nobody but them. */
  readonly isOwn?: boolean
  readonly render: Page
}

/** A file that pages load; it never changes under its path. */
export interface ConsoleAsset {
  /** `/console/<hash of the content>/<name>`. */
  readonly path: string
  readonly type: string
  readonly body: string | Uint8Array
}

export interface Console {
  readonly routes: readonly ConsoleRoute[]
  readonly assets: readonly ConsoleAsset[]
  /** The page that a browser gets instead of a plain text refusal. */
  readonly refusal: (status: number, message: string) => string
  /** For every page: default-src 'none', scripts and connections to this server alone. */
  readonly contentSecurityPolicy: string
}
