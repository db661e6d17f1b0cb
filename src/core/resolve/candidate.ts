// A declaration that applies to a scope, and a scope whose declarations cannot be kept.
import type { Cap, OriginKind } from '../model/policy.ts'
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
