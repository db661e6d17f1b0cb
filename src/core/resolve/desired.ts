// What policy asks of every scope at an instant: one winner per scope, with the declarations that lost kept for `explain`. It does no input
// or output, never guesses a missing base, and never desires a cap for a person who is not approved (docs/policies.md).

import type { OwnedCap } from '../model/observed.ts'
import { onceFor } from '../model/once.ts'
import {
  type AskedEntry,
  type Cap,
  GIVEN_UP,
  isSameEntry,
  type OriginKind,
  type OwnerKind,
  ownerOf,
  type PolicyEntry,
} from '../model/policy.ts'
import type { Position } from '../model/problem.ts'
import { compareScopes, normaliseEmail, type Scope, type ScopeKey, scopeKey, type UserScope } from '../model/scope.ts'
import type { KeptCap } from '../pools/deal.ts'
import { amountOf } from '../pools/observe.ts'
import type { Candidate, Origin, RejectedScope } from './candidate.ts'
import {
  type DesiredInputs,
  declarations,
  listWithPlaces,
  type PersonChain,
  personChain,
  sharedCandidates,
  verdictOfGroups,
} from './chain.ts'
import { attributeChanges, poolCondition } from './conditions.ts'
import { ruleCandidate, SEEN_ONCE } from './matches.ts'
import { type Place, poolNone, poolPeople } from './pools.ts'
import { whyAway, whyUnknown } from './roster.ts'

/** Readings of the groups that must agree before a cap of the conflict rule is dropped. */
const READINGS_TO_DROP = 2

/** The one cap that policy asks of a scope now. */
export interface DesiredCap {
  readonly scope: Scope
  readonly cap: Cap
  readonly owner: OwnerKind
  readonly entry: PolicyEntry
  readonly origin: Origin
  readonly losers: readonly Candidate[]
  /** Under a grant: the cap that is declared for this very scope, by a policy line, a rule or the conflict rule. */
  readonly base?: Cap
  /** A clause: a raise that its pool cannot give before newer figures are read. */
  readonly waits?: string
}

export type Resolution = Readonly<ReturnType<typeof resolveDesired>>

/**
 * Resolves the policy to one desired cap a scope (docs/policies.md). A scope is in at most one of `desired`, `skipped` and `rejected`,
 * with one exception: a rejected scope may also be in `desired` with the cap that the end of a grant restores.
 * Inputs must never change: results are cached by the object.
 */
export const resolveDesired = onceFor((inputs: DesiredInputs) => {
  const found = declaredIn(inputs)
  const draft: Draft = { desired: [], skipped: [], rejected: [], conflictsGone: {}, conflictGroups: {} }
  for (const scope of scopesToDecide(inputs)) {
    if (scope.kind === 'user') decideUser(inputs, scope, draft)
    else decideShared(inputs, scope, draft)
  }
  const { peopleRules, pools } = inputs.set
  const whens = [...peopleRules.map(({ when }) => when), ...pools.flatMap((pool) => poolCondition(pool) ?? [])]
  const decided: { readonly [Name in keyof Draft]: Readonly<Draft[Name]> } = draft
  return {
    ...decided,
    grants: found.grants,
    /** Tells whether a grant has ended, even one that is no longer declared. */
    grantClock: { now: inputs.now, grantsFrozen: inputs.grantsFrozen, cycle: inputs.cycle },
    /** `spec.rules`, in their order. */
    rules: found.rules.statuses,
    ruleNotes: found.rules.notes,
    /** `spec.pools` with their members, in their order. */
    pools: poolPeople(
      inputs.set,
      found.pools,
      (email) => firstDeclared(personChain(found, email)),
      (email) => inputs.owned.get(scopeKey({ kind: 'user', email }))?.cap,
    ),
    /** The next value of the ledger fact `conditions`. */
    conditions: found.rules.memory,
    /** What the people file says anew of people since when, in columns that rules and pools name. */
    attributeChanges: attributeChanges(whens, inputs.roster?.people ?? []),
  }
})

/**
 * The cap declared for one person by the whole chain (user grant > user > rule > group grant > group with the conflict rule > team
 * grant > team): the winner first, then the losers in order of precedence. Undefined when no declaration applies, or when the person's
 * groups differ without a conflict rule and nothing before them decides. Cheap for many people with the same `inputs` object.
 */
export function resolvePerson(email: string, inputs: DesiredInputs) {
  const { candidates, winner } = personChain(declaredIn(inputs), normaliseEmail(email))
  return winner && { cap: winner.cap, chain: [winner, ...without(candidates, winner)] }
}

/** What is declared; cached by the `inputs` object. */
export const declaredIn = onceFor(declarations)

/** Whether any declaration applies to a person or may apply: a rule of which that is not known counts too. */
export function isReached(email: string, inputs: DesiredInputs): boolean {
  const { candidates, verdict } = personChain(declaredIn(inputs), normaliseEmail(email))
  return candidates.length > 0 || verdict.kind === 'unknown'
}

/** A pool member's own declaration, else a rule. A rule with `none` sets nothing, and the pool decides. */
const firstDeclared = ({ own, matched }: PersonChain): Candidate | undefined => own ?? (matched?.cap === 'none' ? undefined : matched)

/** A resolution while it is put together. */
interface Draft {
  /** Canonical order of scopes. */
  readonly desired: DesiredCap[]
  /**
   * Declared or owned scopes that are neither read nor written: the person is not approved or not on the roster, or the service does not know
   * the group.
   */
  readonly skipped: { readonly scope: Scope; readonly why: string; readonly at?: Position }[]
  readonly rejected: RejectedScope[]
  /** The next value of the ledger fact `conflictsGone`. */
  readonly conflictsGone: Record<string, number>
  /** The next value of the ledger fact `conflictGroups`. */
  readonly conflictGroups: Record<string, readonly string[]>
}

/** Every scope declared or owned, people in several groups, and, where caps are copied, everybody on the roster; in the canonical order. */
function scopesToDecide(inputs: DesiredInputs): Scope[] {
  const found = declaredIn(inputs)
  const shared = new Map<ScopeKey, Scope>()
  const emails = new Set<string>()
  const add = (key: ScopeKey, scope: Scope): unknown => (scope.kind === 'user' ? emails.add(scope.email) : shared.set(key, scope))
  for (const [key, { scope }] of found.scopes) add(key, scope)
  for (const [key, { scope }] of inputs.owned) add(key, scope)
  for (const [email, groups] of found.groupsOf) if (groups.length > 1) emails.add(email)
  for (const email of found.rules.matched) emails.add(email)
  for (const members of found.pools.members.values()) for (const email of members) emails.add(email)
  if (inputs.capSemantics === 'copied') for (const { email } of inputs.roster?.people ?? []) emails.add(email)
  // Plain e-mails sort several times as fast as scopes.
  const users = [...emails].sort().map((email): UserScope => ({ kind: 'user', email }))
  return [...[...shared.values()].sort(compareScopes), ...users]
}

function decideShared(inputs: DesiredInputs, scope: Scope, draft: Draft): void {
  const found = declaredIn(inputs)
  const key = scopeKey(scope)
  const facts = found.scopes.get(key)
  const own = facts?.grant ?? facts?.rule
  const at = own?.at ?? facts?.rejected?.at
  if (scope.kind === 'group' && inputs.unknownGroups.includes(scope.id)) {
    const named = inputs.set.groups.find((group) => group.scope.id === scope.id)?.nameAt ?? at
    draft.skipped.push({ scope, why: whyUnknown(inputs, scope.id), at: named })
  } else if (facts?.rejected) draft.rejected.push(facts.rejected)
  else if (own) draft.desired.push(wanted(scope, own, sharedCandidates(found, scope)))
  else {
    const previous = restored(inputs, inputs.owned.get(key), sharedCandidates(found, scope))
    if (previous) draft.desired.push(previous)
  }
}

function decideUser(inputs: DesiredInputs, scope: UserScope, draft: Draft): void {
  const found = declaredIn(inputs)
  const key = scopeKey(scope)
  const facts = found.scopes.get(key)
  const owned = inputs.owned.get(key)
  const away = whyAway(inputs, scope.email)
  if (away !== undefined) {
    const at = facts?.grant?.at ?? facts?.rule?.at ?? facts?.rejected?.at
    if (facts || owned) draft.skipped.push({ scope, why: away, at })
    if (owned?.owner === 'conflict') {
      carryCount(inputs, scope.email, 0, draft)
      carryGroups(inputs, scope.email, draft)
    }
    return
  }
  const chain = personChain(found, scope.email)
  const rejected = facts?.rejected ?? found.pools.clashOf(scope) ?? poolNone(scope, chain.place, chain.own)
  if (rejected) {
    draft.rejected.push(rejected)
    return
  }
  const desired = desiredOfUser(inputs, scope, chain, draft)
  if (desired) draft.desired.push(desired)
  // Policy does not ask for what the end of a grant restores. For a member of a pool the pool decides, even while it asks for nothing.
  const isAsked = chain.place !== undefined || (desired !== undefined && desired.origin.kind !== 'restore')
  if (!isAsked && chain.verdict.kind !== 'unknown' && chain.groups.kind === 'clash')
    draft.rejected.push(conflict(scope, chain.groups.among))
}

/** The first that applies: the person's own declaration, a rule, the conflict rule (and one reading longer), a copy, what a grant replaced. */
function desiredOfUser(inputs: DesiredInputs, scope: UserScope, chain: PersonChain, draft: Draft): DesiredCap | undefined {
  const { own, matched, verdict, groups, candidates } = chain
  const owned = inputs.owned.get(scopeKey(scope))
  // A member's grant was paid by the pool, so its end is the pool's to decide, even while a rule's answer is not known.
  if (chain.place && (verdict.kind !== 'unknown' || owned?.owner === 'grant')) {
    const { waits } = chain.place
    const desired = desiredOfMember(inputs, scope, chain.place, chain)
    return desired && waits !== undefined ? { ...desired, waits } : desired
  }
  if (verdict.kind === 'unknown') return keptUnknown(inputs, scope, chain)
  // Where it is `none`, nothing is set for the person alone: their groups decide as if it were not declared.
  const declared = own ?? matched
  if (declared && declared.cap !== 'none') return wanted(scope, declared, candidates)
  if (groups.kind === 'chosen') {
    draft.conflictGroups[scope.email] =
      declaredIn(inputs)
        .groupsOf.get(scope.email)
        ?.flatMap((one) => idOf(one.scope)) ?? []
    return wanted(scope, groups.cap, candidates)
  }
  if (groups.kind === 'clash') return restored(inputs, owned, candidates)
  if (owned?.owner === 'conflict') {
    const kept = keptConflict(inputs, owned, scope, candidates, draft)
    if (kept) return kept
  }
  const asked = inputs.capSemantics === 'copied' ? copiedCap(inputs, scope, chain, owned) : declared && wanted(scope, declared, candidates)
  return asked ?? restored(inputs, owned, candidates) ?? keptForRule(inputs, owned, scope, candidates)
}

/**
 * The cap that the deal gives a member; their own cap where the deal gives all of it. Where nothing is dealt, yet or because the member is
 * protected, our cap stays as it is: clearing it would let the person use credits that were dealt to others.
 */
function desiredOfMember(inputs: DesiredInputs, scope: UserScope, place: Place, chain: PersonChain): DesiredCap | undefined {
  const { candidates } = chain
  const isProtected = inputs.set.protectedPeople.some((one) => one.scope.email === scope.email)
  const declared = firstDeclared(chain)
  if (isProtected && declared && !place.isKept) return wanted(scope, declared, candidates)
  const dealt = isProtected ? undefined : place.candidate
  if (dealt) return wanted(scope, declared?.cap === dealt.cap ? declared : dealt, candidates)
  const owned = inputs.owned.get(scopeKey(scope))
  if (!owned) return undefined
  const { pool, isKept, inForce } = place
  // A protected member's cap was checked against the credits; another member's share is not known yet.
  const cap = isProtected && !isKept ? owned.cap : unraised(owned, inForce)
  if (cap === undefined) return undefined
  // The end of a grant restores at most what the grant gave, to a member to whom nothing is dealt.
  const back = declared ? undefined : restored(inputs, owned, candidates)
  if (back && amountOf(back.cap) < amountOf(cap)) return back
  const why = isProtected ? 'nothing is dealt to protected members' : 'nothing is dealt yet'
  const more = isProtected ? `the cap ${declared ? 'declared' : 'that another client lowered'}` : 'more'
  const reason = `pool ${pool.name}: ${isKept ? `the credits do not pay for ${more}` : why}; what is in force stays`
  return kept({ ...owned, cap }, { kind: 'pool', scope, cap, at: pool.at, reason, pool: pool.name }, candidates)
}

/**
 * Our cap of a pool member, or a lower one that another client has written since, or in place of a cap that was never seen in force: putting
 * ours back would be a raise. Undefined when that is 0, because nobody is asked to be set to 0: some services do not keep it.
 */
function unraised(owned: OwnedCap, inForce: KeptCap | undefined): Cap | undefined {
  const isLater = inForce && (inForce.at > owned.verifiedAt || isSameEntry(owned.entry, GIVEN_UP))
  const isLowered = isLater && (owned.cap === 'none' || inForce.cap < owned.cap)
  const cap = isLowered ? inForce.cap : owned.cap
  return cap === 0 && owned.cap !== 0 ? undefined : cap
}

/**
 * What is in force stays while it is not known whether a rule matches. A grant that is over still ends. What it restores may be declared, and
 * is not pruned.
 */
function keptUnknown(inputs: DesiredInputs, scope: UserScope, { verdict, place, candidates }: PersonChain) {
  const owned = inputs.owned.get(scopeKey(scope))
  if (verdict.kind !== 'unknown' || !owned || owned.cap === 'none') return undefined
  const { rule, settled } = verdict
  const why = declaredIn(inputs).rules.whyOf(rule, scope.email)
  const reason = `whether rule ${rule.name} matches is not known (${why}); what is in force stays`
  if (owned.owner !== 'grant') {
    const cap = place ? unraised(owned, place.inForce) : owned.cap
    if (cap === undefined) return undefined
    return kept({ ...owned, cap }, { kind: 'rule', scope, cap, at: rule.at, reason, rule: rule.name }, candidates)
  }
  if (!settled) return restored(inputs, owned, candidates, false)
  return wanted(scope, { ...ruleCandidate(settled, scope, 'it did before'), reason }, candidates)
}

/** Cleared while one reading alone says that a rule matches, our cap would be set again with the next one. */
function keptForRule(inputs: DesiredInputs, owned: OwnedCap | undefined, scope: UserScope, candidates: readonly Candidate[]) {
  const rule = declaredIn(inputs).rules.seenOnce(scope.email)
  if (!rule || !owned || owned.cap === 'none') return undefined
  const reason = `rule ${rule.name} matches since the last reading, and ${SEEN_ONCE}; what is in force stays`
  return kept(owned, { kind: 'rule', scope, cap: owned.cap, at: rule.at, reason, rule: rule.name }, candidates)
}

/**
 * A person counts as a member of the groups that differed until two readings in a row of every declared group agree that they have left. A
 * group that the service does not know agrees, unless it is one of those: it may be known by another name now. No reading is needed when policy
 * or a grant changed, so that those groups no longer differ.
 */
function keptConflict(inputs: DesiredInputs, owned: OwnedCap, scope: UserScope, candidates: readonly Candidate[], draft: Draft) {
  const declared = inputs.set.groups.map((one) => one.scope.id)
  const { newReading, unknownGroups } = inputs
  const known = carryGroups(inputs, scope.email, draft)
  const among = known ?? declared
  const tell = [...(newReading?.groups ?? []), ...unknownGroups.filter((id) => !among.includes(id))]
  const agrees = newReading !== undefined && declared.every((id) => tell.includes(id))
  const count = carryCount(inputs, scope.email, agrees ? 1 : 0, draft)
  const verdict = verdictOfGroups(declaredIn(inputs), scope, among)
  if (count >= READINGS_TO_DROP || verdict.kind === 'agreed') return undefined
  const reason = `no longer in groups with different caps; dropped after ${READINGS_TO_DROP} agreeing readings, ${count} so far`
  if (known && verdict.kind === 'chosen') return wanted(scope, { ...verdict.cap, reason }, candidates)
  return kept(owned, { kind: 'conflict', scope, cap: owned.cap, ...atOf(candidates[0]), reason }, candidates)
}

/** The groups that differed for a person with a cap of the conflict rule; undefined where they were not recorded. */
function carryGroups(inputs: DesiredInputs, email: string, draft: Draft): readonly string[] | undefined {
  const groups = inputs.conflictGroups?.[email]
  if (groups) draft.conflictGroups[email] = groups
  return groups
}

const idOf = (scope: Scope): string | [] => (scope.kind === 'group' ? scope.id : [])

function carryCount(inputs: DesiredInputs, email: string, more: number, draft: Draft): number {
  const count = Math.min(READINGS_TO_DROP, (inputs.conflictsGone[email] ?? 0) + more)
  if (count > 0) draft.conflictsGone[email] = count
  return count
}

/**
 * Where the service copies shared caps to people, each person keeps the cap that applies to them. An inherited `none` is written only where
 * we had set a cap.
 */
function copiedCap(inputs: DesiredInputs, scope: UserScope, chain: PersonChain, owned: OwnedCap | undefined): DesiredCap | undefined {
  const { own, matched, winner, candidates } = chain
  const declared = own ?? matched
  const previous = replacedByGrant(owned, inputs.prune)
  const [unread] = declaredIn(inputs).unreadGroups
  if (unread) {
    // A number is safe to restore at once. Restoring `none` would leave the person without that group's cap.
    if (!owned || (previous !== undefined && previous !== 'none')) return undefined
    const reason = `the members of ${unread} are not known; what was set stays until they are`
    return kept(owned, { kind: 'copied', scope, cap: owned.cap, ...atOf(declared), reason }, candidates)
  }
  if (!winner) return undefined
  if (winner.cap === 'none' && declared) return wanted(scope, declared, candidates)
  if (winner.cap === 'none' && (!owned || previous !== undefined)) return undefined
  return wanted(scope, { ...winner, kind: 'copied' }, without(candidates, winner))
}

function wanted(scope: Scope, origin: Origin, candidates: readonly Candidate[]): DesiredCap {
  const { kind, cap } = origin
  const entry: AskedEntry = { kind, cap }
  const base = kind === 'grant' ? candidates.find((one) => BASES.includes(one.kind) && scopeKey(one.scope) === scopeKey(scope)) : undefined
  return { scope, cap, owner: ownerOf(entry), entry, origin, losers: without(candidates, origin), base: base?.cap }
}

/** What a grant may replace at its own scope. What a pool deals is no base, because it depends on the grant. */
const BASES: readonly OriginKind[] = ['cap', 'rule', 'conflict']

/** The ledger's cap goes on, under the entry that it was verified with. */
const kept = (owned: OwnedCap, origin: Origin, losers: readonly Candidate[]): DesiredCap => {
  const { scope, cap, owner, entry, grant } = owned
  return { scope, cap, owner, entry, origin: { ...origin, ...(grant !== undefined && { grant }) }, losers }
}

/** The cap that a grant replaced, restored at its end where nothing is declared. Undefined when the cap is not a grant's. */
function replacedByGrant(owned: OwnedCap | undefined, prune: boolean): Cap | undefined {
  if (owned?.owner !== 'grant') return undefined
  return prune && owned.baselineIsOurs ? 'none' : owned.baseline
}

function restored(inputs: DesiredInputs, owned: OwnedCap | undefined, candidates: readonly Candidate[], prune = inputs.prune) {
  const cap = replacedByGrant(owned, prune)
  if (!owned || cap === undefined) return undefined
  const statuses = declaredIn(inputs).grantsOf.get(scopeKey(owned.scope)) ?? []
  const last = statuses.findLast((one) => one.state === 'ended') ?? statuses.at(-1)
  const origin: Origin = {
    kind: 'restore',
    scope: owned.scope,
    cap,
    ...atOf(last?.grant),
    reason: last?.grant.reason ?? 'the grant is no longer declared',
    ticket: last?.grant.ticket,
    untilAt: last?.untilAt,
  }
  return wanted(owned.scope, origin, candidates)
}

function conflict(scope: UserScope, among: readonly Candidate[]): RejectedScope {
  const message = `${scope.email} is in groups with different caps: ${listWithPlaces(among)}; set spec.onGroupConflict to min or max, or declare a cap for this user`
  return { scope, code: 'GROUP_CONFLICT', message, at: among[0]?.at }
}

/** Absent for a cap that no policy line asks for. */
const atOf = (one: { readonly at?: Position } | undefined): Pick<Origin, 'at'> => (one?.at ? { at: one.at } : {})

const without = (candidates: readonly Candidate[], one: Origin): Candidate[] => candidates.filter((other) => other !== one)
