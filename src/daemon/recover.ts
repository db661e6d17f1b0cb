// Finishes what a crash or a lost answer left open: every open intent is compared with what the service now shows. An intent whose scope
// cannot be read stays open; none is ever dropped.
import type { Intent } from '../core/change.ts'
import type { DesiredCap } from '../core/desired.ts'
import { ownedFrom, setBefore } from '../core/diff.ts'
import type { CapReading, Observed, OwnedCap, OwnerKind } from '../core/observed.ts'
import { type ScopeKey, scopeKey } from '../core/scope.ts'
import type { Clock, Ledger } from '../ports.ts'
import { isVerified } from './verified.ts'
import { givenUp, historyEntry } from './write.ts'

export interface RecoverInputs {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly desired: ReadonlyMap<ScopeKey, DesiredCap>
  readonly wider: (key: ScopeKey) => Observed
}

/** Closes every open intent whose scope was read since. Returns how many were closed. */
export function recoverIntents(inputs: RecoverInputs): number {
  const owned = new Map(inputs.ledger.owned().map((one) => [scopeKey(one.scope), one]))
  let closed = 0
  for (const intent of inputs.ledger.openIntents()) {
    const key = scopeKey(intent.change.scope)
    const reading = inputs.readings.get(key)
    if (!reading || reading.failure || reading.readAt < intent.at) continue
    const now = inputs.clock.now()
    if (isVerified(intent.change, reading, inputs.wider)) {
      inputs.ledger.recordOutcome(intent, historyEntry(intent, 'applied', now), ownershipOf(intent, reading, owned.get(key), inputs))
    } else {
      const landed = reading.observed === intent.change.from ? 'it had not landed' : `${reading.observed} stands there now`
      const error = `the answer to this write was lost; ${landed}`
      const result = reading.observed === intent.change.from ? 'failed' : 'verify_failed'
      inputs.ledger.recordOutcome(intent, historyEntry(intent, result, now, error), 'kept')
    }
    closed += 1
  }
  return closed
}

/** Whose cap it is, by the kind of entry that asked for it. */
const OWNERS: Readonly<Record<string, OwnerKind>> = { rule: 'policy', grant: 'grant', conflict: 'conflict', copied: 'copied' }

/**
 * A cap that we set stays ours even when policy has moved on since: the next plan then sees an orphan, or a policy change. What was cleared
 * or given back stays ours until a later reading says so too, because this one may be stale.
 */
function ownershipOf(intent: Intent, reading: CapReading, owned: OwnedCap | undefined, inputs: RecoverInputs): OwnedCap | 'kept' {
  const { scope, to, from } = intent.change
  if (reading.observed === from) return givenUp(owned)
  const before = setBefore(from, inputs.wider(scopeKey(scope)))
  const desired = inputs.desired.get(scopeKey(scope))
  if (desired && desired.entry === intent.entry && desired.origin.kind !== 'restore')
    return ownedFrom(desired, owned, before, inputs.clock.now())
  if (to === 'none' || intent.entry.startsWith('restore')) return givenUp(owned)
  const owner = OWNERS[intent.entry.split('|')[0] ?? ''] ?? 'policy'
  return { scope, cap: to, owner, entry: intent.entry, verifiedAt: inputs.clock.now(), ...(owner === 'grant' && { baseline: before }) }
}
