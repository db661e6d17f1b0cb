// Guards from end to end: a hold keeps its id, is released by exactly that id, and the release is spent once it was verified, also after a crash.
// Which people count, and by which roster.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { answering, cutShort, either, reads, writes } from '../../support/faults.ts'
import { approve, capsOf, later, MINUTE, person } from '../../support/living.ts'
import { type Declared, testWorld, type World, type WorldOptions } from '../../support/world.ts'

const states = (one: World): Record<string, string> => Object.fromEntries(one.ledger.approvals().map(({ id, state }) => [id, state]))

/** Twenty people, six of whom a policy lowers at once: more than 15 %. */
async function held(more: WorldOptions = {}): Promise<{ one: World; id: string; lowered: Declared }> {
  const one = await testWorld({ people: 20, ...more })
  await one.cycle({ caps: { team: 500, ...capsOf(6, 4000) } })
  const lowered = { caps: { team: 500, ...capsOf(6, 1000) } }
  const { planned, result } = await one.cycle(lowered)
  expect(result).toBe('held')
  expect(planned.plan.holds).toHaveLength(1)
  return { one, id: planned.plan.holds[0]?.id ?? '', lowered }
}

describe('a hold', () => {
  test('whose release was half written when the process died goes on with the other half', async () => {
    const { one, id } = await held({ config: { rate: { concurrency: 1 } } })
    approve(one, id)
    const { applied } = await cutShort(one, writes(), undefined, { after: 3, dies: true })
    expect(applied?.interrupted).toBe('stopped')
    expect(states(one)).toEqual({ [id]: 'pending' })
    one.restart()
    expect((await one.cycle()).result).toBe('success')
    expect(one.caps()).toEqual({ team: 500, ...capsOf(6, 1000) })
    expect(states(one)).toEqual({ [id]: 'spent' })
  })

  /** A hold of six people, whose group has ten by now. */
  const grown = async () => {
    const one = await testWorld({ people: 20, groups: { a: Object.keys(capsOf(6)) } })
    await one.cycle({ caps: { 'group:a': 4000 } })
    const { planned } = await one.cycle({ caps: { 'group:a': 1000 } })
    const id = planned.plan.holds[0]?.id ?? ''
    one.setMembers('a', Object.keys(capsOf(10)))
    return { one, id }
  }

  test('that has grown by more than a quarter since it was shown voids the approval', async () => {
    const { one, id } = await grown()
    approve(one, id)
    expect((await one.cycle()).result).toBe('held')
    expect(states(one)).toEqual({ [id]: 'void' })
    expect(one.caps()).toEqual({ 'group:a': 4000 })
  })

  test('that had grown before it was shown last is approved as it was seen then', async () => {
    const { one, id } = await grown()
    await one.cycle()
    approve(one, id)
    expect((await one.cycle()).result).toBe('success')
    expect(one.caps()).toEqual({ 'group:a': 1000 })
  })
})

describe('counting people', () => {
  test('a protected person counts from the present cap, also who follows the team since this plan began', async () => {
    const inherited = { switches: { capReads: 'inherited' }, config: { capReads: 'inherited' } } as const
    const one = await testWorld({ people: 20, ...inherited })
    const protect = ['p001', 'p002']
    await one.cycle({ caps: { team: 1000, p001: 'none', p002: 700, p003: 100 }, protect })
    // The second lowering is held, so the plan goes on.
    await one.cycle({ caps: { team: 4000, p001: 'none', p002: 600, p003: 100 }, protect })
    const { planned } = await one.cycle({ caps: { team: 4000, p001: 1500, p002: 600, p003: 100 }, protect })
    expect(planned.plan.holds.map(({ guards, changes }) => [guards, changes.length])).toEqual([[['protected'], 2]])
    expect(one.inForce()['p001']).toBe(4000)
  })

  test('everybody in a group that policy drops, by its last known members', async () => {
    const one = await testWorld({ people: 20, groups: { a: Object.keys(capsOf(10)) } })
    await one.cycle({ caps: { 'group:a': 1000, p020: 700 } })
    const { result, planned } = await one.cycle({ caps: { p020: 700 } })
    expect(result).toBe('held')
    expect(planned.plan.holds).toMatchObject([{ people: 10 }])
    expect(one.caps()).toMatchObject({ 'group:a': 1000 })
  })

  test('healing is not held, however many it lowers', async () => {
    const one = await testWorld({ people: 20 })
    await one.cycle({ caps: { team: 500, ...capsOf(10, 4000) } })
    for (const name of Object.keys(capsOf(10, 0))) one.foreign(name, 90_000)
    one.foreign('team', 80_000)
    expect((await one.cycle()).result).toBe('success')
    expect(one.caps()).toEqual({ team: 500, ...capsOf(10, 4000) })
  })

  test('a raise beyond the remaining credits is held only by a balance of the last day', async () => {
    const one = await testWorld({ people: ['ada'], addOn: 0 })
    await one.cycle({ caps: { ada: 1000 } })
    await later(one, 23 * 60 * MINUTE, { caps: { ada: 1700 } }, { usage: false })
    expect(one.caps()['ada']).toBe(1000)
    await one.clock.pass(59 * MINUTE)
    const { usage } = one.state
    if (usage) one.state.usage = { ...usage, roster: { ...usage.roster, readAt: one.clock.now() } }
    await later(one, 2 * MINUTE, undefined, { usage: false })
    expect(one.caps()['ada']).toBe(1700)
  })

  test('declared scopes that fall by less go, and the next fall is measured from there', async () => {
    const one = await testWorld({ people: 1000 })
    await one.cycle({ caps: { team: 500, ...capsOf(20, 4000) } })
    expect((await one.cycle({ caps: { team: 500, ...capsOf(12, 4000) } })).result).toBe('success')
    expect((await one.cycle({ caps: { team: 500, ...capsOf(7, 4000) } })).result).toBe('success')
    expect(one.caps()).toEqual({ team: 500, ...capsOf(7, 4000) })
  })

  test('an interrupted plan is counted from where it began', async () => {
    const one = await testWorld({ people: 20, config: { rate: { concurrency: 1 } } })
    await one.cycle({ caps: { team: 500, ...capsOf(6, 4000) } })
    await cutShort(one, writes(), { caps: { team: 500, ...capsOf(6, 4000), ...capsOf(3, 1000) } })
    one.restart()
    const { planned, result } = await one.cycle({ caps: { team: 500, ...capsOf(6, 4000), p001: 1000, ...capsOf(3, 1000, 4) } })
    expect(result).toBe('held')
    expect(planned.plan.holds).toMatchObject([{ guards: ['maxLowered'] }])
  })

  test('a plan that went through, also at once for an edit alone, is not counted again with the next', async () => {
    const one = await testWorld({ people: 20 })
    await one.cycle({ caps: { team: 500, ...capsOf(6, 4000) } })
    const caps = { team: 500, ...capsOf(6, 4000), ...capsOf(3, 1000) }
    const focus = new Set(one.ledger.owned().flatMap(({ scope }) => (scope.kind === 'user' ? [scopeKey(scope)] : [])))
    expect((await one.cycle({ caps }, { focus })).result).toBe('success')
    expect((await one.cycle({ caps: { ...caps, ...capsOf(3, 1000, 4) } }, { focus })).result).toBe('success')
    expect(one.caps()).toEqual({ team: 500, ...capsOf(6, 1000) })
  })
})

describe('a roster that shrinks', () => {
  async function shrunk(left: number): Promise<World> {
    const one = await testWorld({ people: 20, groups: { a: ['p001', 'p002'], b: ['p011'] } })
    await one.cycle({ caps: { team: 500, 'group:a': 1000, 'group:b': 900, p001: 4000 } })
    for (let number = left + 1; number <= 20; number += 1) one.removePerson(person(number))
    return one
  }
  const edited: Declared = { caps: { team: 600, 'group:a': 1000, 'group:b': 900, p001: 3000, p002: 1500 } }

  test('by a third is doubted: lowerings and team or group writes wait, raises go out, the last good roster counts', async () => {
    const one = await shrunk(13)
    const { result, planned } = await one.cycle(edited)
    expect(result).toBe('held')
    expect(one.caps()).toMatchObject({ team: 500, p001: 4000, p002: 1500 })
    expect(planned.plan.holds).toMatchObject([{ guards: ['rosterShrink'] }])
    expect(one.state.usage?.roster.people).toHaveLength(20)
  })

  test('is believed after two agreeing readings ten minutes apart, and not before', async () => {
    const one = await shrunk(13)
    await one.cycle(edited)
    expect((await later(one, 9 * MINUTE)).result).toBe('held')
    expect((await later(one, MINUTE)).result).toBe('success')
    expect(one.caps()).toMatchObject({ team: 600, p001: 3000 })
  })

  test('by more than half is believed only with an approval', async () => {
    const one = await shrunk(8)
    for (let round = 0; round < 3; round += 1) {
      expect((await one.cycle(edited)).result).toBe('held')
      await one.clock.pass(20 * MINUTE)
    }
    approve(one, one.workspace.shown.planned?.plan.holds[0]?.id)
    await one.cycle()
    expect(one.caps()).toMatchObject({ team: 600, p001: 3000 })
    await one.cycle()
    expect(one.state.usage?.roster.people).toHaveLength(8)
    expect(one.state.usage?.doubted).toBeUndefined()
  })

  test('and comes back was never believed', async () => {
    const one = await shrunk(13)
    await one.cycle(edited)
    for (let number = 14; number <= 20; number += 1) one.addPerson(person(number))
    expect((await one.cycle()).result).toBe('success')
    expect(one.state.usage?.doubted).toBeUndefined()
  })

  test('leaves the members of groups as they were, as a limited key shows them empty', async () => {
    const one = await shrunk(13)
    one.setMembers('a', [])
    await one.cycle(edited)
    expect(one.state.usage?.groups.find((group) => group.id === 'a')?.emails).toHaveLength(2)
  })

  test('now and then, as the sandbox’s fault shows it, never makes a wrong count', async () => {
    const one = await testWorld({ people: 20, switches: { faults: { 'short-roster': 0.5 } } })
    one.stormy = false
    await one.cycle({ caps: { team: 500, ...capsOf(4, 4000) } })
    one.stormy = true
    for (let round = 0; round < 10; round += 1) {
      await one.cycle()
      expect(one.state.usage?.roster.people).toHaveLength(20)
      await one.clock.pass(MINUTE)
    }
    expect(one.caps()).toEqual({ team: 500, ...capsOf(4, 4000) })
  })
})

describe('readings that fail', () => {
  test('in number hold all but raises of people whose cap is known', async () => {
    const fault = { broken: false }
    const unread = either(...[10, 20, 30, 40, 50, 60].map((number) => reads(person(number))))
    // Slow enough that others are read between the attempts, which is no outage.
    const one = await testWorld({ people: 60, rate: 10, wrapTransport: answering(unread, 500, fault) })
    await one.cycle({ caps: { team: 500, ...capsOf(60, 1000) } })
    fault.broken = true
    const { result, planned } = await one.cycle({ caps: { team: 600, ...capsOf(60, 1000), p011: 900, p012: 1100 } })
    expect(result).toBe('partial')
    expect(planned.plan.holds).toMatchObject([{ guards: ['readQuality'] }])
    expect(one.caps()).toMatchObject({ team: 500, p011: 1000, p012: 1100 })
  })

  test('of the team’s cap hold even alone', async () => {
    const fault = { broken: false }
    const one = await testWorld({ people: 40, wrapTransport: answering(reads('team'), 500, fault) })
    await one.cycle({ caps: { team: 500, ...capsOf(3, 1000) } })
    fault.broken = true
    const { planned } = await one.cycle({ caps: { team: 500, ...capsOf(3, 1000), p001: 900 } })
    expect(planned.plan.holds).toMatchObject([{ guards: ['readQuality'] }])
    fault.broken = false
    expect((await later(one, 10 * MINUTE)).result).toBe('success')
  })

  test('in small number hold nothing, and only the team cap waits for whom it would leave short', async () => {
    const one = await testWorld({ people: 40, wrapTransport: answering(either(reads('p011'), reads('p012')), 500) })
    const { result, planned } = await one.cycle({ caps: { team: 500, ...capsOf(20, 1000) } })
    expect(result).toBe('partial')
    expect(Object.keys(one.caps())).toHaveLength(18)
    expect(planned.plan.changes.find(({ scope }) => scope.kind === 'team')?.disposition).toMatchObject({ kind: 'deferred', code: 'unread' })
  })
})
