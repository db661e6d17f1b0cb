// Whether a grant that a cap came from has ended, where its id alone tells of it; the states of grants are in decisions.txt.
import { expect, test } from 'vitest'
import { CYCLE, DAY, type GrantSketch, NOW, over, running } from '../../support/declare.ts'
import { type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

const toCycleEnd = { from: NOW - DAY, until: 'cycleEnd' } as const
/** The same instants, with other clocks. */
const CLOCK = { cycle: CYCLE, now: NOW, grantsFrozen: false }
test.each<readonly [string, Omit<GrantSketch, 'on'>, Partial<typeof CLOCK>, boolean]>([
  ['has ended at its end', { ...running, until: NOW }, {}, true],
  ['has ended at its end, though it had no start', { until: NOW }, {}, true],
  ['has not ended while the clocks disagree', over, { grantsFrozen: true }, false],
  ['to the end of a cycle yet to come has not ended', { ...toCycleEnd, from: CYCLE.endAt }, { now: CYCLE.endAt }, false],
  ['to the end of an unknown cycle has not ended', toCycleEnd, { cycle: undefined as never, now: CYCLE.endAt }, false],
  ['to the end of the cycle without a start has not ended while the cycle runs', { until: 'cycleEnd' }, {}, false],
  ['to the end of the cycle without a start has ended with the cycle', { until: 'cycleEnd' }, { now: CYCLE.endAt }, true],
])('a grant %s', (_name, sketch, more, expected) => {
  const causes = ['bob', 'group:a|b'].map((on) => {
    const world: PlanSketch = {
      people: ['bob'],
      observed: { bob: 6000 },
      owned: { bob: { cap: 6000, owner: 'grant', grant: { on, ...sketch } } },
    }
    const { resolution } = planInputs(world)
    return planOf(world, { resolution: { ...resolution, grantClock: { ...CLOCK, ...more } } }).plan.changes.map(({ cause }) => cause)
  })
  expect(causes).toEqual(Array(2).fill([expected ? 'expired' : 'orphan']))
})
