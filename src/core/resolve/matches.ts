// Which condition of an ordered list a person matches: the first that holds, none, or unknown while an earlier one has no answer. A match is
// a fact about the person. It changes after two good readings of the roster that agree on the new one, so that one odd reading moves nobody,
// be it from a rule, from none or from unknown; an edit of the list counts at once. Rules are one list; each pool is a list of one condition. It
// decides nothing about caps.

import { approvedIn } from '../interpret/effective.ts'
import type { OwnedCap, Person } from '../model/observed.ts'
import type { PeopleRule, PolicySet, When } from '../model/policy.ts'
import { type ScopeKey, scopeKey, type UserScope, userScope } from '../model/scope.ts'
import { list, type Of, record, shape, text } from '../model/shape.ts'
import type { Candidate } from './candidate.ts'
import {
  answersOf,
  conditionKey,
  type NearestWord,
  poolCondition,
  type RowFacts,
  type RowInputs,
  type RuleStatus,
  rowFacts,
  ruleNotes,
  truthOf,
} from './conditions.ts'

/** Good readings in a row that must agree before a match changes. */
const READINGS_TO_TURN = 2

/** Said of a match that one reading shows. */
export const SEEN_ONCE = `counts after ${READINGS_TO_TURN} agreeing readings, 1 so far`

/** Stands for a condition where none matches. */
const NO_MATCH = 'none'

/** Stands for a condition where a later one has no answer, while readings say that the settled one does not hold. */
const UNKNOWN = 'unknown'

/** People are e-mails, sorted; conditions are keys of `conditionKey`. Who is in neither `matched` nor `open` matches none. */
const SETTLED_MATCHES = shape({
  /** The list that it was settled by, in order. */
  conditions: list(text),
  matched: record(list(text)),
  /** By the condition, `none` or `unknown`, that the last good reading showed for the first time in place of the settled one. */
  turning: record(list(text)),
  /** For these people no reading has counted yet. */
  open: list(text),
})
type SettledMatches = Of<typeof SETTLED_MATCHES>

/** The settled matches, by the name of the list: `rules`, or the key of a pool's condition. The first reading settles a new list. */
export const MATCH_MEMORY = record(SETTLED_MATCHES)

/** A reading of the roster that is believed. Agreement is counted by it, and only for what it read anew. */
export interface NewReading {
  /** Ids of the groups that were listed with it. It says nothing of other groups, whatever an earlier reading said. */
  readonly groups: readonly string[]
}

/** What conditions are judged by, and against. */
export interface ConditionInputs extends RowInputs {
  /** Settled answers; absent: none, so the present roster settles them. */
  readonly conditions?: Of<typeof MATCH_MEMORY>
  /** The reading that conditions have not counted yet; undefined when all were counted. */
  readonly newReading: NewReading | undefined
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  /** For "did you mean"; absent: no suggestions. */
  readonly nearest?: NearestWord
}

/** What a person matches now: the key of a condition, `none`, or unknown. */
type Match =
  | { readonly kind: 'known'; readonly key: string }
  /** `asks`: the first condition without an answer, or what is seen once. `settled`: what was matched before; absent where nothing was settled. */
  | { readonly kind: 'unknown'; readonly asks?: string; readonly settled?: string }

type JudgedMatches = ReturnType<typeof judgeMatches>

/** Judges an ordered list of conditions for everybody on the roster, against what is settled. */
function judgeMatches(whens: readonly When[], before: SettledMatches | undefined, facts: RowFacts, inputs: ConditionInputs) {
  const list = whens.map((when): Listed => ({ when, key: conditionKey(when) }))
  const past = pastOf(before)
  const tell = tellerOf(list, before, facts, inputs.newReading)
  const known = new Map<string, Settled>()
  const asks = new Map<string, string | undefined>()
  for (const person of inputs.roster?.people ?? []) {
    const { email } = person
    const first = firstOf(list, person, facts)
    const now = before ? settle(past(email), first, tell, person) : { settled: first.match }
    known.set(email, now)
    if (first.match === undefined || now.settled === undefined) asks.set(email, first.asks ?? first.match)
  }
  const memory = inputs.roster || !before ? memoryOf(list, known, away(before, facts, inputs)) : before
  /** What counted last, even while the answer is unknown; undefined where nothing was settled. */
  const settled = (email: string): string | undefined => (known.get(email) ?? past(email)).settled
  return {
    of(email: string): Match {
      const key = settled(email)
      if (key !== undefined && known.has(email) && !asks.has(email)) return { kind: 'known', key }
      return { kind: 'unknown', asks: asks.get(email), settled: key }
    },
    settled,
    /** The condition, or `none`, that one good reading has shown; undefined when the readings agree with what is settled. */
    turningTo: (email: string): string | undefined => known.get(email)?.turning,
    memory,
  }
}

interface Listed {
  readonly when: When
  readonly key: string
}

/** `settled` is absent while nothing that was read has counted yet. */
interface Settled {
  readonly settled?: string | undefined
  readonly turning?: string | undefined
}

interface First {
  /** The first condition that holds, or `none`; undefined when an earlier one has no answer. */
  readonly match?: string
  readonly asks?: string
}

function firstOf(list: readonly Listed[], person: Person, facts: RowFacts): First {
  for (const { when, key } of list) {
    const truth = truthOf(when, person, facts)
    if (truth === 'unknown') return { asks: key }
    if (truth) return { match: key }
  }
  return { match: NO_MATCH }
}

const keysOf = (list: readonly Listed[]): readonly string[] => list.map(({ key }) => key)

type Teller = ReturnType<typeof tellerOf>

/** Answers questions about one person's row. */
function tellerOf(list: readonly Listed[], before: SettledMatches | undefined, facts: RowFacts, reading: NewReading | undefined) {
  const told = { ...facts, membersOf: new Map([...facts.membersOf].filter(([id]) => reading?.groups.includes(id))) }
  const byKey: ReadonlyMap<string | undefined, Listed> = new Map(list.map((one) => [one.key, one]))
  const kept = before?.conditions.flatMap((key) => byKey.get(key) ?? []) ?? []
  return {
    /**
     * Whether a new reading by itself answers. What it did not read anew is unknown in it: a value of an earlier reading must not be counted as
     * a second one that agrees.
     */
    isNew: (person: Person): boolean => reading !== undefined && firstOf(list, person, told).match !== undefined,
    /** Whether a new reading by itself says that this condition does not hold. */
    isFalse(person: Person, key: string | undefined): boolean {
      const when = byKey.get(key)?.when
      return reading !== undefined && when !== undefined && truthOf(when, person, told) === false
    },
    isEdited: keysOf(kept).join() !== keysOf(list).join(),
    /** Whether the conditions that are in the old list and in the new one show something else than what is settled by them. */
    hasMoved(person: Person, settled: string | undefined): boolean {
      const { match } = firstOf(kept, person, facts)
      return match !== undefined && match !== settled
    },
    isListed: (key: string | undefined): boolean => key === NO_MATCH || byKey.has(key),
  }
}

/** One person's next settled match. */
function settle(past: Settled, { match }: First, tell: Teller, person: Person): Settled {
  const stays = tell.isListed(past.settled)
  // What settled it may have been removed while the person was off the roster.
  if (tell.isEdited || (past.settled !== undefined && !stays)) {
    // Readings that move the person as well must still agree twice: one odd reading counts no sooner because a rule was edited.
    if (stays && match !== past.settled && tell.hasMoved(person, past.settled)) return { settled: past.settled, turning: match }
    return { settled: match ?? (stays ? past.settled : undefined) }
  }
  if (match === undefined || !tell.isNew(person)) return disproved(past, tell, person)
  if (match === past.settled || match === past.turning) return { settled: match }
  // Two readings in a row say that what is settled is not so, and do not agree on what is.
  return { settled: past.turning === undefined ? past.settled : undefined, turning: match }
}

/**
 * A reading in which a condition has no answer, or that of an earlier reading, can still say that others do not hold: then what it disproves was
 * not seen twice in a row, and what two readings in a row disprove is settled no more.
 */
function disproved({ settled, turning }: Settled, tell: Teller, person: Person): Settled {
  if (tell.isFalse(person, settled)) return turning === undefined ? { settled, turning: UNKNOWN } : {}
  return { settled, turning: tell.isFalse(person, turning) ? undefined : turning }
}

/** What is settled for a person. Who is nowhere in the memory is new and matches none. */
function pastOf(before: SettledMatches | undefined): (email: string) => Settled {
  const [settled, turning] = [byEmail(before?.matched), byEmail(before?.turning)]
  const open = new Set(before?.open)
  return (email) =>
    before === undefined ? {} : { settled: open.has(email) ? undefined : (settled.get(email) ?? NO_MATCH), turning: turning.get(email) }
}

const byEmail = (lists: Readonly<Record<string, readonly string[]>> = {}): ReadonlyMap<string, string> =>
  new Map(Object.entries(lists).flatMap(([key, emails]) => emails.map((email) => [email, key] as const)))

/** People who are off the roster for a while keep their match as long as the ledger has a cap of theirs. */
function away(before: SettledMatches | undefined, { byEmail: present }: RowFacts, { owned }: ConditionInputs): ReadonlyMap<string, string> {
  return new Map([...byEmail(before?.matched)].filter(([email]) => !present.has(email) && owned.has(scopeKey(userScope(email)))))
}

function memoryOf(list: readonly Listed[], known: ReadonlyMap<string, Settled>, gone: ReadonlyMap<string, string>): SettledMatches {
  const [matched, turning, open] = [new Map<string, string[]>(), new Map<string, string[]>(), [] as string[]]
  const put = (lists: Map<string, string[]>, key: string, email: string) => {
    const emails = lists.get(key)
    if (emails) emails.push(email)
    else lists.set(key, [email])
  }
  for (const [email, key] of gone) put(matched, key, email)
  for (const [email, one] of known) {
    if (one.settled === undefined) open.push(email)
    else if (one.settled !== NO_MATCH) put(matched, one.settled, email)
    if (one.turning !== undefined) put(turning, one.turning, email)
  }
  const sorted = (lists: ReadonlyMap<string, string[]>) => Object.fromEntries([...lists].map(([key, emails]) => [key, emails.toSorted()]))
  return { conditions: keysOf(list), matched: sorted(matched), turning: sorted(turning), open: open.toSorted() }
}

/** What the rules say of a person; `none`: no rule matches. */
export type RuleVerdict =
  | { readonly kind: 'match'; readonly rule: PeopleRule }
  /** `rule` is the first whose answer is unknown; `settled` the rule that matched before. */
  | { readonly kind: 'unknown'; readonly rule: PeopleRule; readonly settled?: PeopleRule }
  | { readonly kind: 'none' }

const NONE: RuleVerdict = { kind: 'none' }

/** The name of the rules' list among the settled matches; those of pools are keys of conditions. */
const RULES = 'rules'

type RulesByKey = ReadonlyMap<string | undefined, PeopleRule>

/** All conditions of rules and pools, judged. */
export type JudgedRules = ReturnType<typeof judgeRules>

/** Judges the rules of a policy for everybody on the roster. `isDeclared`: whether a cap is declared at a scope by name. */
export function judgeRules({ peopleRules, pools }: PolicySet, given: ConditionInputs, isDeclared: (key: ScopeKey) => boolean) {
  const ofPools = pools.flatMap((pool) => poolCondition(pool) ?? [])
  const ofRules = peopleRules.map(({ when }) => when)
  // A shortcut: nobody of a big roster is looked at for nothing.
  const inputs = ofRules.length + ofPools.length > 0 ? given : { ...given, roster: undefined }
  const facts = rowFacts(inputs, new Set([...ofRules, ...ofPools].flatMap(({ groups = [] }) => groups)))
  const judge = (name: string, whens: readonly When[]) => judgeMatches(whens, inputs.conditions?.[name], facts, inputs)
  const lists = new Map(ofPools.map((when) => [conditionKey(when), judge(conditionKey(when), [when])]))
  const matches = judge(RULES, ofRules)
  // Of two rules with one condition the first counts.
  const byKey: RulesByKey = new Map(peopleRules.toReversed().map((rule) => [conditionKey(rule.when), rule]))
  const verdictOf = (email: string): RuleVerdict => {
    const [first] = peopleRules
    if (!first) return NONE
    const match = matches.of(email)
    if (match.kind === 'unknown') {
      return { kind: 'unknown', rule: byKey.get(match.asks) ?? first, settled: byKey.get(match.settled) }
    }
    const rule = byKey.get(match.key)
    return rule ? { kind: 'match', rule } : NONE
  }
  const seenOnce = (email: string): PeopleRule | undefined => byKey.get(matches.turningTo(email))
  const approved = approvedIn(inputs.roster)
  const people = approved.map((person) => ({ person, verdict: verdictOf(person.email), next: seenOnce(person.email) }))
  const statuses = peopleRules.map((rule): RuleStatus => {
    const isHeldBack = people.some(({ next }) => next === rule)
    const counted = (test: (one: (typeof people)[number]) => boolean): number => people.filter(test).length
    return {
      rule,
      people: counted(({ verdict }) => verdict.kind === 'match' && verdict.rule === rule),
      holds: isHeldBack ? 0 : counted(({ person }) => truthOf(rule.when, person, facts) === true),
      // A person with a declared cap of their own waits for no answer.
      unknown: counted(
        ({ verdict, person }) => verdict.kind === 'unknown' && verdict.rule === rule && !isDeclared(scopeKey(userScope(person.email))),
      ),
    }
  })
  const kept = [...lists, ...(ofRules.length > 0 ? [[RULES, matches] as const] : [])]
  return {
    verdictOf,
    /** The rule that the last good reading shows in place of what counts; a second one must agree. */
    seenOnce,
    /** Why a rule matches a person or a pool asks for them, or why that is not known: the values that decide. */
    whyOf: ({ when }: Pick<PeopleRule, 'when'>, email: string): string =>
      whyOf(when, email, facts, lists.get(conditionKey(when)) ?? matches, byKey),
    /** Who matches the condition of a pool. */
    membersOf: (when: When): JudgedMatches | undefined => lists.get(conditionKey(when)),
    /** People whom a rule matches. */
    matched: inputs.roster?.people.flatMap(({ email }) => (verdictOf(email).kind === 'match' ? [email] : [])) ?? [],
    statuses,
    /** Warnings about rules that may not do what was meant. */
    notes: ruleNotes(statuses, { people: approved, facts, nearest: inputs.nearest ?? (() => undefined) }),
    /** The next value of the ledger fact `conditions`. */
    memory: Object.fromEntries(kept.map(([name, { memory }]) => [name, memory])),
  }
}

function whyOf(when: When, email: string, facts: RowFacts, matches: JudgedMatches, byKey: RulesByKey): string {
  const person = facts.byEmail.get(email)
  if (!person) return 'the person is not on the roster'
  const answers = answersOf(when, person, facts)
  const unknown = answers.filter(({ truth }) => truth === 'unknown')
  if (unknown.length > 0) return unknown.map(({ key, text }) => `${key}: ${text}`).join(', ')
  const values = answers.map(({ text }) => text).join(', ')
  const next = matches.turningTo(email)
  const settled = matches.settled(email)
  if (next === undefined || (settled !== undefined && settled !== conditionKey(when))) return values
  if (settled === undefined) return `${values}; ${SEEN_ONCE}`
  const other = byKey.get(next)
  const isStill = answers.every(({ truth }) => truth === true)
  return isStill && other ? `${values}; now rule ${other.name} goes before it; ${SEEN_ONCE}` : `no longer so (${values}); ${SEEN_ONCE}`
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
    ownReason: rule.reason,
  }
}
