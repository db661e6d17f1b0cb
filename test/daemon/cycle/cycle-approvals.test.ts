// Approvals from end to end: they release what was shown and nothing else, and only while something may be written.
import { describe, expect, test } from 'vitest'
import { DAY, email } from '../../support/declare.ts'
import { type Declared, testWorld, type World } from '../../support/world.ts'

const person = (number: number): string => `p${String(number).padStart(3, '0')}`
const capsOf = (count: number, cap: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [person(index + 1), cap]))

const approve = (one: World, id: string): void =>
  one.ledger.saveApproval({ id, via: 'command', approvedAt: one.clock.now(), state: 'pending', released: [] })

const holdOf = ({ planned }: Awaited<ReturnType<World['cycle']>>): string => planned.plan.holds[0]?.id ?? ''
const states = (one: World): readonly string[] => one.ledger.approvals().map(({ state }) => state)

describe('an approval', () => {
  test('releases a change as it was shown, and not from what somebody else has set since', async () => {
    const storm = { is: false }
    const one = await testWorld({
      people: 20,
      wrapTransport: (inner) => ({
        send: async (operation, body, options) =>
          storm.is && operation === 'UsageConfig' && body['user_email'] === email('p001')
            ? { status: 503, headers: {}, body: '{"error":"no"}' }
            : inner.send(operation, body, options),
      }),
    })
    await one.cycle({ caps: { team: 500, ...capsOf(5, 1000) } })
    const lowered: Declared = { caps: { team: 500, ...capsOf(5, 900) } }
    approve(one, holdOf(await one.cycle(lowered)))
    storm.is = true
    await one.cycle()
    expect(one.caps()).toMatchObject({ p001: 1000, p002: 900 })
    storm.is = false
    one.foreign('p001', 60_000)
    const { planned } = await one.cycle({ ...lowered, protect: ['p001'] })
    expect(planned.plan.holds).toMatchObject([{ guards: ['protected'] }])
    expect(one.caps()['p001']).toBe(60_000)
  })

  test.each([
    ['in audit mode', 'mode is audit', (one: World) => one.restart({ mode: 'audit' })],
    [
      'while paused',
      'paused until ',
      (one: World) => one.ledger.savePause({ untilAt: one.clock.now() + 5 * DAY, reason: 'wait', pausedAt: one.clock.now() }),
    ],
  ])('is not matched %s, and void when the people have grown meanwhile', async (_row, why, rest) => {
    const one = await testWorld({ people: 6 })
    await one.cycle({ caps: { team: 5000 }, protect: ['p001'] })
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
    const one = await testWorld({ people: 20 })
    await one.cycle({ caps: { team: 500, ...capsOf(10, 1000) } })
    const lowered: Declared = { caps: { team: 500, ...capsOf(10, 900) } }
    const id = holdOf(await one.cycle(lowered))
    await one.cycle(lowered, { approve: [id], confirm: async () => undefined })
    await one.cycle()
    expect({ cap: one.caps()['p001'], states: states(one) }).toEqual({ cap: 1000, states: [] })
    await one.cycle(lowered, { approve: [id], confirm: async () => ({}) })
    expect({ cap: one.caps()['p001'], states: states(one) }).toEqual({ cap: 900, states: ['spent'] })
  })

  test('that is spent leaves a hold that stands no more, and stands again when it is back', async () => {
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

  test('of a shrunken roster does not accept another one', async () => {
    const one = await testWorld({ people: 40 })
    const leave = (from: number, to: number): void => {
      for (let number = from; number <= to; number += 1) one.removePerson(person(number))
    }
    await one.cycle({ caps: { team: 500 } })
    leave(1, 25)
    const id = holdOf(await one.cycle({ caps: { team: 600 } }))
    approve(one, id)
    leave(26, 39)
    await one.cycle()
    expect({ people: one.knowledge.usage?.roster.people.length, states: states(one) }).toEqual({ people: 40, states: ['void'] })
    approve(one, id)
    await one.cycle()
    expect(one.knowledge.usage?.roster.people).toHaveLength(1)
  })

  test('leaves another hold as it is for a day, though its people fall back to what was released', async () => {
    const one = await testWorld({ people: 20, addOn: 1000 })
    const others = { p011: 300, p012: 300, p013: 300, p014: 300, p015: 300 }
    await one.cycle({ caps: { team: 50, ...others, ...capsOf(6, 200) } })
    const { planned } = await one.cycle({ caps: { team: 200, ...others } })
    const [team, clears] = planned.plan.holds
    expect([team?.guards, clears?.guards]).toEqual([['maxRaise'], ['maxAffected', 'maxLowered']])
    approve(one, team?.id ?? '')
    for (let round = 0; round < 3; round += 1) {
      const { after: then } = await one.cycle()
      expect(then.plan.holds).toMatchObject([
        { id: clears?.id, people: 6, message: expect.stringContaining('(before anything was released); approve hold') },
      ])
      await one.clock.pass(DAY / 4)
    }
    expect(one.caps()).toEqual({ team: 200, ...others, ...capsOf(6, 200) })
    approve(one, clears?.id ?? '')
    await one.cycle()
    expect(one.caps()).toEqual({ team: 200, ...others })
  })
})
