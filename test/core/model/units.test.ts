// How old something is by clocks that differ, and what is beyond what was measured.
import { expect, test } from 'vitest'
import { beyondLimit, isYounger, sweepTooLong } from '../../../src/core/model/units.ts'

test.each([
  [105, true],
  [106, false],
])('what another machine stamped at %i may be ahead by as much as clocks are apart: %s', (at, isYoung) =>
  expect(isYounger(at, 100, 10, 5)).toBe(isYoung),
)

test.each([
  [3_000, 10, 300_000, undefined],
  [3_001, 10, 300_000, /^3001 declared scopes take 5 min to read at rate\.max 10 .* the interval of 5 min/],
  [20_000, 10, 300_000, /^20000 declared scopes take 33\.3 min/],
  [20_000, 100, 300_000, undefined],
])('a sweep over %i scopes at %d requests/s and an interval of %d ms is told when it cannot be through', (scopes, rate, interval, told) => {
  if (told) expect(sweepTooLong(scopes, rate, interval)).toMatch(told)
  else expect(sweepTooLong(scopes, rate, interval)).toBeUndefined()
})

const MORE = 'watch memory and the length of cycles, and give more memory'
test.each([
  ['people', 50_000, 'people on the roster', MORE],
  ['groups', 500, 'declared groups', MORE],
  ['scopes', 20_000, 'declared scopes', MORE],
  ['workspaces', 100, 'configured workspaces', 'spread them over several daemons'],
] as const)('beyond what was measured, %s are told with both numbers, from one more than %i on', (what, limit, words, wayOut) => {
  expect(beyondLimit(what, limit)).toBeUndefined()
  expect(beyondLimit(what, limit + 1)).toBe(`${limit + 1} ${words}, and capkeeper is measured with up to ${limit}; ${wayOut}`)
})
