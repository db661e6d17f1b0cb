// Who is in which pool, and what the last deal asks for each member. Membership changes as a rule's match does, after two good readings
// that agree. Dealing is done in `core/pools`; until a pool has dealt, its members keep what is in force.

import { approvedIn } from '../interpret/effective.ts'
import type { Roster } from '../model/observed.ts'
import type { Cap, PolicySet, Pool } from '../model/policy.ts'
import { formatPosition } from '../model/problem.ts'
import type { UserScope } from '../model/scope.ts'
import { type Credits, credits } from '../model/units.ts'
import { capToAsk, keepsCap, keptCap, type PoolPeople, waitingRaises, waitingText } from '../pools/deal.ts'
import { cannotPay, type MemberNow, memberOf, type PoolState } from '../pools/state.ts'
import type { Candidate, RejectedScope } from './candidate.ts'
import { conditionKey, poolCondition } from './conditions.ts'
import type { JudgedRules } from './matches.ts'

/** What was dealt, by the name of the pool. */
export type DealtPools = Readonly<Record<string, PoolState>>

export type ResolvedPools = ReturnType<typeof resolvePools>

/** Finds the members of every pool. Without a roster there are none. */
export function resolvePools({ pools }: PolicySet, roster: Roster | undefined, rules: JudgedRules, dealt: DealtPools) {
  const approved = approvedIn(roster).map(({ email }) => email)
  /** By the name of the pool: approved members, sorted. */
  const members = new Map(pools.map((pool) => [pool.name, approved.filter(membershipOf(pool, rules)).sort()]))
  const places = Map.groupBy(
    pools.flatMap((pool) => (members.get(pool.name) ?? []).map((email) => ({ email, pool }))),
    ({ email }) => email,
  )
  const poolsOf = (email: string): readonly Pool[] => places.get(email)?.map(({ pool }) => pool) ?? []
  return {
    members,
    /** Of a pool with a condition. */
    unknownOf: (pool: Pool) => unknownOf(pool, approved, rules),
    /** Undefined for a person in more than one pool: they count in the sum of each, and none deals to them. */
    placeOf(email: string): Place | undefined {
      const [pool, second] = poolsOf(email)
      return !pool || second ? undefined : placeIn(pool, Object.hasOwn(dealt, pool.name) ? dealt[pool.name] : undefined, email, rules)
    },
    clashOf: (scope: UserScope) => clash(scope, poolsOf(scope.email)),
  }
}

function membershipOf(pool: Pool, rules: JudgedRules): (email: string) => boolean {
  if (pool.members.kind === 'emails') {
    const emails = new Set(pool.members.emails)
    return (email) => emails.has(email)
  }
  const when = poolCondition(pool)
  const matches = when && rules.membersOf(when)
  const key = when && conditionKey(when)
  return (email) => key !== undefined && matches?.settled(email) === key
}

function unknownOf({ members }: Pool, approved: readonly string[], rules: JudgedRules): PoolPeople['unknown'] {
  if (members.kind !== 'when') return undefined
  const matches = rules.membersOf(members.when)
  const emails = approved.filter((email) => matches?.of(email).kind === 'unknown')
  const [first] = emails
  return first === undefined ? undefined : { emails, why: rules.whyOf(members, first) }
}

/** A person's place in a pool. */
export type Place = ReturnType<typeof placeIn>

/** `state`: absent while nothing was dealt. */
function placeIn(pool: Pool, state: PoolState | undefined, email: string, rules: JudgedRules) {
  const waits = state && waitingRaises(pool, state).get(email)
  return {
    pool,
    /** The cap that the deal asks for; absent while nothing was dealt. */
    candidate: state && dealtCandidate(pool, state, email, rules),
    /** The last reading; absent while it is not known, and where no cap is set. */
    inForce: state && keptCap(memberOf(state, email)),
    /** The cap in force stays, though policy or deal give more: the credits do not pay for it now. */
    isKept: state !== undefined && keepsCap(pool, state, email),
    /** See `DesiredCap`. */
    waits: waits && waitingText(waits),
  }
}

function dealtCandidate(pool: Pool, state: PoolState, email: string, rules: JudgedRules): Candidate | undefined {
  const cap = capToAsk(pool, state, email)
  if (cap === undefined) return undefined
  const reason = `pool ${pool.name}${ofAttributes(pool, email, rules)}: ${termsOf(pool, state, email, cap)}`
  return { kind: 'pool', scope: { kind: 'user', email }, cap, at: pool.at, reason, pool: pool.name }
}

/** ` (costCenter is CC-12, was CC-7)`: whoever writes the people file decides about members. */
const ofAttributes = ({ members }: Pool, email: string, rules: JudgedRules): string =>
  members.kind === 'when' && members.when.attributes ? ` (${rules.whyOf(members, email)})` : ''

/** `by need, of 20000 credits`. */
function termsOf({ share, credits: total }: Pool, state: PoolState, email: string, cap: Credits): string {
  const member = memberOf(state, email)
  const own = member?.fixed !== undefined && member.fixed > cap ? `, at most what is left of the ${member.fixed} declared` : ''
  const how = share === 'equal' ? 'the same head-room for everybody' : 'by need'
  return `${how}, of ${total} credits${own}`
}

function clash(scope: UserScope, [first, second]: readonly Pool[]): RejectedScope | undefined {
  if (!first || !second) return undefined
  const places = `${first.name} (${formatPosition(first.at)}) and ${second.name} (${formatPosition(second.at)})`
  const message = `${scope.email} is in two pools: ${places}; take the person out of one of them`
  return { scope, code: 'POOL_TWICE', message, at: second.at }
}

/**
 * Members with the cap that goes before the deal: `declaredOf` is their own cap, or that of a rule. For a protected member without one it is
 * our cap, which stays.
 */
export function poolPeople(
  { pools, protectedPeople }: PolicySet,
  { members, unknownOf, clashOf }: ResolvedPools,
  declaredOf: (email: string) => Candidate | undefined,
  ownedOf: (email: string) => Cap | undefined,
): readonly PoolPeople[] {
  const protectedEmails = new Set(protectedPeople.map(({ scope }) => scope.email))
  const memberNow = (email: string): MemberNow => {
    if (clashOf({ kind: 'user', email })) return { email, protected: true }
    const declared = declaredOf(email)
    // Nothing is dealt to a person for whom policy declares `none`, which is an error.
    const isProtected = protectedEmails.has(email)
    const cap = declared ? declared.cap : isProtected ? ownedOf(email) : undefined
    const fixed = cap === undefined || cap === 'none' ? undefined : credits(cap)
    return { email, fixed, protected: isProtected || isUncapped(declared) ? true : undefined }
  }
  return pools.map((pool) => {
    const people = (members.get(pool.name) ?? []).map(memberNow)
    // Nothing is dealt by a pool that cannot pay its min, which is an error.
    const dealt = cannotPay(pool, people.length) ? people.map((one) => ({ ...one, protected: true })) : people
    return { pool, members: dealt, unknown: unknownOf(pool) }
  })
}

const isUncapped = (declared: Candidate | undefined): declared is Candidate => declared?.cap === 'none'

/** A member of a pool for whom policy declares `none`. For members listed by e-mail, validation has reported it already. */
export function poolNone(scope: UserScope, place: Place | undefined, own: Candidate | undefined): RejectedScope | undefined {
  if (!place || !isUncapped(own)) return undefined
  const message = `${scope.email} has the cap none and is a member of pool ${place.pool.name} (${formatPosition(place.pool.at)}); a pool needs a cap`
  return { scope, code: 'POOL_NONE', message, at: own.at }
}
