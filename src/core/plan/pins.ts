// Caps that are shown and asked for, and may be there only because they are inherited: before an ancestor moves they are set at their own
// scope. That is right under both ways to read caps, nobody falls on the way, and nobody follows an ancestor upwards.
import { ancestorsOf, type CapAt, type People, sharedCap, TEAM_KEY } from '../interpret/effective.ts'
import type { Slots } from '../interpret/slots.ts'
import type { PolicyEntry } from '../model/entry.ts'
import type { Cap, Pool } from '../model/policy.ts'
import { type ScopeKey, scopeKey, type UserScope, userScope } from '../model/scope.ts'
import type { Credits } from '../model/units.ts'
import type { Followers } from '../pools/ask.ts'
import type { DesiredCap } from '../resolve/candidate.ts'
import { type Diff, type Difference, type PoolReview, sourceOf } from './diff.ts'

/** Who is a descendant of which scope. */
export interface Membership {
  readonly people: People
  /** Groups whose members nobody could list: anybody may be in them. */
  readonly unlisted?: ReadonlySet<ScopeKey>
}

const possibleAncestors = (key: ScopeKey, { people, unlisted = new Set() }: Membership): readonly ScopeKey[] => [
  ...new Set([...unlisted, ...ancestorsOf(key, people)]),
]

/** What groups and the team are to get. */
const wideIn = ({ differences }: Diff): ReadonlyMap<ScopeKey, Cap> =>
  new Map(differences.flatMap(({ scope, key, to }) => (scope.kind === 'user' ? [] : [[key, to] as const])))

/** The writes that make inherited caps their scopes' own. */
export function pins(
  diff: Diff,
  slots: Slots,
  membership: Membership,
  reviews: ReadonlyMap<string, PoolReview> = new Map(),
): readonly Difference[] {
  const wide = wideIn(diff)
  if (wide.size === 0 || slots.model.layers === 'copied') return []
  return diff.inSync.flatMap(({ scope, cap, entry, origin }): Difference[] => {
    const key = scopeKey(scope)
    // What was given back is nobody's any more: it may follow what is wider, as it did before.
    if (cap === 'none' || entry.kind === 'restore' || !slots.mayBeInherited(key)) return []
    const ancestors = scope.kind === 'user' ? possibleAncestors(key, membership) : [TEAM_KEY]
    if (ancestors.every((one) => (wide.get(one) ?? cap) === cap)) return []
    const reason = origin.reason ?? 'it may only be inherited, and what it is inherited from moves'
    const pool = origin.pool === undefined ? undefined : reviews.get(origin.pool)
    const change = {
      scope,
      key,
      from: 'none',
      to: cap,
      cause: 'policy',
      ...sourceOf(origin),
      reason,
      entry,
      healing: false,
      grantEnd: false,
    } as const
    return [{ ...change, ...(pool && { pool }), pin: true }]
  })
}

/** A pool with those of its members who follow wider caps. */
export interface PoolFollowers extends Followers {
  readonly pool: Pool
}

/** What keeps members of pools from following wider caps above the credits. */
export interface Staying {
  /** Of whom no cap is asked, or no more than that they have none: what is in force becomes their own cap. */
  readonly kept: readonly DesiredCap[]
  /** Whose own cap, kept or asked for, has to stand before anything wider lifts them, also while a guard holds it. */
  readonly first: ReadonlySet<ScopeKey>
}

/** Of whom something is asked, and who is left alone. */
export interface Asked {
  readonly desired: ReadonlyMap<ScopeKey, DesiredCap>
  readonly skipped: ReadonlySet<ScopeKey>
}

/** Members who would be lifted above the credits of their pool, or off the 0 where the deal leaves them: no write of ours does that (product.md, section 2, The sum). */
export function stays(
  diff: Diff,
  slots: Slots,
  { desired, skipped }: Asked,
  membership: Membership,
  pools: readonly PoolFollowers[],
): Staying {
  const kept: DesiredCap[] = []
  const first = new Set<ScopeKey>()
  const wide = wideIn(diff)
  if (wide.size === 0 || slots.model.layers === 'copied') return { kept, first }
  for (const { pool, room, members } of pools) {
    // Up to what somebody counts at, a raise takes none of the room; but above the credits there is none, and then only lowers go.
    const isAbove = room < 0
    const lifted = members.flatMap(({ email, base, count, isLeftAtZero }) => {
      const key = scopeKey(userScope(email))
      const follows = skipped.has(key) ? undefined : follow(key, wide, slots, membership)
      if (!follows) return []
      const more = Math.max(0, follows.most - base - count)
      const isLifted = more > 0 || ((isLeftAtZero || isAbove) && follows.most > follows.now)
      return isLifted ? [{ email, key, now: follows.now, more, isLeftAtZero }] : []
    })
    const isPaid = lifted.reduce((sum, { more }) => sum + more, 0) <= room
    for (const { email, key, now, isLeftAtZero } of lifted) {
      if (isPaid && !isLeftAtZero) continue
      first.add(key)
      // A 0 as well: it is read above them, so it is kept here, and anything more would be credits that nobody has dealt.
      if ((desired.get(key)?.cap ?? 'none') === 'none') kept.push(stay(userScope(email), now, pool))
    }
  }
  return { kept, first }
}

/** The cap that somebody inherits, and the highest that it may become on the way. */
function follow(key: ScopeKey, wide: ReadonlyMap<ScopeKey, Cap>, slots: Slots, membership: Membership) {
  const listed = membership.people.byKey.get(key)?.groups
  // Who was never read may follow, and then the wider write waits for the reading.
  const shown = slots.shown(key) ?? 'unknown'
  const own = shown === 'unknown' ? (slots.lastRead(key) ?? 'none') : shown
  if (!listed || (own !== 'none' && !slots.mayBeInherited(key))) return undefined
  const groups = own === 'none' ? listed : [...listed, ...slots.hiddenAncestors(key)]
  const now = sharedCap(groups, slots.shown).cap
  if (typeof now !== 'number') return undefined
  const moves = possibleAncestors(key, membership).flatMap((one) => (wide.has(one) ? [new Set([one])] : []))
  // A group that shows the team's cap may have none of its own.
  const unset: CapAt = (one) => (slots.mayBeInherited(one) ? 'none' : slots.shown(one))
  const after = [...moves, new Set(wide.keys())].flatMap((landed) =>
    [slots.shown, unset].map((capAt) => {
      const { cap } = sharedCap(groups, (one) => (landed.has(one) ? wide.get(one) : capAt(one)))
      return typeof cap === 'number' ? cap : Number.POSITIVE_INFINITY
    }),
  )
  // Who may be in a group may get its cap.
  const maybe = possibleAncestors(key, membership)
    .flatMap((one) => (groups.includes(one) || one === TEAM_KEY ? [] : (wide.get(one) ?? [])))
    .filter((cap) => cap !== 'none')
  return { now, most: Math.max(...after, ...maybe) }
}

function stay(scope: UserScope, cap: Credits, pool: Pool): DesiredCap {
  const entry: PolicyEntry = { kind: 'pool', cap }
  const reason = `pool ${pool.name}: the credits do not pay for the wider cap; what is in force stays`
  return { scope, cap, owner: 'pool', entry, origin: { kind: 'pool', scope, cap, at: pool.at, reason, pool: pool.name }, losers: [] }
}
