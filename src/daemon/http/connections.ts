// Who may stay connected: a bounded number, so that clients of the pages never use up the descriptors that policies, ledger and service need.
// When it is full the connection that has stood idle longest makes way, so that idle ones in any number keep nobody from /livez.
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** A scraper and some people need a handful. Choice. */
const MOST_CONNECTIONS = 512
/** What the program itself opens: modules, ledger, watchers, connections to services, with room. Measured, and doubled. */
const OWN_DESCRIPTORS = 40
/** Of the others the pages get a quarter, and a few where there are next to none. */
const PAGES_SHARE = 4
const FEWEST_CONNECTIONS = 4

/** How many connections the pages may have, with so many descriptors for the process. */
export const connectionsWithin = (descriptors: number): number =>
  Math.max(FEWEST_CONNECTIONS, Math.min(MOST_CONNECTIONS, Math.floor((descriptors - OWN_DESCRIPTORS) / PAGES_SHARE)))

/** How many descriptors this process may have open; where the system does not say, enough. */
export function descriptorLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined || limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Keeps the connections of a server within a number: the newest always gets in. */
export function boundConnections(server: Server, most: number): void {
  // Both in the order in which they came to be so: who has stood idle longest, and who takes longest over an answer.
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
