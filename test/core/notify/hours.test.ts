// Quiet hours and the days of digests in local time, across changes of the clock.
import { describe, expect, test } from 'vitest'
import { dayOf, digestLevel, isQuiet } from '../../../src/core/notify/due.ts'

const at = (text: string): number => Date.parse(text)
const hours = (from: number, until: number) => ({ fromMinute: from * 60, untilMinute: until * 60 })

describe('quiet hours', () => {
  test.each<readonly [string, string, ReturnType<typeof hours> | undefined, boolean]>([
    ['none', '2026-11-22T12:00Z', undefined, false],
    ['within a day: as they begin', '2026-11-22T12:00Z', hours(12, 14), true],
    ['within a day: before', '2026-11-22T11:59Z', hours(12, 14), false],
    ['within a day: as they end', '2026-11-22T14:00Z', hours(12, 14), false],
    ['within a day: at last', '2026-11-22T13:59Z', hours(12, 14), true],
    ['over midnight: as they begin', '2026-11-22T22:00Z', hours(22, 7), true],
    ['over midnight: in the morning', '2026-11-22T06:59Z', hours(22, 7), true],
    ['over midnight: as they end', '2026-11-22T07:00Z', hours(22, 7), false],
    ['over midnight: before', '2026-11-22T21:59Z', hours(22, 7), false],
    ['in the middle of an hour', '2026-11-22T12:31Z', { fromMinute: 751, untilMinute: 752 }, true],
    ['in the minute before it', '2026-11-22T12:30Z', { fromMinute: 751, untilMinute: 752 }, false],
    ['of no length', '2026-11-22T12:00Z', hours(12, 12), false],
  ])('%s', (_name, now, quietHours, expected) =>
    expect(isQuiet(at(now), { timezone: 'UTC', ...(quietHours && { quietHours }) })).toBe(expected),
  )

  test('are local, in summer and in winter', () => {
    const night = { quietHours: hours(22, 7), timezone: 'Europe/Berlin' }
    expect(
      ['2026-07-01T20:00Z', '2026-07-01T19:59Z', '2026-12-01T20:00Z', '2026-12-01T21:00Z'].map((now) => isQuiet(at(now), night)),
    ).toEqual([...[true, false, false, true]])
  })
})

test.each([
  ['2026-11-22T23:30Z', 'Asia/Tokyo', '2026-11-23'],
  ['2026-11-23T04:30Z', 'America/New_York', '2026-11-22'],
  ['2026-03-04T05:06Z', 'UTC', '2026-03-04'],
  ['2026-03-04T00:00Z', 'UTC', '2026-03-04'],
  ['0987-03-04T05:06Z', 'UTC', '0987-03-04'],
])('the day of %s in %s is %s', (now, timezone, day) => expect(dayOf(at(now), timezone)).toBe(day))

test.each<readonly [string, 'daily' | 'monthly', string, number]>([
  ['2026-11-22T08:00Z', 'daily', 'UTC', 20_261_122],
  ['2026-11-22T07:59Z', 'daily', 'UTC', 20_261_121],
  ['2026-12-01T08:00Z', 'monthly', 'UTC', 202_612],
  ['2026-12-01T07:59Z', 'monthly', 'UTC', 202_611],
  ['2026-11-22T07:00Z', 'daily', 'Europe/Berlin', 20_261_122],
])('at %s the newest %s digest in %s is that of %i', (now, digest, timezone, level) =>
  expect(digestLevel(at(now), digest, timezone)).toBe(level),
)

test('an unknown time zone is an error', () => expect(() => dayOf(0, 'Nowhere/Else')).toThrow(RangeError))
