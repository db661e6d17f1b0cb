// Everything that can happen in a workspace, as one closed union; and the view of a workspace that /status, the page and the gauges
// are made from. Log lines, counters and the view are each one fold over the events.

import type { ServiceEvidence } from '../interpret/evidence.ts'
import type { PoolFigures } from '../pools/figures.ts'
import type { AddOnSource, MeasuredAddOn } from '../use/add-on.ts'
import type { BurnFigures } from '../use/burn.ts'
import type { ApprovalState, Cause, ChangeResult, Hold, Pause, Plan, ScopeChange } from './change.ts'
import type { Condition, Transition } from './condition.ts'
import type { PoolOfDay } from './journal.ts'
import type { ApiErrorKind, Balance, GroupMembers, Observed, Roster } from './observed.ts'
import type { Cap } from './policy.ts'
import type { Position, Problem } from './problem.ts'
import type { Scope } from './scope.ts'
import type { Credits, Instant } from './units.ts'

export const SCOPE_STATES = ['in_sync', 'drifted', 'held', 'unknown', 'rejected', 'contested', 'skipped', 'undeclared'] as const
export type ScopeState = (typeof SCOPE_STATES)[number]

export const RECONCILE_RESULTS = ['success', 'noop', 'partial', 'held', 'error'] as const
export type ReconcileResult = (typeof RECONCILE_RESULTS)[number]

export const MODES = ['enforce', 'audit', 'paused'] as const
export type Mode = (typeof MODES)[number]

export const REQUEST_OUTCOMES = ['ok', 'rate_limited', 'auth', 'invalid', 'not_found', 'server', 'timeout', 'network', 'malformed'] as const
export type RequestOutcome = 'ok' | ApiErrorKind

/** Where one managed scope stands. */
export interface ScopeStatus {
  readonly scope: Scope
  readonly state: ScopeState
  /** Absent for a scope that nothing declares any more. */
  readonly desired?: Cap
  readonly observed: Observed
  readonly readAt?: Instant
  /** Present while desired ≠ observed. */
  readonly cause?: Cause
  readonly driftSince?: Instant
  readonly source?: Position
  readonly reason?: string
  /** Why it is held, unknown, rejected or skipped; in sync, that a raise by a pool waits. */
  readonly why?: string
}

export const BANDS = ['uncapped', 'under_50', '50_to_85', '85_to_95', '95_to_100', 'at_cap'] as const
export type Band = (typeof BANDS)[number]

export const GRANT_STATES = ['pending', 'active', 'expiring', 'ended'] as const
export type GrantState = (typeof GRANT_STATES)[number]

/** One person as the page shows them; `label` is an e-mail or a hash, as `people` in the config says. */
export interface PersonStatus {
  readonly email: string
  /** The cap in force for this person, as far as known. */
  readonly cap?: Cap
  /** Add-on use. */
  readonly used?: Credits
  readonly source?: AddOnSource
  readonly band?: Band
}

export interface PolicyStatus {
  readonly valid: boolean
  readonly digest: string
  readonly revision: string
  readonly loadedAt: Instant
  readonly problems: readonly Problem[]
}

export interface CycleStatus {
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly result: ReconcileResult
  readonly message?: string
}

/** Credits that one model used in one mode in this cycle. */
export interface ModelUse {
  readonly model: string
  readonly mode: string
  readonly used: Credits
}

/** What is known of use beyond the last reading of the roster. */
export interface UseShown {
  /** Since the first reading ever; groups by id. */
  readonly burned: { readonly team: Credits; readonly groups: Readonly<Record<string, Credits>> }
  readonly runsReadAt?: Instant
  /** The most used first, at most 100 and one for all others. */
  readonly models?: readonly ModelUse[]
  readonly figures?: BurnFigures
}

/** A pool as it stands; without figures while nothing is known of its use. */
export interface PoolStatus {
  readonly name: string
  readonly credits: Credits
  readonly figures?: PoolFigures
  /** When caps were dealt last; absent before the first deal. */
  readonly dealtAt?: Instant
  /** Why the last deal stays. */
  readonly frozen?: string
}

/** The present state of one workspace; what was never known is absent. */
export interface WorkspaceView {
  readonly workspace: string
  readonly mode: Mode
  readonly pause?: Pause
  readonly policy?: PolicyStatus
  readonly scopes: readonly ScopeStatus[]
  readonly holds: readonly Hold[]
  readonly approvals: readonly { readonly id: string; readonly state: ApprovalState }[]
  readonly grants: Readonly<Record<GrantState, number>>
  /** Rules over people, and for how many each is the first that matches; absent while the roster is unknown. */
  readonly rules?: readonly { readonly name: string; readonly people: number }[]
  /** `spec.pools`, as the last cycle left them. */
  readonly pools?: readonly PoolStatus[]
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  readonly balance?: Balance
  readonly people: readonly PersonStatus[]
  /** Add-on use as the service tells it. */
  readonly measured?: MeasuredAddOn
  /** Why it is not measured: the service does not tell it, or not to this key. */
  readonly notMeasured?: 'absent' | 'denied'
  readonly use?: UseShown
  /** Learned requests per second of the key that reads caps. */
  readonly ratePerSecond?: number
  readonly clockSkewMs?: number
  /** What the deployment's own answers have shown of it. */
  readonly seen?: ServiceEvidence
  readonly lastCycle?: CycleStatus
  readonly lastSuccessAt?: Instant
  /** What a person should know now, without what follows from something else. */
  readonly conditions: readonly Condition[]
  /** Absent where this process is the only one that can hold it. */
  readonly lease?: LeaseShown
}

/** Which of several replicas keeps a workspace. */
export interface LeaseShown {
  /** It is the one that shows this. */
  readonly isHere: boolean
  /** Absent: none at the moment. */
  readonly holder?: string
  /** How often it came to this replica. */
  readonly transfers: number
}

/** Something that happened; `workspace` is on every one. */
export type CycleEvent = { readonly workspace: string; readonly at: Instant } & (
  | { readonly kind: 'policy-loaded'; readonly policy: PolicyStatus }
  | { readonly kind: 'request-finished'; readonly operation: string; readonly outcome: RequestOutcome; readonly durationMs: number }
  | { readonly kind: 'rate-learned'; readonly ratePerSecond: number }
  | { readonly kind: 'usage-read'; readonly roster?: Roster; readonly groups: readonly GroupMembers[]; readonly balance?: Balance }
  | { readonly kind: 'planned'; readonly plan: Plan; readonly pools?: Readonly<Record<string, PoolOfDay>> }
  | { readonly kind: 'change-finished'; readonly change: ScopeChange; readonly result: ChangeResult; readonly error?: string }
  | ({ readonly kind: 'condition' } & Transition)
  /** A mistake of ours. */
  | { readonly kind: 'bug'; readonly message: string }
  | {
      readonly kind: 'cycle-finished'
      readonly result: ReconcileResult
      readonly message?: string
      readonly observeMs: number
      readonly applyMs: number
      readonly totalMs: number
    }
)

/** Takes events as they happen. */
export type Emit = (event: CycleEvent) => void
