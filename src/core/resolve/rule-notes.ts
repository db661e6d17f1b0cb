// Warnings about rules that may not do what was meant: nobody matches, everybody does, or the roster does not tell. Each names the nearest
// value there is. It changes nothing.

import { isApproved } from '../interpret/effective.ts'
import type { Person, Roster } from '../model/observed.ts'
import type { PeopleRule, When } from '../model/policy.ts'
import type { Position } from '../model/problem.ts'
import { answersOf, CONDITION_KEYS, daysOf, daysText, type RowFacts, truthOf } from './conditions.ts'
import { nobodyHas } from './directory.ts'

/** A rule and how many approved people it is the first to match, for metrics and warnings. */
export interface RuleStatus {
  readonly name: string
  readonly at: Position
  readonly people: number
  /** Approved people for whom its condition holds, even if an earlier rule matches them; 0 while it waits for a second reading for others. */
  readonly holds: number
  /** Approved people for whom the answer is not known. */
  readonly unknown: number
}

/** A warning about one rule, at its cap. */
export interface RuleNote {
  readonly code: 'RULE_NOBODY' | 'RULE_EVERYBODY' | 'RULE_UNKNOWN'
  readonly rule: string
  readonly message: string
  readonly at: Position
}

/** With fewer people, a rule that matches everybody is not suspicious. */
const FEW_PEOPLE = 5

/** How many domains are listed at most. */
const FEW_DOMAINS = 5

/** The known word nearest to one that was typed; undefined when none is near. */
export type NearestWord = (word: string, known: readonly string[]) => string | undefined

interface NoteInputs {
  readonly rules: readonly PeopleRule[]
  /** In the order of `rules`. */
  readonly statuses: readonly RuleStatus[]
  readonly facts: RowFacts
  readonly roster?: Roster
  readonly nearest: NearestWord
}

interface Judged extends NoteInputs {
  readonly people: readonly Person[]
}

/** Notes in the order of the rules; none while there is no roster. */
export function ruleNotes(inputs: NoteInputs): readonly RuleNote[] {
  const { roster, rules, statuses } = inputs
  const people = roster?.people.filter((person) => isApproved(person, roster)) ?? []
  if (people.length === 0) return []
  return rules.flatMap((rule, index) => {
    const status = statuses[index]
    const found = status && noteOf(rule, status, { ...inputs, people }, statuses.slice(0, index))
    return found ? [{ ...found, rule: rule.name, at: rule.at }] : []
  })
}

function noteOf(
  rule: PeopleRule,
  { people: matched, holds, unknown }: RuleStatus,
  judged: Judged,
  earlier: readonly RuleStatus[],
): Omit<RuleNote, 'rule' | 'at'> | undefined {
  const { name, when } = rule
  const { people, facts } = judged
  if (unknown > 0) {
    const first = people.find((person) => truthOf(when, person, facts) === 'unknown')
    const why = first ? answersOf(when, first, facts).find(({ truth }) => truth === 'unknown') : undefined
    const because = why ? ` (${why.key}: ${why.text})` : ''
    const whom = unknown === 1 ? '1 person, who keeps' : `${unknown} people, who keep`
    return { code: 'RULE_UNKNOWN', message: `rule ${name}: whether it matches is not known for ${whom} what is in force${because}` }
  }
  if (matched === 0) {
    const why = holds > 0 ? whyEarlier(earlier) : whyNobody(rule, judged)
    return { code: 'RULE_NOBODY', message: `rule ${name} matches nobody: ${why}` }
  }
  const isEverybody = Object.keys(when).length === 1 && when.email !== undefined && people.length >= FEW_PEOPLE && matched === people.length
  if (!isEverybody) return undefined
  return {
    code: 'RULE_EVERYBODY',
    message: `rule ${name} matches everybody on the roster: e-mail matches ${when.email} for all ${matched}`,
  }
}

function whyEarlier(earlier: readonly RuleStatus[]): string {
  const isOpen = earlier.some(({ unknown }) => unknown > 0)
  const isMatching = earlier.some(({ people }) => people > 0)
  if (!isMatching) return 'it is not known whether earlier rules match those that it would'
  return `earlier rules match everybody that it would${isOpen ? ', or it is not known whether they do' : ''}`
}

function whyNobody({ when }: PeopleRule, { people, facts, nearest }: Judged): string {
  if (people.some((person) => truthOf(when, person, facts) === true))
    return 'it holds since the last reading only, and counts after two readings that agree'
  for (const key of CONDITION_KEYS) {
    const only: When = { [key]: when[key] }
    if (when[key] === undefined || people.some((person) => truthOf(only, person, facts) !== false)) continue
    return NEAREST[key](when, people, facts, nearest)
  }
  return 'nobody meets all of its conditions at once'
}

type Nearest = (when: When, people: readonly Person[], facts: RowFacts, nearest: NearestWord) => string

/** Tells the nearest value where nobody meets one part of a condition. */
const NEAREST: { readonly [K in keyof When]-?: Nearest } = {
  email: ({ email = '' }, people, _facts, nearest) => `no e-mail matches ${email}${nearestAddress(email, people, nearest)}`,
  role({ role = '' }, people, _facts, nearest) {
    const roles = [...new Set(people.flatMap((person) => person.role ?? []))].sort()
    const near = nearest(role, roles)
    const hint = near === undefined ? `; the roles there are: ${roles.join(', ')}` : `; did you mean ${near}?`
    return `nobody has the role ${role}${hint}`
  },
  groups: ({ groups = [] }) => `nobody is in ${groups.length === 1 ? 'group' : 'one of the groups'} ${groups.join(', ')}`,
  inactiveDays: ({ inactiveDays }, people, facts) =>
    `nobody was inactive for ${inactiveDays} days or more; ${nearestOf('inactiveDays', people, facts, Math.max)}`,
  joinedWithinDays: ({ joinedWithinDays }, people, facts) =>
    `nobody joined within ${joinedWithinDays} days; ${nearestOf('joinedWithinDays', people, facts, Math.min)}`,
  activeDays({ activeDays }, people) {
    const days = people.flatMap((person) => person.activeDays?.[activeDays?.within ?? 0] ?? [])
    const least = days.length === 0 ? '' : `; the least is ${days.reduce((a, b) => Math.min(a, b))}`
    return `nobody was active on fewer than ${activeDays?.below} of the last ${activeDays?.within} days${least}`
  },
  attributes: ({ attributes = {} }, people, _facts, nearest) => nobodyHas(attributes, people, nearest),
}

/** The nearest domain, or all domains where nobody has the given one; else the person with the nearest name. */
function nearestAddress(pattern: string, people: readonly Person[], nearest: NearestWord): string {
  const [domain, name] = [domainOf(pattern), nameOf(pattern)]
  const domains = [...new Set(people.map(({ email }) => domainOf(email)))].sort()
  if (pattern.includes('@') && !isGlob(domain) && !domains.includes(domain)) {
    const near = nearest(domain, domains)
    if (near !== undefined) return `; did you mean ${name}@${near}?`
    const more = domains.length > FEW_DOMAINS ? ` and ${domains.length - FEW_DOMAINS} more` : ''
    return `; the domains there are: ${domains.slice(0, FEW_DOMAINS).join(', ')}${more}`
  }
  // The whole address, so that it is hashed wherever people are.
  const candidates = isGlob(domain) ? people : people.filter(({ email }) => domainOf(email) === domain)
  const names = candidates.map(({ email }) => nameOf(email))
  const near = isGlob(name) ? undefined : nearest(name, names)
  const person = near === undefined ? undefined : candidates[names.indexOf(near)]
  return person === undefined ? '' : `; the nearest is ${person.email}`
}

const isGlob = (text: string): boolean => /[*?]/.test(text)

const nameOf = (address: string): string => address.slice(0, Math.max(0, address.lastIndexOf('@')))

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

function nearestOf(
  key: 'inactiveDays' | 'joinedWithinDays',
  people: readonly Person[],
  facts: RowFacts,
  pick: (a: number, b: number) => number,
) {
  const days = people.flatMap((person) => daysOf[key](person, facts) ?? [])
  return days.length === 0 ? 'nobody has a time' : `the nearest is ${daysText[key](days.reduce((a, b) => pick(a, b)))}`
}
