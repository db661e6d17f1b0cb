// How the daemon as a whole is doing: opens its workspaces all or none, tells when it is ready, and refreshes what pages show of other
// processes before a page is answered. A database that does not answer must not keep a page waiting, so after a while the page shows the last
// known state.
import { formatProblems } from '../../core/escape/text.ts'
import type { Finding } from '../../core/model/condition.ts'
import { InputError, messageOf } from '../../core/model/problem.ts'
import type { Clock } from '../../ports.ts'
import { finding, firstProblem } from '../conditions/findings.ts'
import type { WorkspaceConfig } from '../config/settings.ts'
import type { Readiness } from '../http/server.ts'
import type { Leases } from '../replicas/leases.ts'
import type { Workspace } from '../workspace.ts'

// Runs work one at a time: requests that arrive while it runs lead to one more run afterwards, however many they are.

/** Runs `run`, never two at a time; resolves when a run that began after the call has ended. `run` reports its own failures. */
export function oneAtATime(run: () => void | Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = (): Promise<void> => {
    const ended = Promise.resolve(run()).finally(() => {
      if (running === ended) running = undefined
    })
    running = ended
    return ended
  }
  return () => {
    if (!running) return begin()
    next ??= running.then(() => {
      next = undefined
      return begin()
    })
    return next
  }
}

/** The subject of conditions of the process as a whole. */
const PROCESS = 'capkeeper'

/** A configuration that cannot come into force: it is invalid, or a workspace of it cannot be opened. */
export function configFinding(error: unknown): Finding {
  if (!(error instanceof InputError)) return finding('ConfigInvalid', 'CONFIG_INVALID', messageOf(error), PROCESS)
  const message = firstProblem(error.problems) ?? 'nothing is known of why'
  const version = formatProblems(error.problems)
  return finding('ConfigInvalid', 'CONFIG_INVALID', message, PROCESS, { version, fields: { problems: version.split('\n') } })
}

/** `why`: where it is known. */
export const ledgerFinding = (why = 'the ledger cannot be written, so no cap is written; look at its disk and its permissions'): Finding =>
  finding('LedgerUnwritable', 'LEDGER_UNWRITABLE', why, PROCESS)

/** Opens all, or none: closes those that are open when one cannot be opened, and rejects as that one did. */
export async function openAll<Of, Opened extends { close(): void }>(
  of: readonly Of[],
  open: (one: Of) => Promise<Opened>,
): Promise<ReadonlyMap<Of, Opened>> {
  const opened = new Map<Of, Opened>()
  try {
    for (const one of of) opened.set(one, await open(one))
    return opened
  } catch (error) {
    for (const one of opened.values()) one.close()
    throw error
  }
}

/** A running workspace. */
interface Tried {
  readonly config: Pick<WorkspaceConfig, 'name'>
  readonly workspace: Pick<Workspace, 'attempted'>
  readonly opened: { requestFailed?(): boolean }
  /** On the monotonic clock. */
  readonly startedAt: number
}

/** A service that has not answered for this long counts as tried. Choice. */
const ATTEMPT_MS = 30_000

/** A cycle ended, a request failed, or it takes too long: a service that is away must not keep the daemon from being ready. */
const wasTried = ({ workspace, opened, startedAt }: Tried, now: number): boolean =>
  workspace.attempted || opened.requestFailed?.() === true || now - startedAt >= ATTEMPT_MS

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

/** A page waits no longer than this. Choice. */
const REFRESH_MS = 1_000

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
