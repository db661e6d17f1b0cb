import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDate, readInstant, zoneNamed } from '../../src/policy/dates.ts'

const dayOf = (text: string): number => {
  const day = readDate(text)
  if (day === undefined) throw new Error(text)
  return day
}
const zoneOf = (name: string) => {
  const zone = zoneNamed(name)
  if (!zone) throw new Error(name)
  return zone
}
const iso = (at: number): string => new Date(at).toISOString()

describe('days', () => {
  it.each([
    ['UTC', 'UTC', '2026-12-15', '2026-12-15T00:00:00.000Z', '2026-12-16T00:00:00.000Z'],
    ['a zone with whole hours', 'Europe/Berlin', '2026-12-15', '2026-12-14T23:00:00.000Z', '2026-12-15T23:00:00.000Z'],
    ['a zone with quarter hours', 'Asia/Kathmandu', '2026-12-15', '2026-12-14T18:15:00.000Z', '2026-12-15T18:15:00.000Z'],
    ['the short day in spring', 'Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['the long day in autumn', 'Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['a midnight that does not exist', 'America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z', '2026-09-07T03:00:00.000Z'],
    ['a midnight that comes twice, at its first', 'America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
    ['a day that was skipped', 'Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', '2011-12-30T10:00:00.000Z'],
  ])('start and end in %s', (_name, zone, date, start, end) => {
    expect([iso(zoneOf(zone).startOfDay(dayOf(date))), iso(zoneOf(zone).endOfDay(dayOf(date)))]).toEqual([start, end])
  })

  it('follow each other without a gap and without an overlap', () => {
    const zones = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/Havana',
      'America/Santiago',
      'Pacific/Apia',
      'Asia/Beirut',
      'Australia/Lord_Howe',
    )
    fc.assert(
      fc.property(zones, fc.integer({ min: 10_000, max: 24_000 }), (name, index) => {
        const zone = zoneOf(name)
        const day = index * 86_400_000
        expect(zone.endOfDay(day)).toBe(zone.startOfDay(day + 86_400_000))
        expect(zone.endOfDay(day) - zone.startOfDay(day)).toBeLessThanOrEqual(25 * 3_600_000)
      }),
      { numRuns: 80 },
    )
  })

  it('are not known of a zone that does not exist', () => expect(zoneNamed('Europe/Berlinn')).toBeUndefined())
})

describe('readInstant', () => {
  it.each([
    ['2026-12-15T18:00:00Z', '2026-12-15T18:00:00.000Z'],
    ['2026-12-15t18:00:00.250z', '2026-12-15T18:00:00.250Z'],
    ['2026-12-15 18:00:00+01:00', '2026-12-15T17:00:00.000Z'],
    ['2026-12-15T18:00:00-05:30', '2026-12-15T23:30:00.000Z'],
    ['2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
  ])('reads %s', (text, expected) => expect(iso(readInstant(text) ?? Number.NaN)).toBe(expected))

  it.each([
    '2026-12-15',
    '2026-12-15T18:00',
    '2026-12-15T18:00:00',
    '2026-02-30T00:00:00Z',
    '2026-12-15T24:00:00Z',
    '2026-12-15T18:00:00+24:00',
    'soon',
  ])('refuses %s', (text) => expect(readInstant(text)).toBeUndefined())
})

describe('readDate', () => {
  it.each(['2026-02-29', '2026-13-01', '2026-1-5', '26-01-05', '2026-00-10', ''])('refuses %j', (text) =>
    expect(readDate(text)).toBeUndefined(),
  )
  it('knows leap days', () => expect(iso(dayOf('2028-02-29'))).toBe('2028-02-29T00:00:00.000Z'))
})
