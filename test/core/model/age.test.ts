import { describe, expect, it } from 'vitest'
import { isYounger, notAhead } from '../../../src/core/model/units.ts'

describe('what was stamped', () => {
  it.each([
    [100, true, 'just now'],
    [91, true, 'less than so long ago'],
    [90, false, 'so long ago'],
    [101, false, 'ahead, by a clock that was set back since'],
  ])('at %i is surely younger: %s, for it is %s', (at, isYoung) => expect(isYounger(at, 100, 10)).toBe(isYoung))

  it.each([
    [105, true],
    [106, false],
  ])('by another machine at %i may be ahead by as much as clocks are apart: %s', (at, isYoung) =>
    expect(isYounger(at, 100, 10, 5)).toBe(isYoung),
  )

  it.each([
    [100, 100],
    [90, 90],
    [101, 100],
  ])('at %i counts as %i where a wait begins with it', (at, counts) => expect(notAhead(at, 100)).toBe(counts))
})
