// Analytics and CascadeAnalytics, one row per rule, enum value, field and error condition, on a company that can be counted by hand. Rows
// name their section of docs/service.md and run twice: in process and over loopback HTTP. Every field with every function is in
// analytics.test.ts; filters, groups and sums over many rows are in the property tests.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'
import { type Body, company, WAYS } from './conformance-ways.ts'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await startSandbox({ fixture: company() })
})
afterAll(() => fixture.close())

const sum = (field: string, name?: string) => ({
  ...{ field, aggregation_function: 'QUERY_AGGREGATION_SUM' },
  ...(name === undefined ? {} : { name }),
})
const of = (source: string, rest: Body): Body => ({ data_source: `QUERY_DATA_SOURCE_${source}`, ...rest })
const user = (rest: Body): Body => of('USER_DATA', rest)
const fn = (name: string) => ({ field: 'num_acceptances', name: 'n', aggregation_function: `QUERY_AGGREGATION_${name}` })
const where = (name: string, filter: string, value: string) => ({ name, filter: `QUERY_FILTER_${filter}`, value })

type Items = readonly Body[]
type AnswerRow = readonly [name: string, queries: readonly Body[], results: readonly Items[], more?: Body]

const counted = (filters: readonly object[]): Body => user({ selections: [fn('SUM')], filters })
const n = (value: string): Items => [{ n: value }]

/** Acceptances: Ada 5 on the 2nd and 0 on the 6th; two others 1, 1 and 0 on the 5th and 6th. */
const ANSWERS: readonly AnswerRow[] = [
  ['Query request object: QUERY_DATA_SOURCE_USER_DATA', [user({ selections: [sum('num_acceptances')] })], [[{ sum_num_acceptances: '7' }]]],
  [
    'Query request object: QUERY_DATA_SOURCE_CHAT_DATA',
    [of('CHAT_DATA', { selections: [{ field: 'latest_intent_type', name: 'intent' }] })],
    [[{ intent: 'CHAT_INTENT_GENERIC' }]],
  ],
  [
    'Query request object: QUERY_DATA_SOURCE_COMMAND_DATA, declined ones too',
    [
      of('COMMAND_DATA', {
        selections: [{ field: 'accepted', name: 'n', aggregation_function: 'QUERY_AGGREGATION_COUNT' }, sum('accepted', 'yes')],
      }),
    ],
    [[{ n: '2', yes: '1' }]],
  ],
  [
    'Query request object: QUERY_DATA_SOURCE_PCW_DATA',
    [of('PCW_DATA', { selections: [{ field: 'user_bytes', name: 'b' }] })],
    [[{ b: '100' }]],
  ],
  ['Selection: QUERY_AGGREGATION_SUM', [user({ selections: [fn('SUM')] })], [n('7')]],
  ['Selection: QUERY_AGGREGATION_MAX', [user({ selections: [fn('MAX')] })], [n('5')]],
  ['Selection: QUERY_AGGREGATION_MIN', [user({ selections: [fn('MIN')] })], [n('0')]],
  ['Selection: QUERY_AGGREGATION_AVG', [user({ selections: [fn('AVG')] })], [n('1.4')]],
  [
    'Selection: QUERY_AGGREGATION_COUNT',
    [user({ selections: [{ field: 'distinct_users', name: 'n', aggregation_function: 'QUERY_AGGREGATION_COUNT' }] })],
    [n('3')],
  ],
  [
    'Selection: QUERY_AGGREGATION_UNSPECIFIED, and rule 4: left out it is the same',
    [user({ selections: [fn('UNSPECIFIED')] }), user({ selections: [{ field: 'num_acceptances', name: 'n' }] })],
    [['5', '0', '1', '1', '0'].flatMap(n), ['5', '0', '1', '1', '0'].flatMap(n)].map((items) => items.toSorted(byText)),
  ],
  [
    'Selection: the default alias is {aggregation_function}_{field_name} in lower case',
    [user({ selections: [{ field: 'distinct_users', aggregation_function: 'QUERY_AGGREGATION_COUNT' }] })],
    [[{ count_distinct_users: '3' }]],
  ],
  ['Filter: of a person by the hash', [counted([where('api_key', 'EQUAL', 'hash-of-ada')])], [n('5')]],
  [
    'Filter: a boolean is the text true or false',
    ['true', 'false'].map((value) =>
      of('COMMAND_DATA', {
        selections: [{ field: 'command_source', name: 'n', aggregation_function: 'QUERY_AGGREGATION_COUNT' }],
        filters: [where('accepted', 'EQUAL', value)],
      }),
    ),
    [n('1'), n('1')],
  ],
  [
    'Endpoints 1: one element per query request, in order',
    [counted([]), of('PCW_DATA', { selections: [{ field: 'user_bytes', name: 'b' }] }), counted([where('ide', 'EQUAL', 'none')])],
    [n('7'), [{ b: '100' }], n('0')],
  ],
  ['Endpoints 1: group_name restricts to the people of the group', [counted([])], [n('7')], { group_name: 'One' }],
  ['Endpoints 1: a group without members has nothing', [counted([])], [n('0')], { group_name: 'None' }],
  [
    'Endpoints 1: start_timestamp and end_timestamp bound PCW queries, and only those',
    [of('PCW_DATA', { selections: [{ field: 'user_bytes', name: 'b' }] }), counted([])],
    [[{ b: '0' }], n('7')],
    { start_timestamp: '2026-11-06T00:00:00Z', end_timestamp: '2026-11-20T00:00:00Z' },
  ],
]

function byText(left: unknown, right: unknown): number {
  return JSON.stringify(left) < JSON.stringify(right) ? -1 : 1
}

type ErrorRow = readonly [name: string, body: Body, error: RegExp]
const one = (query: Body): Body => ({ query_requests: [query] })

/** One fault each of all kinds is in analytics.property.test.ts. */
const REFUSALS: readonly ErrorRow[] = [
  ['Selection: a field of another source', one(user({ selections: [{ field: 'model_id' }] })), /model_id/],
  [
    'Fields of the command data source: it has no shifted date',
    one(of('COMMAND_DATA', { selections: [sum('accepted')], aggregations: [{ field: 'date UTC-8', name: 'day' }] })),
    /cannot group by it in QUERY_DATA_SOURCE_COMMAND_DATA/,
  ],
  [
    'Rule 2: distinct_* is no group-by',
    one(user({ selections: [fn('SUM')], aggregations: [{ field: 'distinct_users', name: 'u' }] })),
    /distinct_users.*api_key/,
  ],
]

const CASCADE: readonly (readonly [name: string, body: Body, result: unknown])[] = [
  [
    'cascade_lines: by day, both counts',
    { query_requests: [{ cascade_lines: {} }], emails: ['ada@example.com'], start_timestamp: '2026-11-01T00:00:00Z' },
    { cascadeLines: { cascadeLines: [{ day: '2026-11-02T00:00:00Z', linesSuggested: '30', linesAccepted: '20' }] } },
  ],
  [
    'cascade_tool_usage: a count for each tool',
    { query_requests: [{ cascade_tool_usage: {} }] },
    {
      cascadeToolUsage: {
        cascadeToolUsage: [
          { tool: 'FIND', count: '2' },
          { tool: 'MEMORY', count: '1' },
        ],
      },
    },
  ],
  [
    'cascade_runs: one conversation over two entries, UNKNOWN kept, cents',
    {
      query_requests: [{ cascade_runs: {} }],
      emails: ['ada@example.com'],
      start_timestamp: '2026-11-02T00:00:00Z',
      end_timestamp: '2026-11-02T23:59:59Z',
    },
    {
      cascadeRuns: {
        cascadeRuns: [
          run('2026-11-02', { messagesSent: '4', promptsUsed: '12000' }),
          run('2026-11-02', { messagesSent: '1', promptsUsed: '500', mode: 'UNKNOWN' }),
        ],
      },
    },
  ],
  [
    'cascade_runs: every value of mode',
    { query_requests: [{ cascade_runs: {} }], emails: ['disabled@example.com'], ide_types: ['jetbrains'] },
    {
      cascadeRuns: {
        cascadeRuns: ['DEFAULT', 'READ_ONLY', 'NO_TOOL'].map((mode) =>
          run('2026-11-04', { mode: `CONVERSATIONAL_PLANNER_MODE_${mode}`, promptsUsed: '1' }),
        ),
      },
    },
  ],
  [
    'Endpoints 3: group_name restricts',
    { query_requests: [{ cascade_runs: {} }], group_name: 'None' },
    { cascadeRuns: { cascadeRuns: [] } },
  ],
]

function run(day: string, more: Body): Body {
  return {
    ...{
      day: `${day}T00:00:00Z`,
      model: 'Meridian Large',
      mode: 'CONVERSATIONAL_PLANNER_MODE_DEFAULT',
      messagesSent: '0',
      promptsUsed: '0',
    },
    ...{ cascadeId: expect.stringMatching(/^[0-9a-f-]{36}$/), ...more },
  }
}

describe.each(WAYS)('%s', (_way, ask) => {
  test.each(ANSWERS.map(([name, ...rest]) => [name, rest] as const))('Analytics, %s', async (_name, [queries, results, more = {}]) => {
    const { status, body } = await ask(fixture, 'Analytics', { query_requests: queries, ...more })
    expect(status, JSON.stringify(body)).toBe(200)
    const items = body.queryResults.map((result: { responseItems: readonly { item: Body }[] }) =>
      result.responseItems.map(({ item }) => item),
    )
    expect(items.map((list: Items) => list.toSorted(byText))).toEqual(results.map((list) => list.toSorted(byText)))
  })

  test.each(REFUSALS.map(([name, ...rest]) => [name, rest] as const))('Analytics refuses, %s', async (_name, [body, error]) => {
    const told = await ask(fixture, 'Analytics', body)
    expect([told.status, Object.keys(told.body)], JSON.stringify(told.body)).toEqual([400, ['error']])
    expect(told.body.error).toMatch(error)
  })

  test.each(CASCADE)('CascadeAnalytics, %s', async (_name, body, result) => {
    expect((await ask(fixture, 'CascadeAnalytics', body)).body).toEqual({ queryResults: [result] })
  })

  test('cascadeId names the conversation: its entries share it, and no other entry has it', async () => {
    const { body } = await ask(fixture, 'CascadeAnalytics', { query_requests: [{ cascade_runs: {} }], emails: ['ada@example.com'] })
    const [oldest, ...rest] = body.queryResults[0].cascadeRuns.cascadeRuns.map(({ cascadeId }: { cascadeId: string }) => cascadeId)
    expect(rest[0]).toBe(rest[1])
    expect(new Set([oldest, ...rest]).size).toBe(3)
  })
})
