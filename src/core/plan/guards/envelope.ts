// Holds what a narrowed or removed envelope would take from people, until it was shown for a day.
import { isRaise } from '../impact.ts'
import { type Guard, holdWhere } from './round.ts'

export const envelope: Guard = (round) => {
  const { facts, settings } = round.inputs
  const { narrowed = {}, isShownLong } = facts
  if (!settings.envelope || !isShownLong) return undefined
  const judged = [...round.active.values()].filter(
    (one) => Object.hasOwn(narrowed, one.key) && !isRaise(one) && !one.healing && !isShownLong(one),
  )
  if (judged.length === 0) return undefined
  const reasons = [...new Set(judged.map(({ key }) => narrowed[key] ?? ''))]
  const keys = new Set(judged.map(({ key }) => key))
  return holdWhere('envelope', round, `${reasons.join(', ')}; what it takes from people is shown for a day first`, ({ key }) =>
    keys.has(key),
  )
}
