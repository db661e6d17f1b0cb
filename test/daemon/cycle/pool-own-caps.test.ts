// Members of pools with grants that are over, in two pools, or protected, who inherit caps: what is in force for them counts, and no write lets the sum
// of a pool above its credits.
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, NOW, type PolicySketch, type PoolSketch, research } from '../../support/declare.ts'
import { answering, writes } from '../../support/faults.ts'
import { later, worldUnder } from '../../support/living.ts'
import { testWorld } from '../../support/world.ts'

const RESEARCH = research(5000, ['ada', 'bob'], { max: 400 })

const TIGHT = { ...RESEARCH, credits: 1000, max: 600 }
// Nobody has used anything yet, so nobody knows who is idle: of bob, who was dealt 600, nobody knows it either, and what is in force for him stays.
const UNKNOWN: PolicySketch = { rules: [{ name: 'idle', when: { inactiveDays: 90 }, cap: 5000 }] }
const PROTECTED: PolicySketch = { protect: ['ada'] }

test.each<readonly [string, Readonly<Record<string, number>>, PolicySketch, Readonly<Record<string, number>>]>([
  ['makes way for what is dealt while nobody knows whether a rule goes first', { bob: 500 }, UNKNOWN, { ada: 400, bob: 500 }],
  ['makes way for it where more stood there before', { ada: 2000, bob: 500 }, UNKNOWN, { ada: 400, bob: 500 }],
  ['makes way for it where less stood there before', { ada: 200, bob: 500 }, UNKNOWN, { ada: 400, bob: 500 }],
  ['gives a protected member back what stood there before, where that is less', { ada: 200, bob: 100 }, PROTECTED, { ada: 200, bob: 600 }],
  ['stays for a protected member where nothing stood there: no credits can pay for that', { bob: 100 }, PROTECTED, { ada: 300, bob: 600 }],
])('a grant of a member that is over %s', async (_title, caps, declared, expected) => {
  const grants = [{ on: 'ada', cap: 300, until: NOW + DAY }]
  const one = await worldUnder({ ...declared, grants, pools: [TIGHT] }, { people: ['ada', 'bob'], caps })
  await later(one, 5 * HOUR)
  expect(one.caps()['ada']).toBe(300)
  await later(one, 20 * HOUR)
  expect(one.inForce()).toEqual(expected)
  // All use must have shown.
  await later(one, 5 * HOUR)
  expect(one.inForce()).toEqual(expected)
})

test('a member whom another client lowers as a first cap is written stays so: the credits do not pay for more', async () => {
  const pools = [research(1500, ['ada', 'bob'])]
  const one = await worldUnder({ ...UNKNOWN, caps: { 'group:g': 800 }, pools }, { people: ['ada', 'bob'], groups: { g: ['ada', 'bob'] } })
  one.onCall = ({ operation, body }) => {
    if (operation === 'UsageConfig' && body['user_email'] === 'ada@example.com') one.foreign('ada', 33)
  }
  // Both keep the 800 that they inherit as caps of their own.
  await later(one, HOUR, { ...UNKNOWN, caps: { 'group:g': 2600 }, pools })
  expect(one.inForce()).toEqual({ ada: 33, bob: 800 })
  one.onCall = undefined
  await later(one, HOUR)
  expect(one.inForce()).toEqual({ ada: 33, bob: 800 })
})

test('members in two pools count in the sum of both at the cap in force, whatever others set it to', async () => {
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

test('a pool whose group has outgrown its min keeps what was dealt, and takes back what others add to it', async () => {
  const pools = [research(100, { kind: 'groups', ids: ['grp_r'] }, { min: 50 })]
  const one = await worldUnder({ pools }, { people: ['ada', 'bob', 'cleo'], groups: { grp_r: ['ada', 'bob'] } })
  one.setMembers('grp_r', ['ada', 'bob', 'cleo'])
  one.foreign('bob', 900)
  for (let reading = 0; reading < 3; reading += 1) await later(one, HOUR, undefined, { alone: true })
  expect(one.caps()).toEqual({ ada: 50, bob: 50 })
})

describe('members', () => {
  test.each<readonly [string, PolicySketch, Readonly<Record<string, number>>]>([
    ['the group’s cap goes up', { caps: { 'group:g': 2000 } }, { 'group:g': 2000, ada: 100, bob: 900 }],
    ['the group’s cap goes', { caps: {} }, { ada: 100, bob: 900 }],
    ['their own cap waits', { caps: { 'group:g': 2000, ada: 700 } }, { 'group:g': 2000, ada: 100, bob: 900 }],
    ['credits are left', { caps: { 'group:g': 150 }, pools: [research(1050, ['ada', 'bob'], { max: 900 })] }, { 'group:g': 150, bob: 900 }],
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
