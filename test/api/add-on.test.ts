// Add-on use by person: the question, the owners of keys, malformed rows, and that no key is shown.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ADD_ON_ROWS, createKeyBook, decodeAddOn, encodeAddOn, lacksAddOn, MAX_ADD_ON_SUMS } from '../../src/api/add-on.ts'
import { createCutter } from '../../src/api/transport/cut.ts'
import { ApiError } from '../../src/core/model/observed.ts'

const DAY = 86_400_000
const FROM = Date.UTC(2026, 10, 1)
const DAYS = { fromAt: FROM, untilAt: FROM + 10 * DAY }
const LATEST = FROM + 20 * DAY
const ROSTER = {
  userTableStats: [
    { email: ' Ada@Example.com', apiKey: 'key-of-ada' },
    { email: 'bob@example.com', apiKey: 'key-of-bob' },
    { email: 'bob@example.com', apiKey: 'second-of-bob' },
    { email: 'cyd@example.com' },
  ],
}

const book = (listing: unknown = ROSTER) => {
  const known = createKeyBook()
  known.learn(listing)
  return known
}

test('rows of a forgotten person have no e-mail until a listing names the person again', () => {
  const known = book()
  known.forget('ada@example.com')
  expect([known.emailOf('key-of-ada'), known.emailOf('key-of-bob')]).toEqual([undefined, 'bob@example.com'])
  known.learn(ROSTER)
  expect(known.emailOf('key-of-ada')).toBe('ada@example.com')
})

const row = (more: Readonly<Record<string, unknown>> = {}) => ({
  item: { api_key: 'key-of-ada', date: '2026-11-02', model: 'MODEL_A', prompts_used: '300', flex_credits_used: '125', ...more },
})
const answer = (...rows: readonly unknown[]) => ({ queryResults: [{ responseItems: rows }] })
const decode = (body: unknown, question = DAYS) => decodeAddOn(body, question, book(), LATEST)

/** As over a socket: cut into rows while it arrives. */
function received(body: unknown): unknown {
  const cutter = createCutter(ADD_ON_ROWS)
  cutter.push(Buffer.from(JSON.stringify(body)))
  return cutter.end().value
}

describe('the question', () => {
  test('asks for the raw rows of whole days and of the whole team', () => {
    expect(encodeAddOn(DAYS, book())).toEqual({
      query_requests: [
        {
          data_source: 'QUERY_DATA_SOURCE_CASCADE_DATA',
          selections: ['api_key', 'date', 'model', 'prompts_used', 'flex_credits_used'].map((field) => ({ field, name: field })),
          filters: [
            { name: 'date', filter: 'QUERY_FILTER_GE', value: '2026-11-01' },
            { name: 'date', filter: 'QUERY_FILTER_LE', value: '2026-11-10' },
          ],
        },
      ],
    })
  })
  test('has a query for each key of the named people', () => {
    const { query_requests: queries } = encodeAddOn({ ...DAYS, emails: ['bob@example.com', 'cyd@example.com', 'ada@example.com'] }, book())
    expect(queries.map(({ filters = [] }) => filters.at(-1))).toEqual(
      ['key-of-bob', 'second-of-bob', 'key-of-ada'].map((value) => ({ name: 'api_key', filter: 'QUERY_FILTER_EQUAL', value })),
    )
  })
})

describe('a refusal', () => {
  const refused = (kind: ApiError['kind'], message: string, operation: ApiError['operation'] = 'Analytics') =>
    lacksAddOn(new ApiError({ operation, kind, message }))
  test.each<readonly [string, boolean, boolean]>([
    [
      'by the documented stem says that there is no such source',
      refused('invalid', 'invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED'),
      true,
    ],
    ['that names the data source does too', refused('invalid', 'unknown data source'), true],
    ['for another reason does not', refused('invalid', 'date is required'), false],
    ['of the key does not', refused('auth', 'no access to this query table'), false],
    ['of another operation does not', refused('invalid', 'invalid query table', 'CascadeAnalytics'), false],
  ])('%s', (_, found, expected) => expect(found).toBe(expected))
})

describe('the answer', () => {
  test('is summed by person, day and model, also over two keys of one person', () => {
    const bob = (api_key: string) => row({ api_key, date: '2026-11-03', model: '<nil>' })
    expect(decode(answer(row(), row(), row({ model: 'MODEL_B' }), bob('key-of-bob'), bob('second-of-bob'))).rows).toEqual([
      { dayAt: FROM + DAY, email: 'ada@example.com', model: 'MODEL_A', used: 6, addOn: 2.5 },
      { dayAt: FROM + DAY, email: 'ada@example.com', model: 'MODEL_B', used: 3, addOn: 1.25 },
      { dayAt: FROM + 2 * DAY, email: 'bob@example.com', model: '<nil>', used: 6, addOn: 2.5 },
    ])
  })
  test('has no e-mail for an unknown key, and lists the people without a key', () => {
    expect(decode(answer(row({ api_key: 'somebody-else' })))).toMatchObject({ rows: [{ email: '' }], unassignable: ['cyd@example.com'] })
  })
  test('still knows the key of a person who left', () => {
    const known = book()
    known.learn({ userTableStats: [{ email: 'bob@example.com', apiKey: 'key-of-bob' }] })
    expect(decodeAddOn(answer(row()), DAYS, known, LATEST)).toMatchObject({ rows: [{ email: 'ada@example.com' }], unassignable: [] })
  })
  test('assigns a key by the newest listing', () => {
    const known = book()
    known.learn({ userTableStats: [{ email: 'ada.king@example.com', apiKey: 'key-of-ada' }, { email: 'ada@example.com' }] })
    expect(decodeAddOn(answer(row()), DAYS, known, LATEST)).toMatchObject({
      rows: [{ email: 'ada.king@example.com' }],
      unassignable: ['ada@example.com'],
    })
    expect(known.keysOf('ada@example.com')).toEqual([])
    expect(known.keysOf('ada.king@example.com')).toEqual(['key-of-ada'])
  })
  test('about a person who was not asked for is malformed: the service may have answered each query with the whole team', () => {
    const body = answer(row(), row({ api_key: 'key-of-bob' }))
    expect(() => decodeAddOn(body, { ...DAYS, emails: ['ada@example.com'] }, book(), LATEST)).toThrow(/not asked for/)
    expect(decodeAddOn(body, { ...DAYS, emails: ['ada@example.com', 'bob@example.com'] }, book(), LATEST).rows).toHaveLength(2)
  })
  test.each([
    ['whole', (body: unknown) => body],
    ['row by row', received],
  ])('is malformed when each query was answered with the whole team, even if the whole team was asked for, read %s', (_way, read) => {
    const asked = { ...DAYS, emails: ['ada@example.com', 'bob@example.com'] }
    const everybody = [row(), row({ api_key: 'key-of-bob' }), row({ api_key: 'second-of-bob' })]
    const decoded = (...results: readonly (readonly unknown[])[]) =>
      decodeAddOn(read({ queryResults: results.map((responseItems) => ({ responseItems })) }), asked, book(), LATEST)
    expect(() => decoded(everybody, everybody, everybody)).toThrow(/the same people/)
    expect(() => decoded([row()], [row()], [row()])).toThrow(/the same people/)
    expect(decoded(...everybody.map((one) => [one, one])).rows).toMatchObject([
      { email: 'ada@example.com', used: 6 },
      { email: 'bob@example.com', used: 12 },
    ])
  })
  test.each<readonly [string, unknown]>([
    ['no list at all', {}],
    ['no results', { queryResults: [] }],
    ['a result without rows', { queryResults: [{}] }],
    ['days that were not asked for', answer(row({ date: '2026-10-31' }), row({ date: '2026-11-11' }))],
  ])('is empty for %s', (_, body) => expect(decode(body).rows).toEqual([]))
  test.each<readonly [string, Readonly<Record<string, unknown>>, unknown]>([
    ['left out count 0', { prompts_used: undefined, flex_credits_used: null }, { used: 0, addOn: 0 }],
    ['as numbers count as well', { prompts_used: 300, flex_credits_used: 42.0 }, { used: 3, addOn: 0.42 }],
    ['on a day with a time count on that day', { date: '2026-11-02 17:00:00 +0000 UTC' }, { dayAt: FROM + DAY }],
  ])('takes figures that %s', (_, more, expected) => expect(decode(answer(row(more))).rows[0]).toMatchObject(expected as object))
  test.each<readonly [string, unknown, RegExp]>([
    ['without a key', row({ api_key: '' }), /no key/],
    ['with a key as long as a letter', row({ api_key: 'k'.repeat(201) }), /no key/],
    ['without a day', row({ date: 'yesterday' }), /no day/],
    ['of a day to come', row({ date: '2027-01-01' }), /future day/],
    ['with a figure that is none', row({ flex_credits_used: '<nil>' }), /flex_credits_used of a row is "<nil>"/],
    ['with a figure beyond every cap', row({ prompts_used: '1e19' }), /prompts_used of a row is "1e19"/],
    ['with a name as long as a letter', row({ model: 'm'.repeat(201) }), /more than 200/],
    ['without anything in it', {}, /no key/],
  ])('sets aside a row %s, and is malformed when it has nothing else', (_, bad, why) => {
    expect(decode(answer(row(), bad))).toMatchObject({ rows: [{ used: 3 }], malformedRows: 1 })
    expect(() => decode(answer(bad))).toThrow(why)
  })
  test('with too many kinds of use is malformed', () => {
    const rows = Array.from({ length: MAX_ADD_ON_SUMS + 1 }, (_, index) => row({ model: String(index) }))
    expect(() => decode(answer(...rows))).toThrow(/more than 50000 kinds of add-on use/)
  })
  test('has the same result when it is read as a whole or row by row, in any order', () => {
    const some = fc.record({
      api_key: fc.constantFrom('key-of-ada', 'key-of-bob', 'second-of-bob', 'nobody', ''),
      date: fc.constantFrom('2026-11-02', '2026-11-03', '2026-12-24', 'never'),
      model: fc.constantFrom('A', '<nil>', 7),
      prompts_used: fc.constantFrom('0', '300', '12.5', 'x', undefined),
      flex_credits_used: fc.constantFrom('0', '100', 40, null),
    })
    const outcome = (body: unknown) => {
      try {
        const { rows, ...rest } = decode(body)
        return { rows: rows.map((one) => JSON.stringify(one)).sort(), ...rest }
      } catch {
        return 'malformed'
      }
    }
    fc.assert(
      fc.property(fc.array(some), (items) => {
        const rows = items.map((item) => ({ item }))
        const whole = outcome(JSON.parse(JSON.stringify(answer(...rows))))
        expect(outcome(received(answer(...rows)))).toEqual(whole)
        expect(outcome(JSON.parse(JSON.stringify(answer(...rows.toReversed()))))).toEqual(whole)
      }),
    )
  })
  test('has no key in rows or messages', () => {
    const secret = 'a1b2c3d4e5f6'
    const known = book({ userTableStats: [{ email: 'ada@example.com', apiKey: secret }] })
    const bad = row({ api_key: secret, date: 'never' })
    expect(JSON.stringify(decodeAddOn(answer(row({ api_key: secret }), bad), DAYS, known, LATEST))).not.toContain(secret)
    expect(() => decodeAddOn(answer(bad), DAYS, known, LATEST)).not.toThrow(secret)
  })
})
