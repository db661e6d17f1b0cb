// The embedded service over loopback HTTP for tests: started on a free port, counted, and closed again. Time does not move unless the test
// moves its clock, so latency and rate limits need a clock that moves.
import type { Operation } from '../../src/core/model/observed.ts'
import type { Clock, Transport } from '../../src/ports.ts'
import type { CompanyOptions } from '../../src/sandbox/company/company.ts'
import type { Fixture } from '../../src/sandbox/fixture/fixture.ts'
import { startSandboxServer } from '../../src/sandbox/http/server.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import type { Exchange, SandboxCall } from '../../src/sandbox/service.ts'
import type { Switches } from '../../src/sandbox/switches.ts'
import { fakeClock } from './clock.ts'
import { scope } from './declare.ts'

export interface SandboxFixtureOptions extends Partial<Switches>, Partial<CompanyOptions> {
  /** Default: a fake clock at its default instant. */
  readonly clock?: Clock
  readonly working?: boolean
  /** Replaces the seeded company. */
  readonly fixture?: Fixture
}

export type SandboxFixture = Awaited<ReturnType<typeof startSandbox>>

/** Defaults: 20 people, 4 groups, no past use, seed 1, the switches' defaults. */
export async function startSandbox(options: SandboxFixtureOptions = {}) {
  const { clock = fakeClock(), working, fixture, people = 20, groups = 4, days = 0, seed = 1, ...switches } = options
  const log: SandboxCall[] = []
  const sandbox = createSandbox({
    clock,
    company: { people, groups, days, seed },
    switches,
    onCall: (call) => void log.push(call),
    ...(working === undefined ? {} : { working }),
    ...(fixture === undefined ? {} : { fixture }),
  })
  const server = await startSandboxServer({ sandbox, host: '127.0.0.1', port: 0 })
  return {
    url: server.url,
    sandbox,
    transport: sandboxTransport(sandbox),
    calls: {
      /** All requests so far, or those of one operation. */
      count: (operation?: Operation) => (operation ? log.filter((call) => call.operation === operation).length : log.length),
      /** Every request in order, bodies without the key. */
      log,
      clear: () => void log.splice(0),
    },
    /** Writes a cap without a request, as another client; the key is `team`, `group:ID` or an e-mail. */
    setCap: (key: string, cap: number | undefined) => sandbox.writeCap(scope(key), cap),
    /** The cap that is stored at this scope. */
    capOf: (key: string) => sandbox.store.cap(scope(key)),
    async close() {
      await server.close()
      sandbox.close()
    },
  }
}

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
