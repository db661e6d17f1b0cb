// `Snapshot`, the one value that a plan is made from, and `Difference`, which the steps of a plan pass on: a scope whose cap is not the desired one.
// Every step takes the whole snapshot and what the steps before it found; nothing here decides anything.
import type { SlotInputs } from '../interpret/slots.ts'
import {
  type Approval,
  type Disposition,
  GUARD_SETTINGS,
  type GuardSettings,
  type HistoryEntry,
  type Quarantined,
  type ScopeChange,
} from '../model/change.ts'
import { CAP, type Cap, ENTRY, type PolicyEntry, type PolicyRevision, type Pool } from '../model/policy.ts'
import { ofScopes, type Scope, type ScopeKey } from '../model/scope.ts'
import { boolean, instant, list, number, type Of, oneOf, optional, record, shape, text } from '../model/shape.ts'
import type { Instant } from '../model/units.ts'
import type { Followers, PoolNote } from '../pools/deal.ts'
import type { Resolution } from '../resolve/desired.ts'
import type { OpenBreaker } from './breaker.ts'

/** Everything that a plan depends on. The same snapshot gives the same plan, byte for byte. */
export interface Snapshot extends Omit<SlotInputs, 'groupsWithCap' | 'unlisted'> {
  readonly workspace: string
  readonly now: Instant
  /** SHA-256, for ids. */
  readonly digest: (text: string) => string

  // What policy asks.
  readonly policy: PolicyRevision
  readonly resolution: Resolution
  readonly prune: boolean
  /** Orphans are not cleared because a policy file is broken, not because `prune` is off. */
  readonly policyBroken?: boolean
  /** Scopes that are neither read nor written (people not approved, unknown groups). */
  readonly skipped: ReadonlySet<ScopeKey>
  readonly quarantined: ReadonlyMap<ScopeKey, Quarantined>
  /** By the name of the pool. */
  readonly poolReviews: ReadonlyMap<string, PoolReview>
  readonly poolNotes?: readonly PoolNote[]
  /** Pools with those of their members who inherit their cap. */
  readonly followers?: readonly (Followers & { readonly pool: Pool })[]

  // What was read, beside the inputs of slots: readings, people, and how the service treats caps.
  readonly facts: SnapshotFacts

  // What the ledger remembers, beside the caps that are ours and those that were sent.
  /** The caps at the start of an interrupted plan; they count as "before". */
  readonly baseline?: Readonly<Record<ScopeKey, Cap>>
  readonly driftSince: Readonly<Record<ScopeKey, Instant>>
  readonly contests: KnownContests
  /** Scopes that were unread for so long that they defer no other change any more. */
  readonly givenUp?: ReadonlySet<ScopeKey>

  // What guards and approvals go by.
  readonly guards: GuardSettings
  readonly approvals: readonly Approval[]
  /** Ids, or their beginnings, given by `apply --approve`. */
  readonly approve: readonly string[]
  /** `together`: an approval may arrive with the change it releases. */
  readonly approvalSteps?: 'separate' | 'together'
  readonly holdsShown: HoldsShown
  readonly changesShown: ChangesShown
  /** Earlier rules that are still in force beside weaker ones, oldest first. */
  readonly reviewed?: readonly ReviewedRules[]

  // What this run may do.
  /** Why nothing is written now, whatever is approved. */
  readonly idle?: string
  /** Excludes changes that no run writes, such as foreign changes with `onDrift: alert`: guards do not judge them, and they defer no other. */
  readonly watched?: (difference: Difference) => Exclusion | undefined
  /** Excludes changes from this run; another run writes them. */
  readonly excluded?: (difference: Difference) => Exclusion | undefined
  /** The writes of this run that failed: it does not try them again. */
  readonly failed?: ReadonlyMap<ScopeKey, Failure>
}

/** What `Change` is made from, before people are counted. */
export interface Difference extends Omit<ScopeChange, 'action' | 'effect' | 'people'> {
  readonly key: ScopeKey
  /** The policy entry behind it. */
  readonly entry: PolicyEntry
  /** The deal of a pool that it is a part of. */
  readonly pool?: PoolReview
  /** It sets explicitly what may only be inherited; see pins.ts. */
  readonly pin?: true
  /** The team or group whose write shows whether there is anything to clear here. */
  readonly revealedBy?: Scope
}

/** Facts that guards judge by, beside the differences. */
export interface SnapshotFacts {
  /** Approved people now and at the last good read, while the new roster is doubted. */
  readonly rosterDoubt?: { readonly before: number; readonly now: number; readonly since?: Instant }
  /** People with a value in the people file, before and in a new file that is not believed. */
  readonly directoryDoubt?: { readonly from: number; readonly to: number }
  /** The number of scopes that were declared in the set last verified in enforce mode. */
  readonly verifiedDeclared?: number
  /** Failed reads with a shared cause, and all reads. */
  readonly reads: { readonly failed: number; readonly total: number; readonly teamFailed: boolean; readonly cause?: string }
  /** No roster was read ever, or within 24 h: people cannot be counted, so nothing is written; with `never`, no approval counts either. */
  readonly rosterMissing: 'never' | 'old' | 'ahead' | false
  /** Declared groups whose members are not known: anybody may be in them. */
  readonly unlistedGroups?: ReadonlySet<ScopeKey>
  /** Add-on credits that are not used yet; absent while the balance is not known. */
  readonly creditsRemaining?: number
  /** Present while no write may be tried. */
  readonly breaker?: OpenBreaker
}

export type Exclusion = Extract<Disposition, { kind: 'excluded' }>

/** A write of this run that did not succeed; another value may still be written. */
export interface Failure {
  readonly to: Cap
  readonly reason: string
}

/** The deal that a change is a part of. */
export interface PoolReview {
  readonly name: string
  /** 32 hex digits over workspace, declaration and members. */
  readonly key: string
  /** The last deal has this key, and every member's cap was known to it. */
  readonly isDealt: boolean
  /** Raises of it may follow, once use under lowered caps shows. */
  readonly isWaiting: boolean
  /** The guards have let a deal with this key through. */
  readonly isReviewed: boolean
}

/** A contested scope. */
export const CONTEST = shape({
  /** When it became contested. */
  at: instant,
  /** The policy entry that was contested. */
  entry: ENTRY,
  /** Foreign changes within the 24 h before. */
  changes: number,
})
export type Contest = Of<typeof CONTEST>

export interface KnownContests {
  /** As the ledger has them. */
  readonly known: Readonly<Record<ScopeKey, Contest>>
  /** The writes to a scope since then, newest first. */
  readonly written: (scope: Scope, sinceAt: Instant) => readonly Pick<HistoryEntry, 'cause' | 'from' | 'to' | 'result' | 'unproven'>[]
}

/** A hold as it was shown. */
const HOLD_SHOWN = shape({
  /** The people it affected when it was last shown. */
  people: number,
  /** When it was first shown. */
  at: instant,
  /** The number of approved people on the doubted roster. */
  roster: optional(number),
  /** The credits that a pool's deal moves. */
  credits: optional(number),
  /** It was shown under a revision that did not list its approval, so a review was possible. */
  reviewed: optional(boolean),
  /** The first plan without it; absent while it exists. */
  goneAt: optional(instant),
})
export type HoldShown = Of<typeof HOLD_SHOWN>

/** By the hold's id. */
export const HOLDS_SHOWN = record(HOLD_SHOWN)
export type HoldsShown = Of<typeof HOLDS_SHOWN>

/** The changes that guards have held, each as it was last shown, and since when it was shown so. */
export const CHANGES_SHOWN = ofScopes(shape({ from: CAP, to: CAP, at: instant }))
export type ChangesShown = Of<typeof CHANGES_SHOWN>

const RULES = {
  guards: GUARD_SETTINGS,
  protectedEmails: list(text),
  /** Of the envelopes, by name, as `envelopes.payments.maxCap`: more is wider. Absent: there are none. */
  bounds: optional(record(number)),
  /** `together`: an approval may arrive with the change it releases. Absent: not known. */
  approvals: optional(oneOf(['separate', 'together'])),
}
const RULES_IN_FORCE = shape(RULES)
/** The rules that decide whether a change is held. */
export type Rules = Of<typeof RULES_IN_FORCE>

/** When the weaker rules were first read is `weakenedAt`. */
const REVIEWED_RULES = shape({ ...RULES, weakenedAt: instant })
/** The part of earlier rules that is stricter than the present ones; every other guard is off in it. */
export type ReviewedRules = Of<typeof REVIEWED_RULES>

/** The rules as last read, and the earlier ones that are still in force beside them, oldest first. */
export const NOTED_RULES = shape({ ...RULES, before: optional(list(REVIEWED_RULES)) })
export type NotedRules = Of<typeof NOTED_RULES>
