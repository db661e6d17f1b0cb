// Server-sent events: tells listeners what changed in which workspace, so that a page asks again for what it shows. It sends no data of a workspace, bounds the number of listeners, and closes the connection of a listener that does not read.
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ConditionType } from '../../core/model/condition.ts'
import type { CycleEvent } from '../../core/model/events.ts'
import type { Clock } from '../../ports.ts'
import { API, EVENTS_QUERY } from './api-table.ts'
import { type Gate, isRefused, type Viewer } from './auth.ts'
import { asked, DocumentError } from './documents/documents.ts'
import { queryOf } from './pages.ts'

/** What an event is about, so that a page knows what to ask for again. */
export const TOPICS = ['caps', 'holds', 'people', 'policy', 'pause', 'cycle', 'changes', 'comparison'] as const
type Topic = (typeof TOPICS)[number]

interface LiveChange {
  readonly workspace: string
  readonly version: number
  readonly topics: readonly Topic[]
}

/** `boot` names this process; versions of another process mean nothing. */
export type Live = ReturnType<typeof createLive>

/** Events within this time are one change. Choice. */
const TOGETHER_MS = 1_000

const TOPICS_OF: Readonly<Record<Exclude<CycleEvent['kind'], 'condition'>, readonly Topic[]>> = {
  'policy-loaded': ['policy', 'changes'],
  'request-finished': [],
  'rate-learned': [],
  'usage-read': ['people'],
  planned: ['caps'],
  'change-finished': ['caps', 'changes'],
  bug: ['cycle'],
  'cycle-finished': ['cycle', 'caps'],
}

const TOPICS_OF_CONDITIONS: Readonly<Partial<Record<ConditionType, readonly Topic[]>>> = {
  Held: ['holds', 'changes'],
  Contested: ['holds', 'changes'],
  BreakerOpen: ['holds', 'changes'],
  ForeignChange: ['caps', 'changes'],
  Paused: ['pause', 'changes'],
  PolicyInvalid: ['policy', 'changes'],
}

const topicsOf = (event: CycleEvent): readonly Topic[] =>
  event.kind === 'condition' ? (TOPICS_OF_CONDITIONS[event.condition.type] ?? ['cycle']) : TOPICS_OF[event.kind]

interface Pending {
  version: number
  /** Not told yet. */
  readonly topics: Set<Topic>
  waiting: boolean
}

export function createLive(clock: Clock, boot: string) {
  const known = new Map<string, Pending>()
  const closed = new AbortController()
  const listeners = new Set<(change: LiveChange) => void>()
  function tell(workspace: string, pending: Pending): void {
    pending.waiting = false
    pending.version += 1
    const change = { workspace, version: pending.version, topics: TOPICS.filter((topic) => pending.topics.has(topic)) }
    pending.topics.clear()
    for (const listener of listeners) listener(change)
  }
  /** Call it when something that is shown changed without an event of the cycle. */
  function changed(workspace: string, topics: readonly Topic[]): void {
    if (topics.length === 0) return
    const pending = known.get(workspace) ?? { version: 0, topics: new Set(), waiting: false }
    known.set(workspace, pending)
    for (const topic of topics) pending.topics.add(topic)
    if (pending.waiting) return
    pending.waiting = true
    clock.sleep(TOGETHER_MS, closed.signal).then(
      () => tell(workspace, pending),
      () => undefined,
    )
  }
  return {
    boot,
    changed,
    onEvent: (event: CycleEvent): void => changed(event.workspace, topicsOf(event)),
    /** 0 until something happened. */
    version: (workspace: string): number => known.get(workspace)?.version ?? 0,
    /** Ends all notifications. */
    close: (): void => closed.abort(),
    /** The listener is called once for all changes within a second; the result ends it. */
    listen(listener: (change: LiveChange) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export const EVENTS_PATH = `${API}/events`

/** Choice: after two missed beats a page says that it is stale. */
const BEAT_MS = 15_000
/** After this time a page that lost its connection connects again. */
const RETRY_MS = 3_000
/** Bytes that a listener may leave unread before its connection is closed. */
const MOST_WAITING_BYTES = 64 * 1024
/** A quarter of all connections may be listeners. Choice. */
const LISTENERS_SHARE = 4

interface EventParts {
  readonly live: Live
  readonly clock: Clock
  readonly gate: Gate
  readonly viewerOf: (request: FastifyRequest) => Viewer
  /** Names of all workspaces. */
  readonly workspaces: () => readonly string[]
  readonly maxConnections: number
  /** Reads what other processes change; that is told as any change. Never rejects. */
  readonly refresh?: (() => Promise<void>) | undefined
}

interface Listener {
  readonly response: ServerResponse
  readonly request: FastifyRequest
  readonly only: string | undefined
  viewer: Viewer
}

export function addEvents(server: FastifyInstance, parts: EventParts): void {
  const { live } = parts
  const listeners = new Set<Listener>()
  const most = Math.max(1, Math.floor(parts.maxConnections / LISTENERS_SHARE))
  const close = live.listen((change) => {
    for (const listener of listeners)
      if (concerns(listener, change.workspace)) send(listener, eventText('change', change, heardBy(listener, parts).id))
  })
  const ended = new AbortController()
  server.addHook('onClose', async () => {
    ended.abort()
    close()
  })
  void beat(listeners, parts, ended.signal)
  server.get(EVENTS_PATH, (request, reply) => {
    const viewer = parts.viewerOf(request)
    const only = asked(queryOf(request), EVENTS_QUERY).text('workspace')
    // One that the reader may not see is answered as one that does not exist.
    if (only !== undefined && !(parts.workspaces().includes(only) && viewer.sightOf(only).kind !== 'nothing'))
      throw new DocumentError(404, 'there is no such workspace, or it is not yours to see')
    if (listeners.size >= most)
      return reply.code(503).header('Retry-After', '30').send(`there are ${most} listeners already; poll the page instead\n`)
    open(reply, request)
    const listener: Listener = { response: reply.raw, request, only, viewer }
    listeners.add(listener)
    reply.raw.once('close', () => listeners.delete(listener))
    if (request.method === 'HEAD') return reply.raw.end()
    greet(listener, parts)
  })
}

export const askingOf = ({ headers, socket, raw }: FastifyRequest) => ({
  headers,
  rawHeaders: raw.rawHeaders,
  remoteAddress: socket.remoteAddress,
})

function open(reply: FastifyReply, { method }: FastifyRequest): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
  if (method !== 'HEAD') reply.raw.write(`retry: ${RETRY_MS}\n\n`)
}

const eventText = (event: string, data: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Who sees only some people is told of no change, which may be one of others, but with each beat that there may be one. */
const concerns = ({ viewer, only }: Listener, workspace: string): boolean =>
  (only === undefined || only === workspace) && viewer.sightOf(workspace).kind === 'whole'

/** `id` names what the listener was told so far, and nothing that it may not hear. Absent where it hears nothing. */
function heardBy(listener: Listener, { live, workspaces }: EventParts) {
  const heard = workspaces().filter((name) => concerns(listener, name))
  const versions = Object.fromEntries(heard.map((name) => [name, live.version(name)]))
  const hash = createHash('sha256').update(JSON.stringify([live.boot, versions]))
  return { versions, id: heard.length === 0 ? undefined : hash.digest('hex').slice(0, 16) }
}

/** A listener that does not read is closed before it costs memory. */
function send({ response }: Listener, message: string): void {
  if (response.writableLength > MOST_WAITING_BYTES) response.destroy()
  else response.write(message)
}

/** A listener that connects again is told whether it missed anything. */
function greet(listener: Listener, parts: EventParts): void {
  const { versions, id } = heardBy(listener, parts)
  const last = listener.request.headers['last-event-id']
  send(listener, eventText(last === undefined || last === id ? 'hello' : 'reset', { versions, beatSeconds: BEAT_MS / 1000 }, id))
}

/** Shows that the connection is alive, and checks again whether the listener may listen. */
async function beat(listeners: Set<Listener>, { clock, gate, workspaces, refresh }: EventParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(BEAT_MS, signal).catch(() => undefined)
    if (listeners.size > 0) await refresh?.()
    if (signal.aborted) return
    for (const listener of listeners) {
      const viewer = gate(askingOf(listener.request))
      if (isRefused(viewer)) listener.response.end()
      else {
        listener.viewer = viewer
        send(listener, 'event: beat\ndata: {}\n\n')
        const heard = workspaces().filter((name) => (listener.only ?? name) === name && viewer.sightOf(name).kind === 'part')
        for (const workspace of heard) send(listener, eventText('change', { workspace, version: 0, topics: ['people'] }))
      }
    }
  }
}
