// When messages are sent: after readings and cycles, beside them, one run at a time. It decides nothing about receivers.
import { notice } from '../conditions/notice.ts'
import { LedgerError } from '../ledger/error.ts'
import { report, type Workspace } from '../workspace.ts'
import { type Ending, tellPeople } from './outbox.ts'

/** The present run, and when the last one began. */
export interface TellingState {
  underWay: Promise<void> | undefined
  begunAt: number
}

export const idleTelling = (): TellingState => ({ underWay: undefined, begunAt: Number.NEGATIVE_INFINITY })

/** Choice. */
const RUN_EVERY_MS = 60_000

/** Begins a run where one is due. `collecting`: use is being read, so wait for measured figures rather than send estimates. */
export function keepTold(workspace: Workspace, telling: TellingState, ends: Ending, collecting: boolean): void {
  const { notifier, clock, state, shown } = workspace
  if (!notifier || !state || !shown.desiredState || telling.underWay || (collecting && !state.measured)) return
  if (ends.ending.aborted || clock.monotonic() - telling.begunAt < RUN_EVERY_MS) return
  telling.begunAt = clock.monotonic()
  const grace = graceOf(workspace, ends.ending)
  telling.underWay = tellPeople(workspace, notifier, { ending: ends.ending, cut: AbortSignal.any([ends.cut, grace.signal]) })
    .then((found) => notice(workspace, { notify: found }))
    .catch((error: unknown) => {
      // Cycles report a ledger that cannot be written.
      if (error instanceof LedgerError || ends.ending.aborted) return
      report(workspace, { kind: 'bug', message: `unexpected: ${error instanceof Error ? error.message : String(error)}` })
    })
    .finally(() => {
      grace.close()
      telling.underWay = undefined
    })
}

/** At the end of the process messages being sent get this time, because the next replica waits for the end. Choice. */
const GRACE_MS = 2_000

/** Aborts when this time after the end has passed. */
function graceOf({ clock }: Pick<Workspace, 'clock'>, ending: AbortSignal): { readonly signal: AbortSignal; close(): void } {
  const over = new AbortController()
  const cut = new AbortController()
  const begin = (): void => {
    clock.sleep(GRACE_MS, over.signal).then(
      () => cut.abort(new Error('the grace period is over')),
      () => undefined,
    )
  }
  ending.addEventListener('abort', begin, { once: true })
  return {
    signal: cut.signal,
    close() {
      ending.removeEventListener('abort', begin)
      over.abort(new Error('done'))
    },
  }
}
