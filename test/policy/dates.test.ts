// The times of grants: days in the time zone of their document, and instants. What is said of wrong ones is in slips.test.ts.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePolicyText } from '../../src/policy/parse.ts'
import { policyText } from './support.ts'

const HOUR = 3_600_000

/** The times of grants as they are read in a zone; undefined for a grant that is refused. */
function timesOf(zone: string, ...grants: readonly (readonly [from: string, until: string])[]) {
  const lines = grants.map(([from, until]) => `- {team: true, cap: 5, from: ${from}, until: ${until}, reason: r}`)
  const { documents } = parsePolicyText('x.yaml', policyText(`timezone: ${zone}\ngrants:\n${lines.join('\n')}`))
  return (documents[0]?.grants ?? []).map(({ value }) =>
    value?.until.kind === 'instant' ? { from: value.fromAt ?? Number.NaN, until: value.until.at } : undefined,
  )
}
const iso = (at: number | undefined): string => new Date(at ?? Number.NaN).toISOString()

describe('days', () => {
  it.each([
    ['UTC', 'UTC', '2026-12-15', '2026-12-15T00:00:00.000Z', '2026-12-16T00:00:00.000Z'],
    ['a zone with whole hours', 'Europe/Berlin', '2026-12-15', '2026-12-14T23:00:00.000Z', '2026-12-15T23:00:00.000Z'],
    ['a zone with quarter hours', 'Asia/Kathmandu', '2026-12-15', '2026-12-14T18:15:00.000Z', '2026-12-15T18:15:00.000Z'],
    ['the short day in spring', 'Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['the long day in autumn', 'Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['a midnight that does not exist', 'America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z', '2026-09-07T03:00:00.000Z'],
    ['a midnight that comes twice, at its first', 'America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
    ['a leap day', 'UTC', '2028-02-29', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ])('start and end in %s', (_name, zone, date, start, end) => {
    const [times] = timesOf(zone, [date, date])
    expect([iso(times?.from), iso(times?.until)]).toEqual([start, end])
  })

  it('follow each other without a gap and without an overlap', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/Havana', 'America/Santiago', 'Pacific/Apia', 'Asia/Beirut', 'Australia/Lord_Howe']
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.integer({ min: 10_000, max: 24_000 }), (zone, index) => {
        const dayOf = (day: number): string => new Date(day * 24 * HOUR).toISOString().slice(0, 10)
        const [one, other] = timesOf(zone, [dayOf(index), dayOf(index)], [dayOf(index + 1), dayOf(index + 2)])
        // One day was skipped at the date line, and has no length.
        if (one === undefined) return expect([zone, dayOf(index)]).toEqual(['Pacific/Apia', '2011-12-30'])
        expect(one.until).toBe(other?.from)
        expect(one.until - one.from).toBeLessThanOrEqual(25 * HOUR)
      }),
      { numRuns: 80 },
    )
  })
})

it.each([
  ['in small letters, with parts of a second', '2026-12-15t18:00:00.250z', '2026-12-15T18:00:00.250Z'],
  ['with a space and an offset', '"2026-12-15 18:00:00+01:00"', '2026-12-15T17:00:00.000Z'],
  ['west of Greenwich', '2026-12-15T18:00:00-05:30', '2026-12-15T23:30:00.000Z'],
  ['with a leap second', '2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
])('an instant is read %s', (_name, until, expected) => {
  const [times] = timesOf('Europe/Berlin', ['2026-12-01', until])
  expect(iso(times?.until)).toBe(expected)
})

it.each([
  ...['2026-12-15T18:00', '2026-12-15T18:00:00', '2026-02-30T00:00:00Z', '2026-12-15T24:00:00Z', '2026-12-15T18:00:00+24:00', 'soon'],
  ...['2026-02-29', '2026-13-01', '2026-1-5', '26-01-05', '2026-00-10', '""'],
])('%s is no time', (until) => expect(timesOf('UTC', ['2025-12-01', until])).toEqual([undefined]))
