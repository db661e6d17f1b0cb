// Analytics and CascadeAnalytics, one row per rule, enum value, field and error condition, on a company that can be counted by hand. Rows
// name their section of docs/service.md and run twice: in process and over loopback HTTP. Every field with every function is in
// analytics.test.ts; sums over many rows are in the property tests.
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
const hours = { field: 'hour', name: 'hour' }

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
  ['Filter: QUERY_FILTER_EQUAL of a number', [counted([where('num_acceptances', 'EQUAL', '1')])], [n('2')]],
  ['Filter: QUERY_FILTER_NOT_EQUAL of a number', [counted([where('num_acceptances', 'NOT_EQUAL', '1')])], [n('5')]],
  ['Filter: QUERY_FILTER_GREATER_THAN of a date', [counted([where('date', 'GREATER_THAN', '2026-11-05')])], [n('1')]],
  ['Filter: QUERY_FILTER_LESS_THAN of a date', [counted([where('date', 'LESS_THAN', '2026-11-05')])], [n('5')]],
  ['Filter: QUERY_FILTER_GE of a date', [counted([where('date', 'GE', '2026-11-05')])], [n('2')]],
  ['Filter: QUERY_FILTER_LE of a date', [counted([where('date', 'LE', '2026-11-05')])], [n('6')]],
  ['Filter: of a text', [counted([where('language', 'EQUAL', 'COBOL')])], [n('0')]],
  ['Filter: of a person by the hash', [counted([where('api_key', 'EQUAL', 'hash-of-ada')])], [n('5')]],
  ['Filter: hour also by a bare date', [counted([where('hour', 'GE', '2026-11-06')])], [n('1')]],
  ['Filter: several are ANDed', [counted([where('date', 'GE', '2026-11-05'), where('date', 'LE', '2026-11-05')])], [n('1')]],
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
    'Aggregation: one item per group, with the alias of the group',
    [user({ selections: [fn('SUM')], aggregations: [{ field: 'date', name: 'day' }] })],
    [
      [
        { day: '2026-11-02', n: '5' },
        { day: '2026-11-05', n: '1' },
        { day: '2026-11-06', n: '1' },
      ],
    ],
  ],
  [
    'Fields: date UTC-x and UTC+x move the day',
    ['date UTC-8', 'date UTC+8'].map((field) => user({ selections: [fn('SUM')], aggregations: [{ field, name: 'day' }] })),
    [
      [
        { day: '2026-11-02', n: '5' },
        { day: '2026-11-05', n: '2' },
        { day: '2026-11-06', n: '0' },
      ],
      [
        { day: '2026-11-02', n: '5' },
        { day: '2026-11-05', n: '0' },
        { day: '2026-11-06', n: '2' },
      ],
    ],
  ],
  [
    'Fields: hour reads as UTC',
    [user({ selections: [fn('SUM')], aggregations: [hours], filters: [where('date', 'EQUAL', '2026-11-02')] })],
    [[{ hour: '2026-11-02 09:00:00 +0000 UTC', n: '5' }]],
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

type ErrorRow = readonly [name: string, body: Body, error: RegExp, status?: number]
const one = (query: Body): Body => ({ query_requests: [query] })

const REFUSALS: readonly ErrorRow[] = [
  ['Endpoints 1: query_requests is required', {}, /query_requests/],
  ['Endpoints 1: query_requests is a list', { query_requests: {} }, /query_requests must be an array/],
  ['Endpoints 1: no query', { query_requests: [] }, /query_requests/],
  ['Endpoints 1: a query is an object', { query_requests: ['x'] }, /query_requests/],
  ['Endpoints 1: an unknown group', { ...one(counted([])), group_name: 'Nobody' }, /invalid group name: Nobody/, 404],
  [
    'Endpoints 1: a timestamp of another format',
    { ...one(counted([])), start_timestamp: '2026-11-02' },
    /invalid timestamp format: start_timestamp/,
  ],
  [
    'Query request object: an unknown source',
    one(of('TEAPOT', { selections: [fn('SUM')] })),
    /invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED/,
  ],
  ['Query request object: no source', one({ selections: [fn('SUM')] }), /invalid query table/],
  ['Query request object: no selections', one(user({ selections: [] })), /at least one field or aggregation/],
  ['Selection: an unknown field', one(user({ selections: [{ field: 'teapots' }] })), /teapots/],
  ['Selection: a field of another source', one(user({ selections: [{ field: 'model_id' }] })), /model_id/],
  [
    'Fields of the command data source: it has no shifted date',
    one(of('COMMAND_DATA', { selections: [sum('accepted')], aggregations: [{ field: 'date UTC-8', name: 'day' }] })),
    /cannot group by it in QUERY_DATA_SOURCE_COMMAND_DATA/,
  ],
  ['Selection: no field', one(user({ selections: [{ name: 'x' }] })), /field/],
  ['Selection: an unknown function', one(user({ selections: [fn('MEDIAN')] })), /QUERY_AGGREGATION_MEDIAN.*num_acceptances/],
  ['Filter: an unknown operation', one(counted([where('ide', 'LIKE', 'x')])), /QUERY_FILTER_LIKE/],
  ['Filter: an unknown field', one(counted([where('teapots', 'EQUAL', 'x')])), /teapots/],
  ['Filter: a value of another type', one(counted([{ ...where('num_acceptances', 'EQUAL', ''), value: 5 }])), /value must be a string/],
  [
    'Filter: a number that is none',
    one(counted([where('num_acceptances', 'EQUAL', 'five')])),
    /num_acceptances.*five|five.*num_acceptances/,
  ],
  ['Filter: a date that is none', one(counted([where('date', 'EQUAL', '2026-02-30')])), /date.*2026-02-30|2026-02-30.*date/],
  [
    'Filter: a boolean that is none',
    one(of('COMMAND_DATA', { selections: [sum('accepted')], filters: [where('accepted', 'EQUAL', 'yes')] })),
    /accepted/,
  ],
  ['Aggregation: no alias', one(user({ selections: [fn('SUM')], aggregations: [{ field: 'ide' }] })), /name/],
  ['Rule 1: mixing is invalid', one(user({ selections: [fn('SUM'), { field: 'ide' }] })), /num_acceptances.*ide|ide.*num_acceptances/],
  [
    'Rule 2: distinct_* is no group-by',
    one(user({ selections: [fn('SUM')], aggregations: [{ field: 'distinct_users', name: 'u' }] })),
    /distinct_users.*api_key/,
  ],
  ['Rule 3: aliases of two selections', one(user({ selections: [fn('SUM'), fn('MAX')] })), /duplicate field alias.*n/],
  [
    'Rule 3: aliases of a selection and a group-by',
    one(user({ selections: [fn('SUM')], aggregations: [{ field: 'ide', name: 'n' }] })),
    /duplicate field alias/,
  ],
  [
    'Rule 5: a function that the field does not take',
    one(user({ selections: [{ ...fn('SUM'), field: 'language' }] })),
    /SUM.*language|language.*SUM/,
  ],
  ['Fields of PCW: every field accepts only UNSPECIFIED', one(of('PCW_DATA', { selections: [sum('user_bytes')] })), /user_bytes/],
  [
    'Fields of PCW: dates are no filter',
    one(of('PCW_DATA', { selections: [{ field: 'user_bytes' }], filters: [where('date', 'GE', '2026-11-01')] })),
    /date/,
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
    'Limits 3: cli has runs',
    { query_requests: [{ cascade_runs: {} }], ide_types: ['cli'] },
    { cascadeRuns: { cascadeRuns: [run('2026-11-03', { model: 'UNKNOWN' })] } },
  ],
  ['Limits 3: cli has no lines', { query_requests: [{ cascade_lines: {} }], ide_types: ['cli'] }, { cascadeLines: { cascadeLines: [] } }],
  [
    'Limits 3: cli has no tools',
    { query_requests: [{ cascade_tool_usage: {} }], ide_types: ['cli'] },
    { cascadeToolUsage: { cascadeToolUsage: [] } },
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

  test.each(REFUSALS.map(([name, ...rest]) => [name, rest] as const))(
    'Analytics refuses, %s',
    async (_name, [body, error, status = 400]) => {
      const told = await ask(fixture, 'Analytics', body)
      expect([told.status, Object.keys(told.body)], JSON.stringify(told.body)).toEqual([status, ['error']])
      expect(told.body.error).toMatch(error)
    },
  )

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
