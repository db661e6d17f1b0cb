// Approvals from end to end: they release the changes that were shown and no others.
import { describe, expect, test } from 'vitest'
import { DEFAULT_GUARDS } from '../../../src/core/model/change.ts'
import { DAY, short } from '../../support/declare.ts'
import { approve, capsOf, later, worldUnder } from '../../support/living.ts'
import { type Declared, testWorld, type World } from '../../support/world.ts'

const COPIES = { capSemantics: 'fan-out' } as const
const COPIED = { capSemantics: 'copied' } as const

const holdOf = ({ planned }: Awaited<ReturnType<World['cycle']>>): string => planned.plan.holds[0]?.id ?? ''
const states = (one: World): readonly string[] => one.ledger.approvals().map(({ state }) => state)

describe('an approval', () => {
  test('is spent once its changes are written, also where a clear shows the inherited cap', async () => {
    const one = await testWorld({ people: 8, switches: { capReads: 'inherited', ...COPIES }, config: { capReads: 'inherited', ...COPIED } })
    await one.cycle({ caps: { team: 50 } })
    const { planned } = await one.cycle({ caps: { p001: 50 } })
    approve(one, planned.plan.holds.find(({ people }) => people === 7)?.id)
    await one.cycle()
    expect(one.caps()).toEqual({ team: 50, p001: 50 })
    await one.cycle()
    expect(states(one)).toEqual(['spent'])
  })

  test('releases the clear that its team write reveals, which the plan has shown in the same hold', async () => {
    const one = await testWorld({ people: 12, switches: { capReads: 'inherited' }, config: { capReads: 'inherited' } })
    for (const name of ['team', 'p002']) one.foreign(name, 500)
    const report = await one.cycle({ caps: { team: 200, p002: 'none', p003: 'none' } })
    const { changes, holds } = report.planned.plan
    expect(changes.map(({ scope, from, to }) => [short(scope), from, to])).toEqual([
      ['team', 500, 200],
      ['p002', 500, 'none'],
      ['p003', 500, 'none'],
    ])
    expect(holds).toMatchObject([{ people: 12, changes: { length: 3 } }])
    const id = holdOf(report)
    approve(one, id)
    const { applied } = await one.cycle()
    expect([...(applied?.tried.values() ?? [])].map(({ scope, released }) => [short(scope), released?.id])).toEqual([
      ['team', id],
      ['p002', id],
    ])
    expect(one.caps()).toEqual({ team: 200 })
    await one.cycle()
    expect(states(one)).toEqual(['spent'])
  })

  test('is not needed for a person who has left the protected, where their change was shown before', async () => {
    const one = await testWorld({ people: 12, caps: capsOf(3, 400) })
    const protect = ['p001', 'p002']
    await one.cycle({ caps: { ...capsOf(3, 400), p001: 300 }, protect })
    // The hold is gone for a while, as when its cap cannot be read.
    await one.cycle({ caps: capsOf(3, 400), protect })
    const { after } = await one.cycle({ caps: capsOf(2, 300) })
    expect(one.caps()).toMatchObject({ p001: 300, p002: 400 })
    expect(after.plan.holds.map(({ changes }) => changes.map(({ scope }) => short(scope)))).toEqual([['p002']])
    one.restart()
    await one.cycle()
    expect(one.caps()).toMatchObject({ p001: 300, p002: 400 })
  })

  test.each([
    ['in audit mode', 'mode is audit', (one: World) => one.restart({ mode: 'audit' })],
    [
      'while paused',
      'paused until ',
      (one: World) => one.ledger.savePause({ untilAt: one.clock.now() + 5 * DAY, reason: 'wait', pausedAt: one.clock.now() }),
    ],
  ])('is not matched %s, and void when the people have grown meanwhile', async (_row, why, rest) => {
    const one = await worldUnder({ caps: { team: 5000 }, protect: ['p001'] }, { people: 6 })
    const lowered: Declared = { caps: { team: 5 }, protect: ['p001'] }
    const id = holdOf(await one.cycle(lowered))
    approve(one, id)
    rest(one)
    const { planned } = await one.cycle()
    expect(planned.plan.holds).toMatchObject([
      { id, release: 'later', message: expect.stringContaining(`; nothing is written now: ${why}`) },
    ])
    for (let number = 0; number < 60; number += 1) one.addPerson(`q${number}`)
    await one.clock.pass(6 * DAY)
    one.restart({ mode: 'enforce' })
    expect((await one.cycle()).result).toBe('held')
    expect({ caps: one.caps(), states: states(one) }).toEqual({ caps: { team: 5000 }, states: ['void'] })
    approve(one, id)
    await one.cycle()
    expect(one.caps()).toEqual({ team: 5 })
  })

  test('given to a run that was then declined releases nothing', async () => {
    const one = await worldUnder({ caps: { team: 500, ...capsOf(10, 1000) } }, { people: 20 })
    const lowered: Declared = { caps: { team: 500, ...capsOf(10, 900) } }
    const id = holdOf(await one.cycle(lowered))
    await one.cycle(lowered, { approve: [id], confirm: async () => undefined })
    await one.cycle()
    expect({ cap: one.caps()['p001'], states: states(one) }).toEqual({ cap: 1000, states: [] })
    await one.cycle(lowered, { approve: [id], confirm: async () => ({}) })
    expect({ cap: one.caps()['p001'], states: states(one) }).toEqual({ cap: 900, states: ['spent'] })
  })

  test('that is spent releases nothing when its hold comes back', async () => {
    const one = await testWorld({ people: 20 })
    const [before, lowered]: readonly Declared[] = [capsOf(10, 1000), capsOf(10, 900)].map((caps) => ({ caps: { team: 500, ...caps } }))
    const goneAt = (): number | undefined => Object.values(one.ledger.fact('holdsShown') ?? {})[0]?.goneAt
    await one.cycle(before)
    const id = holdOf(await one.cycle(lowered))
    expect(goneAt()).toBeUndefined()
    await one.cycle(lowered, { approve: [id], confirm: async () => ({}) })
    expect(goneAt()).toBeLessThanOrEqual(one.clock.now())
    await one.cycle(before)
    expect(holdOf(await one.cycle(lowered))).toBe(id)
    expect(goneAt()).toBeUndefined()
  })

  test('that came with its change, was withdrawn, and is listed again releases what was shown since', async () => {
    for (const day of [12, 17]) {
      const one = await testWorld({ people: 20 })
      const before: Declared = { caps: { team: 900, p001: 700 }, protect: ['p001'] }
      const lowered: Declared = { caps: { team: 900, p001: 600 }, protect: ['p001'] }
      await one.cycle(before)
      const id = holdOf(await one.cycle(lowered, { confirm: async () => undefined }))
      one.restart()
      await one.cycle({ ...before, approvals: [id] })
      for (let passed = 0; passed < day; passed += 1) {
        await one.cycle(lowered)
        await one.clock.pass(DAY)
      }
      const { planned } = await one.cycle({ ...lowered, approvals: [id] })
      expect(planned.plan.approvals).toMatchObject([{ state: 'pending', releases: [{ to: 600 }] }])
      expect(one.caps()['p001']).toBe(600)
    }
  })

  test('that has ended keeps nothing but its id after a day', async () => {
    const one = await worldUnder({ caps: { team: 500, ...capsOf(5, 1000) } }, { people: 20 })
    approve(one, holdOf(await one.cycle({ caps: { team: 500, ...capsOf(5, 900) } })))
    await one.cycle()
    await one.cycle()
    expect(one.ledger.approvals()).toMatchObject([{ state: 'spent', released: [{}, {}, {}, {}, {}] }])
    await later(one, DAY + 1)
    expect(one.ledger.approvals()).toEqual([
      {
        id: expect.any(String),
        via: 'command',
        approvedAt: expect.any(Number),
        releasedAt: expect.any(Number),
        people: 5,
        state: 'spent',
        released: [],
      },
    ])
  })
})

describe('releasing one hold leaves the other as it is', () => {
  test('for a day from the release on, however long the plan has been under way', async () => {
    const one = await worldUnder({ caps: { team: 5000, ...capsOf(28, 1000) } }, { people: 100 })
    const lowered = { team: 5000, ...capsOf(28, 0), ...capsOf(25, 900) }
    // The first cap of p050 goes out at once: the plan begins.
    const first = await one.cycle({ caps: { ...lowered, p050: 6000 } })
    const [a, b] = first.planned.plan.holds
    expect([a?.guards, b?.guards]).toEqual([['maxAffected', 'maxLowered'], ['maxAffected']])
    await one.clock.pass(DAY - 600_000)
    approve(one, a?.id)
    await one.cycle()
    expect((await later(one, 900_000)).after.plan.holds).toMatchObject([{ id: b?.id }])
    one.restart({ mode: 'audit' })
    await one.cycle()
    one.restart({ mode: 'enforce' })
    await one.cycle()
    expect(one.caps()).toMatchObject({ p001: 900, p026: 1000 })
  })

  test('and holds no later change, such as a raise of a protected person', async () => {
    const guards = { ...DEFAULT_GUARDS, maxAffected: 'off', maxLowered: 'off' } as const
    const one = await testWorld({ people: 20, addOn: 1000, config: { guards } })
    const declared = (team: number, p017: number, more = {}): Declared => ({ caps: { team, p017, ...more }, protect: ['p001'] })
    await one.cycle(declared(5000, 6000))
    const [first, second] = (await one.cycle(declared(50, 60_000))).planned.plan.holds
    expect([first?.guards, second?.guards]).toEqual([['protected'], ['maxRaise']])
    approve(one, first?.id)
    expect((await one.cycle()).after.plan.holds).toMatchObject([{ id: second?.id }])
    expect((await one.cycle(declared(50, 60_000, { p001: 60 }))).after.plan.holds).toMatchObject([{ id: second?.id }])
    expect(one.caps()['p001']).toBe(60)
  })
})
