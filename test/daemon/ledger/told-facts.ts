// Arbitrary records of sent messages, for tests that write every fact of the ledger.
import fc from 'fast-check'
import { TOLD_STATES, type Told } from '../../../src/core/notify/told.ts'

const entry = fc.record(
  { level: fc.nat(), state: fc.constantFrom(...TOLD_STATES), at: fc.nat(), tries: fc.nat(), reason: fc.string() },
  { requiredKeys: ['level', 'state', 'at', 'tries'] },
)

/** Keys are JSON, so none of them is the name of a built-in property. */
const key = fc.array(fc.string(), { minLength: 1, maxLength: 3 }).map((parts) => JSON.stringify(parts))

export const told: fc.Arbitrary<Told> = fc.record({
  cycleStartAt: fc.nat(),
  entries: fc.dictionary(key, entry, { maxKeys: 4, noNullPrototype: true }),
})
