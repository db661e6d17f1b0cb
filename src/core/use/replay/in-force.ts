// The caps that were in force on past days, as far as the ledger knows: what capkeeper wrote, what it saw other clients write at its scopes, and
// what is set there now. Any other cap is not known and counts as none; a note says so.

import type { HistoryEntry } from '../../model/change.ts'
import type { JournalEntry } from '../../model/journal.ts'
import type { OwnedCap } from '../../model/observed.ts'
import type { Cap } from '../../model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../model/scope.ts'
import type { Instant } from '../../model/units.ts'
import { type CapSource, type CapsOfDay, capOfOne, capsOfAll, scopeList } from './caps.ts'
import type { ReplayPeople } from './recorded.ts'

/** A cap that changed. */
export interface CapChange {
  readonly at: Instant
  readonly scope: Scope
  readonly from: Cap
  readonly to: Cap
}

/** Known changes, the oldest first: our writes that landed, and foreign changes that readings found. */
export function capChanges(history: readonly HistoryEntry[], journal: readonly JournalEntry[]): readonly CapChange[] {
  const written: readonly CapChange[] = history.filter(({ result }) => result === 'applied')
  const found = journal.flatMap((entry): readonly CapChange[] =>
    entry.kind === 'foreign' && entry.observed !== 'unknown'
      ? [{ at: entry.at, scope: entry.scope, from: entry.verified, to: entry.observed }]
      : [],
  )
  return [...written, ...found].sort((a, b) => a.at - b.at)
}

/** The caps before these changes. A scope of ours without a change always had its present cap. Choice. */
export function setBefore(owned: readonly OwnedCap[], changes: readonly CapChange[]): Map<ScopeKey, Cap> {
  const set = new Map<ScopeKey, Cap>(owned.map(({ scope, cap }) => [scopeKey(scope), cap]))
  for (const { scope, from } of changes.toReversed()) set.set(scopeKey(scope), from)
  return set
}

/** `history` and `journal` in any order. */
export function capsInForce(
  people: ReplayPeople,
  owned: readonly OwnedCap[],
  history: readonly HistoryEntry[],
  journal: readonly JournalEntry[] = [],
): CapSource {
  const writes = capChanges(history, journal)
  const set = setBefore(owned, writes)
  const places = new Map<string, number>(people.emails.map((email, place) => [email, place]))
  const { scopes, place } = scopeList()
  let next = 0
  let caps: CapsOfDay | undefined
  return {
    scopes,
    capsOn({ at }) {
      const touched: ScopeKey[] = []
      for (let write = writes[next]; write && write.at <= at; write = writes[next]) {
        const key = scopeKey(write.scope)
        set.set(key, write.to)
        touched.push(key)
        next += 1
      }
      const persons = touched.flatMap((key) => places.get(key) ?? [])
      if (!caps || persons.length < touched.length) {
        caps = capsOfAll(people, set, place)
      } else if (persons.length > 0) {
        caps = { caps: caps.caps.slice(), from: caps.from.slice() }
        for (const person of persons) capOfOne(people, set, place, person, caps)
      }
      return caps
    },
  }
}
