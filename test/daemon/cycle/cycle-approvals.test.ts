// Approvals from end to end: they release the changes that were shown and no others.
import { describe, expect, test } from 'vitest'
import { DAY, type PolicySketch, short } from '../../support/declare.ts'
import { approve, capsOf, later, worldUnder } from '../../support/living.ts'
import { testWorld, type World } from '../../support/world.ts'

const holdOf = ({ planned }: Awaited<ReturnType<World['cycle']>>): string => planned.plan.holds[0]?.id ?? ''
const states = (one: World): readonly string[] => one.ledger.approvals().map(({ state }) => state)

describe('an approval', () => {
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
    const lowered: PolicySketch = { caps: { team: 5 }, protect: ['p001'] }
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
    const lowered: PolicySketch = { caps: { team: 500, ...capsOf(10, 900) } }
    const id = holdOf(await one.cycle(lowered))
    await one.cycle({ caps: { ...lowered.caps, p015: 5 } }, { approve: [id], confirm: async () => undefined })
    await one.cycle(lowered)
    const declared = one.ledger.fact('verifiedDeclared')
    expect({ cap: one.caps()['p001'], states: states(one), declared }).toEqual({ cap: 1000, states: [], declared: 11 })
    await one.cycle(lowered, { approve: [id], confirm: async () => ({}) })
    expect({ cap: one.caps()['p001'], states: states(one) }).toEqual({ cap: 900, states: ['spent'] })
  })

  test('that is spent releases nothing when its hold comes back', async () => {
    const one = await testWorld({ people: 20 })
    const [before, lowered]: readonly PolicySketch[] = [capsOf(10, 1000), capsOf(10, 900)].map((caps) => ({ caps: { team: 500, ...caps } }))
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
      const before: PolicySketch = { caps: { team: 900, p001: 700 }, protect: ['p001'] }
      const lowered: PolicySketch = { caps: { team: 900, p001: 600 }, protect: ['p001'] }
      await one.cycle(before)
      const id = holdOf(await one.cycle(lowered, { confirm: async () => undefined }))
      one.restart()
      await one.cycle({ ...before, approvalIds: [id] })
      for (let passed = 0; passed < day; passed += 1) {
        await one.cycle(lowered)
        await one.clock.pass(DAY)
      }
      const { planned } = await one.cycle({ ...lowered, approvalIds: [id] })
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

test('releasing one hold leaves the other as it is for a day from the release on, however long the plan has been under way', async () => {
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
