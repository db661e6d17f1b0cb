import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Cap } from '../../../src/core/model/policy.ts'
import { credits } from '../../../src/core/model/units.ts'
import { bandOf, bandRank, countBands } from '../../../src/core/use/first-stop.ts'

describe('the band of a person', () => {
  const rows: readonly {
    name: string
    cap: number | 'none' | undefined
    use: number | undefined
    band: NonNullable<ReturnType<typeof bandOf>> | undefined
  }[] = [
    { name: 'without a cap is uncapped, whatever the use', cap: 'none', use: undefined, band: 'uncapped' },
    { name: 'who used nothing is under half', cap: 100, use: 0, band: 'under_50' },
    { name: 'just under half is under half', cap: 100, use: 49.99, band: 'under_50' },
    { name: 'at half is between 50 and 85', cap: 100, use: 50, band: '50_to_85' },
    { name: 'at 85 % is between 85 and 95', cap: 100, use: 85, band: '85_to_95' },
    { name: 'at 95 % is between 95 and 100', cap: 100, use: 95, band: '95_to_100' },
    { name: 'just under the cap is between 95 and 100', cap: 100, use: 99.99, band: '95_to_100' },
    { name: 'at the cap is at the cap', cap: 100, use: 100, band: 'at_cap' },
    { name: 'over the cap is at the cap', cap: 100, use: 250, band: 'at_cap' },
    { name: 'with a cap of 0 is at the cap before any use', cap: 0, use: 0, band: 'at_cap' },
    { name: 'whose cap is unknown has none', cap: undefined, use: 10, band: undefined },
    { name: 'whose use is unknown has none', cap: 100, use: undefined, band: undefined },
  ]
  const capOf = (cap: number | 'none' | undefined): Cap | undefined => (cap === undefined || cap === 'none' ? cap : credits(cap))
  test.each(rows)('$name', ({ cap, use, band }) => {
    expect(bandOf(capOf(cap), use === undefined ? undefined : credits(use))).toBe(band)
  })

  test('never falls when the use grows under the same cap', () => {
    const amount = fc.integer({ min: 0, max: 10_000 })
    fc.assert(
      fc.property(amount, amount, amount, (cap, use, more) => {
        const before = bandRank(bandOf(credits(cap), credits(use)))
        expect(bandRank(bandOf(credits(cap), credits(use + more)))).toBeGreaterThanOrEqual(before)
      }),
    )
  })
})

test('people without a band are counted in none, and where nobody has one nothing is known', () => {
  expect(countBands([])).toBeUndefined()
  expect(countBands([{}, {}])).toBeUndefined()
  expect(countBands([{ band: 'at_cap' }, {}, { band: 'at_cap' }])).toEqual({
    uncapped: 0,
    under_50: 0,
    '50_to_85': 0,
    '85_to_95': 0,
    '95_to_100': 0,
    at_cap: 2,
  })
})
