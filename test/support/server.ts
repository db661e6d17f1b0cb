// The options of a server over made-up views, with the real console.
import { createConsole } from '../../src/console/routes.ts'
import { createLive } from '../../src/daemon/http/events.ts'
import { EMAIL_LABELS } from '../../src/daemon/http/labels.ts'
import { createMetrics } from '../../src/daemon/http/metrics/metrics.ts'
import type { ServerOptions } from '../../src/daemon/http/server.ts'
import { fakeClock } from './clock.ts'
import { libraryOf } from './documents.ts'
import { noLedger } from './views.ts'

/** Its documents are made from its views, unless others are given. */
export function serverParts(overrides: Partial<ServerOptions> = {}): ServerOptions {
  const clock = overrides.clock ?? fakeClock()
  const parts = {
    host: '127.0.0.1',
    port: 0,
    clock,
    metrics: createMetrics({ version: '0.1.0', revision: '', clock, ...(overrides.people && { people: overrides.people }) }),
    console: createConsole(),
    people: EMAIL_LABELS,
    views: () => [],
    health: () => ({ configValid: true, ledgerWritable: true }),
    ledger: noLedger,
    live: createLive(clock, 'boot'),
    ledgerGate: () => undefined,
    ready: () => ({ ready: true, reasons: [] }),
    ...overrides,
  }
  const { views, people, health } = parts
  return { documents: libraryOf({ views, people, clock, health }), ...parts }
}
