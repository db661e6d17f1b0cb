// A pin sets a desired cap explicitly at its scope, though it shows there already: it may only be inherited, and the ancestor is about to
// change. That is safe under both readings. Members of pools get a cap of their own in the same way, before an ancestor lifts them. A reveal is
// the other way round: whether there is a cap to clear shows only once the ancestor was written. A rewrite follows where that write copies.

import { ancestorsOf, type CapAt, type People, sharedCap, TEAM_KEY } from '../interpret/effective.ts'
import type { Slots } from '../interpret/slots.ts'
import type { Cap, PolicyEntry, Pool } from '../model/policy.ts'
import { byScope, compareScopes, type Scope, type ScopeKey, scopeKey, type UserScope, userScope } from '../model/scope.ts'
import type { Credits } from '../model/units.ts'
import type { DesiredCap } from '../resolve/desired.ts'
import type { Diff } from './diff.ts'
import type { Difference, Snapshot } from './snapshot.ts'

/** Anybody may be in a group whose members are not known. */
const possibleAncestors = (key: ScopeKey, { people, facts }: Snapshot): readonly ScopeKey[] => [
  ...new Set([...(facts.unlistedGroups ?? []), ...ancestorsOf(key, people)]),
]

/** The pending caps of groups and the team. */
const ancestorCaps = ({ differences }: Diff): ReadonlyMap<ScopeKey, Cap> =>
  new Map(differences.flatMap(({ scope, key, to }) => (scope.kind === 'user' ? [] : [[key, to] as const])))

/** A change to what policy asks, which no other client and no grant's end has caused. */
const asked = ({ scope, cap, entry, origin }: DesiredCap, from: Cap): Difference => ({
  ...{ scope, key: scopeKey(scope), from, to: cap, cause: 'policy', source: origin.at, entry, healing: false, grantEnd: false },
})

/** The pins that a plan needs. */
export function pins(diff: Diff, slots: Slots, given: Snapshot): readonly Difference[] {
  const pending = ancestorCaps(diff)
  if (pending.size === 0 || slots.model.layers === 'copied') return []
  return diff.inSync.flatMap((one): Difference[] => {
    const { scope, cap, entry, origin } = one
    const key = scopeKey(scope)
    // A cap that a grant gave back is not ours any more: it may follow its ancestor, as it did before.
    if (cap === 'none' || entry.kind === 'restore' || !slots.mayBeInherited(key)) return []
    const ancestors = scope.kind === 'user' ? possibleAncestors(key, given) : [TEAM_KEY]
    if (ancestors.every((ancestor) => (pending.get(ancestor) ?? cap) === cap)) return []
    const reason = origin.reason ?? INHERITED
    const pool = origin.pool === undefined ? undefined : given.poolReviews.get(origin.pool)
    return [{ ...asked(one, 'none'), reason, pool, pin: true }]
  })
}

const INHERITED = 'it may only be inherited, and the cap it may be inherited from changes'

/**
 * Members whom a pending cap of an ancestor would lift above the credits of their pool, or off the 0 where the deal leaves them. No write
 * of ours may do that (docs/policies.md, Pools). `kept`: the cap in force as their own cap, for members without a desired one. `first`: all
 * lifted members; their own cap, kept or desired, must be set before an ancestor changes, even while a guard holds it.
 */
export function liftedMembers(diff: Diff, slots: Slots, given: Snapshot) {
  const kept: DesiredCap[] = []
  const first = new Set<ScopeKey>()
  const pending = ancestorCaps(diff)
  if (pending.size === 0 || slots.model.layers === 'copied') return { kept, first }
  for (const { pool, room, members } of given.followers ?? []) {
    // A raise up to the amount that a member counts at takes no room. Above the credits there is no room, and only lowers may be written.
    const isAbove = room < 0
    const lifted = members.flatMap(({ email, base, count, isLeftAtZero }) => {
      const key = scopeKey(userScope(email))
      // A quarantined member has no desired cap here, but an ancestor's would lift them like any other: `skipped` is without them.
      const inherited = given.skipped.has(key) ? undefined : inheritedOf(key, pending, slots, given)
      if (!inherited) return []
      const more = Math.max(0, inherited.most - base - count)
      const isLifted = more > 0 || ((isLeftAtZero || isAbove) && inherited.most > inherited.now)
      return isLifted ? [{ email, key, now: inherited.now, more, isLeftAtZero }] : []
    })
    const isPaid = lifted.reduce((sum, { more }) => sum + more, 0) <= room
    for (const { email, key, now, isLeftAtZero } of lifted) {
      if (isPaid && !isLeftAtZero) continue
      first.add(key)
      // Also a 0: the ancestor shows it, so this service stores it, and any more would be credits that were not dealt.
      if ((diff.desired.get(key)?.cap ?? 'none') === 'none') kept.push(keptCap(userScope(email), now, pool))
    }
  }
  return { kept, first }
}

/** The cap that a person inherits now, and the highest that it may become while the plan is written. */
function inheritedOf(key: ScopeKey, pending: ReadonlyMap<ScopeKey, Cap>, slots: Slots, given: Snapshot) {
  const listed = given.people.byKey.get(key)?.groups
  // A person who was never read may inherit; the ancestor's change is then deferred until they are read.
  const shown = slots.shown(key) ?? 'unknown'
  const own = shown === 'unknown' ? (slots.lastRead(key) ?? 'none') : shown
  if (!listed || (own !== 'none' && !slots.mayBeInherited(key))) return undefined
  const groups = own === 'none' ? listed : [...listed, ...slots.hiddenAncestors(key)]
  const now = sharedCap(groups, slots.lastKnown).cap
  if (typeof now !== 'number') return undefined
  const moves = possibleAncestors(key, given).flatMap((one) => (pending.has(one) ? [new Set([one])] : []))
  // A group that shows the team's cap may have none of its own.
  const unset: CapAt = (one) => (slots.mayBeInherited(one) ? 'none' : slots.lastKnown(one))
  const after = [...moves, new Set(pending.keys())].flatMap((landed) =>
    [slots.lastKnown, unset].map((capAt) => {
      const { cap } = sharedCap(groups, (one) => (landed.has(one) ? pending.get(one) : capAt(one)))
      return typeof cap === 'number' ? cap : Number.POSITIVE_INFINITY
    }),
  )
  // A person who may be in a group may get its cap.
  const maybe = possibleAncestors(key, given)
    .flatMap((one) => (groups.includes(one) || one === TEAM_KEY ? [] : (pending.get(one) ?? [])))
    .filter((cap) => cap !== 'none')
  return { now, most: Math.max(...after, ...maybe) }
}

function keptCap(scope: UserScope, cap: Credits, pool: Pool): DesiredCap {
  const entry: PolicyEntry = { kind: 'pool', cap }
  const reason = `pool ${pool.name}: the credits do not pay for the ancestor's cap; what is in force stays`
  return { scope, cap, owner: 'pool', entry, origin: { kind: 'pool', scope, cap, at: pool.at, reason, pool: pool.name }, losers: [] }
}

/** The clears that these differences may reveal, in the order of scopes. None has an effect on people of its own: both readings end alike. */
export function revealedClears(differences: readonly Difference[], { desired }: Diff, slots: Slots, people: People): readonly Difference[] {
  const changes = byScope(differences)
  if (slots.model.layers === 'copied' || differences.every(({ scope }) => scope.kind === 'user')) return []
  const ancestorOf = (key: ScopeKey): Difference | undefined =>
    ancestorsOf(key, people)
      .flatMap((one) => changes.get(one) ?? [])
      .find((one) => slots.shown(one.key) === slots.shown(key))
  const found = [...desired].flatMap(([key, want]): readonly Difference[] => {
    // Few are to have no cap: the rest of tens of thousands cost no further check.
    const shown = want.cap === 'none' ? slots.shown(key) : undefined
    if (typeof shown !== 'number' || changes.has(key) || !slots.mayBeInherited(key)) return []
    const ancestor = ancestorOf(key)
    return ancestor ? [{ ...asked(want, shown), revealedBy: ancestor.scope }] : []
  })
  return found.toSorted((a, b) => compareScopes(a.scope, b.scope))
}

/**
 * Where caps are copied, a team or group write overwrites its members' caps: each that is in sync now is written again after it. So is a group
 * that may only show the team's cap.
 */
export function rewrites(
  scheduled: readonly Difference[],
  differences: readonly Difference[],
  { desired, people, slots }: Pick<Diff, 'desired'> & { readonly people: People; readonly slots: Slots },
): readonly (readonly [Difference, Scope])[] {
  if (scheduled.length === 0) return []
  const known = new Set(differences.map(({ key }) => key))
  const written = byScope(scheduled)
  const inheriting = [...desired].flatMap(([key, { scope }]) => (scope.kind === 'group' && slots.mayBeInherited(key) ? [key] : []))
  const found = [...inheriting, ...people.approved.map(({ key }) => key)].flatMap((key): readonly (readonly [Difference, Scope])[] => {
    const want = desired.get(key)
    const ancestor = ancestorsOf(key, people)
      .flatMap((one) => written.get(one) ?? [])
      .find(({ to }) => to !== want?.cap)
    if (!ancestor || !want || known.has(key) || want.cap === 'none') return []
    const why = want.scope.kind === 'group' ? { reason: want.origin.reason ?? INHERITED } : {}
    return [[{ ...asked(want, ancestor.to), ...why }, ancestor.scope]]
  })
  return found.toSorted(([a], [b]) => compareScopes(a.scope, b.scope))
}
