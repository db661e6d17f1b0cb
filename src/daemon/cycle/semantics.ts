// What a deployment's own answers tell about how it keeps caps: in layers, or copied to each member, and whether reads show what applies.
// Evidence only; what follows from copying is the guard `semantics`.

import { TEAM_KEY } from '../../core/interpret/effective.ts'
import type { Change } from '../../core/model/change.ts'
import type { CapReading, OwnedCap } from '../../core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'

/**
 * Copying is seen when a narrower cap of its own value turned into what the wider write set. A scope that showed nothing, or the old wider
 * value, proves nothing: reads may show what applies.
 */
export function copyingEvidence(wide: Pick<Change, 'scope' | 'from' | 'to'>, before: CapReading, after: CapReading): string | undefined {
  const own = before.observed !== 'unknown' && before.observed !== 'none' && before.observed !== wide.from
  const turned = after.observed === wide.to && before.observed !== wide.to
  const wiped = wide.to === 'none' && after.observed === 'none'
  if (!own || !(turned || wiped)) return undefined
  return `after ${scopeKey(wide.scope)} was written (${wide.from} to ${wide.to}), ${scopeKey(before.scope)} changed from ${before.observed} to ${after.observed} without a write of its own`
}

/** A scope that showed the wide scope's old value shows its new one: nothing is set there, and the read shows what applies (or a copy of it). */
export function inheritanceEvidence(wide: Change, before: CapReading, after: CapReading): string | undefined {
  if (wide.from === 'none' || wide.from === wide.to || before.observed !== wide.from || after.observed !== wide.to) return undefined
  return `after ${scopeKey(wide.scope)} was written (${wide.from} to ${wide.to}), ${scopeKey(before.scope)} reads ${after.observed} as well`
}

/**
 * Narrower scopes of ours that show exactly what a later write of ours set at a wider one: overwritten or shown through, by us and by
 * nobody else. Only asked where copying or inherited reads are known of.
 */
export function echoes(
  owned: ReadonlyMap<ScopeKey, OwnedCap>,
  readings: ReadonlyMap<ScopeKey, CapReading>,
  groupsOf: (key: ScopeKey) => readonly ScopeKey[],
): ReadonlySet<ScopeKey> {
  const found = new Set<ScopeKey>()
  for (const [key, { scope, cap, verifiedAt }] of owned) {
    const observed = readings.get(key)?.observed
    if (scope.kind === 'team' || observed === undefined || observed === cap) continue
    const wider = [...(scope.kind === 'user' ? groupsOf(key) : []), TEAM_KEY].map((one) => owned.get(one))
    if (wider.some((one) => one?.cap === observed && one.verifiedAt > verifiedAt)) found.add(key)
  }
  return found
}
