// What the server takes from the console: pages by address, and the files that they load. Types only, so that the daemon does not depend on
// the pages and they depend on nothing of the server.
import type { Documents, Query } from './documents/documents.ts'

/** One asked page. */
export interface PageRequest {
  /** Decoded parts of the path, by the names in `ConsoleRoute.path`. */
  readonly params: Readonly<Record<string, string>>
  /** What the document of the same address takes; anything else of the question is left out. */
  readonly query: Query
  /** The path, without the query. */
  readonly path: string
}

export interface ConsoleRoute {
  /** `/workspaces/:workspace/people`; a part that begins with a colon stands for anything but a slash. */
  readonly path: string
  /** The whole HTML document. A `DocumentError` may pass through: it is answered with its status and its message. */
  readonly render: (documents: Documents, request: PageRequest) => Promise<string>
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
  /** Kept in memory for as long as the daemon runs. */
  readonly assets: readonly ConsoleAsset[]
  /** The document that a browser gets in the place of a bare refusal; `message` is for whoever asked. */
  readonly refusal: (status: number, message: string) => string
  /** For every page: default-src 'none', scripts and connections to this server alone. */
  readonly contentSecurityPolicy: string
}
