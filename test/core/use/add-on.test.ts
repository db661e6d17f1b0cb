// How much of a person's use counts as add-on use, and by which source: as guards count it. What is read of it is in daemon/collect.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { measuredAddOn, totalOf } from '../../support/add-on.ts'
import { BALANCE } from '../../support/burn.ts'
import { CYCLE, DAY, NOW, rosterOfUse } from '../../support/declare.ts'
import { type PlanSketch, planOf } from '../../support/plan.ts'

type Roster = NonNullable<PlanSketch['roster']>

const { cycle: _, ...UNDATED } = BALANCE
const balance = { ...UNDATED, creditsPerSeat: credits(500) }

/** Of ada, who used 700 credits in all. */
const counted = (more: PlanSketch = {}, cycle: Roster['cycle'] | null = CYCLE) => {
  const { approved, useSource } = planOf({ roster: rosterOfUse({ ada: 700 }, cycle ?? undefined), ...more }).people
  return { use: approved[0]?.use, source: useSource }
}

describe('measured figures', () => {
  const MEASURED = { use: 120, source: 'measured' }
  const ESTIMATED = { use: 200, source: 'estimated' }
  const measured = measuredAddOn({ ada: 120 })
  test.each<readonly [string, PlanSketch['measured'], Roster['cycle'] | null, unknown]>([
    ['count for a day', measuredAddOn({ ada: 120 }, { readAt: NOW - DAY }), CYCLE, MEASURED],
    ['count no longer than that', measuredAddOn({ ada: 120 }, { readAt: NOW - DAY - 1 }), CYCLE, ESTIMATED],
    ['do not count while no cycle is known', measured, null, ESTIMATED],
    ['do not count when over half is of people not on the roster', measuredAddOn({ ada: 120 }, { others: 121 }), CYCLE, ESTIMATED],
    [
      'do not count when ten credits, which is more than all others, are of such people',
      measuredAddOn({ ada: 9 }, { others: 10 }),
      CYCLE,
      ESTIMATED,
    ],
    ['count when half is of people not on the roster', measuredAddOn({ ada: 120 }, { others: 120 }), CYCLE, MEASURED],
    ['count when little is of people off the roster', measuredAddOn({}, { others: 9 }), CYCLE, { use: 0, source: 'measured' }],
  ])('%s', (_name, measured, cycle, expected) => expect(counted({ balance, measured }, cycle)).toEqual(expected))

  test('of a person named like a word of the language are found', () => {
    const roster = rosterOfUse({ ada: 700 }, CYCLE)
    const people = roster.people.map((one) => ({ ...one, email: 'constructor' }))
    expect(counted({ measured, roster: { ...roster, people } })).toEqual({ use: 0, source: 'measured' })
  })
})

test('figures are measured, else estimated by the balance, else an upper bound', () =>
  expect([counted({ measured: measuredAddOn({ ada: 120 }), balance }), counted({ balance }), counted()]).toEqual([
    { use: 120, source: 'measured' },
    { use: 200, source: 'estimated' },
    { use: 700, source: 'upperBound' },
  ]))

/** Their rows cannot be found, and are among those of others. */
const UNASSIGNABLE = { unassignable: ['bob@example.com'] }
test.each<readonly [string, Parameters<typeof totalOf>[0], PlanSketch['measured'], number | undefined]>([
  ['is that of all with a figure', { ada: 700, bob: 800, eve: undefined }, undefined, 500],
  ['is not known where nobody has a figure', { ada: undefined }, undefined, undefined],
  ['is what is measured, also of people off the roster', { ada: 700, bob: 9 }, measuredAddOn({ ada: 120 }, { others: 9 }), 129],
  ['has what is estimated once', { ada: 900, bob: 800 }, measuredAddOn({ ada: 400 }, { others: 350, ...UNASSIGNABLE }), 750],
  ['has all that is estimated', { ada: 900, bob: 800 }, measuredAddOn({ ada: 400 }, { others: 5, ...UNASSIGNABLE }), 700],
])('add-on use of everybody %s', (_name, used, measured, expected) => expect(totalOf(used, measured)).toBe(expected))
