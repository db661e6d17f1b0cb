// Scopes that another client changes as often as we revert them. After so many foreign changes within a day a scope is contested: it is shown
// and not written for 24 h. Reverts in the ledger count, so our own changes never do. Another policy entry starts anew (choice).

import { isSameEntry } from '../model/policy.ts'
import type { ScopeKey } from '../model/scope.ts'
import { DAY_MS, type Instant, isYounger } from '../model/units.ts'
import type { Contest, Difference, KnownContests, Snapshot } from './snapshot.ts'

/** Foreign changes of so long ago count, and a contested scope is left alone for so long. */
export const CONTEST_MS = DAY_MS

/** Whether the scope is still left alone. A clock that was set back ends it. */
export const isLeftTo = (contest: Contest, now: Instant): boolean => isYounger(contest.at, now, CONTEST_MS)

/** The scopes among these differences that are contested now. */
export function contestedScopes(differences: readonly Difference[], { contests, guards, now }: Snapshot): ReadonlyMap<ScopeKey, Contest> {
  const { known, written } = contests
  const limit = guards.contested
  const found = new Map<ScopeKey, Contest>()
  if (limit === 'off') return found
  for (const { scope, key, from, to, cause, entry } of differences) {
    if (cause !== 'external') continue
    const before = known[key]
    if (before && isSameEntry(before.entry, entry) && isLeftTo(before, now)) found.set(key, before)
    // One for the present change, which is not reverted yet.
    const changes = found.has(key) ? 0 : 1 + countReverts(written(scope, now - CONTEST_MS), from, to)
    if (changes >= limit) found.set(key, { at: now, entry, changes })
  }
  return found
}

/**
 * How often this cap was restored. A write of another value belongs to another policy entry, as does everything before it. A revert whose
 * read-back already showed the next foreign change counts as well.
 */
function countReverts(entries: ReturnType<KnownContests['written']>, from: Difference['from'], to: Difference['to']): number {
  let count = 0
  let next = from
  for (const entry of entries) {
    if (entry.to !== to) break
    const isReverted = entry.result === 'applied' || (entry.result === 'verify_failed' && entry.from !== next)
    if (entry.cause === 'external' && isReverted) count += 1
    next = entry.from
  }
  return count
}
