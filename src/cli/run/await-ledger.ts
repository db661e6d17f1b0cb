// When the database cannot be reached at the start, the daemon waits for it instead of ending, and says so on its pages and `/readyz`. It sends
// nothing to any service meanwhile.
import type { Server } from '../../daemon/http/server.ts'
import { LedgerError } from '../../daemon/ledger/error.ts'
import { openLedger } from '../../daemon/ledger/ledger.ts'
import type { WritingStore } from '../shared/ledger/replica.ts'
import { createHost, type Host, type HostOptions } from './host.ts'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 15_000

interface Awaiting extends Omit<HostOptions, 'store' | 'leases'> {
  /** Aborts when the daemon is to stop. */
  readonly stop: AbortSignal
  readonly open: () => Promise<WritingStore>
  /** Serves pages that only say that the daemon is not ready, and why. */
  readonly listen: (host: Host, why: () => string) => Promise<Server>
}

/** The store, or why the database cannot be reached. Rejects with a `LedgerError` that waiting cannot cure. */
const attempt = (open: Awaiting['open']): Promise<WritingStore | LedgerError> =>
  open().catch((error: unknown) => {
    if (error instanceof LedgerError && error.code === 'LEDGER_AWAY') return error
    throw error
  })

/** Undefined when the daemon was stopped while it waited. */
export async function awaitLedger(awaiting: Awaiting): Promise<WritingStore | undefined> {
  const { stop, open, listen, ...options } = awaiting
  const { clock } = options.cli
  let store = await attempt(open)
  if (!(store instanceof LedgerError)) return store
  let why = store.message
  await using opened = new AsyncDisposableStack()
  const nothing = opened.adopt(await openLedger({ file: ':memory:', mode: 'write', clock }), (one) => one.close())
  const host = await createHost({ ...options, store: nothing })
  const server = await listen({ ...host, ledgerWritable: () => false, probeLedger: async () => undefined }, () => why)
  opened.defer(() => server.close())
  for (let waitMs = FIRST_WAIT_MS; store instanceof LedgerError; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
    why = store.message
    host.logger.error({ error: why, retryMs: waitMs }, 'the ledger cannot be reached; it is tried again, and nothing is written until then')
    await clock.sleep(waitMs, stop).catch(() => undefined)
    if (stop.aborted) return undefined
    store = await attempt(open)
  }
  host.logger.info({}, 'the ledger is there')
  return store
}
