// The past events of a workspace that pages show: the journal, which the ledger keeps, and figures of its requests. It follows events and
// decides nothing.
import type { CycleEvent, RequestOutcome } from '../../core/model/events.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Ledger } from '../../ports.ts'
import { orNothing } from '../ledger/error.ts'
import { withoutPerson } from '../ledger/forget.ts'
import { type Journal, journaled, journalOf } from './journal.ts'

export interface RequestsOf {
  readonly operation: string
  readonly requests: number
  readonly failed: number
  readonly lastFailure?: { readonly at: Instant; readonly outcome: RequestOutcome }
  /** Of the last requests, in milliseconds. */
  readonly durations: readonly number[]
}

/** So many durations are kept. Choice. */
const MOST_DURATIONS = 100

/** Counts one request. */
function takeRequest(
  known: Map<string, RequestsOf>,
  { at, operation, outcome, durationMs }: Extract<CycleEvent, { readonly kind: 'request-finished' }>,
): void {
  const before = known.get(operation) ?? { operation, requests: 0, failed: 0, durations: [] }
  const isGood = outcome === 'ok'
  known.set(operation, {
    ...before,
    requests: before.requests + 1,
    failed: before.failed + (isGood ? 0 : 1),
    ...(!isGood && { lastFailure: { at, outcome } }),
    durations: [...before.durations.slice(1 - MOST_DURATIONS), durationMs],
  })
}

/** The median duration; undefined without any request. */
export function medianMs({ durations }: RequestsOf): number | undefined {
  const sorted = durations.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

export interface Chronicle {
  journal(): Journal
  requests(): readonly RequestsOf[]
  onEvent(event: CycleEvent): void
  /** `email` is normalised. */
  forget(email: string): void
  /** Saves the journal where it has changed; the next commit writes it. */
  keep(): void
}

/** Continues the journal of the ledger; begins a new one where that cannot be read. */
export function chronicleOf(ledger: Pick<Ledger, 'fact' | 'saveFact'>): Chronicle {
  let journal = journalOf(
    orNothing(() => ledger.fact('journal')),
    orNothing(() => ledger.fact('days')),
  )
  let kept = journal
  const requests = new Map<string, RequestsOf>()
  return {
    journal: () => journal,
    requests: () => [...requests.values()],
    onEvent(event) {
      if (event.kind === 'request-finished') takeRequest(requests, event)
      else journal = journaled(journal, event)
    },
    forget(email) {
      journal = withoutPerson(journal, email)
    },
    keep() {
      const { entries, days } = journal
      if (entries !== kept.entries) ledger.saveFact('journal', entries)
      if (days !== kept.days) ledger.saveFact('days', days)
      kept = journal
    },
  }
}
