// The state of a pool after the clock was set back: no time in it lies in the future. A time in the future becomes now, so that a lowered cap
// waits for a reading that is really newer. It never makes a time older than it may be.
import type { Instant } from '../model/units.ts'
import type { CapSince, PoolMember, PoolState } from './state.ts'

/** The state with no time later than now; the same object where none was. */
export function rewound(state: PoolState, now: Instant): PoolState {
  let hasFuture = false
  const at = (instant: Instant): Instant => {
    if (instant <= now) return instant
    hasFuture = true
    return now
  }
  const cap = (one: CapSince): CapSince => ({ ...one, at: at(one.at) })
  const member = (one: PoolMember): PoolMember => ({
    ...one,
    ...(one.inForce && { inForce: cap(one.inForce) }),
    sent: one.sent.map(cap),
    lowered: one.lowered.map(cap),
    ...(one.left && { left: { ...one.left, at: at(one.left.at) } }),
  })
  const after = {
    ...state,
    ...(state.later && { later: { ...state.later, readAt: at(state.later.readAt) } }),
    readAt: at(state.readAt),
    ...(state.dealtAt !== undefined && { dealtAt: at(state.dealtAt) }),
    members: Object.fromEntries(Object.entries(state.members).map(([email, one]) => [email, member(one)])),
  }
  return hasFuture ? after : state
}
