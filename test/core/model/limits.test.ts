import { describe, expect, it } from 'vitest'
import { beyondLimit, MEASURED_LIMITS, sweepTooLong } from '../../../src/core/model/units.ts'

describe('a sweep', () => {
  it.each([
    [3_000, 10, 300_000, undefined],
    [3_001, 10, 300_000, /^3001 declared scopes take 5 min to read at rate\.max 10 .* the interval of 5 min/],
    [20_000, 10, 300_000, /^20000 declared scopes take 33\.3 min/],
    [20_000, 100, 300_000, undefined],
  ])('over %i scopes at %d requests/s and an interval of %d ms is told when it cannot be through', (scopes, rate, interval, told) => {
    if (told) expect(sweepTooLong(scopes, rate, interval)).toMatch(told)
    else expect(sweepTooLong(scopes, rate, interval)).toBeUndefined()
  })
})

describe('beyond what was measured', () => {
  const MORE = 'watch memory and the length of cycles, and give more memory'
  it.each([
    ['people', 50_000, 'people on the roster', MORE],
    ['groups', 500, 'declared groups', MORE],
    ['scopes', 20_000, 'declared scopes', MORE],
    ['workspaces', 100, 'configured workspaces', 'spread them over several daemons'],
  ] as const)('%s are told with both numbers, from one more than %i on', (what, limit, words, wayOut) => {
    expect(MEASURED_LIMITS[what]).toBe(limit)
    expect(beyondLimit(what, limit)).toBeUndefined()
    expect(beyondLimit(what, limit + 1)).toBe(`${limit + 1} ${words}, and capkeeper is measured with up to ${limit}; ${wayOut}`)
  })
})
