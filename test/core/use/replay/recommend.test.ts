// Recommended caps, figure by figure, in companies small enough to be worked out by hand; and whatever the groups, the share is kept.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scopeKey, TEAM } from '../../../../src/core/model/scope.ts'
import { credits } from '../../../../src/core/model/units.ts'
import { recommend } from '../../../../src/core/use/replay/recommend.ts'
import { DAY, email, type PolicySketch, policy, roster } from '../../../support/declare.ts'
import { runs } from '../../../support/fuzz.ts'
import { historyOf, ownedCap, raise, TEAM as TEAM_SCOPE } from '../../../support/ledger.ts'
import { cyclesOf, group, recordedOf, START, weekdays } from '../../../support/replay.ts'

type Target = Parameters<typeof recommend>[0]['target']

/** Credits of each person by cycle, all used on its first day. */
const byCycle = (use: Readonly<Record<string, readonly number[]>>) =>
  Object.fromEntries(
    Object.entries(use).map(([name, cycles]) => [name, cycles.flatMap((amount) => [amount, ...Array.from({ length: 27 }, () => 0)])]),
  )

interface Sketch extends Partial<Omit<Parameters<typeof recommend>[0], 'policy' | 'target'>> {
  readonly use: Readonly<Record<string, readonly number[]>>
  readonly days?: Readonly<Record<string, readonly number[]>>
  readonly policy?: PolicySketch
}

function recommended({ use, days, policy: sketch = { caps: { team: 5 } }, ...more }: Sketch, target: Target) {
  const cycles = Math.max(...Object.values(use).map((one) => one.length))
  return recommend({
    workspace: 'acme',
    policy: { set: policy(sketch), digest: '0123456789ab', revision: '' },
    recorded: recordedOf(days ?? byCycle(use)),
    cycles: cyclesOf(cycles),
    shown: 99,
    roster: roster(Object.fromEntries(Object.keys(use).map((name) => [name, 'approved']))),
    groups: [],
    owned: [],
    history: [],
    creditsPerSeat: credits(0),
    notes: [],
    target,
    ...more,
  })
}
const share = (of: number): Target => ({ kind: 'blocked', share: of })
const budget = (of: number): Target => ({ kind: 'budget', credits: of })

function done(sketch: Sketch, target: Target) {
  const result = recommended(sketch, target)
  if ('least' in result) throw new Error(`out of reach: ${result.least}`)
  return result
}
/** Caps by scope. */
const caps = (sketch: Sketch, target: Target) =>
  Object.fromEntries(done(sketch, target).caps.map(({ scope, cap }) => [scopeKey(scope), cap]))

describe('the cap of the team', () => {
  const use = { ada: [300, 100], bob: [50, 700], cy: [0, 0] }

  test('has its figures with it', () => {
    const { caps: all, dearest, workspace } = done({ use }, share(0))
    expect(all).toEqual([
      {
        ...{ scope: TEAM, name: 'the team', cap: 700, before: credits(5), people: 3, apart: 0, personCycles: 6, blocked: 0 },
        ...{ highestDemand: 700, poolCredits: 800 },
      },
    ])
    expect([dearest, workspace]).toEqual([800, 'acme'])
  })
  test('has its figures in whole cents', () =>
    expect(done({ use: { ada: [0.1], bob: [0.2] } }, share(0)).caps[0]).toMatchObject({ highestDemand: 0.2, poolCredits: 0.3 }))
  test('may block the given share of people, those without use included', () => {
    expect(done({ use }, share(1 / 6)).caps[0]).toMatchObject({ cap: 300, blocked: 1, highestDemand: 700, poolCredits: 800 })
    expect(done({ use }, share(0.49)).caps[0]).toMatchObject({ cap: 100, blocked: 2 })
  })
  test('goes by the shown cycles alone', () =>
    expect(caps({ use: { ada: [900, 100], bob: [50, 70] }, shown: 1 }, share(0))).toEqual({ team: 100 }))
  test('counts people who left in the cycles in which they used something', () => {
    const one: Sketch = { use: { ada: [300, 200], bob: [100, 0] }, roster: roster({ ada: 'approved' }) }
    expect(done(one, share(0.5)).caps[0]).toMatchObject({ cap: 200, people: 1, personCycles: 3 })
  })
  test('counts what a cap in force had cut off', () => {
    const days = { ada: [...weekdays(10), ...weekdays(10).map((amount, day) => (day < 11 ? amount : day === 11 ? 5 : 0))] }
    const history = [historyOf(raise(TEAM_SCOPE, 1000, 95), START + 28 * DAY)]
    expect(done({ use: { ada: [0, 0] }, days, history, owned: [ownedCap(TEAM_SCOPE, 95)], shown: 1 }, share(0)).caps[0]).toMatchObject({
      ...{ cap: 200, highestDemand: 200 },
    })
  })
  test('is the least there is where nobody used anything and no cycle is known', () => {
    const { caps: all, dearest } = done({ use: { ada: [] } }, share(0))
    expect(all).toMatchObject([{ cap: 10, people: 0, personCycles: 0, highestDemand: 0, poolCredits: 0 }])
    expect(dearest).toBe(0)
  })
  test('is not for people who are in a pool or have a cap of their own, and grants are no such cap', () => {
    const emails = [email('bob')]
    const policies: PolicySketch = {
      ...{ caps: { team: 5, cy: 40 }, pools: [{ name: 'p', members: { kind: 'emails', emails }, credits: 900 }] },
      grants: [{ on: 'ada', cap: 900, from: START, until: START + 99 * DAY }],
    }
    expect(done({ use: { ada: [100, 60], bob: [700, 1], cy: [300, 2] }, policy: policies }, share(0)).caps).toMatchObject([
      { cap: 100, people: 1, highestDemand: 100 },
    ])
  })
})

describe('the caps of groups', () => {
  const use = { ada: [100], bob: [80], dan: [40], cy: [500], eve: [60] }
  const groups = [group('a', 'ada', 'bob', 'dan'), group('b', 'cy')]

  test('are each for their own people, by the names of the policy; the team is last, for people in none', () => {
    const { caps: all } = done({ use, groups, policy: { caps: { 'group:b': 5, 'group:a': 5, team: 5 } } }, share(0))
    expect(all.map(({ scope, name, cap, people }) => [scopeKey(scope), name, cap, people])).toEqual([
      ['group:b', 'B', 500, 1],
      ['group:a', 'A', 100, 3],
      ['team', 'the team', 60, 1],
    ])
  })
  test('take the place of declared ones, new ones stand with them, and all else stays', () => {
    const sketch: PolicySketch = { caps: { team: 5, 'group:a': 5, 'group:z': 8, ada: 70 }, bare: ['b', 'y'] }
    const { set } = done({ use, groups, policy: sketch }, share(0))
    expect(set.rules.map((one) => [scopeKey(one.scope), one.cap])).toEqual([
      ['team', 60],
      ['group:a', 80],
      ['group:z', 8],
      ['group:b', 500],
      [email('ada'), 70],
    ])
    expect(set.rules.find((one) => scopeKey(one.scope) === 'group:b')).toMatchObject({
      ...{ at: { file: 'recommend', line: 1, column: 1 }, document: 'acme' },
    })
    expect(set.rules[0]?.at.file).toBe('acme.yaml')
  })

  const only: Sketch = { use, groups, policy: { caps: { team: 20, 'group:a': 5, 'group:b': 'none' } }, only: ['a'] }
  test.each([
    ['is met to the credit', 160, 40, 160],
    ['is met by the least caps there are', 70, 10, 70],
  ])('a budget %s', (_name, most, cap, dearest) => {
    const result = done(only, budget(most))
    expect([result.caps.map((one) => [scopeKey(one.scope), one.cap]), result.dearest]).toEqual([[['group:a', cap]], dearest])
    expect(result.set.rules.map((one) => one.cap)).toEqual([20, cap, 'none'])
  })
  test('take what a grant costs from the others', () => {
    const one = {
      use: { ada: [300], bob: [200], cy: [90] },
      policy: { grants: [{ on: 'ada', cap: 900, from: START, until: START + 99 * DAY }] },
    }
    expect([done(one, budget(480)), done(one, budget(320))].map(({ caps: [team], dearest }) => [team?.cap, dearest])).toEqual([
      [90, 480],
      [10, 320],
    ])
    expect(recommended(one, budget(319))).toEqual({ least: 320 })
  })
  test('tell the least that they come to where a budget is out of reach', () =>
    expect(recommended(only, budget(69))).toEqual({ least: 70 }))
  test('need none of the team where only they are asked for', () =>
    expect(done({ ...only, policy: { caps: { 'group:a': 5 } } }, share(0)).set.rules.map((one) => [scopeKey(one.scope), one.cap])).toEqual([
      ['group:a', 100],
    ]))
})

describe('people in several groups', () => {
  const sketch = (onGroupConflict?: 'min' | 'max'): Sketch => ({
    use: { ada: [50], bob: [30], cy: [20], xen: [100] },
    groups: [group('a', 'ada', 'xen'), group('b', 'bob', 'cy', 'xen')],
    policy: { caps: { 'group:a': 5, 'group:b': 5 }, ...(onGroupConflict && { onGroupConflict }) },
    only: ['a', 'b'],
  })
  test.each<readonly [string, 'min' | 'max' | undefined, number, readonly number[]]>([
    ['by the highest of their caps where the policy says so', 'max', 199, [90, 30]],
    ['by the lowest where the policy says so', 'min', 199, [100, 90]],
    ['by the lowest where nothing is said', undefined, 199, [100, 90]],
  ])('count for a budget %s', (_name, rule, most, [a, b]) =>
    expect(caps(sketch(rule), budget(most))).toEqual({ 'group:a': a, 'group:b': b }),
  )
  test('may make one cap rise because another did', () => {
    const use = { ada: [100], pat: [90], quy: [80], rex: [10], tea: [10], ugo: [10], val: [0], xen: [0], yan: [0] }
    const groups = [
      group('c', 'tea', 'ugo', 'val', 'xen', 'yan'),
      group('b', 'ada', 'pat', 'val', 'xen', 'yan'),
      group('a', 'pat', 'quy', 'rex', 'tea', 'ugo'),
    ]
    const three: Sketch = { use, groups, policy: { caps: { 'group:a': 5, 'group:b': 5, 'group:c': 5 } }, only: ['a', 'b', 'c'] }
    expect(caps(three, share(0.5))).toEqual({ 'group:a': 80, 'group:b': 100, 'group:c': 10 })
  })
})

test('of a pool a budget counts what its members may use together', () => {
  const emails = [email('ada'), email('bob')]
  const sketch: PolicySketch = { caps: { team: 5 }, pools: [{ name: 'p', members: { kind: 'emails', emails }, credits: 100 }] }
  expect(caps({ use: { ada: [80], bob: [80], cy: [100], dan: [80], eve: [40] }, policy: sketch }, budget(240))).toEqual({ team: 50 })
})

test('a budget goes to those whom it blocks in any case, not only to those who need little', () => {
  const { caps: all, dearest } = done({ use: { ada: [3000], bob: [70], cy: [0] } }, budget(2000))
  expect([all.map(({ cap, blocked }) => [cap, blocked]), dearest]).toEqual([[[1900, 1]], 1970])
})

describe('whatever the groups', () => {
  const NAMES = ['ada', 'bob', 'cy', 'dan', 'eve', 'fay', 'gus', 'hal']
  const companies = fc.record({
    rows: fc.array(fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 56, maxLength: 56 }), { minLength: 8, maxLength: 8 }),
    a: fc.subarray(NAMES),
    b: fc.subarray(NAMES),
    onGroupConflict: fc.constantFrom(undefined, 'min' as const, 'max' as const),
    own: fc.dictionary(fc.constantFrom('ada', 'bob'), fc.integer({ min: 1, max: 900 }), { noNullPrototype: true }),
  })
  const of = ({ rows, a, b, onGroupConflict, own }: typeof companies extends fc.Arbitrary<infer Company> ? Company : never): Sketch => ({
    use: Object.fromEntries(NAMES.map((name) => [name, [0, 0]])),
    days: Object.fromEntries(NAMES.map((name, index) => [name, rows[index] ?? []])),
    policy: { caps: { team: 5, 'group:a': 5, 'group:b': 7, ...own }, ...(onGroupConflict && { onGroupConflict }) },
    groups: [group('a', ...a), group('b', ...b)],
    creditsPerSeat: credits(20),
  })

  test('no cap blocks more than the share of those who have it', () => {
    fc.assert(
      fc.property(companies, fc.integer({ min: 0, max: 60 }), (company, percent) => {
        const { caps, simulation } = done(of(company), share(percent / 100))
        for (const { scope, cap, blocked, personCycles, highestDemand } of caps) {
          expect(blocked).toBeLessThanOrEqual((personCycles * percent) / 100 + 1e-9)
          expect(simulation.caps.find((one) => one.scope === scopeKey(scope))?.cap ?? cap).toBe(cap)
          if (percent === 0) expect(cap).toBeGreaterThanOrEqual(highestDemand - 0.01)
        }
      }),
      runs(30),
    )
  })

  test('the most expensive cycle keeps the budget, or the least that can be reached is reported', () => {
    fc.assert(
      fc.property(companies, fc.integer({ min: 1, max: 9_000 }), (company, most) => {
        const result = recommended(of(company), budget(most))
        if ('least' in result) expect(result.least).toBeGreaterThan(most)
        else expect(result.dearest).toBeLessThanOrEqual(most + 0.05)
      }),
      runs(30),
    )
  })
})

test('a budget holds with a pool, whose members may use its credits and no more', () => {
  const names = ['ada', 'bob', 'cy', 'dan', 'eve', 'fay', 'gus', 'hal']
  const {
    dearest,
    caps: all,
    simulation,
  } = done(
    {
      use: Object.fromEntries(names.map((name) => [name, [0, 0]])),
      days: Object.fromEntries(names.map((name, index) => [name, weekdays(10 + index, 56)])),
      policy: { caps: { team: 5, 'group:b': 5 }, pools: [{ name: 'p', members: { kind: 'groups', ids: ['a'] }, credits: 300 }] },
      groups: [group('a', 'ada', 'bob', 'cy'), group('b', 'dan')],
      creditsPerSeat: credits(20),
    },
    budget(1000),
  )
  expect(dearest).toBeLessThanOrEqual(1000)
  expect(simulation.cycles[0]?.pools[0]?.policy.credits.middle).toBeGreaterThan(250)
  expect(all.map(({ scope, people }) => [scopeKey(scope), people])).toEqual([
    ['group:b', 1],
    ['team', 4],
  ])
})

test.each([
  [10, 10],
  [10.01, 20],
  [999, 1_000],
  [1_001, 1_050],
  [10_001, 10_500],
])('%d credits are rounded up to a cap of %d', (least, cap) => expect(caps({ use: { ada: [least] } }, share(0))).toEqual({ team: cap }))
test('the dust of a sum is not rounded up', () =>
  expect(caps({ use: { ada: [0] }, days: { ada: Array(25).fill(0.8) } }, share(0))).toEqual({ team: 20 }))
