// Which cap holds for whom on a day of the past: the one place where a policy, or what was in force, meets a replay. Whatever deals caps by
// the use so far (a pool) answers `capsOn` as well. It knows nothing of use but what it is handed, and never reads the world.

import { TEAM_KEY } from '../../interpret/effective.ts'
import type { Cycle } from '../../model/observed.ts'
import type { Cap } from '../../model/policy.ts'
import type { ScopeKey } from '../../model/scope.ts'
import type { Instant } from '../../model/units.ts'
import type { ReplayPeople } from './recorded.ts'

/** One day as a source of caps sees it. */
export interface ReplayDay {
  /** Noon, UTC: what holds then counts for the day. Choice. */
  readonly at: Instant
  readonly cycle: Cycle
  /** Add-on credits that each person has used in this cycle before this day, in this very replay; by place. */
  readonly used: Float64Array
}

/** Caps by the place of a person. Good until the next day is asked for, which may answer with the same object. */
export interface CapsOfDay {
  /** `Infinity` where there is none. */
  readonly caps: Float64Array
  /** Place in `CapSource.scopes` of the scope that gives the cap; -1 where there is none, or where a pool deals it. */
  readonly from: Int32Array
}

export interface CapSource {
  /** May grow while days are asked for. */
  readonly scopes: readonly ScopeKey[]
  /** Asked once for each day of a replay, in the order of time. */
  capsOn(day: ReplayDay): CapsOfDay
}

/** Keeps the places of scopes. */
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

/** The caps of everybody where these are set: their own, else the lowest of their groups', else the team's (`effectiveCap`). */
export function capsOfAll(people: ReplayPeople, set: ReadonlyMap<ScopeKey, Cap>, place: (key: ScopeKey) => number): CapsOfDay {
  const caps = new Float64Array(people.emails.length)
  const from = new Int32Array(people.emails.length)
  for (let person = 0; person < people.emails.length; person += 1) capOfOne(people, set, place, person, { caps, from })
  return { caps, from }
}

/** The same for one person, into `result`. */
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
