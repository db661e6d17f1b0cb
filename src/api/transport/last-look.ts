// The last question before a request leaves: asked when its connection stands, however long that took. A process may stand still while it connects, and
// what has come meanwhile may be taken up before any timer: until it was asked, nothing must be on its way to the socket.
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

class KeptBack extends Error {}

/** A request that was ended by `lookLast`: nothing of it was sent. got wraps what a stream was ended with. */
export const isKeptBack = (error: unknown): boolean =>
  error instanceof KeptBack || (error instanceof Error && error.cause instanceof KeptBack)

/** Ends the request before anything of it is sent, unless it may leave once its connection stands. */
export function lookLast(stream: Duplex, mayLeave: () => boolean): void {
  stream.once('request', (request: ClientRequest) => {
    request.once('socket', (socket) => {
      const look = (): void => {
        if (mayLeave()) return
        // Before the request's own end: what waits in the socket must not go out with it.
        socket.destroy()
        stream.destroy(new KeptBack('it may not leave any more'))
      }
      const standing = standsWith(socket)
      if (standing === undefined) return look()
      // What is written meanwhile waits here, and not in the layers beneath, which send it by themselves.
      socket.cork()
      socket.prependOnceListener(standing, () => {
        look()
        socket.uncork()
      })
    })
  })
}

/** The event after which a socket can send; undefined: it can. */
function standsWith(socket: Socket): 'connect' | 'secureConnect' | undefined {
  if (socket instanceof TLSSocket) return socket.connecting || socket.getProtocol() === null ? 'secureConnect' : undefined
  return socket.connecting ? 'connect' : undefined
}
