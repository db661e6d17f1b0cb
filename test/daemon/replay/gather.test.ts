// Billing cycles before and after a known one.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cycleBeside, cyclesBetween } from '../../../src/daemon/replay/gather.ts'
import { DAY, HOUR } from '../../support/declare.ts'

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`)
const cycle = (from: string, until: string) => ({ startAt: day(from), endAt: day(until) })

test.each([
  ['the month before', cycle('2026-11-01', '2026-12-01'), -1, cycle('2026-10-01', '2026-11-01')],
  ['a month in the year before', cycle('2026-02-15', '2026-03-15'), -3, cycle('2025-11-15', '2025-12-15')],
  ['February of cycles that begin on the 31st', cycle('2026-03-31', '2026-04-30'), -1, cycle('2026-02-28', '2026-03-31')],
  ['the month after', cycle('2026-01-31', '2026-02-28'), 1, cycle('2026-02-28', '2026-03-31')],
  ['a week before', cycle('2026-11-09', '2026-11-16'), -2, cycle('2026-10-26', '2026-11-02')],
  ['four weeks that are no month', cycle('2026-11-02', '2026-11-30'), -1, cycle('2026-10-05', '2026-11-02')],
])('the cycle beside a known one: %s', (_row, known, steps, expected) => {
  expect(cycleBeside(known, steps)).toEqual(expected)
})

/** Billing on the 31st, or on the last day of a shorter month. */
const ENDS = ['2025-12-31', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30', '2026-07-31']
const MONTHS = ENDS.slice(0, -1).map((from, index) => cycle(from, ENDS[index + 1] ?? ''))

test.each(MONTHS)('all cycles that begin on the last day of a month follow from any of them (%#)', (known) => {
  expect(cyclesBetween(known, day('2026-01-01'), day('2026-07-30'))).toEqual(MONTHS)
})

/** The first of the month an hour east of UTC. */
const LAGOS = ENDS.slice(1).map((text) => day(text) + 23 * HOUR)
const OF_LAGOS = LAGOS.slice(0, -1).map((startAt, index) => ({ startAt, endAt: LAGOS[index + 1] ?? 0 }))

test.each(OF_LAGOS)('so do all that begin on the first in a time zone east of UTC (%#)', (known) => {
  expect(cyclesBetween(known, LAGOS[0] ?? 0, LAGOS.at(-1) ?? 0)).toEqual(OF_LAGOS)
})

describe('cycles between two instants', () => {
  const known = fc.oneof(
    fc
      .record({ year: fc.constant(2026), month: fc.integer({ min: 0, max: 11 }), date: fc.integer({ min: 1, max: 28 }) })
      .map(({ year, month, date }) => ({
        startAt: Date.UTC(year, month, date),
        endAt: Date.UTC(year, month + 1, date),
      })),
    fc.integer({ min: 1, max: 40 }).map((days) => ({ startAt: day('2026-06-01'), endAt: day('2026-06-01') + days * DAY })),
  )

  /** The cycle before as it was read: it may have ended long ago, or end after the present one begins, whose start has moved. */
  const told = fc.option(fc.record({ from: fc.integer({ min: -120, max: 3 }), days: fc.integer({ min: 1, max: 40 }) }), { nil: undefined })

  test('follow each other without a gap, cover the time, and include the known one where it is in it, whatever was told of the one before', () => {
    fc.assert(
      fc.property(known, told, fc.integer({ min: -400, max: 0 }), fc.integer({ min: 1, max: 400 }), (one, last, before, length) => {
        const fromAt = one.startAt + before * DAY
        const untilAt = fromAt + length * DAY
        const previous = last && { startAt: one.startAt + last.from * DAY, endAt: one.startAt + (last.from + last.days) * DAY }
        const found = cyclesBetween(one, fromAt, untilAt, previous)
        expect(found[0]?.startAt).toBeLessThanOrEqual(fromAt)
        expect(found[0]?.endAt).toBeGreaterThan(fromAt)
        expect(found.at(-1)?.endAt).toBeGreaterThanOrEqual(untilAt)
        expect(found.at(-1)?.startAt).toBeLessThan(untilAt)
        for (const [index, { startAt }] of found.entries()) if (index > 0) expect(startAt).toBe(found[index - 1]?.endAt)
        if (one.startAt >= fromAt && one.startAt < untilAt) expect(found).toContainEqual(one)
        if (previous && previous.startAt < one.startAt && previous.startAt >= fromAt && previous.startAt < untilAt)
          expect(found.map(({ startAt }) => startAt)).toContain(previous.startAt)
      }),
    )
  })

  test('are looked for in so many steps at most also where the service tells cycles of a second, months ahead', () => {
    const startAt = day('2026-06-01')
    expect(cyclesBetween({ startAt, endAt: startAt + 1000 }, startAt - 90 * DAY, startAt - DAY)).toEqual([])
  })
})
