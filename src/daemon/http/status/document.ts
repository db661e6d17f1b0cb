// The shape of /status: what the page shows and `capkeeper status` prints. Types only. Instants are RFC 3339 in UTC, people stand in it
// by e-mail or by hash, lists are bounded and say what they leave out, and what was never known is absent.

import type { Aspect } from '../../../core/interpret/evidence.ts'
import type { ApprovalState, Cause, GuardCode } from '../../../core/model/change.ts'
import type { ConditionType, Severity } from '../../../core/model/condition.ts'
import type { Band, GrantState, Mode, ReconcileResult, ScopeState } from '../../../core/model/events.ts'
import type { Observed } from '../../../core/model/observed.ts'
import type { Cap } from '../../../core/model/policy.ts'
import type { ScopeKind } from '../../../core/model/scope.ts'
import type { AddOnSource } from '../../../core/use/add-on.ts'
import type { BurnWindow } from '../../../core/use/burn.ts'
import type { PeopleShown } from './labels.ts'

export interface StatusDocument {
  readonly apiVersion: 'capkeeper/v1'
  readonly kind: 'Status'
  readonly version: string
  readonly at: string
  readonly people: PeopleShown
  readonly configValid: boolean
  readonly ledgerWritable: boolean
  /** Of the process as a whole; what needs a person first. */
  readonly conditions: readonly ConditionEntry[]
  readonly workspaces: readonly WorkspaceStatus[]
}

export interface WorkspaceStatus {
  readonly workspace: string
  readonly mode: Mode
  /** Where several replicas share the ledger: who keeps the workspace, absent while nobody does. */
  readonly lease?: { readonly isHere: boolean; readonly holder?: string }
  readonly pause?: { readonly until: string; readonly reason: string; readonly since: string }
  readonly policy?: PolicySummary
  readonly lastCycle?: {
    readonly startedAt: string
    readonly finishedAt: string
    readonly result: ReconcileResult
    readonly message?: string
  }
  readonly lastSuccessAt?: string
  readonly scopeCounts: Readonly<Record<ScopeKind, Readonly<Record<ScopeState, number>>>>
  /** Those that need attention first. */
  readonly scopes: readonly ScopeEntry[]
  readonly scopesOmitted: number
  readonly holds: readonly HoldEntry[]
  readonly approvals: readonly { readonly id: string; readonly state: ApprovalState }[]
  readonly grants: Readonly<Record<GrantState, number>>
  /** Budgets over caps, by name. */
  readonly pools: readonly PoolEntry[]
  readonly poolsOmitted: number
  /** How many people each rule reaches, in the order in which rules count. */
  readonly rules: readonly { readonly name: string; readonly people: number }[]
  readonly rulesOmitted: number
  readonly use?: UseSummary
  readonly balance?: BalanceSummary
  readonly burn?: BurnSummary
  readonly groups: readonly {
    readonly id: string
    readonly name: string
    readonly members: number
    readonly used?: number
    readonly readAt: string
  }[]
  readonly ratePerSecond?: number
  readonly clockSkewSeconds?: number
  /** What the deployment's own answers have shown of it, each with its evidence. */
  readonly seen?: readonly SeenEntry[]
  /** What needs a person first. */
  readonly conditions: readonly ConditionEntry[]
  readonly conditionsOmitted: number
  /** The messages of those conditions that show nowhere else here. */
  readonly warnings: readonly string[]
}

export interface ConditionEntry {
  readonly type: ConditionType
  readonly severity: Severity
  readonly subject: string
  /** A code of docs/codes.md. */
  readonly reason: string
  readonly message: string
  readonly since: string
}

export interface SeenEntry {
  readonly aspect: Aspect
  readonly value: string
  readonly at: string
  readonly evidence: string
  /** What was seen earlier and contradicts it. */
  readonly before?: { readonly value: string; readonly at: string; readonly evidence: string }
}

export interface PolicySummary {
  readonly valid: boolean
  readonly digest: string
  readonly revision: string
  readonly loadedAt: string
  readonly problems: readonly ProblemEntry[]
  readonly problemsOmitted: number
}

export interface ProblemEntry {
  readonly severity: 'error' | 'warning'
  readonly code: string
  readonly message: string
  /** `file:line:column`. */
  readonly at?: string
  readonly sourceLine?: string
  readonly hint?: string
}

export interface ScopeEntry {
  readonly kind: ScopeKind
  /** `team`, `group:ID` or a person. */
  readonly scope: string
  readonly state: ScopeState
  readonly desired?: Cap
  readonly observed: Observed
  readonly readAt?: string
  readonly cause?: Cause
  readonly driftSince?: string
  readonly source?: string
  readonly reason?: string
  readonly why?: string
}

export interface HoldEntry {
  readonly id: string
  readonly guards: readonly GuardCode[]
  readonly people: number
  readonly message: string
  readonly changes: readonly { readonly scope: string; readonly from: Cap; readonly to: Cap }[]
  readonly changesOmitted: number
}

/** A pool in this cycle, in credits. */
export interface PoolEntry {
  readonly name: string
  readonly credits: number
  /** What of them is used; absent until use was read. */
  readonly used?: number
  /** What its members count at together: use, caps in force and caps dealt. Absent while somebody has no known cap. */
  readonly dealt?: number
  readonly people?: number
  /** When the credits are expected to be used up; absent when not within the cycle. */
  readonly exhaustion?: string
  /** Of the use. */
  readonly readAt?: string
  readonly dealtAt?: string
  /** Why the last deal stays. */
  readonly frozen?: string
}

/** Use in this cycle, in credits. */
export interface UseSummary {
  readonly readAt: string
  readonly people: number
  readonly used?: number
  readonly cycleStart?: string
  readonly cycleEnd?: string
  readonly addOn: AddOnSummary
  /** Absent while nobody's is known. */
  readonly bands?: Readonly<Record<Band, number>>
  /** People at 85 % of their cap and more, the nearest first. */
  readonly nearCap: readonly {
    readonly person: string
    readonly cap?: Cap
    readonly used?: number
    readonly source?: AddOnSource
    readonly band: Band
  }[]
  readonly nearCapOmitted: number
}

/** Add-on use of people in this cycle, by which bands, guards and the exhaustion go. */
export interface AddOnSummary {
  readonly source: AddOnSource
  /** The sum of it, of people who left too where it is measured; absent when nothing is known. */
  readonly credits?: number
  /** Present while it is measured. */
  readonly readAt?: string
  /** The last day of which the service told anything; present while it is measured. */
  readonly latestDay?: string
  /** Why it is not measured: the service does not tell it (`absent`), or not to this key (`denied`). */
  readonly notMeasured?: 'absent' | 'denied'
}

/** How fast credits are burned, and where that leads. */
export interface BurnSummary {
  /** 1 = even pace to the cycle's end. */
  readonly ratios: Readonly<Partial<Record<BurnWindow, number>>>
  /** Credits used at the cycle's end. */
  readonly projected?: { readonly p10: number; readonly p50: number; readonly p90: number }
  /** When the add-on credits are expected to run out; absent when they last. */
  readonly exhaustion?: string
  /** The models and modes that used most in this cycle. */
  readonly models: readonly { readonly model: string; readonly mode: string; readonly used: number }[]
  readonly modelsOmitted: number
}

export interface BalanceSummary {
  readonly readAt: string
  readonly creditsPerSeat: number
  readonly seats: number
  readonly addOnAvailable: number
  readonly addOnUsed: number
}
