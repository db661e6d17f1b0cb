// Add-on use by person: the question, the owners of keys, malformed rows, and that no key is shown.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failing, messageOf, ok } from './answers.ts'
import { hastyClock, rowByRow, type Script, scripted, testClient } from './world.ts'

const DAY = 86_400_000
const FROM = Date.UTC(2026, 10, 1)
const DAYS = { fromAt: FROM, untilAt: FROM + 10 * DAY }
const LISTING = [
  { email: ' Ada@Example.com', apiKey: 'key-of-ada' },
  { email: 'bob@example.com', apiKey: 'key-of-bob' },
  { email: 'bob@example.com', apiKey: 'second-of-bob' },
  { email: 'cyd@example.com' },
]

const row = (more: Readonly<Record<string, unknown>> = {}) => ({
  item: { api_key: 'key-of-ada', date: '2026-11-02', model: 'MODEL_A', prompts_used: '300', flex_credits_used: '125', ...more },
})
const answer = (...rows: readonly unknown[]) => ({ queryResults: [{ responseItems: rows }] })

/** A client that has read these listings; the service then answers each question about use alike. */
async function knowing(use: ReturnType<Script>, listings: readonly (readonly object[])[] = [LISTING], isCut = false) {
  const left = listings.map((userTableStats) => ok({ userTableStats }))
  const script: Script = ({ operation }) => (operation === 'Analytics' ? use : (left.shift() ?? {}))
  const clock = hastyClock(FROM + 19 * DAY)
  const transport = scripted(clock, script)
  const { client } = testClient(script, { transport: isCut ? rowByRow(transport) : transport }, clock)
  for (const _ of listings) await client.readRoster()
  const read = async () => {
    const reading = await client.readAddOnUse(DAYS)
    if (reading === 'unavailable') throw new Error(reading)
    return reading
  }
  return { client, read, asked: () => transport.sent.at(-1)?.body['query_requests'] as readonly { filters: readonly object[] }[] }
}
const readingOf = async (body: object) => (await knowing(ok(body))).read()
const faultOf = (body: object) => readingOf(body).then(String, messageOf)

describe('the question', () => {
  test('asks for the raw rows of whole days and of the whole team', async () => {
    const { read, asked } = await knowing(ok({}))
    await read()
    expect(asked()).toEqual([
      {
        data_source: 'QUERY_DATA_SOURCE_CASCADE_DATA',
        selections: ['api_key', 'date', 'model', 'prompts_used', 'flex_credits_used'].map((field) => ({ field, name: field })),
        filters: [
          { name: 'date', filter: 'QUERY_FILTER_GE', value: '2026-11-01' },
          { name: 'date', filter: 'QUERY_FILTER_LE', value: '2026-11-10' },
        ],
      },
    ])
  })

  test.each([
    ['by the documented stem says: no such source', failing(400, 'invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED'), 'unavailable'],
    ['that names the data source does too', failing(400, 'unknown data source'), 'unavailable'],
    ['for another reason does not', failing(400, 'date is required'), expect.stringContaining('date is required')],
    ['of the key does not', failing(403, 'no access to this query table'), expect.stringContaining('the key was refused')],
  ])('refused %s', async (_, refusal, expected) => {
    const { client } = await knowing(refusal)
    expect(await client.readAddOnUse(DAYS).catch(messageOf)).toEqual(expected)
  })
})

describe('the owner of a key', () => {
  const ada = { email: 'ada@example.com', apiKey: 'key-of-ada' }
  const bob = { email: 'bob@example.com', apiKey: 'key-of-bob' }
  const king = { email: 'ada.king@example.com', apiKey: 'key-of-ada' }
  test.each<readonly [string, readonly (readonly object[])[], string, readonly string[]]>([
    ['is nobody where no listing has it', [[bob]], '', []],
    ['is still known after the person left', [[ada, bob], [bob]], 'ada@example.com', []],
    [
      'is the one of the newest listing',
      [
        [ada, bob],
        [king, { email: 'ada@example.com' }],
      ],
      'ada.king@example.com',
      ['ada@example.com'],
    ],
    ['is listed apart where a person has no key', [LISTING], 'ada@example.com', ['cyd@example.com']],
  ])('%s', async (_, listings, email, unassignable) => {
    const { read } = await knowing(ok(answer(row())), listings)
    expect(await read()).toMatchObject({ rows: [{ email }], unassignable })
  })

  test('who was forgotten is not known until a listing names the person again', async () => {
    const { client, read } = await knowing(ok(answer(row(), row({ api_key: 'key-of-bob' }))), [[ada, bob]])
    client.forget?.('ada@example.com')
    expect((await read()).rows.map(({ email }) => email)).toEqual(['', 'bob@example.com'])
    const again = await knowing(ok(answer(row())), [[ada], [ada]])
    again.client.forget?.('ada@example.com')
    expect((await again.read()).rows[0]?.email).toBe('')
  })
})

describe('the answer', () => {
  test('is summed by person, day and model, also over two keys of one person', async () => {
    const ofBob = (api_key: string) => row({ api_key, date: '2026-11-03', model: '<nil>' })
    const rows = [row(), row(), row({ model: 'MODEL_B' }), ofBob('key-of-bob'), ofBob('second-of-bob')]
    expect((await readingOf(answer(...rows))).rows).toEqual([
      { dayAt: FROM + DAY, email: 'ada@example.com', model: 'MODEL_A', used: 6, addOn: 2.5 },
      { dayAt: FROM + DAY, email: 'ada@example.com', model: 'MODEL_B', used: 3, addOn: 1.25 },
      { dayAt: FROM + 2 * DAY, email: 'bob@example.com', model: '<nil>', used: 6, addOn: 2.5 },
    ])
  })

  test.each<readonly [string, object]>([
    ['no list at all', {}],
    ['no results', { queryResults: [] }],
    ['a result without rows', { queryResults: [{}] }],
    ['days that were not asked for', answer(row({ date: '2026-10-31' }), row({ date: '2026-11-11' }))],
  ])('is empty for %s', async (_, body) => expect((await readingOf(body)).rows).toEqual([]))

  test.each<readonly [string, Readonly<Record<string, unknown>>, object]>([
    ['left out count 0', { flex_credits_used: null }, { used: 3, addOn: 0 }],
    ['as numbers count as well', { prompts_used: 300, flex_credits_used: 42.0 }, { used: 3, addOn: 0.42 }],
    ['on a day with a time count on that day', { date: '2026-11-02 17:00:00 +0000 UTC' }, { dayAt: FROM + DAY }],
  ])('takes figures that %s', async (_, more, expected) => expect((await readingOf(answer(row(more)))).rows[0]).toMatchObject(expected))

  test.each<readonly [string, object, RegExp]>([
    ['without a key', row({ api_key: '' }), /no key/],
    ['with a key as long as a letter', row({ api_key: 'k'.repeat(201) }), /no key/],
    ['without a day', row({ date: 'yesterday' }), /no day/],
    ['of a day to come', row({ date: '2027-01-01' }), /future day/],
    ['with a figure that is none', row({ flex_credits_used: '<nil>' }), /flex_credits_used of a row is "<nil>"/],
    ['with a figure beyond every cap', row({ prompts_used: '1e19' }), /prompts_used of a row is "1e19"/],
    ['with a name as long as a letter', row({ model: 'm'.repeat(201) }), /more than 200/],
    ['without anything in it', {}, /no key/],
  ])('sets aside a row %s, and is malformed when it has nothing else', async (_, bad, why) => {
    expect(await readingOf(answer(row(), bad))).toMatchObject({ rows: [{ used: 3 }], malformedRows: 1 })
    expect(await faultOf(answer(bad))).toMatch(why)
  })

  test('with too many kinds of use is malformed, as without any credits', async () => {
    const rows = Array.from({ length: 100_001 }, (_, index) => row({ model: String(index) }))
    expect(await faultOf(answer(row({ prompts_used: undefined, flex_credits_used: null })))).toMatch(/no row of add-on use tells credits/)
    expect(await faultOf(answer(...rows))).toMatch(/more than 100000 kinds of add-on use/)
  })

  test('has the same result when it is read as a whole or row by row, in any order', async () => {
    const some = fc.record({
      api_key: fc.constantFrom('key-of-ada', 'key-of-bob', 'second-of-bob', 'nobody', ''),
      date: fc.constantFrom('2026-11-02', '2026-11-03', '2026-12-24', 'never'),
      model: fc.constantFrom('A', '<nil>', 7),
      prompts_used: fc.constantFrom('0', '300', '12.5', 'x', undefined),
      flex_credits_used: fc.constantFrom('0', '100', 40, null),
    })
    const outcome = async (items: readonly object[], isCut = false) => {
      const { read } = await knowing(ok(answer(...items)), [LISTING], isCut)
      return read().then(
        ({ rows, ...rest }) => ({ rows: rows.map((one) => JSON.stringify(one)).sort(), ...rest }),
        () => 'malformed',
      )
    }
    await fc.assert(
      fc.asyncProperty(fc.array(some.map((item) => ({ item }))), async (items) => {
        const whole = await outcome(items)
        expect(await outcome(items, true)).toEqual(whole)
        expect(await outcome(items.toReversed())).toEqual(whole)
      }),
    )
  })

  test('has no key in rows or messages', async () => {
    const secret = 'a1b2c3d4e5f6'
    const bad = row({ api_key: secret, date: 'never' })
    const listings = [[{ email: 'ada@example.com', apiKey: secret }]]
    const good = await knowing(ok(answer(row({ api_key: secret }), bad)), listings)
    expect(JSON.stringify(await good.read())).not.toContain(secret)
    expect(await (await knowing(ok(answer(bad)), listings)).read().catch(messageOf)).toMatch(/^(?!.*a1b2c3d4e5f6)Analytics: /)
  })
})
