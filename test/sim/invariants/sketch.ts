// The person and the reading that the tests of invariants use.
import type { ScopeKey } from '../../../src/core/model/scope.ts'
import type { Step } from '../steps.ts'

export const ADA = 'ada@example.com' as ScopeKey
export const ADA_SCOPE = { kind: 'user', email: 'ada@example.com' } as const

export const read = (observed: number | 'none' | 'unknown'): Step => ({
  kind: 'answered',
  process: 1,
  operation: 'GetUsageConfig',
  scope: ADA,
  observed,
})
