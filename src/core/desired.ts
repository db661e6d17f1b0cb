// What policy asks of every scope at an instant: one winner per scope, with the declarations that lost kept for `explain`. It never
// reads the world, never guesses a missing base, and never desires anything for people who are not approved (product.md, section 2).
import type { GrantState } from './events.ts'
import type { Cycle, GroupMembers, OwnedCap, OwnerKind, Roster } from './observed.ts'
import type { Cap, Grant, PolicySet } from './policy.ts'
import type { Position } from './problem.ts'
import type { Scope, ScopeKey } from './scope.ts'
import type { Credits, Instant } from './units.ts'

/** Where a desired cap comes from: a rule, a grant, the group conflict rule, a copy at user scope, or the base a grant gives back. */
export type OriginKind = 'rule' | 'grant' | 'conflict' | 'copied' | 'restore'

/** One declaration that bears on a scope: the winner, or one that lost, kept for `explain`. */
export interface Candidate {
  readonly kind: OriginKind
  /** Where it is declared. */
  readonly scope: Scope
  readonly cap: Cap
  readonly at: Position
  readonly reason?: string
  readonly ticket?: string
  readonly fromAt?: Instant
  readonly untilAt?: Instant
  readonly add?: Credits
}

/** The one cap that is asked of a scope now. */
export interface DesiredCap {
  readonly scope: Scope
  readonly cap: Cap
  readonly owner: OwnerKind
  /** Identity of the policy entry, `kind|cap`: the same as long as what is asked of this scope is, whatever its line, reason or file. */
  readonly entry: string
  readonly origin: Candidate
  readonly losers: readonly Candidate[]
}

/** A declared scope that is neither read nor written: a person not approved or off the roster, or a group the service does not know. */
export interface SkippedScope {
  readonly scope: Scope
  readonly why: string
  readonly at?: Position
}

/** A declared scope that policy makes impossible: `ADD_WITHOUT_BASE`, `CAP_TOO_LARGE` or `GROUP_CONFLICT`. Not written. */
export interface RejectedScope {
  readonly scope: Scope
  readonly code: string
  readonly message: string
  readonly at?: Position
}

/** A grant with its place in time; `untilAt` is absent while the end is not known (`cycleEnd` without a known cycle). */
export interface GrantStatus {
  readonly grant: Grant
  readonly state: GrantState
  readonly fromAt?: Instant
  readonly untilAt?: Instant
}

export interface Resolution {
  /** Canonical order of scopes. */
  readonly desired: readonly DesiredCap[]
  readonly skipped: readonly SkippedScope[]
  readonly rejected: readonly RejectedScope[]
  readonly grants: readonly GrantStatus[]
  /** The next value of the ledger fact `conflictsGone`. */
  readonly conflictsGone: Readonly<Record<string, number>>
}

export interface DesiredInputs {
  readonly set: PolicySet
  readonly roster?: Roster
  readonly groups: readonly GroupMembers[]
  /** Ids the service does not know. */
  readonly unknownGroups: readonly string[]
  readonly cycle?: Cycle
  readonly now: Instant
  readonly capSemantics: 'layered' | 'copied'
  readonly owned: ReadonlyMap<ScopeKey, OwnedCap>
  readonly conflictsGone: Readonly<Record<string, number>>
  /** Groups were re-read since the last resolution; only then agreeing readings are counted. */
  readonly groupReadingIsNew: boolean
  /** The clocks disagree by more than 5 min: grants neither start nor end, what `owned` says stays. */
  readonly grantsFrozen: boolean
}
