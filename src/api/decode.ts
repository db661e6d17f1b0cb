// From the wire to the core: caps, people, the balance. Pure, and tolerant as service-notes.md, section 2, says: fields may be missing,
// numbers may be strings, names may be the live ones. What cannot be understood is `malformed`, never guessed; no reading is made up.

import type { WireObservation } from '../core/interpret/evidence.ts'
import type { Balance, Cycle, GroupMembers, MemberStatus, Person, Roster, SetAside } from '../core/model/observed.ts'
import { compareText } from '../core/model/order.ts'
import type { Cap } from '../core/model/policy.ts'
import { isEmail, normaliseEmail } from '../core/model/scope.ts'
import { type Credits, cents, credits, creditsOf, DAY_MS, type Instant, MAX_CAP } from '../core/model/units.ts'
import type { Operation, RowPlan } from '../ports.ts'
import { isObject, malformed } from './errors.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The answer as an object; anything else that JSON can be, or no JSON at all (undefined), is malformed. */
export function objectOf(operation: Operation, body: unknown): Fields {
  if (isObject(body)) return body
  if (body === undefined) throw malformed(operation, 'the answer is not JSON')
  const what = body === null ? 'null' : Array.isArray(body) ? 'an array' : `a ${typeof body}`
  throw malformed(operation, `the answer is ${what}, not an object`)
}

/** A list that may be missing (then empty); rows that are no objects are passed over. */
export function rowsOf(operation: Operation, list: unknown, name: string): readonly Fields[] {
  if (list === undefined || list === null) return []
  if (!Array.isArray(list)) throw malformed(operation, `${name} is not an array`)
  return list.filter(isObject)
}

/** A number, or one written as a string ("42", "42.0"); undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value.trim())) return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed : undefined
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** Counts and credits beyond it are not exact, and no record takes them. */
export const MAX_FIGURE = Number.MAX_SAFE_INTEGER
/** Use of one person or run, in cents: as much as the greatest cap. Sums of them are cut where they are recorded. Choice. */
export const MAX_CENTS = MAX_CAP * 100

/** A counter: absent and null count 0. */
export function counterOf(operation: Operation, fields: Fields, name: string): number {
  const value = fields[name]
  if (isAbsent(value)) return 0
  const count = numberOf(value)
  if (count === undefined) throw malformed(operation, `${name} is not a number`)
  if (Math.abs(count) > MAX_FIGURE) throw malformed(operation, `${name} is ${count}, which is beyond 2^53`)
  return count
}

/** A time in RFC 3339, a bare date, or the form `2026-02-03 17:00:00 +0000 UTC`; undefined for anything else. */
export function instantOf(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim().replace(/^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d+)?) \+0000 UTC$/, '$1T$2Z')
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** A cycle is a month, or a year at most. What begins or ends further away is a time that was never set, or "without end". Choice. */
const MAX_CYCLE_DAYS = 400

/** Both ends must be there, in order and not far away; half a cycle is none. */
function cycleOf(fields: Fields, readAt: Instant): { readonly cycle?: Cycle } {
  const startAt = instantOf(fields['billingCycleStart'])
  const endAt = instantOf(fields['billingCycleEnd'])
  if (startAt === undefined || endAt === undefined || startAt >= endAt) return {}
  const isNear = (at: Instant): boolean => Math.abs(at - readAt) <= MAX_CYCLE_DAYS * DAY_MS
  return isNear(startAt) && isNear(endAt) ? { cycle: { startAt, endAt } } : {}
}

// ---- GetUsageConfig

const CAP_SPELLINGS = ['addOnCreditCap', 'add_on_credit_cap'] as const

/** interface-spec.md, Endpoints 4: an object without the field means that nothing is set at this scope. */
export function decodeCap(body: unknown): Cap {
  const fields = objectOf('GetUsageConfig', body)
  const caps = CAP_SPELLINGS.filter((name) => !isAbsent(fields[name])).map((name) => capOf(name, fields[name]))
  const [first, second] = caps
  if (first === undefined) return 'none'
  if (second !== undefined && second !== first) {
    throw malformed('GetUsageConfig', `the cap is ${first} as ${CAP_SPELLINGS[0]} but ${second} as ${CAP_SPELLINGS[1]}`)
  }
  return first
}

/** How an answer spells the cap; undefined when it has none. */
export function spellingSighting(body: unknown): WireObservation | undefined {
  const names = isObject(body) ? CAP_SPELLINGS.filter((name) => !isAbsent(body[name])) : []
  if (names.length === 0) return undefined
  const value = names.length > 1 ? 'both' : names[0] === 'addOnCreditCap' ? 'camel' : 'snake'
  return { aspect: 'spelling', value, evidence: `an answer spells the cap ${names.join(' and ')}` }
}

function capOf(name: string, value: unknown): Credits {
  const cap = numberOf(value)
  if (cap === undefined) throw malformed('GetUsageConfig', `${name} is not a number`)
  if (!Number.isSafeInteger(cap) || cap < 0) throw malformed('GetUsageConfig', `${name} is ${cap}, not a whole number from 0 up`)
  // A negative zero would compare equal but print as -0.
  return credits(cap === 0 ? 0 : cap)
}

// ---- UserPageAnalytics

interface RosterRow {
  readonly email: string
  readonly fields: Fields
}

/** How a listing of people is read row by row; `of`: the name of the group, none for the whole team. */
export const rosterRows = (of = ''): RowPlan => ({
  at: [['userTableStats', '*']],
  staysAs: `people of ${of}`,
  // Whose a key is only the whole team's listing tells.
  keeper: () => (row) => (isObject(row) ? { ...rosterFieldsOf(row), ...(of === '' && { apiKey: scalarOf(row['apiKey']) }) } : undefined),
})

/** All that is read of a row; nothing else of it is ever in memory (a test compares). Written out, as it is done for everybody. */
const rosterFieldsOf = (row: Fields): Fields => ({
  email: scalarOf(row['email']),
  name: scalarOf(row['name']),
  teamStatus: scalarOf(row['teamStatus']),
  disableService: scalarOf(row['disableService']),
  disableCodeium: scalarOf(row['disableCodeium']),
  promptCreditsUsed: scalarOf(row['promptCreditsUsed']),
  lastChatUsageTime: scalarOf(row['lastChatUsageTime']),
  lastAutocompleteUsageTime: scalarOf(row['lastAutocompleteUsageTime']),
  lastCommandUsageTime: scalarOf(row['lastCommandUsageTime']),
  signupTime: scalarOf(row['signupTime']),
  role: scalarOf(row['role']),
})

const scalarOf = (value: unknown): unknown => (typeof value === 'object' && value !== null ? {} : value)

/** RFC 5321 allows 254. */
const MAX_EMAIL = 320
const MAX_NAME = 200

/** Texts that no record could hold, and figures that do not fit. A figure that is no number is merely not known. */
const makesSense = ({ email, fields }: RosterRow): boolean =>
  email.length <= MAX_EMAIL && !/[\p{Cc}\p{Cs}]/u.test(email) && Math.abs(numberOf(fields['promptCreditsUsed']) ?? 0) <= MAX_CENTS

/**
 * interface-spec.md, Endpoints 2. Rows without an e-mail are skipped, rows that make no sense are set aside and counted; of duplicates an
 * approved one is kept, else the first.
 */
export function decodeRoster(body: unknown, readAt: Instant): Roster & SetAside {
  const answer = objectOf('UserPageAnalytics', body)
  const found = emailRowsOf(answer)
  const rows = found.filter(makesSense)
  const cycle = cycleOf(answer, readAt)
  const statusesAbsent = rows.length > 0 && rows.every(({ fields }) => isAbsent(fields['teamStatus']))
  const tellsUse = tellsUseOf(rows, cycle)
  const people = new Map<string, Person>()
  const duplicates = new Set<string>()
  for (const { email, fields } of rows) {
    const person = personOf(email, fields, { statusesAbsent, tellsUse })
    const before = people.get(email)
    if (before) duplicates.add(email)
    if (!before || (before.status !== 'approved' && person.status === 'approved')) people.set(email, person)
  }
  return {
    people: [...people.values()].sort((a, b) => compareText(a.email, b.email)),
    ...cycle,
    readAt,
    statusesAbsent,
    duplicates: [...duplicates].sort(compareText),
    ...setAside(found.length - rows.length),
  }
}

/** Absent where there is nothing to tell. */
export const setAside = (malformedRows: number): SetAside => (malformedRows === 0 ? {} : { malformedRows })

/** The members of one group: the same listing, narrowed by `group_name`. */
export function decodeGroup(body: unknown, group: { readonly id: string; readonly name: string }, readAt: Instant): GroupMembers {
  const answer = objectOf('UserPageAnalytics', body)
  // Who is in a group does not depend on a figure: without it the row still names a member.
  const rows = emailRowsOf(answer).map((row) => (makesSense(row) ? row.fields : { ...row.fields, promptCreditsUsed: 'set aside' }))
  const { people } = decodeRoster({ ...answer, userTableStats: rows }, readAt)
  const used = people.map((person) => person.used).filter((one) => one !== undefined)
  return {
    id: group.id,
    name: group.name,
    emails: people.map((person) => person.email),
    ...(used.length > 0 ? { used: credits(used.reduce((sum, one) => sum + one, 0)) } : {}),
    readAt,
  }
}

function emailRowsOf(answer: Fields): readonly RosterRow[] {
  return rowsOf('UserPageAnalytics', answer['userTableStats'], 'userTableStats').flatMap((fields) => {
    const email = typeof fields['email'] === 'string' ? normaliseEmail(fields['email']) : ''
    return isEmail(email) ? [{ email, fields }] : []
  })
}

/**
 * Zeros may be left out, so in an answer that tells use anywhere, or the cycle it is counted in, an absent figure is 0. But where no row
 * has a figure and somebody used the agent in this cycle, the plan shows no credits (service-notes.md, Agent analytics): then nothing is
 * known.
 */
function tellsUseOf(rows: readonly RosterRow[], { cycle }: { readonly cycle?: Cycle }): boolean {
  if (rows.some(({ fields }) => numberOf(fields['promptCreditsUsed']) !== undefined)) return true
  return cycle !== undefined && !rows.some(({ fields }) => (instantOf(fields['lastChatUsageTime']) ?? 0) >= cycle.startAt)
}

function personOf(email: string, fields: Fields, answer: { readonly statusesAbsent: boolean; readonly tellsUse: boolean }): Person {
  const usedCents = isAbsent(fields['promptCreditsUsed']) && answer.tellsUse ? 0 : numberOf(fields['promptCreditsUsed'])
  return {
    email,
    name: typeof fields['name'] === 'string' ? fields['name'].slice(0, MAX_NAME) : '',
    status: answer.statusesAbsent ? 'approved' : statusOf(fields['teamStatus']),
    disabled: fields['disableService'] === true || fields['disableCodeium'] === true,
    ...(usedCents === undefined ? {} : { used: creditsOf(cents(usedCents)) }),
    ...standingOf(fields),
  }
}

const MAX_ROLE = 100

/** What rules go by; each may be absent. */
function standingOf(fields: Fields): Pick<Person, 'role' | 'lastUsedAt' | 'signedUpAt'> {
  const role = typeof fields['role'] === 'string' ? fields['role'].trim().slice(0, MAX_ROLE) : ''
  const names = ['lastAutocompleteUsageTime', 'lastChatUsageTime', 'lastCommandUsageTime'] as const
  const used = names.flatMap((name) => instantOf(fields[name]) ?? [])
  const signedUpAt = instantOf(fields['signupTime'])
  return {
    ...(role === '' ? {} : { role }),
    ...(used.length === 0 ? {} : { lastUsedAt: Math.max(...used) }),
    ...(signedUpAt === undefined ? {} : { signedUpAt }),
  }
}

/** How many days of a range people were active on: the same listing, of which nothing else is read. */
export const activeDayRows = (): RowPlan => ({
  at: [['userTableStats', '*']],
  keeper: () => (row) => (isObject(row) ? { email: scalarOf(row['email']), activeDays: scalarOf(row['activeDays']) } : undefined),
})

/**
 * interface-spec.md, Endpoints 2. Every row has the figure, so where some have it and none is 0, zeros are left out and an absent one is 0;
 * else an absent one is not known.
 */
export function decodeActiveDays(body: unknown): ReadonlyMap<string, number> {
  const rows = emailRowsOf(objectOf('UserPageAnalytics', body))
  const figures = rows.map(({ email, fields }) => ({
    email,
    days: numberOf(fields['activeDays']),
    isAbsent: isAbsent(fields['activeDays']),
  }))
  const zerosOmitted = figures.some(({ days }) => days !== undefined) && !figures.some(({ days }) => days === 0)
  return new Map(
    figures.flatMap(({ email, days, isAbsent: left }) => {
      const known = days ?? (left && zerosOmitted ? 0 : undefined)
      return known === undefined || known < 0 || known > MAX_FIGURE ? [] : [[email, known] as const]
    }),
  )
}

function statusOf(value: unknown): MemberStatus {
  switch (value) {
    case 'USER_TEAM_STATUS_APPROVED':
      return 'approved'
    case 'USER_TEAM_STATUS_PENDING':
      return 'pending'
    case 'USER_TEAM_STATUS_REJECTED':
      return 'rejected'
    default:
      return 'unspecified'
  }
}

// ---- GetTeamCreditBalance

const BALANCE_FIELDS = ['promptCreditsPerSeat', 'numSeats', 'addOnCreditsAvailable', 'addOnCreditsUsed', 'billingCycleStart'] as const

/** interface-spec.md, Endpoints 6. Zeros may be left out, but an object with none of the fields is no balance. */
export function decodeBalance(body: unknown, readAt: Instant): Balance {
  const operation = 'GetTeamCreditBalance'
  const fields = objectOf(operation, body)
  if (BALANCE_FIELDS.every((name) => isAbsent(fields[name]))) throw malformed(operation, 'the answer has none of the fields of a balance')
  const seats = counterOf(operation, fields, 'numSeats')
  if (!Number.isInteger(seats) || seats < 0) throw malformed(operation, `numSeats is ${seats}, not a whole number from 0 up`)
  return {
    creditsPerSeat: credits(counterOf(operation, fields, 'promptCreditsPerSeat')),
    seats,
    addOnAvailable: credits(counterOf(operation, fields, 'addOnCreditsAvailable')),
    addOnUsed: credits(counterOf(operation, fields, 'addOnCreditsUsed')),
    ...cycleOf(fields, readAt),
    readAt,
  }
}
