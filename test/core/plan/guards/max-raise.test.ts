// Raises that could together use more than the credits that are left.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { entryOf } from '../../../support/declare.ts'
import { each, lines, type PlanSketch, planOf } from '../../../support/plan.ts'

const guardsOf = (sketch: PlanSketch): string[] => planOf(sketch).plan.holds.map((hold) => hold.guards.join('+'))
const rule = (name: string, value: number, owned = value) => ({ [name]: { cap: owned, entry: entryOf('cap', value) } })

describe('raises beyond the credits that are left', () => {
  const left = (creditsRemaining: number, sketch: PlanSketch): PlanSketch => ({ ...sketch, facts: { creditsRemaining } })
  const RAISED: PlanSketch = { caps: each(4, 600), observed: each(4, 500) }

  const TABLE: readonly (readonly [string, PlanSketch, readonly string[]])[] = [
    ['by as much as is left are allowed', left(400, RAISED), []],
    ['by more are held', left(399, RAISED), ['maxRaise']],
    ['by anything are held when nothing is left', left(0, RAISED), ['maxRaise']],
    ['by any amount are ready while the remaining credits are not known', RAISED, []],
    ['by less than half go out when half is the limit', left(800, { ...RAISED, guards: { maxRaise: 50 } }), []],
    ['by more than half are held when half is the limit', left(799, { ...RAISED, guards: { maxRaise: 50 } }), ['maxRaise']],
    ['go out up to twice what is left when the limit says so', left(200, { ...RAISED, guards: { maxRaise: 200 } }), []],
    ['go out when the guard is off', left(0, { ...RAISED, guards: { maxRaise: 'off' } }), []],
    ['are not what first caps are', left(0, { caps: each(20, 9000), observed: each(20, 'none') }), []],
    ['are counted in people: a team raise reaches everybody', left(1999, { caps: { team: 600 }, observed: { team: 500 } }), ['maxRaise']],
    ['do not count people with a cap of their own', left(200, { caps: { team: 600 }, observed: { team: 500, ...each(18, 500) } }), []],
    [
      'are counted by net effect: a person whose cap goes falls to a higher one',
      left(99, { caps: { team: 600 }, observed: { team: 600, p0: 500 }, owned: { p0: { cap: 500 } } }),
      ['maxRaise'],
    ],
    [
      'are not made up for by lowering others',
      left(399, { caps: { ...each(4, 600), p9: 1 }, observed: { ...each(4, 500), p9: 900 } }),
      ['maxRaise'],
    ],
    [
      'that heal are neither counted nor held',
      left(100, { caps: { p0: 9000, p1: 600 }, observed: { p0: 1, p1: 500 }, owned: rule('p0', 9000) }),
      [],
    ],
  ]
  test.each(TABLE)('%s', (_name, sketch, expected) => expect(guardsOf(sketch)).toEqual(expected))

  test('leave out a change that heals, also when a person is raised by it and by another', () => {
    const both: PlanSketch = { people: 1, caps: { team: 600 }, observed: { team: 500, p0: 500 } }
    expect(lines(planOf(left(99, { ...both, owned: { ...rule('team', 600), p0: { cap: 500 } } })))).toEqual([
      'team raise 500>600 external',
      'p0 clear 500>none orphan held:maxRaise',
    ])
  })

  test('are released by exactly that hold’s id', () => {
    const [hold] = planOf(left(300, RAISED)).plan.holds
    expect(guardsOf({ ...left(300, RAISED), approve: [hold?.id ?? ''] })).toEqual([])
  })

  test('are held exactly when what they add up to is above the limit, whatever the caps', () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ from: fc.integer({ min: 1, max: 99 }), to: fc.integer({ min: 1, max: 99 }) }), { maxLength: 8 }),
        fc.nat(200),
        fc.integer({ min: 0, max: 300 }),
        (people, creditsRemaining, maxRaise) => {
          const named = (pick: 'from' | 'to') => Object.fromEntries(people.map((one, index) => [`p${index}`, one[pick]]))
          const sum = people.reduce((total, { from, to }) => total + Math.max(0, to - from), 0)
          const guards = { maxRaise, maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off' } as const
          const held = guardsOf({ caps: named('to'), observed: named('from'), guards, facts: { creditsRemaining } })
          return held.length > 0 === sum > (creditsRemaining * maxRaise) / 100
        },
      ),
    ))
})
