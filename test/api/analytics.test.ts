// Questions to Analytics and CascadeAnalytics as the client sends them, and what it makes of several answers; of a single one answers.txt tells.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messageOf, ok } from './answers.ts'
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

it('a question to Analytics is encoded for the wire', async () => {
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
})

describe('runs of some days', () => {
  const midnight = (day: number) => Date.UTC(2026, 1, day)
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

  it('are malformed when there are too many kinds', async () => {
    const run = { day: '2026-02-01', mode: 'X', messagesSent: '1', promptsUsed: '250' }
    const cascadeRuns = Array.from({ length: 20_001 }, (_, index) => ({ ...run, model: String(index) }))
    const { client } = testClient(() => ok({ queryResults: [{ cascadeRuns: { cascadeRuns } }] }), {}, hastyClock(midnight(3)))
    expect(await client.readRuns({ fromAt: midnight(1) }).catch(messageOf)).toBe(
      'CascadeAnalytics: the answer has more than 20000 kinds of runs and was dropped',
    )
  })
})
