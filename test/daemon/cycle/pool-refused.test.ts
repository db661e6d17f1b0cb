// Pools and members that policy cannot have, as it turns out with the roster: the error is told, nothing is dealt to them, and they count all
// the same, so that no raise takes a sum above the credits.
import { describe, expect, test } from 'vitest'
import { HOUR, type PoolSketch, research } from '../../support/declare.ts'
import { later, worldUnder } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

describe('members', () => {
  test('in two pools count in the sum of both at the cap in force, whatever others set it to', async () => {
    const names = ['ada', 'bob', 'cleo', 'dora', 'eve']
    const one = await testWorld({ people: names, caps: Object.fromEntries(names.map((name) => [name, 100])) })
    const pools: readonly PoolSketch[] = [research(400, ['ada', 'bob', 'cleo', 'dora']), research(200, ['dora', 'eve'], { name: 'other' })]
    const writtenTo = async (dora: number): Promise<readonly string[]> => {
      one.foreign('dora', dora)
      one.forget()
      await later(one, 5 * HOUR, { pools })
      return one.writes()
    }
    expect(await writtenTo(100)).toEqual([])
    expect(await writtenTo(190)).toEqual(['ada 70', 'bob 70', 'cleo 70', 'eve 10'])
    // No figures of use are newer than that lower cap.
    expect(await writtenTo(100)).toEqual([])
    expect(one.inForce()).toEqual({ ada: 70, bob: 70, cleo: 70, dora: 100, eve: 10 })
  })

  test('in two pools without a known cap stop the raises of both', async () => {
    const one = await testWorld({ people: ['ada', 'bob', 'cleo'], caps: { ada: 10, bob: 10 } })
    await one.cycle({ pools: [research(400, ['ada', 'cleo']), research(400, ['bob', 'cleo'], { name: 'other' })] })
    expect(one.caps()).toEqual({ ada: 10, bob: 10 })
  })

  test('whom policy wants without a cap are rejected, and stop raises', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], groups: { g: ['ada', 'bob'] }, caps: { bob: 100 } })
    const { planned } = await one.cycle({ caps: { ada: 'none' }, pools: [research(1000, { kind: 'groups', ids: ['g'] })] })
    expect(planned.plan.problems).toContainEqual(expect.objectContaining({ code: 'POOL_NONE' }))
    expect(one.caps()).toEqual({ bob: 100 })
  })
})

describe('a pool', () => {
  const tight = research(100, { kind: 'groups', ids: ['grp_r'] }, { min: 50 })
  test('whose group has outgrown its min keeps what was dealt, and takes back what others add to it', async () => {
    const one = await worldUnder({ pools: [tight] }, { people: ['ada', 'bob', 'cleo'], groups: { grp_r: ['ada', 'bob'] } })
    one.setMembers('grp_r', ['ada', 'bob', 'cleo'])
    one.foreign('bob', 900)
    for (let reading = 0; reading < 3; reading += 1) await later(one, HOUR, undefined, { usage: true })
    expect(one.caps()).toEqual({ ada: 50, bob: 50 })
  })
})
