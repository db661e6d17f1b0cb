// How long a page waits for what it asks of the ledger: a database that does not answer must not keep anybody from seeing what is known.
import type { Pause } from '../../core/model/change.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Clock } from '../../ports.ts'
import { LedgerError } from '../ledger/error.ts'
import type { Leases } from '../replicas/leases.ts'
import type { Workspace } from '../workspace.ts'

/** Then what was known is shown. Choice. */
export const LOOK_MS = 1_000

/** A look that all who look share while it is under way, and that nobody waits for longer than `LOOK_MS`. */
export function patientLook(clock: Pick<Clock, 'sleep'>, look: () => Promise<void>): () => Promise<void> {
  let looking: Promise<void> | undefined
  return async () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    const seen = new AbortController()
    const enough = clock.sleep(LOOK_MS, seen.signal).catch(() => undefined)
    try {
      await Promise.race([looking, enough])
    } finally {
      seen.abort()
    }
  }
}

interface Around {
  readonly parts: {
    readonly clock: Pick<Clock, 'now'>
    pauses?(now: Instant): Promise<ReadonlyMap<string, Pause>>
    lookAtLedger?(): Promise<void>
  }
  readonly leases: Pick<Leases, 'shownElsewhere'>
  elsewhere: ReadonlyMap<string, string>
}

/** Looks at what other processes change: pauses, what holders elsewhere show, and whether the ledger can be written. */
export async function lookAround(state: Around, runners: readonly { readonly workspace: Workspace }[]): Promise<void> {
  const { parts, leases } = state
  const pauses = parts.pauses?.(parts.clock.now()).catch(ignore)
  const [elsewhere, found] = await Promise.all([leases.shownElsewhere(), pauses, parts.lookAtLedger?.()])
  state.elsewhere = elsewhere
  if (found) for (const { workspace } of runners) workspace.pause = found.get(workspace.config.name)
}

/** What cannot be read shows as it was. */
const ignore = (error: unknown): undefined => {
  if (!(error instanceof LedgerError)) throw error
}
