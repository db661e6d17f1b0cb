// Rules over people from end to end: writes, changes of the roster over one and two readings, restarts, a doubted roster, and guards.
import { describe, expect, test } from 'vitest'
import { email, type PolicySketch } from '../../support/declare.ts'
import { edited } from '../../support/faults.ts'
import { loopOver, MINUTE, person } from '../../support/living.ts'
import { testWorld, type World } from '../../support/world.ts'

function setRole(world: World, name: string, role: string): void {
  const person = world.sandbox.store.person(email(name))
  if (!person) throw new Error(`nobody is called ${name}`)
  world.sandbox.store.savePerson({ ...person, role })
  world.sandbox.reload()
}

/** Twenty people, of whom p001 and p002 are guests and all others members. */
async function company(more: Parameters<typeof testWorld>[0] = {}): Promise<World> {
  const world = await testWorld({ people: 20, ...more })
  for (let index = 1; index <= 20; index += 1) setRole(world, person(index), index <= 2 ? 'guest' : 'member')
  return world
}

const GUESTS = { caps: { team: 500 }, rules: [{ name: 'guests', when: { role: 'guest' }, cap: 100, reason: 'their own budget' }] } as const

describe('a rule', () => {
  test('lets go of a person after two readings that agree, as if it had been deleted', async () => {
    const one = await company()
    await one.cycle(GUESTS)
    setRole(one, 'p001', 'member')
    await one.cycle()
    expect(one.caps()['p001']).toBe(100)
    await one.cycle(undefined, { alone: false })
    expect(one.caps()['p001']).toBe(100)
    await one.cycle()
    expect(one.caps()).toEqual({ team: 500, p002: 100 })
    await one.cycle()
    expect(one.ledger.owned().map(({ scope }) => scope)).not.toContainEqual({ kind: 'user', email: email('p001') })
  })

  test.each([
    ['', false],
    [', nor any before a restart', true],
  ])(
    'takes in, and lets go of, a person after two readings that agree, also where no plan looked at the first%s',
    async (_row, restarts) => {
      const one = await company({ config: { intervalMs: 45 * MINUTE, usageIntervalMs: 20 * MINUTE } })
      const life = loopOver(one, GUESTS)
      await one.clock.pass(10 * MINUTE)
      setRole(one, 'p001', 'member')
      setRole(one, 'p003', 'guest')
      await one.clock.pass(15 * MINUTE)
      expect(one.caps()).toEqual({ team: 500, p001: 100, p002: 100 })
      if (restarts) {
        await life.stop()
        one.restart()
        loopOver(one, GUESTS)
      }
      await one.clock.pass(restarts ? MINUTE : 16 * MINUTE)
      expect(one.caps()).toEqual({ team: 500, p002: 100, p003: 100 })
    },
  )

  test('keeps the caps in force of people whose row stops showing use', async () => {
    const silent = { is: false }
    const wrapTransport = edited(
      () => silent.is,
      (text) => text.replaceAll(/"role":"[^"]*",?/g, ''),
    )
    const one = await company({ wrapTransport })
    await one.cycle(GUESTS)
    silent.is = true
    for (let round = 0; round < 3; round += 1) await one.cycle()
    expect(one.caps()).toEqual({ team: 500, p001: 100, p002: 100 })
  })

  test('keeps the caps in force while active days cannot be read', async () => {
    const one = await company()
    const rules = [{ when: { activeDays: { below: 5, within: 30 } }, cap: 50 }]
    await one.cycle({ caps: { team: 500 }, rules })
    expect(one.caps()).toEqual({ team: 500 })
  })
})

describe('a people file', () => {
  /** Ten people, of whom those in `blank` have an empty cell. */
  async function listed() {
    const blank = new Set<string>()
    const one = await testWorld({
      people: 10,
      config: { directory: { file: 'people.csv', id: 'email', columns: ['unit'] } },
      parts: {
        async readPeopleFile(_settings, emails) {
          const people = new Map(emails.map((address) => [address, { unit: blank.has(address) ? '' : 'Research' }]))
          return { digest: [...blank].join(), people, others: [] }
        },
      },
    })
    const pass = async (times: number, ...policy: Parameters<World['cycle']>) => {
      for (let time = 0; time < times; time += 1) {
        await one.clock.pass(15 * MINUTE)
        await one.cycle(...policy)
      }
    }
    const cut = (...numbers: readonly number[]) => numbers.map((number) => blank.add(email(person(number))))
    return { one, pass, cut }
  }

  const capOf = (when: NonNullable<PolicySketch['rules']>[number]['when']) => ({ caps: { team: 500 }, rules: [{ when, cap: 100 }] })

  test('that lost people does not count because a doubted roster lacks the same people', async () => {
    const { one, pass, cut } = await listed()
    await pass(2, capOf({ attributes: { columns: { unit: '' } } }))
    cut(1, 2, 3)
    for (const number of [1, 2, 3]) one.removePerson(person(number))
    await pass(2)
    for (const number of [1, 2, 3]) one.addPerson(person(number))
    await pass(4)
    expect(one.caps()).toEqual({ team: 500 })
    expect(one.warned()).toContain('DIRECTORY_DOUBTED')
  })

  test('that lost people lets no rule take from those who inherit their cap', async () => {
    const { one, pass, cut } = await listed()
    await pass(1, { caps: { team: 500 } })
    cut(1, 2, 3)
    await pass(2)
    one.forget()
    await pass(2, capOf({ email: 'p01*' }))
    expect(one.writes()).toEqual([])
  })
})
