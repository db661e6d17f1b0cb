// Who is in which pool, and what the last deal asks for each member. Membership changes as a rule's match does, after two good readings
// that agree. Dealing is done in `core/pools`; until a pool has dealt, its members keep what is in force.

import { isApproved } from '../interpret/effective.ts'
import type { Roster } from '../model/observed.ts'
import type { Cap, PolicySet, Pool } from '../model/policy.ts'
import { formatPosition } from '../model/problem.ts'
import type { UserScope } from '../model/scope.ts'
import { type Credits, credits } from '../model/units.ts'
import { capToAsk, type KeptCap, keepsCap, keptCap, type PoolPeople, waitingRaises, waitingText } from '../pools/deal.ts'
import { cannotPay, type MemberNow, memberOf, type PoolState } from '../pools/state.ts'
import type { Candidate, RejectedScope } from './candidate.ts'
import { conditionKey, poolCondition } from './conditions.ts'
import type { JudgedRules } from './matches.ts'

/** What was dealt, by the name of the pool. */
export type DealtPools = Readonly<Record<string, PoolState>>

/** A person's place in a pool. */
export interface Place {
  readonly pool: Pool
  /** The cap that the deal asks for; absent while nothing was dealt. */
  readonly candidate?: Candidate
  /** The last reading; absent while it is not known, and where no cap is set. */
  readonly inForce?: KeptCap
  /** The cap in force stays, though policy or deal give more: the credits do not pay for it now. */
  readonly isKept: boolean
  /** See `DesiredCap`. */
  readonly waits?: string
}

export type ResolvedPools = ReturnType<typeof resolvePools>

/** Finds the members of every pool. Without a roster there are none. */
export function resolvePools(
  { pools }: PolicySet,
  roster: Roster | undefined,
  rules: Pick<JudgedRules, 'membersOf' | 'whyOf'>,
  dealt: DealtPools,
) {
  const poolsOf = new Map<string, Pool[]>()
  const approved = roster?.people.filter((person) => isApproved(person, roster)).map(({ email }) => email) ?? []
  for (const pool of pools) {
    const isMember = membershipOf(pool, rules)
    for (const email of approved) if (isMember(email)) poolsOf.set(email, [...(poolsOf.get(email) ?? []), pool])
  }
  /** By the name of the pool: approved members, sorted. */
  const members = new Map(pools.map(({ name }): [string, string[]] => [name, []]))
  for (const [email, list] of poolsOf) for (const { name } of list) members.get(name)?.push(email)
  for (const list of members.values()) list.sort()
  /** By the name of a pool with a condition. */
  const unknown = new Map(pools.flatMap((pool) => unknownOf(pool, approved, rules)))
  return {
    members,
    unknown,
    /** Undefined for a person in more than one pool: they count in the sum of each, and none deals to them. */
    placeOf: (email: string) => placeOf(poolsOf.get(email), email, dealt, rules),
    clashOf: (scope: UserScope) => clash(scope, poolsOf.get(scope.email) ?? []),
  }
}

function membershipOf(pool: Pool, rules: Pick<JudgedRules, 'membersOf'>): (email: string) => boolean {
  if (pool.members.kind === 'emails') {
    const emails = new Set(pool.members.emails)
    return (email) => emails.has(email)
  }
  const when = poolCondition(pool)
  const matches = when && rules.membersOf(when)
  const key = when && conditionKey(when)
  return (email) => key !== undefined && matches?.settled(email) === key
}

function unknownOf(
  { name, members }: Pool,
  approved: readonly string[],
  rules: Pick<JudgedRules, 'membersOf' | 'whyOf'>,
): readonly (readonly [string, PoolPeople['unknown']])[] {
  if (members.kind !== 'when') return []
  const matches = rules.membersOf(members.when)
  const emails = approved.filter((email) => matches?.of(email).kind === 'unknown')
  const [first] = emails
  return first === undefined ? [] : [[name, { emails, why: rules.whyOf(members, first) }]]
}

function placeOf(
  pools: readonly Pool[] | undefined,
  email: string,
  dealt: DealtPools,
  rules: Pick<JudgedRules, 'whyOf'>,
): Place | undefined {
  const [pool, second] = pools ?? []
  if (!pool || second) return undefined
  const state = Object.hasOwn(dealt, pool.name) ? dealt[pool.name] : undefined
  if (!state) return { pool, isKept: false }
  const inForce = keptCap(memberOf(state, email))
  const isKept = keepsCap(pool, state, email)
  const waits = waitingRaises(pool, state).get(email)
  const place = { pool, inForce, isKept, waits: waits && waitingText(waits) }
  const cap = capToAsk(pool, state, email)
  if (cap === undefined) return place
  const scope: UserScope = { kind: 'user', email }
  const reason = `pool ${pool.name}${ofAttributes(pool, email, rules)}: ${termsOf(pool, state, email, cap)}`
  return { ...place, candidate: { kind: 'pool', scope, cap, at: pool.at, reason, pool: pool.name } }
}

/** ` (costCenter is CC-12, was CC-7)`: whoever writes the people file decides about members. */
const ofAttributes = ({ members }: Pool, email: string, rules: Pick<JudgedRules, 'whyOf'>): string =>
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
  { members, unknown, clashOf }: ResolvedPools,
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
    const open = unknown.get(pool.name)
    return { pool, members: dealt, unknown: open }
  })
}

const isUncapped = (declared: Candidate | undefined): declared is Candidate => declared?.cap === 'none'

/** A member of a pool for whom policy declares `none`. For members listed by e-mail, validation has reported it already. */
export function poolNone(scope: UserScope, place: Place | undefined, own: Candidate | undefined): RejectedScope | undefined {
  if (!place || !isUncapped(own)) return undefined
  const message = `${scope.email} has the cap none and is a member of pool ${place.pool.name} (${formatPosition(place.pool.at)}); a pool needs a cap`
  return { scope, code: 'POOL_NONE', message, at: own.at }
}
