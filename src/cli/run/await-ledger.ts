// When the database cannot be reached at the start, the daemon waits for it instead of ending, and says so on its pages and `/readyz`. It sends
// nothing to any service meanwhile.
import type { Config } from '../../daemon/config/settings.ts'
import type { Server } from '../../daemon/http/server.ts'
import { LedgerError } from '../../daemon/ledger/error.ts'
import { openLedger } from '../../daemon/ledger/ledger.ts'
import type { Cli } from '../shared/context.ts'
import type { WritingStore } from '../shared/ledger/replica.ts'
import type { RunFlags } from './command.ts'
import { createHost, type Host } from './host.ts'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 15_000

interface Awaiting {
  readonly cli: Cli
  readonly flags: RunFlags
  readonly config: Config
  readonly isEmbedded: boolean
  /** Aborts when the daemon is to stop. */
  readonly stop: AbortSignal
  readonly open: () => Promise<WritingStore>
  /** Serves pages that only say that the daemon is not ready, and why. */
  readonly listen: (host: Host, why: () => string) => Promise<Server>
}

/** Undefined when the daemon was stopped while it waited. Rejects with a `LedgerError` that waiting cannot cure. */
export async function awaitLedger(awaiting: Awaiting): Promise<WritingStore | undefined> {
  const { open } = awaiting
  try {
    return await open()
  } catch (error) {
    if (!isAway(error)) throw error
    return await wait(awaiting, open, error)
  }
}

const isAway = (error: unknown): error is LedgerError => error instanceof LedgerError && error.code === 'LEDGER_AWAY'

async function wait(
  { cli, flags, config, isEmbedded, stop, listen }: Awaiting,
  open: () => Promise<WritingStore>,
  first: LedgerError,
): Promise<WritingStore | undefined> {
  const nothing = await openLedger({ file: ':memory:', mode: 'write', clock: cli.clock })
  const host = await createHost({ cli, flags, config, store: nothing, isEmbedded })
  let last = first
  const server = await listen({ ...host, ledgerWritable: () => false, probeLedger: async () => undefined }, () => last.message)
  try {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
      host.logger.error(
        { error: last.message, retryMs: waitMs },
        'the ledger cannot be reached; it is tried again, and nothing is written until then',
      )
      await cli.clock.sleep(waitMs, stop).catch(() => undefined)
      if (stop.aborted) return undefined
      try {
        const store = await open()
        host.logger.info({}, 'the ledger is there')
        return store
      } catch (error) {
        if (!isAway(error)) throw error
        last = error
      }
    }
  } finally {
    await server.close()
    await nothing.close()
  }
}
