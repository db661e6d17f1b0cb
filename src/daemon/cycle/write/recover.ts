// Closes what a crash or a lost answer left open: every open intent is compared with what the service now shows. An intent whose scope
// cannot be read stays open, but for people and groups that are gone; none is ever dropped without a line of history.
import type { Intent } from '../../../core/model/change.ts'
import type { CapReading } from '../../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import { conclude, historyEntry, type OutcomeContext, ownershipOf } from './outcome.ts'

export interface RecoverInputs extends OutcomeContext {
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
  /** The service does not know these, and that is believed. */
  readonly unknown: ReadonlySet<ScopeKey>
  /** Neither read nor written any more, such as people who left. */
  readonly isLeftAlone: (scope: Scope) => boolean
  /** A reading of before tells nothing: the write of another replica may land until then. */
  readonly quietUntil?: Instant
}

/** Longer than a sweep takes that began before the clock was set back. Choice. */
const SET_BACK_MS = 3_600_000

/** An intent from the future was recorded on a clock that has been set back since: a reading of the last hour is later than it. */
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

/** A scope that is gone has no cap; one that is only left alone may have ours, and so it stays ours. */
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
