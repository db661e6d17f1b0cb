// Which rule counts for a person: the first of `spec.rules` whose condition holds. Where it is not known whether an earlier one holds, later
// ones are not tried, and what is in force stays. Caps declared for the person by name go before rules, and are decided elsewhere.

import { isApproved } from '../interpret/effective.ts'
import type { PeopleRule, PolicySet, When } from '../model/policy.ts'
import type { UserScope } from '../model/scope.ts'
import type { Candidate } from './candidate.ts'
import { answersOf, conditionKey, poolCondition, type RowFacts, rowFacts, truthOf } from './conditions.ts'
import { type ConditionInputs, type JudgedMatches, judgeMatches, type MatchMemory, NO_MATCH, READINGS_TO_TURN } from './matches.ts'
import { type NearestWord, type RuleNote, type RuleStatus, ruleNotes } from './rule-notes.ts'

/** What the rules say of a person; `none`: no rule matches. */
export type RuleVerdict =
  | { readonly kind: 'match'; readonly rule: PeopleRule }
  /** `rule` is the first whose answer is unknown; `settled` the rule that matched before. */
  | { readonly kind: 'unknown'; readonly rule: PeopleRule; readonly settled?: PeopleRule }
  | { readonly kind: 'none' }

/** All conditions of rules and pools, judged. */
export interface JudgedRules {
  verdictOf(email: string): RuleVerdict
  /** Why a rule matches a person or a pool asks for them, or why that is not known: the values that decide. */
  whyOf(rule: Pick<PeopleRule, 'when'>, email: string): string
  /** Who matches the condition of a pool. */
  membersOf(when: When): JudgedMatches | undefined
  /** People whom a rule matches. */
  readonly matched: readonly string[]
  readonly statuses: readonly RuleStatus[]
  /** Warnings about rules that may not do what was meant. */
  readonly notes: readonly RuleNote[]
  /** The next value of the ledger fact `conditions`. */
  readonly memory: MatchMemory
}

const NONE: RuleVerdict = { kind: 'none' }
const NO_RULES: JudgedRules = {
  verdictOf: () => NONE,
  whyOf: () => '',
  membersOf: () => undefined,
  matched: [],
  statuses: [],
  notes: [],
  memory: {},
}

/** The name of the rules' list among the settled matches; those of pools are keys of conditions. */
const RULES = 'rules'

/** Judges the rules of a policy for everybody on the roster. */
export function judgeRules({ peopleRules, pools }: PolicySet, inputs: ConditionInputs & { readonly nearest: NearestWord }): JudgedRules {
  const ofPools = pools.flatMap((pool) => poolCondition(pool) ?? [])
  const ofRules = peopleRules.map(({ when }) => when)
  if (ofRules.length + ofPools.length === 0) return NO_RULES
  const facts = rowFacts(inputs, new Set([...ofRules, ...ofPools].flatMap(({ groups = [] }) => groups)))
  const judge = (name: string, whens: readonly When[]): JudgedMatches => judgeMatches(whens, inputs.memory[name], facts, inputs)
  const lists = new Map(ofPools.map((when) => [conditionKey(when), judge(conditionKey(when), [when])]))
  const rules = { list: peopleRules, byKey: rulesByKey(peopleRules), matches: judge(RULES, ofRules) }
  const verdictOf = (email: string): RuleVerdict => verdict(rules, email)
  const { matched, statuses } = count(rules, facts, inputs, verdictOf)
  return {
    verdictOf,
    whyOf: (rule, email) => whyOf(rule, email, facts, lists.get(conditionKey(rule.when)) ?? rules.matches, rules),
    membersOf: (when) => lists.get(conditionKey(when)),
    matched,
    statuses,
    notes: ruleNotes({ rules: peopleRules, statuses, facts, ...inputs }),
    memory: Object.fromEntries(
      [...lists, ...(ofRules.length > 0 ? [[RULES, rules.matches] as const] : [])].map(([name, { memory }]) => [name, memory]),
    ),
  }
}

interface Rules {
  readonly list: readonly PeopleRule[]
  readonly byKey: ReadonlyMap<string, PeopleRule>
  readonly matches: JudgedMatches
}

/** Of two rules with one condition the first counts. */
const rulesByKey = (rules: readonly PeopleRule[]): ReadonlyMap<string, PeopleRule> =>
  new Map(rules.toReversed().map((rule) => [conditionKey(rule.when), rule]))

function verdict({ byKey, matches, list: [first] }: Rules, email: string): RuleVerdict {
  if (!first) return NONE
  const match = matches.of(email)
  if (match.kind === 'known') {
    const rule = byKey.get(match.key)
    return rule ? { kind: 'match', rule } : NONE
  }
  const settled = match.settled === undefined ? undefined : byKey.get(match.settled)
  return { kind: 'unknown', rule: byKey.get(match.asks) ?? first, ...(settled && { settled }) }
}

/** Counts people by rule, in one pass over the roster. */
function count({ list, byKey, matches }: Rules, facts: RowFacts, { roster }: ConditionInputs, verdictOf: (email: string) => RuleVerdict) {
  const [people, unknown, hidden, turning] = [counter(), counter(), counter(), counter()]
  const matched: string[] = []
  for (const person of roster?.people ?? []) {
    const found = verdictOf(person.email)
    if (found.kind === 'match') matched.push(person.email)
    if (!roster || !isApproved(person, roster)) continue
    if (found.kind !== 'none') (found.kind === 'match' ? people : unknown).add(found.rule)
    const next = byKey.get(matches.turningTo(person.email) ?? NO_MATCH)
    if (next) turning.add(next)
    for (const rule of list) if (rule !== next && truthOf(rule.when, person, facts) === true) hidden.add(rule)
  }
  const statuses = list.map((rule): RuleStatus => {
    const holds = turning.of(rule) > 0 ? 0 : hidden.of(rule)
    return { name: rule.name, at: rule.at, people: people.of(rule), holds, unknown: unknown.of(rule) }
  })
  return { matched, statuses }
}

function counter() {
  const counts = new Map<PeopleRule, number>()
  return {
    add: (rule: PeopleRule) => void counts.set(rule, (counts.get(rule) ?? 0) + 1),
    of: (rule: PeopleRule): number => counts.get(rule) ?? 0,
  }
}

function whyOf(rule: Pick<PeopleRule, 'when'>, email: string, facts: RowFacts, matches: JudgedMatches, { byKey }: Rules): string {
  const person = facts.byEmail.get(email)
  if (!person) return 'the person is not on the roster'
  const answers = answersOf(rule.when, person, facts)
  const unknown = answers.filter(({ truth }) => truth === 'unknown')
  if (unknown.length > 0) return unknown.map(({ key, text }) => `${key}: ${text}`).join(', ')
  const values = answers.map(({ text }) => text).join(', ')
  const next = matches.turningTo(email)
  const settled = matches.settled(email)
  if (next === undefined || (settled !== undefined && settled !== conditionKey(rule.when))) return values
  const waits = `counts after ${READINGS_TO_TURN} agreeing readings, 1 so far`
  if (settled === undefined) return `${values}; ${waits}`
  const other = byKey.get(next)
  const isStill = answers.every(({ truth }) => truth === true)
  return isStill && other ? `${values}; now rule ${other.name} goes before it; ${waits}` : `no longer so (${values}); ${waits}`
}

/** `rule contractors (e-mail matches *@contractor.example): they have their own budget`. */
export function ruleCandidate(rule: PeopleRule, scope: UserScope, why: string): Candidate {
  const reason = `rule ${rule.name} (${why})${rule.reason === undefined ? '' : `: ${rule.reason}`}`
  return {
    kind: 'rule',
    scope,
    cap: rule.cap,
    at: rule.at,
    reason,
    rule: rule.name,
    ...(rule.reason !== undefined && { ownReason: rule.reason }),
  }
}
