import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dueInMs, LONGEST_SLEEP_MS, nextCycleDelay, nextGrantInstant, nextWork } from '../../../src/core/pace/schedule.ts'
import { CYCLE, DAY, type GrantSketch, NOW, policy } from '../../support/declare.ts'

const MINUTE = 60_000

describe('the next instant of a grant', () => {
  test.each<[string, readonly Omit<GrantSketch, 'on'>[], number | undefined]>([
    ['is unknown without grants', [], undefined],
    ['is the start of one that is coming', [{ from: NOW + 5, until: NOW + 9 }], NOW + 5],
    ['is the end of one that runs', [{ from: NOW - 5, until: NOW + 9 }], NOW + 9],
    ['is the end of one that runs without a start', [{ until: NOW + 9 }], NOW + 9],
    ['is later than now, never now itself', [{ from: NOW, until: NOW + 9 }], NOW + 9],
    ['is gone with the last end', [{ from: NOW - 9, until: NOW }], undefined],
    ['is the nearest of all', [{ until: NOW + 9 }, { from: NOW + 7, until: NOW + 8 }, { until: NOW + 10 }], NOW + 7],
    ['is the end of the cycle for one that runs to it', [{ from: NOW - DAY, until: 'cycleEnd' }], CYCLE.endAt],
    ['is unknown for one whose cycle is over', [{ from: CYCLE.startAt - 1, until: 'cycleEnd' }], undefined],
    ['is the start of one in a cycle to come', [{ from: CYCLE.endAt + 5, until: 'cycleEnd' }], CYCLE.endAt + 5],
  ])('%s', (_, grants, expected) => {
    expect(nextGrantInstant(policy({ grants: grants.map((one) => ({ on: 'bob', ...one })) }), CYCLE, NOW)).toBe(expected)
  })

  test('is not guessed for the end of an unknown cycle', () => {
    const set = policy({ grants: [{ on: 'bob', from: NOW - DAY, until: 'cycleEnd' }] })
    expect(nextGrantInstant(set, undefined, NOW)).toBeUndefined()
  })
})

describe('the delay to the next cycle', () => {
  test('is 10 % less at the lowest roll, the interval in the middle, and short of 10 % more at the highest', () => {
    expect([0, 0.5, 0.999_999].map((roll) => nextCycleDelay(300_000, roll))).toEqual([270_000, 300_000, 330_000])
  })

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
  test('is due when its delay has passed since it last began', () => {
    expect([999, 1000, 1200, 1500, 9000].map((now) => dueInMs({ lastAt: 1000, delayMs: 500 }, now))).toEqual([501, 500, 300, 0, 0])
  })

  const caps = { lastAt: 0, delayMs: 5 * MINUTE }
  const usage = { lastAt: 0, delayMs: 15 * MINUTE }
  test.each<[string, { at: number; grantAt?: number }, [boolean, boolean, number]]>([
    ['rests until caps are due', { at: MINUTE }, [false, false, 4 * MINUTE]],
    ['takes up caps when they are due', { at: 5 * MINUTE }, [true, false, 0]],
    ['takes up usage when it is due', { at: 15 * MINUTE }, [true, true, 0]],
    ['takes up caps early when a grant starts or ends', { at: MINUTE, grantAt: NOW }, [true, false, 0]],
    ['takes up caps when a grant’s instant was slept through', { at: MINUTE, grantAt: NOW - DAY }, [true, false, 0]],
    ['rests until the instant of a grant', { at: MINUTE, grantAt: NOW + 1000 }, [false, false, 1000]],
    ['checks the wall clock now and then while a grant is awaited', { at: 0, grantAt: NOW + DAY }, [false, false, LONGEST_SLEEP_MS]],
  ])('%s', (_, { at, grantAt }, [capsDue, usageDue, sleepMs]) => {
    const waiting = { caps, usage, now: NOW, monotonicNow: at, ...(grantAt !== undefined && { grantAt }) }
    expect(nextWork(waiting)).toEqual({ capsDue, usageDue, sleepMs })
  })

  test('rests until usage is due where that comes first', () => {
    const rhythms = { caps, usage: { lastAt: 0, delayMs: MINUTE } }
    expect(nextWork({ ...rhythms, now: NOW, monotonicNow: 0 }).sleepMs).toBe(MINUTE)
    expect(nextWork({ ...rhythms, now: NOW, monotonicNow: MINUTE })).toMatchObject({ capsDue: false, usageDue: true })
  })
})
