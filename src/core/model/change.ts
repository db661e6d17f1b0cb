// The words of a plan: one change, one hold, the plan itself. Plain data; rendered, saved and applied, always the same object.
import type { PolicyEntry } from './entry.ts'
import type { Cap } from './policy.ts'
import type { Position } from './problem.ts'
import type { Scope } from './scope.ts'
import { DAY_MS, type Instant } from './units.ts'

export const EFFECTS = ['set', 'raise', 'lower', 'block', 'clear'] as const
/** What a change does to those it reaches: a first cap, more, less, to 0 or below use, nothing left. */
export type Effect = (typeof EFFECTS)[number]

export const CAUSES = ['policy', 'external', 'expired', 'orphan'] as const
/** Why desired and observed differ: policy changed, somebody else wrote, a grant ended, no longer declared. */
export type Cause = (typeof CAUSES)[number]

export const GUARD_CODES = [
  'emptyPolicy',
  'rosterShrink',
  'maxAffected',
  'maxLowered',
  'maxBlocked',
  'maxCleared',
  'maxRaise',
  'protected',
  'readQuality',
  'breaker',
  'semantics',
  'contested',
] as const
export type GuardCode = (typeof GUARD_CODES)[number]

export const CHANGE_RESULTS = ['applied', 'failed', 'ambiguous', 'verify_failed'] as const
export type ChangeResult = (typeof CHANGE_RESULTS)[number]

/** One write: what is to become of one scope, and why. `to` is `none` exactly when `action` is `clear`. */
export interface ScopeChange {
  readonly scope: Scope
  readonly action: 'set' | 'clear'
  readonly effect: Effect
  readonly from: Cap
  readonly to: Cap
  readonly cause: Cause
  /** How many approved people this change reaches. */
  readonly people: number
  /** The policy line that asks for it; absent for an orphan. */
  readonly source?: Position
  readonly reason?: string
  /** Reverts a foreign change to what the ledger last verified under an unchanged policy entry. */
  readonly healing: boolean
  /** Gives back the base when a grant ends. */
  readonly grantEnd: boolean
}

/** `order`: another write comes first. The others: see their words. */
export type DeferralCode = 'order' | 'unread' | 'failed' | 'passes'

/** Why a change is not written by this run at all. */
export type ExclusionCode = 'mode' | 'pause' | 'replaced' | 'lease' | 'focus' | 'onDrift' | 'notShown'

/** What becomes of a change now: written, held by a guard, later because of something else, or not by this run. */
export type Disposition =
  | { readonly kind: 'ready' }
  | { readonly kind: 'held'; readonly hold: string }
  | { readonly kind: 'deferred'; readonly code: DeferralCode; readonly reason: string; readonly waitsFor?: Scope }
  | { readonly kind: 'excluded'; readonly code: ExclusionCode; readonly reason: string }

export const READY: Disposition = { kind: 'ready' }

/** Who released a change: an approval in a policy, with its place, or a command. */
export interface Release {
  readonly id: string
  readonly via: 'policy' | 'command'
  readonly at?: Position
}

/** One line of a plan. */
export interface Change extends ScopeChange {
  readonly disposition: Disposition
  /** The approval that released it. */
  readonly released?: Release
}

/** The id of the hold that keeps a change back. */
export const holdOf = ({ disposition }: Pick<Change, 'disposition'>): string | undefined =>
  disposition.kind === 'held' ? disposition.hold : undefined

export const isReady = ({ disposition }: Pick<Change, 'disposition'>): boolean => disposition.kind === 'ready'

export interface HeldChange {
  readonly scope: Scope
  readonly from: Cap
  readonly to: Cap
}

/** A guard's refusal. */
export interface Hold {
  /** 32 hex digits over the workspace and the sorted (scope, from, to) of its changes; of a pool's deal over its declaration and members. */
  readonly id: string
  readonly guards: readonly GuardCode[]
  /** How many people the held changes affect by net effect. */
  readonly people: number
  readonly changes: readonly HeldChange[]
  readonly message: string
  /** What an approval does, where it does not release it now: nothing at all, or only once anything may be written. Absent: it releases it. */
  readonly release?: 'never' | 'later'
}

export interface PlanCounts {
  /** Changes that would go out, now or once what they wait for is there, by effect; held ones are counted in `held` only. */
  readonly set: number
  readonly raise: number
  readonly lower: number
  readonly block: number
  readonly clear: number
  readonly held: number
  readonly inSync: number
  readonly unknown: number
  readonly skipped: number
  readonly rejected: number
}

/** A scope that could not be read, and so is not written. */
export interface UnknownScope {
  readonly scope: Scope
  readonly message: string
}

/** Something about a plan that a person should read: a rejected scope, a guard with nothing to hold, a removable approval. */
export interface PlanProblem {
  readonly severity: 'error' | 'warning'
  readonly code: string
  readonly message: string
  readonly scope?: Scope
  readonly at?: Position
}

/** Immutable; the same object is printed, saved and applied. */
export interface Plan {
  readonly apiVersion: 'capkeeper/v1'
  readonly kind: 'Plan'
  /** 16 hex digits over workspace, digest, changes and holds. */
  readonly id: string
  readonly workspace: string
  readonly createdAt: Instant
  readonly policyDigest: string
  readonly revision: string
  readonly counts: PlanCounts
  /** In the order of writing; what is not written now stands behind what is. */
  readonly changes: readonly Change[]
  readonly holds: readonly Hold[]
  readonly unknown: readonly UnknownScope[]
  readonly problems: readonly PlanProblem[]
  /** Every approval that is listed or pending, with what it releases now. */
  readonly approvals: readonly PlanApproval[]
}

/** An approval as a plan shows it. */
export interface PlanApproval extends Release {
  readonly state: ApprovalState
  /** What it releases in this plan; empty when nothing matches it. */
  readonly releases: readonly HeldChange[]
  /** Why it releases nothing. */
  readonly note?: string
}

/** A share of the people with a floor: holds when more than max(floor, percent × people) are reached. */
export interface ShareLimit {
  readonly percent: number
  readonly floor: number
}

/** So many failed changes in a row, or more than this share of those to be written and never fewer than so many, stop the writes. */
export interface BreakerLimit {
  readonly inARow: number
  readonly percent: number
}

/** `off` switches a guard off. Defaults are `DEFAULT_GUARDS`. */
export interface GuardSettings {
  readonly emptyPolicy: boolean
  readonly rosterShrink: number | 'off'
  readonly maxAffected: ShareLimit | 'off'
  readonly maxLowered: ShareLimit | 'off'
  readonly maxBlocked: ShareLimit | 'off'
  readonly maxCleared: ShareLimit | 'off'
  /** Percent of the add-on credits remaining; may be above 100. */
  readonly maxRaise: number | 'off'
  readonly readQuality: ShareLimit | 'off'
  readonly protected: boolean
  readonly breaker: BreakerLimit | 'off'
  readonly semantics: boolean
  /** Foreign changes of one scope within 24 h. */
  readonly contested: number | 'off'
}

/** product.md, section 5. */
export const DEFAULT_GUARDS: GuardSettings = {
  emptyPolicy: true,
  rosterShrink: 20,
  maxAffected: { percent: 25, floor: 5 },
  maxLowered: { percent: 15, floor: 3 },
  maxBlocked: { percent: 2, floor: 3 },
  maxCleared: { percent: 5, floor: 3 },
  maxRaise: 100,
  readQuality: { percent: 5, floor: 5 },
  protected: true,
  breaker: { inARow: 3, percent: 10 },
  semantics: true,
  contested: 3,
}

export type ApprovalState = 'pending' | 'spent' | 'void'

/** The release of one hold. */
export interface Approval {
  readonly id: string
  readonly via: 'policy' | 'command'
  readonly approvedAt: Instant
  readonly state: ApprovalState
  /** People whom the hold affected as it was seen by whoever gave the approval; absent where nothing had shown it. */
  readonly people?: number
  /** Credits that the deal of a pool moved then. */
  readonly credits?: number
  /** The released changes, copied when first matched; `verified` ones are done. `pool`: the deal as it then stands (`PoolReview.key`). */
  readonly released: readonly (HeldChange & { readonly verified: boolean; readonly pool?: string })[]
  /** When it released them. */
  readonly releasedAt?: Instant
  /** What other holds kept back then: for a day it stays so, though the release may have made it harmless. */
  readonly beside?: readonly HeldChange[]
  /** Approved people on the doubted roster that it was given for. */
  readonly roster?: number
  /** A policy listed it, and does not any more. */
  readonly withdrawn?: boolean
}

/** No pause is longer (product.md, section 3). */
export const LONGEST_PAUSE_MS = 7 * DAY_MS

export interface Pause {
  readonly untilAt: Instant
  readonly reason: string
  readonly pausedAt: Instant
}

/** What is written before a write goes out. Whatever happens next, the next start finds it. */
export interface Intent {
  readonly id: number
  readonly at: Instant
  readonly planId: string
  readonly change: ScopeChange
  /** The policy entry behind the change. */
  readonly entry: PolicyEntry
  readonly digest: string
  readonly revision: string
}

/** One line of `history`: what was written, when, from what to what, why. */
export interface HistoryEntry extends Omit<ScopeChange, 'people' | 'healing' | 'grantEnd'> {
  readonly at: Instant
  readonly result: ChangeResult
  /** Why it failed; free of any key. */
  readonly error?: string
  /** It failed, and may have landed all the same: a reading may have come too early, and a 0 that is not kept has replaced what stood there. */
  readonly unproven?: boolean
  readonly planId: string
  readonly digest: string
  readonly revision: string
}

/** How a write ended, in history and in the run that sent it. `skipped`: nothing was written. */
export interface WriteEnd {
  readonly result: ChangeResult | 'skipped'
  readonly unproven?: boolean
}

/** What was written may stand there, or have stood there. */
export const mayHaveLanded = ({ result, unproven }: WriteEnd): boolean => (result === 'failed' ? unproven === true : result !== 'skipped')

/** So long a write whose end is not known may still land, and a reading may not show a write yet. Choice. */
export const LANDING_MS = DAY_MS

/** What was written may stand there, or come to stand there, and no reading has shown it: its end is not known. */
export const isInDoubt = (end: WriteEnd): boolean => mayHaveLanded(end) && end.result !== 'applied'

/** A scope the service refuses, or that policy makes impossible: left alone until 24 h later, its entry changes or the person returns. */
export interface Quarantined {
  readonly scope: Scope
  readonly code: string
  readonly message: string
  readonly entry: PolicyEntry
  readonly at: Instant
  /** What was set before a 0 that the service did not keep: it is asked for as long as the scope is left alone. */
  readonly restore?: Cap
}

/** Gone from the service, and declared by nobody: nothing is asked of it, so it is skipped, and nothing has failed. */
export const isGone = ({ code, entry }: Quarantined): boolean => code === 'SCOPE_UNKNOWN' && entry.kind === 'undeclared'
