// A pass over a plan, and what became of all of them. Types only.
import type { Change } from '../../core/model/change.ts'
import type { ScopeKey } from '../../core/model/scope.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { DesiredState } from './state.ts'
import type { Halted } from './write/change.ts'
import type { WriteResult } from './write/outcome.ts'

/** A plan with what it was made from. */
export interface Pass {
  readonly planned: Planned
  readonly view: DesiredState
}

export interface PassReport extends Halted {
  /** What became of each change that was tried, by its scope; the last word counts. */
  readonly results: ReadonlyMap<ScopeKey, WriteResult>
  /** Writes of scopes that were written again with another value, such as when a grant ended on the way. */
  readonly earlier: readonly { readonly change: Change; readonly result: WriteResult }[]
  /** The changes themselves. */
  readonly tried: ReadonlyMap<ScopeKey, Change>
  /** What the writes may have changed beneath them, and was to be read again. */
  readonly alsoRead: ReadonlySet<ScopeKey>
  /** The plan after the last writes. */
  readonly last: Pass
}
