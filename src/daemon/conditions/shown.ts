// What the last cycle left behind for others to look at. Types only.
import type { CycleStatus, PolicyStatus, UseShown } from '../../core/model/events.ts'
import type { Balance } from '../../core/model/observed.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { DesiredState } from '../cycle/state.ts'

/** What the last cycle left behind for others to look at. */
export interface Shown {
  readonly planned?: Planned
  readonly desiredState?: DesiredState
  readonly policy?: PolicyStatus
  readonly lastCycle?: CycleStatus
  readonly lastSuccessAt?: number
  /** As of the last reading or cycle. */
  readonly use?: UseShown
  /** Read last, also while no roster could be. */
  readonly balance?: Balance
}
