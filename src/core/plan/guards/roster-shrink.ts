// Holds changes that take something away while the roster has suddenly shrunk: a key that is limited to one group looks exactly like that.

import { isFree, isRaise } from '../impact.ts'
import { type Guard, holdWhere, shareAbove } from './round.ts'

export const rosterShrink: Guard = (round) => {
  const { facts, settings } = round.inputs
  const doubt = facts.rosterDoubt
  if (!doubt || settings.rosterShrink === 'off') return undefined
  const fell = shareAbove(settings.rosterShrink, doubt.before - doubt.now, doubt.before)
  const why = `approved people fell from ${doubt.before} to ${doubt.now} (${fell}), the limit is ${settings.rosterShrink} %`
  const affected = new Set(round.impacts.filter((one) => !isFree(one.effect)).flatMap((one) => one.changes))
  return holdWhere(
    'rosterShrink',
    round,
    why,
    (one) => one.scope.kind !== 'user' || (one.from !== 'none' && !isRaise(one)) || affected.has(one.key),
  )
}
