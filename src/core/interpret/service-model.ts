// How this deployment treats caps: what a wide write does to narrower scopes, what a read shows, what becomes of a 0. One value for the
// workspace, declared or established by evidence, and never guessed scope by scope (product.md, section 6).
import type { AspectValue, ServiceEvidence } from './evidence.ts'

export interface DeclaredModel {
  readonly capSemantics: 'layered' | 'copied'
  /** `auto`: established by evidence. */
  readonly capReads?: 'auto' | 'explicit' | 'inherited'
}

export interface ServiceModel {
  /** As declared: each scope keeps its own cap, or a team or group write overwrites each member's. */
  readonly layers: 'layered' | 'copied'
  /** The evidence that caps are copied, whatever is declared. */
  readonly copying?: string
  /** A narrower cap was seen to survive a wide write. */
  readonly layersProven: boolean
  /** A read shows what is set at this very scope, or what applies there. `open`: a write must be right under both. */
  readonly reads: 'explicit' | 'inherited' | 'open'
  readonly zero: AspectValue<'zero'> | 'open'
}

/** The model that follows from the settings and from what was seen. */
export function serviceModel({ capSemantics, capReads = 'auto' }: DeclaredModel, seen: ServiceEvidence): ServiceModel {
  const copying = seen.caps?.value === 'copied' ? seen.caps.evidence : undefined
  return {
    layers: capSemantics,
    ...(copying !== undefined && { copying }),
    layersProven: seen.caps?.value === 'layered',
    reads: capReads === 'auto' ? establishedReads(seen) : capReads,
    zero: seen.zero?.value ?? 'open',
  }
}

/** Where a 0 reads as unset, what reads unset proves nothing. */
function establishedReads({ reads, zero }: ServiceEvidence): ServiceModel['reads'] {
  if (reads?.value === 'inherited') return 'inherited'
  return reads?.value === 'explicit' && zero?.value !== 'omitted' ? 'explicit' : 'open'
}
