// Scopes that somebody else changes as often as we put them right. So many foreign changes within a day make one contested: it is shown and
// left alone for 24 h instead of being fought over. What counts is what the ledger says was put right, so our own writes never do. Another
// policy entry for the scope is a fresh start (choice).
import { isYounger } from '../model/age.ts'
import type { HistoryEntry } from '../model/change.ts'
import { isSameEntry, type PolicyEntry } from '../model/entry.ts'
import type { Scope, ScopeKey } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import type { Difference } from './diff.ts'

/** Both how far back foreign changes count and how long a contested scope is left alone. */
export const CONTEST_MS = 24 * 3_600_000

/** A scope that is left alone. */
export interface Contest {
  /** Since when. */
  readonly at: Instant
  /** The policy entry that was contested. */
  readonly entry: PolicyEntry
  /** Foreign changes within the 24 h before. */
  readonly changes: number
}

type Written = Pick<HistoryEntry, 'cause' | 'from' | 'to' | 'result'>

export interface ContestInputs {
  /** The ledger's. */
  readonly known: Readonly<Record<ScopeKey, Contest>>
  /** What was written at a scope since then, newest first. */
  readonly written: (scope: Scope, sinceAt: Instant) => readonly Written[]
}

/** Is it still to be left alone? A clock that was set back ends it. */
export const isLeftTo = (contest: Contest, now: Instant): boolean => isYounger(contest.at, now, CONTEST_MS)

/** Which of these differences are contested now. */
export function contestedScopes(
  differences: readonly Difference[],
  { known, written }: ContestInputs,
  limit: number | 'off',
  now: Instant,
): ReadonlyMap<ScopeKey, Contest> {
  const found = new Map<ScopeKey, Contest>()
  if (limit === 'off') return found
  for (const { scope, key, from, to, cause, entry } of differences) {
    if (cause !== 'external') continue
    const before = known[key]
    if (before && isSameEntry(before.entry, entry) && isLeftTo(before, now)) found.set(key, before)
    // The change that is there now has not been put right yet.
    const changes = found.has(key) ? 0 : 1 + timesHealed(written(scope, now - CONTEST_MS), from, to)
    if (changes >= limit) found.set(key, { at: now, entry, changes })
  }
  return found
}

/**
 * How often this cap was put back; what was written to another value belongs to another policy entry, and so does all before it. It was put back as
 * well where others were so quick that the reading after the write showed theirs already.
 */
function timesHealed(entries: readonly Written[], from: Difference['from'], to: Difference['to']): number {
  let count = 0
  let next = from
  for (const entry of entries) {
    if (entry.to !== to) break
    const isHealed = entry.result === 'applied' || (entry.result === 'verify_failed' && entry.from !== next)
    if (entry.cause === 'external' && isHealed) count += 1
    next = entry.from
  }
  return count
}
