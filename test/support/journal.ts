// Journals for tests: history that a ledger must return, and a chronicle beside the events that a test reads.
import type { HistoryEntry } from '../../src/core/model/change.ts'
import type { CycleEvent } from '../../src/core/model/events.ts'
import { scopeKey, TEAM } from '../../src/core/model/scope.ts'
import { type Chronicle, chronicleOf } from '../../src/daemon/conditions/journal.ts'
import type { HistoryFilter, Ledger } from '../../src/ports.ts'

/** Follows events, and passes them on. */
export function followed(
  ledger: Ledger,
  events: CycleEvent[],
): { readonly chronicle: Chronicle; readonly emit: (event: CycleEvent) => void } {
  const chronicle = chronicleOf(ledger)
  return {
    chronicle,
    emit(event) {
      chronicle.onEvent(event)
      events.push(event)
    },
  }
}

/** The history of a ledger, read in several ways. */
export const histories = async (ledger: Ledger) => ({
  all: await ledger.history(),
  some: await ledger.history({ sinceAt: 20, limit: 3 }),
  until: await ledger.history({ sinceAt: 5, untilAt: 20 }),
  ofTeam: await ledger.history({ scope: TEAM }),
})

/** The entries that the filter selects, newest first. */
export const historyOf = (history: readonly HistoryEntry[], filter: HistoryFilter = {}): readonly HistoryEntry[] => {
  const { scope, sinceAt = Number.NEGATIVE_INFINITY, untilAt = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = filter
  return history
    .filter((entry) => entry.at >= sinceAt && entry.at <= untilAt && (!scope || scopeKey(scope) === scopeKey(entry.scope)))
    .sort((a, b) => b.at - a.at)
    .slice(0, limit)
}
