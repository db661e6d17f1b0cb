// One row per rule, field and error condition of the operations, each naming its section of docs/service.md. Every row runs
// twice: in process and over loopback HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/model/observed.ts'

import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'
import { type Body, WAYS } from './conformance-ways.ts'

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
const OPERATIONS = ['GetUsageConfig', 'UsageConfig', 'UserPageAnalytics', 'CascadeAnalytics', 'Analytics', 'GetTeamCreditBalance'] as const
const keyRows: readonly Row[] = OPERATIONS.flatMap((operation): Row[] => [
  ...[undefined, 'nobody', 7].map((key) => ({
    name: `Authentication 3: ${operation} refuses ${key} as key`,
    operation,
    key,
    status: 401,
    error: /service key/,
  })),
  {
    name: `choice: ${operation} checks the key before the rest`,
    operation,
    key: 'nobody',
    body: { group_id: 7, query_requests: 7 },
    status: 401,
  },
])

const SCOPES: readonly (readonly [name: string, scope: Body, status: number, error?: RegExp])[] = [
  ['Endpoints: takes team_level', { team_level: true }, 200],
  ['Endpoints: takes group_id', { group_id: 'grp_platform' }, 200],
  ['Endpoints: takes user_email', { user_email: ADA }, 200],
  ['choice: compares e-mails loosely', { user_email: ` ${ADA.toUpperCase()} ` }, 200],
  ['choice: takes false as not given', { team_level: false, user_email: ADA }, 200],
  ['choice: takes null as not given', { group_id: null, team_level: true }, 200],
  ['Errors: refuses no scope', {}, 400, /no scope/],
  ['Errors: refuses team_level false alone', { team_level: false }, 400, /no scope/],
  ['Errors: refuses two scopes', { team_level: true, user_email: ADA }, 400, /more than one scope/],
  ['Errors: refuses three scopes', { team_level: true, group_id: 'grp_platform', user_email: ADA }, 400, /more than one scope/],
  ['Errors: refuses an unknown group', { group_id: 'grp_none' }, 404, /invalid group id/],
  ['Errors: refuses an unknown person', { user_email: 'x@example.com' }, 404, /invalid user/],
  ['Endpoints: refuses team_level of another type', { team_level: 'true' }, 400, /team_level/],
  ['Endpoints: refuses group_id of another type', { group_id: 5 }, 400, /group_id/],
  ['Endpoints: refuses user_email of another type', { user_email: {} }, 400, /user_email/],
]
const scopeRows: readonly Row[] = SCOPES.flatMap(([name, scope, status, error]) =>
  [['GetUsageConfig', {}] as const, ['UsageConfig', { set_add_on_credit_cap: 700 }] as const].map(([operation, rest]) => ({
    name: `${name}, ${operation}`,
    operation,
    body: { ...rest, ...scope },
    status,
    ...(error && { error }),
  })),
)

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

const roster = (name: string, body: Body, status: number, error?: RegExp): Row => ({
  ...{ name, operation: 'UserPageAnalytics', body, status },
  ...(error && { error }),
})

const rosterRows: readonly Row[] = [
  roster('Errors: refuses an unknown group', { group_name: 'Nobody' }, 404, /invalid group name: Nobody/),
  roster('Endpoints 2: a group goes by its name, not its id', { group_name: 'grp_platform' }, 404),
  roster('Endpoints 2: refuses group_name of another type', { group_name: ['Platform'] }, 400),
  ...['yesterday', '2026-11-20', '2026-02-30T00:00:00Z', '2026-11-20T25:00:00Z', '2026-11-20T00:00:00', '1764000000'].flatMap((stamp) =>
    ['start_timestamp', 'end_timestamp'].map((field) =>
      roster(`Errors: refuses ${stamp} as ${field}`, { [field]: stamp }, 400, /invalid timestamp format/),
    ),
  ),
  ...['2026-11-20T00:00:00Z', '2026-11-20T00:00:00.123456Z', '2026-11-20t00:00:00+05:30', '2024-02-29T23:59:59-08:00'].map((stamp) =>
    roster(`Endpoints 2: takes ${stamp}`, { start_timestamp: stamp }, 200),
  ),
  roster('choice: takes a field it does not know', { colour: 'green' }, 200),
]

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await startSandbox({ days: 20 })
})
afterAll(() => fixture.close())

describe.each(WAYS)('%s', (_way, send) => {
  const ask = async (operation: Operation, body: Body) => {
    const told = await send(fixture, operation, body)
    expect(told.headers['content-type']).toBe('application/json; charset=utf-8')
    return told
  }

  test.each([...keyRows, ...scopeRows, ...writeRows, ...rosterRows])('$name', async (row) => {
    const given = await ask(row.operation, { ...row.body, ...('key' in row && { service_key: row.key }) })
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

  test('Endpoints 2: the range changes activeDays and nothing else', async () => {
    const whole = (await ask('UserPageAnalytics', {})).body
    const none = (await ask('UserPageAnalytics', { start_timestamp: '2020-01-01T00:00:00Z', end_timestamp: '2020-02-01T00:00:00Z' })).body
    expect(whole.userTableStats[0].activeDays).toBeGreaterThan(0)
    const expected = whole.userTableStats.map((user: object) => ({ ...user, activeDays: 0 }))
    expect(none.userTableStats).toEqual(expected)
  })
})

test('in process and over HTTP the same request gives the same answer, headers of the operation included', async () => {
  const [inside, outside] = await Promise.all(WAYS.map(([, send]) => send(fixture, 'UserPageAnalytics', {})))
  expect(outside?.body).toEqual(inside?.body)
  expect(outside?.headers).toMatchObject(inside?.headers ?? {})
})
