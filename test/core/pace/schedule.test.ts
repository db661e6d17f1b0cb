import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dueInMs, nextCycleDelay, nextGrantInstant, nextWork } from '../../../src/core/pace/rhythm.ts'
import { CYCLE, DAY, type GrantSketch, NOW, policy } from '../../support/declare.ts'

const MINUTE = 60_000

describe('the next instant of a grant', () => {
  test.each<[string, readonly Omit<GrantSketch, 'on'>[], number | undefined]>([
    ['is unknown without grants', [], undefined],
    ['is later than now, never now itself', [{ from: NOW, until: NOW + 9 }], NOW + 9],
    ['is the nearest of all', [{ until: NOW + 9 }, { from: NOW + 7, until: NOW + 8 }, { until: NOW + 10 }], NOW + 7],
  ])('%s', (_, grants, expected) => {
    expect(nextGrantInstant(policy({ grants: grants.map((one) => ({ on: 'bob', ...one })) }), CYCLE, NOW)).toBe(expected)
  })
})

describe('the delay to the next cycle', () => {
  test('never leaves 10 % either way', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: DAY }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (interval, roll) => {
        expect(Math.abs(nextCycleDelay(interval, roll) - interval)).toBeLessThanOrEqual(interval / 10 + 0.5)
      }),
    )
  })
})

describe('work', () => {
  test('that never ran is due', () => expect(dueInMs({ delayMs: 500 }, 7)).toBe(0))

  const caps = { lastAt: 0, delayMs: 5 * MINUTE }
  const usage = { lastAt: 0, delayMs: 15 * MINUTE }
  test.each<[string, { at: number; grantAt?: number }, [boolean, boolean, number]]>([
    ['rests until caps are due', { at: MINUTE }, [false, false, 4 * MINUTE]],
    ['takes up usage when it is due', { at: 15 * MINUTE }, [true, true, 0]],
    ['takes up caps early when a grant starts or ends', { at: MINUTE, grantAt: NOW }, [true, false, 0]],
    ['checks the wall clock now and then while a grant is awaited', { at: 0, grantAt: NOW + DAY }, [false, false, 60_000]],
  ])('%s', (_, { at, grantAt }, [capsDue, usageDue, sleepMs]) => {
    const waiting = { caps, usage, now: NOW, monotonicNow: at, ...(grantAt !== undefined && { grantAt }) }
    expect(nextWork(waiting)).toEqual({ capsDue, usageDue, sleepMs })
  })
})
