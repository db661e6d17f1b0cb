// Remembers, before a team or group is written, what the people and groups beneath had, so that copying is seen also when a stop or a death
// falls between the write and the look beneath: the next cycle compares. It holds nothing itself; the guard `semantics` does.
import type { Change } from '../../core/model/change.ts'
import type { CapReading } from '../../core/model/observed.ts'
import type { Cap } from '../../core/model/policy.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Ledger, WideLook } from '../../ports.ts'
import { copyingEvidence } from './semantics.ts'

/** A comparison that could not be finished for so long is given up (choice). */
const LOOK_LIFE_MS = 24 * 3_600_000

/** Keeps what is to be compared after these writes; only own numbers prove anything. Returns how to strike it off once compared. */
export function rememberLooks(
  changes: readonly Change[],
  beneath: (scope: Scope) => readonly Scope[],
  readings: ReadonlyMap<ScopeKey, CapReading>,
  ledger: Ledger,
  at: Instant,
): () => void {
  const looks = changes.flatMap(({ scope, from, to }): WideLook[] => {
    if (scope.kind === 'user') return []
    const before: Record<ScopeKey, Cap> = {}
    for (const one of beneath(scope)) {
      const observed = readings.get(scopeKey(one))?.observed
      if (typeof observed === 'number' && observed !== from && observed !== to) before[scopeKey(one)] = observed
    }
    return Object.keys(before).length > 0 ? [{ at, scope, from, to, before }] : []
  })
  if (looks.length === 0) return () => undefined
  const open = ledger.fact('wideLooks') ?? []
  ledger.saveFact('wideLooks', [...open, ...looks])
  return () => ledger.saveFact('wideLooks', open.length > 0 ? open : undefined)
}

/** Finishes the comparisons that were interrupted, as far as the scopes were read since. Returns what proves copying. */
export function finishLooks(ledger: Ledger, readings: ReadonlyMap<ScopeKey, CapReading>, now: Instant): string | undefined {
  const open = ledger.fact('wideLooks')
  if (!open) return undefined
  let evidence: string | undefined
  const left: WideLook[] = []
  for (const look of open) {
    const before: Record<ScopeKey, Cap> = {}
    for (const [key, was] of Object.entries(look.before) as [ScopeKey, Cap][]) {
      const reading = readings.get(key)
      if (!reading || reading.failure || reading.readAt <= look.at) before[key] = was
      else evidence ??= evidenceOf(look, was, reading, ledger)
    }
    if (Object.keys(before).length > 0 && now - look.at < LOOK_LIFE_MS) left.push({ ...look, before })
  }
  ledger.saveFact('wideLooks', left.length > 0 && evidence === undefined ? left : undefined)
  return evidence
}

/** What we wrote there ourselves since proves nothing. */
function evidenceOf(look: WideLook, was: Cap, reading: CapReading, ledger: Ledger): string | undefined {
  const evidence = copyingEvidence(look, { scope: reading.scope, observed: was, readAt: look.at }, reading)
  if (evidence === undefined) return undefined
  const [last] = ledger.history({ scope: reading.scope, limit: 1 })
  return last !== undefined && last.at > look.at ? undefined : evidence
}
