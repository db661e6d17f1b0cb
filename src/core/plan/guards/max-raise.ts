// Holds raises that together could use more than the remaining add-on credits.
import type { Impact } from '../impact.ts'
import { type Guard, isCounted, mayHold } from './round.ts'

/**
 * A first cap is no raise: before it there was no limit at all (choice). Raises by an interrupted plan count too. Without a known balance
 * there is no limit.
 */
export const maxRaise: Guard = (round) => {
  const { facts, settings, impact } = round.inputs
  const remaining = facts.creditsRemaining
  if (settings.maxRaise === 'off' || remaining === undefined) return undefined
  const raised = round.impacts.filter((one) => one.effect === 'raised' && isCounted(one, round, 'maxRaise'))
  const sum = raised.reduce((total, one) => total + raiseOf(one), 0)
  const limit = (remaining * settings.maxRaise) / 100
  if (sum <= limit) return undefined
  const held = new Set(raised.flatMap((one) => one.changes).filter((key) => mayHold(key, round, 'maxRaise')))
  const who = `${raised.length} of ${impact.people.total} people would be raised by ${sum} credits in all`
  const why = `${who}, the limit is ${Math.floor(limit)} (${settings.maxRaise} % of the ${remaining} add-on credits remaining)`
  return { guard: 'maxRaise', held: [...held], why }
}

const raiseOf = ({ before, after }: Impact): number => (typeof before === 'number' && typeof after === 'number' ? after - before : 0)
