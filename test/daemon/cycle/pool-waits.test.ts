// The second step of a deal: a raise that waits for use under lowered caps to show, and goes out once it has.
import { expect, test } from 'vitest'
import { email, HOUR, type PoolSketch } from '../../support/declare.ts'
import { noon, recordPast } from '../../support/use.ts'
import { testWorld } from '../../support/world.ts'

const RESEARCH: PoolSketch = {
  name: 'research',
  credits: 1000,
  share: 'equal',
  members: { kind: 'emails', emails: ['ada', 'bob'].map(email) },
}

test('a raise that waited for use to show is sent once it has shown, not with the next deal', async () => {
  const one = await testWorld({ people: ['ada', 'bob'], config: { usageLagMs: 0.5 * HOUR } })
  await one.cycle({ pools: [RESEARCH] })
  recordPast(one, [{ who: 'ada', at: noon(19), credits: 980 }])
  await one.clock.pass(5 * HOUR)
  await one.cycle()
  expect(one.caps()).toEqual({ ada: 500, bob: 260 })
  await one.clock.pass(0.4 * HOUR)
  expect((await one.cycle()).after.plan.problems).toMatchObject([{ code: 'POOL_WAITS' }])
  await one.clock.pass(0.4 * HOUR)
  await one.cycle()
  expect(one.caps()).toEqual({ ada: 740, bob: 260 })
  one.forget()
  await one.clock.pass(HOUR)
  expect((await one.cycle()).after.plan.problems).toEqual([])
  expect(one.writes()).toEqual([])
})
