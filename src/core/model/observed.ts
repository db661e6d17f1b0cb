// What the service last said: caps, people, groups and the balance. Plain data, without a word of the wire.
import type { OwnerKind, PolicyEntry } from './entry.ts'
import type { Cap } from './policy.ts'
import type { Scope } from './scope.ts'
import type { Credits, Instant } from './units.ts'

/** Three-valued: a cap, `none` (nothing set), or `unknown`, which never causes a write. */
export type Observed = Cap | 'unknown'

/** How a request can fail (service-notes.md, section 2, point 5). */
export type ApiErrorKind = 'rate_limited' | 'auth' | 'invalid' | 'not_found' | 'server' | 'timeout' | 'network' | 'malformed'

/** One reading of one scope. `failure` is present exactly when `observed` is `unknown`. */
export interface CapReading {
  readonly scope: Scope
  readonly observed: Observed
  readonly readAt: Instant
  /** The same by this process's monotonic clock; absent for what was not read by it. */
  readonly readMs?: number
  /** `lacksFeature`: the workspace has no caps, whatever the key. */
  readonly failure?: { readonly kind: ApiErrorKind; readonly message: string; readonly lacksFeature?: true }
  /** When it was read well before this. */
  readonly previousAt?: Instant
  /** While unknown: what was read last, for people to look at; never a ground for a write. */
  readonly last?: { readonly observed: Cap; readonly readAt: Instant }
}

export type MemberStatus = 'approved' | 'pending' | 'rejected' | 'unspecified'

/** A row of the roster (interface-spec.md, User statistics object). */
export interface Person {
  /** Normalised. */
  readonly email: string
  readonly name: string
  readonly status: MemberStatus
  /** Access switched off by an admin: written, but not counted in guards. */
  readonly disabled: boolean
  /** Credits used in the current cycle; absent when the service does not say. */
  readonly used?: Credits
  /** As the service calls it; absent when it does not say. */
  readonly role?: string
  /** The latest of the three times of last use. */
  readonly lastUsedAt?: Instant
  readonly signedUpAt?: Instant
  /** On how many of the last so many days somebody was active, by the number of days; only what rules and pools ask for. */
  readonly activeDays?: Readonly<Record<number, number>>
}

export interface Cycle {
  readonly startAt: Instant
  readonly endAt: Instant
}

export interface Roster {
  /** One row per e-mail, in the canonical order. */
  readonly people: readonly Person[]
  readonly cycle?: Cycle
  readonly readAt: Instant
  /** Nobody carried a status: all count as approved, with one warning. */
  readonly statusesAbsent: boolean
  /** E-mails that stood in more than one row. */
  readonly duplicates: readonly string[]
}

/** Rows of an answer that made no sense and were set aside; absent when there are none. */
export interface SetAside {
  readonly malformedRows?: number
}

/** The members of one declared group, by e-mail. `unknown`: the service does not know the group, or the listing failed. */
export interface GroupMembers {
  readonly id: string
  readonly name: string
  readonly emails: readonly string[]
  /** Credits the members used in this cycle, summed over those who carry a figure; absent when nobody does. */
  readonly used?: Credits
  readonly readAt: Instant
}

/** interface-spec.md, Team credit balance object. All figures are of the current cycle. */
export interface Balance {
  readonly creditsPerSeat: Credits
  readonly seats: number
  readonly addOnAvailable: Credits
  readonly addOnUsed: Credits
  readonly cycle?: Cycle
  readonly readAt: Instant
}

/** What all runs of one UTC day, model and mode come to. interface-spec.md, Agent analytics result objects. */
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

/** What one person used of one model on one UTC day (service-notes.md, section 1, Add-on use per person). */
export interface AddOnRow {
  /** Midnight, UTC. */
  readonly dayAt: Instant
  /** '' for somebody whom no listing of people names. */
  readonly email: string
  /** Open data, such as an enum; `<nil>` where the service does not know it. */
  readonly model: string
  /** All that was used. */
  readonly used: Credits
  /** The part of it that add-on credits paid. */
  readonly addOn: Credits
}

export interface AddOnReading extends SetAside {
  readonly rows: readonly AddOnRow[]
  /** People on the roster whose rows could not be told: the service names no key of theirs. */
  readonly unassignable: readonly string[]
}

/**
 * A cap that is ours: we wrote it, or policy declared it and it was found equal once. This is what the ledger remembers of a scope.
 */
export interface OwnedCap {
  readonly scope: Scope
  /** The value last verified on the service. */
  readonly cap: Cap
  readonly owner: OwnerKind
  /** The policy entry that `cap` was verified under. */
  readonly entry: PolicyEntry
  readonly verifiedAt: Instant
  /** A write of ours set it at this very scope, so that it is not merely inherited. */
  readonly written?: boolean
  /** What a later write of ours set and the old value was read back after: it may stand there all the same, and is ours as well. */
  readonly tried?: Cap
  /** A grant asked for what was tried: where it shows after the grant, `cap` is given back. */
  readonly triedByGrant?: boolean
  /** What is read since a clear of ours was accepted: it comes from a group that no policy names, so that nothing known explains it. */
  readonly shows?: Cap
  /** What stood there before a grant; given back at its end where nothing is declared then. */
  readonly baseline?: Cap
  /** That was ours, and is so again when it is given back; where undeclared caps are pruned, nothing is. */
  readonly baselineIsOurs?: boolean
  /** The grant that `cap` came from (`grantId`), also where it was copied to people; absent when it came from none. */
  readonly grant?: string
}

/** Whether a cap of ours may stand there: what was tried over nothing counts. */
export const mayBeSet = ({ cap, tried }: Pick<OwnedCap, 'cap' | 'tried'>): boolean => cap !== 'none' || tried !== undefined

/** Beside what was verified, what may stand there all the same. */
export const withTried = ({ triedByGrant: _, ...owned }: OwnedCap, tried: Cap, byGrant: boolean): OwnedCap => ({
  ...owned,
  tried,
  ...(byGrant && { triedByGrant: true }),
})
