// Finishes what a crash or a lost answer left open: every open intent is compared with what the service now shows. An intent whose scope
// cannot be read stays open, but for people and groups that are gone; none is ever dropped without a line of history.
import type { Intent } from '../../core/model/change.ts'
import type { CapReading, Observed, OwnedCap, OwnerKind } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { ownedFrom, setBefore } from '../../core/plan/diff.ts'
import type { DesiredCap } from '../../core/resolve/desired.ts'
import type { Clock, Ledger } from '../../ports.ts'
import { isVerified } from './verified.ts'
import { givenUp, historyEntry } from './write.ts'

export interface RecoverInputs {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  readonly desired: ReadonlyMap<ScopeKey, DesiredCap>
  readonly wider: (key: ScopeKey) => Observed
  /** The service does not know these, and that is believed. */
  readonly unknown: ReadonlySet<ScopeKey>
  /** Neither read nor written any more, such as people who left. */
  readonly isLeftAlone: (scope: Scope) => boolean
}

/** Longer than a sweep takes that began before the clock was set back. Choice. */
const SET_BACK_MS = 3_600_000

/** An intent from the future was recorded on a clock that has been set back since: a reading of the last hour is later than it. */
const begunAt = ({ at }: Intent, now: Instant): Instant => (at > now ? now - SET_BACK_MS : at)

/** Closes every open intent whose scope was read since. Returns how many were closed. */
export function recoverIntents(inputs: RecoverInputs): number {
  const owned = new Map(inputs.ledger.owned().map((one) => [scopeKey(one.scope), one]))
  let closed = 0
  for (const intent of inputs.ledger.openIntents()) {
    const key = scopeKey(intent.change.scope)
    const reading = inputs.readings.get(key)
    const now = inputs.clock.now()
    if (!reading || reading.readAt < begunAt(intent, now)) continue
    if (reading.failure) {
      if (closeUnread(intent, reading.failure.message, owned.get(key), inputs)) closed += 1
      continue
    }
    if (isVerified(intent.change, reading, inputs.wider)) {
      inputs.ledger.recordOutcome(
        intent,
        historyEntry(intent, 'applied', now),
        ownershipOf(intent, reading.observed, owned.get(key), inputs),
      )
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

/** A scope that is gone has no cap; one that is only left alone may have ours, and so it stays ours. */
function closeUnread(intent: Intent, message: string, owned: OwnedCap | undefined, inputs: RecoverInputs): boolean {
  const { scope } = intent.change
  const isGone = inputs.unknown.has(scopeKey(scope))
  if (!isGone && !inputs.isLeftAlone(scope)) return false
  const error = `the answer to this write was lost; the scope cannot be read any more: ${message}`
  const ownership = isGone ? 'kept' : ownershipOf(intent, 'unknown', owned, inputs)
  inputs.ledger.recordOutcome(intent, historyEntry(intent, isGone ? 'failed' : 'ambiguous', inputs.clock.now(), error), ownership)
  return true
}

/** Whose cap it is, by the kind of entry that asked for it. */
const OWNERS: Readonly<Record<string, OwnerKind>> = { rule: 'policy', grant: 'grant', conflict: 'conflict', copied: 'copied' }

/**
 * A cap that we set stays ours even when policy has moved on since: the next plan then sees an orphan, or a policy change. What was cleared
 * or given back stays ours until a later reading says so too, because this one may be stale.
 */
function ownershipOf(intent: Intent, observed: Observed, owned: OwnedCap | undefined, inputs: RecoverInputs): OwnedCap | 'kept' {
  const { scope, to, from } = intent.change
  if (observed === from) return givenUp(owned)
  const before = setBefore(from, inputs.wider(scopeKey(scope)))
  const desired = inputs.desired.get(scopeKey(scope))
  if (desired && desired.entry === intent.entry && desired.origin.kind !== 'restore')
    return ownedFrom(desired, owned, before, inputs.clock.now())
  if (to === 'none' || intent.entry.startsWith('restore')) return givenUp(owned)
  const owner = OWNERS[intent.entry.split('|')[0] ?? ''] ?? 'policy'
  return { scope, cap: to, owner, entry: intent.entry, verifiedAt: inputs.clock.now(), ...(owner === 'grant' && { baseline: before }) }
}
