// Holds clears, and the writes that replace clears where caps are copied, when policy has lost most declarations: an unmounted folder looks
// exactly like an emptied policy.
import { type Guard, holdWhere } from './round.ts'

export const emptyPolicy: Guard = (round) => {
  const { facts, settings } = round.inputs
  if (!settings.emptyPolicy) return undefined
  const before = facts.verifiedDeclared ?? 0
  const fell = before - facts.declared
  const empty = facts.declared === 0
  if (!empty && !(fell > before / 2 && fell > 5)) return undefined
  const why = empty ? `no policy declares any scope (${before} before)` : `declared scopes fell from ${before} to ${facts.declared}`
  return holdWhere('emptyPolicy', round, `${why}, so nothing is cleared`, (one) => one.to === 'none' || one.cause === 'orphan')
}
