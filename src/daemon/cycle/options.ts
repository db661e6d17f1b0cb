// What a cycle is told to do, what its steps share, and what they report. Types only.

import type { Change } from '../../core/model/change.ts'
import type { CapReading } from '../../core/model/observed.ts'
import type { Scope, ScopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { Difference, Exclusion } from '../../core/plan/snapshot.ts'
import type { Workspace } from '../workspace.ts'
import type { DesiredState, Planner, WorkspaceState } from './state.ts'
import type { WriteResult } from './write/outcome.ts'

/** A plan with the desired state that it was made from. */
export interface Pass {
  readonly planned: Planned
  readonly desired: DesiredState
}

/** Why a run of writes ended early: a stop, a pause, a ledger that cannot record, a key or a service that takes no write, or the breaker. */
export interface Halted {
  readonly interrupted?: 'stopped' | 'paused' | 'ledger' | 'refused' | 'breaker'
  /** The message of a ledger that cannot record. */
  readonly fatal?: string
  /** Why the service takes no write. */
  readonly refusal?: string
  /** The key is the cause of the refusal. */
  readonly isKey?: boolean
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

export interface CycleOptions {
  /** Nothing reads roster, groups, balance and add-on use beside the cycle, so the cycle reads them itself. */
  readonly alone?: boolean
  /** Only these scopes are read and written; absent: a whole sweep. */
  readonly focus?: ReadonlySet<ScopeKey>
  /** A sweep reads only these scopes and plans the others with their earlier readings; absent: all. */
  readonly slice?: ReadonlySet<ScopeKey>
  /** An interrupted cycle goes on: scopes read since then are not read again. */
  readonly readSince?: Instant
  /** Aborts to stop early: reads at once, writes before the next one; the one in flight still finishes. */
  readonly stop?: AbortSignal
  /** Aborts to cut even a write in flight; its intent stays open. */
  readonly cut?: AbortSignal
  /** The process ends: writes are not read back any more, and their intents stay open for the next start. */
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
