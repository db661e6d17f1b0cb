// What resolving talks about: a declaration that bears on a scope, the one cap that is asked of it, and what is not asked, with why. Types only.
import type { OriginKind, OwnerKind, PolicyEntry } from '../model/entry.ts'
import type { GrantState } from '../model/events.ts'
import type { Cap, Grant } from '../model/policy.ts'
import type { Position } from '../model/problem.ts'
import type { Scope } from '../model/scope.ts'
import type { Credits, Instant } from '../model/units.ts'

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
  /** The grant it comes from (`grantId`). */
  readonly grant?: string
  /** The rule over people that it comes from. */
  readonly rule?: string
  /** The pool that deals it. */
  readonly pool?: string
}

/** The one cap that is asked of a scope now. */
export interface DesiredCap {
  readonly scope: Scope
  readonly cap: Cap
  readonly owner: OwnerKind
  readonly entry: PolicyEntry
  readonly origin: Candidate
  readonly losers: readonly Candidate[]
  /** A raise that a pool cannot give before newer figures are read, as a clause. */
  readonly waits?: string
}

/** A declared or owned scope that is neither read nor written: of a person not approved or off the roster, of a group the service does not know. */
export interface SkippedScope {
  readonly scope: Scope
  readonly why: string
  readonly at?: Position
}

/** A scope that policy makes impossible: `ADD_WITHOUT_BASE`, `CAP_TOO_LARGE`, `GRANT_OVERLAP` or `GROUP_CONFLICT`. Not written. */
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
  /** Why the state is not what the clock alone would make it. */
  readonly note?: string
}
