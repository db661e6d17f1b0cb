// Closes the intents that a crash or a lost answer left open, by comparing each with a later reading. An intent whose scope cannot be read
// stays open, except for people and groups that are gone. None is ever dropped without a line of history.
import type { Intent } from '../../../core/model/change.ts'
import type { CapReading } from '../../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import { conclude, historyEntry, type OutcomeContext, ownershipOf } from './outcome.ts'

export interface RecoverInputs extends OutcomeContext {
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  /** Scopes that the service does not know. */
  readonly unknown: ReadonlySet<ScopeKey>
  /** Neither read nor written any more, such as people who left. */
  readonly isLeftAlone: (scope: Scope) => boolean
  /** Until then a write of another replica may land, so earlier readings prove nothing. */
  readonly quietUntil?: Instant
}

/** Longer than any sweep that began before the clock was set back. Choice. */
const SET_BACK_MS = 3_600_000

/** An intent from the future was recorded before the clock was set back: a reading of the last hour is later than it. */
const begunAt = ({ at }: Intent, now: Instant): Instant => (at > now ? now - SET_BACK_MS : at)

/** Closes every open intent whose scope was read since, and returns those. */
export async function recoverIntents(inputs: RecoverInputs): Promise<readonly Intent[]> {
  const closed: Intent[] = []
  for (const intent of inputs.ledger.openIntents()) if (await recover(intent, inputs)) closed.push(intent)
  return closed
}

async function recover(intent: Intent, inputs: RecoverInputs): Promise<boolean> {
  const reading = inputs.readings.get(scopeKey(intent.change.scope))
  const { quietUntil = Number.NEGATIVE_INFINITY } = inputs
  if (!reading || reading.readAt < Math.max(begunAt(intent, inputs.clock.now()), quietUntil)) return false
  if (reading.failure) return closeUnread(intent, reading, reading.failure.message, inputs)
  await conclude(intent, reading, { kind: 'lost', why: 'its answer was lost' }, inputs)
  return true
}

/** A scope that is gone has no cap; a cap on a scope that is only left alone stays ours. */
async function closeUnread(intent: Intent, reading: CapReading, message: string, inputs: RecoverInputs): Promise<boolean> {
  const { scope } = intent.change
  const isGone = inputs.unknown.has(scopeKey(scope))
  if (!isGone && !inputs.isLeftAlone(scope)) return false
  const error = `the answer to this write was lost; the scope cannot be read any more: ${message}`
  const ownership = isGone ? 'kept' : ownershipOf(intent, reading, 'lost', inputs)
  const ended = isGone ? ({ result: 'failed', error, unproven: true } as const) : ({ result: 'ambiguous', error } as const)
  await inputs.ledger.recordOutcome(intent, historyEntry(intent, ended, inputs.clock.now()), ownership)
  return true
}
