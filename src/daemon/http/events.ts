// Server-sent events: tells listeners which workspace changed, so that a page asks again for what it shows. It sends no data of a workspace, bounds the number of listeners, and closes the connection of a listener that does not read.
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CycleEvent } from '../../core/model/events.ts'
import type { Clock } from '../../ports.ts'
import { API, EVENTS_QUERY } from './api-table.ts'
import { type Gate, isRefused, type Viewer } from './auth.ts'
import { asked, DocumentError } from './documents/documents.ts'
import { queryOf } from './pages.ts'

export type Live = ReturnType<typeof createLive>

/** Events within this time are one change. Choice. */
const TOGETHER_MS = 1_000

/** `boot` names this process. */
export function createLive(clock: Clock, boot: string) {
  const versions = new Map<string, number>()
  const waiting = new Set<string>()
  const closed = new AbortController()
  const listeners = new Set<(workspace: string) => void>()
  function tell(workspace: string): void {
    waiting.delete(workspace)
    versions.set(workspace, (versions.get(workspace) ?? 0) + 1)
    for (const listener of listeners) listener(workspace)
  }
  /** Call it when something that is shown changed without an event of the cycle. */
  function changed(workspace: string): void {
    if (waiting.has(workspace)) return
    waiting.add(workspace)
    clock.sleep(TOGETHER_MS, closed.signal).then(
      () => tell(workspace),
      () => undefined,
    )
  }
  return {
    boot,
    changed,
    onEvent({ kind, workspace }: CycleEvent): void {
      // A request changes nothing that is shown.
      if (kind !== 'request-finished') changed(workspace)
    },
    /** Another one after each change. */
    version: (workspace: string): number => versions.get(workspace) ?? 0,
    /** Ends all notifications. */
    close: (): void => closed.abort(),
    /** The listener is called with a workspace once for all its changes within a second; the result ends it. */
    listen(listener: (workspace: string) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

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
  const listeners = new Set<Listener>()
  const most = Math.max(1, Math.floor(parts.maxConnections / LISTENERS_SHARE))
  const close = parts.live.listen((workspace) => {
    for (const listener of listeners) if (concerns(listener, workspace)) send(listener, 'change', { workspace })
  })
  const ended = new AbortController()
  server.addHook('onClose', async () => {
    ended.abort()
    close()
  })
  void beat(listeners, parts, ended.signal)
  server.get(`${API}/events`, (request, reply) => {
    const viewer = parts.viewerOf(request)
    const only = asked(queryOf(request), EVENTS_QUERY).text('workspace')
    // One that the reader may not see is answered as one that does not exist.
    if (only !== undefined && !(parts.workspaces().includes(only) && viewer.sightOf(only).kind !== 'nothing'))
      throw new DocumentError(404, 'there is no such workspace, or it is not yours to see')
    if (listeners.size >= most) throw new DocumentError(503, `there are ${most} listeners already; poll the page instead`)
    open(reply, request)
    const listener: Listener = { response: reply.raw, request, only, viewer }
    listeners.add(listener)
    reply.raw.once('close', () => listeners.delete(listener))
    if (request.method === 'HEAD') reply.raw.end()
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

/** Who sees only some people is told of no change, which may be one of others, but with each beat that there may be one. */
const concerns = ({ viewer, only }: Listener, workspace: string): boolean =>
  (only === undefined || only === workspace) && viewer.sightOf(workspace).kind === 'whole'

/** A listener that does not read is closed before it costs memory. */
function send({ response }: Listener, event: 'beat' | 'change', data: object): void {
  if (response.writableLength > MOST_WAITING_BYTES) response.destroy()
  else response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
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
        send(listener, 'beat', {})
        const heard = workspaces().filter((name) => (listener.only ?? name) === name && viewer.sightOf(name).kind === 'part')
        for (const workspace of heard) send(listener, 'change', { workspace })
      }
    }
  }
}
