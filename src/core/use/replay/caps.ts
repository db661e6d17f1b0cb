// The source of caps on past days, by a policy or as they were in force. A source that deals caps by the use so far, as pools do, implements
// `capsOn` as well. It gets use as input only, and does no input or output.

import { TEAM_KEY } from '../../interpret/effective.ts'
import type { Cycle } from '../../model/observed.ts'
import type { Cap } from '../../model/policy.ts'
import type { ScopeKey } from '../../model/scope.ts'
import type { Instant } from '../../model/units.ts'
import type { ReplayPeople } from './recorded.ts'

/** One day, as input for a source of caps. */
export interface ReplayDay {
  /** Noon, UTC: the caps of then count for the day. Choice. */
  readonly at: Instant
  readonly cycle: Cycle
  /** Add-on credits that each person used in this cycle before this day, in the same replay; by place. */
  readonly used: Float64Array
}

/** Caps by the place of a person. Valid until the next day is asked for, which may return the same object. */
export interface CapsOfDay {
  /** `Infinity` for no cap. */
  readonly caps: Float64Array
  /** The place in `CapSource.scopes` of the scope that sets the cap; -1 for no cap, or for one dealt by a pool. */
  readonly from: Int32Array
}

export interface CapSource {
  /** May grow while days are asked for. */
  readonly scopes: readonly ScopeKey[]
  /** Called once for each day of a replay, in the order of time. */
  capsOn(day: ReplayDay): CapsOfDay
}

/** Numbers scopes in the order in which they first appear. */
export function scopeList(): { readonly scopes: readonly ScopeKey[]; place(key: ScopeKey): number } {
  const scopes: ScopeKey[] = []
  const places = new Map<ScopeKey, number>()
  return {
    scopes,
    place(key) {
      const known = places.get(key)
      if (known !== undefined) return known
      places.set(key, scopes.length)
      return scopes.push(key) - 1
    },
  }
}

/** Everybody's cap: their own, else the lowest of their groups', else the team's (as `effectiveCap`). */
export function capsOfAll(people: ReplayPeople, set: ReadonlyMap<ScopeKey, Cap>, place: (key: ScopeKey) => number): CapsOfDay {
  const caps = new Float64Array(people.emails.length)
  const from = new Int32Array(people.emails.length)
  for (let person = 0; person < people.emails.length; person += 1) capOfOne(people, set, place, person, { caps, from })
  return { caps, from }
}

/** The cap of one person, written into `result`. */
export function capOfOne(
  { emails, groupsOf }: ReplayPeople,
  set: ReadonlyMap<ScopeKey, Cap>,
  place: (key: ScopeKey) => number,
  person: number,
  result: CapsOfDay,
): void {
  let key = emails[person] as ScopeKey
  let cap = set.get(key)
  if (cap === undefined || cap === 'none') {
    cap = undefined
    for (const group of groupsOf[person] ?? []) {
      const one = set.get(group)
      if (one === undefined || one === 'none' || (cap !== undefined && cap <= one)) continue
      cap = one
      key = group
    }
  }
  if (cap === undefined) {
    cap = set.get(TEAM_KEY)
    key = TEAM_KEY
  }
  const isSet = cap !== undefined && cap !== 'none'
  result.caps[person] = isSet ? Number(cap) : Number.POSITIVE_INFINITY
  result.from[person] = isSet ? place(key) : -1
}
