// Serves the pages of the console and the files they load, and keeps the answers of pages and documents while the state behind them is the same. The
// console decides what a page says; the gate decides which workspaces a reader sees.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../ports.ts'
import { API, API_ROUTES } from './api-table.ts'
import type { Viewer } from './auth.ts'
import type { Console } from './console.ts'
import { DocumentError, type Query } from './documents/documents.ts'
import type { Library } from './documents/make.ts'
import { keeper, timed } from './kept.ts'

/** Answers that are kept. Choice. */
const MOST_KEPT = 200
const MOST_KEPT_BYTES = 4 * 1024 * 1024

interface Answer {
  readonly bytes: Buffer
  /** Names the question and the state that it was made for. */
  readonly etag: string
}

/**
 * Keeps answers; `boot` names this process: tags of another process never match. `get` rejects with a `DocumentError` 503 when too many answers wait to
 * be made, or nobody waits for this one any more.
 */
export function createAnswers(clock: Pick<Clock, 'monotonic' | 'sleep'>, boot: string) {
  const kept = keeper<Answer>(clock, { most: MOST_KEPT, mostBytes: MOST_KEPT_BYTES, bytesOf: ({ bytes }) => bytes.length })
  const runBounded = boundedRunner(clock)
  /** The tag of the answer for this state, without making the answer. */
  const etag = (question: string, state: string): string =>
    `W/"${createHash('sha256').update(`${boot}\n${state}\n${question}`).digest('hex').slice(0, 24)}"`
  const get = (question: string, state: string, write: () => Promise<string>, isGone: () => boolean): Promise<Answer> => {
    const make = async (): Promise<Answer> => ({ bytes: Buffer.from(await write()), etag: etag(question, state) })
    return kept(question, state, (isWanted) => runBounded(() => timed(clock, make), isWanted), isGone)
  }
  return { etag, get }
}

/** Answers that are made at the same time; each holds its data in memory. Choice. */
const MOST_MADE = 4
/** Answers that wait to be made; whoever asks for another one is asked to come back. Choice. */
const MOST_WAITING = 64
/** Answers are made for this long without a pause. The pause is longer than the other answers take, or their timers would leave the event loop no
 * time for anything else. */
const STRETCH_MS = 8
const REST_MS = 50

/** Runs a few jobs at the same time while the others wait, and leaves the event loop time for everything else. */
function boundedRunner(clock: Pick<Clock, 'monotonic' | 'sleep'>): <T>(job: () => Promise<T>, isWanted: () => boolean) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  let sinceMs = clock.monotonic()
  return async (job, isWanted) => {
    if (running === 0) sinceMs = clock.monotonic()
    if (waiting.length >= MOST_WAITING) throw new DocumentError(503, TOO_MANY)
    if (running >= MOST_MADE) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      if (!isWanted()) throw new DocumentError(503, TOO_MANY)
      if (clock.monotonic() - sinceMs >= STRETCH_MS) {
        await clock.sleep(REST_MS)
        sinceMs = clock.monotonic()
      }
      return await job()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

const TOO_MANY = 'too many pages are being made; ask again in a few seconds'

export interface PageParts {
  readonly console: Console
  readonly documents: Library
  readonly answers: ReturnType<typeof createAnswers>
  readonly viewerOf: (request: FastifyRequest) => Viewer
}

const HTML = 'text/html; charset=utf-8'

export function addPages(server: FastifyInstance, parts: PageParts): void {
  addRefusalPages(server, parts.console)
  for (const route of parts.console.routes) {
    const known = parametersOf(route.path)
    server.get(route.path, async (request, reply) => {
      reply.header('Content-Security-Policy', parts.console.contentSecurityPolicy)
      const path = pathOf(request)
      const home = path === '/' ? homeOf(parts.viewerOf(request), parts.documents.names()) : undefined
      if (home !== undefined) return reply.redirect(home, 303)
      const query = queryOf(request, known)
      // Parameters that the page does not know must not make another answer of it.
      const url = `${path}?${new URLSearchParams(query)}`
      const params = paramsOf(request)
      const make = (viewer: Viewer): Promise<string> => route.render(parts.documents.for(viewer), { params, query, path })
      return answer(reply, request, parts, { type: HTML, url, make, isOwn: route.isOwn ?? false })
    })
  }
  for (const { path, type, body } of parts.console.assets) {
    const bytes = Buffer.from(body)
    server.get(path, (_, reply) => reply.header('Cache-Control', 'public, max-age=31536000, immutable').type(type).send(bytes))
  }
}

/** Where a reader begins who sees the whole of no workspace; where they see parts of several, the overview lists these. */
function homeOf({ sightOf, email }: Viewer, names: readonly string[]): string | undefined {
  if (names.some((name) => sightOf(name).kind === 'whole')) return undefined
  const [part, another] = names.filter((name) => sightOf(name).kind === 'part')
  if (part !== undefined) return another === undefined ? `/workspaces/${encodeURIComponent(part)}` : undefined
  return email === undefined ? undefined : '/me'
}

/** Browsers get a refusal as a page, programs as plain text. */
function addRefusalPages(server: FastifyInstance, { refusal, contentSecurityPolicy }: Console): void {
  server.addHook('onSend', async (request, reply, payload) => {
    const isBare =
      reply.statusCode >= 400 && typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/plain')
    if (!isBare || !(request.headers.accept ?? '').includes('text/html')) return payload
    reply.header('Content-Security-Policy', contentSecurityPolicy).type(HTML)
    return refusal(reply.statusCode, payload.trim())
  })
}

/** A page takes the parameters of the document at the same address of /api/v1. */
function parametersOf(path: string): ReadonlySet<string> {
  const shape = (text: string): string => text.replaceAll(/:\w+/g, ':')
  const document = shape(API + (path === '/' ? '/workspaces' : path))
  return new Set(API_ROUTES.find((one) => shape(one.path) === document)?.parameters.map(({ name }) => name))
}

interface Question {
  readonly type: string
  /** Names what the answer depends on; absent: the state of the workspace in the path, or of all. */
  readonly state?: string
  /** Default: the address as it was sent. */
  readonly url?: string
  readonly make: (viewer: Viewer) => Promise<string>
  /** About the person who asks. */
  readonly isOwn?: boolean
}

/** Answers from the cache: 304 where the client has the answer, 503 where too many others wait. */
export async function answer(
  reply: FastifyReply,
  request: FastifyRequest,
  { answers, documents, viewerOf }: Pick<PageParts, 'answers' | 'documents' | 'viewerOf'>,
  { type, make, url = request.url, isOwn = false, ...given }: Question,
): Promise<FastifyReply> {
  const viewer = viewerOf(request)
  const workspace = paramsOf(request)['workspace']
  if (isOwn) {
    const bytes = Buffer.from(await make(viewer))
    reply.header('Cache-Control', 'private, max-age=60').header('Vary', viewer.asks.join(', '))
    return byContent(reply, request, type, bytes)
  }
  const question = `${viewer.name}\n${url}`
  const state = given.state ?? documents.state(workspace)
  const isOfState = !isRestricted(viewer, workspace)
  const tag = answers.etag(question, state)
  if (isOfState && knows(request, tag)) return reply.code(304).header('ETag', tag).send()
  const write = () => make(viewer)
  const { bytes, etag } = await answers.get(question, state, write, () => reply.raw.destroyed)
  if (!isOfState) return byContent(reply, request, type, bytes)
  return reply.header('ETag', etag).type(type).send(bytes)
}

/** The state that an answer is made for changes with what this reader may not see. */
const isRestricted = ({ seesAll, sightOf }: Viewer, workspace: string | undefined): boolean =>
  workspace === undefined ? !seesAll : sightOf(workspace).kind === 'part'

/** A proxy that compresses makes a tag weak. */
const knows = ({ headers }: FastifyRequest, tag: string): boolean =>
  headers['if-none-match']?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag.replace(/^W\//, '')) ?? false

/** The tag tells of nothing but the answer: that of a state would tell a reader when others change. */
function byContent(reply: FastifyReply, request: FastifyRequest, type: string, bytes: Buffer): FastifyReply {
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 24)}"`
  reply.header('ETag', etag)
  return knows(request, etag) ? reply.code(304).send() : reply.type(type).send(bytes)
}

export const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? ''

/** Parameters in the path, by name. */
export function paramsOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(Object(params)).map(([name, value]) => [name, String(value)]))
}

/** Parameters behind the `?`, those in `known` only where it is given. A parameter given twice is refused. */
export function queryOf({ url }: FastifyRequest, known?: ReadonlySet<string>): Query {
  const at = url.indexOf('?')
  const query = new Map<string, string>()
  if (at === -1) return {}
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    if (known?.has(name) === false) continue
    if (query.has(name)) throw new DocumentError(400, `${JSON.stringify(name.slice(0, 100))} is given twice`)
    query.set(name, value)
  }
  return Object.fromEntries(query)
}
