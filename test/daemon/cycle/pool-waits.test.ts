// The second step of a deal: a raise that waits for use under lowered caps to show, and goes out once it has.
import { expect, test } from 'vitest'
import { email, HOUR, research } from '../../support/declare.ts'
import { later } from '../../support/living.ts'
import { noon, recordPast } from '../../support/use.ts'
import { testWorld } from '../../support/world.ts'

const RESEARCH = research(1000, ['ada', 'bob'])

test('a raise that waited for use to show is sent once it has shown, not with the next deal', async () => {
  const one = await testWorld({ people: ['ada', 'bob'], config: { usageLagMs: 0.5 * HOUR } })
  await one.cycle({ pools: [RESEARCH] })
  recordPast(one, [{ who: 'ada', at: noon(19), credits: 980 }])
  await later(one, 5 * HOUR)
  expect(one.caps()).toEqual({ ada: 500, bob: 260 })
  expect((await later(one, 0.4 * HOUR)).after.plan.problems).toMatchObject([{ code: 'POOL_WAITS' }])
  await later(one, 0.4 * HOUR)
  expect(one.caps()).toEqual({ ada: 740, bob: 260 })
  one.forget()
  expect((await later(one, HOUR)).after.plan.problems).toEqual([])
  expect(one.writes()).toEqual([])
})

test('what somebody sets during a plan is not raised by it while the sum is above the credits', async () => {
  let isMet = false
  const one = await testWorld({
    people: ['abe', 'ada', 'bob'],
    caps: { ada: 4000 },
    config: { rate: { concurrency: 1 } },
    // The plan takes its time over abe, and meanwhile somebody caps bob, who had none.
    wrapTransport: (inner) => ({
      send: async (operation, body, options) => {
        if (operation === 'UsageConfig' && body['user_email'] === email('abe')) {
          isMet = true
          one.foreign('bob', 300)
          await one.clock.sleep(0.05 * HOUR)
        }
        return operation === 'UsageConfig' && body['user_email'] === email('ada')
          ? { status: 400, headers: {}, body: '{"error":"no"}' }
          : inner.send(operation, body, options)
      },
    }),
  })
  await one.cycle({ caps: { abe: 900 }, pools: [RESEARCH] })
  expect(isMet).toBe(true)
  expect(one.caps()).toEqual({ abe: 900, ada: 4000, bob: 300 })
})
