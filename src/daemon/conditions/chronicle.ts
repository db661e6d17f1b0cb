// The past events of a workspace that pages show: the journal, which the ledger keeps, and figures of its requests. It follows events and
// decides nothing.
import type { CycleEvent } from '../../core/model/events.ts'
import type { Ledger } from '../../ports.ts'
import { orNothing } from '../ledger/error.ts'
import { withoutPerson } from '../ledger/forget.ts'
import { type Journal, journaled, journalOf } from './journal.ts'
import { type RequestsOf, takeRequest } from './requests.ts'

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
