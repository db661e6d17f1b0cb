// What a cycle is told to do. Types only.
import type { CapReading } from '../../core/model/observed.ts'
import type { Scope, ScopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Difference } from '../../core/plan/diff.ts'
import type { Planned } from '../../core/plan/plan.ts'

export interface CycleOptions {
  /** Roster, groups and balance are due. */
  readonly usage: boolean
  /** Nothing is collected beside the cycle: what it needs of use it asks for itself. */
  readonly alone?: boolean
  /** Only these scopes are read and written; absent: a whole sweep. */
  readonly focus?: ReadonlySet<ScopeKey>
  /** A sweep that reads only these, and plans with what was read before of the others; absent: all. */
  readonly slice?: ReadonlySet<ScopeKey>
  /** A sweep that was interrupted goes on: scopes read since then are not read again. */
  readonly readSince?: Instant
  /** Aborts to stop early: reads at once, writes before the next one. */
  readonly stop?: AbortSignal
  /** Aborts to cut even a write in flight. */
  readonly cut?: AbortSignal
  readonly leaving?: () => boolean
  /** Ids given by `apply --approve`. */
  readonly approve?: readonly string[]
  /** `apply`: asks, and may narrow what is written; undefined declines. */
  readonly confirm?: (planned: Planned) => Promise<Go | undefined>
  readonly onReading?: (reading: CapReading) => void
  readonly onSweep?: (scopes: readonly Scope[]) => void
}

/** What somebody agreed to. */
export interface Go {
  /** False for what was not shown to whoever agreed; absent: whatever the passes come to. */
  readonly mayWrite?: (change: Pick<Difference, 'key' | 'to'>) => boolean
}
