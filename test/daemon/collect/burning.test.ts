// From days of use on a sandbox to the series of /metrics: pace, projection and exhaustion, and what remains of them when reading fails.
import { expect, onTestFinished, test } from 'vitest'
import { viewOf } from '../../../src/daemon/conditions/view.ts'
import { CYCLE, DAY, email, HOUR } from '../../support/declare.ts'
import { live, outage } from '../../support/living.ts'
import { start } from '../../support/metrics.ts'
import { daily, noon, recordPast } from '../../support/use.ts'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const WORKSPACE = { workspace: 'acme' }

/** A company that has used 2,500 credits a day for two months, of which 1,000 are ada's; it goes on for two days. */
async function burning(options: WorldOptions = {}) {
  const config = { intervalMs: HOUR, usageIntervalMs: HOUR }
  const one = await testWorld({ people: ['ada', 'bob', 'cleo', 'dan'], config, ...options })
  recordPast(one, [...daily('ada', 1000, noon(22, 9)), ...daily('bob', 1500, noon(22, 9))])
  one.sandbox.store.setMeta('addOnAvailable', 60_000)
  one.sandbox.reload()
  const life = live(one)
  onTestFinished(() => life.stop())
  life.set({ caps: { team: 100_000 } })
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
  return scrape(viewOf(one.workspace))
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

test('a plan without a balance has a projection, and neither pace nor exhaustion', async () => {
  const one = await burning({ switches: { plan: 'team' } })
  const page = await scrape(one)
  expect(page.series('capkeeper_burn_ratio')).toEqual([])
  expect(page.series('capkeeper_exhaustion_timestamp_seconds')).toEqual([])
  expect(page.series('capkeeper_projected_credits_used')).toHaveLength(3)
})

test('an outage leaves the figures beside their age for 24 h, then the age alone, and caps are kept all the time', async () => {
  const away = { is: false }
  const failing = outage(away)
  const world = await burning({
    wrapTransport: (inner) => ({
      send: (operation, ...rest) =>
        operation === 'GetUsageConfig' || operation === 'UsageConfig'
          ? inner.send(operation, ...rest)
          : failing(inner).send(operation, ...rest),
    }),
  })
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
