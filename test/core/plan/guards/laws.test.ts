// Laws of guards over random companies; which guard holds what, and its words, are in guards.txt.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { short } from '../../../support/declare.ts'
import { each, type PlanSketch, planOf } from '../../../support/plan.ts'

describe('in any company of eight', () => {
  const caps = fc.dictionary(
    fc.constantFrom('team', 'group:g', ...Object.keys(each(8, 0))),
    fc.constantFrom<number | 'none'>('none', 100, 200, 300),
  )
  const world = fc.record({ caps, observed: caps, groups: fc.constant({ g: ['p0', 'p1', 'p2'] }), people: fc.constant(8) })
  const goingOut = (sketch: PlanSketch) => planOf(sketch).plan.changes.filter((one) => one.disposition.kind !== 'held')

  test('a stricter limit never lets more out', () => {
    const limit = (floor: number) =>
      ({ maxAffected: { percent: 0, floor }, maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' }) as const
    const open = (sketch: PlanSketch, floor: number) => goingOut({ ...sketch, guards: limit(floor) }).length
    fc.assert(fc.property(world, fc.nat(6), fc.nat(6), (sketch, a, b) => open(sketch, Math.min(a, b)) <= open(sketch, Math.max(a, b))))
  })
  test('what goes out after holding back is within every limit', () => {
    fc.assert(
      fc.property(world, (sketch) => {
        const rest = Object.fromEntries(goingOut(sketch).map((one) => [short(one.scope), one.to]))
        const again = planOf({ ...sketch, caps: { ...sketch.observed, ...rest } })
        expect(again.plan.holds.filter((hold) => !hold.guards.includes('emptyPolicy'))).toEqual([])
      }),
    )
  })
})
