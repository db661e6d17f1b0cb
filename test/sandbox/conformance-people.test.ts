// UserPageAnalytics and the balance, field by field, on a company that can be counted by hand; and the permissions of keys. Rows name their
// section of docs/service.md and run twice: in process and over loopback HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/model/observed.ts'

import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'
import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'
import { type Body, company, NEEDED, NOW, WAYS } from './conformance-ways.ts'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await startSandbox({ fixture: company() })
})
afterAll(() => fixture.close())

const absent = Symbol('absent')
const micros = (stamp: string) => expect.stringMatching(new RegExp(`^${stamp.replace('.', '\\.')}\\d*Z$`))

type FieldRow = readonly [who: string, field: string, value: unknown, name: string]

/** docs/service.md, A person. */
const FIELDS: readonly FieldRow[] = [
  ['ada', 'name', 'Ada', 'the display name'],
  ['ada', 'email', 'ada@example.com', 'the e-mail address'],
  ['ada', 'apiKey', 'hash-of-ada', 'the hashed key'],
  ['ada', 'lastUpdateTime', micros('2026-11-06T09:00:00.'), 'the last activity of any kind, with microseconds'],
  ['ada', 'role', 'admin', 'an administrator'],
  ['old', 'role', 'member', 'a member'],
  ['ada', 'signupTime', micros('2025-03-01T08:00:00.'), 'the sign-up'],
  ['ada', 'lastAutocompleteUsageTime', micros('2026-11-06T09:00:00.'), 'the latest autocomplete'],
  ['ada', 'lastChatUsageTime', micros('2026-11-03T10:00:00.'), 'the latest use of the agent'],
  ['ada', 'lastCommandUsageTime', micros('2026-11-04T10:00:00.'), 'the latest command'],
  ['pending', 'lastAutocompleteUsageTime', absent, 'who never used autocomplete'],
  ['pending', 'lastChatUsageTime', absent, 'who never used the agent'],
  ['chat', 'lastChatUsageTime', absent, 'the legacy chat is not the agent'],
  ['pending', 'lastCommandUsageTime', absent, 'who never used commands'],
  ['ada', 'disableService', absent, 'present only for those who were disabled'],
  ['disabled', 'disableService', true, 'then always true'],
  ['ada', 'promptCreditsUsed', 12_500, 'cents of this cycle only, the last millisecond of October left out'],
  ['disabled', 'promptCreditsUsed', 3, 'cents, not credits'],
  ['old', 'promptCreditsUsed', 0, 'nothing in this cycle'],
  ['ada', 'activeDays', 4, 'autocomplete, agent and command, each day once'],
  ['autocomplete', 'activeDays', 2, 'days are those of UTC'],
  ['command', 'activeDays', 1, 'a declined command is a use of commands'],
  ['declining', 'activeDays', 0, 'autocomplete without an acceptance is no activity'],
  ['chat', 'activeDays', 0, 'the legacy chat is no activity'],
  ['typing', 'activeDays', 0, 'typing by hand is no activity'],
  ['old', 'activeDays', 0, 'Limits 2: what is over a year ago is beyond the default range'],
  ['ada', 'teamStatus', 'USER_TEAM_STATUS_APPROVED', 'States: approved'],
  ['pending', 'teamStatus', 'USER_TEAM_STATUS_PENDING', 'States: pending'],
  ['rejected', 'teamStatus', 'USER_TEAM_STATUS_REJECTED', 'States: rejected'],
  ['unspecified', 'teamStatus', 'USER_TEAM_STATUS_UNSPECIFIED', 'States: unspecified'],
]

const RANGES: readonly (readonly [name: string, body: Body, days: readonly [ada: number, old: number]])[] = [
  ['from a start to now', { start_timestamp: '2026-11-03T00:00:00Z' }, [2, 0]],
  ['up to an end, from a year before now', { end_timestamp: '2026-11-02T10:00:00Z' }, [2, 0]],
  ['over a year', { start_timestamp: '2024-01-01T00:00:00Z' }, [4, 1]],
  ['with offsets', { start_timestamp: '2026-11-03T05:00:00+05:00', end_timestamp: '2026-11-03T23:59:59-08:00' }, [1, 0]],
  ['that is empty', { start_timestamp: '2026-12-01T00:00:00Z', end_timestamp: '2026-11-01T00:00:00Z' }, [0, 0]],
]

const REQUESTS: Readonly<Record<Operation, Body>> = {
  Analytics: { query_requests: [{ data_source: 'QUERY_DATA_SOURCE_CHAT_DATA', selections: [{ field: 'ide' }] }] },
  UserPageAnalytics: {},
  CascadeAnalytics: { query_requests: [{ cascade_runs: {} }] },
  GetUsageConfig: { team_level: true },
  UsageConfig: { team_level: true, clear_add_on_credit_cap: true },
  GetTeamCreditBalance: {},
}
const OPERATIONS = Object.keys(REQUESTS) as readonly Operation[]

const PAIRS = OPERATIONS.flatMap((operation) => SANDBOX_KEYS.map(({ secret }) => [operation, secret] as const))

describe.each(WAYS)('%s', (_way, ask) => {
  const userOf = async (who: string, body: Body = {}) => {
    const told = await ask(fixture, 'UserPageAnalytics', body)
    return told.body.userTableStats.find((user: { email: string }) => user.email === `${who}@example.com`)
  }

  test.each(FIELDS)('User statistics object: of %s, %s is %o: %s', async (who, field, value) => {
    const user = await userOf(who)
    if (value === absent) expect(user).not.toHaveProperty(field)
    else expect(user[field]).toEqual(value)
  })

  test.each(RANGES)('Endpoints 2: activeDays of a range %s', async (_name, body, [ada, old]) => {
    expect([(await userOf('ada', body)).activeDays, (await userOf('old', body)).activeDays]).toEqual([ada, old])
    expect((await userOf('ada', body)).promptCreditsUsed).toBe(12_500)
  })

  test('States: people of every status are listed', async () => {
    expect((await ask(fixture, 'UserPageAnalytics', {})).body.userTableStats).toHaveLength(11)
  })

  test('Endpoints 2: a group without members is an empty list with the cycle', async () => {
    expect((await ask(fixture, 'UserPageAnalytics', { group_name: 'None' })).body).toEqual({
      ...{ userTableStats: [], billingCycleStart: '2026-11-01T00:00:00Z', billingCycleEnd: '2026-12-01T00:00:00Z' },
    })
  })

  test('Team credit balance object: every field', async () => {
    expect((await ask(fixture, 'GetTeamCreditBalance', {})).body).toEqual({
      // Ada used 125 credits, 25 beyond her seat's 100; no other person went beyond.
      ...{ promptCreditsPerSeat: 100, numSeats: 9, addOnCreditsAvailable: 5000, addOnCreditsUsed: 25 },
      ...{ billingCycleStart: '2026-11-01T00:00:00Z', billingCycleEnd: '2026-12-01T00:00:00Z' },
    })
  })

  test.each(PAIRS)('Authentication 2: %s with %s', async (operation, secret) => {
    const held = SANDBOX_KEYS.find((key) => key.secret === secret)?.permissions ?? []
    const told = await ask(fixture, operation, REQUESTS[operation], secret)
    expect(told.status).toBe(held.some((permission) => permission === NEEDED[operation]) ? 200 : 403)
    if (told.status === 403) expect(told.body).toEqual({ error: `insufficient permissions: ${operation} needs ${NEEDED[operation]}` })
  })

  test.each(OPERATIONS)('Authentication 3 (choice): %s checks the permission before the rest', async (operation) => {
    const wrong = SANDBOX_KEYS.find(({ permissions }) => !permissions.some((one) => one === NEEDED[operation]))
    const told = await ask(fixture, operation, { query_requests: 7, group_id: [], start_timestamp: 'x' }, wrong?.secret)
    expect(told.status).toBe(403)
  })

  test.each(OPERATIONS)('choice: a key of one group, asking %s', async (operation) => {
    const told = await ask(fixture, operation, REQUESTS[operation], 'only-one')
    const text = JSON.stringify(told.body)
    expect(told.status).toBe(operation === 'GetUsageConfig' || operation === 'UsageConfig' ? 403 : 200)
    for (const other of ['disabled@', 'pending@', 'vscode']) expect(text).not.toContain(other)
    if (operation === 'CascadeAnalytics') expect(told.body.queryResults[0].cascadeRuns.cascadeRuns).toHaveLength(4)
    if (operation === 'UserPageAnalytics') expect(told.body.userTableStats).toHaveLength(2)
  })

  test.each([
    ['its own group', { group_id: 'grp_one' }, 200],
    ['a member', { user_email: 'autocomplete@example.com' }, 200],
    ['another person', { user_email: 'old@example.com' }, 403],
    ['another group', { group_id: 'grp_none' }, 403],
    ['the team', { team_level: true }, 403],
    ['an unknown person', { user_email: 'nobody@example.com' }, 404],
  ])('choice: a key of one group reads and writes caps of %s: %o %i', async (_name, scope, status) => {
    expect((await ask(fixture, 'GetUsageConfig', scope, 'only-one')).status).toBe(status)
    expect((await ask(fixture, 'UsageConfig', { ...scope, set_add_on_credit_cap: 5 }, 'only-one')).status).toBe(status)
    if (status === 200) await ask(fixture, 'UsageConfig', { ...scope, clear_add_on_credit_cap: true })
  })

  test('choice: a key of one group that names another group gets no people', async () => {
    expect((await ask(fixture, 'UserPageAnalytics', { group_name: 'None' }, 'only-one')).body.userTableStats).toEqual([])
  })

  test.each(OPERATIONS)('Errors: %s beyond the rate limit, per key', async (operation) => {
    const limited = await startSandbox({ fixture: company(), rateLimit: { limit: 2, windowMs: 60_000 }, retryAfter: 'seconds' })
    const statuses = []
    for (let turn = 0; turn < 3; turn += 1) statuses.push((await ask(limited, operation, REQUESTS[operation])).status)
    expect(statuses).toEqual([200, 200, 429])
    const told = await ask(limited, operation, REQUESTS[operation])
    expect([told.body, told.headers['retry-after']]).toEqual([{ error: 'rate limit exceeded' }, '60'])
    expect((await ask(limited, operation, REQUESTS[operation], 'only-one')).status).not.toBe(429)
    await limited.close()
  })
})

test('the five keys have the permissions of docs/sandbox.md, and the admin all of them', () => {
  expect(SANDBOX_KEYS.map(({ secret, permissions }) => [secret, permissions.join()])).toEqual([
    ['sandbox-admin', 'Analytics Read,Teams Read-only,Billing Read,Billing Write'],
    ...[['sandbox-analytics', 'Analytics Read'] as const, ['sandbox-teams-read', 'Teams Read-only'] as const],
    ...[['sandbox-billing-read', 'Billing Read'] as const, ['sandbox-billing-write', 'Billing Write'] as const],
  ])
})

test('Team credit balance object: add-on credits used start again with the cycle, and what is available follows the cycle before', async () => {
  const clock = fakeClock(Date.parse(NOW))
  const later = await startSandbox({ clock, fixture: company() })
  const [, ask] = WAYS[0] ?? []
  if (!ask) throw new Error('no way')
  await clock.advance(11 * 86_400_000)
  // 25 credits were used: a quarter more would be 1,000 at most; a seat's worth for each of nine seats is 900, so 1,000 it is.
  expect((await ask(later, 'GetTeamCreditBalance', {})).body).toEqual({
    ...{ promptCreditsPerSeat: 100, numSeats: 9, addOnCreditsAvailable: 1000, addOnCreditsUsed: 0 },
    ...{ billingCycleStart: '2026-12-01T00:00:00Z', billingCycleEnd: '2027-01-01T00:00:00Z' },
  })
  expect((await ask(later, 'UserPageAnalytics', {})).body.userTableStats[0].promptCreditsUsed).toBe(0)
  await later.close()
})
