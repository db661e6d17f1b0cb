// Holds writes for a while after too many failed for a cause that is not theirs.
import type { Guard } from './round.ts'

/**
 * No write is tried until the time is up, but for what was released since it opened: that gets one try (choice). What was merely turned down
 * holds up nobody else: caps that others open must be closed meanwhile.
 */
export const breaker: Guard = (round) => {
  const { facts, settings, tryAnyway, instantText } = round.inputs
  const open = facts.breaker
  if (settings.breaker === 'off' || !open) return undefined
  const { inARow, percent } = settings.breaker
  const only = open.refused ? new Set<string>(open.scopes) : undefined
  // What our own wide write took from people is given back as soon as a write goes through, unless that very write is turned down.
  const isOverwritten = only ? undefined : round.inputs.impact.isOverwritten
  const held = [...round.active.keys()].filter((key) => !tryAnyway?.has(key) && only?.has(key) !== false && !isOverwritten?.(key))
  const limits = `the limit is ${inARow} in a row or ${percent} %`
  const why = `${open.failed} of ${open.planned} changes failed (${open.cause}), ${limits}; writes are tried again at ${instantText(open.retryAt)}`
  return { guard: 'breaker', held, why }
}
