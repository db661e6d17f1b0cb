// When the add-on credits run out: everybody is expected to keep their share of the team's use, and pays with add-on credits what exceeds
// the credits of their seat, up to their cap. It says nothing about a team that has no add-on credits.

import type { Balance } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { Credits, Instant } from '../model/units.ts'
import type { Forecast } from './forecast.ts'

/** What one person used in this cycle. */
export interface PersonUse {
  readonly used: Credits
  /** The cap in force for them; absent: not known, and taken for none. */
  readonly cap?: Cap
}

interface ExhaustionInputs {
  readonly balance: Balance
  readonly used: number
  readonly people?: readonly PersonUse[] | undefined
  readonly forecast?: Forecast | undefined
}

/** The instant of the balance when they have run out already; absent when they last to the cycle's end, and while that is not known. */
export function exhaustionOf({ balance, used, people, forecast }: ExhaustionInputs): Instant | undefined {
  const { addOnAvailable, addOnUsed, creditsPerSeat, readAt } = balance
  if (addOnAvailable <= 0) return undefined
  if (addOnUsed >= addOnAvailable) return readAt
  if (!people || !forecast || used <= 0) return undefined
  const addOnAt = (factor: number): number => people.reduce((sum, one) => sum + addOnOf(one, factor, creditsPerSeat), 0)
  const [now, left] = [addOnAt(1), addOnAvailable - addOnUsed]
  let [expected, before] = [used, 0]
  for (const day of forecast.days) {
    expected += day.credits
    const grown = addOnAt(expected / used) - now
    if (grown >= left) return day.fromAt + ((left - before) / (grown - before)) * (day.untilAt - day.fromAt)
    before = grown
  }
  return undefined
}

/** What counts is how much it grows: somebody above their cap already does not, whatever they are at. */
function addOnOf({ used, cap }: PersonUse, factor: number, creditsPerSeat: number): number {
  const addOn = Math.max(0, used * factor - creditsPerSeat)
  return cap === undefined || cap === 'none' ? addOn : Math.min(addOn, cap)
}
