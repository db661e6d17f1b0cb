// The state of each grant by the clocks, the cycle and what is ours; and whether a grant that only its id tells of has ended.
import { describe, expect, test } from 'vitest'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import {
  byGrant,
  CYCLE,
  DAY,
  desiredInputs,
  entryOf,
  type GrantSketch,
  NOW,
  type OwnedSketch,
  ownedCaps,
  short,
  withoutCycle,
} from '../../support/declare.ts'
import { type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

type Grants = readonly Omit<GrantSketch, 'on'>[]
interface Setting {
  readonly owned?: OwnedSketch | undefined
  readonly isCycleUnknown?: boolean
  readonly frozen?: boolean
}

const declared = (grants: readonly GrantSketch[], { owned, isCycleUnknown, frozen = false }: Setting = {}) => {
  const inputs = desiredInputs({ grants }, { owned: ownedCaps(owned ? { bob: owned } : {}), grantsFrozen: frozen })
  return resolveDesired(isCycleUnknown ? withoutCycle(inputs) : inputs).grants
}
/** The state of each grant on bob, by line; `!` where it has a note. */
const states = (grants: Grants, setting: Setting = {}): Record<number, string> => {
  const all = declared(
    grants.map((one) => ({ on: 'bob', ...one })),
    setting,
  )
  return Object.fromEntries(all.map((one) => [one.grant.at.line - 100, one.note === undefined ? one.state : `${one.state}!`]))
}

const running = { from: NOW - DAY, until: NOW + 3 * DAY, cap: 6000 }
const over = { from: NOW - 3 * DAY, until: NOW - DAY, cap: 6000 }
const coming = { from: NOW + DAY, until: NOW + 3 * DAY, cap: 6000 }
const toCycleEnd = { from: NOW - DAY, until: 'cycleEnd', cap: 6000 } as const
const ours = byGrant()

describe('the state of a grant', () => {
  test.each([
    ['is pending one millisecond before its start', { ...coming, from: NOW + 1 }, 'pending'],
    ['is active at the very instant of its start', { ...running, from: NOW }, 'active'],
    ['is active with exactly 24 h left', { until: NOW + DAY }, 'active'],
    ['is expiring with less than 24 h left', { until: NOW + DAY - 1 }, 'expiring'],
    ['has ended at the very instant of its end', { ...running, until: NOW }, 'ended'],
    ['to the end of the cycle is active while its cycle runs', toCycleEnd, 'active'],
    ['to the end of the cycle is active when it starts with the cycle', { ...toCycleEnd, from: CYCLE.startAt }, 'active'],
    ['to the end of the cycle has ended when it started in an earlier cycle', { ...toCycleEnd, from: CYCLE.startAt - 1 }, 'ended'],
  ])('%s', (_, sketch, expected) => {
    expect(states([sketch])).toEqual({ 1: expected })
  })
})

describe('while the billing cycle is unknown a grant to its end', () => {
  test.each<[string, Grants, OwnedSketch | undefined, Record<number, string>]>([
    ['waits when nothing of it was written', [toCycleEnd], undefined, { 1: 'pending!' }],
    ['goes on with its new amount when it was edited', [toCycleEnd], { ...ours, cap: 5000 }, { 1: 'active!' }],
    [
      'waits when the base is already given back',
      [toCycleEnd],
      { cap: 300, owner: 'grant', entry: entryOf('restore', 300) },
      { 1: 'pending!' },
    ],
    ['waits when another grant of the scope runs by the clock', [toCycleEnd, running], ours, { 1: 'pending!', 2: 'active' }],
    ['is plainly pending before its start', [{ ...toCycleEnd, from: NOW + 1 }], ours, { 1: 'pending' }],
  ])('%s', (_, grants, owned, expected) => {
    expect(states(grants, { isCycleUnknown: true, owned })).toEqual(expected)
  })

  test('says that it is the cycle that is not known', () => {
    const [one] = declared([{ on: 'bob', ...toCycleEnd }], { isCycleUnknown: true, owned: ours })
    expect(one?.note).toBe(
      'the billing cycle is not known, so the end of this grant is not known either: what was in force goes on until it is',
    )
  })
})

describe('while the clocks disagree', () => {
  test.each<[string, Grants, OwnedSketch | undefined, Record<number, string>]>([
    ['no grant starts', [running], undefined, { 1: 'pending!' }],
    ['a running grant runs on', [running], ours, { 1: 'active' }],
    ['a grant that is over by now stays over when it was not in force', [over], { cap: 500 }, { 1: 'ended' }],
    ['a running grant that was edited runs with its new amount', [{ ...running, cap: 7000 }], ours, { 1: 'active' }],
    ['a grant from long ago with another amount is not revived', [{ ...over, cap: 7000 }], ours, { 1: 'ended' }],
    ['a grant that adds is taken for the one in force', [{ from: NOW - DAY, until: NOW - 1, add: 800 }], ours, { 1: 'active!' }],
    ['the same amount beats an addition of just as much', [{ ...over, add: 6000 }, over], ours, { 1: 'ended', 2: 'active!' }],
    [
      'of two that began at the same time the first in the files goes on',
      [running, { ...running, until: 'cycleEnd' }],
      ours,
      { 1: 'active', 2: 'pending!' },
    ],
    [
      'of two additions the running one goes on',
      [
        { ...over, add: 1 },
        { ...running, add: 2 },
      ],
      ours,
      { 1: 'ended', 2: 'active' },
    ],
    [
      'of two ended ones the later goes on',
      [{ ...over, from: NOW - 9 * DAY, until: NOW - 8 * DAY }, over],
      ours,
      { 1: 'ended', 2: 'active!' },
    ],
    ['an expiring grant is still called expiring', [{ ...running, until: NOW + 1 }], ours, { 1: 'expiring' }],
  ])('%s', (_, grants, owned, expected) => {
    expect(states(grants, { frozen: true, owned })).toEqual(expected)
  })
})

test('grants come in the order of scope, start and place, whatever the order they were declared in', () => {
  const grants: readonly GrantSketch[] = [
    { on: 'bob', ...coming, line: 1 },
    { on: 'bob', ...over, line: 2 },
    { on: 'team', ...over, line: 3 },
    { on: 'group:a', ...over, line: 4 },
  ]
  const order = (list: typeof grants) => declared(list).map((one) => `${short(one.grant.scope)} ${one.grant.at.line}`)
  expect(order(grants)).toEqual(['team 3', 'group:a 4', 'bob 2', 'bob 1'])
  expect(order(grants.toReversed())).toEqual(order(grants))
})

describe('a grant that a cap came from, known by its id alone', () => {
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
  ])('%s', (_name, sketch, more, expected) => {
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
})
