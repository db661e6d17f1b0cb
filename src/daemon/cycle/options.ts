// What a cycle is told to do, and what its steps share. Types only.

import type { CapReading } from '../../core/model/observed.ts'
import type { Scope, ScopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { Difference, Exclusion } from '../../core/plan/snapshot.ts'
import type { Workspace } from '../workspace.ts'
import type { Planner, WorkspaceState } from './state.ts'

export interface CycleOptions {
  /** Roster, groups and balance are due. */
  readonly usage: boolean
  /** Nothing collects add-on use beside the cycle, so the cycle reads it itself. */
  readonly alone?: boolean
  /** Only these scopes are read and written; absent: a whole sweep. */
  readonly focus?: ReadonlySet<ScopeKey>
  /** A sweep reads only these scopes and plans the others with their earlier readings; absent: all. */
  readonly slice?: ReadonlySet<ScopeKey>
  /** An interrupted sweep goes on: scopes read since then are not read again. */
  readonly readSince?: Instant
  /** Aborts to stop early: reads at once, writes before the next one. */
  readonly stop?: AbortSignal
  /** Aborts to cut even a write in flight. */
  readonly cut?: AbortSignal
  readonly leaving?: () => boolean
  /** Ids given by `apply --approve`. */
  readonly approve?: readonly string[]
  /** `apply`: asks the person, who may agree to a part of the plan; undefined declines. */
  readonly confirm?: (planned: Planned) => Promise<Agreement | undefined>
  readonly onReading?: (reading: CapReading) => void
  readonly onSweep?: (scopes: readonly Scope[]) => void
}

/** What the person agreed to. */
export interface Agreement {
  /** False for a change that was not shown to the person; absent: every pass may write whatever it plans. */
  readonly mayWrite?: (change: Pick<Difference, 'key' | 'to'>) => boolean
}

/** What the steps of one cycle share. */
export interface CycleRun {
  readonly workspace: Workspace
  readonly state: WorkspaceState
  readonly options: CycleOptions
  readonly planner: Planner
  /** Why this cycle writes nothing at all. */
  readonly withheld: Exclusion | undefined
  readonly startedAt: Instant
  /** The same on the monotonic clock. */
  readonly startedMs: number
}
