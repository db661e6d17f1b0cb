// Caps that are shown and asked for, and may be there only because they are inherited: before an ancestor goes below them they are set at
// their own scope, and what a pool deals before an ancestor moves at all. That is right under both ways to read caps, and nobody falls on the
// way.
import { type People, TEAM_KEY } from '../interpret/effective.ts'
import type { Slots } from '../interpret/slots.ts'
import type { ScopeKey } from '../model/scope.ts'
import type { DesiredCap } from '../resolve/candidate.ts'
import type { Diff, Difference } from './diff.ts'

/** The writes that make inherited caps their scopes' own. */
export function pins(diff: Diff, slots: Slots, desired: ReadonlyMap<ScopeKey, DesiredCap>, people: People): readonly Difference[] {
  const wide = new Map(diff.differences.flatMap((one) => (one.scope.kind === 'user' ? [] : [[one.key, one] as const])))
  if (wide.size === 0 || slots.model.layers === 'copied' || slots.model.reads === 'explicit') return []
  return diff.inSync.flatMap((key): Difference[] => {
    const want = desired.get(key)
    if (!want || want.cap === 'none' || !slots.mayBeInherited(key)) return []
    const { scope, cap, entry, origin } = want
    const ancestors = scope.kind === 'user' ? [...(people.byKey.get(key)?.groups ?? []), TEAM_KEY] : [TEAM_KEY]
    const isLeft = ancestors.some((one) => {
      const to = wide.get(one)?.to
      // What a pool deals counts in its sum, and must not follow an ancestor upwards either.
      return to !== undefined && (to === 'none' || to < cap || (origin.pool !== undefined && to > cap))
    })
    if (!isLeft) return []
    const source = origin.at.line > 0 ? { source: origin.at } : {}
    const reason = origin.reason ?? 'it may only be inherited, and what it is inherited from moves'
    return [{ scope, key, from: 'none', to: cap, cause: 'policy', ...source, reason, entry, healing: false, grantEnd: false, pin: true }]
  })
}
