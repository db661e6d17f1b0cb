// Opens the workspaces of a daemon all or none, words what keeps the whole of it from its work, and refreshes what pages show of other processes
// before a page is answered. A database that does not answer must not keep a page waiting, so after a while the page shows the last known state.
import { formatProblems } from '../../core/escape/text.ts'
import type { Finding } from '../../core/model/condition.ts'
import { InputError, messageOf } from '../../core/model/problem.ts'
import type { Clock } from '../../ports.ts'
import { finding, firstProblem } from '../conditions/findings.ts'
import { timer } from './system.ts'

// Runs work one at a time: requests that arrive while it runs lead to one more run afterwards, however many they are.

/** Runs `run`, never two at a time; resolves when a run that began after the call has ended. `run` reports its own failures. */
export function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = (): Promise<void> => {
    const ended = run().finally(() => {
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

/** A page waits no longer than this. Choice. */
const REFRESH_MS = 1_000

/** `refresh`, shared by all pages that ask while it runs; each waits for `REFRESH_MS` at most. */
export function sharedRefresh(clock: Pick<Clock, 'sleep'>, refresh: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return async () => {
    running ??= refresh().finally(() => {
      running = undefined
    })
    const { promise: timeout, resolve } = Promise.withResolvers<void>()
    using _patience = timer(clock, REFRESH_MS, resolve)
    await Promise.race([running, timeout])
  }
}
