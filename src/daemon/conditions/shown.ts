// What the last cycle shows. Types only.
import type { CycleStatus, HistoryShown, PolicyStatus, UseShown } from '../../core/model/events.ts'
import type { Balance } from '../../core/model/observed.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { DesiredState } from '../cycle/state.ts'

export interface Shown {
  readonly planned?: Planned
  readonly desiredState?: DesiredState
  readonly policy?: PolicyStatus
  readonly lastCycle?: CycleStatus
  readonly lastSuccessAt?: number
  /** As of the last reading or cycle. */
  readonly use?: UseShown
  readonly history?: HistoryShown
  /** As last read, also while the roster cannot be read. */
  readonly balance?: Balance
}
