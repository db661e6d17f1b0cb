// What a standing deal asks for a member at this moment. It holds raises back while the sum is above the credits, whatever the deal gave.

import type { Credits } from '../model/units.ts'
import { fullSum, isDealt } from './count.ts'
import { memberOf, type PoolState, type PoolTerms } from './state.ts'

/** The cap to ask for; undefined while nothing was dealt, and for who is not dealt. A raise that is open waits while the sum is above. */
export function capToAsk({ credits }: Pick<PoolTerms, 'credits'>, state: PoolState, email: string): Credits | undefined {
  const member = memberOf(state, email)
  if (!member || !isDealt(member) || member.dealt === undefined) return undefined
  const inForce = member.inForce?.cap
  if (inForce === undefined || inForce === 'none' || inForce >= member.dealt || inForce < 1) return member.dealt
  return isAbove(state, credits) ? inForce : member.dealt
}

const sums = new WeakMap<PoolState, number>()

/** The sum is asked for once for each member of the same state. */
function isAbove(state: PoolState, credits: number): boolean {
  const known = sums.get(state) ?? fullSum(state)
  sums.set(state, known)
  return known > credits
}
