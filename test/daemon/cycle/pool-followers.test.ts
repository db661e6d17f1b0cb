// Members of pools without a dealt cap, who inherit: no team or group write raises them above what the credits pay for.
import { describe, expect, test } from 'vitest'
import { HOUR, research } from '../../support/declare.ts'
import { answering, writes } from '../../support/faults.ts'
import { later } from '../../support/living.ts'
import { type Declared, testWorld } from '../../support/world.ts'

describe('members', () => {
  test.each<readonly [string, Declared, Readonly<Record<string, number>>]>([
    ['the group’s cap goes up', { caps: { 'group:g': 2000 } }, { 'group:g': 2000, ada: 100, bob: 900 }],
    ['the group’s cap goes', { caps: {} }, { ada: 100, bob: 900 }],
    ['their own cap waits', { caps: { 'group:g': 2000, ada: 700 } }, { 'group:g': 2000, ada: 100, bob: 900 }],
    [
      'the credits pay for it',
      { caps: { 'group:g': 150 }, pools: [research(1050, ['ada', 'bob'], { max: 900 })] },
      { 'group:g': 150, bob: 900 },
    ],
  ])('who are protected and inherit a cap keep it when %s, unless the credits pay for more', async (_row, changed, expected) => {
    const one = await testWorld({ people: ['ada', 'bob', 'cleo'], groups: { g: ['ada', 'cleo'] }, caps: { 'group:g': 100 } })
    const kept = { protect: ['ada'], pools: [research(1000, ['ada', 'bob'])] }
    await one.cycle({ ...kept, caps: { 'group:g': 100 } })
    expect(one.caps()).toEqual({ 'group:g': 100, bob: 900 })
    await later(one, 5 * HOUR)
    const sums: number[] = []
    one.onCall = ({ operation }) => {
      const { ada = 'none', bob = 'none' } = one.inForce()
      if (operation === 'UsageConfig') sums.push(ada === 'none' || bob === 'none' ? Number.POSITIVE_INFINITY : ada + bob)
    }
    await one.cycle({ ...kept, ...changed })
    expect(one.caps()).toEqual(expected)
    expect(sums).not.toEqual([])
    expect(Math.max(...sums)).toBeLessThanOrEqual(changed.pools ? 1050 : 1000)
    await one.cycle()
    expect(one.caps()).toEqual(expected)
  })

  test('are not raised by the revert of an ancestor’s foreign change while the pool is above its credits', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], groups: { g: ['ada'] }, caps: { 'group:g': 100 } })
    const kept = { protect: ['ada'], caps: { 'group:g': 100 } }
    await one.cycle({ ...kept, pools: [research(1000, ['ada', 'bob'])] })
    await later(one, 5 * HOUR)
    one.foreign('group:g', 50)
    await one.clock.pass(HOUR / 6)
    // What bob could use until now, and ada until somebody lowered the group, is more than the credits that are left.
    await one.cycle({ ...kept, pools: [research(900, ['ada', 'bob'])] })
    expect(one.caps()).toEqual({ 'group:g': 100, ada: 50, bob: 850 })
  })

  test('who inherit a cap defer an ancestor’s raise until it can be set explicitly for them', async () => {
    const fault = { broken: true }
    const wrapTransport = answering(writes('ada'), 503, fault)
    const one = await testWorld({ people: ['ada', 'bob'], groups: { g: ['ada'] }, caps: { 'group:g': 100 }, wrapTransport })
    const kept = { protect: ['ada'], pools: [research(1000, ['ada', 'bob'])] }
    await one.cycle({ ...kept, caps: { 'group:g': 100 } })
    await one.cycle({ ...kept, caps: { 'group:g': 2000 } })
    expect(one.caps()).toEqual({ 'group:g': 100, bob: 900 })
    fault.broken = false
    await later(one, HOUR)
    expect(one.caps()).toEqual({ 'group:g': 2000, ada: 100, bob: 900 })
  })

  test('whose caps another client cleared defer an ancestor’s raise, also where that is only watched', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], caps: { team: 300, ada: 500 }, config: { onDrift: 'alert' } })
    const pools = [research(1000, ['ada', 'bob'])]
    await one.cycle({ caps: { team: 300 }, pools })
    expect(one.caps()).toEqual({ team: 300, ada: 500, bob: 500 })
    one.foreign('ada', undefined)
    await one.cycle({ caps: { team: 6000 }, pools })
    expect(one.caps()).toEqual({ team: 300, bob: 500 })
    one.foreign('ada', 500)
    await one.cycle()
    expect(one.caps()).toEqual({ team: 6000, ada: 500, bob: 500 })
  })

  test('get a perhaps inherited cap explicitly before the team is raised, also under a rule with an unknown condition', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], caps: { team: 500 }, switches: { capReads: 'inherited' } })
    const pools = [research(1000, ['ada', 'bob'])]
    await one.cycle({ caps: { team: 500 }, pools })
    const sums: number[] = []
    one.onCall = ({ operation }) => {
      const { ada = 'none', bob = 'none' } = one.inForce()
      if (operation === 'UsageConfig') sums.push(Number(ada) + Number(bob))
    }
    const rules = [{ name: 'idle', when: { inactiveDays: 90 }, cap: 5 }]
    await one.cycle({ caps: { team: 900 }, rules, pools })
    expect(one.caps()).toEqual({ team: 900, ada: 500, bob: 500 })
    expect(Math.max(...sums)).toBe(1000)
  })
})
