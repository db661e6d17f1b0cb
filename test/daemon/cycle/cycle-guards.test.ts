// Guards from end to end: a hold keeps its id, is released by exactly that id, and the release is spent once it was verified, also after a crash.
// Which people count, and by which roster.
import { describe, expect, test } from 'vitest'
import { DAY, keysOf, SETTINGS } from '../../support/declare.ts'
import { cutShort, writes } from '../../support/faults.ts'
import { approve, capsOf, MINUTE, person, worldUnder } from '../../support/living.ts'
import { testWorld, type World } from '../../support/world.ts'

const states = (one: World): Record<string, string> => Object.fromEntries(one.ledger.approvals().map(({ id, state }) => [id, state]))

describe('a hold', () => {
  test('whose release was half written when the process died goes on with the other half', async () => {
    const one = await worldUnder({ caps: { team: 500, ...capsOf(6, 4000) } }, { people: 20, config: { rate: { concurrency: 1 } } })
    const { planned, result } = await one.cycle({ caps: { team: 500, ...capsOf(6, 1000) } })
    expect([result, planned.plan.holds.length]).toEqual(['held', 1])
    const id = planned.plan.holds[0]?.id ?? ''
    approve(one, id)
    const { applied } = await cutShort(one, writes(), undefined, { after: 3, dies: true })
    expect(applied?.interrupted).toBe('stopped')
    expect(states(one)).toEqual({ [id]: 'pending' })
    one.restart()
    expect((await one.cycle()).result).toBe('success')
    expect(one.caps()).toEqual({ team: 500, ...capsOf(6, 1000) })
    expect(states(one)).toEqual({ [id]: 'spent' })
  })

  test('that had grown before it was shown last is approved as it was seen then', async () => {
    const one = await worldUnder({ caps: { 'group:a': 4000 } }, { people: 20, groups: { a: Object.keys(capsOf(6)) } })
    const { planned } = await one.cycle({ caps: { 'group:a': 1000 } })
    one.setMembers('a', Object.keys(capsOf(10)))
    await one.cycle()
    approve(one, planned.plan.holds[0]?.id)
    expect((await one.cycle()).result).toBe('success')
    expect(one.caps()).toEqual({ 'group:a': 1000 })
  })
})

test('people of a plan that went through, also at once for an edit alone, are not counted again with the next', async () => {
  const one = await worldUnder({ caps: { team: 500, ...capsOf(6, 4000) } }, { people: 20 })
  const caps = { team: 500, ...capsOf(6, 4000), ...capsOf(3, 1000) }
  const focus = keysOf(...Object.keys(capsOf(6)))
  expect((await one.cycle({ caps }, { focus })).result).toBe('success')
  expect((await one.cycle({ caps: { ...caps, ...capsOf(3, 1000, 4) } }, { focus })).result).toBe('success')
  expect(one.caps()).toEqual({ team: 500, ...capsOf(6, 1000) })
})

test('a roster that shrinks by a third is doubted: lowerings and team or group writes wait, raises go out, the last good roster counts', async () => {
  const one = await testWorld({ people: 20, groups: { a: ['p001', 'p002'], b: ['p011'] } })
  const caps = { team: 500, 'group:a': 1000, 'group:b': 900, p001: 4000 }
  await one.cycle({ caps })
  for (let number = 14; number <= 20; number += 1) one.removePerson(person(number))
  const { result, planned } = await one.cycle({ caps: { ...caps, team: 600, p001: 3000, p002: 1500 } })
  expect(result).toBe('held')
  expect(one.caps()).toMatchObject({ team: 500, p001: 4000, p002: 1500 })
  expect(planned.plan.holds).toMatchObject([{ guards: ['rosterShrink'] }])
  expect(one.state.usage?.roster.people).toHaveLength(20)
})

test('a weaker limit for the roster counts a day later, and at once for a doubt that was shown before it', async () => {
  const one = await worldUnder({ caps: { team: 500 } }, { people: 10, config: { approvals: 'separate' } })
  const isDoubted = async (weaker: boolean): Promise<boolean> => {
    one.restart({ guards: { ...SETTINGS.guards, rosterShrink: weaker ? 90 : 20 } })
    await one.clock.pass(MINUTE)
    await one.cycle()
    return one.state.usage?.doubted !== undefined
  }
  for (const number of [5, 6, 7, 8, 9, 10]) one.setStatus(person(number), 'PENDING')
  expect([await isDoubted(true), await isDoubted(true)]).toEqual([true, true])
  await one.clock.pass(DAY)
  expect(await isDoubted(true)).toBe(false)
  for (const number of [2, 3, 4]) one.setStatus(person(number), 'PENDING')
  expect([await isDoubted(false), await isDoubted(true)]).toEqual([true, false])
})

test('an approved roster counts at once: people who are away on it are not written, the others are', async () => {
  const one = await worldUnder({ caps: { team: 500, ...capsOf(2) } }, { people: 10 })
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
