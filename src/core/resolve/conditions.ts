// Whether a condition of a rule or pool holds for a person's row on the roster: yes, no, or unknown when the row does not say. When an answer
// counts is decided in matches.ts. It decides nothing about caps.

import type { Note } from '../model/condition.ts'
import type { GroupMembers, Listing, Person, Roster } from '../model/observed.ts'
import type { Attributes, PeopleRule, Pool, When } from '../model/policy.ts'
import { domainIn, nameIn } from '../model/scope.ts'
import { count, DAY_MS, type Instant } from '../model/units.ts'

type Truth = boolean | 'unknown'

/** What rows of the roster are judged by. */
export interface RowInputs {
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  /** Ids the service does not know. */
  readonly unknownGroups: readonly string[]
  /** The clocks disagree by more than 5 min: how long ago a person joined is not known, grants neither start nor end, and what `owned` says stays. */
  readonly grantsFrozen: boolean
}

/** Equal conditions have equal keys. A key has no @: it would be taken for an e-mail where people are hashed. */
export const conditionKey = ({ email, role, groups, inactiveDays, joinedWithinDays, activeDays, attributes }: When): string =>
  JSON.stringify([
    ...[email, role, groups, inactiveDays, joinedWithinDays, activeDays?.below, activeDays?.within],
    ...(attributes ? [attributes.listed, attributes.columns] : []),
  ]).replaceAll('@', '%40')

/** The condition that a pool sets for its members; undefined where they are listed by e-mail. */
export function poolCondition({ members }: Pool): When | undefined {
  if (members.kind === 'groups') return { groups: members.ids }
  return members.kind === 'when' ? members.when : undefined
}

/** What is known of everybody, computed once for all conditions. */
export type RowFacts = ReturnType<typeof rowFacts>

/** `named`: the groups that conditions name. */
export function rowFacts({ roster, groups, unknownGroups, grantsFrozen }: RowInputs, named: ReadonlySet<string>) {
  const known = groups.filter(({ id }) => named.has(id) && !unknownGroups.includes(id))
  return {
    byEmail: new Map(roster?.people.map((person) => [person.email, person])),
    /** Members by group id; a group whose members are not known is missing. */
    membersOf: new Map(known.map(({ id, emails }) => [id, new Set(emails)])),
    newestUseAt: roster && newestUse(roster),
    readAt: roster?.readAt,
    grantsFrozen,
  }
}

/**
 * The newest use of any person, from which inactivity counts. A time more than a day after the reading is ignored: one machine with a wrong
 * clock must make nobody else inactive.
 */
export function newestUse({ people, readAt }: Roster): Instant | undefined {
  let newest: Instant | undefined
  for (const { lastUsedAt } of people) {
    if (lastUsedAt !== undefined && lastUsedAt <= readAt + DAY_MS && (newest === undefined || lastUsedAt > newest)) newest = lastUsedAt
  }
  return newest
}

/** No as soon as one part is no; else unknown as soon as one part is; else yes. */
export function truthOf(when: When, person: Person, facts: RowFacts): Truth {
  let truth: Truth = true
  for (const key of CONDITION_KEYS) {
    if (when[key] === undefined) continue
    const one = ASKED[key](when, person, facts)
    if (one === false) return false
    if (one === 'unknown') truth = one
  }
  return truth
}

/** Every part with its answer, to explain the result; `text`: a clause about the person as `role is member`, or what is missing. */
export const answersOf = (when: When, person: Person, facts: RowFacts) =>
  CONDITION_KEYS.filter((key) => when[key] !== undefined).map((key) => {
    const truth = ASKED[key](when, person, facts)
    return { key, truth, text: truth === 'unknown' ? ABSENT[key](when, person, facts) : TOLD[key](when, person, facts) }
  })

const CONDITION_KEYS = ['email', 'role', 'groups', 'inactiveDays', 'joinedWithinDays', 'activeDays', 'attributes'] as const

type Ask = (when: When, person: Person, facts: RowFacts) => Truth
type Tell = (when: When, person: Person, facts: RowFacts) => string

const ASKED: { readonly [K in keyof When]-?: Ask } = {
  email: ({ email = '' }, person) => fitsGlob(email, person.email),
  role: ({ role = '' }, person) => (person.role === undefined ? 'unknown' : sameText(person.role, role)),
  groups({ groups = [] }, { email }, { membersOf }) {
    if (groups.some((id) => membersOf.get(id)?.has(email))) return true
    return groups.every((id) => membersOf.has(id)) ? false : 'unknown'
  },
  inactiveDays({ inactiveDays = 0 }, person, facts) {
    const days = inactiveFor(person, facts)
    return days === undefined ? 'unknown' : days >= inactiveDays
  },
  joinedWithinDays({ joinedWithinDays = 0 }, person, facts) {
    const days = joinedAgo(person, facts)
    return days === undefined ? 'unknown' : days <= joinedWithinDays
  },
  activeDays({ activeDays }, person) {
    const days = activeDays && person.activeDays?.[activeDays.within]
    return days === undefined ? 'unknown' : days < (activeDays?.below ?? 0)
  },
  attributes: ({ attributes = {} }, { listing }) => attributesHold(attributes, listing),
}

const whole = (days = 0): string => count(Math.floor(days), 'day')

/** Days that are compared with a most: 14 days and an hour are more than 14. */
const atMost = (days: number | undefined): string => `${Number.isInteger(days) ? '' : 'more than '}${whole(days)}`

const TOLD: { readonly [K in keyof When]-?: Tell } = {
  email: ({ email }) => `e-mail matches ${email}`,
  role: (_when, { role }) => `role is ${role}`,
  groups({ groups = [] }, { email }, { membersOf }) {
    const found = groups.find((id) => membersOf.get(id)?.has(email))
    return found === undefined ? `in none of the groups ${groups.join(', ')}` : `in group ${found}`
  },
  inactiveDays: ({ inactiveDays }, person, facts) => `inactive for ${whole(inactiveFor(person, facts))} (${inactiveDays} or more)`,
  joinedWithinDays: ({ joinedWithinDays }, person, facts) => `joined ${atMost(joinedAgo(person, facts))} ago (${joinedWithinDays} or less)`,
  activeDays: ({ activeDays }, person) =>
    `active on ${person.activeDays?.[activeDays?.within ?? 0]} of the last ${whole(activeDays?.within)} (fewer than ${activeDays?.below})`,
  attributes: ({ attributes = {} }, { listing }) => attributesText(attributes, listing),
}

const ABSENT: { readonly [K in keyof When]-?: (when: When, person: Person, facts: RowFacts) => string } = {
  email: () => 'no e-mail',
  role: () => 'the roster has no role',
  groups: ({ groups = [] }, _person, { membersOf }) =>
    `the members of group ${groups.filter((id) => !membersOf.has(id)).join(', ')} are not known`,
  inactiveDays: (_when, _person, { newestUseAt }) =>
    newestUseAt === undefined ? 'the roster has no time of use for any person' : 'the roster has no time of use or sign-up for the person',
  joinedWithinDays: (_when, _person, { grantsFrozen }) =>
    grantsFrozen ? "the service's clock and ours differ" : 'the roster has no time of sign-up',
  activeDays: ({ activeDays }) => `the roster has no active days of the last ${whole(activeDays?.within)}`,
  attributes: ({ attributes = {} }, { listing }) => attributesMissing(attributes, listing),
}

/** Days between the latest use, or sign-up, and the newest use of anybody. */
function inactiveFor({ lastUsedAt, signedUpAt }: Person, { newestUseAt }: RowFacts): number | undefined {
  const sinceAt = lastUsedAt ?? signedUpAt
  return sinceAt === undefined || newestUseAt === undefined ? undefined : Math.max(0, (newestUseAt - sinceAt) / DAY_MS)
}

function joinedAgo({ signedUpAt }: Person, { readAt, grantsFrozen }: RowFacts): number | undefined {
  return signedUpAt === undefined || readAt === undefined || grantsFrozen ? undefined : Math.max(0, (readAt - signedUpAt) / DAY_MS)
}

const sameText = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase()

/** Whether a pattern fits a whole text. Only the last star is tried again, so the time is bounded by the product of the lengths. */
function fitsGlob(pattern: string, text: string): boolean {
  let [at, from, star, tried] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = from++
      tried = at
    } else if (pattern[from] === '?' || pattern[from] === text[at]) {
      from += 1
      at += 1
    } else if (star >= 0) {
      from = star + 1
      tried += 1
      at = tried
    } else return false
  }
  while (pattern[from] === '*') from += 1
  return from === pattern.length
}

// What conditions on the people file ask of a person, and how that is told.

/** Whether a condition on the people file holds. Who is not listed has no known value, and an empty cell is a known empty text. */
function attributesHold({ listed, columns = {} }: Attributes, listing: Listing | undefined): boolean | 'unknown' {
  if (!listing) return 'unknown'
  const { values } = listing
  if (listed !== undefined && listed !== (values !== undefined)) return false
  let truth: boolean | 'unknown' = true
  for (const [column, text] of Object.entries(columns)) {
    const value = values?.[column]
    if (value === undefined) truth = 'unknown'
    else if (value !== text) return false
  }
  return truth
}

/** `costCenter is CC-12, was CC-7`. */
function attributesText({ listed, columns = {} }: Attributes, listing: Listing | undefined): string {
  const { values, was, goneAt } = listing ?? {}
  const parts = Object.keys(columns).map((column) => {
    const before = was?.values[column]
    return `${column} is ${cellText(values?.[column] ?? '')}${before === undefined ? '' : `, was ${cellText(before)}`}`
  })
  if (listed !== undefined && values === undefined) parts.unshift('not in the people file')
  if (listed !== undefined && values !== undefined && goneAt === undefined) parts.unshift('in the people file')
  if (goneAt !== undefined) parts.push('no longer in the people file, the last values count for 7 days')
  return parts.join(', ')
}

const cellText = (text: string): string => (text === '' ? 'empty' : text)

/** Why it is not known whether the condition holds. */
function attributesMissing({ columns = {} }: Attributes, listing: Listing | undefined): string {
  if (!listing) return 'no people file was read yet'
  if (!listing.values) return 'not in the people file'
  const missing = Object.keys(columns).filter((column) => listing.values?.[column] === undefined)
  return `the people file that was read last has no column ${missing.join(', ')}`
}

/** Why nobody meets the condition, with the nearest value there is. */
function nobodyHas({ listed, columns = {} }: Attributes, people: readonly Person[], nearest: NearestWord): string {
  for (const [column, text] of Object.entries(columns)) {
    const values = [...new Set(people.flatMap(({ listing }) => listing?.values?.[column] ?? []))].sort()
    if (values.includes(text)) continue
    const near = nearest(text, values)
    return `nobody has the ${column} ${cellText(text)}${near === undefined ? '' : `; did you mean ${cellText(near)}?`}`
  }
  return listed === false ? 'everybody is in the people file' : 'nobody in the people file meets all of it'
}

/** The last changes of people in the file by e-mail, where a condition on the person wants the old or the new value: `costCenter is CC-12, was CC-7`. */
export function attributeChanges(whens: readonly When[], people: readonly Person[]) {
  const asked = whens.flatMap(({ email = '*', attributes }) =>
    Object.entries(attributes?.columns ?? {}).map(([column, wanted]) => ({ email, column, wanted })),
  )
  return new Map(
    people.flatMap((person) => {
      const { email, listing: { values, was } = {} } = person
      const columns = Object.entries(was?.values ?? {}).filter(([column, before]) =>
        asked.some(
          (one) => one.column === column && (one.wanted === before || one.wanted === values?.[column]) && fitsGlob(one.email, email),
        ),
      )
      if (!was || columns.length === 0) return []
      return [[email, { at: was.at, text: attributesText({ columns: Object.fromEntries(columns) }, person.listing) }] as const]
    }),
  )
}

// Warnings about rules that may not do what was meant: nobody matches, everybody does, or the roster does not tell. Each names the nearest
// value there is. It changes nothing.

/** A rule and how many approved people it is the first to match, for metrics and warnings. */
export interface RuleStatus {
  readonly rule: PeopleRule
  readonly people: number
  /** Approved people for whom its condition holds, even if an earlier rule matches them; 0 while it waits for a second reading for others. */
  readonly holds: number
  /** Approved people for whom the answer is not known. */
  readonly unknown: number
}

/** A warning about one rule. */
export type RuleNote = Note<'RULE_NOBODY' | 'RULE_EVERYBODY' | 'RULE_UNKNOWN'>

/** With fewer people, a rule that matches everybody is not suspicious. */
const FEW_PEOPLE = 5

/** How many domains are listed at most. */
const FEW_DOMAINS = 5

/** The known word nearest to one that was typed; undefined when none is near. */
export type NearestWord = (word: string, known: readonly string[]) => string | undefined

interface Judged {
  /** Those who are approved. */
  readonly people: readonly Person[]
  readonly facts: RowFacts
  readonly nearest: NearestWord
}

/** Notes in the order of the rules; none while there is no roster. */
export function ruleNotes(statuses: readonly RuleStatus[], judged: Judged): readonly RuleNote[] {
  if (judged.people.length === 0) return []
  return statuses.flatMap((status) => noteOf(status, judged) ?? [])
}

function noteOf(status: RuleStatus, judged: Judged): RuleNote | undefined {
  const { rule, people: matched, holds, unknown } = status
  const { name, when, at } = rule
  const { people, facts } = judged
  const note = (code: RuleNote['code'], text: string): RuleNote => ({ code, subject: `rule ${name}`, message: `rule ${name}${text}`, at })
  if (unknown > 0) {
    const first = people.find((person) => truthOf(when, person, facts) === 'unknown')
    const why = first ? answersOf(when, first, facts).find(({ truth }) => truth === 'unknown') : undefined
    const because = why ? ` (${why.key}: ${why.text})` : ''
    const whom = unknown === 1 ? '1 person, who keeps' : `${unknown} people, who keep`
    return note('RULE_UNKNOWN', `: whether it matches is not known for ${whom} what is in force${because}`)
  }
  if (matched === 0) {
    const why = holds > 0 ? 'earlier rules match, or may match, everybody that it would' : whyNobody(rule, judged)
    return note('RULE_NOBODY', ` matches nobody: ${why}`)
  }
  const isEverybody = Object.keys(when).length === 1 && when.email !== undefined && people.length >= FEW_PEOPLE && matched === people.length
  if (!isEverybody) return undefined
  return note('RULE_EVERYBODY', ` matches everybody on the roster: e-mail matches ${when.email} for all ${matched}`)
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

/** Tells the nearest value where it is known of everybody that they do not meet one part of a condition, so everybody has a value. */
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
    `nobody was inactive for ${whole(inactiveDays)} or more; ${nearestOf(daysOf(inactiveFor, people, facts), Math.max, whole)}`,
  joinedWithinDays: ({ joinedWithinDays }, people, facts) =>
    `nobody joined within ${whole(joinedWithinDays)}; ${nearestOf(daysOf(joinedAgo, people, facts), Math.min, atMost)}`,
  activeDays({ activeDays }, people) {
    const days = people.flatMap((person) => person.activeDays?.[activeDays?.within ?? 0] ?? [])
    const least = days.reduce((a, b) => Math.min(a, b))
    return `nobody was active on fewer than ${activeDays?.below} of the last ${whole(activeDays?.within)}; the least is ${least}`
  },
  attributes: ({ attributes = {} }, people, _facts, nearest) => nobodyHas(attributes, people, nearest),
}

/** The nearest whole address, so that it is hashed wherever people are; for a pattern of names the same at the nearest domain; else the domains. */
function nearestAddress(pattern: string, people: readonly Person[], nearest: NearestWord): string {
  const [name, domain] = [nameIn(pattern), domainIn(pattern)]
  const known = people.map(({ email }) => `${isGlob(name) ? name : nameIn(email)}@${isGlob(domain) ? domain : domainIn(email)}`)
  const near = nearest(pattern, known)
  if (near !== undefined && near !== pattern) return `; did you mean ${isGlob(name) ? near : people[known.indexOf(near)]?.email}?`
  const domains = [...new Set(people.map(({ email }) => domainIn(email)))].sort()
  if (isGlob(domain) || domains.includes(domain)) return ''
  const more = domains.length > FEW_DOMAINS ? ` and ${domains.length - FEW_DOMAINS} more` : ''
  return `; the domains there are: ${domains.slice(0, FEW_DOMAINS).join(', ')}${more}`
}

const isGlob = (text: string): boolean => /[*?]/.test(text)

/** `text`: days in words that agree with what the condition makes of them. */
const nearestOf = (days: readonly number[], pick: (a: number, b: number) => number, text: (days: number) => string): string =>
  `the nearest is ${text(days.reduce((a, b) => pick(a, b)))}`

const daysOf = (of: typeof inactiveFor, people: readonly Person[], facts: RowFacts): readonly number[] =>
  people.flatMap((person) => of(person, facts) ?? [])
