// Holds changes that take something away from single people by a rule or a pool while the people file has suddenly shrunk: it is not believed then,
// and rules go by the last good values. An export that lost a column looks exactly like a reorganisation.

import { isRaise } from '../impact.ts'
import { type Guard, holdWhere, shareAbove } from './round.ts'

export const directoryShrink: Guard = (round) => {
  const { facts, settings } = round.inputs
  const doubt = facts.directoryDoubt
  if (!doubt || settings.directoryShrink === 'off') return undefined
  const fell = shareAbove(settings.directoryShrink, doubt.from - doubt.to, doubt.from)
  const why = `people with a value in the people file fell from ${doubt.from} to ${doubt.to} (${fell}), the limit is ${settings.directoryShrink} %; the last good values stay in force`
  return holdWhere('directoryShrink', round, why, (one) => {
    const isOfRule = one.cause === 'orphan' || one.entry.kind === 'rule' || one.entry.kind === 'pool'
    return isOfRule && one.scope.kind === 'user' && one.from !== 'none' && !isRaise(one)
  })
}
