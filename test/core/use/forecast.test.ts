import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits, type Instant } from '../../../src/core/model/units.ts'
import { forecastFrom, forecastReadsFrom, projectionOf } from '../../../src/core/use/forecast.ts'
import { alike, at, CYCLE, DAY, HOUR, historyOf } from '../../support/burn.ts'

type DayHistory = ReturnType<typeof historyOf>

const forecastOf = (history: DayHistory, fromAt: Instant = at(10), untilAt: Instant = CYCLE.endAt) =>
  forecastFrom({ history, fromAt, untilAt, freshnessMs: 3 * HOUR })
const expectedDays = (history: DayHistory, fromAt?: Instant, untilAt?: Instant) =>
  forecastOf(history, fromAt, untilAt)?.days.map((day) => day.credits)

/** Days read at day 10, 12:00: the last one is Tuesday, 10 November. */
const daysOf = (uses: readonly number[]) => historyOf(at(10, 12), uses)
const weeks = (...uses: readonly number[]) => uses.flatMap((use) => alike(7, use))

describe('the expected use of a day', () => {
  test('is that of its weekday when the days are not whole weeks', () => {
    // The 30 days end with Tuesday, 10 November.
    const history = daysOf(Array.from({ length: 30 }, (_, index) => (index % 7 === 1 ? 700 : 7)))
    expect(expectedDays(history)?.slice(0, 7)).toEqual([7, 7, 7, 7, 7, 7, 700])
  })

  test('is of no day when the cycle is over', () => {
    expect(expectedDays(daysOf(alike(28, 240)), CYCLE.endAt)).toEqual([])
  })
})

describe('the days that a forecast learns from', () => {
  test.each([at(10), at(10, 2), at(10, 3) - 1, at(10, 3), at(11) - 1])(
    'are all complete and read from a first day that is told: at %i',
    (now) => {
      const fromAt = forecastReadsFrom(now)
      const days = Array.from({ length: 100 }, (_, index) => ({ dayAt: at(11 - index), credits: credits(10 + (index % 9)) }))
      const read = (first: Instant) => forecastOf({ fromAt: first, readAt: now, days: days.filter(({ dayAt }) => dayAt >= first) })
      expect(read(fromAt)).toBeDefined()
      expect(read(fromAt)).toEqual(read(fromAt - 20 * DAY))
    },
  )

  test('may be read from the future on, and are none then', () => {
    expect(forecastOf({ fromAt: at(12), readAt: at(10), days: [] })).toBeUndefined()
  })

  test('are complete three hours after their end', () => {
    const history = { ...daysOf(alike(28, 240)), fromAt: at(-18) }
    expect(forecastOf({ ...history, readAt: at(10, 3) })).toBeDefined()
    expect(forecastOf({ ...history, readAt: at(10, 3) - 1 })).toBeUndefined()
  })

  test.each([
    ['before the first day', at(-19), 5000],
    ['of a day that is not complete', at(10), 5000],
    ['without a number', at(5), Number.NaN],
    ['without an end', at(5), Number.POSITIVE_INFINITY],
  ])('do not count an entry %s', (_row, dayAt, use) => {
    const history = daysOf(alike(28, 100))
    expect(expectedDays({ ...history, days: [...history.days, { dayAt, credits: credits(use) }] })?.slice(0, 7)).toEqual(alike(7, 100))
  })
})

describe('the spread', () => {
  const spreadOf = (...uses: readonly number[]) => forecastOf(daysOf(weeks(...uses)))?.spread

  test.each([
    ['a tenth, counted as one week, beside two weeks that were right', [100, 100, 100, 100], Math.sqrt(0.01 / 3)],
    ['the same beside six', alike(8, 100), Math.sqrt(0.01 / 7)],
    ['the root of the mean square of errors', [100, 100, 100, 200], Math.sqrt((0.01 + 0 + 1) / 3)],
    ['as wide for less as for more', [100, 100, 100, 0], Math.sqrt((0.01 + 0 + 1) / 3)],
    [
      'judged by what came before each week',
      [100, 100, 130, 100],
      Math.sqrt((0.01 + 0.3 ** 2 + (100 / ((4 * 130 + 300) / 7) - 1) ** 2) / 3),
    ],
    ['without the weeks before the first use', [0, 0, 100, 100, 100, 100], Math.sqrt(0.01 / 3)],
    ['1 at most', [1, 1, 1, 1000], 1],
  ])('is %s', (_row, uses, expected) => {
    expect(spreadOf(...uses)).toBeCloseTo(expected, 9)
  })
})

describe('the projection', () => {
  const day = (use: number) => ({ fromAt: 0, untilAt: 1, credits: use })

  test('adds the expected days to what is used, with 80 % of a normal distribution around them', () => {
    const { p10, p50, p90 } = projectionOf(1000, { days: [day(60), day(40)], spread: 0.5 })
    expect(p50).toBe(1100)
    expect(p10).toBeCloseTo(1000 + 100 * Math.exp(-0.6408), 9)
    expect(p90).toBeCloseTo(1000 + 100 * Math.exp(0.6408), 9)
  })

  test('is what is used when nothing lies ahead', () => {
    expect(projectionOf(1000, { days: [], spread: 0.5 })).toEqual({ p10: 1000, p50: 1000, p90: 1000 })
  })
})

describe('laws', () => {
  const uses = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 28, maxLength: 70 })
  const total = (history: DayHistory) => projectionOf(0, forecastOf(history) ?? { days: [], spread: 0 }).p50

  test('more use on any day since the first use never lowers what is expected', () => {
    fc.assert(
      fc.property(uses, fc.nat(), fc.double({ min: 0, max: 1e6, noNaN: true }), (all, pick, more) => {
        const recent = all.slice(-56)
        const before = recent.slice(recent.findIndex((use) => use > 0))
        const after = before.map((use, index) => (index === pick % before.length ? use + more : use))
        expect(total(daysOf(after))).toBeGreaterThanOrEqual(total(daysOf(before)) * (1 - 1e-12))
      }),
    )
  })

  test('what is expected is never less than the least day, nor more than the greatest', () => {
    fc.assert(
      fc.property(uses, (before) => {
        for (const use of expectedDays(daysOf(before)) ?? []) {
          expect(use).toBeGreaterThanOrEqual(Math.min(...before) * (1 - 1e-12))
          expect(use).toBeLessThanOrEqual(Math.max(...before) * (1 + 1e-12))
        }
      }),
    )
  })

  test('the order of entries does not matter', () => {
    const history = daysOf(Array.from({ length: 40 }, (_, index) => index * index))
    expect(forecastOf({ ...history, days: history.days.toReversed() })).toEqual(forecastOf(history))
  })

  test('a day of the history is a UTC day, whatever hour it is listed with', () => {
    const history = daysOf(alike(28, 240))
    const shifted = history.days.map((one) => ({ ...one, dayAt: one.dayAt + DAY - 1 }))
    expect(forecastOf({ ...history, days: shifted })).toEqual(forecastOf(history))
  })
})
