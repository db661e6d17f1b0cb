// Which rule counts for a person: the first of `spec.rules` whose condition holds. Where it is not known whether an earlier one holds, later
// ones are not tried, and what is in force stays. Caps declared for the person by name go before rules, and are decided elsewhere.

import { isApproved } from '../interpret/effective.ts'
import type { PeopleRule, PolicySet, When } from '../model/policy.ts'
import type { UserScope } from '../model/scope.ts'
import type { Candidate } from './candidate.ts'
import {
  answersOf,
  type ConditionInputs,
  type ConditionMemory,
  conditionKey,
  type JudgedCondition,
  judgeCondition,
  poolCondition,
  READINGS_TO_TURN,
  type RowFacts,
  rowFacts,
} from './conditions.ts'
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
  /** One of the conditions of rules and pools. */
  conditionOf(when: When): JudgedCondition | undefined
  /** People whom a rule matches. */
  readonly matched: readonly string[]
  readonly statuses: readonly RuleStatus[]
  /** Warnings about rules that may not do what was meant. */
  readonly notes: readonly RuleNote[]
  /** The next value of the ledger fact `conditions`. */
  readonly memory: ConditionMemory
}

const NONE: RuleVerdict = { kind: 'none' }
const NO_RULES: JudgedRules = {
  verdictOf: () => NONE,
  whyOf: () => '',
  conditionOf: () => undefined,
  matched: [],
  statuses: [],
  notes: [],
  memory: {},
}

/** Judges the rules of a policy for everybody on the roster. */
export function judgeRules({ peopleRules, pools }: PolicySet, inputs: ConditionInputs & { readonly nearest: NearestWord }): JudgedRules {
  const whens = [...peopleRules.map(({ when }) => when), ...pools.flatMap((pool) => poolCondition(pool) ?? [])]
  if (whens.length === 0) return NO_RULES
  const facts = rowFacts(inputs, new Set(whens.flatMap(({ groups = [] }) => groups)))
  const byKey = new Map(whens.map((when) => [conditionKey(when), when]))
  const conditions = new Map([...byKey].map(([key, when]) => [key, judgeCondition(when, facts, inputs)]))
  const conditionOf = (when: When): JudgedCondition | undefined => conditions.get(conditionKey(when))
  const rules = peopleRules.flatMap((rule) => {
    const condition = conditionOf(rule.when)
    return condition ? [{ rule, condition }] : []
  })
  const verdictOf = (email: string): RuleVerdict => verdict(rules, email)
  const { matched, statuses } = count(rules, inputs, verdictOf)
  return {
    verdictOf,
    whyOf: (rule, email) => whyOf(rule, email, facts, conditionOf(rule.when)),
    conditionOf,
    matched,
    statuses,
    notes: ruleNotes({ rules: peopleRules, statuses, facts, ...inputs }),
    memory: Object.fromEntries([...conditions].map(([key, { settled }]) => [key, settled])),
  }
}

interface JudgedRule {
  readonly rule: PeopleRule
  readonly condition: JudgedCondition
}

function verdict(rules: readonly JudgedRule[], email: string): RuleVerdict {
  for (const { rule, condition } of rules) {
    const truth = condition.truthOf(email)
    if (truth === true) return { kind: 'match', rule }
    if (truth === 'unknown') {
      const settled = condition.isSettled(email) ? rules.find((one) => one.condition.holds(email))?.rule : undefined
      return { kind: 'unknown', rule, ...(settled && { settled }) }
    }
  }
  return NONE
}

/** Counts people by rule, in one pass over the roster. */
function count(rules: readonly JudgedRule[], { roster }: ConditionInputs, verdictOf: (email: string) => RuleVerdict) {
  const [people, unknown, holding] = [new Map<PeopleRule, number>(), new Map<PeopleRule, number>(), new Map<PeopleRule, number>()]
  const more = (counts: Map<PeopleRule, number>, rule: PeopleRule) => counts.set(rule, (counts.get(rule) ?? 0) + 1)
  const matched: string[] = []
  for (const person of roster?.people ?? []) {
    const counts = roster !== undefined && isApproved(person, roster)
    for (const { rule, condition } of rules) if (counts && condition.truthOf(person.email) === true) more(holding, rule)
    const found = verdictOf(person.email)
    if (found.kind === 'none') continue
    if (found.kind === 'match') matched.push(person.email)
    if (counts) more(found.kind === 'match' ? people : unknown, found.rule)
  }
  const statuses = rules.map(
    ({ rule }): RuleStatus => ({
      name: rule.name,
      at: rule.at,
      people: people.get(rule) ?? 0,
      holds: holding.get(rule) ?? 0,
      unknown: unknown.get(rule) ?? 0,
    }),
  )
  return { matched, statuses }
}

function whyOf({ when }: Pick<PeopleRule, 'when'>, email: string, facts: RowFacts, condition: JudgedCondition | undefined): string {
  const person = facts.byEmail.get(email)
  if (!person) return 'the person is not on the roster'
  const answers = answersOf(when, person, facts)
  const unknown = answers.filter(({ truth }) => truth === 'unknown')
  if (unknown.length > 0) return unknown.map(({ key, text }) => `${key}: ${text}`).join(', ')
  const values = answers.map(({ text }) => text).join(', ')
  if (condition?.isTurning(email) !== true) return values
  return `no longer so (${values}); counts after ${READINGS_TO_TURN} agreeing readings, 1 so far`
}

/** `rule contractors (e-mail matches *@contractor.example): they have their own budget`. */
export function ruleCandidate(rule: PeopleRule, scope: UserScope, why: string): Candidate {
  const reason = `rule ${rule.name} (${why})${rule.reason === undefined ? '' : `: ${rule.reason}`}`
  return { kind: 'people', scope, cap: rule.cap, at: rule.at, reason, rule: rule.name }
}
