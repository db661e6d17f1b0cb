import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { burnedByDays, burnedByReadings, type UseReading, useCurve } from '../../../src/core/use/use-curve.ts'
import { alike, at, CYCLE, DAY, HOUR, historyOf, reading, readingsOf, steadily } from '../../support/burn.ts'

const curveAt = (now: number, readings: readonly UseReading[]) => {
  const curve = useCurve({ now, readings, cycle: CYCLE, freshnessMs: 3 * HOUR })
  if (!curve) throw new Error('no curve')
  return curve
}
const burned = (now: number, readings: readonly UseReading[], hours: number) => burnedByReadings(curveAt(now, readings), hours * HOUR)

/** What the service shows of `steadily` when it refreshes every three hours. */
const refreshed = (takenAt: number) => steadily(Math.floor(takenAt / (3 * HOUR)) * 3 * HOUR)

describe('the curve', () => {
  test.each<readonly [string, readonly UseReading[]]>([
    ['there is no reading', []],
    ['all readings are of the cycle before', [reading(at(-1), 10)]],
    ['the only reading is so early that it may show the cycle before', [reading(at(0, 6) - 1, 10)]],
    ['the only reading is in the future', [reading(at(10) + 1, 10)]],
    ['the only reading is no number', [reading(at(9), Number.NaN)]],
    ['the only reading is endless', [reading(at(9), Number.POSITIVE_INFINITY)]],
  ])('is absent when %s', (_row, readings) => {
    expect(useCurve({ now: at(10), readings, cycle: CYCLE, freshnessMs: 3 * HOUR })).toBeUndefined()
  })

  test('is there from the first reading six hours after the start, and at this very instant', () => {
    expect(curveAt(at(0, 6), [reading(at(0, 6), 10)])).toMatchObject({ used: 10, readAt: at(0, 6), freshAt: at(0, 6) })
  })

  test('ends with the cycle', () => {
    const readings = [reading(CYCLE.endAt, 500), reading(CYCLE.endAt + 1, 3)]
    expect(curveAt(CYCLE.endAt + HOUR, readings)).toMatchObject({ used: 500, readAt: CYCLE.endAt })
  })

  test('takes readings in any order', () => {
    const readings = readingsOf(at(8), at(10), steadily)
    expect(curveAt(at(10), readings.toReversed())).toEqual(curveAt(at(10), readings))
  })

  test('keeps the highest reading when people leave the roster', () => {
    expect(curveAt(at(10), [reading(at(8), 700), reading(at(9), 400)])).toMatchObject({ used: 700, readAt: at(9) })
  })

  test('does not take what is left of the cycle before for use of this one', () => {
    const readings = [reading(at(0, 1), 9000), reading(at(0, 5), 9000), reading(at(0, 7), 60)]
    expect(curveAt(at(0, 8), readings).used).toBe(60)
  })
})

describe('the latest fresh reading', () => {
  test.each([
    ['is the latest one when it is an increase', [reading(at(9), 100), reading(at(9, 1), 110)], at(9, 1)],
    ['is the latest increase while the next refresh is awaited', [reading(at(9), 100), reading(at(9, 3) - 1, 100)], at(9)],
    ['is the latest one when the next refresh brought nothing', [reading(at(9), 100), reading(at(9, 3), 100)], at(9, 3)],
    ['is not moved by people who leave', [reading(at(9), 100), reading(at(9, 1), 90)], at(9)],
    ['is the latest one of a team that has used nothing', [reading(at(8), 0), reading(at(9), 0)], at(9)],
  ])('%s', (_row, readings, freshAt) => {
    expect(curveAt(at(10), readings).freshAt).toBe(freshAt)
  })
})

describe('what was burned in a window, by readings', () => {
  test.each([6, 24, 72, 168])('is the use of %d hours when use is even', (hours) => {
    expect(burned(at(10), readingsOf(at(0, 6), at(10), steadily), hours)).toBeCloseTo(hours * 10, 6)
  })

  test.each([6, 24, 72, 168])('is the use of %d hours when the service refreshes every three', (hours) => {
    const readings = readingsOf(at(0, 6), at(10, 2), refreshed, HOUR / 4)
    expect(burned(at(10, 2), readings, hours)).toBeCloseTo(hours * 10, 6)
  })

  test('counts an increase as burned since the increase before it', () => {
    const readings = [...readingsOf(at(9), at(9, 19), () => 510), reading(at(9, 20), 530), reading(at(9, 21), 530), reading(at(9, 22), 570)]
    // 40 credits in the last two hours, of which one and a half are in the window.
    expect(burned(at(9, 22), readings, 1.5)).toBeCloseTo(30, 6)
  })

  test('counts an increase after a quiet night as burned within the time the service takes to show it', () => {
    const readings = [...readingsOf(at(9), at(9, 20), () => 500), reading(at(9, 21), 530)]
    expect(burned(at(10), readings, 1)).toBeCloseTo(10, 6)
  })

  test('spreads an increase over the whole time without a reading', () => {
    const readings = [...readingsOf(at(5), at(7), () => 500), ...readingsOf(at(9) - HOUR, at(10), () => 980)]
    // 480 credits in 48 hours; the window begins 24 hours before the end of them, which is in the hole.
    expect(burned(at(10), readings, 24)).toBe(0)
    expect(burned(at(10), readings, 47)).toBeUndefined()
    expect(burned(at(10), readings, 144)).toBeUndefined()
    expect(burned(at(10), readings, 96)).toBe(480)
  })

  test('never falls below what people who stay have burned when others leave', () => {
    const readings = [
      ...readingsOf(at(8), at(9), () => 500),
      ...readingsOf(at(9), at(9, 12), () => 300),
      ...readingsOf(at(9, 12), at(10), () => 540),
    ]
    expect(burned(at(10), readings, 24)).toBe(40)
  })

  test.each([
    ['6 hours, 4 hours apart', 6, 4 * HOUR, true],
    ['6 hours, farther apart', 6, 4 * HOUR + 2, false],
    ['24 hours, 8 hours apart', 24, 8 * HOUR, true],
    ['24 hours, farther apart', 24, 8 * HOUR + 2, false],
    ['3 days, a day apart', 72, DAY, true],
    ['3 days, farther apart', 72, DAY + 2, false],
  ])('is known only when the readings around its start are near: %s', (_row, hours, apartMs, known) => {
    const start = at(10) - hours * HOUR
    const readings = [reading(start - apartMs / 2, 100), reading(start + apartMs / 2, 200), reading(at(10), 300)]
    expect(burned(at(10), readings, hours)).toEqual(known ? 150 : undefined)
  })

  test('is absent when the readings begin later than the window', () => {
    expect(burned(at(10), readingsOf(at(9, 1), at(10), steadily), 24)).toBeUndefined()
  })
})

describe('a window that begins in the cycle before', () => {
  const cycleBefore = (until: number) => readingsOf(at(-7), until, (takenAt) => 5000 + ((takenAt - at(-7)) / HOUR) * 20)
  const since = readingsOf(at(0, 6), at(1), steadily)

  test('counts the use of both', () => {
    expect(burned(at(1), [...cycleBefore(at(0, -1)), ...since], 72)).toBeCloseTo(47 * 20 + 24 * 10, 6)
  })

  test('is absent when the cycle before was not read', () => {
    expect(burned(at(1), since, 72)).toBeUndefined()
  })

  test.each([
    ['a day before the reset', at(-1), true],
    ['longer before it', at(-1, -1), false],
  ])('needs a reading near the reset: the last is %s', (_row, until, known) => {
    expect(burned(at(1), [...cycleBefore(until), ...since], 72) !== undefined).toBe(known)
  })

  test('is known at once when it begins with the cycle', () => {
    expect(burned(at(1), since, 24)).toBeCloseTo(240, 6)
  })

  test('is absent for 6 hours while its start may still be confused with the reset', () => {
    const now = at(0, 8)
    expect(burned(now, [...cycleBefore(at(0, -1)), ...readingsOf(at(0, 6), now, steadily)], 6)).toBeUndefined()
  })
})

describe('what was burned in a window, by days', () => {
  const history = historyOf(at(10, 12), [...alike(6, 240), 480])

  test('counts the days within, and the parts of days', () => {
    // From day 7, 12:00, to day 10, 12:00; day 10 has no entry.
    expect(burnedByDays(history, 3 * DAY)).toBeCloseTo(120 + 240 + 480, 6)
  })

  test('takes the use of a day that is not over as burned until it was read', () => {
    const today = { dayAt: at(10), credits: credits(240) }
    expect(burnedByDays({ ...history, days: [...history.days, today] }, 3 * DAY)).toBeCloseTo(120 + 240 + 480 + 240, 6)
  })

  test('is absent for windows of less than three days', () => {
    expect(burnedByDays(history, 3 * DAY - 1)).toBeUndefined()
  })

  test.each([
    ['just', at(3, 12), true],
    ['not quite', at(3, 12) + 1, false],
  ])('is known only when the days reach back far enough: they %s do', (_row, fromAt, known) => {
    expect(burnedByDays({ ...history, fromAt }, 7 * DAY) !== undefined).toBe(known)
  })
})
