// What the service was last read to say of caps, people, groups and the balance, and which caps are ours. Plain data, without wire names.
import { CAP, type Cap, ENTRY, OWNER_KINDS } from './policy.ts'
import { SCOPE, type Scope } from './scope.ts'
import { amount, boolean, instant, list, number, type Of, oneOf, optional, orWord, record, shape, text } from './shape.ts'
import { type Credits, DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from './units.ts'

/** Three-valued: a cap, `none` (nothing set), or `unknown`, which never causes a write. */
export const OBSERVED = orWord('unknown', CAP)
export type Observed = Of<typeof OBSERVED>

/** The operations of the service (docs/service.md, Requests). */
export const OPERATIONS = [
  'Analytics',
  'UserPageAnalytics',
  'CascadeAnalytics',
  'GetUsageConfig',
  'UsageConfig',
  'GetTeamCreditBalance',
] as const
export type Operation = (typeof OPERATIONS)[number]

/** How a request can fail (docs/service.md, What the client tolerates, point 5). */
export const API_ERROR_KINDS = ['rate_limited', 'auth', 'invalid', 'not_found', 'server', 'timeout', 'network', 'malformed'] as const
export type ApiErrorKind = (typeof API_ERROR_KINDS)[number]

/** Everything an ApiError may carry. */
export interface ApiErrorFacts {
  readonly operation: Operation
  readonly kind: ApiErrorKind
  readonly message: string
  readonly status?: number
  readonly retryAfterMs?: number
  /** The permission to ask an administrator for; present when the kind is `auth`. */
  readonly permission?: string
  /** The workspace's plan does not include the operation: another key would not help. */
  readonly lacksFeature?: true
  /** The request never left: it certainly had no effect. */
  readonly unsent?: true
  /** Its turn did not come in time. Attempts before that were refused for the rate, so they had no effect either. */
  readonly isLate?: true
}

/** A classified failure of the service or the network. `message` names the operation, and is free of any key. */
export class ApiError extends Error implements ApiErrorFacts {
  override readonly name = 'ApiError'
  readonly operation: Operation
  readonly kind: ApiErrorKind
  declare readonly status?: number
  declare readonly retryAfterMs?: number
  declare readonly permission?: string
  declare readonly lacksFeature?: true
  declare readonly unsent?: true
  declare readonly isLate?: true
  /** Only the named facts are taken over, and those that are not given leave no property. */
  constructor({ operation, kind, message, status, retryAfterMs, permission, lacksFeature, unsent, isLate }: ApiErrorFacts) {
    super(message)
    this.operation = operation
    this.kind = kind
    const others = Object.entries({ status, retryAfterMs, permission, lacksFeature, unsent, isLate })
    Object.assign(this, Object.fromEntries(others.filter(([, value]) => value !== undefined)))
  }
}

/** One reading of one scope. `failure` is present exactly when `observed` is `unknown`. */
export interface CapReading {
  readonly scope: Scope
  readonly observed: Observed
  readonly readAt: Instant
  /** The same on this process's monotonic clock; absent for readings of other processes. */
  readonly readMs?: number
  /** `lacksFeature`: the workspace has no caps, whatever the key. */
  readonly failure?: { readonly kind: ApiErrorKind; readonly message: string; readonly lacksFeature?: true }
  /** The time of the last good reading before this one. */
  readonly previousAt?: Instant
  /** While unknown: the last known value, only to be shown; it never causes a write. */
  readonly last?: { readonly observed: Cap; readonly readAt: Instant }
}

/** The cap to show: during an outage the last known one. It never causes a write. */
export const capShown = (reading: Pick<CapReading, 'observed' | 'last'> | undefined): Observed | undefined =>
  reading?.last?.observed ?? reading?.observed

/** What the people file says of a person. */
export const LISTING = {
  /** By column; absent: not listed. */
  values: optional(record(text)),
  /** The last change: when it was seen, and the values before it of the columns that changed. */
  was: optional(shape({ at: instant, values: record(text) })),
  /** The person has vanished from the file then, and keeps the last values for a while. */
  goneAt: optional(instant),
}
const LISTED = shape(LISTING)
export type Listing = Of<typeof LISTED>

/** A row of the roster (docs/service.md, A person). */
const PERSON = shape({
  /** Normalised. */
  email: text,
  name: text,
  status: oneOf(['approved', 'pending', 'rejected', 'unspecified']),
  /** Access disabled by an admin: written, but not counted in guards. */
  disabled: boolean,
  /** Credits used in the current cycle; absent when the service does not tell. */
  used: optional(amount),
  /** As the service names it; absent when it does not tell. */
  role: optional(text),
  /** The latest of the three times of last use. */
  lastUsedAt: optional(instant),
  signedUpAt: optional(instant),
  /** Active days by the length of the window in days; only the windows that rules and pools need. */
  activeDays: optional(record(number)),
  /** Absent: no people file was read since the person is on the roster. */
  listing: optional(LISTED),
})
export type Person = Of<typeof PERSON>
export type MemberStatus = Person['status']

export const CYCLE = shape({ startAt: instant, endAt: instant })
export type Cycle = Of<typeof CYCLE>

/** How long after its start a new cycle may still show the figures of the one before. Choice. */
export const SETTLE_MS = 6 * HOUR_MS

/** Two readings that name another cycle must be so far apart (docs/policies.md, Pools). */
const AGREE_MS = 10 * MINUTE_MS

/** Whether two readings are far enough apart to agree on another cycle. */
export const isAgreed = (namedAt: Instant, readAt: Instant): boolean => readAt - namedAt >= AGREE_MS

/** Whether the figures of a new cycle, if more than half of the last one's final figures, still belong to the last one. */
export const areStillOld = (before: number, now: number, ageMs: number): boolean => ageMs < SETTLE_MS && before > 0 && now * 2 > before

/** A start that moves by less than a day is the same start. */
export const isSameCycle = (a: Pick<Cycle, 'startAt'>, b: Pick<Cycle, 'startAt'>): boolean => Math.abs(a.startAt - b.startAt) < DAY_MS

/** What people had used when a cycle ended. People without a figure are missing. `readAt`: when that was read. */
export const ENDED_CYCLE = shape({ cycle: CYCLE, used: record(amount), readAt: optional(instant) })
export type EndedCycle = Of<typeof ENDED_CYCLE>

export const ROSTER = shape({
  /** One row per e-mail, in the canonical order. */
  people: list(PERSON),
  cycle: optional(CYCLE),
  readAt: instant,
  /** No row had a status: all people count as approved, with one warning. */
  statusesAbsent: boolean,
  /** E-mails that were in more than one row. */
  duplicates: list(text),
})
export type Roster = Of<typeof ROSTER>

/** How many invalid rows of an answer were set aside; absent when there are none. */
export interface SetAside {
  readonly malformedRows?: number
}

/** The members of one declared group, by e-mail. */
export const GROUP_MEMBERS = shape({
  id: text,
  name: text,
  emails: list(text),
  /** Credits that the members used in this cycle, summed over those with a figure; absent when none has one. */
  used: optional(amount),
  readAt: instant,
})
export type GroupMembers = Of<typeof GROUP_MEMBERS>

/** docs/service.md, GetTeamCreditBalance. All figures are of the current cycle. */
export const BALANCE = shape({
  creditsPerSeat: amount,
  seats: number,
  addOnAvailable: amount,
  addOnUsed: amount,
  cycle: optional(CYCLE),
  readAt: instant,
})
export type Balance = Of<typeof BALANCE>

/** The balance, where it is of this cycle: one that cannot be read any more tells nothing of the next. What a seat includes is taken to stay. */
export const balanceOf = (cycle: Cycle | undefined, balance: Balance | undefined): Balance | undefined =>
  balance && cycle && !(balance.cycle ? isSameCycle(balance.cycle, cycle) : balance.readAt >= cycle.startAt) ? undefined : balance

/** The sum of all runs of one UTC day, model and mode. docs/service.md, Rows of the agent. */
export interface RunUse {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  /** A display name, open data; '' where all models are summed. */
  readonly model: string
  /** The mode as the service calls it; '' where all modes are summed. */
  readonly mode: string
  readonly messages: number
  /** Absent when the plan shows no credits. */
  readonly used?: Credits
}

export interface RunsReading extends SetAside {
  readonly rows: readonly RunUse[]
}

/** What one person used of one model on one UTC day (docs/service.md, Add-on use per person). */
export interface AddOnRow {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  /** '' for a person whom no roster lists. */
  readonly email: string
  /** Open data, such as an enum; `<nil>` where the service does not know it. */
  readonly model: string
  /** All credits used. */
  readonly used: Credits
  /** The part paid from add-on credits. */
  readonly addOn: Credits
}

export interface AddOnReading extends SetAside {
  readonly rows: readonly AddOnRow[]
  /** People on the roster whose rows cannot be identified, because the service lists no key of theirs. */
  readonly unassignable: readonly string[]
}

/** A cap that is ours, as the ledger records it: we wrote it, or policy declared it and it was found equal once. */
export const OWNED_CAP = shape({
  scope: SCOPE,
  /** The value last verified on the service. */
  cap: CAP,
  owner: oneOf(OWNER_KINDS),
  /** The policy entry that `cap` was verified under. */
  entry: ENTRY,
  verifiedAt: instant,
  /** A write of ours set it at this very scope, so it is not only inherited. */
  written: optional(boolean),
  /** When the first reading was made that does not show the cap. */
  missedAt: optional(instant),
  /** A cap that we wrote later, though the read-back showed the old one: it may be set all the same, and is ours as well. */
  tried: optional(CAP),
  /** `tried` came from a grant: where it shows after the grant's end, `cap` is restored. */
  triedByGrant: optional(boolean),
  /** The cap that shows since a clear of ours was accepted: it is inherited from a group that no policy names. */
  shows: optional(CAP),
  /** The cap from before a grant; restored at its end where nothing is declared then. */
  baseline: optional(CAP),
  /** The baseline was ours, and is ours again when it is restored; where undeclared caps are pruned, it is not restored. */
  baselineIsOurs: optional(boolean),
  /** The baseline was declared beside a grant, and was not in force yet: where it shows, another client has set it. */
  baselineIsNew: optional(boolean),
  /** What was set there instead, before the grant: restored at its end where the service does not take the baseline. */
  found: optional(CAP),
  /** The grant that `cap` came from (`grantId`), also where it was copied to people; absent when it came from none. */
  grant: optional(text),
})
export type OwnedCap = Of<typeof OWNED_CAP>

/** Whether a cap of ours may be set at the scope: also one that was only tried. */
export const mayBeSet = ({ cap, tried }: Pick<OwnedCap, 'cap' | 'tried'>): boolean => cap !== 'none' || tried !== undefined
