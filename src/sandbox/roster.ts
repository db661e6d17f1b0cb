// UserPageAnalytics: the people with their status and their use, summed from the raw rows. Also decides which people a request is about.
import type { Wire } from '../api/wire.ts'
import type { Cycle, Operation } from '../core/model/observed.ts'
import { normaliseEmail } from '../core/model/scope.ts'
import { DAY_MS, type Instant } from '../core/model/units.ts'

import type { CapBook } from './caps.ts'
import { type Fields, Refusal, textField, timeField } from './refusal.ts'
import type { LastActivity, Store, StoredKey, StoredPerson } from './store.ts'
import type { Switches } from './switches.ts'
import { cycleAt, formatMicros, formatSeconds } from './time.ts'

export interface ServiceContext {
  readonly store: Store
  readonly caps: CapBook
  readonly switches: Switches
  readonly now: Instant
  /** Faults that change what an answer says. */
  readonly quirks?: { readonly staleRead?: boolean; readonly shortRoster?: boolean }
}

/** The body of a 200; undefined: zero bytes. */
export type Answer = Wire<`${Operation}Answer`> | undefined

/** A value, unless it is zero or empty and the switch `--zeros` leaves such out. */
export const kept = <T>(value: T, { zeros }: Pick<Switches, 'zeros'>): T | undefined =>
  zeros === 'omitted' && (value === 0 || value === '0' || (Array.isArray(value) && value.length === 0)) ? undefined : value

/** A 64-bit figure, as the switch `--int64` says. */
export const int64 = (value: number, switches: Pick<Switches, 'int64' | 'zeros'>): number | string | undefined =>
  kept(switches.int64 === 'string' ? String(value) : value, switches)

export const cycleStamps = ({ startAt, endAt }: Cycle) => ({
  billingCycleStart: formatSeconds(startAt),
  billingCycleEnd: formatSeconds(endAt),
})

/** docs/service.md, UserPageAnalytics: people of every status, in the order of the roster. */
export function userPageAnalytics(context: ServiceContext, key: StoredKey, fields: Fields): Wire<'UserPageAnalyticsAnswer'> {
  const { store, now, switches, quirks } = context
  const listed = peopleOf(store, key, textField(fields, 'group_name'))
  const seenUntil = now - switches.analyticsDelay
  const fromAt = timeField(fields, 'start_timestamp') ?? now - 365 * DAY_MS
  const untilAt = Math.min(timeField(fields, 'end_timestamp') ?? now, seenUntil)
  const cycle = cycleAt(now)
  const used = store.usedCents({ fromAt: cycle.startAt, untilAt: seenUntil })
  const days = store.activeDays({ fromAt, untilAt })
  const last = store.lastActivity(seenUntil)
  const people = quirks?.shortRoster ? listed.slice(0, Math.ceil(listed.length / 2)) : listed
  const rows = people.map((person) => {
    const { id } = person
    return statistics(person, { used: used.get(id) ?? 0, days: days.get(id) ?? 0, ...last.get(id) }, switches)
  })
  return { userTableStats: kept(rows, switches), ...cycleStamps(cycle) }
}

/** The people of a group, or all; a limited key sees only its group. 404 with the documented text for an unknown group. */
export function peopleOf(store: Store, key: StoredKey, groupName: string | undefined): readonly StoredPerson[] {
  const group = groupName === undefined ? undefined : store.groups().find((one) => one.name === groupName)
  if (groupName !== undefined && !group) throw new Refusal(404, `invalid group name: ${groupName.slice(0, 200)}`)
  const wanted = [group?.id, key.groupId].flatMap((id) => (id === undefined ? [] : [store.members(id)]))
  return store.people().filter((person) => wanted.every((members) => members.has(person.id)))
}

type Figures = Partial<LastActivity> & { readonly used: number; readonly days: number }

/** docs/service.md, A person. */
function statistics(person: StoredPerson, figures: Figures, switches: Switches): Wire<'User'> {
  const { used, days, autocompleteAt = null, agentAt = null, commandAt = null } = figures
  const stamp = (at: Instant): string => formatMicros(at, person.id)
  const lastUse = (at: Instant | null): string | undefined => (at === null ? undefined : stamp(at))
  const latest = Math.max(person.signupAt, autocompleteAt ?? 0, agentAt ?? 0, commandAt ?? 0)
  return {
    name: person.name,
    email: person.email,
    lastUpdateTime: stamp(latest),
    apiKey: person.apiKey,
    activeDays: kept(days, switches),
    ...(person.disabled ? { [switches.names === 'live' ? 'disableCodeium' : 'disableService']: true } : {}),
    role: person.role,
    signupTime: stamp(person.signupAt),
    lastAutocompleteUsageTime: lastUse(autocompleteAt),
    lastChatUsageTime: lastUse(agentAt),
    lastCommandUsageTime: lastUse(commandAt),
    promptCreditsUsed: switches.plan === 'quota' ? undefined : int64(used, switches),
    teamStatus: `USER_TEAM_STATUS_${person.status}`,
  }
}

/** The people with these e-mails; unknown e-mails are ignored (choice). */
export const peopleByEmail = (people: readonly StoredPerson[], emails: readonly string[]): readonly StoredPerson[] => {
  const wanted = new Set(emails.map(normaliseEmail))
  return people.filter((person) => wanted.has(person.email))
}
