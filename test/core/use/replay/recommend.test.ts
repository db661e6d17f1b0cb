// Caps from recorded use: whatever the groups, the share is kept, and the figures are those of the replay.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../../src/core/model/scope.ts'
import { credits } from '../../../../src/core/model/units.ts'
import { niceCap, recommend, type Target } from '../../../../src/core/use/replay/recommend.ts'
import { email, policy, roster } from '../../../support/declare.ts'
import { runs } from '../../../support/fuzz.ts'
import { cyclesOf, group, recordedOf } from '../../../support/replay.ts'

const NAMES = ['ada', 'bob', 'cy', 'dan', 'eve', 'fay', 'gus', 'hal']

interface Company {
  readonly use: Readonly<Record<string, readonly number[]>>
  readonly a: readonly string[]
  readonly b: readonly string[]
  readonly onGroupConflict?: 'min' | 'max' | undefined
  readonly own?: Readonly<Record<string, number>>
}

function recommended({ use, a, b, onGroupConflict, own = {} }: Company, target: Target, only?: readonly string[]) {
  return recommend({
    workspace: 'acme',
    policy: {
      set: policy({ caps: { team: 5, 'group:a': 5, 'group:b': 7, ...own }, ...(onGroupConflict && { onGroupConflict }) }),
      digest: '0123456789ab',
      revision: '',
    },
    recorded: recordedOf(use),
    cycles: cyclesOf(2),
    shown: 2,
    roster: roster(Object.fromEntries(NAMES.map((name) => [name, 'approved']))),
    groups: [group('a', ...a), group('b', ...b)],
    owned: [],
    history: [],
    creditsPerSeat: credits(20),
    notes: [],
    target,
    ...(only && { only }),
  })
}

const done = (result: ReturnType<typeof recommend>) => {
  if ('least' in result) throw new Error(`out of reach: ${result.least}`)
  return result
}

const companies: fc.Arbitrary<Company> = fc.record({
  use: fc
    .array(fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 56, maxLength: 56 }), {
      minLength: NAMES.length,
      maxLength: NAMES.length,
    })
    .map((rows) => Object.fromEntries(NAMES.map((name, index) => [name, rows[index] ?? []]))),
  a: fc.subarray(NAMES),
  b: fc.subarray(NAMES),
  onGroupConflict: fc.constantFrom(undefined, 'min' as const, 'max' as const),
  own: fc.dictionary(fc.constantFrom('ada', 'bob'), fc.integer({ min: 1, max: 900 }), { noNullPrototype: true }),
})

describe('whatever the groups', () => {
  test('no cap blocks more than the share of those who have it', () => {
    fc.assert(
      fc.property(companies, fc.integer({ min: 0, max: 60 }), (company, percent) => {
        const { caps, simulation } = done(recommended(company, { kind: 'blocked', share: percent / 100 }))
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
      fc.property(companies, fc.integer({ min: 1, max: 9_000 }), (company, budget) => {
        const result = recommended(company, { kind: 'budget', credits: budget })
        if ('least' in result) expect(result.least).toBeGreaterThan(budget)
        else expect(result.dearest).toBeLessThanOrEqual(budget + 0.05)
      }),
      runs(30),
    )
  })
})

test('people with caps of their own keep them, and do not count for others', () => {
  const use = Object.fromEntries(NAMES.map((name) => [name, Array.from({ length: 56 }, () => (name === 'ada' ? 50 : 1))]))
  const { set, caps } = done(recommended({ use, a: ['ada', 'bob'], b: [], own: { ada: 33 } }, { kind: 'blocked', share: 0 }))
  expect(caps.find(({ scope }) => scopeKey(scope) === 'group:a')).toMatchObject({ cap: 10, personCycles: 2 })
  expect(set.rules.find((one) => scopeKey(one.scope) === email('ada'))?.cap).toBe(33)
})

test.each([
  [0, 10],
  [10, 10],
  [10.004, 10],
  [10.01, 20],
  [999, 1_000],
  [1_001, 1_050],
  [10_001, 10_500],
])('%d credits are rounded up to a cap of %d', (least, cap) => {
  expect(niceCap(least)).toBe(cap)
})

test('a budget holds with a pool, whose members may use its credits and no more', () => {
  const use = Object.fromEntries(NAMES.map((name, index) => [name, Array.from({ length: 56 }, (_, day) => (day % 7 < 5 ? 10 + index : 0))]))
  const { dearest, caps, simulation } = done(
    recommend({
      workspace: 'acme',
      policy: {
        set: policy({
          caps: { team: 5, 'group:b': 5 },
          pools: [{ name: 'p', members: { kind: 'groups', ids: ['a'] }, credits: 300 }],
        }),
        digest: '0123456789ab',
        revision: '',
      },
      recorded: recordedOf(use),
      cycles: cyclesOf(2),
      shown: 2,
      roster: roster(Object.fromEntries(NAMES.map((name) => [name, 'approved']))),
      groups: [group('a', 'ada', 'bob', 'cy'), group('b', 'dan')],
      owned: [],
      history: [],
      creditsPerSeat: credits(20),
      notes: [],
      target: { kind: 'budget', credits: 1000 },
    }),
  )
  expect(dearest).toBeLessThanOrEqual(1000)
  expect(simulation.cycles[0]?.pools[0]?.policy.credits.middle).toBeGreaterThan(250)
  expect(caps.map(({ scope, people }) => [scopeKey(scope), people])).toEqual([
    ['group:b', 1],
    ['team', 4],
  ])
})
