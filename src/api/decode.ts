// Decodes caps, people and the balance. Pure, and tolerant as docs/service.md, What the client tolerates, says: fields may be missing, numbers may be
// strings, names may have the live spelling. A value that cannot be understood is `malformed`, never guessed.

import type { WireObservation } from '../core/interpret/evidence.ts'
import type { Balance, Cycle, GroupMembers, MemberStatus, Operation, Person, Roster, SetAside } from '../core/model/observed.ts'
import type { Cap } from '../core/model/policy.ts'
import { compareText, isEmail, normaliseEmail } from '../core/model/scope.ts'
import { type Credits, cents, credits, creditsOf, DAY_MS, type Instant, MAX_CAP } from '../core/model/units.ts'
import type { RowPlan } from '../ports.ts'
import { isObject, malformed } from './errors.ts'

/** How one answer is read. */
export interface Reading<Value> {
  /** For a listing: takes its rows before the rest is decoded. */
  readonly rows?: RowPlan | undefined
  /** Gets the parsed body of a success, undefined when it is not JSON. Throws an `ApiError` of kind `malformed`. */
  readonly decode: (body: unknown) => Value
}

export type Fields = Readonly<Record<string, unknown>>

/** The answer as an object; anything else that JSON can be, or no JSON at all (undefined), is malformed. */
export function objectOf(operation: Operation, body: unknown): Fields {
  if (isObject(body)) return body
  if (body === undefined) throw malformed(operation, 'the answer is not JSON')
  const what = body === null ? 'null' : Array.isArray(body) ? 'an array' : `a ${typeof body}`
  throw malformed(operation, `the answer is ${what}, not an object`)
}

/** A list that may be missing (then empty); rows that are not objects are skipped. */
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

export const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** Greater counts and credits are not exact, and are never recorded. */
export const MAX_FIGURE = Number.MAX_SAFE_INTEGER
/** The most use of one person or run, in cents: the greatest cap. Sums of them are cut where they are recorded. Choice. */
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

/**
 * A time in RFC 3339, a bare date, or the form `2026-02-03 17:00:00 +0000 UTC`; undefined for anything else. A zero time, which is the year 1
 * or 1970, stands for one that is not set.
 */
function instantOf(value: unknown): Instant | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim().replace(/^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d+)?) \+0000 UTC$/, '$1T$2Z')
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i.test(text)) return undefined
  const at = Date.parse(text)
  return at > 0 ? at : undefined
}

/** A cycle is a month, or a year at most. A time further away means "never set" or "without end". Choice. */
const MAX_CYCLE_DAYS = 400

/** Both ends must be present, in order and near. */
function cycleOf(fields: Fields, readAt: Instant): { readonly cycle?: Cycle } {
  const startAt = instantOf(fields['billingCycleStart'])
  const endAt = instantOf(fields['billingCycleEnd'])
  if (startAt === undefined || endAt === undefined || startAt >= endAt) return {}
  const isNear = (at: Instant): boolean => Math.abs(at - readAt) <= MAX_CYCLE_DAYS * DAY_MS
  return isNear(startAt) && isNear(endAt) ? { cycle: { startAt, endAt } } : {}
}

// ---- GetUsageConfig

const CAP_SPELLINGS = ['addOnCreditCap', 'add_on_credit_cap'] as const

/** docs/service.md, GetUsageConfig: an object without the field means that nothing is set at this scope. */
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

/** The field in which an answer has the cap; undefined when it has none. */
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

export interface RosterRow {
  readonly email: string
  readonly fields: Fields
}

/** Keeps the figures and texts of each row; `decode` gets the answer around the rows, and the rows with an e-mail. */
function readPeople<Value>(
  keep: (row: Fields) => Fields,
  decode: (rows: readonly RosterRow[], answer: Fields) => Value,
  staysAs?: string,
): Reading<Value> {
  const rows: RosterRow[] = []
  return {
    rows: {
      at: [['userTableStats', '*']],
      staysAs,
      take(row) {
        if (!isObject(row)) return undefined
        const fields = keep(row)
        const email = typeof fields['email'] === 'string' ? normaliseEmail(fields['email']) : ''
        if (isEmail(email)) rows.push({ email, fields })
        return fields
      },
    },
    decode(body) {
      const answer = objectOf('UserPageAnalytics', body)
      rowsOf('UserPageAnalytics', answer['userTableStats'], 'userTableStats')
      return decode(rows, answer)
    },
  }
}

/** All fields that are read; the rest of a row is dropped as it arrives. Written out field by field for speed; a test compares. */
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

/** False for texts that cannot be recorded and for figures that do not fit. A figure that is no number is merely unknown. */
const makesSense = ({ email, fields }: RosterRow): boolean =>
  email.length <= MAX_EMAIL && !/[\p{Cc}\p{Cs}]/u.test(email) && Math.abs(numberOf(fields['promptCreditsUsed']) ?? 0) <= MAX_CENTS

/** The whole team, or the members of one group, which is the same listing filtered by `group_name`. */
export const readRoster = (now: () => Instant, learn: (rows: readonly RosterRow[]) => void): Reading<Roster & SetAside> =>
  readPeople(
    // The owners of keys are learned from the whole team's listing only.
    (row) => ({ ...rosterFieldsOf(row), apiKey: scalarOf(row['apiKey']) }),
    (rows, answer) => {
      learn(rows)
      return rosterOf(rows, answer, now())
    },
    'people of ',
  )

/**
 * docs/service.md, UserPageAnalytics. Rows without an e-mail are skipped, rows that make no sense are set aside and counted. Of duplicates the
 * first approved one is kept, else the first.
 */
function rosterOf(found: readonly RosterRow[], answer: Fields, readAt: Instant): Roster & SetAside {
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

/** Absent when no row was set aside. */
export const setAside = (malformedRows: number): SetAside => (malformedRows === 0 ? {} : { malformedRows })

export const readGroup = (group: { readonly id: string; readonly name: string }, now: () => Instant): Reading<GroupMembers> =>
  readPeople(
    rosterFieldsOf,
    (found, answer) => {
      const readAt = now()
      // A row with a bad figure still names a member.
      const rows = found.map((row) => (makesSense(row) ? row : { ...row, fields: { ...row.fields, promptCreditsUsed: 'set aside' } }))
      const { people } = rosterOf(rows, answer, readAt)
      const used = people.map((person) => person.used).filter((one) => one !== undefined)
      return {
        ...group,
        emails: people.map((person) => person.email),
        used: used.length > 0 ? credits(used.reduce((sum, one) => sum + one, 0)) : undefined,
        readAt,
      }
    },
    `people of ${group.name}`,
  )

/**
 * Whether an absent figure means 0: zeros may be left out. It does when any row has a figure. When no row has one, it does only if the cycle
 * is known and no one used the agent in it: else the plan shows no credits (docs/service.md, Rows of the agent), and use is unknown.
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
    used: usedCents === undefined ? undefined : creditsOf(cents(usedCents)),
    ...activityOf(fields),
  }
}

const MAX_ROLE = 100

/** The fields that rules select by; each may be absent. */
function activityOf(fields: Fields): Pick<Person, 'role' | 'lastUsedAt' | 'signedUpAt'> {
  const role = typeof fields['role'] === 'string' ? fields['role'].trim().slice(0, MAX_ROLE) : ''
  const names = ['lastAutocompleteUsageTime', 'lastChatUsageTime', 'lastCommandUsageTime'] as const
  const used = names.flatMap((name) => instantOf(fields[name]) ?? [])
  const signedUpAt = instantOf(fields['signupTime'])
  return {
    role: role === '' ? undefined : role,
    lastUsedAt: used.length === 0 ? undefined : Math.max(...used),
    signedUpAt,
  }
}

/**
 * Active days by e-mail. docs/service.md, UserPageAnalytics. When some rows have the figure and none is 0, the service leaves zeros out, so an
 * absent figure is 0. Otherwise an absent figure is unknown.
 */
export const readActiveDays = (): Reading<ReadonlyMap<string, number>> =>
  readPeople(
    (row) => ({ email: scalarOf(row['email']), activeDays: scalarOf(row['activeDays']) }),
    (rows) => {
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
    },
  )

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

/** docs/service.md, GetTeamCreditBalance. Zeros may be left out, but an object without any of the fields is malformed. */
export function decodeBalance(body: unknown, readAt: Instant): Balance {
  const operation = 'GetTeamCreditBalance'
  const fields = objectOf(operation, body)
  if (BALANCE_FIELDS.every((name) => isAbsent(fields[name]))) throw malformed(operation, 'the answer has none of the fields of a balance')
  const whole = (name: string): number => {
    const count = counterOf(operation, fields, name)
    if (!Number.isInteger(count) || count < 0) throw malformed(operation, `${name} is ${count}, not a whole number from 0 up`)
    return count
  }
  return {
    creditsPerSeat: credits(whole('promptCreditsPerSeat')),
    seats: whole('numSeats'),
    addOnAvailable: credits(counterOf(operation, fields, 'addOnCreditsAvailable')),
    addOnUsed: credits(counterOf(operation, fields, 'addOnCreditsUsed')),
    ...cycleOf(fields, readAt),
    readAt,
  }
}

// ---- a key in the answer: it is in every request body, and a service may echo it in a name, a model, an address

/** A shorter key may be part of a text by chance. */
const MIN_KEY_LENGTH = 12
const REPLACEMENT = '[key]'

/** Reads without the key. A text that contains it is replaced as a whole, so that the rest of it cannot pass for another e-mail. */
export function withoutEcho<Value>(reading: Reading<Value>, key: string): Reading<Value> {
  if (key.length < MIN_KEY_LENGTH) return reading
  const { rows, decode } = reading
  const clean = (value: unknown): unknown => (holds(value, key) ? replaced(value, key) : value)
  return { rows: rows && { ...rows, take: (row) => rows.take(clean(row)) }, decode: (body) => decode(clean(body)) }
}

function holds(value: unknown, key: string): boolean {
  if (typeof value === 'string') return value.includes(key)
  if (Array.isArray(value)) return value.some((one) => holds(one, key))
  return isObject(value) && Object.values(value).some((one) => holds(one, key))
}

function replaced(value: unknown, key: string): unknown {
  if (typeof value === 'string') return value.includes(key) ? REPLACEMENT : value
  if (Array.isArray(value)) return value.map((one) => replaced(one, key))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, key)])) : value
}
