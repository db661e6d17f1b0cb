// Holds all writes for a while after too many failed for a shared cause.
import type { Guard } from './round.ts'

/**
 * No write is tried until the wait is over. A change that was released since the breaker opened is tried once (choice). Where all failures
 * were refusals only those scopes are held: foreign raises of other scopes must be reverted meanwhile.
 */
export const breaker: Guard = (round) => {
  const { facts, settings, tryAnyway, instantText } = round.inputs
  const open = facts.breaker
  if (settings.breaker === 'off' || !open) return undefined
  const { inARow, percent } = settings.breaker
  const only = open.refused ? new Set<string>(open.scopes) : undefined
  // A cap that a team or group write of ours has overwritten is restored at once, unless that very write is refused.
  const isOverwritten = only ? undefined : round.inputs.impact.isOverwritten
  const held = [...round.active.keys()].filter((key) => !tryAnyway?.has(key) && only?.has(key) !== false && !isOverwritten?.(key))
  const limits = `the limit is ${inARow} in a row or ${percent} %`
  const why = `${open.failed} of ${open.planned} changes failed (${open.cause}), ${limits}; writes are tried again at ${instantText(open.retryAt)}`
  return { guard: 'breaker', held, why }
}
