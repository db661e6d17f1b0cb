// How this deployment treats caps: what a team or group write does to descendants, what a read shows, what becomes of a 0. One value for
// the workspace, declared or established by evidence, and never guessed scope by scope (docs/operations.md).
import type { AspectValue, ServiceEvidence } from './evidence.ts'

interface DeclaredModel {
  readonly capSemantics: 'layered' | 'copied'
  /** `auto`: established by evidence. */
  readonly capReads?: 'auto' | 'explicit' | 'inherited'
}

export interface ServiceModel {
  /** As declared: each scope keeps its own cap, or a team or group write overwrites each member's. */
  readonly layers: 'layered' | 'copied'
  /** The evidence that caps are copied, whatever is declared. */
  readonly copying?: string
  /** A descendant's cap was observed to survive a team or group write. */
  readonly layersProven: boolean
  /** Whether a read shows what is set at this very scope, or what applies there. `open`: a write must be safe under both. */
  readonly reads: 'explicit' | 'inherited' | 'open'
  readonly zero: AspectValue<'zero'> | 'open'
}

export function serviceModel({ capSemantics, capReads = 'auto' }: DeclaredModel, evidence: ServiceEvidence): ServiceModel {
  const copying = evidence.caps?.value === 'copied' ? evidence.caps.evidence : undefined
  return {
    layers: capSemantics,
    copying,
    layersProven: evidence.caps?.value === 'layered',
    reads: capReads === 'auto' ? establishedReads(evidence) : capReads,
    zero: evidence.zero?.value ?? 'open',
  }
}

/** Where a 0 reads as unset, a scope that reads unset does not prove that reads are explicit. */
function establishedReads({ reads, zero }: ServiceEvidence): ServiceModel['reads'] {
  if (reads?.value === 'inherited') return 'inherited'
  return reads?.value === 'explicit' && zero?.value !== 'omitted' ? 'explicit' : 'open'
}
