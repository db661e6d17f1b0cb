// The caps that a policy would have given on past days: those of `resolveDesired` for each day, with grants by their dates, today's people and
// groups, and pools dealt day by day. A person for whom the policy has no cap counts as without one; the caps that were in force do not matter.

import type { Cycle, GroupMembers, Roster } from '../../model/observed.ts'
import type { PolicySet } from '../../model/policy.ts'
import { scopeKey } from '../../model/scope.ts'
import type { Instant } from '../../model/units.ts'
import type { RejectedScope } from '../../resolve/candidate.ts'
import { resolveDesired } from '../../resolve/desired.ts'
import { grantId, grantStatuses, isInForce } from '../../resolve/grants.ts'
import type { DesiredInputs } from '../../resolve/resolution.ts'
import { type CapSource, capsOfAll, scopeList } from './caps.ts'
import { type PoolPlaces, poolDealer, type UndealtDay } from './pool-caps.ts'
import type { ReplayPeople } from './recorded.ts'

interface PolicyCapsInputs {
  readonly set: PolicySet
  readonly people: ReplayPeople
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
}

export interface PolicyCaps extends CapSource {
  /** Scopes that the policy rejected on a day so far. */
  readonly rejected: ReadonlyMap<string, RejectedScope>
  /** Pools with their members; none before the first day. */
  pools(): readonly PoolPlaces[]
}

/** Days with the same grants in force have the same caps except for pools, and are resolved once. */
export function capsOfPolicy(inputs: PolicyCapsInputs): PolicyCaps {
  const known = new Map<string, UndealtDay>()
  const rejected = new Map<string, RejectedScope>()
  const { scopes, place } = scopeList()
  const dealer = poolDealer(inputs.people)
  let pools: readonly PoolPlaces[] = []
  const undealtOn = (at: Instant, cycle: Cycle): UndealtDay => {
    const resolvable = inputsOn(inputs, at, cycle)
    const key = grantsOn(resolvable)
    const found = known.get(key)
    if (found) return found
    const resolution = resolveDesired(resolvable)
    for (const one of resolution.rejected) rejected.set(scopeKey(one.scope), one)
    const caps = capsOfAll(inputs.people, new Map(resolution.desired.map(({ scope, cap }) => [scopeKey(scope), cap])), place)
    const undealt = { caps, pools: resolution.pools }
    pools = dealer.placesIn(resolution.pools)
    known.set(key, undealt)
    return undealt
  }
  return { scopes, rejected, pools: () => pools, capsOn: (day) => dealer.capsOn(day, undealtOn(day.at, day.cycle)) }
}

const inputsOn = ({ set, roster, groups }: PolicyCapsInputs, now: Instant, cycle: Cycle): DesiredInputs => ({
  set,
  ...(roster && { roster }),
  groups,
  unknownGroups: [],
  cycle,
  now,
  capSemantics: 'layered',
  owned: new Map(),
  prune: true,
  conflictsGone: {},
  newReading: undefined,
  grantsFrozen: false,
})

/** The grants in force, as a cache key. */
const grantsOn = (inputs: DesiredInputs): string => {
  const inForce = grantStatuses(inputs.set.grants, inputs).filter(({ state }) => isInForce(state))
  return JSON.stringify(inForce.map(({ grant }) => grantId(grant)))
}
