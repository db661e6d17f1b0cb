// From days of use on a sandbox to the series of /metrics: pace, projection and exhaustion, and what remains of them when reading fails.
import { expect, test } from 'vitest'
import { CYCLE, DAY, email, HOUR } from '../../support/declare.ts'
import { edited, failingLedger } from '../../support/faults.ts'
import { capsOf, loopOver, MINUTE, outage, person } from '../../support/living.ts'
import { start } from '../../support/metrics.ts'
import { daily, midnight, noon, recordPast } from '../../support/use.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const WORKSPACE = { workspace: 'acme' }

/** A company that has used 2,500 credits a day for two months, of which 1,000 are ada's; it goes on for two days. */
async function burning(options: WorldOptions = {}) {
  const config = { intervalMs: HOUR, usageIntervalMs: HOUR }
  const one = await testWorld({ people: ['ada', 'bob', 'cleo', 'dan'], config, ...options })
  recordPast(one, [...daily('ada', 1000, noon(22, 9)), ...daily('bob', 1500, noon(22, 9))])
  one.sandbox.store.setMeta('addOnAvailable', 60_000)
  one.sandbox.reload()
  loopOver(one, { caps: { team: 100_000 } })
  for (let day = 0; day < 2; day += 1) {
    await one.clock.pass(DAY / 2)
    one.sandbox.recordUse(email('ada'), 100_000)
    one.sandbox.recordUse(email('bob'), 150_000)
    await one.clock.pass(DAY / 2)
  }
  return one
}

/** The page as a scrape of now finds it. */
async function scrape(one: World) {
  const { clock, scrape } = start()
  await clock.advance(one.clock.now() - clock.now())
  return scrape(one.view())
}

test('pace, projection and exhaustion follow from days of use', async () => {
  const one = await burning()
  const page = await scrape(one)
  expect(page.value('capkeeper_prompt_credits_used', WORKSPACE)).toBe(21 * 2500)
  const seats = (page.value('capkeeper_seats', WORKSPACE) ?? 0) * (page.value('capkeeper_prompt_credits_per_seat', WORKSPACE) ?? 0)
  const even = (seats + 60_000) / 30
  for (const window of ['24h', '3d', '7d']) {
    const perDay = (page.value('capkeeper_burn_ratio', { ...WORKSPACE, window }) ?? Number.NaN) * even
    expect(Math.abs(perDay - 2500), window).toBeLessThan(500)
  }
  const end = (percentile: string) => page.value('capkeeper_projected_credits_used', { ...WORKSPACE, percentile }) ?? Number.NaN
  expect(Math.abs(end('50') - 30 * 2500)).toBeLessThan(5000)
  expect(end('10')).toBeLessThanOrEqual(end('50'))
  expect(end('50')).toBeLessThanOrEqual(end('90'))
  expect(page.value('capkeeper_credits_burned_total', WORKSPACE)).toBe(5000)
  expect(page.value('capkeeper_model_credits_used', { ...WORKSPACE, model: 'Large', mode: 'CONVERSATIONAL_PLANNER_MODE_DEFAULT' })).toBe(
    19 * 2500,
  )
})

test('when the add-on credits run out within the cycle there is an instant for it, and else none', async () => {
  const one = await burning()
  const runsOutAt = async (available: number) => {
    one.sandbox.store.setMeta('addOnAvailable', available)
    one.sandbox.reload()
    await one.clock.pass(2 * HOUR)
    return (await scrape(one)).value('capkeeper_exhaustion_timestamp_seconds', WORKSPACE)
  }
  const addOnUsed = (await scrape(one)).value('capkeeper_addon_credits_used', WORKSPACE) ?? 0
  const at = (await runsOutAt(addOnUsed + 5000)) ?? Number.NaN
  expect(at * 1000).toBeGreaterThan(one.clock.now())
  expect(at * 1000).toBeLessThan(CYCLE.endAt)
  expect(await runsOutAt(addOnUsed + 500_000)).toBeUndefined()
})

test('credits burned never fall, however long the first sweep of a new process takes', async () => {
  const one = await testWorld({ people: 60, rate: 0.4, caps: capsOf(60) })
  recordPast(one, [{ who: 'p001', at: noon(10), credits: 100 }])
  const begin = () => loopOver(one, { caps: capsOf(60) })
  const life = begin()
  await one.clock.pass(HOUR)
  recordPast(one, [{ who: 'p001', at: one.clock.now(), credits: 700 }])
  await one.clock.pass(2 * HOUR)
  await life.stop()
  one.restart()
  begin()
  for (let minute = 0; minute < 5; minute += 1) {
    expect((await scrape(one)).value('capkeeper_credits_burned_total', WORKSPACE)).toBe(700)
    await one.clock.pass(MINUTE)
  }
})

test('credits burned count on over a restart and a new cycle, for the team and its groups, and are kept by day and person', async () => {
  const config = { intervalMs: HOUR, usageIntervalMs: HOUR }
  const one = await testWorld({ people: ['ada', 'bob'], groups: { a: ['ada'] }, config })
  const begin = () => loopOver(one, { caps: { team: 500, 'group:a': 900 } })
  const burnedAfter = async (ms: number, uses: Readonly<Record<string, number>> = {}) => {
    for (const [who, amount] of Object.entries(uses)) one.sandbox.recordUse(email(who), amount * 100)
    await one.clock.pass(ms)
    return one.view().use?.burned
  }
  one.sandbox.recordUse(email('ada'), 4000)
  const life = begin()
  expect(await burnedAfter(MINUTE)).toEqual({ team: 0, groups: { a: 0 } })
  expect(await burnedAfter(2 * HOUR, { ada: 7, bob: 2 })).toEqual({ team: 9, groups: { a: 7 } })
  await life.stop()
  one.restart()
  begin()
  expect(await burnedAfter(DAY)).toEqual({ team: 9, groups: { a: 7 } })
  expect(await burnedAfter(2 * HOUR, { bob: 1 })).toEqual({ team: 10, groups: { a: 7 } })
  await one.clock.pass(CYCLE.endAt - one.clock.now() + HOUR)
  expect(await burnedAfter(2 * HOUR, { ada: 3 })).toEqual({ team: 13, groups: { a: 10 } })
  const sums = (from: number, until: number) => one.ledger.useByPerson({ fromAt: midnight(1, from), untilAt: midnight(1, until) })
  expect(await sums(11, 12)).toEqual([
    { email: email('ada'), used: 7 },
    { email: email('bob'), used: 3 },
  ])
  expect(await sums(12, 13)).toEqual([{ email: email('ada'), used: 3 }])
})

test('credits burned wait while the roster is doubted, and are added afterwards', async () => {
  const one = await testWorld({ people: 20, config: { usageIntervalMs: 20 * MINUTE } })
  loopOver(one, { caps: { team: 500 } })
  await one.clock.pass(MINUTE)
  for (let number = 12; number <= 20; number += 1) one.removePerson(person(number))
  one.sandbox.recordUse(email('p001'), 500)
  await one.clock.pass(25 * MINUTE)
  expect(one.view().use?.burned.team).toBe(0)
  await one.clock.pass(25 * MINUTE)
  expect(one.view().use?.burned.team).toBe(5)
})

test('a hundred models are shown, the most used first, and the others as one, also of a cycle of a year', async () => {
  const year = (text: string): string => text.replace('"2026-11-01', '"2026-01-01')
  const one = await testWorld({ people: ['ada'], wrapTransport: edited(() => true, year) })
  recordPast(
    one,
    Array.from({ length: 130 }, (_, index) => ({ who: 'ada', at: noon(3, 2), model: `m${index}`, mode: 'X', credits: index + 1 })),
  )
  loopOver(one, { caps: { team: 500 } })
  await one.clock.pass(MINUTE)
  const models = one.view().use?.models ?? []
  expect(models[0]).toEqual({ model: 'm129', mode: 'X', used: 130 })
  expect(models[100]).toEqual({ model: 'other', mode: 'other', used: 465 })
})

test.each([false, true])('use whose record was committed and not answered (%s) is not added twice', async (isLost) => {
  const lost = { is: false }
  const one = await testWorld({
    people: ['ada', 'bob'],
    // Without an answer the memory is old: the next load shows what was recorded.
    wrapLedger(real) {
      let old: unknown
      return {
        ...real,
        fact: (name) => (name === 'burned' && old ? (old as never) : real.fact(name)),
        async load() {
          old = undefined
          await real.load()
        },
        async saveBurn(step) {
          const before = real.fact('burned')
          await real.saveBurn(step)
          if (!lost.is) return
          lost.is = false
          old = before
          return failingLedger(() => true)(real).saveBurn(step)
        },
      }
    },
  })
  recordPast(one, [{ who: 'ada', at: noon(10), credits: 100 }])
  loopOver(one, { caps: { team: 5000 } })
  await one.clock.pass(HOUR)
  recordPast(one, [{ who: 'ada', at: one.clock.now(), credits: 700 }])
  lost.is = isLost
  await one.clock.pass(HOUR)
  expect(lost.is).toBe(false)
  expect(one.ledger.fact('burned')?.team).toBe(700)
  const days = await one.ledger.useByPerson({ fromAt: CYCLE.startAt, untilAt: CYCLE.endAt })
  expect(days).toEqual([{ email: email('ada'), used: 700 }])
})

test('a plan without a balance has a projection, and neither pace nor exhaustion', async () => {
  const one = await burning({ switches: { plan: 'team' } })
  const page = await scrape(one)
  expect(page.series('capkeeper_burn_ratio')).toEqual([])
  expect(page.series('capkeeper_exhaustion_timestamp_seconds')).toEqual([])
  expect(page.series('capkeeper_projected_credits_used')).toHaveLength(3)
})

test('an outage leaves the figures beside their age for 24 h, then the age alone, and caps are kept all the time', async () => {
  const away = { is: false }
  const world = await burning({ wrapTransport: outage(away, (operation) => operation !== 'GetUsageConfig' && operation !== 'UsageConfig') })
  away.is = true
  await world.clock.pass(20 * HOUR)
  const shown = await scrape(world)
  expect(shown.series('capkeeper_projected_credits_used')).toHaveLength(3)
  expect(shown.value('capkeeper_usage_age_seconds', WORKSPACE)).toBeGreaterThan(18 * 3600)
  world.foreign('team', 5)
  await world.clock.pass(5 * HOUR)
  expect(world.caps()).toEqual({ team: 100_000 })
  const gone = await scrape(world)
  for (const name of ['burn_ratio', 'projected_credits_used', 'model_credits_used', 'exhaustion_timestamp_seconds', 'people']) {
    expect(gone.series(`capkeeper_${name}`), name).toEqual([])
  }
  expect(gone.value('capkeeper_credits_burned_total', WORKSPACE)).toBe(5000)
})
