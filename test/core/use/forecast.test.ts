import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { forecastFrom, forecastReadsFrom, unitDoubt } from '../../../src/core/use/burn.ts'
import { alike, at, historyOf } from '../../support/burn.ts'
import { CYCLE, DAY, HOUR } from '../../support/declare.ts'

type DayHistory = ReturnType<typeof historyOf>

const forecastOf = (history: DayHistory, fromAt: number = at(10), untilAt: number = CYCLE.endAt) =>
  forecastFrom({ history, fromAt, untilAt, freshnessMs: 3 * HOUR })
const expectedDays = (history: DayHistory, fromAt?: number, untilAt?: number) =>
  forecastOf(history, fromAt, untilAt)?.days.map((day) => day.credits)

/** Days read at day 10, 12:00: the last one is Tuesday, 10 November. */
const daysOf = (uses: readonly number[]) => historyOf(at(10, 12), uses)
const weeks = (...uses: readonly number[]) => uses.flatMap((use) => alike(7, use))

test('the expected use of a day is that of its weekday when the days are not whole weeks', () => {
  // The 30 days end with Tuesday, 10 November.
  const history = daysOf(Array.from({ length: 30 }, (_, index) => (index % 7 === 1 ? 700 : 7)))
  expect(expectedDays(history)?.slice(0, 7)).toEqual([7, 7, 7, 7, 7, 7, 700])
})

describe('the days that a forecast learns from', () => {
  test('are all complete and read from a first day that is told', () => {
    const now = at(10, 3)
    const fromAt = forecastReadsFrom(now)
    const days = Array.from({ length: 100 }, (_, index) => ({ dayAt: at(11 - index), credits: credits(10 + (index % 9)) }))
    const read = (first: number) => forecastOf({ fromAt: first, readAt: now, days: days.filter(({ dayAt }) => dayAt >= first) })
    expect(read(fromAt)).toBeDefined()
    expect(read(fromAt)).toEqual(read(fromAt - 20 * DAY))
  })

  test('do not count an entry without an end', () => {
    const history = daysOf(alike(28, 100))
    const endless = { dayAt: at(5), credits: credits(Number.POSITIVE_INFINITY) }
    expect(expectedDays({ ...history, days: [...history.days, endless] })?.slice(0, 7)).toEqual(alike(7, 100))
  })
})

const spreadOf = (...uses: readonly number[]) => forecastOf(daysOf(weeks(...uses)))?.spread

test.each([
  ['judged by what came before each week', [100, 100, 130, 100], Math.sqrt((0.01 + 0.3 ** 2 + (100 / ((4 * 130 + 300) / 7) - 1) ** 2) / 3)],
  ['without the weeks before the first use', [0, 0, 100, 100, 100, 100], Math.sqrt(0.01 / 3)],
])('the spread is %s', (_row, uses, expected) => {
  expect(spreadOf(...uses)).toBeCloseTo(expected, 9)
})

describe('laws', () => {
  const uses = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 28, maxLength: 70 })

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
})

const pair = (first: number | undefined, second: number | undefined): Parameters<typeof unitDoubt>[0][number] => ({
  of: 'add-on credits',
  first: { name: 'the sum of people', credits: first === undefined ? undefined : credits(first) },
  second: { name: 'the balance', credits: second === undefined ? undefined : credits(second) },
})

describe('a probable unit error', () => {
  test.each([
    ['70 times', 700, 10],
    ['140 times', 1400, 10],
  ])('is a figure that is %s the other', (_row, first, second) => {
    expect(unitDoubt([pair(first, second)])).toHaveLength(1)
  })

  test.each([
    ['the factor is a little more', 1401, 10],
    ['the factor is a little less', 699, 10],
    ['the smaller one is so small that it may be late', 999, 9.99],
    ['the first is unknown', undefined, 1000],
    ['the second is unknown', 1000, undefined],
  ])('is not there when %s', (_row, first, second) => {
    expect(unitDoubt([pair(first, second)])).toEqual([])
  })

  test('names both figures, their factor and what is probably wrong', () => {
    expect(unitDoubt([pair(1000, 1000), pair(1250.4, 12.5)])).toEqual([
      {
        of: 'add-on credits',
        factor: 1250.4 / 12.5,
        message:
          'add-on credits: the sum of people says 1250, the balance says 13 credits, a factor of 100; one of them is probably in cents',
      },
    ])
  })
})
