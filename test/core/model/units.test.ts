// How old something is by clocks that differ, and what is beyond what was measured.
import { expect, test } from 'vitest'
import { beyondLimit, isYounger } from '../../../src/core/model/units.ts'

test.each([
  [105, true],
  [106, false],
])('what another machine stamped at %i may be ahead by as much as clocks are apart: %s', (at, isYoung) =>
  expect(isYounger(at, 100, 10, 5)).toBe(isYoung),
)

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
