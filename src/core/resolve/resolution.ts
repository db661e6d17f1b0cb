// What resolving takes and gives. Types only.
import type { Cycle, GroupMembers, OwnedCap, Roster } from '../model/observed.ts'
import type { PolicySet } from '../model/policy.ts'
import type { ScopeKey } from '../model/scope.ts'
import type { Instant } from '../model/units.ts'
import type { DesiredCap, GrantStatus, RejectedScope, SkippedScope } from './candidate.ts'
import type { ConditionMemory, NewReading } from './conditions.ts'
import type { GrantClock } from './grants.ts'
import type { DealtPools, PoolPeople } from './pools.ts'
import type { NearestWord, RuleNote, RuleStatus } from './rule-notes.ts'

export interface Resolution {
  /** Canonical order of scopes. */
  readonly desired: readonly DesiredCap[]
  readonly skipped: readonly SkippedScope[]
  readonly rejected: readonly RejectedScope[]
  readonly grants: readonly GrantStatus[]
  /** What tells whether a grant has ended that may be declared no more. */
  readonly grantClock: GrantClock
  /** The next value of the ledger fact `conflictsGone`. */
  readonly conflictsGone: Readonly<Record<string, number>>
  /** The next value of the ledger fact `conflictGroups`. */
  readonly conflictGroups: Readonly<Record<string, readonly string[]>>
  /** `spec.rules`, in their order. */
  readonly rules: readonly RuleStatus[]
  /** `spec.pools` with their members, in their order. */
  readonly pools: readonly PoolPeople[]
  readonly ruleNotes: readonly RuleNote[]
  /** The next value of the ledger fact `conditions`. */
  readonly conditions: ConditionMemory
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
  /** Caps of ours that nothing declares are to go. */
  readonly prune: boolean
  readonly conflictsGone: Readonly<Record<string, number>>
  /** The groups that differed for people with a cap of the conflict rule; absent: nobody wrote them down. */
  readonly conflictGroups?: Readonly<Record<string, readonly string[]>>
  /** What was settled of conditions; absent: nothing, so that the roster at hand settles them. */
  readonly conditions?: ConditionMemory
  /** The reading that was not counted yet; undefined: all were. */
  readonly newReading: NewReading | undefined
  /** What pools have dealt, by their names; absent: nothing. */
  readonly pools?: DealtPools
  /** For "did you mean"; absent: nothing is suggested. */
  readonly nearest?: NearestWord
  /** The clocks disagree by more than 5 min: grants neither start nor end, what `owned` says stays. */
  readonly grantsFrozen: boolean
}
