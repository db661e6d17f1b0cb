// Lives with pools: at no write the sum of caps and use exceeds the credits once it was within them, and the pool deals its credits.
import { expect, test } from 'vitest'
import { livePools } from './life.ts'

/** More by hand: CAPKEEPER_POOL_LIVES=40. */
const SEEDS = Array.from({ length: Number(process.env['CAPKEEPER_POOL_LIVES'] ?? 2) }, (_, index) => 100 + index)

test.each(SEEDS)('life %i with a pool keeps the sum at every write, through faults, deaths and late figures', async (seed) => {
  const { breaches, writes, used } = await livePools(seed, 50)
  expect(breaches).toEqual([])
  expect(writes).toBeGreaterThan(4)
  expect(used).toBeGreaterThan(0.1)
})

test('the check can fail: two caps that another client raises are a breach', async () => {
  expect((await livePools(100, 12, true)).breaches).not.toEqual([])
})
