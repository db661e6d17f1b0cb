// An explicit cap of a member of a pool, by declaration or rule: it is dealt first, in full where the credits pay for it.
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, NOW, research } from '../../support/declare.ts'
import { expectNothing, later, worldUnder } from '../../support/living.ts'
import { noon, recordPast } from '../../support/use.ts'
import { type Declared, testWorld } from '../../support/world.ts'

const RESEARCH = research(5000, ['ada', 'bob'], { max: 400 })
const rule = (cap: number): Declared => ({ rules: [{ name: 'some', when: { email: 'ada@*' }, cap }] })

describe('a cap declared for a member is written', () => {
  test.each<readonly [string, Declared, number]>([
    ['though they have used more', { caps: { ada: 500 } }, 500],
    ['though it is hardly more than what is in force', { caps: { ada: 101 } }, 101],
    ['by a rule, though they have used more', rule(500), 500],
    ['by a rule, though it is hardly more than what is in force', rule(101), 101],
  ])('%s', async (_title, declared, expected) => {
    const one = await testWorld({ people: ['ada', 'bob'], caps: { ada: 100, bob: 100 } })
    // 500 of them are included in the seat.
    recordPast(one, [{ who: 'ada', at: noon(19), credits: 500 + 600 }])
    const { result } = await one.cycle({ ...declared, pools: [RESEARCH] })
    expect(one.caps()).toEqual({ ada: expected, bob: 400 })
    expect(result).toBe('success')
    await expectNothing(one, 5 * HOUR)
  })

  test('as far as the credits pay for it, and the rest as soon as they do', async () => {
    const one = await testWorld({ people: ['ada', 'bob'], caps: { ada: 100, bob: 100 } })
    const tight = { ...RESEARCH, credits: 800, min: 400 }
    await one.cycle({ caps: { ada: 410 }, pools: [tight] })
    expect(one.caps()).toEqual({ ada: 400, bob: 400 })
    await one.cycle({ caps: { ada: 410 }, pools: [{ ...tight, credits: 810 }] })
    expect(one.caps()).toEqual({ ada: 410, bob: 400 })
  })
})

describe('a grant of a member that is over', () => {
  const UNTIL = NOW + DAY
  const grants = [{ on: 'ada', cap: 300, until: UNTIL }]
  // Nobody has used anything yet, so nobody knows who is idle.
  const rules = [{ name: 'idle', when: { inactiveDays: 90 }, cap: 5000 }]
  const tight = { ...RESEARCH, credits: 1000, max: 600 }
  /** The caps in force once it is over, and so long after that all use must have shown. */
  async function ended(caps: Readonly<Record<string, number>>, declared: Declared): Promise<readonly unknown[]> {
    const one = await worldUnder({ ...declared, grants, pools: [tight] }, { people: ['ada', 'bob'], caps })
    await later(one, 5 * HOUR)
    expect(one.caps()['ada']).toBe(300)
    await later(one, 20 * HOUR)
    const atOnce = one.inForce()
    await later(one, 5 * HOUR)
    return [atOnce, one.inForce()]
  }

  test.each<readonly [string, Readonly<Record<string, number>>]>([
    ['nothing stood there before it', { bob: 500 }],
    ['more stood there before it', { ada: 2000, bob: 500 }],
    ['less stood there before it', { ada: 200, bob: 500 }],
  ])('makes way for what is dealt while nobody knows whether a rule goes first: %s', async (_title, caps) => {
    // Of bob, who was dealt 600, nobody knows it either: what is in force for him stays.
    const dealt = { ada: 400, bob: 500 }
    expect(await ended(caps, { rules })).toEqual([dealt, dealt])
  })

  test('gives a protected member back what stood there before, where that is less', async () => {
    const given = { ada: 200, bob: 600 }
    expect(await ended({ ada: 200, bob: 100 }, { protect: ['ada'] })).toEqual([given, given])
  })

  test('stays in force for a protected member where nothing stood there before: no credits can pay for that', async () => {
    const kept = { ada: 300, bob: 600 }
    expect(await ended({ bob: 100 }, { protect: ['ada'] })).toEqual([kept, kept])
  })
})
