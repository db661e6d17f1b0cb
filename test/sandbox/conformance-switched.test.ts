// The operations under two switches of docs/sandbox.md, Behaviour: `--add-on-rows served` and `--plan no-caps`. Rows run twice: in
// process and over loopback HTTP, on the company that can be counted by hand.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/model/observed.ts'

import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts'
import type { Switches } from '../../src/sandbox/switches.ts'
import { fakeClock } from '../support/clock.ts'
import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'
import { type Ask, type Body, company, NEEDED, WAYS } from './conformance-ways.ts'

let served: SandboxFixture
let plain: SandboxFixture
let capless: SandboxFixture
beforeAll(async () => {
  const start = (switches: Partial<Switches>) => startSandbox({ fixture: company(), ...switches })
  served = await start({ addOnRows: 'served' })
  plain = await start({})
  capless = await start({ plan: 'no-caps', errors: 'connect', addOnRows: 'served' })
})
afterAll(async () => {
  for (const fixture of [served, plain, capless]) await fixture.close()
})

const FIELDS = ['api_key', 'date', 'prompts_used', 'flex_credits_used', 'model', 'ide', 'metadata'] as const
const where = (name: string, filter: string, value: string) => ({ name, filter: `QUERY_FILTER_${filter}`, value })
const all = FIELDS.map((field) => ({ field, name: field }))
const addOn = (rest: Body = {}): Body => ({
  query_requests: [{ data_source: 'QUERY_DATA_SOURCE_CASCADE_DATA', selections: all, ...rest }],
})
type Item = Readonly<Record<string, string>>
const itemsIn = (body: { queryResults: readonly { responseItems: readonly { item: Item }[] }[] }): readonly Item[] =>
  body.queryResults[0]?.responseItems.map(({ item }) => item) ?? []

const ADA = 'hash-of-ada'
const first = {
  ...{ api_key: ADA, date: '2026-11-02', model: 'MODEL_MERIDIAN_LARGE', ide: 'editor', metadata: '<nil>' },
  ...{ prompts_used: '12000', flex_credits_used: '2000' },
}
const second = { ...first, prompts_used: '500', flex_credits_used: '500' }
const third = { ...first, date: '2026-11-03', ide: 'cli', model: '<nil>', prompts_used: '0', flex_credits_used: '0' }
const october = { ...first, date: '2026-10-31', prompts_used: '77', flex_credits_used: '0' }
const hers = where('api_key', 'EQUAL', ADA)
const since = where('date', 'GE', '2026-11-01')

/** The seat has 100 credits; Ada used 120 and 5 in November. */
const ROWS: readonly (readonly [name: string, rest: Body, items: readonly Item[]])[] = [
  ['by person and first date', { filters: [hers, since] }, [first, second, third]],
  ['by person and both dates', { filters: [hers, since, where('date', 'LE', '2026-11-02')] }, [first, second]],
  ['by person: a cycle before this one counts by itself', { filters: [hers] }, [october, first, second, third]],
  ['of an unknown person', { filters: [where('api_key', 'EQUAL', 'hash-of-nobody')] }, []],
]

describe.each(WAYS)('%s, with add-on rows served', (_way, ask) => {
  test.each(ROWS)('raw rows %s, oldest first and all texts', async (_name, rest, items) => {
    const told = await ask(served, 'Analytics', addOn(rest), 'sandbox-analytics')
    expect([told.status, itemsIn(told.body)]).toEqual([200, items])
  })

  test('the other data sources are unchanged, and a limited key sees only its group', async () => {
    const query = { query_requests: [{ data_source: 'QUERY_DATA_SOURCE_CHAT_DATA', selections: [{ field: 'ide', name: 'ide' }] }] }
    expect((await ask(served, 'Analytics', query)).body).toEqual((await ask(plain, 'Analytics', query)).body)
    const keys = new Set(itemsIn((await ask(served, 'Analytics', addOn(), 'only-one')).body).map((item) => item['api_key']))
    expect([...keys]).toEqual([ADA])
  })

  test.each<readonly [string, Body, RegExp]>([
    ['a field of another source', addOn({ selections: [{ field: 'num_acceptances' }] }), /num_acceptances.*prompts_used/],
    ['a shifted date', addOn({ selections: [{ field: 'date UTC-8' }] }), /date UTC-8/],
    ['a date that is none', addOn({ filters: [where('date', 'GE', 'yesterday')] }), /yesterday/],
  ])('refuses %s', async (_name, body, error) => {
    const told = await ask(served, 'Analytics', body)
    expect([told.status, told.body.error]).toEqual([400, expect.stringMatching(error)])
  })

  test('without the switch, and on a plan that shows no credits, the source is an invalid query table', async () => {
    const told = await ask(plain, 'Analytics', addOn())
    expect([told.status, told.body.error]).toEqual([400, expect.stringMatching(/^invalid query table: QUERY_DATA_SOURCE_UNSPECIFIED/)])
    expect(told.body.error).not.toContain('CASCADE_DATA')
  })
})

test('add-on rows lag behind as analytics do, together with the roster', async () => {
  const clock = fakeClock()
  const company = await startSandbox({ clock, addOnRows: 'served', working: false, analyticsDelay: 3 * 3_600_000 })
  const { sandbox } = company
  const rows = () => itemsIn(JSON.parse(sandbox.handle('Analytics', { service_key: 'sandbox-admin', ...addOn() }).body))
  sandbox.recordUse('ada.lovelace@example.com', 70_000)
  expect(rows()).toEqual([])
  await clock.advance(3 * 3_600_000)
  expect(rows()).toMatchObject([{ prompts_used: '70000', flex_credits_used: '20000' }])
  await company.close()
})

test('over a whole company and several cycles the rows agree with the balance and the roster to the cent', async () => {
  const company = await startSandbox({ addOnRows: 'served', people: 60, days: 80 })
  const { sandbox } = company
  const told = (operation: Operation, body: Body) => JSON.parse(sandbox.handle(operation, { service_key: 'sandbox-admin', ...body }).body)
  const rows = itemsIn(told('Analytics', addOn({ filters: [since] })))
  const byPerson = new Map<string, { used: number; addOn: number }>()
  for (const { api_key: key = '', prompts_used, flex_credits_used } of rows) {
    const before = byPerson.get(key) ?? { used: 0, addOn: 0 }
    byPerson.set(key, { used: before.used + Number(prompts_used), addOn: before.addOn + Number(flex_credits_used) })
  }
  for (const { apiKey, promptCreditsUsed } of told('UserPageAnalytics', {}).userTableStats) {
    expect(byPerson.get(apiKey) ?? { used: 0, addOn: 0 }).toEqual({
      used: promptCreditsUsed,
      addOn: Math.max(0, promptCreditsUsed - 50_000),
    })
  }
  const addOnCents = byPerson.values().reduce((sum, one) => sum + one.addOn, 0)
  expect(addOnCents).toBeGreaterThan(0)
  expect(told('GetTeamCreditBalance', {}).addOnCreditsUsed).toBe(Math.round(addOnCents / 100))
  const october = itemsIn(told('Analytics', addOn({ filters: [where('date', 'GE', '2026-10-01'), where('date', 'LE', '2026-10-31')] })))
  expect(october.reduce((sum, row) => sum + Number(row['flex_credits_used']), 0)).toBeGreaterThan(0)
  await company.close()
})

const team = { team_level: true }
const REFUSED: readonly (readonly [Operation, Body, number, string])[] = [
  ['GetUsageConfig', team, 400, 'invalid_argument'],
  ['GetUsageConfig', { user_email: 'ada@example.com' }, 400, 'invalid_argument'],
  ['UsageConfig', { ...team, set_add_on_credit_cap: 5 }, 403, 'permission_denied'],
  ['UsageConfig', { ...team, clear_add_on_credit_cap: true }, 403, 'permission_denied'],
  ['GetTeamCreditBalance', {}, 403, 'permission_denied'],
]

describe.each(WAYS)('%s, on a plan without caps', (_way: string, ask: Ask) => {
  test.each(REFUSED)('%s of %j is refused whatever the key', async (operation, body, status, code) => {
    for (const { secret } of SANDBOX_KEYS) {
      const told = await ask(capless, operation, body, secret)
      expect([told.status, told.body]).toEqual([status, { code, message: `${operation} is not available for this team` }])
    }
    expect(capless.sandbox.store.caps()).toEqual([])
  })

  test.each(['GetUsageConfig', 'UsageConfig', 'GetTeamCreditBalance'] as const)('%s checks the key first', async (operation) => {
    expect(await ask(capless, operation, team, 'nobody')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  })

  test.each<readonly [Operation, Body]>([
    ['UserPageAnalytics', {}],
    ['CascadeAnalytics', { query_requests: [{ cascade_runs: {} }] }],
    ['Analytics', addOn()],
  ])('%s still works, with credits, and asks for its permission', async (operation, body) => {
    const told = await ask(capless, operation, body)
    expect(told.status).toBe(200)
    expect(JSON.stringify(told.body)).toMatch(/promptCreditsUsed|promptsUsed|flex_credits_used/)
    expect(told.body).toEqual((await ask(served, operation, body)).body)
    const other = SANDBOX_KEYS.find(({ permissions }) => !permissions.some((one) => one === NEEDED[operation]))?.secret ?? ''
    expect((await ask(capless, operation, body, other)).status).toBe(403)
  })
})
