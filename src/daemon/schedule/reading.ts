// How the slice of a sweep was chosen. Types only.
import type { ScopeKey } from '../../core/model/scope.ts'
import type { Credits } from '../../core/model/units.ts'
import type { Slicing } from '../../core/pace/rhythm.ts'

/** The slice of the last sweep, and the figures by which it was chosen. */
export interface Reading extends Slicing {
  /** The scopes that the sweep reads. */
  readonly slice: ReadonlySet<ScopeKey>
  /** What people had used when the slices that gave their caps were read. */
  readonly useWhenRead: ReadonlyMap<string, Credits>
}
