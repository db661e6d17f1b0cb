// One row per rule, field and error condition of the operations, each naming its section of docs/service.md. Every row runs
// twice: in process and over loopback HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/model/observed.ts'

import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'

type Body = Readonly<Record<string, unknown>>

interface Row {
  readonly name: string
  readonly operation: Operation
  /** Default: all permissions. */
  readonly key?: unknown
  readonly body?: Body
  readonly status: number
  /** The whole answer, or what its error says. */
  readonly answer?: unknown
  readonly error?: RegExp
}

const ADA = 'ada.lovelace@example.com'
const SCOPE_OPERATIONS = [
  { operation: 'GetUsageConfig', section: 'Endpoints 4', rest: {} },
  { operation: 'UsageConfig', section: 'Endpoints 5', rest: { set_add_on_credit_cap: 700 } },
] as const

const keyRows: readonly Row[] = (
  [
    ['GetUsageConfig', 'sandbox-billing-read', 'sandbox-billing-write', { team_level: true }],
    ['UsageConfig', 'sandbox-billing-write', 'sandbox-billing-read', { team_level: true, set_add_on_credit_cap: 1 }],
    ['UserPageAnalytics', 'sandbox-teams-read', 'sandbox-analytics', {}],
    ['CascadeAnalytics', 'sandbox-teams-read', 'sandbox-analytics', { query_requests: [{ cascade_runs: {} }] }],
    ['GetTeamCreditBalance', 'sandbox-billing-read', 'sandbox-teams-read', {}],
  ] as const
).flatMap(([operation, right, wrong, body]): Row[] => [
  { name: `Authentication 2: ${operation} takes a key with its permission`, operation, key: right, body, status: 200 },
  {
    name: `Authentication 2: ${operation} refuses a key without its permission`,
    operation,
    key: wrong,
    body,
    status: 403,
    error: /permission/,
  },
  { name: `Authentication 3: ${operation} refuses an unknown key`, operation, key: 'nobody', body, status: 401, error: /service key/ },
  { name: `Authentication 3: ${operation} refuses a missing key`, operation, key: undefined, body, status: 401, error: /service key/ },
  { name: `Authentication 3: ${operation} refuses a key of another type`, operation, key: 7, body, status: 401, error: /service key/ },
  { name: `choice: ${operation} checks the key before the rest`, operation, key: 'nobody', body: { group_id: 7 }, status: 401 },
])

const scopeRows: readonly Row[] = SCOPE_OPERATIONS.flatMap(({ operation, section, rest }): Row[] => [
  { name: `${section}: ${operation} takes team_level`, operation, body: { ...rest, team_level: true }, status: 200 },
  { name: `${section}: ${operation} takes group_id`, operation, body: { ...rest, group_id: 'grp_platform' }, status: 200 },
  { name: `${section}: ${operation} takes user_email`, operation, body: { ...rest, user_email: ADA }, status: 200 },
  {
    name: `choice: ${operation} compares e-mails loosely`,
    operation,
    body: { ...rest, user_email: ` ${ADA.toUpperCase()} ` },
    status: 200,
  },
  { name: `choice: ${operation} takes false as not given`, operation, body: { ...rest, team_level: false, user_email: ADA }, status: 200 },
  { name: `choice: ${operation} takes null as not given`, operation, body: { ...rest, group_id: null, team_level: true }, status: 200 },
  { name: `Errors: ${operation} refuses no scope`, operation, body: rest, status: 400, error: /no scope/ },
  {
    name: `Errors: ${operation} refuses team_level false alone`,
    operation,
    body: { ...rest, team_level: false },
    status: 400,
    error: /no scope/,
  },
  {
    name: `Errors: ${operation} refuses two scopes`,
    operation,
    body: { ...rest, team_level: true, user_email: ADA },
    status: 400,
    error: /more than one scope/,
  },
  {
    name: `Errors: ${operation} refuses three scopes`,
    operation,
    body: { ...rest, team_level: true, group_id: 'grp_platform', user_email: ADA },
    status: 400,
    error: /more than one scope/,
  },
  {
    name: `Errors: ${operation} refuses an unknown group`,
    operation,
    body: { ...rest, group_id: 'grp_none' },
    status: 404,
    error: /invalid group id/,
  },
  {
    name: `Errors: ${operation} refuses an unknown person`,
    operation,
    body: { ...rest, user_email: 'x@example.com' },
    status: 404,
    error: /invalid user/,
  },
  {
    name: `Endpoints: ${operation} refuses team_level of another type`,
    operation,
    body: { ...rest, team_level: 'true' },
    status: 400,
    error: /team_level/,
  },
  {
    name: `Endpoints: ${operation} refuses group_id of another type`,
    operation,
    body: { ...rest, group_id: 5 },
    status: 400,
    error: /group_id/,
  },
  {
    name: `Endpoints: ${operation} refuses user_email of another type`,
    operation,
    body: { ...rest, user_email: {} },
    status: 400,
    error: /user_email/,
  },
])

const team = { team_level: true }
const bothCaps = { ...team, set_add_on_credit_cap: 5, clear_add_on_credit_cap: true }
const write = (name: string, body: Body, status: number, error?: RegExp): Row => ({
  name,
  operation: 'UsageConfig',
  body,
  status,
  ...(error ? { error } : { answer: {} }),
})

const writeRows: readonly Row[] = [
  write('Endpoints 5: sets a cap', { ...team, set_add_on_credit_cap: 5 }, 200),
  write('Endpoints 5: clears a cap', { ...team, clear_add_on_credit_cap: true }, 200),
  write('Endpoints 5: clearing what is not set succeeds', { user_email: 'grace.hopper@example.com', clear_add_on_credit_cap: true }, 200),
  write('choice: takes the largest 32-bit cap', { ...team, set_add_on_credit_cap: 2_147_483_647 }, 200),
  write('choice: takes clear false beside a cap as not given', { ...team, set_add_on_credit_cap: 5, clear_add_on_credit_cap: false }, 200),
  write('Errors: refuses both cap fields', bothCaps, 400, /only one of set_add_on/),
  write('Errors: refuses both cap fields also for a cap of 0', { ...bothCaps, set_add_on_credit_cap: 0 }, 400, /only one of set_add_on/),
  write('Errors: refuses neither cap field', team, 400, /one of set_add_on.* is required/),
  write('Errors: refuses clear false alone', { ...team, clear_add_on_credit_cap: false }, 400, /is required/),
  write('Endpoints 5: refuses a fraction', { ...team, set_add_on_credit_cap: 1.5 }, 400, /must be an integer/),
  write('Endpoints 5: refuses a numeric text', { ...team, set_add_on_credit_cap: '500' }, 400, /must be an integer/),
  write('Endpoints 5: refuses a clear of another type', { ...team, clear_add_on_credit_cap: 'true' }, 400, /clear_add_on_credit_cap/),
  write('choice: refuses a negative cap', { ...team, set_add_on_credit_cap: -1 }, 400, /between 0 and 2147483647/),
  write('choice: refuses a cap beyond 32 bits', { ...team, set_add_on_credit_cap: 2_147_483_648 }, 400, /between 0 and 2147483647/),
]

const rosterRows: readonly Row[] = [
  {
    name: 'Errors: refuses an unknown group',
    operation: 'UserPageAnalytics',
    body: { group_name: 'Nobody' },
    status: 404,
    error: /invalid group name: Nobody/,
  },
  {
    name: 'Endpoints 2: a group goes by its name, not its id',
    operation: 'UserPageAnalytics',
    body: { group_name: 'grp_platform' },
    status: 404,
  },
  {
    name: 'Endpoints 2: refuses group_name of another type',
    operation: 'UserPageAnalytics',
    body: { group_name: ['Platform'] },
    status: 400,
  },
  ...['yesterday', '2026-11-20', '2026-02-30T00:00:00Z', '2026-11-20T25:00:00Z', '2026-11-20T00:00:00', '1764000000'].flatMap((stamp) =>
    ['start_timestamp', 'end_timestamp'].map(
      (field): Row => ({
        name: `Errors: refuses ${stamp} as ${field}`,
        operation: 'UserPageAnalytics',
        body: { [field]: stamp },
        status: 400,
        error: /invalid timestamp format/,
      }),
    ),
  ),
  ...['2026-11-20T00:00:00Z', '2026-11-20T00:00:00.123456Z', '2026-11-20t00:00:00+05:30', '2024-02-29T23:59:59-08:00'].map(
    (stamp): Row => ({
      name: `Endpoints 2: takes ${stamp}`,
      operation: 'UserPageAnalytics',
      body: { start_timestamp: stamp },
      status: 200,
    }),
  ),
  { name: 'choice: takes a field it does not know', operation: 'UserPageAnalytics', body: { colour: 'green' }, status: 200 },
]

const runs = { query_requests: [{ cascade_runs: {} }] }
const cascade = (name: string, body: Body, status: number, error?: RegExp): Row => ({
  name,
  operation: 'CascadeAnalytics',
  body,
  status,
  ...(error ? { error } : {}),
})

const cascadeRows: readonly Row[] = [
  cascade('Endpoints 3: takes emails', { ...runs, emails: [ADA] }, 200),
  cascade('Endpoints 3: takes a group', { ...runs, group_name: 'Platform' }, 200),
  cascade('Endpoints 3: takes all ide types', { ...runs, ide_types: ['editor', 'jetbrains', 'cli'] }, 200),
  cascade(
    'Endpoints 3: refuses emails and group_name together',
    { ...runs, emails: [ADA], group_name: 'Platform' },
    400,
    /cannot be combined/,
  ),
  cascade('Endpoints 3: refuses emails that are no list', { ...runs, emails: ADA }, 400, /emails must be an array/),
  cascade('Endpoints 3: refuses an unknown ide type', { ...runs, ide_types: ['teapot'] }, 400, /teapot/),
  cascade('Endpoints 3: refuses no query', {}, 400, /query_requests/),
  cascade('Endpoints 3: refuses an unknown data source', { query_requests: [{ cascade_teapots: {} }] }, 400, /exactly one of/),
  cascade(
    'Endpoints 3: refuses two data sources in one query',
    { query_requests: [{ cascade_runs: {}, cascade_lines: {} }] },
    400,
    /exactly one/,
  ),
]

let fixture: SandboxFixture

beforeAll(async () => {
  fixture = await startSandbox({ days: 20 })
})
afterAll(() => fixture.close())

const ways = [
  ['in process', async (operation: Operation, body: Body) => fixture.transport.send(operation, body, { timeoutMs: 1000 })],
  ['over HTTP', (operation: Operation, body: Body) => post(fixture.url, operation, body)],
] as const

async function post(url: string, operation: string, body: unknown) {
  const answer = await fetch(`${url}/api/v1/${operation}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
}

describe.each(ways)('%s', (_way, send) => {
  const ask = async (operation: Operation, body: Body, credential: Body = { service_key: 'sandbox-admin' }) => {
    const result = await send(operation, { ...credential, ...body })
    if (!('status' in result)) throw new Error(result.message)
    expect(result.headers['content-type']).toBe('application/json; charset=utf-8')
    return { status: result.status, body: JSON.parse(result.body) }
  }

  test.each([...keyRows, ...scopeRows, ...writeRows, ...rosterRows, ...cascadeRows])('$name', async (row) => {
    const given = await ask(row.operation, row.body ?? {}, 'key' in row ? { service_key: row.key } : undefined)
    expect(given.status, JSON.stringify(given.body)).toBe(row.status)
    if (row.answer !== undefined) expect(given.body).toEqual(row.answer)
    if (row.error) expect(given.body.error).toMatch(row.error)
    if (row.status !== 200) expect(Object.keys(given.body)).toEqual(['error'])
  })

  test('Endpoints 4 and 5: every scope has a cap of its own, which reads back, and is gone when cleared', async () => {
    const scopes = [team, { group_id: 'grp_platform' }, { user_email: ADA }]
    for (const scope of scopes) await ask('UsageConfig', { ...scope, clear_add_on_credit_cap: true })
    for (const [index, scope] of scopes.entries()) {
      expect((await ask('GetUsageConfig', scope)).body).toEqual({})
      await ask('UsageConfig', { ...scope, set_add_on_credit_cap: 100 + index })
      expect((await ask('GetUsageConfig', scope)).body).toEqual({ addOnCreditCap: 100 + index })
    }
    for (const [index, scope] of scopes.entries()) {
      expect((await ask('GetUsageConfig', scope)).body).toEqual({ addOnCreditCap: 100 + index })
      await ask('UsageConfig', { ...scope, clear_add_on_credit_cap: true })
      expect((await ask('GetUsageConfig', scope)).body).toEqual({})
    }
  })

  test('a refused write changes nothing', async () => {
    await ask('UsageConfig', { ...team, set_add_on_credit_cap: 42 })
    for (const row of writeRows.filter((one) => one.status !== 200)) await ask('UsageConfig', row.body ?? {})
    expect((await ask('GetUsageConfig', team)).body).toEqual({ addOnCreditCap: 42 })
  })

  test('Endpoints 2: the roster has every field, in the types of the interface', async () => {
    const { body } = await ask('UserPageAnalytics', {})
    expect(body.userTableStats).toHaveLength(20)
    expect(body.userTableStats[0]).toEqual({
      name: 'Ada Lovelace',
      email: ADA,
      lastUpdateTime: expect.stringMatching(/^2026-11-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      apiKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      activeDays: expect.any(Number),
      role: 'admin',
      signupTime: expect.stringMatching(/Z$/),
      lastAutocompleteUsageTime: expect.stringMatching(/Z$/),
      lastChatUsageTime: expect.stringMatching(/Z$/),
      lastCommandUsageTime: expect.stringMatching(/Z$/),
      promptCreditsUsed: expect.any(Number),
      teamStatus: 'USER_TEAM_STATUS_APPROVED',
    })
    expect(body.billingCycleStart).toBe('2026-11-01T00:00:00Z')
    expect(body.billingCycleEnd).toBe('2026-12-01T00:00:00Z')
  })

  test('Endpoints 2: a group lists only its members', async () => {
    const { body } = await ask('UserPageAnalytics', { group_name: 'Platform' })
    const emails = body.userTableStats.map((user: { email: string }) => user.email)
    expect(emails).toEqual(expect.arrayContaining([ADA, 'grace.hopper@example.com', 'barbara.liskov@example.com']))
    expect(emails).not.toContain('edsger.dijkstra@example.com')
  })

  test('Endpoints 2: the range changes activeDays and nothing else', async () => {
    const whole = (await ask('UserPageAnalytics', {})).body
    const none = (await ask('UserPageAnalytics', { start_timestamp: '2020-01-01T00:00:00Z', end_timestamp: '2020-02-01T00:00:00Z' })).body
    expect(whole.userTableStats[0].activeDays).toBeGreaterThan(0)
    const expected = whole.userTableStats.map((user: object) => ({ ...user, activeDays: 0 }))
    expect(none.userTableStats).toEqual(expected)
  })

  test('Endpoints 6: the balance has every field as an integer, and the cycle', async () => {
    const { body } = await ask('GetTeamCreditBalance', {})
    expect(body).toEqual({
      promptCreditsPerSeat: 500,
      numSeats: 20,
      addOnCreditsAvailable: expect.any(Number),
      addOnCreditsUsed: expect.any(Number),
      billingCycleStart: '2026-11-01T00:00:00Z',
      billingCycleEnd: '2026-12-01T00:00:00Z',
    })
    expect(Number.isInteger(body.addOnCreditsAvailable) && Number.isInteger(body.addOnCreditsUsed)).toBe(true)
  })

  test('Endpoints 3: credits of the runs add up to the figure of the roster for each person', async () => {
    const { userTableStats } = (await ask('UserPageAnalytics', {})).body
    for (const user of userTableStats.slice(0, 5)) {
      const { body } = await ask('CascadeAnalytics', { ...runs, emails: [user.email], start_timestamp: '2026-11-01T00:00:00Z' })
      const items: readonly Record<string, string>[] = body.queryResults[0].cascadeRuns.cascadeRuns
      expect(items.every((item) => Object.values(item).every((value) => typeof value === 'string'))).toBe(true)
      expect(items.reduce((sum, item) => sum + Number(item['promptsUsed'] ?? 0), 0)).toBe(user.promptCreditsUsed)
    }
  })
})

test('in process and over HTTP the same request gives the same answer, headers of the operation included', async () => {
  const body = { service_key: 'sandbox-admin' }
  const inside = await fixture.transport.send('UserPageAnalytics', body, { timeoutMs: 1000 })
  const outside = await post(fixture.url, 'UserPageAnalytics', body)
  if (!('status' in inside)) throw new Error(inside.message)
  expect(outside.body).toBe(inside.body)
  expect(outside.headers).toMatchObject(inside.headers)
})

test('Authentication: a key limited to one group lists only that group, without an error, and sets no other cap', async () => {
  const limited = { service_key: 'limited' }
  fixture.sandbox.store.saveKey({ secret: 'limited', permissions: ['Teams Read-only', 'Billing Read'], groupId: 'grp_platform' })
  const ask = async (operation: Operation, body: Body) => post(fixture.url, operation, { ...limited, ...body })
  const inGroup = await post(fixture.url, 'UserPageAnalytics', { service_key: 'sandbox-admin', group_name: 'Platform' })
  expect((await ask('UserPageAnalytics', {})).body).toBe(inGroup.body)
  expect((await ask('GetUsageConfig', { group_id: 'grp_platform' })).status).toBe(200)
  expect((await ask('GetUsageConfig', { user_email: ADA })).status).toBe(200)
  for (const scope of [team, { group_id: 'grp_mobile' }, { user_email: 'edsger.dijkstra@example.com' }]) {
    expect((await ask('GetUsageConfig', scope)).status).toBe(403)
  }
})
