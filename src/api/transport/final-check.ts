// The final check before a request is sent, made once its connection is open. A process may be suspended while it connects, and afterwards
// Node may handle the socket before any timer: so no byte may reach the socket before the check.
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

class KeptBack extends Error {}

/** A request that `checkBeforeSending` ended: nothing of it was sent. got wraps the error that ends a stream. */
export const isKeptBack = (error: unknown): boolean =>
  error instanceof KeptBack || (error instanceof Error && error.cause instanceof KeptBack)

/** Asks `mayLeave` once the connection is open, and ends the request unsent when the answer is no. */
export function checkBeforeSending(stream: Duplex, mayLeave: () => boolean): void {
  stream.once('request', (request: ClientRequest) => {
    request.once('socket', (socket) => {
      const check = (): void => {
        if (mayLeave()) return
        // The socket first: destroying the stream must not flush the bytes that wait in the socket.
        socket.destroy()
        stream.destroy(new KeptBack('it may not leave any more'))
      }
      const opening = openingEvent(socket)
      if (opening === undefined) return check()
      // Holds written bytes in this socket: the layers below would send them by themselves.
      socket.cork()
      socket.prependOnceListener(opening, () => {
        check()
        socket.uncork()
      })
    })
  })
}

/** The event after which a socket can send; undefined when it already can. */
function openingEvent(socket: Socket): 'connect' | 'secureConnect' | undefined {
  if (socket instanceof TLSSocket) return socket.connecting || socket.getProtocol() === null ? 'secureConnect' : undefined
  return socket.connecting ? 'connect' : undefined
}
