// Approving a `rosterShrink` hold makes the doubted roster the good one, in the same cycle that carries the held changes out.
import { expect, test } from 'vitest'
import { capsOf, later, person } from '../../support/living.ts'
import { type Declared, testWorld } from '../../support/world.ts'

test('an approved roster counts at once: people who are away on it are not written, the others are', async () => {
  const one = await testWorld({ people: 10 })
  await one.cycle({ caps: { team: 500, ...capsOf(2) } })
  for (const number of [1, 8, 9, 10]) one.setStatus(person(number), 'PENDING')
  const { planned } = await one.cycle({ caps: { team: 500, ...capsOf(2, 700) } })
  const [hold] = planned.plan.holds
  expect(hold?.guards).toContain('rosterShrink')
  await one.cycle(undefined, { approve: [hold?.id ?? ''] })
  expect(one.ledger.fact('usage')?.doubted).toBeUndefined()
  expect(one.caps()).toMatchObject({ [person(1)]: 1000, [person(2)]: 700 })
})

test('people who are new on an approved roster are read and written in the same cycle', async () => {
  const one = await testWorld({ people: 10 })
  one.setStatus(person(10), 'PENDING')
  const caps = { team: 500, ...capsOf(2), [person(10)]: 700 }
  await one.cycle({ caps })
  one.setStatus(person(10), 'APPROVED')
  for (const number of [6, 7, 8, 9]) one.setStatus(person(number), 'PENDING')
  const { planned } = await one.cycle({ caps: { ...caps, team: 400 } })
  const { result } = await one.cycle(undefined, { approve: [planned.plan.holds[0]?.id ?? ''] })
  expect(one.caps()).toMatchObject({ team: 400, [person(10)]: 700 })
  expect(result).toBe('success')
})

test('while another hold doubts the roster it stays doubted, and that hold stays as it is', async () => {
  const one = await testWorld({ people: 10 })
  const protect = [person(10)]
  await one.cycle({ caps: { team: 500, ...capsOf(2) }, protect })
  for (const number of [7, 8, 9, 10]) one.setStatus(person(number), 'PENDING')
  const { planned } = await one.cycle({ caps: { team: 400, ...capsOf(2, 900) }, protect })
  const [team, people] = planned.plan.holds
  expect([team?.guards, people?.guards]).toEqual([
    ['rosterShrink', 'maxAffected', 'maxLowered', 'protected'],
    ['rosterShrink', 'maxAffected', 'maxLowered'],
  ])
  const { after } = await one.cycle(undefined, { approve: [people?.id ?? ''] })
  expect(after.plan.holds).toMatchObject([{ id: team?.id }])
  expect(one.caps()).toMatchObject({ team: 500, ...capsOf(2, 900) })
  expect(one.ledger.fact('usage')?.doubted).toBeDefined()
  await one.cycle(undefined, { approve: [team?.id ?? ''] })
  expect(one.caps()).toMatchObject({ team: 400 })
  expect(one.ledger.fact('usage')?.doubted).toBeUndefined()
})

test('and counts once that hold is gone, be it approved or not', async () => {
  for (const isApproved of [true, false]) {
    const one = await testWorld({ people: 40 })
    const declared = (team: number, p030: number): Declared => ({ caps: { team, p030 }, protect: ['p030'] })
    await one.cycle(declared(500, 700))
    for (let number = 1; number <= 25; number += 1) one.removePerson(person(number))
    const { planned } = await one.cycle(declared(600, 650))
    const [wide, own] = planned.plan.holds
    expect([wide?.guards, own?.guards]).toEqual([['rosterShrink'], ['rosterShrink', 'protected']])
    await one.cycle(undefined, { approve: [wide?.id ?? ''] })
    expect(one.caps()).toMatchObject({ team: 600, p030: 700 })
    await one.cycle(declared(600, isApproved ? 650 : 700), isApproved ? { approve: [own?.id ?? ''] } : {})
    expect(one.state.usage?.roster.people).toHaveLength(15)
  }
})

test('an approval of an earlier doubt says nothing of the next one', async () => {
  const one = await testWorld({ people: 10 })
  await one.cycle({ caps: { team: 500 } })
  for (const number of [7, 8, 9, 10]) one.setStatus(person(number), 'PENDING')
  const { planned } = await one.cycle({ caps: { team: 400 } })
  await one.cycle(undefined, { approve: [planned.plan.holds[0]?.id ?? ''] })
  expect(one.ledger.fact('usage')?.doubted).toBeUndefined()
  for (const number of [7, 8, 9, 10]) one.setStatus(person(number), 'APPROVED')
  await later(one, 900_000)
  for (const number of [7, 8, 9, 10]) one.setStatus(person(number), 'PENDING')
  await later(one, 900_000)
  expect(one.ledger.fact('usage')?.doubted).toBeDefined()
})
