// A share that is above its limit reads as above it, in as few digits as that takes.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareAbove } from '../../../../src/core/plan/guards/round.ts'

test.each([
  [15, 16, 100, '16 %'],
  [15, 151, 1000, '15.1 %'],
  [15, 31, 200, '16 %'],
  [20, 2001, 10_000, '20.01 %'],
  [0.5, 6, 1000, '1 %'],
  [5, 6, 11, '55 %'],
  [15, 750_001, 5_000_000, '15.00002 %'],
  [20, 3, 0, '100 %'],
])('above %s %%, %s of %s is %s', (limit, part, whole, text) => expect(shareAbove(limit, part, whole)).toBe(text))

test('whatever the people and the limit, the digits never say that it is within', () =>
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(1_000_000), fc.integer({ min: 0, max: 1000 }), (whole, part, tenths) => {
      const limit = tenths / 10
      fc.pre(part <= whole && part * 1000 > tenths * whole)
      expect(Number.parseFloat(shareAbove(limit, part, whole))).toBeGreaterThan(limit)
    }),
  ))
