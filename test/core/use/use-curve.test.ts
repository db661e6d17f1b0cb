import { describe, expect, test } from 'vitest'
import { burnedByDays, burnedByReadings, type UseReading, useCurve } from '../../../src/core/use/forecast.ts'
import { alike, at, CYCLE, DAY, HOUR, historyOf, reading, readingsOf, steadily } from '../../support/burn.ts'

const curveAt = (now: number, readings: readonly UseReading[]) => {
  const curve = useCurve({ now, readings, cycle: CYCLE, freshnessMs: 3 * HOUR })
  if (!curve) throw new Error('no curve')
  return curve
}
const burned = (now: number, readings: readonly UseReading[], hours: number) => burnedByReadings(curveAt(now, readings), hours * HOUR)

describe('the curve', () => {
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
})

describe('what was burned in a window, by readings', () => {
  test('counts an increase as burned since the increase before it', () => {
    const readings = [...readingsOf(at(9), at(9, 19), () => 510), reading(at(9, 20), 530), reading(at(9, 21), 530), reading(at(9, 22), 570)]
    // 40 credits in the last two hours, of which one and a half are in the window.
    expect(burned(at(9, 22), readings, 1.5)).toBeCloseTo(30, 6)
  })

  test('never falls below what people who stay have burned when others leave', () => {
    const readings = [
      ...readingsOf(at(8), at(9), () => 500),
      ...readingsOf(at(9), at(9, 12), () => 300),
      ...readingsOf(at(9, 12), at(10), () => 540),
    ]
    expect(burned(at(10), readings, 24)).toBe(40)
  })
})

describe('a window that begins in the cycle before', () => {
  const cycleBefore = (until: number) => readingsOf(at(-7), until, (takenAt) => 5000 + ((takenAt - at(-7)) / HOUR) * 20)
  const since = readingsOf(at(0, 6), at(1), steadily)

  test.each([
    ['a day before the reset', at(-1), true],
    ['longer before it', at(-1, -1), false],
  ])('needs a reading near the reset: the last is %s', (_row, until, known) => {
    expect(burned(at(1), [...cycleBefore(until), ...since], 72) !== undefined).toBe(known)
  })

  test('is known at once when it begins with the cycle', () => {
    expect(burned(at(1), since, 24)).toBeCloseTo(240, 6)
  })
})

describe('what was burned in a window, by days', () => {
  const history = historyOf(at(10, 12), [...alike(6, 240), 480])

  test.each([
    ['just', at(3, 12), true],
    ['not quite', at(3, 12) + 1, false],
  ])('is known only when the days reach back far enough: they %s do', (_row, fromAt, known) => {
    expect(burnedByDays({ ...history, fromAt }, 7 * DAY) !== undefined).toBe(known)
  })
})
