// The interfaces to the outside world: clock, chance, HTTP, service, ledger. A simulation implements them as well. Types only, no code.

import type { Approval, HistoryEntry, Intent, Pause, Quarantined } from './core/model/change.ts'
import type { LedgerFacts } from './core/model/facts.ts'
import type {
  AddOnReading,
  AddOnRow,
  ApiErrorFacts,
  ApiErrorKind,
  Balance,
  CapReading,
  GroupMembers,
  Operation,
  OwnedCap,
  Roster,
  RunsReading,
  RunUse,
  SetAside,
} from './core/model/observed.ts'
import type { AddOnAsked, PersonHistory } from './core/model/past.ts'
import type { Cap } from './core/model/policy.ts'
import type { GroupScope, Scope, ScopeKey, TeamScope } from './core/model/scope.ts'
import type { Credits, Instant } from './core/model/units.ts'
import type { Heartbeat, HeartbeatAnswer, HeldWorkspace } from './core/replicas/lease.ts'
import type { BurnStep } from './core/use/burn.ts'
import type { UseReading } from './core/use/curve.ts'
import type { Days, HistoryChange, RecordedDays } from './core/use/history.ts'

export interface Clock {
  /** Wall clock, milliseconds since the epoch. Grants, ages and records use it. */
  now(): number
  /** Monotonic clock, milliseconds from an arbitrary start. Intervals, timeouts and pacing use it. */
  monotonic(): number
  /** Resolves after `ms` on the monotonic clock; rejects with `signal.reason` as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number
}

/** SHA-256 of a UTF-8 text, 64 hex digits. */
export type Digest = (text: string) => string

/** An HTTP response as it arrived. Header names are lower case. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  /** The rows were taken while they arrived: `body` is the text around them, '' when the whole is not JSON. */
  readonly isCut?: true
}

/** The property names from the root to a row. `*` is any index of a list; the last name is always `*`. */
export type RowPath = readonly string[]

/** How to read one listing row by row, without keeping all of it in memory. */
export interface RowPlan {
  readonly at: readonly RowPath[]
  /** Takes a row. Returns what is newly kept because of it; undefined: nothing. */
  take(row: unknown): unknown
  /** The kept rows stay in memory under this name until the next request with the same name; absent: they are used up at once. */
  readonly staysAs?: string
}

export interface SendOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** A transport may ignore it and return the whole body. */
  readonly rows?: RowPlan
  /** Asked once the connection is open; false: nothing is sent. A transport that connects without delay may ignore it. */
  readonly mayLeave?: () => boolean
}

/** No response arrived, or one beyond a bound (`malformed`). Whether the request took effect is not known. */
export interface TransportFailure {
  readonly kind: Extract<ApiErrorKind, 'timeout' | 'network' | 'malformed'>
  readonly message: string
  /** Nothing of the request was sent, because `mayLeave` was false. */
  readonly isKeptBack?: true
}

/**
 * Sends one request. `body` is the whole JSON object, key included. Resolves with a response of any status, or with a failure; rejects only
 * when `signal` aborts. Never puts any part of `body` into a failure.
 */
export interface Transport {
  send(operation: Operation, body: Readonly<Record<string, unknown>>, options: SendOptions): Promise<WireAnswer | TransportFailure>
}

/** Reads caps, people and the balance. Rejects only with an `ApiError`, or when `signal` aborts. */
export interface ReadClient {
  /**
   * Never rejects with an `ApiError`: a failed reading is `unknown` with its failure. `urgent` readings decide a write or read one back, and
   * go before those of a sweep. `late` readings are only shown, and go after them. docs/service.md, GetUsageConfig.
   */
  readCap(scope: Scope, signal?: AbortSignal, urgency?: 'urgent' | 'late'): Promise<CapReading>
  /** Endpoints 2, the whole team. */
  readRoster(signal?: AbortSignal): Promise<Roster & SetAside>
  /** Endpoints 2 with `group_name`; rejects with kind `not_found` when the service does not know the group. */
  readGroup(group: { readonly id: string; readonly name: string }, signal?: AbortSignal): Promise<GroupMembers>
  /** Active days by e-mail, in a range between two UTC midnights. A person without an entry is not known; zeros may be omitted by the service. */
  readActiveDays(days: DayRange, signal?: AbortSignal): Promise<ReadonlyMap<string, number>>
  /** Endpoints 6; `unavailable` when the plan lacks the feature. */
  readBalance(signal?: AbortSignal): Promise<Balance | 'unavailable'>
  /** Endpoints 3: runs summed by day, model and mode, in one request. Rejects with `not_found` for an unknown group. */
  readRuns(question: RunsQuestion, signal?: AbortSignal): Promise<RunsReading>
  /**
   * Add-on use by person, day and model; `unavailable` where the service does not tell it. The roster must have been read before, because it
   * says whose the rows are: otherwise rejects with kind `malformed`. docs/service.md, Add-on use per person.
   */
  readAddOnUse(question: AddOnQuestion, signal?: AbortSignal): Promise<AddOnReading | 'unavailable'>
  /** Forgets the service's keys of a person, until a roster lists them again. */
  forget?(email: string): void
  /** Why keys and certificates cannot be read any more, of those whose last good form is used. */
  filesKept?(): readonly string[]
  /** The service's clock minus ours, from the last `Date` header; absent before the first answer. */
  clockSkewMs(): number | undefined
  /** The time that ages and waits are judged by: no jump of a clock moves it. Absent: the wall clock's. */
  now?(): Instant
  /** The time by the service's clock; absent before the first answer. */
  serviceNow?(): Instant | undefined
}

/** Runs from a UTC midnight on, at most 30 days at once (docs/service.md, What the client tolerates, point 8). */
export interface RunsQuestion {
  readonly fromAt: Instant
  /** Exclusive; absent: up to the latest. */
  readonly untilAt?: Instant
  /** Absent: the whole team. Never together with `email`. */
  readonly groupName?: string
  /** One person: rows name nobody. */
  readonly email?: string
}

/** Whole UTC days of everybody's add-on use. */
export interface AddOnQuestion extends DayRange {
  /** People whose rows are to name nobody. */
  readonly except?: ReadonlySet<string> | undefined
}

/**
 * How a write ended according to the response; the read-back decides. `ambiguous`: it may have landed. `late`: its turn did not come in
 * time, so it was not sent, or had no effect.
 */
export type WriteOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused' | 'ambiguous' | 'late'; readonly failure: WriteFailure }

export type WriteFailure = Pick<ApiErrorFacts, 'kind' | 'message' | 'unsent' | 'lacksFeature'>

export interface WriteClient extends ReadClient {
  // `signal` aborts it at any time, `turn` only while it waits for the rate. docs/service.md, UsageConfig.
  /** Sets a cap (`none` clears it). One with an unknown outcome is not sent again; never rejects with an `ApiError`. */
  writeCap(scope: Scope, cap: Cap, signal?: AbortSignal, turn?: AbortSignal): Promise<WriteOutcome>
}

/** Add-on use on some days from one response; it replaces the earlier rows of these days. */
export interface AddOnBatch extends DayRange {
  readonly rows: readonly AddOnRow[]
  readonly asked: AddOnAsked
}

/** Sums of some days, in credits. */
export type AddOnSum = Pick<AddOnRow, 'used' | 'addOn'>

/** Days by their UTC midnights. */
export type DayRange = Days

/** Runs on some days from one response; it replaces the earlier rows of these days. A day without rows had no runs. */
export interface RunsBatch extends DayRange {
  readonly rows: readonly RunUse[]
  readonly asked: LedgerFacts['runsAsked']
}

/** The ledger's records of one workspace in memory: those of the last `load` with every change since. Throws a `LedgerError` for a damaged row. */
export interface RecordsReader {
  owned(): readonly OwnedCap[]
  openIntents(): readonly Intent[]
  approvals(): readonly Approval[]
  quarantined(): readonly Quarantined[]
  fact<K extends keyof LedgerFacts>(name: K): LedgerFacts[K] | undefined
  /** The writes to a scope since then, last recorded first; of the last day only. `Ledger.history` has all. */
  writtenLately(scope: Scope, sinceAt: Instant): readonly HistoryEntry[]
  /** The same for the team and all groups, also for those that are no longer managed. */
  ancestorWrites(sinceAt: Instant): readonly HistoryEntry[]
}

/**
 * Changes are visible to reads at once. They become durable with the next `recordIntent`, `recordOutcome`, `commit` or saved use, in one
 * transaction with it. A crash before that loses them: call `commit` where they must be kept.
 */
export interface Records extends RecordsReader {
  saveOwned(caps: readonly OwnedCap[]): void
  releaseOwned(keys: readonly ScopeKey[]): void
  /** An approval that another process records before this change is durable takes precedence. */
  saveApproval(approval: Approval): void
  saveQuarantined(entry: Quarantined): void
  releaseQuarantined(keys: readonly ScopeKey[]): void
  /** `undefined` removes the fact. */
  saveFact<K extends keyof LedgerFacts>(name: K, value: LedgerFacts[K] | undefined): void
}

/** Selects a part of history; absent: all of it. */
export interface HistoryFilter {
  readonly scope?: Scope
  readonly sinceAt?: Instant
  /** Inclusive. */
  readonly untilAt?: Instant
  readonly limit?: number
}

/**
 * The durable record of one workspace. When a promise resolves, its record is on the disk, with all earlier changes of `Records`. When it
 * rejects with a `LedgerError`, nothing of it is, and the write to the service must not happen. After a failure the waiting changes stay
 * visible, and are saved with the next successful transaction; each cycle begins with `load`, which rejects until then. They are dropped only
 * when another process may have written meanwhile (LEDGER_FENCED). The calls of one ledger run one after the other.
 */
export interface Ledger extends Records {
  /** Saves the waiting changes, and loads those of other processes. */
  load(): Promise<void>
  /** Saves the waiting changes; without any it does nothing. */
  commit(): Promise<void>
  /** Returns the intent with its id. */
  recordIntent(intent: Omit<Intent, 'id'>): Promise<Intent>
  /** Closes the intent, appends the entry to history (none when nothing was sent), and replaces (`OwnedCap`), removes (`released`) or keeps ownership. */
  recordOutcome(intent: Intent, entry: HistoryEntry | undefined, ownership: OwnedCap | 'released' | 'kept'): Promise<void>
  /** Newest first. */
  history(filter?: HistoryFilter): Promise<readonly HistoryEntry[]>
  /** Not cached, so that a pause by another process counts at once; undefined when there is none or it has ended. */
  pause(now: Instant): Promise<Pause | undefined>
  savePause(pause: Pause | undefined): Promise<void>
  /**
   * Erases all records of a person: history, use, and everything in facts except the policy, also in the records that a rebinding has set
   * aside. `email` is normalised.
   */
  forget(email: string): Promise<void>
  /** What is known of everybody's past use, by e-mail in order; or of one person. */
  histories(email?: string): Promise<readonly PersonHistory[]>
  /**
   * Changes what is known of the past use of people, also beside other processes, and replaces their use on some days with it, in one
   * transaction. `change` makes the new value from the present one, and may be called again; undefined changes nothing. Resolves with whether
   * anything was changed.
   */
  changeHistory(emails: readonly string[], change: (before: PersonHistory) => HistoryChange | undefined): Promise<boolean>
  /** Removes all use that `changeHistory` has saved, and saves when, as the fact `history`. */
  dropHistories(at: Instant): Promise<void>
  /** The first day of which only readings tell, or of which add-on use is measured. */
  firstDay(of: 'recorded' | 'measured'): Promise<Instant | undefined>
  /** Saves the rows of some days, and the fact `runsAsked`. */
  saveRuns(scope: TeamScope | GroupScope, batch: RunsBatch): Promise<void>
  /** Runs by day, model and mode; for a group by day only. `runsAsked` says which days are complete. */
  runs(scope: TeamScope | GroupScope, days: DayRange): Promise<readonly RunUse[]>
  /** Saves the rows of some days, and the fact `addOnAsked`. */
  saveAddOnUse(batch: AddOnBatch): Promise<void>
  /** Measured add-on use summed by person, by e-mail. */
  addOnSums(days: DayRange): Promise<ReadonlyMap<string, AddOnSum>>
  /** The add-on credits in it by model, in the service's spelling. */
  addOnByModel(days: DayRange): Promise<ReadonlyMap<string, Credits>>
  /** The same of one person, by day in order. */
  addOnOfPerson(email: string, days: DayRange): Promise<readonly Omit<AddOnRow, 'email' | 'model'>[]>
  /** Adds a reading of the roster to the use by person and day, and saves the fact `burned`. */
  saveBurn(step: BurnStep): Promise<void>
  /** The highest figure of each person in this cycle, by e-mail. */
  highestUse(): Promise<ReadonlyMap<string, Credits>>
  /** The use of all people at each reading of the last days. */
  useReadings(): Promise<readonly UseReading[]>
  /** Each person's use on these days, as their figures rose; the highest first, and nobody with 0. */
  useByPerson(days: DayRange): Promise<readonly { readonly email: string; readonly used: Credits }[]>
  /** Use by day, for a replay: as figures rose (`estimated`), or as the service measured add-on use (`measured`). */
  useByDay(days: DayRange, source: RecordedDays['addOn']): Promise<RecordedDays>
  /** One person's use by day in order; no entry for days without use. */
  useOfPerson(email: string, days: DayRange): Promise<readonly { readonly dayAt: Instant; readonly used: Credits }[]>
}

/** The leases and policies that the replicas of one ledger share. Every method rejects with a `LedgerError`. */
export interface LeaseTable {
  /** One round trip for all workspaces. A lease is renewed only under its token, and taken only when it has expired. */
  beat(heartbeat: Heartbeat): Promise<HeartbeatAnswer>
  /** Reports the settings of this replica for all of its workspaces. */
  configured(replica: string, configs: ReadonlyMap<string, string>): Promise<void>
  /** Whether a released workspace is free to be taken. */
  hasFree(): Promise<boolean>
  /** Records the policies that this replica has now; resolves with the latest of each of these workspaces. */
  followed(replica: string, policies: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>>
  /** Makes a replaced policy the present one again, if every live replica with the workspace has had one with the same first word for so long. */
  readopt(workspace: string, policy: string, afterMs: number): Promise<boolean>
  /** Saves the state of workspaces for the other replicas; only under their tokens. */
  saveShown(replica: string, shown: readonly (HeldWorkspace & { readonly document: string })[]): Promise<void>
  /** The documents saved since a mark, one a workspace. */
  shownSince(mark: string | undefined): Promise<{ readonly mark: string; readonly documents: ReadonlyMap<string, string> }>
  /** Removes the replica and frees its leases. */
  leave(replica: string): Promise<void>
  /** A value that all replicas share: the first one saved. */
  common(name: string, make: () => string): Promise<string>
}
