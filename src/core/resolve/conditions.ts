// Whether a condition of a rule or pool holds for a person's row on the roster: yes, no, or unknown when the row does not say. When an answer
// counts is decided in matches.ts. It decides nothing about caps.

import type { GroupMembers, Person, Roster } from '../model/observed.ts'
import type { Pool, When } from '../model/policy.ts'
import { DAY_MS, type Instant } from '../model/units.ts'
import { attributesHold, attributesMissing, attributesText } from './directory.ts'

type Truth = boolean | 'unknown'

/** What rows of the roster are judged by. */
export interface RowInputs {
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  /** Ids the service does not know. */
  readonly unknownGroups: readonly string[]
  /** The clocks disagree, so how long ago a person joined is not known. */
  readonly clockDoubted: boolean
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
export interface RowFacts {
  readonly byEmail: ReadonlyMap<string, Person>
  /** Members by group id; a group whose members are not known is missing. */
  readonly membersOf: ReadonlyMap<string, ReadonlySet<string>>
  /** The newest use of any person. Inactivity counts from it, so that an outage of analytics makes nobody inactive. */
  readonly newestUseAt?: number
  readonly readAt?: number
  readonly clockDoubted: boolean
}

/** `named`: the groups that conditions name. */
export function rowFacts({ roster, groups, unknownGroups, clockDoubted }: RowInputs, named: ReadonlySet<string>): RowFacts {
  const known = groups.filter(({ id }) => named.has(id) && !unknownGroups.includes(id))
  const newestUseAt = roster && newestUse(roster)
  return {
    byEmail: new Map(roster?.people.map((person) => [person.email, person])),
    membersOf: new Map(known.map(({ id, emails }) => [id, new Set(emails)])),
    newestUseAt,
    readAt: roster?.readAt,
    clockDoubted,
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

/** One part of a condition, answered: the value that decided, or what is missing. */
interface Answer {
  readonly key: keyof When
  readonly truth: Truth
  /** A clause about the person: `role is member`; when unknown, what is missing. */
  readonly text: string
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

/** Every part with its answer, to explain the result. */
export const answersOf = (when: When, person: Person, facts: RowFacts): readonly Answer[] =>
  CONDITION_KEYS.filter((key) => when[key] !== undefined).map((key) => {
    const truth = ASKED[key](when, person, facts)
    return { key, truth, text: truth === 'unknown' ? ABSENT[key](when, person, facts) : TOLD[key](when, person, facts) }
  })

export const CONDITION_KEYS = ['email', 'role', 'groups', 'inactiveDays', 'joinedWithinDays', 'activeDays', 'attributes'] as const

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

const whole = (days: number | undefined): string => `${Math.floor(days ?? 0)} ${Math.floor(days ?? 0) === 1 ? 'day' : 'days'}`

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
    `active on ${person.activeDays?.[activeDays?.within ?? 0]} of the last ${activeDays?.within} days (fewer than ${activeDays?.below})`,
  attributes: ({ attributes = {} }, { listing }) => attributesText(attributes, listing),
}

const ABSENT: { readonly [K in keyof When]-?: (when: When, person: Person, facts: RowFacts) => string } = {
  email: () => 'no e-mail',
  role: () => 'the roster has no role',
  groups: ({ groups = [] }, _person, { membersOf }) =>
    `the members of group ${groups.filter((id) => !membersOf.has(id)).join(', ')} are not known`,
  inactiveDays: (_when, _person, { newestUseAt }) =>
    newestUseAt === undefined ? 'the roster has no time of use for any person' : 'the roster has no time of use or sign-up for the person',
  joinedWithinDays: (_when, _person, { clockDoubted }) =>
    clockDoubted ? "the service's clock and ours differ" : 'the roster has no time of sign-up',
  activeDays: ({ activeDays }) => `the roster has no active days of the last ${activeDays?.within} days`,
  attributes: ({ attributes = {} }, { listing }) => attributesMissing(attributes, listing),
}

/** Days between the latest use, or sign-up, and the newest use of anybody. */
function inactiveFor({ lastUsedAt, signedUpAt }: Person, { newestUseAt }: RowFacts): number | undefined {
  const sinceAt = lastUsedAt ?? signedUpAt
  return sinceAt === undefined || newestUseAt === undefined ? undefined : Math.max(0, (newestUseAt - sinceAt) / DAY_MS)
}

function joinedAgo({ signedUpAt }: Person, { readAt, clockDoubted }: RowFacts): number | undefined {
  return signedUpAt === undefined || readAt === undefined || clockDoubted ? undefined : Math.max(0, (readAt - signedUpAt) / DAY_MS)
}

/** Not rounded; undefined where the days are not known. */
export const daysOf = { inactiveDays: inactiveFor, joinedWithinDays: joinedAgo } as const

/** Days in words that agree with what the condition makes of them. */
export const daysText = { inactiveDays: whole, joinedWithinDays: atMost } as const

const sameText = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase()

/** Whether a pattern fits a whole text. Only the last star is tried again, so the time is bounded by the product of the lengths. */
export function fitsGlob(pattern: string, text: string): boolean {
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
