// Decides whether the daemon is ready: its ledger can be written, and every workspace that it holds was tried once. Neither a bad policy nor an
// outage of the service takes that back.
import type { WorkspaceConfig } from '../config/settings.ts'
import type { Readiness } from '../http/options.ts'
import type { Leases } from '../replicas/leases.ts'
import type { Workspace } from '../workspace.ts'

/** A running workspace. */
export interface Tried {
  readonly config: Pick<WorkspaceConfig, 'name'>
  readonly workspace: Pick<Workspace, 'attempted'>
  readonly requestFailed: () => boolean
  /** On the monotonic clock. */
  readonly startedAt: number
}

/** A service that has not answered for this long counts as tried. Choice. */
export const ATTEMPT_MS = 30_000

/** A cycle ended, a request failed, or it takes too long: a service that is away must not keep the daemon from being ready. */
const wasTried = ({ workspace, requestFailed, startedAt }: Tried, now: number): boolean =>
  workspace.attempted || requestFailed() || now - startedAt >= ATTEMPT_MS

/** Returns the judge of readiness. A replica that was ready once stays so when it takes over workspaces that another one has tried. */
export function createReadiness({ isSole, hasBegun }: Pick<Leases, 'isSole' | 'hasBegun'>) {
  let wasReady = false
  return (runners: readonly Tried[], { canRecord, now }: { readonly canRecord: boolean; readonly now: number }): Readiness => {
    const toTry = wasReady && !isSole ? [] : runners
    const untried = toTry.filter((runner) => !wasTried(runner, now)).map(({ config }) => `${config.name}: not attempted yet`)
    const ledger = hasBegun() ? 'the ledger cannot be written' : 'the ledger was not reached yet'
    const reasons = canRecord && hasBegun() ? untried : [ledger, ...untried]
    wasReady ||= reasons.length === 0
    return { ready: reasons.length === 0, reasons }
  }
}
