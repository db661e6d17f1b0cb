// Raises beyond the remaining credits, by the balance of the service.
import { describe, expect, test } from 'vitest'
import { testWorld, type World, type WorldOptions } from '../../support/world.ts'

const LOW = { caps: { team: 500, ada: 1000 } }
const HIGH = { caps: { team: 500, ada: 1700 } }

async function raised(options: WorldOptions): Promise<World> {
  const one = await testWorld(options)
  await one.cycle(LOW)
  await one.cycle(HIGH)
  return one
}

describe('a raise', () => {
  test('beyond the remaining credits is held, shown, and written with an approval', async () => {
    const one = await raised({ addOn: 600 })
    expect(one.caps()['ada']).toBe(1000)
    const [hold] = one.workspace.shown.planned?.plan.holds ?? []
    expect(hold?.message).toContain(
      '1 of 3 people would be raised by 700 credits in all, the limit is 600 (100 % of the 600 add-on credits remaining)',
    )
    await one.cycle(undefined, { approve: [hold?.id ?? ''] })
    expect(one.caps()['ada']).toBe(1700)
  })

  test('within them is written', async () => expect((await raised({ addOn: 700 })).caps()['ada']).toBe(1700))

  test('is written where the plan has no balance', async () =>
    expect((await raised({ addOn: 0, switches: { plan: 'team' } })).caps()['ada']).toBe(1700))

  test('that reverts is written whatever remains, for any number of people', async () => {
    const one = await testWorld({ people: 20, addOn: 0 })
    await one.cycle({ caps: { team: 5000 } })
    one.foreign('team', 1)
    expect((await one.cycle()).result).toBe('success')
    expect(one.caps()).toEqual({ team: 5000 })
  })

  test('is not held by a balance that is older than a day', async () => {
    const one = await testWorld({ addOn: 0 })
    await one.cycle(LOW)
    await one.clock.pass(23 * 3_600_000)
    await one.cycle(HIGH, { usage: false })
    expect(one.caps()['ada']).toBe(1000)
    await one.clock.pass(3_600_000 - 60_000)
    const { usage } = one.state
    if (usage?.balance) one.state.usage = { ...usage, roster: { ...usage.roster, readAt: one.clock.now() } }
    await one.clock.pass(120_000)
    await one.cycle(undefined, { usage: false })
    expect(one.caps()['ada']).toBe(1700)
  })
})
