// What policy asks of every scope at an instant: one winner per scope, with the declarations that lost kept for `explain`. It never
// reads the world, never guesses a missing base, and never desires anything for people who are not approved (product.md, section 2).

import { isApproved, TEAM_KEY } from '../interpret/effective.ts'
import { type AskedEntry, ownerOf } from '../model/entry.ts'
import type { OwnedCap, Person } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import type { Position } from '../model/problem.ts'
import { compareScopes, normaliseEmail, type Scope, type ScopeKey, scopeKey, type UserScope } from '../model/scope.ts'
import type { KeptCap } from '../pools/ask.ts'
import { amountOf } from '../pools/observe.ts'
import type { Candidate, DesiredCap, RejectedScope, SkippedScope } from './candidate.ts'
import { type Declarations, declarations, listWithPlaces, type PersonChain, personChain, verdictOfGroups } from './chain.ts'
import { type Place, poolNone, poolPeople } from './pools.ts'
import type { DesiredInputs, Resolution } from './resolution.ts'
import { ruleCandidate } from './rules.ts'

/** Agreeing readings of the groups after which a cap of the conflict rule goes. */
const READINGS_TO_DROP = 2

/**
 * Resolves the policy to one desired cap a scope (product.md, section 2). A scope is in at most one of `desired`, `skipped` and `rejected`,
 * but for what is rejected and gives back at the end of a grant what stood there before.
 * Inputs are not changed and must not change: what is found in them is remembered with the object.
 */
export function resolveDesired(inputs: DesiredInputs): Resolution {
  const context = contextOf(inputs)
  const draft: Draft = { desired: [], skipped: [], rejected: [], conflictsGone: {}, conflictGroups: {} }
  for (const scope of scopesToDecide(context)) {
    if (scope.kind === 'user') decideUser(context, scopeKey(scope), scope, draft)
    else decideShared(context, scopeKey(scope), scope, draft)
  }
  const { grants, rules } = context.found
  return {
    ...draft,
    grants,
    grantClock: { now: inputs.now, grantsFrozen: inputs.grantsFrozen, ...(inputs.cycle && { cycle: inputs.cycle }) },
    rules: rules.statuses,
    ruleNotes: rules.notes,
    pools: poolPeople(
      inputs.set,
      context.found.pools,
      (email) => firstDeclared(personChain(context.found, email)),
      (email) => inputs.owned.get(scopeKey({ kind: 'user', email }))?.cap,
    ),
    conditions: rules.memory,
  }
}

/**
 * The cap declared for one person by the whole chain (user grant > user > rule > group grant > group with the conflict rule > team
 * grant > team),
 * the winner first, then the losers in order of precedence. Undefined when nothing declared applies, or when the person's groups differ
 * without a conflict rule and nothing narrower decides. Cheap to ask for many people with the same `inputs` object.
 */
export function resolvePerson(email: string, inputs: DesiredInputs): { cap: Cap; chain: readonly Candidate[] } | undefined {
  const { candidates, winner } = personChain(contextOf(inputs).found, normaliseEmail(email))
  return winner && { cap: winner.cap, chain: [winner, ...without(candidates, winner)] }
}

/** What is declared, found once for the same `inputs` object. */
export const declaredIn = (inputs: DesiredInputs): Declarations => contextOf(inputs).found

/** Whether anything that policy declares bears on a person, or may: a rule of which it is not known, the cap of a group or of the team. */
export function isReached(email: string, inputs: DesiredInputs): boolean {
  const { candidates, verdict } = personChain(contextOf(inputs).found, normaliseEmail(email))
  return candidates.length > 0 || verdict.kind === 'unknown'
}

/** Declared for a member of a pool alone, else by a rule; the `none` of a rule sets nothing, and the pool decides. */
const firstDeclared = ({ own, matched }: PersonChain): Candidate | undefined => own ?? (matched?.cap === 'none' ? undefined : matched)

interface Context {
  readonly inputs: DesiredInputs
  readonly found: Declarations
  /** Absent while the roster is unknown; then nobody is skipped. */
  readonly people: ReadonlyMap<string, Person> | undefined
  readonly unknownGroups: ReadonlySet<string>
}

interface Draft {
  readonly desired: DesiredCap[]
  readonly skipped: SkippedScope[]
  readonly rejected: RejectedScope[]
  readonly conflictsGone: Record<string, number>
  readonly conflictGroups: Record<string, readonly string[]>
}

const contexts = new WeakMap<DesiredInputs, Context>()

function contextOf(inputs: DesiredInputs): Context {
  const known = contexts.get(inputs)
  if (known) return known
  const people = inputs.roster && new Map(inputs.roster.people.map((person) => [person.email, person]))
  const context = { inputs, found: declarations(inputs), people, unknownGroups: new Set(inputs.unknownGroups) }
  contexts.set(inputs, context)
  return context
}

/** Everything declared or ours, people in several groups, and, where caps are copied, everybody on the roster; in the canonical order. */
function scopesToDecide({ inputs, found }: Context): Scope[] {
  const wide = new Map<ScopeKey, Scope>()
  const emails = new Set<string>()
  const add = (key: ScopeKey, scope: Scope): unknown => (scope.kind === 'user' ? emails.add(scope.email) : wide.set(key, scope))
  for (const [key, { scope }] of found.scopes) add(key, scope)
  for (const [key, { scope }] of inputs.owned) add(key, scope)
  for (const [email, groups] of found.groupsOf) if (groups.length > 1) emails.add(email)
  for (const email of found.rules.matched) emails.add(email)
  for (const members of found.pools.members.values()) for (const email of members) emails.add(email)
  for (const email of found.pools.clashing) emails.add(email)
  if (inputs.capSemantics === 'copied') for (const { email } of inputs.roster?.people ?? []) emails.add(email)
  // Bare e-mails sort several times as fast as scopes do.
  const users = [...emails].sort().map((email): UserScope => ({ kind: 'user', email }))
  return [...[...wide.values()].sort(compareScopes), ...users]
}

function decideShared(context: Context, key: ScopeKey, scope: Scope, draft: Draft): void {
  const facts = context.found.scopes.get(key)
  const owned = context.inputs.owned.get(key)
  const team = scope.kind === 'team' ? undefined : context.found.scopes.get(TEAM_KEY)
  const candidates = [facts?.grant, facts?.rule, team?.grant, team?.rule].filter((one) => one !== undefined)
  const own = facts?.grant ?? facts?.rule
  const at = own?.at ?? facts?.rejected?.at
  if (scope.kind === 'group' && context.unknownGroups.has(scope.id)) {
    draft.skipped.push({ scope, why: `the service does not know group ${scope.id}`, ...(at && { at }) })
  } else if (facts?.rejected) draft.rejected.push(facts.rejected)
  else if (own) draft.desired.push(wanted(scope, own, candidates))
  else {
    const back = restored(context, owned, candidates, context.inputs.prune)
    if (back) draft.desired.push(back)
  }
}

function decideUser(context: Context, key: ScopeKey, scope: UserScope, draft: Draft): void {
  const { inputs, found } = context
  const facts = found.scopes.get(key)
  const owned = inputs.owned.get(key)
  const away = whyAway(context, scope.email)
  if (away !== undefined) {
    const at = facts?.grant?.at ?? facts?.rule?.at ?? facts?.rejected?.at
    if (facts || owned) draft.skipped.push({ scope, why: away, ...(at && { at }) })
    if (owned?.owner === 'conflict') {
      carryCount(inputs, scope.email, 0, draft)
      carryGroups(inputs, scope.email, draft)
    }
    return
  }
  if (facts?.rejected) {
    draft.rejected.push(facts.rejected)
    return
  }
  const clash = found.pools.clashOf(scope)
  if (clash) {
    draft.rejected.push(clash)
    return
  }
  const chain = personChain(found, scope.email)
  const uncapped = poolNone(scope, chain.place, chain.own)
  if (uncapped) {
    draft.rejected.push(uncapped)
    return
  }
  const desired = desiredOfUser(context, key, scope, chain, draft)
  if (desired) draft.desired.push(desired)
  // What a grant gives back is nothing that policy asks for, and for a member of a pool it is the pool that decides, also while it asks for nothing.
  const isAsked = chain.place !== undefined || (desired !== undefined && desired.origin.kind !== 'restore')
  if (!isAsked && chain.verdict.kind !== 'unknown' && chain.groups.kind === 'clash')
    draft.rejected.push(conflict(scope, chain.groups.among))
}

/** The first that applies: their own declaration, a rule, the conflict rule (while it holds and a reading longer), a copy, the base of a grant. */
function desiredOfUser(context: Context, key: ScopeKey, scope: UserScope, chain: PersonChain, draft: Draft): DesiredCap | undefined {
  const { own, matched, verdict, groups, candidates } = chain
  const owned = context.inputs.owned.get(key)
  const copied = context.inputs.capSemantics === 'copied'
  // Of a member what a grant makes way for has to come out of the pool, whatever is not known.
  if (chain.place && (own || verdict.kind !== 'unknown' || owned?.owner === 'grant')) {
    const { waits } = chain.place
    const desired = desiredOfMember(context, key, scope, chain.place, chain)
    return desired && waits !== undefined ? { ...desired, waits } : desired
  }
  if (own && !(copied && own.cap === 'none')) return wanted(scope, own, candidates)
  if (!own && verdict.kind === 'unknown') return keptUnknown(context, key, scope, chain)
  if (!own && matched && !(copied && matched.cap === 'none')) return wanted(scope, matched, candidates)
  if (!own && !matched && groups.kind === 'chosen') {
    draft.conflictGroups[scope.email] = context.found.groupsOf.get(scope.email)?.flatMap((one) => idOf(one.scope)) ?? []
    return wanted(scope, groups.cap, candidates)
  }
  if (!own && groups.kind === 'agreed' && owned?.owner === 'conflict') {
    const kept = keptConflict(context, owned, scope, candidates, draft)
    if (kept) return kept
  }
  const copy = copied && groups.kind !== 'clash' ? copiedCap(context, scope, chain, owned) : undefined
  return copy ?? (own ? undefined : restored(context, owned, candidates, context.inputs.prune))
}

/**
 * What the deal gives; the person's own cap where it gives all of that. Where nothing is dealt, yet or to protected members, what is ours stays
 * as it is: to take it away would let them use what others were dealt.
 */
function desiredOfMember(context: Context, key: ScopeKey, scope: UserScope, place: Place, chain: PersonChain): DesiredCap | undefined {
  const { inputs } = context
  const { candidates } = chain
  const isProtected = inputs.set.protectedPeople.some((one) => one.scope.email === scope.email)
  const declared = firstDeclared(chain)
  if (isProtected && declared && !place.isKept) return wanted(scope, declared, candidates)
  const dealt = isProtected ? undefined : place.candidate
  if (dealt) return wanted(scope, declared?.cap === dealt.cap ? declared : dealt, candidates)
  const owned = inputs.owned.get(key)
  if (!owned) return undefined
  const { pool, isKept, inForce } = place
  // For protected members the credits were asked; of the others nobody knows yet what is theirs.
  const cap = isProtected && !isKept ? owned.cap : unraised(owned, inForce)
  if (cap === undefined) return undefined
  // What a grant that is over gives back to somebody to whom nothing is dealt: no more than it gave.
  const back = declared ? undefined : restored(context, owned, candidates, inputs.prune)
  if (back && amountOf(back.cap) < amountOf(cap)) return back
  const why = isProtected ? 'nothing is dealt to protected members' : 'nothing is dealt yet'
  const more = isProtected ? `the cap ${declared ? 'declared' : 'that others lowered'}` : 'more'
  const reason = `pool ${pool.name}: ${isKept ? `the credits do not pay for ${more}` : why}; what is in force stays`
  return kept({ ...owned, cap }, { kind: 'pool', scope, cap, at: pool.at, reason, pool: pool.name }, candidates)
}

/**
 * What is ours of a member of a pool, or what others have lowered it to since we wrote: putting it back is a raise. Undefined at 0, to which
 * nobody is asked to be brought, for some services do not keep it.
 */
function unraised(owned: OwnedCap, inForce: KeptCap | undefined): Cap | undefined {
  const isLowered = inForce && inForce.at > owned.verifiedAt && (owned.cap === 'none' || inForce.cap < owned.cap)
  const cap = isLowered ? inForce.cap : owned.cap
  return cap === 0 && owned.cap !== 0 ? undefined : cap
}

/**
 * What is in force stays while nobody knows whether a rule matches; only a grant that is over ends all the same. What it gives back may be
 * declared, and is not pruned.
 */
function keptUnknown(context: Context, key: ScopeKey, scope: UserScope, { verdict, place, candidates }: PersonChain) {
  const { inputs, found } = context
  const owned = inputs.owned.get(key)
  if (verdict.kind !== 'unknown' || !owned || owned.cap === 'none') return undefined
  const { rule, settled } = verdict
  const why = found.rules.whyOf(rule, scope.email)
  const reason = `whether rule ${rule.name} matches is not known (${why}); what is in force stays`
  if (owned.owner !== 'grant') {
    const cap = place ? unraised(owned, place.inForce) : owned.cap
    if (cap === undefined) return undefined
    return kept({ ...owned, cap }, { kind: 'people', scope, cap, at: rule.at, reason, rule: rule.name }, candidates)
  }
  if (!settled) return restored(context, owned, candidates, false)
  return wanted(scope, { ...ruleCandidate(settled, scope, 'it did before'), reason }, candidates)
}

/**
 * Until two readings in a row of every declared group agree that somebody has left the groups that differed, the person counts as in them. Where
 * those do not differ any more, because policy or a grant has changed, no reading has to say so.
 */
function keptConflict({ inputs, found }: Context, owned: OwnedCap, scope: UserScope, candidates: readonly Candidate[], draft: Draft) {
  const declared = inputs.set.groups.map((one) => one.scope.id)
  const { newReading } = inputs
  const agrees = newReading !== undefined && declared.every((id) => newReading.groups.includes(id))
  const count = carryCount(inputs, scope.email, agrees ? 1 : 0, draft)
  const known = carryGroups(inputs, scope.email, draft)
  const verdict = verdictOfGroups(found, scope, known ?? declared)
  if (count >= READINGS_TO_DROP || verdict.kind === 'agreed') return undefined
  const reason = `no longer in groups with different caps; goes after ${READINGS_TO_DROP} agreeing readings, ${count} so far`
  if (known && verdict.kind === 'chosen') return wanted(scope, { ...verdict.cap, reason }, candidates)
  return kept(owned, { kind: 'conflict', scope, cap: owned.cap, at: candidates[0]?.at ?? NOWHERE, reason }, candidates)
}

/** The groups that differed for somebody with a cap of the conflict rule; undefined where nobody wrote them down. */
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

/** Where the service copies wide caps to people, each keeps the cap that applies to them; the `none` of a wider scope is worth a write only where we set one. */
function copiedCap(context: Context, scope: UserScope, chain: PersonChain, owned: OwnedCap | undefined): DesiredCap | undefined {
  const { own, matched, winner, candidates } = chain
  const declared = own ?? matched
  const back = givenBack(owned, context.inputs.prune)
  const [unread] = context.found.unreadGroups
  if (unread) {
    // A number is safe to give back at once; giving back nothing would leave the person without the cap of that group.
    if (!owned || (back !== undefined && back !== 'none')) return undefined
    const reason = `the members of ${unread} are not known; what was set stays until they are`
    return kept(owned, { kind: 'copied', scope, cap: owned.cap, at: declared?.at ?? NOWHERE, reason }, candidates)
  }
  if (!winner) return undefined
  if (winner.cap === 'none' && declared) return wanted(scope, declared, candidates)
  if (winner.cap === 'none' && (!owned || back !== undefined)) return undefined
  return wanted(scope, { ...winner, kind: 'copied' }, without(candidates, winner))
}

function wanted(scope: Scope, origin: Candidate, candidates: readonly Candidate[]): DesiredCap {
  const { kind, cap } = origin
  const entry: AskedEntry = { kind, cap }
  return { scope, cap, owner: ownerOf(entry), entry, origin, losers: without(candidates, origin) }
}

/** What the ledger says goes on, under the entry it was verified with. */
const kept = (owned: OwnedCap, origin: Candidate, losers: readonly Candidate[]): DesiredCap => {
  const { scope, cap, owner, entry, grant } = owned
  return { scope, cap, owner, entry, origin: { ...origin, ...(grant !== undefined && { grant }) }, losers }
}

/** What a grant's cap makes way for where nothing is declared: what stood there before. Undefined for what no grant has put there. */
function givenBack(owned: OwnedCap | undefined, prune: boolean): Cap | undefined {
  if (owned?.owner !== 'grant') return undefined
  return prune && owned.baselineIsOurs ? 'none' : owned.baseline
}

function restored(
  { found }: Context,
  owned: OwnedCap | undefined,
  candidates: readonly Candidate[],
  prune: boolean,
): DesiredCap | undefined {
  const cap = givenBack(owned, prune)
  if (!owned || cap === undefined) return undefined
  const statuses = found.grantsOf.get(scopeKey(owned.scope)) ?? []
  const last = statuses.findLast((one) => one.state === 'ended') ?? statuses.at(-1)
  const origin: Candidate = {
    kind: 'restore',
    scope: owned.scope,
    cap,
    at: last?.grant.at ?? NOWHERE,
    reason: last?.grant.reason ?? 'the grant is no longer declared',
    ...(last?.grant.ticket !== undefined && { ticket: last.grant.ticket }),
    ...(last?.untilAt !== undefined && { untilAt: last.untilAt }),
  }
  return wanted(owned.scope, origin, candidates)
}

function conflict(scope: UserScope, among: readonly Candidate[]): RejectedScope {
  const message = `${scope.email} is in groups with different caps: ${listWithPlaces(among)}; set spec.onGroupConflict to min or max, or declare a cap for this user`
  return { scope, code: 'GROUP_CONFLICT', message, ...(among[0] && { at: among[0].at }) }
}

function whyAway({ inputs, people }: Context, email: string): string | undefined {
  if (!inputs.roster || !people) return undefined
  const person = people.get(email)
  if (!person) return `${email} is not on the roster`
  return isApproved(person, inputs.roster) ? undefined : `${email} is ${person.status}, not approved`
}

/** For what no policy line asks for. */
const NOWHERE: Position = { file: '', line: 0, column: 0 }

const without = (candidates: readonly Candidate[], one: Candidate): Candidate[] => candidates.filter((other) => other !== one)
