// A team or group write, and its descendants before it. Types only.
import type { ScopeChange } from '../../../core/model/change.ts'
import type { CapReading } from '../../../core/model/observed.ts'
import type { Instant } from '../../../core/model/units.ts'

type AncestorChange = Pick<ScopeChange, 'scope' | 'from' | 'to'>

/** A team or group write that may have landed, with the readings of its descendants from before. */
export interface AncestorWrite {
  readonly change: AncestorChange
  readonly before: readonly CapReading[]
  readonly at: Instant
}
