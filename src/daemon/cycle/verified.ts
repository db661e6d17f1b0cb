// Whether a reading says that a change is there. Pure; what follows from it is decided where it is asked.
import type { Change } from '../../core/model/change.ts'
import type { CapReading, Observed } from '../../core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'

/** Asked for and there; or cleared, on a service whose reads show the wider value. */
export const isVerified = (change: Change, reading: CapReading, wider: (key: ScopeKey) => Observed): boolean =>
  reading.observed === change.to ||
  (change.to === 'none' && reading.observed !== 'unknown' && reading.observed === wider(scopeKey(change.scope)))
