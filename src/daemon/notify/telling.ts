// When people are told: after readings and cycles, beside them and one look at a time. It decides nothing about whom.
import { notice } from '../conditions/notice.ts'
import { LedgerError } from '../ledger/error.ts'
import { report, type Workspace } from '../workspace.ts'
import { type Ending, tellPeople } from './outbox.ts'

/** What is under way, and when it was looked at last. */
export interface Telling {
  underWay: Promise<void> | undefined
  begunAt: number
}

export const idleTelling = (): Telling => ({ underWay: undefined, begunAt: Number.NEGATIVE_INFINITY })

/** What is due follows from figures that change with readings and cycles. Choice. */
const LOOK_EVERY_MS = 60_000

/** Begins to tell what is due. `collecting`: use is being collected, and what is about to be measured need not be told by an estimate. */
export function keepTold(workspace: Workspace, telling: Telling, ends: Ending, collecting: boolean): void {
  const { notifier, clock, state, shown } = workspace
  if (!notifier || !state || !shown.desiredState || telling.underWay || (collecting && !state.measured)) return
  if (ends.ending.aborted || clock.monotonic() - telling.begunAt < LOOK_EVERY_MS) return
  telling.begunAt = clock.monotonic()
  const grace = graceOf(workspace, ends.ending)
  telling.underWay = tellPeople(workspace, notifier, { ending: ends.ending, cut: AbortSignal.any([ends.cut, grace.signal]) })
    .then((found) => notice(workspace, { notify: found }))
    .catch((error: unknown) => {
      // The cycles say of a ledger that cannot be written.
      if (error instanceof LedgerError || ends.ending.aborted) return
      report(workspace, { kind: 'bug', message: `unexpected: ${error instanceof Error ? error.message : String(error)}` })
    })
    .finally(() => {
      grace.close()
      telling.underWay = undefined
    })
}

/** Whoever takes over waits for the end: what is under way gets no more time than this. Choice. */
const GRACE_MS = 2_000

/** Aborts a little after the end has begun. */
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
