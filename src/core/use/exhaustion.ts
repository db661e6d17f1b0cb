// When the add-on credits run out: everybody is expected to keep their share of the team's use, and pays with add-on credits what exceeds
// what is left of their seat, up to their cap. It says nothing about a team that has no add-on credits.

import type { Balance } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { Credits, Instant } from '../model/units.ts'
import type { Forecast } from './forecast.ts'

/** What one person used in this cycle. */
export interface PersonUse {
  readonly used: Credits
  /** The part of it that add-on credits paid, where it is known better than by what exceeds the seat. */
  readonly addOn?: Credits
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
function addOnOf({ used, addOn, cap }: PersonUse, factor: number, creditsPerSeat: number): number {
  const paid = addOn ?? Math.max(0, used - creditsPerSeat)
  // Where the service charged less to add-on credits than exceeds the seat, it will go on doing so.
  const included = Math.max(creditsPerSeat, used - paid)
  const expected = Math.max(paid, used * factor - included)
  return cap === undefined || cap === 'none' ? expected : Math.min(expected, cap)
}
