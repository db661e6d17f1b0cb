import fc from 'fast-check'
import { expect, test } from 'vitest'
import { currentRate, startPace } from '../../../src/core/pace/pacing.ts'
import { learnedTogether, partOfRate, sharersOf } from '../../../src/core/replicas/lease.ts'

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

test('a workspace that has not met the limit of its key begins at the lowest rate that others with that key were held to', () => {
  const met = (rate: number) => ({ rate, limited: true, tryMs: 60_000 })
  const mine = [
    { id: 'k1', name: 'default' },
    { id: 'k2', name: 'billingWrite' },
  ]
  const others = [
    { id: 'k1', learned: met(4) },
    { id: 'k1', learned: met(3) },
    { id: 'k3', learned: met(1) },
    { id: 'k2', learned: { rate: 9, limited: false } },
    { id: 'k1', learned: undefined },
    { id: 'k2', learned: { rate: '1', limited: true } },
  ]
  expect(learnedTogether({}, mine, others)).toEqual({ default: met(3) })
  expect(learnedTogether({ default: { rate: 20, limited: false } }, mine, others)).toEqual({ default: met(3) })
  expect(learnedTogether({ default: met(8), more: 1 }, mine, others)).toEqual({ default: met(8), more: 1 })
})
