// Dates in a time zone to instants, and the grants of a policy, which have them. Offsets come from Intl; this file only decides which of two
// offsets applies at a midnight, so that days start and end by the clocks of the zone, also when they change at midnight.

import type { Grant } from '../core/model/policy.ts'
import type { Position } from '../core/model/problem.ts'
import { groupScope, type Scope, TEAM, userScope } from '../core/model/scope.ts'
import { credits, DAY_MS, type Instant } from '../core/model/units.ts'
import { refuse } from './schema/kinds.ts'
import type { GrantText } from './schema/texts.ts'
import { type Branch, describe, field, good, keyPlaceOf, nameOf, type Placed, placed, placeOf, report } from './tree.ts'

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** The UTC midnight of a calendar date; undefined when there is no such day. */
export function readDate(text: string): Instant | undefined {
  if (!DATE.test(text)) return undefined
  const at = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? at : undefined
}

/** An RFC 3339 instant; undefined for any other text. A leap second counts as the start of the next minute. */
export function readInstant(text: string): Instant | undefined {
  const [, date = '', , , seconds] = INSTANT.exec(text) ?? []
  if (readDate(date) === undefined) return undefined
  // A `Date` has no leap seconds.
  const at = Date.parse(
    text
      .toUpperCase()
      .replace(' ', 'T')
      .replace(/:60(?=[.Z+-])/, ':59'),
  )
  return seconds === '60' ? at + 1_000 : at
}

/** What `from` and `until` mean: a day's start or end in the zone, or an instant as it is; undefined for a day that does not exist. */
export function readTime(text: string, zone: Zone, edge: 'start' | 'end'): Instant | undefined {
  const day = readDate(text)
  if (day === undefined) return readInstant(text)
  return zone(edge === 'start' ? day : day + DAY_MS)
}

/** The first instant of a day, as `readDate` gives it, in a time zone. UTC does without `Intl`, whose loading takes a good part of the time that `validate` needs to start. */
export type Zone = (dayUtc: Instant) => Instant

const zones = new Map<string, Zone>([['UTC', (dayUtc) => dayUtc]])

/** The zone with an IANA name; undefined when there is none. Each zone is made once. */
export function zoneNamed(name: string): Zone | undefined {
  const known = zones.get(name)
  if (known) return known
  try {
    const zone = zoneOf(new Intl.DateTimeFormat('en-US', { ...PARTS, timeZone: name }))
    zones.set(name, zone)
    return zone
  } catch {
    return undefined
  }
}

const PARTS = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const

function zoneOf(format: Intl.DateTimeFormat): Zone {
  const starts = new Map<Instant, Instant>()
  return (dayUtc) => {
    const start = starts.get(dayUtc) ?? findStartOfDay(dayUtc, (at) => offsetAt(format, at))
    starts.set(dayUtc, start)
    return start
  }
}

/**
 * Tries midnight with the offset of the day before and of the day after. The day starts at the first one at which that offset applies. When the
 * clocks jump over midnight neither does; then the day starts at the jump, which is midnight by the offset before.
 */
function findStartOfDay(dayUtc: Instant, offset: (at: Instant) => number): Instant {
  const before = offset(dayUtc - DAY_MS)
  const after = offset(dayUtc + DAY_MS)
  const candidates = [dayUtc - before, dayUtc - after].filter((at) => at + offset(at) === dayUtc)
  return candidates.length > 0 ? Math.min(...candidates) : dayUtc - before
}

/** Local time minus UTC, in milliseconds, at a whole second. */
function offsetAt(format: Intl.DateTimeFormat, at: Instant): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
}

/** The parts of a grant that could be read; `value` is the whole grant, when nothing in it is wrong. */
export interface PlacedGrant {
  readonly scope: Scope
  /** Where the scope is named. */
  readonly at: Position
  /** Its place in the list, where grants without a scope that can be read stand as well. */
  readonly index: number
  readonly amount?: Placed<Grant['amount']>
  readonly times?: Times
  readonly value?: Grant
}

export type Times = Pick<Grant, 'fromAt' | 'until'>

/** Reads a grant and reports its problems. Undefined when its scope cannot be read. */
export function readGrant(branch: Branch<GrantText>, document: string, zone: Zone | undefined): PlacedGrant | undefined {
  const times = zone && readTimes(branch, zone)
  const subject = subjectOf(branch)
  if (!subject) return undefined
  const amount = amountOf(branch)
  const known = { ...subject, index: Number(branch.key), amount, times }
  const grant = good(branch)
  if (!grant || !times || !amount) return known
  const { reason, ticket } = grant
  return { ...known, value: { scope: subject.scope, amount: amount.value, ...times, reason, ticket, at: amount.at, document } }
}

/** A grant names exactly one of user, group and team. */
function subjectOf(branch: Branch<GrantText>): Pick<PlacedGrant, 'scope' | 'at'> | undefined {
  const [user, group, team] = [field(branch, 'user'), field(branch, 'group'), field(branch, 'team')]
  if ([user, group, team].filter((one) => one !== undefined).length !== 1) return undefined
  const [email, id] = [placed(user), placed(group)]
  if (email) return { scope: userScope(email.value), at: email.at }
  if (id) return { scope: groupScope(id.value), at: id.at }
  return team && good(team) ? { scope: TEAM, at: keyPlaceOf(team) } : undefined
}

function amountOf(branch: Branch<GrantText>): Placed<Grant['amount']> | undefined {
  const [cap, add] = [field(branch, 'cap'), field(branch, 'add')]
  if (cap && add) return undefined
  const [fixed, more] = [placed(cap), placed(add)]
  if (fixed) return { value: { kind: 'cap', credits: credits(fixed.value) }, at: fixed.at }
  return more && { value: { kind: 'add', credits: credits(more.value) }, at: more.at }
}

function readTimes(branch: Branch<GrantText>, zone: Zone): Times | undefined {
  const [fromField, untilField] = [field(branch, 'from'), field(branch, 'until')]
  const fromAt = instantOf(fromField, zone, 'start')
  const isCycleEnd = good(untilField) === 'cycleEnd'
  const untilAt = isCycleEnd ? undefined : instantOf(untilField, zone, 'end')
  if (fromField?.faulty || !untilField || untilField.faulty) return undefined
  if (isCycleEnd) return { fromAt, until: { kind: 'cycleEnd' } }
  if (untilAt === undefined) return undefined
  if (fromField && fromAt !== undefined && fromAt >= untilAt) {
    const [until, start] = [describe(untilField.node), describe(fromField.node)]
    return report(untilField, 'GRANT_TIMES', `${nameOf(branch)} ends before it begins: until ${until}, from ${start}`, {
      hint: 'write an until that is after from',
      other: placeOf(fromField),
    })
  }
  return { fromAt, until: { kind: 'instant', at: untilAt } }
}

/** Reports a day that does not exist, which the pattern of the schema allows. */
function instantOf(branch: Branch<string> | undefined, zone: Zone, edge: 'start' | 'end'): Instant | undefined {
  const text = good(branch)
  return branch === undefined || text === undefined ? undefined : (readTime(text, zone, edge) ?? refuse(branch))
}
