// Growth of use: with time, up to the caps, with the same sums in all answers, and from 0 in each cycle.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TEAM, userScope } from '../../src/core/model/scope.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/temporary.ts'

const USE_SOURCES = ['agent', 'autocomplete', 'chat', 'command', 'typing'] as const
type Sandbox = ReturnType<typeof createSandbox>

const DAY = 86_400_000
const ADA = 'ada.lovelace@example.com'
const start = (options: Partial<Parameters<typeof createSandbox>[0]> = {}) => {
  const clock = fakeClock()
  return { clock, sandbox: createSandbox({ clock, company: { people: 60, days: 20 }, ...options }) }
}

const ask = (sandbox: Sandbox, operation: 'UserPageAnalytics' | 'GetTeamCreditBalance') =>
  JSON.parse(sandbox.handle(operation, { service_key: 'sandbox-admin' }).body)

const usedBy = (sandbox: Sandbox): ReadonlyMap<string, number> =>
  new Map(
    ask(sandbox, 'UserPageAnalytics').userTableStats.map((user: { email: string; promptCreditsUsed: number }) => [
      user.email,
      user.promptCreditsUsed,
    ]),
  )

const addOnCents = (used: ReadonlyMap<string, number>): number => used.values().reduce((sum, cents) => sum + Math.max(0, cents - 50_000), 0)

const total = (used: ReadonlyMap<string, number>): number => used.values().reduce((sum, cents) => sum + cents, 0)

describe('growth', () => {
  test('adds use as time passes', async () => {
    const { clock, sandbox } = start()
    const before = total(usedBy(sandbox))
    await clock.advance(3 * DAY)
    expect(total(usedBy(sandbox))).toBeGreaterThan(before)
  })

  test('runs as many times faster as asked', async () => {
    const slow = start({ speed: 1 })
    const fast = start({ speed: 3600 })
    await slow.clock.advance(24_000)
    await fast.clock.advance(24_000)
    expect(slow.sandbox.now() - fast.sandbox.now()).toBe(24_000 - DAY)
    expect(total(usedBy(fast.sandbox))).toBeGreaterThan(total(usedBy(slow.sandbox)))
  })

  test('of a sandbox that starts behind the present catches up with it, and never runs ahead', async () => {
    const { clock, sandbox } = start({ speed: 600, behindMs: DAY })
    expect(clock.now() - sandbox.now()).toBe(DAY)
    await clock.advance(60_000)
    expect(clock.now() - sandbox.now()).toBe(DAY - 599 * 60_000)
    await clock.advance(600_000)
    expect(clock.now() - sandbox.now()).toBe(0)
  })

  test('does not happen with working: false, except for recorded use', async () => {
    const { clock, sandbox } = start({ working: false, company: { people: 10, days: 0 } })
    await clock.advance(5 * DAY)
    expect(total(usedBy(sandbox))).toBe(0)
    sandbox.recordUse(ADA, 61_200)
    expect(usedBy(sandbox).get(ADA)).toBe(61_200)
    expect(ask(sandbox, 'GetTeamCreditBalance').addOnCreditsUsed).toBe(112)
  })
})

describe('caps', () => {
  test('stop the add-on use of that person only, to the cent', async () => {
    const { clock, sandbox } = start()
    sandbox.recordUse(ADA, 50_000)
    const before = usedBy(sandbox).get(ADA) ?? 0
    const cap = Math.ceil((before - 50_000) / 100) + 20
    sandbox.writeCap(userScope(ADA), cap)
    await clock.advance(9 * DAY)
    const used = usedBy(sandbox)
    expect(used.get(ADA)).toBe(50_000 + cap * 100)
    const uncapped = createSandbox({ clock, company: { people: 60, days: 29 } })
    const others = (amounts: ReadonlyMap<string, number>) => [...amounts].filter(([email]) => email !== ADA)
    expect(others(used)).toEqual(others(usedBy(uncapped)))
  })

  test('of the team hold for people without a user or group cap; the seat stays free', async () => {
    const { clock, sandbox } = start({ company: { people: 60, days: 0 } })
    await clock.advance(11 * DAY)
    sandbox.writeCap(TEAM, 10)
    sandbox.writeCap(userScope(ADA), 300)
    await clock.advance(20 * DAY)
    const used = usedBy(sandbox)
    expect(used.get(ADA)).toBeGreaterThan(51_000)
    expect(used.get(ADA)).toBeLessThanOrEqual(80_000)
    const others = [...used].filter(([email]) => email !== ADA).map(([, cents]) => cents)
    expect(Math.max(...others)).toBe(51_000)
  })

  test('of 0 leave a person only the seat', async () => {
    const { clock, sandbox } = start({ company: { people: 60, days: 0 } })
    sandbox.writeCap(TEAM, 0)
    await clock.advance(10 * DAY)
    expect(Math.max(...usedBy(sandbox).values())).toBeLessThanOrEqual(50_000)
  })
})

describe('the figures agree', () => {
  test('add-on use of the balance is the use in the roster beyond the seats', async () => {
    const { clock, sandbox } = start({ company: { people: 60, days: 40 } })
    expect(addOnCents(usedBy(sandbox))).toBeGreaterThan(0)
    for (let day = 0; day < 12; day += 1) {
      expect(ask(sandbox, 'GetTeamCreditBalance').addOnCreditsUsed).toBe(Math.round(addOnCents(usedBy(sandbox)) / 100))
      await clock.advance(DAY)
    }
  })

  test('add-on use stops when the team has none left', async () => {
    const { clock, sandbox } = start()
    sandbox.store.setMeta('addOnAvailable', ask(sandbox, 'GetTeamCreditBalance').addOnCreditsUsed + 50)
    sandbox.reload()
    await clock.advance(9 * DAY)
    const balance = ask(sandbox, 'GetTeamCreditBalance')
    expect(balance.addOnCreditsUsed).toBe(balance.addOnCreditsAvailable)
  })
})

describe('add-on rows', () => {
  type Item = Readonly<Record<string, string>>
  const rowsOf = (sandbox: Sandbox, filters: readonly (readonly [filter: string, value: string])[] = []): readonly Item[] => {
    const query = {
      data_source: 'QUERY_DATA_SOURCE_CASCADE_DATA',
      selections: ['api_key', 'prompts_used', 'flex_credits_used'].map((field) => ({ field, name: field })),
      filters: filters.map(([filter, value]) => ({ name: 'date', filter: `QUERY_FILTER_${filter}`, value })),
    }
    const { body } = sandbox.handle('Analytics', { service_key: 'sandbox-admin', query_requests: [query] })
    return JSON.parse(body).queryResults[0].responseItems.map(({ item }: { item: Item }) => item)
  }

  test('lag behind as analytics do, together with the roster', async () => {
    const switches = { addOnRows: 'served', analyticsDelay: 3 * 3_600_000 } as const
    const { clock, sandbox } = start({ company: { people: 10, days: 0 }, switches, working: false })
    const addOn = () => ask(sandbox, 'GetTeamCreditBalance').addOnCreditsUsed
    sandbox.recordUse(ADA, 70_000)
    expect([rowsOf(sandbox), usedBy(sandbox).get(ADA), addOn()]).toEqual([[], 0, 200])
    await clock.advance(3 * 3_600_000)
    expect(rowsOf(sandbox)).toMatchObject([{ prompts_used: '70000', flex_credits_used: '20000' }])
    expect([usedBy(sandbox).get(ADA), addOn()]).toEqual([70_000, 200])
  })

  test('over a whole company and several cycles agree with the balance and the roster to the cent', () => {
    const { sandbox } = start({ company: { people: 60, days: 80 }, switches: { addOnRows: 'served' } })
    const byPerson = Map.groupBy(rowsOf(sandbox, [['GE', '2026-11-01']]), (row) => row['api_key'])
    const sum = (rows: readonly Item[], field: string) => rows.reduce((so, row) => so + Number(row[field]), 0)
    for (const { apiKey, promptCreditsUsed } of ask(sandbox, 'UserPageAnalytics').userTableStats) {
      const rows = byPerson.get(apiKey) ?? []
      const used = [sum(rows, 'prompts_used'), sum(rows, 'flex_credits_used')]
      expect(used).toEqual([promptCreditsUsed, Math.max(0, promptCreditsUsed - 50_000)])
    }
    const addOn = sum([...byPerson.values()].flat(), 'flex_credits_used')
    expect(addOn).toBeGreaterThan(0)
    expect(ask(sandbox, 'GetTeamCreditBalance').addOnCreditsUsed).toBe(Math.round(addOn / 100))
    const october = rowsOf(sandbox, [
      ['GE', '2026-10-01'],
      ['LE', '2026-10-31'],
    ])
    expect(sum(october, 'flex_credits_used')).toBeGreaterThan(0)
  })
})

test('a new cycle begins with the month: use starts again at 0, caps stay, and add-on credits are recomputed from the last one', async () => {
  const { clock, sandbox } = start({ company: { people: 60, days: 60 } })
  sandbox.writeCap(userScope(ADA), 700)
  sandbox.recordUse('grace.hopper@example.com', 20_000_000)
  const lastAddOn = addOnCents(usedBy(sandbox))
  // Thirty seconds past midnight hardly any person has worked yet.
  await clock.advance(10 * DAY + DAY / 2 + 30_000)
  const balance = ask(sandbox, 'GetTeamCreditBalance')
  expect(balance).toMatchObject({
    billingCycleStart: '2026-12-01T00:00:00Z',
    billingCycleEnd: '2027-01-01T00:00:00Z',
    addOnCreditsUsed: 0,
  })
  expect(total(usedBy(sandbox))).toBeLessThan(10_000)
  expect(sandbox.store.cap(userScope(ADA))).toBe(700)
  // A quarter more than was used, in full thousands.
  expect(balance.addOnCreditsAvailable).toBe(Math.ceil((lastAddOn * 1.25) / 100_000) * 1000)
})

test('a data file continues the company, its caps and its use after restarts, with the rows of one step', async () => {
  const data = join(temporaryFolder(), 'company.db')
  const { clock, sandbox } = start({ data })
  sandbox.writeCap(userScope(ADA), 900)
  sandbox.close()
  for (const hours of [5, 31, 1, 50]) {
    const part = createSandbox({ clock, data, company: { people: 5, seed: 99 } })
    await clock.advance(hours * (DAY / 24))
    part.now()
    part.close()
  }
  const again = createSandbox({ clock, data })
  expect([again.store.people().length, again.store.cap(userScope(ADA))]).toEqual([60, 900])
  const through = start()
  through.sandbox.writeCap(userScope(ADA), 900)
  await through.clock.advance(87 * (DAY / 24))
  expect(usedBy(again)).toEqual(usedBy(through.sandbox))
  for (const source of USE_SOURCES) expect([...again.store.use(source)]).toEqual([...through.sandbox.store.use(source)])
  again.close()
})
