// Raises that wait: for use under lowered caps to show, and for the sum of a pool to be within its credits again. Members of pools whom another client has lowered are not raised while the credits do not pay for it. Of members whom our write lowered just
// before they joined, use under the old cap may not show yet.
import { expect, test } from 'vitest'
import { email, HOUR, type PolicySketch, research } from '../../support/declare.ts'
import { answerOf, instead, writes } from '../../support/faults.ts'
import { later, worldUnder } from '../../support/living.ts'
import { noon, recordPast } from '../../support/use.ts'
import { testWorld, type World } from '../../support/world.ts'

type Caps = Readonly<Record<string, number>>

const RESEARCH = research(1000, ['ada', 'bob'])

/** Others give bob more than there is, and ada this; an hour later it is seen. */
async function othersSet(one: World, ada: number | undefined): Promise<void> {
  one.foreign('ada', ada)
  one.foreign('bob', 1500)
  one.forget()
  await later(one, HOUR)
}

test.each([
  ['to 0 at their own scope', 0, {}],
  ['to the 0 of the team', undefined, { team: 0 }],
] as const)(
  'does not put back whom others have set %s while the sum is above the credits, and does so afterwards',
  async (_how, cap, caps) => {
    const one = await testWorld({ people: ['ada', 'bob'], switches: { zeroCap: 'stored' } })
    const declared: PolicySketch = { caps, pools: [RESEARCH] }
    await one.cycle(declared)
    await othersSet(one, cap)
    expect(one.writes()).toEqual(['bob 500'])
    await later(one, 5 * HOUR)
    expect(one.caps()).toEqual({ ...caps, ada: 500, bob: 500 })
  },
)

test.each([100, 0])('the own cap of a protected member, set to %i by others, waits as well', async (lower) => {
  const one = await testWorld({ people: ['ada', 'bob'], switches: { zeroCap: 'stored' } })
  const declared: PolicySketch = { caps: { ada: 600 }, pools: [RESEARCH] }
  await one.cycle(declared)
  await one.cycle({ ...declared, protect: ['ada'] })
  expect(one.caps()).toEqual({ ada: 600, bob: 400 })
  await othersSet(one, lower)
  expect(one.writes()).toEqual(['bob 400'])
})

test('whom others have lowered is told once, though nobody is raised while the sum is above the credits', async () => {
  const one = await worldUnder({ caps: { ada: 600 }, pools: [RESEARCH] }, { people: ['ada', 'bob'] })
  await othersSet(one, 7)
  await later(one, HOUR)
  expect(one.begun('ForeignChange').map(({ subject }) => subject)).toEqual(['bob', 'ada'].map(email))
  expect(one.caps()).toEqual({ ada: 7, bob: 400 })
  await later(one, 5 * HOUR)
  expect(one.caps()).toEqual({ ada: 600, bob: 400 })
})

test('is not raised by the pass after the one that has found a member whom others have raised', async () => {
  const one = await testWorld({ people: ['ada', 'bob'], caps: { ada: 100, bob: 100 } })
  // While somebody is asked, readings grow old.
  const meanwhile = async () => {
    await one.clock.pass(HOUR / 30)
    one.foreign('ada', 9000)
    one.foreign('bob', 50)
    return {}
  }
  const { after } = await one.cycle({ pools: [RESEARCH] }, { confirm: meanwhile })
  expect(one.writes()).toEqual(['ada 500'])
  expect(one.caps()).toEqual({ ada: 500, bob: 50 })
  expect(after.plan.problems).toMatchObject([{ code: 'POOL_ABOVE' }, { code: 'POOL_WAITS' }])
  await later(one, 5 * HOUR)
  expect(one.caps()).toEqual({ ada: 500, bob: 500 })
})

test.each<readonly [string, before: Caps, after: Caps, wide: Caps]>([
  ['their own cap', { ada: 800, bob: 100 }, { ada: 100, bob: 100 }, {}],
  ['their own cap, which is cleared', { team: 100, ada: 800 }, { team: 100 }, { team: 100 }],
  ["the team's cap", { team: 800, bob: 90 }, { team: 100, bob: 90 }, { team: 100 }],
])('counts somebody who comes in at the higher cap that was lowered an hour before: %s', async (_what, before, after, wide) => {
  for (const capReads of ['explicit', 'inherited'] as const) {
    const one = await worldUnder({ caps: before }, { people: ['ada', 'bob'], caps: before, switches: { capReads } })
    await one.cycle({ caps: after })
    await later(one, HOUR, { caps: wide, pools: [RESEARCH] })
    // The 800 of then and these are the 1000.
    expect(one.inForce()).toEqual({ ada: 200, bob: 200 })
    await later(one, 5 * HOUR)
    expect(one.caps()).toEqual({ ...wide, ada: 500, bob: 500 })
  }
})

test('a raise that waited for use to show is sent once it has shown, not with the next deal', async () => {
  const one = await worldUnder({ pools: [RESEARCH] }, { people: ['ada', 'bob'], config: { usageLagMs: 0.5 * HOUR } })
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
    wrapTransport: instead(async (operation, body) => {
      if (writes('abe')(operation, body)) {
        isMet = true
        one.foreign('bob', 300)
        await one.clock.sleep(0.05 * HOUR)
      }
      return writes('ada')(operation, body) ? answerOf(400) : undefined
    }),
  })
  await one.cycle({ caps: { abe: 900 }, pools: [RESEARCH] })
  expect(isMet).toBe(true)
  expect(one.caps()).toEqual({ abe: 900, ada: 4000, bob: 300 })
})
