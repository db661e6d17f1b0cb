// When the add-on credits run out. Each person is expected to keep their share of the team's use, and to pay with add-on credits, up to their cap,
// for what exceeds the rest of their seat. It says nothing about a team without add-on credits.

import type { Balance } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { Credits, Instant } from '../model/units.ts'
import type { Forecast } from './forecast.ts'

/** One person's use in this cycle. */
export interface PersonUse {
  readonly used: Credits
  /** Their add-on use, where it is known better than by subtracting the seat. */
  readonly addOn?: Credits
  /** The cap in force; absent: not known, and treated as none. */
  readonly cap?: Cap
}

interface ExhaustionInputs {
  readonly balance: Balance
  readonly used: number
  readonly people?: readonly PersonUse[] | undefined
  readonly forecast?: Forecast | undefined
}

/** The instant of the balance when they have already run out; undefined when they last to the cycle's end, or that is not known. */
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

/** Expected add-on use. Only its growth counts: a person already above their cap does not grow. */
function addOnOf({ used, addOn, cap }: PersonUse, factor: number, creditsPerSeat: number): number {
  const paid = addOn ?? Math.max(0, used - creditsPerSeat)
  // Where the service charged less than exceeds the seat, it is expected to go on doing so.
  const included = Math.max(creditsPerSeat, used - paid)
  const expected = Math.max(paid, used * factor - included)
  return cap === undefined || cap === 'none' ? expected : Math.min(expected, cap)
}
