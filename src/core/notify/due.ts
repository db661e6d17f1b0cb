// Which messages are due, to whom: a function of figures, thresholds, the cycle and what was told. It must never tell a guess (use that is only
// an upper bound, a cap or a cycle that is not known), nor tell about a person anyone but that person and the owners of their groups.

import type { PersonStatus } from '../model/events.ts'
import type { Kept, Told } from '../model/facts.ts'
import type { Cycle } from '../model/observed.ts'
import { type Instant, wholeCents } from '../model/units.ts'
import { type AddOnSource, worstSource } from '../use/add-on.ts'
import { type FirstStop, STOP_TEXT } from '../use/first-stop.ts'
import {
  changedSince,
  type Draft,
  type EventInputs,
  eventDrafts,
  firstLines,
  keyOf,
  ownerKey,
  type PoolUse,
  reachOf,
  targetKey,
} from './happened.ts'
import {
  type Digest,
  type NotifySettings,
  type Owner,
  type QuietHours,
  requestLink,
  type Target,
  type Values,
  type WebhookMessage,
  written,
} from './settings.ts'
import { entryOf, isDue, type Leveled, lastKept, toldIn } from './told.ts'

/** One person, with the figures of page and gauges. */
export interface PersonUse extends Omit<PersonStatus, 'band'> {
  readonly name?: string
}

/** The billing cycle that ended last, with its use and the caps at its end. */
export interface EndedUse {
  readonly cycle: Cycle
  readonly people: readonly PersonUse[]
  readonly pools: readonly PoolUse[]
}

/** A monthly digest is about the cycle that ended last until the present one is half over, because a new cycle has little to tell. Choice. */
export const tellsEnded = ({ digest }: Pick<NotifySettings, 'digest'>, { startAt, endAt }: Cycle, now: Instant): boolean =>
  digest === 'monthly' && now - startAt < (endAt - startAt) / 2

export interface DueInputs extends EventInputs {
  readonly workspace: string
  readonly cycle?: Cycle | undefined
  readonly people: readonly PersonUse[]
  /** The cycle that digests are about, as far as it is known; absent: the present cycle. */
  readonly ended?: EndedUse | undefined
  /** What stops a person first. */
  readonly stopOf?: (email: string) => FirstStop | undefined
  /** A copy for others of any value, with people named so in every text. */
  readonly all: <T>(value: T) => T
}

/** The key holds no secret. */
export interface Message extends WebhookMessage, Leveled {
  readonly to: Target
}

export interface Due {
  /** The most urgent first: pools, people at the highest threshold, digests. */
  readonly messages: readonly Message[]
  /** The record as of this cycle. Absent while no cycle is known, and then no message is due. */
  readonly told?: Told
  /** Nothing is sent now; what is still true later is sent then. */
  readonly quiet: boolean
}

/** The record as of this cycle; undefined while none is known. */
export const toldNow = (told: Told | undefined, cycle: Cycle | undefined, now: Instant): Told | undefined =>
  cycle && now < cycle.endAt ? toldIn(told, cycle) : undefined

/** The messages that are due, given what was told before. */
export function messagesDue(inputs: DueInputs): Due {
  const { cycle, now, settings } = inputs
  const quiet = isQuiet(now, settings)
  const told = toldNow(inputs.told, cycle, now)
  if (!cycle || !told) {
    // Events need no figures of a cycle.
    const kept = inputs.told ?? { cycleStartAt: 0, entries: {} }
    const events = onceEach(eventMessages({ ...inputs, told: kept }))
    return { messages: events, quiet, told: events.length > 0 ? kept : undefined }
  }
  const context: Context = { ...inputs, cycle, told }
  const found = [...eventMessages(context), ...poolMessages(context), ...personMessages(context), ...digestMessages(context)]
  return { messages: onceEach(found), told, quiet }
}

/** A receiver may be named twice. */
const onceEach = (found: readonly Message[]): readonly Message[] =>
  [...new Map(found.toReversed().map((message) => [message.key, message])).values()].reverse()

interface Context extends DueInputs {
  readonly cycle: Cycle
  readonly told: Told
}

/** The highest threshold that is reached; 0 for none. */
const reached = (thresholds: readonly number[], used: number, of: number): number =>
  thresholds.findLast((threshold) => used * 100 >= of * threshold) ?? 0

const amount = (credits: number): number => wholeCents(Math.max(0, credits))

/** Rounded down, so that a cap is never said to be reached before it is. */
const percentOf = (used: number, of: number): number => Math.floor((used * 100) / of)

/** With the record to judge by. */
type Telling = Omit<Context, 'cycle'>

function messageOf({ settings, workspace, told, now, all }: Telling, { values: given, ...draft }: Draft): readonly Message[] {
  const { kind } = draft
  if (!isDue(told, draft.key, draft.level, now)) return []
  // Names of pools, rules and groups may hold addresses. What a person is told is about them.
  const values = kind === 'person' ? { workspace, ...given } : all({ workspace, ...given })
  return [{ ...draft, workspace, values, ...written(settings.templates[kind], values) }]
}

const SOURCES: Readonly<Record<AddOnSource, string>> = {
  measured: 'as the service measures it',
  estimated: 'estimated',
  upperBound: 'an upper bound',
}

function stopText({ stopOf, settings, now }: Context, email: string): string {
  const stop = stopOf?.(email)
  if (!stop) return 'not known'
  if (stop.at === undefined) return STOP_TEXT[stop.what]
  return `${STOP_TEXT[stop.what]}, ${stop.at <= now ? 'now' : `expected on ${dayOf(stop.at, settings.timezone)}`}`
}

function personMessages(context: Context): readonly Message[] {
  const { settings, cycle } = context
  if (settings.people.length === 0) return []
  const messages = context.people.flatMap(({ email, name, cap, used, source }): readonly Message[] => {
    if (typeof cap !== 'number' || cap <= 0 || used === undefined || source === undefined || source === 'upperBound') return []
    const level = reached(settings.people, used, cap)
    if (level === 0) return []
    const values = {
      email,
      name: name === undefined || name.trim() === '' ? email : name,
      threshold: level,
      percent: percentOf(used, cap),
      used: amount(used),
      cap,
      left: amount(cap - used),
      source: SOURCES[source],
      stop: stopText(context, email),
      cycleEnd: dayOf(cycle.endAt, settings.timezone),
    }
    const found = messageOf(context, { kind: 'person', key: keyOf('person', email), level, to: { kind: 'email', address: email }, values })
    const { requestUrl } = settings
    if (requestUrl === undefined) return found
    const link = requestLink(requestUrl, { email, cap, used: values.used })
    return found.map((message) => ({ ...message, text: `${message.text}\n\nTo ask for more: ${link}` }))
  })
  return messages.sort((a, b) => b.level - a.level)
}

function poolMessages(context: Context): readonly Message[] {
  const { settings, cycle, pools } = context
  return pools.flatMap((pool) => {
    const { name, credits, used, exhaustedAt } = pool
    const level = credits > 0 ? reached(settings.pools, used, credits) : 0
    if (level === 0) return []
    const owners = settings.owners.filter(({ of }) => (of.kind === 'pool' ? of.name === name : pool.groups.includes(of.id)))
    const values = {
      pool: name,
      threshold: level,
      percent: percentOf(used, credits),
      used: amount(used),
      credits,
      left: amount(credits - used),
      exhausted: used >= credits ? 'now' : exhaustedAt === undefined ? 'not in this cycle' : dayOf(exhaustedAt, settings.timezone),
      cycleEnd: dayOf(cycle.endAt, settings.timezone),
    }
    return owners
      .flatMap(({ targets }) => targets)
      .flatMap((to) => messageOf(context, { kind: 'pool', key: keyOf('pool', name, targetKey(to)), level, to, values }))
  })
}

const eventMessages = (context: Telling): readonly Message[] => eventDrafts(context).flatMap((draft) => messageOf(context, draft))

interface AskedDigest extends Omit<Draft, 'values'> {
  readonly owner: Owner
}

/** The newest digest of each that is configured, sent or not. */
export function digestsAsked({ digest, owners, timezone }: NotifySettings, now: Instant): readonly AskedDigest[] {
  if (digest === 'off') return []
  const level = digestLevel(now, digest, timezone)
  return owners.flatMap((owner) =>
    owner.targets.map((to): AskedDigest => {
      return { kind: 'digest', key: keyOf('digest', digest, ...ownerKey(owner), targetKey(to)), level, to, owner }
    }),
  )
}

function digestMessages(context: Context): readonly Message[] {
  const { settings, now, told } = context
  const isEarly = localOf(now, settings.timezone).minute < DIGEST_MINUTE
  return digestsAsked(settings, now).flatMap(({ owner, ...one }) => {
    // The first one, which may be of any day, waits for eight as well.
    if (isEarly && !entryOf(told, one.key)) return []
    const made = (context.ended && digestOf({ ...context, ...context.ended }, owner, one.key)) ?? digestOf(context, owner, one.key)
    return made === undefined ? [] : messageOf(context, { ...one, ...made })
  })
}

/** Undefined for a group or pool that does not exist or is not known. */
function digestOf(context: Context, owner: Owner, key: string): { readonly values: Values; readonly kept: Kept } | undefined {
  const { people, pools, settings, now, cycle, label, told } = context
  const { of } = owner
  const pool = of.kind === 'pool' ? pools.find(({ name }) => name === of.name) : undefined
  const reach = reachOf(owner, context)
  const { emails } = reach
  if (!pool && !reach.isKnown) return undefined
  const members = people.filter(({ email, used, source }) => emails.has(email) && used !== undefined && source !== undefined)
  if (!pool && members.length === 0) return undefined
  const shares = members.flatMap(({ email, cap, used = 0 }) =>
    typeof cap === 'number' && cap > 0 ? [{ email, cap, used, share: used / cap }] : [],
  )
  const near = shares.filter(({ used, cap }) => used * 100 >= cap * 85).sort((a, b) => b.share - a.share || (a.email < b.email ? -1 : 1))
  const source = worstSource(members.map((one) => one.source))
  const atCap = near.filter(({ share }) => share >= 1).map(({ email }) => email)
  const basis = { at: now, known: members.length, members: emails.size, source: source ?? ('pool' as const) }
  const kept = { items: atCap, basis }
  const values = {
    of: reach.name,
    day: dayOf(now, settings.timezone),
    members: emails.size,
    used: amount(pool ? pool.used : members.reduce((sum, { used = 0 }) => sum + used, 0)),
    source: source ? SOURCES[source] : 'as the pool counts it',
    atCap: atCap.length,
    nearCap: near.length,
    people: firstLines(near.map(({ email, cap, used }) => `${label(email)}: ${amount(used)} of ${cap}`)),
    changes: changedSince(context, reach, lastKept(entryOf(told, key)), kept),
    cycleEnd: dayOf(cycle.endAt, settings.timezone),
  }
  return { values, kept }
}

/** The channel of a message, to count failures by: never a person. */
export const channelOf = (key: string): string => {
  const target: unknown = key.startsWith('["person"') ? undefined : JSON.parse(key).at(-1)
  return typeof target === 'string' && target.startsWith('webhook ') ? target : 'e-mail'
}

// Local days and times of day: quiet hours, and the days of digests. Time zones come from Intl, which throws on an unknown one; the config has
// refused those before.

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone)
  if (known) return known
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const made = new Intl.DateTimeFormat('en', { ...digits, calendar: 'gregory', numberingSystem: 'latn', timeZone: timezone })
  formats.set(timezone, made)
  return made
}

/** The date as `2026-11-22`, and the minute of the day. */
function localOf(at: Instant, timezone: string) {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const { year, month, day, hour, minute } = parts
  return { date: `${String(year).padStart(4, '0')}-${month}-${day}`, minute: Number(hour) * 60 + Number(minute) }
}

/** The local date of an instant. */
const dayOf = (at: Instant, timezone: string): string => localOf(at, timezone).date

/** Whether an instant is within quiet hours. */
function isQuiet(at: Instant, { quietHours, timezone }: { readonly quietHours?: QuietHours; readonly timezone: string }): boolean {
  if (!quietHours) return false
  const { fromMinute, untilMinute } = quietHours
  const { minute } = localOf(at, timezone)
  return fromMinute <= untilMinute ? minute >= fromMinute && minute < untilMinute : minute >= fromMinute || minute < untilMinute
}

/** Digests are sent in the morning. Choice. */
const DIGEST_MINUTE = 8 * 60

/**
 * The day or month of the newest digest, as a number that only rises: 20261122 or 202611. A new one begins at eight, for months on the first
 * day; until then it is the one before.
 */
function digestLevel(at: Instant, digest: Exclude<Digest, 'off'>, timezone: string): number {
  // Subtracting eight hours gives the day before until eight; on days when clocks change, until seven or nine.
  const { date } = localOf(at - DIGEST_MINUTE * 60_000, timezone)
  return Number(date.replaceAll('-', '').slice(0, digest === 'daily' ? 8 : 6))
}
