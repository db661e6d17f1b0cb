import fc from 'fast-check'
import { expect, test } from 'vitest'
import { currentRate, startPace } from '../../../src/core/pace/pacing.ts'
import { partOfRate, sharersOf } from '../../../src/core/replicas/lease.ts'

test('the parts of one key never exceed its limit together, and neither does the lowest rate', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.1, max: 500, noNaN: true }), fc.integer({ min: 1, max: 300 }), (max, sharers) => {
      const part = partOfRate({ start: Math.min(2, max), max, concurrency: 4 }, sharers)
      expect(part.max * sharers).toBeLessThanOrEqual(max * 1.000_001)
      expect(currentRate(startPace(part, 0, { rate: Number.MIN_VALUE, limited: false }))).toBeLessThanOrEqual(part.max)
      expect(part.start).toBeLessThanOrEqual(part.max)
      expect(part.concurrency).toBe(4)
    }),
  )
})

test('workspaces with one key share it, and with several keys the most shared one counts', () => {
  const keys = new Map([
    ['a', new Set(['k1'])],
    ['b', new Set(['k1', 'k2'])],
    ['c', new Set(['k2'])],
    ['d', new Set(['k2'])],
    ['e', new Set<string>()],
  ])
  expect([...sharersOf(keys)]).toEqual([
    ['a', 2],
    ['b', 3],
    ['c', 3],
    ['d', 3],
    ['e', 1],
  ])
})
