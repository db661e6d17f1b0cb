// What the last sweep went by, where it read a slice only. Types only.
import type { ScopeKey } from '../../core/model/scope.ts'
import type { Credits } from '../../core/model/units.ts'
import type { ReadingIntervals, Watched } from '../../core/pace/reading-order.ts'

/** What the order of readings went by last. */
export interface Reading {
  /** The scopes that one sweep reads. */
  readonly slice: ReadonlySet<ScopeKey>
  readonly watched: readonly Watched[]
  readonly intervals: ReadingIntervals
  /** What people had used when the slices that gave their caps were read. */
  readonly useWhenRead: ReadonlyMap<string, Credits>
}
