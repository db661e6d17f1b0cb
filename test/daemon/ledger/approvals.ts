// Arbitrary approvals, for tests that write and read every value of a ledger.
import fc from 'fast-check'
import type { Approval } from '../../../src/core/model/change.ts'
import type { Cap } from '../../../src/core/model/policy.ts'
import type { Scope } from '../../../src/core/model/scope.ts'

interface Parts {
  readonly scope: fc.Arbitrary<Scope>
  readonly cap: fc.Arbitrary<Cap>
  readonly instant: fc.Arbitrary<number>
}

/** A few ids, so that some are saved twice. */
export function approvals({ scope, cap, instant }: Parts): fc.Arbitrary<Approval> {
  return fc.record(
    {
      id: fc.constantFrom('7d1f0c2a9b34', '000000000000', 'ffffffffffff'),
      via: fc.constantFrom('policy', 'command'),
      approvedAt: instant,
      state: fc.constantFrom('pending', 'spent', 'void'),
      people: fc.nat(),
      credits: fc.nat(),
      released: fc.array(
        fc.record(
          { scope, from: cap, to: cap, verified: fc.boolean(), pool: fc.string() },
          { requiredKeys: ['scope', 'from', 'to', 'verified'] },
        ),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ['id', 'via', 'approvedAt', 'state', 'released'] },
  )
}
