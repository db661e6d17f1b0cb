// Everything that is declared, found by scope and by person: the chain user grant > user > rule > group grant > group (with the conflict
// rule) > team grant > team (docs/policies.md). It ignores the status of people, readings of caps and the ledger; `desired.ts` adds them.

import { TEAM_KEY } from '../interpret/effective.ts'
import type { Cycle } from '../model/observed.ts'
import type { Cap, CapRule, Grant, PolicySet } from '../model/policy.ts'
import { formatPosition } from '../model/problem.ts'
import { comparePositions, compareText, groupScope, type Scope, type ScopeKey, scopeKey, type UserScope } from '../model/scope.ts'
import { type Credits, credits, type Instant, MAX_CAP } from '../model/units.ts'
import type { Candidate, RejectedScope } from './candidate.ts'
import { type GrantStatus, grantId, grantStatuses, isInForce } from './grants.ts'
import { type ConditionInputs, judgeRules, type RuleVerdict, ruleCandidate } from './matches.ts'
import { type DealtPools, resolvePools } from './pools.ts'

export interface DesiredInputs extends ConditionInputs {
  readonly set: PolicySet
  readonly cycle?: Cycle
  readonly now: Instant
  readonly capSemantics: 'layered' | 'copied'
  /** Whether our caps that nothing declares are cleared. */
  readonly prune: boolean
  readonly conflictsGone: Readonly<Record<string, number>>
  /** The groups that differed for people with a cap of the conflict rule; absent: not recorded. */
  readonly conflictGroups?: Readonly<Record<string, readonly string[]>>
  /** The states of pools, by name; absent: nothing was dealt. */
  readonly pools?: DealtPools
}

/** What is declared at one scope now. `grant` is the one in force, with its sum when it adds. */
interface ScopeFacts {
  readonly scope: Scope
  readonly rule?: Candidate
  readonly grant?: Candidate
  /** Why the grant in force cannot apply; the scope is then left as it is. */
  readonly rejected?: RejectedScope
}

export type Declarations = Readonly<ReturnType<typeof declarations>>

/** What a person's groups say together: they agree, the conflict rule chose, or their caps differ and no rule says which counts. */
type GroupVerdict =
  | { readonly kind: 'agreed' }
  | { readonly kind: 'chosen'; readonly cap: Candidate }
  | { readonly kind: 'clash'; readonly among: readonly Candidate[] }

/** What is declared for one person. */
export type PersonChain = Readonly<ReturnType<typeof personChain>>

/** Finds what is declared; one pass over the policy, one over the members. */
export function declarations(inputs: DesiredInputs) {
  /** Every scope with a rule or a grant in force. */
  const scopes = new Map<ScopeKey, ScopeFacts>()
  for (const rule of inputs.set.rules) addRule(scopes, rule)
  const grants = grantStatuses(inputs.set.grants, inputs)
  const grantsOf = Map.groupBy(grants, ({ grant }) => scopeKey(grant.scope))
  for (const [key, statuses] of grantsOf) {
    const scope = statuses[0]?.grant.scope
    if (scope && scope.kind !== 'user') addGrant(scopes, key, statuses, () => sharedBase(scopes, scope))
  }
  const rules = judgeRules(inputs.set, inputs, (key) => scopes.has(key))
  const pools = resolvePools(inputs.set, inputs.roster, rules, inputs.pools ?? {})
  const found = { scopes, grants, grantsOf, ...membership(inputs, scopes), onGroupConflict: inputs.set.onGroupConflict, rules, pools }
  for (const [key, statuses] of grantsOf) {
    const scope = statuses[0]?.grant.scope
    if (scope?.kind === 'user') addGrant(scopes, key, statuses, () => personBase(found, scope))
  }
  return found
}

/** Parsing refuses a scope that is declared twice. Should one come through, the first place counts, whatever the order of the files. */
function addRule(scopes: Map<ScopeKey, ScopeFacts>, rule: CapRule): void {
  const key = scopeKey(rule.scope)
  const known = scopes.get(key)?.rule
  if (known && comparePositions(known.at, rule.at) <= 0) return
  const { scope, cap, at, reason } = rule
  scopes.set(key, { scope, rule: { kind: 'cap', scope, cap, at, reason } })
}

/** The cap that a grant adds to, or why there is none. */
type Base = Credits | { readonly missing: string }

function addGrant(scopes: Map<ScopeKey, ScopeFacts>, key: ScopeKey, statuses: readonly GrantStatus[], base: () => Base): void {
  const [running, second] = statuses.filter((one) => isInForce(one.state))
  if (!running) return
  const facts = { ...scopes.get(key), scope: running.grant.scope }
  const verdict = second ? overlap(key, running.grant, second.grant) : grantCap(key, running, base)
  scopes.set(key, 'code' in verdict ? { ...facts, rejected: verdict } : { ...facts, grant: verdict })
}

function grantCap(key: ScopeKey, status: GrantStatus, base: () => Base): Candidate | RejectedScope {
  const { amount, scope, at } = status.grant
  if (amount.kind === 'cap') return grantCandidate(status, amount.credits)
  const to = base()
  if (typeof to === 'object') {
    const message = `${key}: a grant adds ${amount.credits} credits, but ${to.missing}; declare that cap, or write cap: in place of add:`
    return { scope, at, code: 'ADD_WITHOUT_BASE', message }
  }
  const sum = to + amount.credits
  if (sum <= MAX_CAP) return grantCandidate(status, credits(sum))
  const message = `${key}: a grant adds ${amount.credits} credits to ${to}, which makes ${sum}, above the largest cap ${MAX_CAP}; add less`
  return { scope, at, code: 'CAP_TOO_LARGE', message }
}

/** Parsing refuses grants that overlap; with `cycleEnd` the overlap shows only once the cycle is known. */
function overlap(key: ScopeKey, first: Grant, second: Grant): RejectedScope {
  const places = `${formatPosition(first.at)} and ${formatPosition(second.at)}`
  const message = `${key}: two grants are in force at once, ${places}; let one end before the other begins`
  return { scope: first.scope, at: second.at, code: 'GRANT_OVERLAP', message }
}

/** What a grant would give under the rules of now, in force or not; a `RejectedScope` when it cannot apply. */
export function previewGrant(found: Declarations, status: GrantStatus): Candidate | RejectedScope {
  const { scope } = status.grant
  return grantCap(scopeKey(scope), status, () => (scope.kind === 'user' ? personBase(found, scope) : sharedBase(found.scopes, scope)))
}

/** A grant as a candidate with the given cap. */
export function grantCandidate(status: GrantStatus, cap: Cap): Candidate {
  const { scope, at, reason, ticket, amount } = status.grant
  return {
    kind: 'grant',
    scope,
    cap,
    at,
    reason,
    grant: grantId(status.grant),
    ticket,
    fromAt: status.grant.fromAt,
    untilAt: status.untilAt,
    add: amount.kind === 'add' ? amount.credits : undefined,
  }
}

/** A group's rule, else the team's; the team's own rule for the team. */
function sharedBase(scopes: ReadonlyMap<ScopeKey, ScopeFacts>, scope: Scope): Base {
  return ruleBase(scopes.get(scopeKey(scope))?.rule ?? scopes.get(TEAM_KEY)?.rule)
}

function ruleBase(rule: Candidate | undefined): Base {
  if (!rule) return { missing: 'no cap is declared for it to add to' }
  return rule.cap === 'none' ? { missing: `the cap to add to is none (${formatPosition(rule.at)})` } : rule.cap
}

/**
 * The person's own cap, else that of the rule that matches, else the groups' caps with the conflict rule, else the team's. A person's own
 * `none` cannot be added to, which is an error; below a group's `none` the team's cap counts.
 */
function personBase(found: Declarations, scope: UserScope): Base {
  const own = found.scopes.get(scopeKey(scope))?.rule
  if (own) return ruleBase(own)
  const byRule = found.rules.verdictOf(scope.email)
  if (byRule.kind === 'unknown') {
    return { missing: `whether rule ${byRule.rule.name} matches is not known, so neither is the cap to add to` }
  }
  if (byRule.kind === 'match') return ruleBase(ruleCandidate(byRule.rule, scope, ''))
  const [unread] = found.unreadGroups
  if (unread) return { missing: `the members of ${unread} are not known, so neither is the cap to add to` }
  const rules = (found.groupsOf.get(scope.email) ?? NO_FACTS).flatMap((group) => group.rule ?? [])
  const verdict = judgeGroups(rules, scope, found.onGroupConflict)
  if (verdict.kind === 'clash') return { missing: `the caps of ${list(rules)} differ and spec.onGroupConflict is not set` }
  if (verdict.kind === 'chosen') return ruleBase(verdict.cap)
  const [group] = rules
  return ruleBase(group && group.cap !== 'none' ? group : (found.scopes.get(TEAM_KEY)?.rule ?? group))
}

const NO_FACTS: readonly ScopeFacts[] = []

/**
 * `groupsOf`: declared groups of each person, in the order of their ids. `unreadGroups`: declared groups that the service knows, but whose members
 * are not known: without them no person's chain is certain.
 */
function membership(inputs: DesiredInputs, scopes: ReadonlyMap<ScopeKey, ScopeFacts>) {
  const unknown = new Set(inputs.unknownGroups)
  const unread = new Set<ScopeKey>()
  for (const [key, { scope }] of scopes) if (scope.kind === 'group' && !unknown.has(scope.id)) unread.add(key)
  const groupsOf = new Map<string, readonly ScopeFacts[]>()
  for (const group of inputs.groups.toSorted((a, b) => compareText(a.id, b.id))) {
    const key = scopeKey({ kind: 'group', id: group.id })
    const facts = scopes.get(key)
    if (!facts || unknown.has(group.id)) continue
    unread.delete(key)
    if (facts.rule ?? facts.grant) addMembers(groupsOf, group.emails, facts)
  }
  return { groupsOf, unreadGroups: [...unread].toSorted() }
}

function addMembers(groupsOf: Map<string, readonly ScopeFacts[]>, emails: readonly string[], group: ScopeFacts): void {
  // Most people are in one group: they share this list, which saves an array for each person.
  const alone = [group]
  for (const email of emails) {
    const groups = groupsOf.get(email)
    if (!groups) groupsOf.set(email, alone)
    else if (groups.at(-1) !== group) groupsOf.set(email, [...groups, group])
  }
}

/** The chain of one person; `email` is normalised. */
export function personChain(found: Declarations, email: string) {
  const scope: UserScope = { kind: 'user', email }
  const facts = found.scopes.get(scopeKey(scope))
  const groups = found.groupsOf.get(email) ?? NO_FACTS
  const candidates: Candidate[] = []
  add(candidates, facts?.grant)
  add(candidates, facts?.rule)
  const own = candidates[0]
  const verdict = verdictBeside(own, found.rules.verdictOf(email))
  const matched = verdict.kind === 'match' ? ruleCandidate(verdict.rule, scope, found.rules.whyOf(verdict.rule, email)) : undefined
  add(candidates, matched)
  const place = found.pools.placeOf(email)
  add(candidates, place?.candidate)
  // What is declared for the person by name goes before rules even where it is `none`: then the cap of their groups or team applies.
  const mayWin = (one: Candidate): boolean => one !== matched || !own
  const counts = (one: Candidate): boolean => isNumeric(one) && mayWin(one)
  // When the person has an own cap, the pool deals them at most that.
  const decided = place?.candidate && candidates[0]?.cap !== place.candidate.cap ? place.candidate : candidates.find(counts)
  const among = groups.length < 2 ? AGREED : judgeGroups(groups.flatMap(groupCap), scope, found.onGroupConflict)
  if (among.kind === 'chosen') candidates.push(among.cap)
  for (const group of groups) add(candidates, group.grant)
  for (const group of groups) add(candidates, group.rule)
  const team = found.scopes.get(TEAM_KEY)
  add(candidates, team?.grant)
  add(candidates, team?.rule)
  const inherited = among.kind === 'clash' ? undefined : (candidates.find(counts) ?? candidates.findLast(mayWin))
  return {
    /** Declared for this person by name: the grant in force, else the cap. */
    own,
    /** What `spec.rules` say of the person; never `unknown` where a cap is declared by name. */
    verdict,
    /** The rule that matches. */
    matched,
    /** Their pool, with the cap that it deals. */
    place,
    groups: among,
    /** Everything that applies to the person, in order of precedence. */
    candidates,
    /** The first that is not `none`, else the last; absent when nothing is declared, or when groups clash and nothing before them decides. */
    winner: decided ?? inherited,
  }
}

/** Everything that applies to the team or a group, in order of precedence. */
export function sharedCandidates({ scopes }: Declarations, scope: Scope): readonly Candidate[] {
  const keys = new Set([scopeKey(scope), TEAM_KEY])
  return [...keys].flatMap((key) => [scopes.get(key)?.grant, scopes.get(key)?.rule]).filter((one) => one !== undefined)
}

/** What is declared by name goes before rules, so it does not matter whether one matches where that is not known. */
const verdictBeside = (own: Candidate | undefined, verdict: RuleVerdict): RuleVerdict =>
  own && verdict.kind === 'unknown' ? { kind: 'none' } : verdict

const groupCap = (group: ScopeFacts): Candidate | [] => group.grant ?? group.rule ?? []

/** What these groups say together for a person. A group that policy no longer declares has no say. */
export const verdictOfGroups = ({ scopes, onGroupConflict }: Declarations, scope: UserScope, ids: readonly string[]): GroupVerdict =>
  judgeGroups(
    ids.flatMap((id) => groupCap(scopes.get(scopeKey(groupScope(id))) ?? { scope })),
    scope,
    onGroupConflict,
  )

function add(candidates: Candidate[], one: Candidate | undefined): void {
  if (one) candidates.push(one)
}

const isNumeric = (candidate: Candidate): boolean => candidate.cap !== 'none'

/**
 * Judges the caps of a person's groups, one candidate a group. `none` differs from a number. Among caps that differ, `min` and `max` choose
 * from the numbers, since a group without a cap leaves it to the others.
 */
function judgeGroups(caps: readonly Candidate[], scope: UserScope, rule: PolicySet['onGroupConflict']): GroupVerdict {
  const [first] = caps
  if (!first || caps.every((one) => one.cap === first.cap)) return AGREED
  if (!rule) return { kind: 'clash', among: caps }
  const numbers = caps.flatMap(({ cap, at, grant }) => (cap === 'none' ? [] : { cap, at, grant }))
  const { cap, at, ...chosen } = numbers.reduce((best, one) => ((rule === 'min' ? one.cap < best.cap : one.cap > best.cap) ? one : best))
  // When a grant replaced another group's cap, this choice depends on that grant too, and its end undoes the choice.
  const grant = chosen.grant ?? numbers.find((one) => one.grant !== undefined)?.grant
  const reason = `onGroupConflict: ${rule} of ${list(caps)}`
  return { kind: 'chosen', cap: { kind: 'conflict', scope, cap, at, reason, grant } }
}

const AGREED: GroupVerdict = { kind: 'agreed' }

/** `group:a (1500) and group:b (900)`, for messages. */
const list = (caps: readonly Candidate[]): string => caps.map((one) => `${scopeKey(one.scope)} (${one.cap})`).join(' and ')

/** The same with the places of the declarations. */
export const listWithPlaces = (caps: readonly Candidate[]): string =>
  caps.map((one) => `${scopeKey(one.scope)} (cap ${one.cap}, ${formatPosition(one.at)})`).join(' and ')
