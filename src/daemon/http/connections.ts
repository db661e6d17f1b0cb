// Bounds the connections to the pages, so that clients never use up the descriptors that policies, ledger and service need. At the bound the connection
// that has been idle longest is closed, so that no number of idle connections blocks /livez.
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Far more than a scraper and some people need. Choice. */
const MOST_CONNECTIONS = 512
/** Descriptors of the program itself: modules, ledger, watchers, connections to services. Measured, and doubled. */
const OWN_DESCRIPTORS = 40
/** The pages get a quarter of the others, and at least a few. */
const PAGES_SHARE = 4
const FEWEST_CONNECTIONS = 4

/** How many connections the pages may have when the process may have this many descriptors. */
export const connectionsWithin = (descriptors: number): number =>
  Math.max(FEWEST_CONNECTIONS, Math.min(MOST_CONNECTIONS, Math.floor((descriptors - OWN_DESCRIPTORS) / PAGES_SHARE)))

/** How many descriptors this process may have open; unlimited where the system does not say. */
export function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined || limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Keeps the connections of a server within a bound; the newest is always accepted. */
export function boundConnections(server: Server, most: number): void {
  // In the order in which they became idle or busy, so the first one has been so for longest.
  const idle = new Set<Socket>()
  const busy = new Set<Socket>()
  server.on('connection', (socket) => {
    if (idle.size + busy.size >= most) {
      const [leaving] = [...idle.values().take(1), ...busy.values().take(1)]
      if (leaving) {
        forget(leaving)
        leaving.destroy()
      }
    }
    idle.add(socket)
    socket.once('close', () => forget(socket))
  })
  server.on('request', ({ socket }, response) => {
    if (!idle.delete(socket)) return
    busy.add(socket)
    response.once('close', () => {
      if (busy.delete(socket) && !socket.destroyed) idle.add(socket)
    })
  })
  function forget(socket: Socket): void {
    idle.delete(socket)
    busy.delete(socket)
  }
}
