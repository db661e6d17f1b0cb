// One pass over a plan, and the report of all passes. Types only.
import type { Change } from '../../core/model/change.ts'
import type { ScopeKey } from '../../core/model/scope.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { DesiredState } from './state.ts'
import type { WriteResult } from './write/outcome.ts'
import type { Halted } from './write/writes.ts'

/** A plan with the desired state that it was made from. */
export interface Pass {
  readonly planned: Planned
  readonly desired: DesiredState
}

export interface PassReport extends Halted {
  /** How the last write of each scope ended. */
  readonly results: ReadonlyMap<ScopeKey, WriteResult>
  /** Earlier writes of scopes that were written again with another value, such as when a grant ended during the run. */
  readonly earlier: readonly { readonly change: Change; readonly result: WriteResult }[]
  /** The changes that `results` are about, in the order of writing. */
  readonly tried: ReadonlyMap<ScopeKey, Change>
  /** Descendants that the writes may have changed, and that were to be read again. */
  readonly alsoRead: ReadonlySet<ScopeKey>
  /** The plan after the last writes. */
  readonly last: Pass
}
