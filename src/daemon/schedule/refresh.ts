// Refreshes what pages show of other processes, before a page is answered. A database that does not answer must not keep a page waiting, so
// after a while the page shows the last known state.
import type { Pause } from '../../core/model/change.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Clock } from '../../ports.ts'
import { LedgerError } from '../ledger/error.ts'
import type { Leases } from '../replicas/leases.ts'
import type { Workspace } from '../workspace.ts'

/** A page waits no longer than this. Choice. */
export const REFRESH_MS = 1_000

/** `refresh`, shared by all pages that ask while it runs; each waits for `REFRESH_MS` at most. */
export function sharedRefresh(clock: Pick<Clock, 'sleep'>, refresh: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return async () => {
    running ??= refresh().finally(() => {
      running = undefined
    })
    const over = new AbortController()
    const timeout = clock.sleep(REFRESH_MS, over.signal).catch(() => undefined)
    try {
      await Promise.race([running, timeout])
    } finally {
      over.abort()
    }
  }
}

interface Refreshed {
  readonly parts: {
    readonly clock: Pick<Clock, 'now'>
    pauses?(now: Instant): Promise<ReadonlyMap<string, Pause>>
    probeLedger?(): Promise<void>
  }
  readonly leases: Pick<Leases, 'shownElsewhere'>
  elsewhere: ReadonlyMap<string, string>
}

/** Reads what other processes change: pauses, the state that other replicas show, and whether the ledger can be written. */
export async function refreshViews(state: Refreshed, runners: readonly { readonly workspace: Workspace }[]): Promise<void> {
  const { parts, leases } = state
  const pauses = parts.pauses?.(parts.clock.now()).catch(unlessLedger)
  const [elsewhere, found] = await Promise.all([leases.shownElsewhere(), pauses, parts.probeLedger?.()])
  state.elsewhere = elsewhere
  if (found) for (const { workspace } of runners) workspace.pause = found.get(workspace.config.name)
}

/** Pauses that cannot be read stay as they were. */
const unlessLedger = (error: unknown): undefined => {
  if (!(error instanceof LedgerError)) throw error
}
