// The types of resolving: a declaration that applies to a scope, the cap desired there, and what is skipped or rejected and why.

import type { GrantState } from '../model/events.ts'
import type { Cap, Grant, OriginKind, OwnerKind, PolicyEntry } from '../model/policy.ts'
import type { Position } from '../model/problem.ts'
import type { Scope } from '../model/scope.ts'
import type { Credits, Instant } from '../model/units.ts'

/** One declaration that applies to a scope: the winner, or one that lost, kept for `explain`. */
export interface Candidate {
  readonly kind: OriginKind
  /** Where it is declared. */
  readonly scope: Scope
  readonly cap: Cap
  readonly at: Position
  readonly reason?: string
  /** Of a rule: what the policy gives as its reason, without what capkeeper says around it. */
  readonly ownReason?: string
  readonly ticket?: string
  readonly fromAt?: Instant
  readonly untilAt?: Instant
  readonly add?: Credits
  /** The grant it comes from (`grantId`). */
  readonly grant?: string
  /** The rule over people that it comes from. */
  readonly rule?: string
  /** The pool that deals it. */
  readonly pool?: string
}

/** What a desired cap comes from; without a place where no line of a policy asks for it any more. */
export type Origin = Omit<Candidate, 'at'> & { readonly at?: Position }

/** The one cap that policy asks of a scope now. */
export interface DesiredCap {
  readonly scope: Scope
  readonly cap: Cap
  readonly owner: OwnerKind
  readonly entry: PolicyEntry
  readonly origin: Origin
  readonly losers: readonly Candidate[]
  /** Under a grant: the cap that is declared for this very scope, by a policy line, a rule or the conflict rule. */
  readonly base?: Cap
  /** A clause: a raise that its pool cannot give before newer figures are read. */
  readonly waits?: string
}

/**
 * A declared or owned scope that is neither read nor written: the person is not approved or not on the roster, or the service does not know
 * the group.
 */
export interface SkippedScope {
  readonly scope: Scope
  readonly why: string
  readonly at?: Position
}

/**
 * A scope for which the policy cannot be kept: `ADD_WITHOUT_BASE`, `CAP_TOO_LARGE`, `GRANT_OVERLAP`, `GROUP_CONFLICT`, `POOL_TWICE` or
 * `POOL_NONE`. Not written.
 */
export interface RejectedScope {
  readonly scope: Scope
  readonly code: string
  readonly message: string
  readonly at?: Position
}

/** The state of a grant; `untilAt` is absent while the end is not known (`cycleEnd` without a known cycle). */
export interface GrantStatus {
  readonly grant: Grant
  readonly state: GrantState
  readonly fromAt?: Instant
  readonly untilAt?: Instant
  /** Why the state differs from what the clock alone would give. */
  readonly note?: string
}
