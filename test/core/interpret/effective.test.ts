import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { measuredAddOn } from '../../support/add-on.ts'
import { CYCLE, DAY, email, HOUR, members, type PlainCap, roster } from '../../support/declare.ts'
import { explained } from '../../support/explained.ts'
import { type PlanSketch, planInputs, planOf } from '../../support/plan.ts'
import { keyOf as key } from '../../support/waves.ts'

const count = (sketch: PlanSketch) => planOf(sketch).people
describe('the people who are counted', () => {
  const team = roster({ ada: 'approved', bob: 'disabled', cyd: 'pending' })
  const used = (amount: number) => ({ ...team, people: team.people.map((one) => ({ ...one, used: credits(amount) })) })

  test('are in no group when none lists them', () => expect(count({ roster: team }).approved.map((one) => one.groups)).toEqual([[], []]))
  test('without those whose access is switched off in the total', () => expect(count({ roster: team }).total).toBe(1))

  test('have the use that the service tells, also without a balance', () =>
    expect(count({ roster: { ...used(150), cycle: CYCLE }, measured: measuredAddOn({ ada: 20 }) })).toMatchObject({
      approved: [{ use: 20 }, {}],
      useSource: 'measured',
    }))

  const previousCycle = { cycle: { startAt: CYCLE.startAt - 30 * DAY, endAt: CYCLE.startAt }, used: { [email('ada')]: credits(900) } }
  test.each<readonly [string, PlanSketch, number]>([
    ['counts in the first hours of the cycle', { roster: { ...used(3), cycle: CYCLE }, now: CYCLE.startAt + 6 * HOUR - 1 }, 900],
    ['counts no more after 6 h', { roster: { ...used(3), cycle: CYCLE }, now: CYCLE.startAt + 6 * HOUR }, 3],
    ['counts for as long as the new figure is not known', { roster: { ...team, cycle: CYCLE }, now: CYCLE.startAt + DAY }, 900],
    ['does not count without a cycle', { roster: used(3), now: CYCLE.startAt + 1 }, 3],
    ['never takes away from what was used since', { roster: { ...used(1000), cycle: CYCLE }, now: CYCLE.startAt + 1 }, 1000],
  ])('last cycle’s use %s', (_name, more, use) => expect(count({ previousCycle, ...more }).approved[0]?.use).toBe(use))
})

describe('the cap in force', () => {
  const groups = { a: ['ada'], b: ['ada'] }
  /** What is set, by scope name; a scope that is not named was not read. */
  type Shown = NonNullable<PlanSketch['observed']>
  test.each<readonly [string, Shown, PlainCap | 'unknown', string | undefined]>([
    ['an own one that is not known', { ada: 'unknown', 'group:a': 5 }, 'unknown', 'ada'],
    ["the group's where there is no own", { ada: 'none', 'group:a': 5, team: 3 }, 5, 'group:a'],
    ['the lowest of several groups, the first', { 'group:a': 5, 'group:b': 4, team: 3 }, 4, 'group:b'],
    ['of two equal groups the first', { 'group:a': 4, 'group:b': 4 }, 4, 'group:a'],
    ['a group that could not be read', { 'group:a': 5, 'group:b': 'unknown', team: 3 }, 'unknown', 'group:b'],
    ["the team's when no group has one", { 'group:a': 'none', team: 3 }, 3, 'team'],
    ['none, from no scope, when the team has none', { team: 'none' }, 'none', undefined],
    ['none when nothing was read', {}, 'none', undefined],
  ])('is %s', (_name, set, expected, from) => {
    const { readings } = planInputs({ observed: set })
    const { inForce } = explained('ada', { bare: ['a', 'b'] }, { groups: members(groups), readings })
    expect(inForce).toEqual({ cap: expected, from: from === undefined ? undefined : key(from) })
  })

  test.each<readonly [string, string, Shown, PlainCap | 'unknown']>([
    ['the team has no ancestor', 'team', { team: 3 }, 'none'],
    ['the team is the ancestor of a group', 'group:a', { team: 3, 'group:a': 5, 'group:b': 9 }, 3],
    ['a team that was not read counts as none', 'group:a', {}, 'none'],
    ['groups are ancestors of a person', 'ada', { team: 3, 'group:a': 5, 'group:b': 9 }, 5],
    ['and the team where they have none', 'ada', { team: 3 }, 3],
  ])('the inherited cap: %s', (_name, at, observed, expected) =>
    expect(planOf({ people: ['ada'], groups, observed }).slots.inherited(key(at))).toBe(expected),
  )
})
