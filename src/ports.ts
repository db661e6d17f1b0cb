// The edges of the world as interfaces, so that a simulated one can take their place. Types only; no code.
import type { Approval, HistoryEntry, Intent, Pause, Quarantined } from './core/change.ts'
import type { ApiErrorKind, Balance, CapReading, Cycle, GroupMembers, OwnedCap, Roster } from './core/observed.ts'
import type { Cap, PolicyRevision } from './core/policy.ts'
import type { Scope, ScopeKey } from './core/scope.ts'
import type { Credits, Instant } from './core/units.ts'

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
}

export interface SendOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** No answer arrived; whether the request took effect is not known. */
export interface TransportFailure {
  readonly kind: Extract<ApiErrorKind, 'timeout' | 'network'>
  readonly message: string
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
   * decides about a write, or reads one back. interface-spec.md, Endpoints 4.
   */
  readCap(scope: Scope, signal?: AbortSignal, urgent?: 'urgent'): Promise<CapReading>
  /** Endpoints 2, the whole team. */
  readRoster(signal?: AbortSignal): Promise<Roster>
  /** Endpoints 2 with `group_name`; rejects with kind `not_found` when the service does not know the group. */
  readGroup(group: { readonly id: string; readonly name: string }, signal?: AbortSignal): Promise<GroupMembers>
  /** Endpoints 6; `unavailable` when the plan lacks the feature. */
  readBalance(signal?: AbortSignal): Promise<Balance | 'unavailable'>
  /** The service's clock minus ours, from the last `Date` header; absent before the first answer. */
  clockSkewMs(): number | undefined
}

/** How a write ended as far as the answer tells; reading back decides. `ambiguous`: it may or may not have landed. */
export type WriteOutcome = { readonly kind: 'accepted' } | { readonly kind: 'refused' | 'ambiguous'; readonly failure: WriteFailure }

export interface WriteFailure {
  readonly kind: ApiErrorKind
  readonly message: string
  /** The request never left. */
  readonly unsent?: true
}

export interface WriteClient extends ReadClient {
  /** Endpoints 5: sets a cap, or clears it when `cap` is `none`. Sent once when its fate is unknown; never rejects with an `ApiError`. */
  writeCap(scope: Scope, cap: Cap, signal?: AbortSignal): Promise<WriteOutcome>
}

/** Single values that the ledger keeps for a workspace, by name. */
export interface LedgerFacts {
  /** The last good policy set. */
  readonly policy: PolicyRevision
  /** Learned pace by key name, as `core/pacing.ts` makes it. */
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
  readonly copyingSeen: { readonly at: Instant; readonly evidence: string }
  /** Team and group writes after which the scopes beneath were not compared yet. */
  readonly wideLooks: readonly WideLook[]
  readonly inheritedReadsSeen: { readonly at: Instant; readonly evidence: string }
  /** How many people each present hold affected when it was first shown; an approval is void when it has grown by a quarter. */
  readonly holdsShown: Readonly<Record<string, { readonly people: number; readonly at: Instant; readonly roster?: number }>>
  /** What e-mails are hashed with where people are not to be named; made once. */
  readonly peopleSalt: string
  /** Since when each drifting scope drifts. */
  readonly driftSince: Readonly<Record<ScopeKey, Instant>>
}

/** What the scopes beneath a team or group had before it was written. */
export interface WideLook {
  readonly at: Instant
  readonly scope: Scope
  readonly from: Cap
  readonly to: Cap
  readonly before: Readonly<Record<ScopeKey, Cap>>
}

export interface UsageFacts {
  readonly roster: Roster
  readonly groups: readonly GroupMembers[]
  readonly balance?: Balance
  /** A short reading that is doubted (`rosterShrink`). */
  readonly doubted?: { readonly roster: Roster; readonly since: Instant }
  /** What each person had used at the end of the previous cycle, for the first 6 h of a new one. */
  readonly previousCycle?: { readonly cycle: Cycle; readonly used: Readonly<Record<string, Credits>> }
}

/**
 * The durable record of one workspace. Every method is synchronous and durable when it returns; a failure of the disk throws a
 * `LedgerError`, and then the write to the service must not happen.
 */
export interface Ledger {
  owned(): readonly OwnedCap[]
  saveOwned(caps: readonly OwnedCap[]): void
  releaseOwned(keys: readonly ScopeKey[]): void
  openIntents(): readonly Intent[]
  /** Returns the intent with its id. */
  recordIntent(intent: Omit<Intent, 'id'>): Intent
  /**
   * One transaction: closes the intent, appends to history (nothing, when nothing was sent), and replaces (`OwnedCap`), removes
   * (`released`) or keeps ownership.
   */
  recordOutcome(intent: Intent, entry: HistoryEntry | undefined, ownership: OwnedCap | 'released' | 'kept'): void
  /** Newest first. */
  history(filter?: { readonly scope?: Scope; readonly sinceAt?: Instant; readonly limit?: number }): readonly HistoryEntry[]
  approvals(): readonly Approval[]
  saveApproval(approval: Approval): void
  quarantined(): readonly Quarantined[]
  saveQuarantined(entry: Quarantined): void
  releaseQuarantined(keys: readonly ScopeKey[]): void
  /** Read afresh from disk, so that `pause` of another process is seen at once; absent when none or ended. */
  pause(now: Instant): Pause | undefined
  savePause(pause: Pause | undefined): void
  fact<K extends keyof LedgerFacts>(name: K): LedgerFacts[K] | undefined
  /** `undefined` forgets it. */
  saveFact<K extends keyof LedgerFacts>(name: K, value: LedgerFacts[K] | undefined): void
}
