import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeAnalytics, decodeCascade, encodeAnalytics, encodeCascade, sumCascade } from '../../src/api/analytics.ts'
import { decodeRuns, encodeRuns, MAX_RUN_SUMS } from '../../src/api/client.ts'
import { ApiError } from '../../src/core/model/observed.ts'

type AnalyticsQuery = Parameters<typeof decodeAnalytics>[1][number]

const DAY = 86_400_000
const query: AnalyticsQuery = {
  source: 'user',
  select: [{ field: 'num_acceptances', fn: 'sum', as: 'accepted' }],
  where: [{ field: 'hour', is: '>=', value: '2026-02-01' }],
  groupBy: [{ field: 'date', as: 'day' }],
}

describe('Analytics', () => {
  it('encodes a question for the wire', () => {
    expect(
      encodeAnalytics({
        groupName: 'Platform',
        startAt: 0,
        endAt: DAY,
        queries: [query, { source: 'pcw', select: [{ field: 'user_bytes' }] }],
      }),
    ).toEqual({
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
    })
  })

  it('has the rows of each query, with numbers as text and unknown values unchanged', () => {
    const body = {
      queryResults: [{ responseItems: [{ item: { day: '<nil>', accepted: 42, odd: null } }, { item: { day: 'UNKNOWN' } }, {}] }, {}],
    }
    expect(decodeAnalytics(body, [query, query])).toEqual([[{ day: '<nil>', accepted: '42', odd: '' }, { day: 'UNKNOWN' }, {}], []])
  })

  it('has no rows when the list is absent', () => {
    expect(decodeAnalytics({}, [query, query])).toEqual([[], []])
  })

  it('is malformed when the results cannot be matched with the queries', () => {
    expect(() => decodeAnalytics({ queryResults: [{}] }, [query, query])).toThrow(/1 results for 2 queries/)
  })

  it('returns live field names in the spelling of the interface, but keeps aliases', () => {
    const pcw: AnalyticsQuery = { source: 'pcw', select: [{ field: 'assistant_bytes' }, { field: 'total_bytes', as: 'codeium_bytes' }] }
    const item = { unspecified_codeium_bytes_by_command: '1', codeium_bytes: '2' }
    expect(decodeAnalytics({ queryResults: [{ responseItems: [{ item }] }] }, [pcw])).toEqual([
      [{ unspecified_assistant_bytes_by_command: '1', codeium_bytes: '2' }],
    ])
  })
})

describe('CascadeAnalytics', () => {
  const sources = ['cascade_runs', 'cascade_lines'] as const

  it('asks in chunks of thirty days that leave no gap and share no day', () => {
    const chunks = encodeCascade({
      sources,
      startAt: Date.UTC(2026, 0, 1, 6),
      endAt: Date.UTC(2026, 2, 10),
      of: { emails: ['a@x.y'] },
      ideTypes: ['cli'],
    })
    expect(chunks.map((chunk) => [chunk.start_timestamp, chunk.end_timestamp])).toEqual([
      ['2026-01-01T06:00:00.000Z', '2026-01-30T23:59:59.999Z'],
      ['2026-01-31T00:00:00.000Z', '2026-03-01T23:59:59.999Z'],
      ['2026-03-02T00:00:00.000Z', '2026-03-10T00:00:00.000Z'],
    ])
    expect(chunks[0]).toMatchObject({
      emails: ['a@x.y'],
      ide_types: ['cli'],
      query_requests: [{ cascade_runs: {} }, { cascade_lines: {} }],
    })
    expect(encodeCascade({ sources, startAt: 0, endAt: 1, of: { groupName: 'G' } })[0]).toMatchObject({ group_name: 'G' })
  })

  it('covers any range without gaps, thirty days at most at once', () => {
    fc.assert(
      fc.property(fc.nat(2e12), fc.integer({ min: 1, max: 3_000 * DAY }), (startAt, length) => {
        const chunks = encodeCascade({ sources, startAt, endAt: startAt + length })
        const ends = chunks.map(
          ({ start_timestamp = '', end_timestamp = '' }) => [Date.parse(start_timestamp), Date.parse(end_timestamp)] as const,
        )
        expect(ends[0]?.[0]).toBe(startAt)
        expect(ends.at(-1)?.[1]).toBe(startAt + length)
        for (const [index, [from, to]] of ends.entries()) {
          expect(to - from).toBeLessThanOrEqual(30 * DAY)
          if (index > 0) expect(from).toBe((ends[index - 1]?.[1] ?? 0) + 1)
        }
      }),
    )
  })

  it('sums rows over day, model and mode, also across chunks', () => {
    const run = (fields: object) => ({ day: '2026-02-03T00:00:00Z', model: 'Large', mode: 'UNKNOWN', ...fields })
    const first = decodeCascade({
      queryResults: [
        {
          cascadeRuns: {
            cascadeRuns: [
              run({ messagesSent: '2', cascadeId: 'a', promptsUsed: '150' }),
              run({ messagesSent: '1', cascadeId: 'a', mode: 'X' }),
            ],
          },
        },
        { cascadeLines: { cascadeLines: [{ day: '2026-02-03', linesSuggested: '10' }] } },
        { cascadeToolUsage: { cascadeToolUsage: [{ tool: 'FIND', count: '3' }] } },
        {},
      ],
    })
    const second = decodeCascade({
      queryResults: [
        { cascadeRuns: { cascadeRuns: [run({ day: '2026-02-03', cascadeId: 'a', promptsUsed: '50' }), run({ cascadeId: 'b' })] } },
        { cascadeLines: { cascadeLines: [{ day: '2026-02-03T00:00:00Z', linesSuggested: '5', linesAccepted: '4' }] } },
        {
          cascadeToolUsage: {
            cascadeToolUsage: [
              { tool: 'FIND', count: '4' },
              { tool: 'DEPLOY', count: 1 },
            ],
          },
        },
      ],
    })
    expect(sumCascade([first, second])).toEqual({
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

  it('has no credits when the answers have none', () => {
    const rows = decodeCascade({ queryResults: [{ cascadeRuns: { cascadeRuns: [{ day: '2026-02-03', model: 'M', messagesSent: '1' }] } }] })
    expect(sumCascade([rows]).runs).toEqual([{ day: '2026-02-03', model: 'M', mode: '', messages: 1, conversations: 0 }])
  })

  it.each([
    ['nothing', {}],
    ['an empty slot', { queryResults: [{}] }],
    ['a wrapper without its list', { queryResults: [{ cascadeRuns: {} }] }],
    ['a missing wrapper', { queryResults: [{ cascadeRuns: [] }] }],
    ['a null', { queryResults: [{ cascadeRuns: null }] }],
  ])('is empty for %s', (_name, body) => {
    expect(sumCascade([decodeCascade(body)])).toEqual({ runs: [], lines: [], tools: [] })
  })
})

describe('runs of some days', () => {
  const midnight = (day: number) => Date.UTC(2026, 1, day)
  const answer = (...days: readonly string[]) => ({
    queryResults: [
      { cascadeRuns: { cascadeRuns: days.map((day) => ({ day, model: 'M', mode: 'X', messagesSent: '1', promptsUsed: '250' })) } },
    ],
  })

  it('are asked for in one request that ends before the first excluded day, or has no end', () => {
    expect(encodeRuns({ fromAt: midnight(1), untilAt: midnight(3), groupName: 'Platform' })).toEqual({
      group_name: 'Platform',
      start_timestamp: '2026-02-01T00:00:00.000Z',
      end_timestamp: '2026-02-02T23:59:59.999Z',
      query_requests: [{ cascade_runs: {} }],
    })
    expect(JSON.stringify(encodeRuns({ fromAt: midnight(1) }))).not.toContain('end_timestamp')
  })

  it('are summed by day in credits, without other days', () => {
    const body = answer('2026-01-31T00:00:00Z', '2026-02-01', '2026-02-01 00:00:00 +0000 UTC', '2026-02-03')
    expect(decodeRuns(body, { fromAt: midnight(1), untilAt: midnight(3) })).toEqual({
      rows: [{ dayAt: midnight(1), model: 'M', mode: 'X', messages: 2, used: 5 }],
    })
  })

  it('are malformed when no run makes sense', () => {
    expect(() => decodeRuns(answer('soon'), { fromAt: 0 })).toThrow('a run has no day')
  })

  it('are malformed when there are too many kinds', () => {
    const runs = Array.from({ length: MAX_RUN_SUMS + 1 }, (_, index) => ({ day: '2026-02-01', model: String(index) }))
    expect(() => decodeRuns({ queryResults: [{ cascadeRuns: runs }] }, { fromAt: 0 })).toThrow('more than 20000 kinds of runs')
  })

  const good = { day: '2026-02-01', model: 'M', mode: 'X', messagesSent: '1', promptsUsed: '250' }
  it.each([
    ['without a day', { day: 'soon' }],
    ['of a day to come', { day: '9999-01-01' }],
    ['with half a message', { messagesSent: '1.5' }],
    ['with more messages than can be counted', { messagesSent: '1e19' }],
    ['with messages that are no number', { messagesSent: 'many' }],
    ['with more cents than the greatest cap has', { promptsUsed: '214748364701' }],
    ['with cents that are no number', { promptsUsed: {} }],
    ['with an endless name', { model: 'M'.repeat(201) }],
  ])('set a run aside %s, and count the others', (_name, odd) => {
    const body = { queryResults: [{ cascadeRuns: { cascadeRuns: [good, { ...good, ...odd }] } }] }
    expect(decodeRuns(body, { fromAt: 0 }, midnight(4))).toEqual({
      rows: [{ dayAt: midnight(1), model: 'M', mode: 'X', messages: 1, used: 2.5 }],
      malformedRows: 1,
    })
  })
})

it('analytics are read or malformed for any JSON', () => {
  const key = fc.constantFrom(
    'queryResults',
    'responseItems',
    'item',
    'cascadeRuns',
    'cascadeLines',
    'cascadeToolUsage',
    'count',
    'promptsUsed',
  )
  const { near } = fc.letrec((tie) => ({
    near: fc.oneof({ depthSize: 'small' }, fc.jsonValue({ maxDepth: 1 }), fc.dictionary(key, tie('near')), fc.array(tie('near'))),
  }))
  fc.assert(
    fc.property(near, (body) => {
      for (const read of [
        () => decodeAnalytics(body, [query]),
        () => sumCascade([decodeCascade(body)]),
        () => decodeRuns(body, { fromAt: 0 }),
      ]) {
        try {
          read()
        } catch (error) {
          expect(error instanceof ApiError && error.kind).toBe('malformed')
        }
      }
    }),
  )
})
