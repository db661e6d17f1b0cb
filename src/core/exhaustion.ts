// When the add-on credits run out: everybody is expected to keep their share of the team's use, and pays with add-on credits what exceeds
// the credits of their seat, up to their cap. It says nothing about a team that has no add-on credits.
import type { Forecast } from './forecast.ts'
import type { Balance } from './observed.ts'
import type { Cap } from './policy.ts'
import type { Credits, Instant } from './units.ts'

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
  const limit = addOnAt(1) + addOnAvailable - addOnUsed
  let expected = used
  for (const day of forecast.days) {
    const before = addOnAt(expected / used)
    const after = addOnAt((expected + day.credits) / used)
    if (after >= limit) return day.fromAt + ((limit - before) / (after - before)) * (day.untilAt - day.fromAt)
    expected += day.credits
  }
  return undefined
}

/** A person above their cap stays where they are. */
function addOnOf({ used, cap }: PersonUse, factor: number, creditsPerSeat: number): number {
  const now = Math.max(0, used - creditsPerSeat)
  const then = Math.max(0, used * factor - creditsPerSeat)
  return cap === undefined || cap === 'none' ? then : Math.min(then, Math.max(cap, now))
}
