// Arbitrary states of pools, for the tests that write and read every fact of the ledger.
import fc from 'fast-check'
import type { Cap } from '../../../src/core/model/policy.ts'
import { credits } from '../../../src/core/model/units.ts'
import type { PoolState } from '../../../src/core/pools/state.ts'

interface Parts {
  readonly cap: fc.Arbitrary<Cap>
  readonly instant: fc.Arbitrary<number>
  readonly text: fc.Arbitrary<string>
  readonly named: <T>(value: fc.Arbitrary<T>) => fc.Arbitrary<Record<string, T>>
}

/** One pool in `LedgerFacts.pools`. */
export function poolStates({ cap, instant, text, named }: Parts): fc.Arbitrary<PoolState> {
  const amounts = fc.nat().map(credits)
  const capSince = fc.record({ cap, at: instant })
  const poolMember = fc.record(
    {
      base: amounts,
      use: amounts,
      inForce: capSince,
      dealt: amounts,
      sent: fc.array(capSince, { maxLength: 2 }),
      lowered: fc.array(capSince, { maxLength: 2 }),
      fixed: amounts,
      protected: fc.boolean(),
      left: fc.record({ at: instant, settled: fc.boolean() }, { requiredKeys: ['at'] }),
    },
    { requiredKeys: ['base', 'sent', 'lowered'] },
  )
  return fc.record(
    {
      cycle: fc.record({ startAt: instant, endAt: instant }),
      later: fc.record({ startAt: instant, readAt: instant }),
      readAt: instant,
      dealtAt: instant,
      terms: fc.record(
        { credits: amounts, share: fc.constantFrom('need', 'equal'), min: amounts, max: amounts },
        { requiredKeys: ['credits', 'share', 'min'] },
      ),
      reviewed: text,
      members: named(poolMember),
    },
    { requiredKeys: ['cycle', 'readAt', 'members'] },
  )
}
