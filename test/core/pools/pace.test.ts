// How much members of a pool are expected to use, and when a pool is used up: by working days, in UTC.
import { describe, expect, test } from 'vitest'
import { exhaustionAt, ownPace, poolPace, workingDays } from '../../../src/core/pools/pace.ts'
import { CYCLE, DAY, HOUR } from '../../support/declare.ts'

/** 2026-11-02 is a Monday. */
const MONDAY = Date.UTC(2026, 10, 2)

describe('working days', () => {
  test.each<readonly [string, number, number, number]>([
    ['a whole day', MONDAY, MONDAY + DAY, 1],
    ['half a day', MONDAY, MONDAY + DAY / 2, 0.5],
    ['a week', MONDAY, MONDAY + 7 * DAY, 5],
    ['a weekend', MONDAY + 5 * DAY, MONDAY + 7 * DAY, 0],
    ['Friday noon to Monday noon', MONDAY + 4.5 * DAY, MONDAY + 7.5 * DAY, 1],
    ['nothing, backwards', MONDAY + DAY, MONDAY, 0],
    ['no more than 400 days', MONDAY, MONDAY + 1000 * DAY, 57 * 5 + 1],
  ])('in %s', (_row, from, until, days) => {
    expect(workingDays(from, until)).toBeCloseTo(days, 9)
  })
})

describe('expected use', () => {
  const at = MONDAY + 14 * DAY

  test('is alike for all while nobody has used anything', () => {
    expect(ownPace(poolPace(0, 2, CYCLE, CYCLE.startAt), 0)).toBe(1)
  })

  test('follows a person’s own pace, shrunk to the mean by three days', () => {
    // Ten working days are over: (300 + 3 × 20) ÷ 13 and (100 + 3 × 20) ÷ 13.
    const pace = poolPace(400, 2, CYCLE, at)
    expect(ownPace(pace, 300)).toBeCloseTo(360 / 13, 9)
    expect(ownPace(pace, 100)).toBeCloseTo(160 / 13, 9)
  })

  test('is nothing of a pool without people', () => {
    expect(poolPace(0, 0, CYCLE, at)).toMatchObject({ mean: 0 })
  })

  test('is the same within an hour', () => {
    expect(poolPace(300, 1, CYCLE, at + HOUR - 1)).toEqual(poolPace(300, 1, CYCLE, at))
  })
})

describe('exhaustion', () => {
  test.each<readonly [string, number, number, number | undefined]>([
    ['now, when nothing is left', 0, 10, MONDAY],
    ['on Wednesday noon, with two and a half days left', 25, 10, MONDAY + 2.5 * DAY],
    ['on the next Monday, with six days left', 60, 10, MONDAY + 8 * DAY],
    ['at the end of Friday, with five days left', 50, 10, MONDAY + 5 * DAY],
    ['now, when more than all is gone', -5, 10, MONDAY],
    ['never, without use', 25, 0, undefined],
    ['not within the cycle', 1000, 10, undefined],
  ])('%s', (_row, left, pace, expected) => {
    expect(exhaustionAt(left, pace, MONDAY, CYCLE.endAt)).toBe(expected)
  })

  test('is now when nothing is left, also on a Saturday', () => {
    const saturday = MONDAY + 5 * DAY
    expect(exhaustionAt(0, 10, saturday, CYCLE.endAt)).toBe(saturday)
  })

  test('is searched for in 400 days at most', () => {
    expect(exhaustionAt(285.5, 1, MONDAY, MONDAY + 1000 * DAY)).toBe(MONDAY + 399.5 * DAY)
    expect(exhaustionAt(286.5, 1, MONDAY, MONDAY + 1000 * DAY)).toBeUndefined()
  })
})
