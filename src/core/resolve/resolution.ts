// The input and output of resolving. Types only.
import type { Cycle } from '../model/observed.ts'
import type { PolicySet } from '../model/policy.ts'
import type { Instant } from '../model/units.ts'
import type { PoolPeople } from '../pools/deal.ts'
import type { AttributeChange } from './attributes.ts'
import type { DesiredCap, GrantStatus, RejectedScope, SkippedScope } from './candidate.ts'
import type { RuleNote, RuleStatus } from './conditions.ts'
import type { GrantClock } from './grants.ts'
import type { ConditionInputs, MatchMemory } from './matches.ts'
import type { DealtPools } from './pools.ts'

export interface Resolution {
  /** Canonical order of scopes. */
  readonly desired: readonly DesiredCap[]
  readonly skipped: readonly SkippedScope[]
  readonly rejected: readonly RejectedScope[]
  readonly grants: readonly GrantStatus[]
  /** Tells whether a grant has ended, even one that is no longer declared. */
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
  readonly conditions: MatchMemory
  /** What the people file says anew of people since when, in columns that rules and pools name. */
  readonly attributeChanges: ReadonlyMap<string, AttributeChange>
}

export interface DesiredInputs extends ConditionInputs {
  readonly set: PolicySet
  readonly cycle?: Cycle
  readonly now: Instant
  readonly capSemantics: 'layered' | 'copied'
  /** Whether our caps that nothing declares are cleared. */
  readonly prune: boolean
  readonly conflictsGone: Readonly<Record<string, number>>
  /** The groups that differed for people with a cap of the conflict rule; absent: not recorded. */
  readonly conflictGroups?: Readonly<Record<string, readonly string[]>>
  /** The states of pools, by name; absent: nothing was dealt. */
  readonly pools?: DealtPools
}
