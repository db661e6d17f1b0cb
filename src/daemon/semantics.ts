// What a deployment's own answers tell about how it keeps caps: in layers, or copied to each member. Evidence only; what follows from it
// is the guard `semantics`.
import type { Change } from '../core/change.ts'
import type { CapReading } from '../core/observed.ts'
import { scopeKey } from '../core/scope.ts'

/**
 * Copying is seen when a narrower cap of its own value turned into what the wider write set. A scope that showed nothing, or the old wider
 * value, proves nothing: reads may show what applies.
 */
export function copyingEvidence(wide: Change, before: CapReading, after: CapReading): string | undefined {
  const own = before.observed !== 'unknown' && before.observed !== 'none' && before.observed !== wide.from
  const turned = after.observed === wide.to && before.observed !== wide.to
  const wiped = wide.to === 'none' && after.observed === 'none'
  if (!own || !(turned || wiped)) return undefined
  return `after ${scopeKey(wide.scope)} was written (${wide.from} to ${wide.to}), ${scopeKey(before.scope)} changed from ${before.observed} to ${after.observed} without a write of its own`
}
