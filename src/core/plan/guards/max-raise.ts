// Holds raises that together could use more than the credits that are left.
import type { Impact } from '../impact.ts'
import { type Guard, isCounted, mayHold } from './round.ts'

/**
 * Raises that together could use more than is left. A first cap has no `from` and raises nobody: before it there was no limit at all
 * (choice). What an interrupted plan had already raised counts too. Without a known balance there is nothing to measure by.
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
