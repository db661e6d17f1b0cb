// Journals for tests: history that a ledger must return, and a chronicle beside the events that a test reads.
import fc from 'fast-check'
import type { HistoryEntry } from '../../src/core/model/change.ts'
import type { CycleEvent } from '../../src/core/model/events.ts'
import type { DayFigures, JournalEntry } from '../../src/core/model/journal.ts'
import { groupScope, scopeKey, TEAM, userScope } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { type Chronicle, chronicleOf } from '../../src/daemon/conditions/chronicle.ts'
import type { HistoryFilter, Ledger } from '../../src/ports.ts'

const instant = fc.nat()
const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const amount = fc.nat().map(credits)
const scope = fc.constantFrom(TEAM, groupScope('a'), userScope('ada@example.com'))
const cap = fc.oneof(amount, fc.constant('none' as const))
const kind = <const K extends string>(...words: readonly K[]) => fc.constantFrom(...words)

export const journals: fc.Arbitrary<readonly JournalEntry[]> = fc.array(
  fc.oneof(
    fc.record({ at: instant, kind: kind('foreign'), scope, verified: cap, observed: fc.oneof(cap, fc.constant('unknown' as const)) }),
    fc.record({ at: instant, kind: kind('hold'), id: text, guards: fc.constant(['maxLowered' as const]), people: fc.nat() }),
    fc.record({ at: instant, kind: kind('release'), id: text }),
    fc.record({ at: instant, kind: kind('policy'), digest: text, revision: text, valid: fc.boolean() }),
    fc.record({ at: instant, kind: kind('pause'), untilAt: instant, reason: text }),
    fc.record({ at: instant, kind: kind('outage'), message: text }),
    fc.record({ at: instant, kind: kind('resume', 'recovery') }),
  ),
  { maxLength: 4 },
)

export const dayFigures: fc.Arbitrary<readonly DayFigures[]> = fc.array(
  fc.record(
    {
      dayAt: instant,
      found: fc.nat(),
      reverted: fc.nat(),
      written: fc.nat(),
      failed: fc.nat(),
      open: fc.nat(),
      used: amount,
      addOnUsed: amount,
    },
    { requiredKeys: ['dayAt', 'found', 'reverted', 'written', 'failed'] },
  ),
  { maxLength: 3 },
)

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
