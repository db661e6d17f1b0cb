// Whether what a rule or pool asks of a person's row on the roster holds: yes, no, or unknown when the row does not say. A change of the
// answer counts after two good readings of the roster that agree, so that one odd reading moves nobody. It decides nothing about caps.

import type { GroupMembers, OwnedCap, Person, Roster } from '../model/observed.ts'
import type { Pool, When } from '../model/policy.ts'
import { type ScopeKey, scopeKey } from '../model/scope.ts'
import { DAY_MS, type Instant } from '../model/units.ts'

export type Truth = boolean | 'unknown'

/** Good readings in a row that have to say the same before a condition changes. */
export const READINGS_TO_TURN = 2

/**
 * What was settled, by condition (`conditionKey`): who it holds for, and of whom the last good reading said the opposite. A condition that is
 * not in it was never looked at: its first reading settles it.
 */
export type ConditionMemory = Readonly<Record<string, SettledCondition>>

export interface SettledCondition {
  readonly holds: readonly string[]
  readonly turning: readonly string[]
  /** Of whom it was not known when the condition was new, nor since: the first good reading that tells settles it. */
  readonly open: readonly string[]
}

/** A good reading of the roster: it is believed. Readings that agree are counted by it, each for what it read anew itself. */
export interface NewReading {
  /** Ids of the groups that were listed with it; of the others it says nothing, whatever an earlier one left behind. */
  readonly groups: readonly string[]
}

/** What conditions are judged by. */
export interface ConditionInputs {
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  /** Ids the service does not know. */
  readonly unknownGroups: readonly string[]
  readonly memory: ConditionMemory
  /** What was read since `memory` was made. */
  readonly newReading: NewReading | undefined
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  /** The clocks disagree: how long ago somebody joined is not known. */
  readonly clockDoubted: boolean
}

/** One condition, judged for everybody on the roster. */
export interface JudgedCondition {
  /** As it counts now. */
  truthOf(email: string): Truth
  /** As it was settled, whatever is not known now. */
  holds(email: string): boolean
  /** The last good reading says otherwise, for the first time. */
  isTurning(email: string): boolean
  readonly settled: SettledCondition
  /** Some good reading has told. */
  isSettled(email: string): boolean
}

/** Two conditions with the same key ask for the same. It has no @, or it would be taken for an address where people are not to be named. */
export const conditionKey = ({ email, role, groups, inactiveDays, joinedWithinDays, activeDays }: When): string =>
  JSON.stringify([email, role, groups, inactiveDays, joinedWithinDays, activeDays?.below, activeDays?.within]).replaceAll('@', '%40')

/** What a pool asks of its members, as a condition; undefined where they are listed one by one. */
export function poolCondition({ members }: Pool): When | undefined {
  if (members.kind === 'groups') return { groups: members.ids }
  return members.kind === 'when' ? members.when : undefined
}

/** Judges a condition for everybody on the roster, against what was settled before. */
export function judgeCondition(when: When, facts: RowFacts, inputs: ConditionInputs): JudgedCondition {
  const { roster, memory, owned } = inputs
  const told = toldBy(inputs.newReading, when, facts)
  const before = memory[conditionKey(when)]
  const [held, turned, opened] = [new Set(before?.holds), new Set(before?.turning), new Set(before?.open)]
  const [holds, turning, open, unknown] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()]
  for (const person of roster?.people ?? []) {
    const { email } = person
    const past = { isOpen: !before || opened.has(email), holds: held.has(email), turning: turned.has(email) }
    const now = settle(truthOf(when, person, facts), past, !before || told(person))
    if (now.isUnknown) unknown.add(email)
    if (now.isOpen) open.add(email)
    if (now.holds) holds.add(email)
    if (now.turning) turning.add(email)
  }
  // Who is away for a while is the same person when back, as long as a cap of ours waits for them.
  for (const email of held) {
    if (!facts.byEmail.has(email) && (!roster || owned.has(scopeKey({ kind: 'user', email })))) holds.add(email)
  }
  return {
    truthOf: (email) => (unknown.has(email) || !facts.byEmail.has(email) ? 'unknown' : holds.has(email)),
    holds: (email) => holds.has(email),
    isTurning: (email) => turning.has(email),
    isSettled: (email) => !open.has(email),
    settled: { holds: [...holds].sort(), turning: [...turning].sort(), open: [...open].sort() },
  }
}

/**
 * Whether a new reading answers for a person all by itself. What it did not read anew is unknown in it, so that two readings that agree are
 * two, and never one that is counted again where the other failed.
 */
function toldBy(reading: NewReading | undefined, when: When, facts: RowFacts): (person: Person) => boolean {
  if (!reading) return () => false
  const membersOf = new Map([...facts.membersOf].filter(([id]) => reading.groups.includes(id)))
  return (person) => truthOf(when, person, { ...facts, membersOf }) !== 'unknown'
}

interface Settled {
  readonly isOpen: boolean
  readonly holds: boolean
  readonly turning: boolean
}

/** What becomes of one person's answer: the first that tells counts at once, another one when two good readings in a row give it. */
function settle(truth: Truth, past: Settled, isGood: boolean): Settled & { readonly isUnknown: boolean } {
  if (truth === 'unknown' || (past.isOpen && !isGood)) return { ...past, isUnknown: true }
  if (past.isOpen) return { isOpen: false, holds: truth, turning: false, isUnknown: false }
  if (truth === past.holds) return { ...past, turning: isGood ? false : past.turning, isUnknown: false }
  if (!isGood) return { ...past, isUnknown: false }
  return past.turning ? { ...past, holds: truth, turning: false, isUnknown: false } : { ...past, turning: true, isUnknown: false }
}

/** What is known of everybody, worked out once for all conditions. */
export interface RowFacts {
  readonly byEmail: ReadonlyMap<string, Person>
  /** Members by group id; a group whose members are not known is missing. */
  readonly membersOf: ReadonlyMap<string, ReadonlySet<string>>
  /** The newest use of anybody: an outage of analytics makes nobody inactive. */
  readonly newestUseAt?: number
  readonly readAt?: number
  readonly clockDoubted: boolean
}

/** Looks once through roster and groups; `named` are the groups that conditions name. */
export function rowFacts({ roster, groups, unknownGroups, clockDoubted }: ConditionInputs, named: ReadonlySet<string>): RowFacts {
  const known = groups.filter(({ id }) => named.has(id) && !unknownGroups.includes(id))
  const newestUseAt = roster && newestUse(roster)
  return {
    byEmail: new Map(roster?.people.map((person) => [person.email, person])),
    membersOf: new Map(known.map(({ id, emails }) => [id, new Set(emails)])),
    ...(newestUseAt !== undefined && { newestUseAt }),
    ...(roster && { readAt: roster.readAt }),
    clockDoubted,
  }
}

/**
 * The newest use of anybody, by which others are told inactive. A time that lies a day after the reading is no use: one machine with a wrong
 * clock makes nobody else inactive.
 */
export function newestUse({ people, readAt }: Roster): Instant | undefined {
  let newest: Instant | undefined
  for (const { lastUsedAt } of people) {
    if (lastUsedAt !== undefined && lastUsedAt <= readAt + DAY_MS && (newest === undefined || lastUsedAt > newest)) newest = lastUsedAt
  }
  return newest
}

/** One thing that a condition asks, answered: the value that decided, or what is absent. */
export interface Answer {
  readonly key: keyof When
  readonly truth: Truth
  /** As a clause about the person: `role is member`; for unknown what is absent. */
  readonly text: string
}

/** No as soon as one answer is no; else unknown as soon as one is; else yes. */
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

/** Every answer, for whoever wants to know why. */
export const answersOf = (when: When, person: Person, facts: RowFacts): readonly Answer[] =>
  CONDITION_KEYS.filter((key) => when[key] !== undefined).map((key) => {
    const truth = ASKED[key](when, person, facts)
    return { key, truth, text: truth === 'unknown' ? ABSENT[key](when, facts) : TOLD[key](when, person, facts) }
  })

export const CONDITION_KEYS = ['email', 'role', 'groups', 'inactiveDays', 'joinedWithinDays', 'activeDays'] as const

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
}

const whole = (days: number | undefined): string => `${Math.floor(days ?? 0)} ${Math.floor(days ?? 0) === 1 ? 'day' : 'days'}`

const TOLD: { readonly [K in keyof When]-?: Tell } = {
  email: ({ email }) => `e-mail matches ${email}`,
  role: (_when, { role }) => `role is ${role}`,
  groups: ({ groups = [] }, { email }, { membersOf }) =>
    `in group ${groups.find((id) => membersOf.get(id)?.has(email)) ?? `none of ${groups.join(', ')}`}`,
  inactiveDays: ({ inactiveDays }, person, facts) => `inactive for ${whole(inactiveFor(person, facts))} (${inactiveDays} or more)`,
  joinedWithinDays: ({ joinedWithinDays }, person, facts) => `joined ${whole(joinedAgo(person, facts))} ago (${joinedWithinDays} or less)`,
  activeDays: ({ activeDays }, person) =>
    `active on ${person.activeDays?.[activeDays?.within ?? 0]} of the last ${activeDays?.within} days (fewer than ${activeDays?.below})`,
}

const ABSENT: { readonly [K in keyof When]-?: (when: When, facts: RowFacts) => string } = {
  email: () => 'no e-mail',
  role: () => 'the roster has no role',
  groups: ({ groups = [] }, { membersOf }) => `the members of group ${groups.filter((id) => !membersOf.has(id)).join(', ')} are not known`,
  inactiveDays: (_when, { newestUseAt }) =>
    newestUseAt === undefined ? 'the roster has no time of use of anybody' : 'the roster has neither a time of use nor of sign-up',
  joinedWithinDays: (_when, { clockDoubted }) =>
    clockDoubted ? "the service's clock and ours differ" : 'the roster has no time of sign-up',
  activeDays: ({ activeDays }) => `the roster has no active days of the last ${activeDays?.within} days`,
}

/** Days between the latest use, or sign-up, and the newest use of anybody. */
function inactiveFor({ lastUsedAt, signedUpAt }: Person, { newestUseAt }: RowFacts): number | undefined {
  const sinceAt = lastUsedAt ?? signedUpAt
  return sinceAt === undefined || newestUseAt === undefined ? undefined : Math.max(0, (newestUseAt - sinceAt) / DAY_MS)
}

function joinedAgo({ signedUpAt }: Person, { readAt, clockDoubted }: RowFacts): number | undefined {
  return signedUpAt === undefined || readAt === undefined || clockDoubted ? undefined : Math.max(0, (readAt - signedUpAt) / DAY_MS)
}

/** In days, not rounded; undefined where that is not known. */
export const daysOf = { inactiveDays: inactiveFor, joinedWithinDays: joinedAgo } as const

const sameText = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase()

/** Whether a pattern fits a whole text. Only the last star is ever tried again, so the time is bounded by the product of the lengths. */
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
