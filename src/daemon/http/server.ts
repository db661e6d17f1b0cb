// The daemon's HTTP server: its address, and the limits that cut off slow and misbehaving clients. routes.ts decides what it answers; nothing behind it
// writes caps.
import { isIPv6 } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { boundConnections, connectionsWithin, descriptorLimit } from './connections.ts'
import type { ServedOptions } from './options.ts'
import { addRoutes, badAddress } from './routes.ts'

export interface ServerOptions extends ServedOptions {
  /** Default `SERVER_LIMITS`. */
  readonly limits?: Partial<ServerLimits>
}

export interface Server {
  /** With the real port; a wildcard host shows as loopback. */
  readonly url: string
  /** Stops listening and closes all connections. */
  close(): Promise<void>
}

/** The address cannot be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  /** Another program listens there. */
  readonly isTaken: boolean
  constructor(message: string, isTaken: boolean) {
    super(message)
    this.isTaken = isTaken
  }
}

export interface ServerLimits {
  /** Until all headers have come. */
  readonly headersTimeoutMs: number
  /** Until the whole request has come. */
  readonly requestTimeoutMs: number
  /** How long a connection may be idle. */
  readonly idleTimeoutMs: number
  readonly checkEveryMs: number
  readonly maxHeaderBytes: number
  /** Until the whole answer is read; a slower client is cut off. */
  readonly answerTimeoutMs: number
  /** Connections at once; the one that has been idle longest makes room for a further one. */
  readonly maxConnections: number
}

/** Addresses have names of workspaces, groups and people in them, at up to three bytes a character. */
const MOST_PARAM_LETTERS = 1_000

/** Choice. */
export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  idleTimeoutMs: 60_000,
  checkEveryMs: 5_000,
  maxHeaderBytes: 16_384,
  answerTimeoutMs: 30_000,
  maxConnections: connectionsWithin(descriptorLimit()),
}

/** Connections that may wait to be accepted; the system drops further ones, which come back seconds later. Choice. */
const BACKLOG = 4_096

/** Rejects with a `ListenError` that names the address and the way out. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const limits = { ...SERVER_LIMITS, ...options.limits }
  const server = createServer(options, limits)
  try {
    await server.listen({ host: options.host, port: options.port, backlog: BACKLOG })
  } catch (error) {
    // Otherwise its timers would keep the process alive.
    await server.close()
    const message = `cannot listen on ${hostText(options.host)}:${options.port}: ${listenFailure(error)}`
    throw new ListenError(message, codeOf(error) === 'EADDRINUSE')
  }
  const address = server.server.address()
  const port = typeof address === 'object' && address ? address.port : options.port
  return { url: `http://${hostText(reachable(options.host))}:${port}`, close: () => server.close() }
}

function createServer(options: ServerOptions, limits: ServerLimits): FastifyInstance {
  const server = fastify({
    forceCloseConnections: true,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // No more is read from a socket than the system gives at once.
      highWaterMark: limits.maxHeaderBytes,
    },
    bodyLimit: 1024,
    routerOptions: { maxParamLength: MOST_PARAM_LETTERS },
    frameworkErrors: (_, request, reply) => void badAddress(reply, request),
  })
  boundConnections(server.server, limits, options.clock)
  addRoutes(server, options, limits)
  return server
}

const hostText = (host: string): string => (isIPv6(host) ? `[${host}]` : host)

function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use; stop the program that has it, or choose another with --listen',
  EACCES: 'no permission for this port; choose one above 1023 with --listen',
  EADDRNOTAVAIL: 'this machine has no such address; choose another with --listen',
  ENOTFOUND: 'no such host; write an IP address in --listen',
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

function listenFailure(error: unknown): string {
  return LISTEN_FAILURES[codeOf(error)] ?? (error instanceof Error ? error.message : 'unknown reason')
}
