// The fields of people that rules select by: role, times of use and of sign-up, and active days of a range.
import { describe, expect, test } from 'vitest'
import { decodeActiveDays, decodeRoster } from '../../src/api/decode.ts'

const personOf = (fields: object) => decodeRoster({ userTableStats: [{ email: 'ada@x.y', ...fields }] }, 0).people[0]
const at = (text: string) => Date.parse(text)

describe('a row of the roster', () => {
  test.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['a role, trimmed', { role: ' member ' }, { role: 'member' }],
    ['no role where it is empty or no text', { role: ' ' }, {}],
    ['a role that is a number as none', { role: 5 }, {}],
    ['the time of sign-up', { signupTime: '2026-01-02T03:04:05.123456Z' }, { signedUpAt: at('2026-01-02T03:04:05.123Z') }],
    [
      'the latest of three times of use',
      {
        lastAutocompleteUsageTime: '2026-01-03T00:00:00Z',
        lastChatUsageTime: '2026-01-05T00:00:00Z',
        lastCommandUsageTime: '2026-01-04T00:00:00Z',
      },
      { lastUsedAt: at('2026-01-05T00:00:00Z') },
    ],
    ['a time of use that makes no sense as none', { lastChatUsageTime: 'yesterday', lastUpdateTime: '2026-01-05T00:00:00Z' }, {}],
  ])('tells %s', (_name, fields, expected) => {
    const { role, lastUsedAt, signedUpAt } = personOf(fields) ?? {}
    expect(JSON.parse(JSON.stringify({ role, lastUsedAt, signedUpAt }))).toEqual(expected)
  })
})

describe('active days', () => {
  const days = (rows: readonly object[]) =>
    Object.fromEntries(decodeActiveDays({ userTableStats: rows.map((row, index) => ({ email: `P${index}@x.y`, ...row })) }))
  test.each<[string, readonly object[], object]>([
    [
      'are numbers, or texts of numbers',
      [{ activeDays: 3 }, { activeDays: '4' }, { activeDays: 0 }],
      { 'p0@x.y': 3, 'p1@x.y': 4, 'p2@x.y': 0 },
    ],
    [
      'are 0 where they are left out and zeros are',
      [{ activeDays: 3 }, {}, { activeDays: null }],
      { 'p0@x.y': 3, 'p1@x.y': 0, 'p2@x.y': 0 },
    ],
    ['are not known where they are left out and zeros are not', [{ activeDays: 3 }, { activeDays: 0 }, {}], { 'p0@x.y': 3, 'p1@x.y': 0 }],
    ['are not known where nobody has any', [{}, {}], {}],
    ['are not known where they make no sense', [{ activeDays: 3 }, { activeDays: -1 }, { activeDays: 'many' }], { 'p0@x.y': 3 }],
  ])('%s', (_name, rows, expected) => expect(days(rows)).toEqual(expected))
})
