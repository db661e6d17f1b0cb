// Questions to Analytics and CascadeAnalytics as the client sends them, and what it makes of the answers.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { made, messageOf, ok } from './answers.ts'
import type { TestClient } from './world.ts'
import { hastyClock, testClient } from './world.ts'

type Client = TestClient['client']
type Query = Parameters<Client['analytics']>[0]['queries'][number]

const DAY = 86_400_000
const query: Query = {
  source: 'user',
  select: [{ field: 'num_acceptances', fn: 'sum', as: 'accepted' }],
  where: [{ field: 'hour', is: '>=', value: '2026-02-01' }],
  groupBy: [{ field: 'date', as: 'day' }],
}

/** The bodies that one question is asked with, without the key. */
async function bodiesOf(ask: (client: Client) => Promise<unknown>): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { client, sent } = testClient(() => ({}))
  await ask(client)
  return sent.map(({ body: { service_key: _, ...rest } }) => JSON.parse(JSON.stringify(rest)))
}

describe('Analytics', () => {
  const rowsOf = (answer: unknown, ...queries: readonly Query[]) => made((client) => client.analytics({ queries }), answer)

  it('encodes a question for the wire', async () => {
    const queries: readonly Query[] = [query, { source: 'pcw', select: [{ field: 'user_bytes' }] }]
    expect(await bodiesOf((client) => client.analytics({ groupName: 'Platform', startAt: 0, endAt: DAY, queries }))).toEqual([
      {
        group_name: 'Platform',
        start_timestamp: '1970-01-01T00:00:00.000Z',
        end_timestamp: '1970-01-02T00:00:00.000Z',
        query_requests: [
          {
            data_source: 'QUERY_DATA_SOURCE_USER_DATA',
            selections: [{ field: 'num_acceptances', name: 'accepted', aggregation_function: 'QUERY_AGGREGATION_SUM' }],
            filters: [{ name: 'hour', filter: 'QUERY_FILTER_GE', value: '2026-02-01' }],
            aggregations: [{ field: 'date', name: 'day' }],
          },
          { data_source: 'QUERY_DATA_SOURCE_PCW_DATA', selections: [{ field: 'user_bytes' }] },
        ],
      },
    ])
  })

  const pcw: Query = { source: 'pcw', select: [{ field: 'assistant_bytes' }, { field: 'total_bytes', as: 'codeium_bytes' }] }
  it.each<readonly [string, unknown, readonly Query[], unknown]>([
    [
      'the rows of each query, with numbers as text and unknown values unchanged',
      { queryResults: [{ responseItems: [{ item: { day: '<nil>', accepted: 42, odd: null } }, { item: { day: 'UNKNOWN' } }, {}] }, {}] },
      [query, query],
      [[{ day: '<nil>', accepted: '42', odd: '' }, { day: 'UNKNOWN' }, {}], []],
    ],
    ['no rows when the list is absent', {}, [query, query], [[], []]],
    [
      'nothing when the results cannot be matched with the queries',
      { queryResults: [{}] },
      [query, query],
      'Analytics: the answer has 1 results for 2 queries',
    ],
    [
      'live field names in the spelling of the interface, and aliases as they are',
      { queryResults: [{ responseItems: [{ item: { unspecified_codeium_bytes_by_command: '1', codeium_bytes: '2' } }] }] },
      [pcw],
      [[{ unspecified_assistant_bytes_by_command: '1', codeium_bytes: '2' }]],
    ],
  ])('has %s', async (_name, answer, queries, expected) => expect(await rowsOf(answer, ...queries)).toEqual(expected))
})

describe('CascadeAnalytics', () => {
  const sources = ['cascade_runs', 'cascade_lines'] as const
  const useOf = (...answers: readonly unknown[]) => {
    const { client } = testClient((_sent, count) => ({ body: JSON.stringify(answers[count - 1]) }))
    return client.cascade({ sources, startAt: 0, endAt: (30 * answers.length - 1) * DAY }).catch(messageOf)
  }

  it('asks in chunks of thirty days that leave no gap and share no day', async () => {
    const range = { startAt: Date.UTC(2026, 0, 1, 6), endAt: Date.UTC(2026, 2, 10) }
    const of = { emails: ['a@x.y'] }
    const chunks = await bodiesOf((client) => client.cascade({ sources, ...range, of, ideTypes: ['cli'] }))
    expect(chunks.map((chunk) => [chunk['start_timestamp'], chunk['end_timestamp']])).toEqual([
      ['2026-01-01T06:00:00.000Z', '2026-01-30T23:59:59.999Z'],
      ['2026-01-31T00:00:00.000Z', '2026-03-01T23:59:59.999Z'],
      ['2026-03-02T00:00:00.000Z', '2026-03-10T00:00:00.000Z'],
    ])
    const asked = { emails: ['a@x.y'], ide_types: ['cli'], query_requests: [{ cascade_runs: {} }, { cascade_lines: {} }] }
    expect(chunks).toMatchObject([asked, asked, asked])
    const [one] = await bodiesOf((client) => client.cascade({ sources, startAt: 0, endAt: 1, of: { groupName: 'G' } }))
    expect(one).toMatchObject({ group_name: 'G' })
  })

  it('covers any range without gaps, thirty days at most at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(2e12), fc.integer({ min: 1, max: 300 * DAY }), async (startAt, length) => {
        const chunks = await bodiesOf((client) => client.cascade({ sources, startAt, endAt: startAt + length }))
        const ends = chunks.map(
          (chunk) => [Date.parse(String(chunk['start_timestamp'])), Date.parse(String(chunk['end_timestamp']))] as const,
        )
        expect([ends[0]?.[0], ends.at(-1)?.[1]]).toEqual([startAt, startAt + length])
        for (const [index, [from, to]] of ends.entries()) {
          expect(to - from).toBeLessThanOrEqual(30 * DAY)
          if (index > 0) expect(from).toBe((ends[index - 1]?.[1] ?? 0) + 1)
        }
      }),
    )
  })

  it('sums rows over day, model and mode, also across chunks', async () => {
    const run = (fields: object) => ({ day: '2026-02-03T00:00:00Z', model: 'Large', mode: 'UNKNOWN', ...fields })
    const chunk = (runs: readonly object[], lines: readonly object[], tools: readonly object[]) => ({
      queryResults: [
        { cascadeRuns: { cascadeRuns: runs } },
        { cascadeLines: { cascadeLines: lines } },
        { cascadeToolUsage: { cascadeToolUsage: tools } },
        {},
      ],
    })
    const first = chunk(
      [run({ messagesSent: '2', cascadeId: 'a', promptsUsed: '150' }), run({ messagesSent: '1', cascadeId: 'a', mode: 'X' })],
      [{ day: '2026-02-03', linesSuggested: '10' }],
      [{ tool: 'FIND', count: '3' }],
    )
    const second = chunk(
      [run({ day: '2026-02-03', cascadeId: 'a', promptsUsed: '50' }), run({ cascadeId: 'b' })],
      [{ day: '2026-02-03T00:00:00Z', linesSuggested: '5', linesAccepted: '4' }],
      [
        { tool: 'FIND', count: '4' },
        { tool: 'DEPLOY', count: 1 },
      ],
    )
    expect(await useOf(first, second)).toEqual({
      runs: [
        { day: '2026-02-03', model: 'Large', mode: 'UNKNOWN', messages: 2, conversations: 2, used: 2 },
        { day: '2026-02-03', model: 'Large', mode: 'X', messages: 1, conversations: 1, used: 0 },
      ],
      lines: [{ day: '2026-02-03', suggested: 15, accepted: 4 }],
      tools: [
        { tool: 'DEPLOY', count: 1 },
        { tool: 'FIND', count: 7 },
      ],
    })
  })

  const plain = { day: '2026-02-03', model: 'M', mode: '', messages: 1, conversations: 0 }
  it.each([
    [
      'no credits when the answers have none',
      { cascadeRuns: { cascadeRuns: [{ day: '2026-02-03', model: 'M', messagesSent: '1' }] } },
      [plain],
    ],
    ['nothing for an empty slot', {}, []],
    ['nothing for a wrapper without its list', { cascadeRuns: {} }, []],
    ['nothing for a missing wrapper', { cascadeRuns: [] }, []],
    ['nothing for a null', { cascadeRuns: null }, []],
  ])('has %s', async (_name, result, runs) => {
    expect(await useOf({ queryResults: [result] })).toEqual({ runs, lines: [], tools: [] })
  })
})

describe('runs of some days', () => {
  const midnight = (day: number) => Date.UTC(2026, 1, day)
  const good = { day: '2026-02-01', model: 'M', mode: 'X', messagesSent: '1', promptsUsed: '250' }
  const answer = (...runs: readonly object[]) => ({ queryResults: [{ cascadeRuns: { cascadeRuns: runs } }] })
  const read = async (body: object, untilAt?: number) => {
    const { client } = testClient(() => ok(body), {}, hastyClock(midnight(3)))
    return client.readRuns({ fromAt: midnight(1), ...(untilAt !== undefined && { untilAt }) }).catch(messageOf)
  }

  it('are asked for in one request that ends before the first excluded day, or has no end', async () => {
    const days = { fromAt: midnight(1), untilAt: midnight(3) }
    expect(await bodiesOf((client) => client.readRuns({ ...days, groupName: 'Platform' }))).toEqual([
      {
        group_name: 'Platform',
        start_timestamp: '2026-02-01T00:00:00.000Z',
        end_timestamp: '2026-02-02T23:59:59.999Z',
        query_requests: [{ cascade_runs: {} }],
      },
    ])
    expect(await bodiesOf((client) => client.readRuns({ fromAt: midnight(1), email: 'a@x.y' }))).toEqual([
      { emails: ['a@x.y'], start_timestamp: '2026-02-01T00:00:00.000Z', query_requests: [{ cascade_runs: {} }] },
    ])
  })

  it('are summed by day in credits, without other days', async () => {
    const days = ['2026-01-31T00:00:00Z', '2026-02-01', '2026-02-01 00:00:00 +0000 UTC', '2026-02-03']
    expect(await read(answer(...days.map((day) => ({ ...good, day }))), midnight(3))).toEqual({
      rows: [{ dayAt: midnight(1), model: 'M', mode: 'X', messages: 2, used: 5 }],
    })
  })

  it.each<readonly [string, readonly object[], string]>([
    ['no run makes sense', [{ ...good, day: 'soon' }], 'a run has no day'],
    [
      'there are too many kinds',
      Array.from({ length: 20_001 }, (_, index) => ({ ...good, model: String(index) })),
      'the answer has more than 20000 kinds of runs and was dropped',
    ],
  ])('are malformed when %s', async (_name, runs, message) => {
    expect(await read(answer(...runs))).toBe(`CascadeAnalytics: ${message}`)
  })

  it.each([
    ['without a day', { day: 'soon' }],
    ['of a day to come', { day: '9999-01-01' }],
    ['with half a message', { messagesSent: '1.5' }],
    ['with more messages than can be counted', { messagesSent: '1e19' }],
    ['with messages that are no number', { messagesSent: 'many' }],
    ['with more cents than the greatest cap has', { promptsUsed: '214748364701' }],
    ['with cents that are no number', { promptsUsed: {} }],
    ['with an endless name', { model: 'M'.repeat(201) }],
  ])('set a run aside %s, and count the others', async (_name, odd) => {
    expect(await read(answer(good, { ...good, ...odd }))).toEqual({
      rows: [{ dayAt: midnight(1), model: 'M', mode: 'X', messages: 1, used: 2.5 }],
      malformedRows: 1,
    })
  })
})
