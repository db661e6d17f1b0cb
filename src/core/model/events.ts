// All events of a workspace as one closed union, and the view of a workspace that /status, the pages and the gauges are made from. Log lines
// and counters are folds over the events, and so is the journal, which keeps some of them.
import type { ServiceEvidence } from '../interpret/evidence.ts'
import type { PoolFigures } from '../pools/figures.ts'
import type { AddOnSource, MeasuredAddOn } from '../use/add-on.ts'
import type { BurnFigures } from '../use/burn.ts'
import type { DayGrade } from '../use/history.ts'
import {
  type ApprovalState,
  type Cause,
  type ChangeResult,
  GUARD_CODES,
  type Hold,
  type Pause,
  type Plan,
  type ScopeChange,
} from './change.ts'
import type { Condition, Transition } from './condition.ts'
import { API_ERROR_KINDS, type Balance, type GroupMembers, OBSERVED, type Observed, type Roster, type RunUse } from './observed.ts'
import { CAP, type Cap, type KeptRevision } from './policy.ts'
import type { Position, Problem } from './problem.ts'
import { SCOPE, type Scope } from './scope.ts'
import { amount, boolean, byKind, instant, list, number, type Of, oneOf, optional, record, shape, text } from './shape.ts'
import type { Credits, Instant } from './units.ts'

// The records behind the timeline and the charts: events of a workspace beside its writes, and figures by day. Both are bounded facts of the
// ledger. Writes are in the history, and are not repeated here.

const AT = { at: instant }
export const JOURNAL_ENTRY = byKind({
  /** `more`: the number of further ones at that time, which are not listed. `planId`: of the plan that found it. */
  foreign: { ...AT, scope: SCOPE, verified: CAP, observed: OBSERVED, more: optional(number), planId: optional(text) },
  /** `planId`: of the plan that showed it first. */
  hold: { ...AT, id: text, guards: list(oneOf(GUARD_CODES)), people: number, planId: optional(text) },
  release: { ...AT, id: text },
  policy: { ...AT, digest: text, revision: text, valid: boolean },
  pause: { ...AT, untilAt: instant, reason: text },
  resume: AT,
  outage: { ...AT, message: optional(text) },
  recovery: AT,
})
export type JournalEntry = Of<typeof JOURNAL_ENTRY>

/** A pool at the end of a day, in the cycle of that day. */
const POOL_OF_DAY = shape({
  credits: number,
  used: number,
  /** The sum of the amounts that its members count at; absent while a member's cap is not known. */
  dealt: optional(number),
})
export type PoolOfDay = Of<typeof POOL_OF_DAY>

/** Counts of one day, and figures at its end. */
export const DAY_FIGURES = shape({
  /** Midnight, UTC. */
  dayAt: instant,
  /** Foreign changes that were found. */
  found: number,
  /** Foreign changes that were reverted. */
  reverted: number,
  /** Credits used in the cycle, in the last reading. */
  used: optional(amount),
  /** Pools in the last plan, by name; absent on days too long ago to be shown. */
  pools: optional(record(POOL_OF_DAY)),
})
export type DayFigures = Of<typeof DAY_FIGURES>

/** What the history of changes tells: our writes, and the kinds of the journal. */
export const CHANGE_KINDS = ['write', 'foreign', 'hold', 'release', 'policy', 'pause', 'resume', 'outage', 'recovery'] as const

export const SCOPE_STATES = ['in_sync', 'drifted', 'held', 'unknown', 'rejected', 'contested', 'skipped', 'undeclared'] as const
export type ScopeState = (typeof SCOPE_STATES)[number]

export const RECONCILE_RESULTS = ['success', 'noop', 'partial', 'held', 'error'] as const
export type ReconcileResult = (typeof RECONCILE_RESULTS)[number]

export const MODES = ['enforce', 'audit', 'paused'] as const
export type Mode = (typeof MODES)[number]

export const REQUEST_OUTCOMES = ['ok', ...API_ERROR_KINDS] as const
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number]

/** The state of one managed scope. */
export interface ScopeStatus {
  readonly scope: Scope
  readonly state: ScopeState
  /** Absent for a scope that is no longer declared. */
  readonly desired?: Cap
  readonly observed: Observed
  readonly readAt?: Instant
  /** Present while desired ≠ observed. */
  readonly cause?: Cause
  readonly driftSince?: Instant
  readonly source?: Position
  readonly reason?: string
  /** Why it is held, unknown, rejected or skipped; in sync: that a pool's raise waits. */
  readonly why?: string
}

export const BANDS = ['uncapped', 'under_50', '50_to_85', '85_to_95', '95_to_100', 'at_cap'] as const
export type Band = (typeof BANDS)[number]

export const GRANT_STATES = ['pending', 'active', 'expiring', 'ended'] as const
export type GrantState = (typeof GRANT_STATES)[number]

/** One person as the pages show them. */
export interface PersonStatus {
  readonly email: string
  /** The cap in force, as far as known. */
  readonly cap?: Cap
  /** Add-on use. */
  readonly used?: Credits
  readonly source?: AddOnSource
  readonly band?: Band
}

export interface PolicyStatus extends Pick<KeptRevision, 'digest' | 'revision'> {
  readonly valid: boolean
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
export type ModelUse = Required<Pick<RunUse, 'model' | 'mode' | 'used'>>

/** Figures of use beside those of the roster. */
export interface UseShown {
  /** Since the first reading ever; groups by id. */
  readonly burned: { readonly team: Credits; readonly groups: Readonly<Record<string, Credits>> }
  readonly runsReadAt?: Instant
  /** The most used first, at most 100 and one for all others. */
  readonly models?: readonly ModelUse[]
  readonly figures?: BurnFigures
}

/** How much of the past of people is known. */
export interface HistoryShown {
  readonly fromAt: Instant
  /** Exclusive. */
  readonly untilAt: Instant
  /** Days of people by their grade. */
  readonly days: Readonly<Record<DayGrade, number>>
  /** Ranges of people that must still be read. */
  readonly left: number
  /** Why no more is read. */
  readonly stopped?: string
}

/** A pool; without figures while its use is not known. */
export interface PoolStatus {
  readonly name: string
  readonly credits: Credits
  readonly figures?: PoolFigures
  /** The last deal; absent before the first. */
  readonly dealtAt?: Instant
  /** Why no new deal is made. */
  readonly frozen?: string
}

/** The present state of one workspace; figures that were never known are absent. */
export interface WorkspaceView {
  readonly workspace: string
  readonly mode: Mode
  readonly pause?: Pause
  readonly policy?: PolicyStatus
  readonly scopes: readonly ScopeStatus[]
  readonly holds: readonly Hold[]
  readonly approvals: readonly { readonly id: string; readonly state: ApprovalState }[]
  readonly grants: Readonly<Record<GrantState, number>>
  /** Rules, and for how many people each is the first that matches; absent while the roster is unknown. */
  readonly rules?: readonly { readonly name: string; readonly people: number }[]
  /** `spec.pools`, as the last cycle left them. */
  readonly pools?: readonly PoolStatus[]
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  readonly balance?: Balance
  readonly people: readonly PersonStatus[]
  /** Add-on use as the service tells it. */
  readonly measured?: MeasuredAddOn
  /** Why it is not measured: the service does not tell it at all, or not to this key. */
  readonly notMeasured?: 'absent' | 'denied'
  readonly use?: UseShown
  readonly history?: HistoryShown
  /** Learned requests per second of the key that reads caps. */
  readonly ratePerSecond?: number
  readonly clockSkewMs?: number
  /** The wall clock minus the time by which the rest is dated: another than 0 while the wall clock has jumped. */
  readonly aheadMs?: number
  /** How the deployment was observed to work. */
  readonly seen?: ServiceEvidence
  readonly lastCycle?: CycleStatus
  readonly lastSuccessAt?: Instant
  /** The conditions that do not follow from another one. */
  readonly conditions: readonly Condition[]
  /** Absent where only this process can hold the workspace. */
  readonly lease?: LeaseShown
}

/** Which of several replicas holds a workspace. */
export interface LeaseShown {
  /** This replica holds it. */
  readonly isHere: boolean
  /** Absent: no replica holds it now. */
  readonly holder?: string
  /** How often it came to this replica. */
  readonly transfers: number
}

export type CycleEvent = { readonly workspace: string; readonly at: Instant } & (
  | { readonly kind: 'policy-loaded'; readonly policy: PolicyStatus }
  | { readonly kind: 'request-finished'; readonly operation: string; readonly outcome: RequestOutcome; readonly durationMs: number }
  | { readonly kind: 'usage-read'; readonly roster?: Roster; readonly groups: readonly GroupMembers[]; readonly balance?: Balance }
  | { readonly kind: 'planned'; readonly plan: Plan; readonly pools?: Readonly<Record<string, PoolOfDay>> }
  | { readonly kind: 'change-finished'; readonly change: ScopeChange; readonly result: ChangeResult; readonly error?: string }
  | ({ readonly kind: 'condition' } & Transition)
  /** A bug of capkeeper itself. */
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

export type EventOf<Kind extends CycleEvent['kind']> = Extract<CycleEvent, { readonly kind: Kind }>

export type Emit = (event: CycleEvent) => void
