// What the last sweep went by, where it read a slice only. Types only.
import type { ScopeKey } from '../../core/model/scope.ts'
import type { Credits } from '../../core/model/units.ts'
import type { Slicing } from '../../core/pace/rhythm.ts'

/** What the order of readings went by last. */
export interface Reading extends Slicing {
  /** The scopes that one sweep reads. */
  readonly slice: ReadonlySet<ScopeKey>
  /** What people had used when the slices that gave their caps were read. */
  readonly useWhenRead: ReadonlyMap<string, Credits>
}
