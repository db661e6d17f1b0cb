// The edges of the world as interfaces, so that a simulated one can take their place. Types only; no code.

import type { ServiceEvidence } from './core/interpret/evidence.ts'
import type { Approval, HistoryEntry, Intent, Pause, Quarantined } from './core/model/change.ts'
import type { DayFigures, JournalEntry } from './core/model/journal.ts'
import type {
  AddOnReading,
  AddOnRow,
  ApiErrorKind,
  Balance,
  CapReading,
  GroupMembers,
  OwnedCap,
  Roster,
  RunsReading,
  RunUse,
  SetAside,
} from './core/model/observed.ts'
import type { Cap, PolicyRevision } from './core/model/policy.ts'
import type { GroupScope, Scope, ScopeKey, TeamScope } from './core/model/scope.ts'
import type { Credits, Instant } from './core/model/units.ts'
import type { Told } from './core/notify/told.ts'
import type { HoldsShown } from './core/plan/approval.ts'
import type { OpenBreaker } from './core/plan/breaker.ts'
import type { Contest } from './core/plan/contested.ts'
import type { NotedRules } from './core/plan/reviewed.ts'
import type { Heartbeat, HeartbeatAnswer, HeldWorkspace } from './core/replicas/table.ts'
import type { ConditionMemory } from './core/resolve/conditions.ts'
import type { DealtPools } from './core/resolve/pools.ts'
import type { MeasuredAddOn } from './core/use/add-on.ts'
import type { BurnedFacts, BurnStep } from './core/use/burned.ts'
import type { RecordedDays } from './core/use/replay/recorded.ts'
import type { EndedCycle, Turn } from './core/use/turn.ts'
import type { UseReading } from './core/use/use-curve.ts'

export interface Clock {
  /** Wall clock, milliseconds since the epoch. Grants, ages and records run on it. */
  now(): number
  /** Monotonic clock, milliseconds from an arbitrary start. Intervals, timeouts and pacing run on it. */
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

export type Operation = 'Analytics' | 'UserPageAnalytics' | 'CascadeAnalytics' | 'GetUsageConfig' | 'UsageConfig' | 'GetTeamCreditBalance'

/** An HTTP answer as it arrived. Header names are lower case. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  /** The value of the body, where it was read row by row; `body` then lacks the rows. Undefined in it: the body is not JSON. */
  readonly rows?: { readonly value: unknown }
}

/** The names on the way to a row; `*` is any place of a list, and the last name always is one. */
export type RowPath = readonly string[]

/** A listing that need not be in memory as a whole: where its rows stand, and what is needed of each. */
export interface RowPlan {
  readonly at: readonly RowPath[]
  /** For one list of an answer: takes each row and returns what is kept in its place, undefined for nothing. */
  keeper(): (row: unknown) => unknown
  /** What was said stays in memory, until what has the same name is asked again; absent: it is used up. */
  readonly staysAs?: string
}

export interface SendOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** A transport may use it, or leave it and give the whole body. */
  readonly rows?: RowPlan
  /** Asked when the connection stands, before anything is sent over it; false: nothing is. A transport that needs no time for it may leave it. */
  readonly mayLeave?: () => boolean
}

/** No answer arrived, or one past a bound (`malformed`); whether the request took effect is not known. */
export interface TransportFailure {
  readonly kind: Extract<ApiErrorKind, 'timeout' | 'network' | 'malformed'>
  readonly message: string
  /** Nothing of it was sent, because it might not leave any more. */
  readonly isKeptBack?: true
}

/**
 * Carries one request. `body` is the whole JSON object, key included. Resolves with an answer of any status, or with a failure;
 * rejects only when `signal` aborts. Never puts any part of `body` into a failure.
 */
export interface Transport {
  send(operation: Operation, body: Readonly<Record<string, unknown>>, options: SendOptions): Promise<WireAnswer | TransportFailure>
}

/** Reads caps, people and the balance. Rejects only with an `ApiError`, or when `signal` aborts. */
export interface ReadClient {
  /**
   * Never rejects with an `ApiError`: a failed reading is `unknown` with its failure. `urgent` goes before a sweep's other readings: what
   * decides about a write, or reads one back. `late` goes behind them: it is only to be shown. interface-spec.md, Endpoints 4.
   */
  readCap(scope: Scope, signal?: AbortSignal, urgency?: 'urgent' | 'late'): Promise<CapReading>
  /** Endpoints 2, the whole team. */
  readRoster(signal?: AbortSignal): Promise<Roster & SetAside>
  /** Endpoints 2 with `group_name`; rejects with kind `not_found` when the service does not know the group. */
  readGroup(group: { readonly id: string; readonly name: string }, signal?: AbortSignal): Promise<GroupMembers>
  /**
   * Endpoints 2: on how many days of a range everybody was active, by e-mail; from a UTC midnight to another, exclusive. Who is not in it is
   * not known; a figure that is left out is 0 where zeros are left out.
   */
  readActiveDays(days: DayRange, signal?: AbortSignal): Promise<ReadonlyMap<string, number>>
  /** Endpoints 6; `unavailable` when the plan lacks the feature. */
  readBalance(signal?: AbortSignal): Promise<Balance | 'unavailable'>
  /** Endpoints 3: runs summed by day, model and mode, in one request. A `group_name` the service does not know rejects with `not_found`. */
  readRuns(question: RunsQuestion, signal?: AbortSignal): Promise<RunsReading>
  /**
   * Add-on use by person, day and model; `unavailable` where the service does not tell it. Rejects with kind `malformed` before the roster
   * was read, which says whose the rows are. service-notes.md, section 1, Add-on use per person.
   */
  readAddOnUse(question: AddOnQuestion, signal?: AbortSignal): Promise<AddOnReading | 'unavailable'>
  /** Whose keys somebody had is not known any more, until a roster lists them again. */
  forget?(email: string): void
  /** The service's clock minus ours, from the last `Date` header; absent before the first answer. */
  clockSkewMs(): number | undefined
}

/** Runs from a UTC midnight on; 30 days at most are asked for at once (service-notes.md, section 2, point 8). */
export interface RunsQuestion {
  readonly fromAt: Instant
  /** Exclusive; absent: up to the latest. */
  readonly untilAt?: Instant
  /** Absent: the whole team. */
  readonly groupName?: string
}

/** Whole UTC days of add-on use. */
export interface AddOnQuestion extends DayRange {
  /** Absent: everybody. */
  readonly emails?: readonly string[]
}

/**
 * How a write ended as far as the answer tells; reading back decides. `ambiguous`: it may or may not have landed. `late`: its turn did not come
 * in time, so it was not sent, or had no effect.
 */
export type WriteOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused' | 'ambiguous' | 'late'; readonly failure: WriteFailure }

export interface WriteFailure {
  readonly kind: ApiErrorKind
  readonly message: string
  /** The request never left. */
  readonly unsent?: true
  /** The workspace has no caps, whatever the key. */
  readonly lacksFeature?: true
}

export interface WriteClient extends ReadClient {
  /**
   * Endpoints 5: sets a cap, or clears it when `cap` is `none`. Sent once when its fate is unknown; never rejects with an `ApiError`. `signal` ends
   * it at any time, `turn` only while it waits for the rate.
   */
  writeCap(scope: Scope, cap: Cap, signal?: AbortSignal, turn?: AbortSignal): Promise<WriteOutcome>
}

/** Single values that the ledger keeps for a workspace, by name. */
export interface LedgerFacts {
  /** The last good policy set. */
  readonly policy: PolicyRevision
  /** Learned pace by key name, as `core/pace/pacing.ts` makes it. */
  readonly pace: Readonly<Record<string, unknown>>
  /** The last good roster and what came with it. */
  readonly usage: UsageFacts
  /** Declared scopes of the set last verified in enforce mode, for `emptyPolicy`. */
  readonly verifiedDeclared: number
  /** Caps in force where an interrupted plan began; absent once it is through. */
  readonly planBaseline: Readonly<Record<ScopeKey, Cap>>
  /** When the plan of `planBaseline` began. */
  readonly planBegunAt: Instant
  /** Group membership conflicts: how many agreeing readings in a row said that there is none any more. */
  readonly conflictsGone: Readonly<Record<string, number>>
  /** The groups that differed for each person with a cap of the conflict rule, as last seen. */
  readonly conflictGroups: Readonly<Record<string, readonly string[]>>
  /** Who the conditions of rules and pools hold for, as agreeing readings of the roster have settled it. */
  readonly conditions: ConditionMemory
  /** How this deployment treats caps and answers, as far as it was seen, with the evidence. */
  readonly seen: ServiceEvidence
  /** Every hold as it was first shown; an approval is void when it has grown by a quarter. */
  readonly holdsShown: HoldsShown
  /** What pools have dealt and what may still be in force, by name: recorded before a deal is written. */
  readonly pools: DealtPools
  /** Guards and protected people, and as they were before they were weakened lately. */
  readonly rules: NotedRules
  /** Since when each managed scope could not be read. */
  readonly unreadSince: Readonly<Record<ScopeKey, Instant>>
  /** When each write of the last day to the team or a group was recorded that was looked beneath, or came before one that was. */
  readonly writesLooked: Readonly<Record<ScopeKey, readonly Instant[]>>
  /** What e-mails are hashed with where people are not to be named; made once. */
  readonly peopleSalt: string
  /** Present while writes fail for a shared cause; gone with the first that succeeds. */
  readonly breaker: OpenBreaker
  /** Scopes that others change again and again, which are left alone for a day. */
  readonly contested: Readonly<Record<ScopeKey, Contest>>
  /** Since when each drifting scope drifts. */
  readonly driftSince: Readonly<Record<ScopeKey, Instant>>
  /** How far runs were asked for, of the team and of each declared group. */
  readonly runsAsked: Readonly<Record<ScopeKey, RunsAsked>>
  /** What happened beside writes, oldest first. */
  readonly journal: readonly JournalEntry[]
  /** Figures of days, in order. */
  readonly days: readonly DayFigures[]
  /** How far add-on use was asked for; absent where the service does not tell it. */
  readonly addOnAsked: AddOnAsked
  /** What it comes to in the present cycle and the one before. */
  readonly addOn: MeasuredAddOn
  /** Credits burned since the first reading; survives cycle resets and restarts. */
  readonly burned: BurnedFacts
  /** Which messages went out in this billing cycle, are about to, or could not. */
  readonly told: Told
  /** Who was forgotten beside whoever keeps the caps, until they have as well: when, and SHA-256 of that, a line end and the address. */
  readonly forgotten: readonly { readonly at: Instant; readonly hash: string }[]
}

/** Every day from `fromAt` to `throughAt` was asked for; both are UTC midnights. */
export interface RunsAsked {
  readonly fromAt: Instant
  readonly throughAt: Instant
  readonly readAt: Instant
  /** When the days before were last read again, which may have been amended. */
  readonly wideAt: Instant
}

/** How far add-on use was asked for, and how far back it goes. */
export interface AddOnAsked extends RunsAsked {
  /** Some row was ever there; a source without any tells nothing. */
  readonly hasRows: boolean
  /** So many of the earliest days, as they were asked for, held nothing. */
  readonly emptyDays: number
  /** Days before `fromAt` need not be asked for. */
  readonly isWhole: boolean
}

/** What one answer said of add-on use on some days, which replaces what was known of them. */
export interface AddOnBatch extends DayRange {
  readonly rows: readonly AddOnRow[]
  readonly asked: AddOnAsked
}

/** Add-on use of one person on one day. */
export interface AddOnDay {
  readonly dayAt: Instant
  readonly addOn: Credits
}

/** Sums of some days, in credits. */
export interface AddOnSum {
  readonly used: Credits
  readonly addOn: Credits
}

/** Days by their UTC midnights. */
export interface DayRange {
  readonly fromAt: Instant
  /** Exclusive. */
  readonly untilAt: Instant
}

/** What one answer said of some days, which replaces what was known of them; a day without rows was one without runs. */
export interface RunsBatch extends DayRange {
  readonly rows: readonly RunUse[]
  readonly asked: LedgerFacts['runsAsked']
}

export interface UsageFacts {
  readonly roster: Roster
  readonly groups: readonly GroupMembers[]
  readonly balance?: Balance
  /** A short reading that is doubted (`rosterShrink`). */
  readonly doubted?: { readonly roster: Roster; readonly since: Instant }
  /** Another cycle was named, and the figures are not known to be of it. */
  readonly turn?: Turn
  /** What each person had used at the end of the previous cycle, for the first 6 h of a new one. */
  readonly previousCycle?: EndedCycle
}

/** What a ledger holds of one workspace, in memory, as of the last `load` and with every change since. Throws a `LedgerError` for a damaged row. */
export interface RecordsReader {
  owned(): readonly OwnedCap[]
  openIntents(): readonly Intent[]
  approvals(): readonly Approval[]
  quarantined(): readonly Quarantined[]
  fact<K extends keyof LedgerFacts>(name: K): LedgerFacts[K] | undefined
  /** What was written at a scope since then, what was recorded last first; of the last day only. `Ledger.history` has the rest. */
  writtenLately(scope: Scope, sinceAt: Instant): readonly HistoryEntry[]
  /** The same of the team and all groups, also of those that nothing manages any more. */
  ancestorWrites(sinceAt: Instant): readonly HistoryEntry[]
}

/**
 * Changes show at once in what is read, and are on the disk with the next `recordIntent`, `recordOutcome`, `commit` or saved use, in one
 * transaction with it. Until then a crash forgets them: whoever needs them kept says `commit`.
 */
export interface Records extends RecordsReader {
  saveOwned(caps: readonly OwnedCap[]): void
  releaseOwned(keys: readonly ScopeKey[]): void
  /** While a daemon's change waits, an approval that another process recorded meanwhile wins. */
  saveApproval(approval: Approval): void
  saveQuarantined(entry: Quarantined): void
  releaseQuarantined(keys: readonly ScopeKey[]): void
  /** `undefined` forgets it. */
  saveFact<K extends keyof LedgerFacts>(name: K, value: LedgerFacts[K] | undefined): void
}

/** Which part of history; absent: all of it. */
export interface HistoryFilter {
  readonly scope?: Scope
  readonly sinceAt?: Instant
  /** Itself included. */
  readonly untilAt?: Instant
  readonly limit?: number
}

/**
 * The durable record of one workspace. A promise that resolves means that it is on the disk, together with all changes of `Records` before
 * it; one that rejects with a `LedgerError` means that nothing of it is, and then the write to the service must not happen. After a failure
 * the waiting changes still show, and go with the next transaction that succeeds; each cycle begins with `load`, which rejects until they
 * are written. Only when others may have written meanwhile (LEDGER_FENCED) they are forgotten. Calls of one ledger are carried out one after
 * the other.
 */
export interface Ledger extends Records {
  /** Writes what waits, and takes up what other processes recorded. */
  load(): Promise<void>
  /** Writes what waits; without anything that waits it does nothing. */
  commit(): Promise<void>
  /** Returns the intent with its id. */
  recordIntent(intent: Omit<Intent, 'id'>): Promise<Intent>
  /** Closes the intent, appends to history (nothing, when nothing was sent), and replaces (`OwnedCap`), removes (`released`) or keeps ownership. */
  recordOutcome(intent: Intent, entry: HistoryEntry | undefined, ownership: OwnedCap | 'released' | 'kept'): Promise<void>
  /** Newest first. */
  history(filter?: HistoryFilter): Promise<readonly HistoryEntry[]>
  /** Read afresh, so that `pause` of another process is seen at once; absent when none or ended. */
  pause(now: Instant): Promise<Pause | undefined>
  savePause(pause: Pause | undefined): Promise<void>
  /**
   * Erases what is kept of a person: history, use, and everything about them in single values but the policy, also in what a rebinding set
   * aside. `email` is normalised.
   */
  forget(email: string): Promise<void>
  /** The rows of some days, and the fact `runsAsked`. */
  saveRuns(scope: TeamScope | GroupScope, batch: RunsBatch): Promise<void>
  /** By day, model and mode; of a group summed over these. For a report of a cycle, as far as `runsAsked` says. */
  runs(scope: TeamScope | GroupScope, days: DayRange): Promise<readonly RunUse[]>
  /** The rows of some days, and the fact `addOnAsked`. */
  saveAddOnUse(batch: AddOnBatch): Promise<void>
  /** Add-on use by day, person and model, in this order. */
  addOnUse(days: DayRange): Promise<readonly AddOnRow[]>
  /** The same summed by person, by e-mail. */
  addOnSums(days: DayRange): Promise<ReadonlyMap<string, AddOnSum>>
  /** What one person paid from add-on credits, by day in order; no row for days without rows. */
  addOnOfPerson(email: string, days: DayRange): Promise<readonly AddOnDay[]>
  /** What a reading of the roster adds to people's days, and the fact `burned`. */
  saveBurn(step: BurnStep): Promise<void>
  /** The highest figure of each person in this cycle, by e-mail. */
  highestUse(): Promise<ReadonlyMap<string, Credits>>
  /** What everybody had used, by reading; of the last days only. */
  useReadings(): Promise<readonly UseReading[]>
  /** What people burned on these days, as their figures rose; the most first. Nobody is listed twice, and nobody with nothing. */
  useByPerson(days: DayRange): Promise<readonly { readonly email: string; readonly used: Credits }[]>
  /** Use by day, for a replay: as figures rose (`estimated`), or as the service tells add-on use (`measured`). */
  useByDay(days: DayRange, source: RecordedDays['addOn']): Promise<RecordedDays>
  /** What one person burned, by day in order; no row for days without. */
  useOfPerson(email: string, days: DayRange): Promise<readonly { readonly dayAt: Instant; readonly used: Credits }[]>
}

/** What the replicas of one ledger know of each other. Every method rejects with a `LedgerError`. */
export interface LeaseTable {
  /** One round trip for all workspaces; a lease is renewed only under its token, and taken only when it is over. */
  beat(heartbeat: Heartbeat): Promise<HeartbeatAnswer>
  /** Somebody let go of a workspace, and nobody has taken it. */
  hasFree(): Promise<boolean>
  /** This replica has these policies now; resolves with those that came last of each of these workspaces. */
  followed(replica: string, policies: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>>
  /** Makes a policy that was replaced the present one, if every live replica has had one of the same first word for so long. */
  readopt(workspace: string, policy: string, afterMs: number): Promise<boolean>
  /** What workspaces show, for the other replicas; only under their tokens. */
  saveShown(replica: string, shown: readonly (HeldWorkspace & { readonly document: string })[]): Promise<void>
  /** What was saved since; a workspace is in it once. */
  shownSince(mark: string | undefined): Promise<{ readonly mark: string; readonly documents: ReadonlyMap<string, string> }>
  /** The replica is gone; leases that it still has go free. */
  leave(replica: string): Promise<void>
  /** A value that all replicas share: what was kept first. */
  common(name: string, make: () => string): Promise<string>
}
