// The embedded service as a Transport within this process: the same code and the same faults as over HTTP, without a socket.
import type { Transport } from '../../src/ports.ts'
import type { Exchange } from '../../src/sandbox/http/exchange.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'

/** Answers like the HTTP server, `date` header included; waits on the sandbox's clock. */
export function sandboxTransport(sandbox: Sandbox): Transport {
  const { clock } = sandbox
  return {
    async send(operation, body, { timeoutMs, signal }) {
      signal?.throwIfAborted()
      const result = sandbox.exchange(operation, JSON.stringify(body))
      const delayMs = result.kind === 'silence' ? timeoutMs : Math.min(result.delayMs, timeoutMs)
      if (delayMs > 0) await clock.sleep(delayMs, signal)
      if (takesTooLong(result, timeoutMs)) return { kind: 'timeout', message: `${operation}: no answer within ${timeoutMs} ms` }
      if (result.kind !== 'answer') return { kind: 'network', message: `${operation}: the connection was reset` }
      const { status, contentType, body: text } = result.answer
      const headers = { 'content-type': contentType, date: new Date(clock.now()).toUTCString(), ...result.headers }
      return { status, headers, body: text }
    },
  }
}

const takesTooLong = (result: Exchange, timeoutMs: number): boolean => result.kind === 'silence' || result.delayMs > timeoutMs
