// Which deals of pools the guards have let through, and how a plan holds one that they have not.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { creditsMoved, poolReviews, withReviews } from '../../../src/core/plan/approval.ts'
import type { Difference, PoolReview } from '../../../src/core/plan/snapshot.ts'
import type { PoolState } from '../../../src/core/pools/state.ts'
import { CYCLE, cap, email, NOW, type PlainCap, type PoolSketch, policy, scope } from '../../support/declare.ts'
import { digest, lines, type PlanSketch, planOf } from '../../support/plan.ts'

const POOL = { name: 'research', credits: 100, members: { kind: 'emails', emails: [] } } satisfies PoolSketch
const state = (dealt: Readonly<Record<string, number>>, more: Partial<PoolState> = {}): PoolState => ({
  cycle: CYCLE,
  readAt: NOW,
  dealtAt: NOW,
  members: Object.fromEntries(
    Object.entries(dealt).map(([name, amount]) => [
      email(name),
      { base: cap(0) as never, dealt: cap(amount) as never, sent: [], lowered: [] },
    ]),
  ),
  ...more,
})
const reviewOf = (
  sketch: Partial<PoolSketch> = {},
  names = ['ada', 'bob'],
  workspace = 'acme',
  dealt: Record<string, PoolState> = {},
): PoolReview => {
  const pools = policy({ pools: [{ ...POOL, ...sketch }] }).pools.map((pool) => ({
    pool,
    members: names.map((name) => (name.startsWith('!') ? { email: email(name.slice(1)), protected: true } : { email: email(name) })),
  }))
  const [review] = poolReviews(workspace, pools, dealt, digest).values()
  return review ?? { name: '', key: '', isReviewed: false }
}

describe('a deal', () => {
  test.each<readonly [string, PoolReview]>([
    ['other credits', reviewOf({ credits: 101 })],
    ['another share', reviewOf({ share: 'equal' })],
    ['another least', reviewOf({ min: 1 })],
    ['another most', reviewOf({ max: 50 })],
    ['another name', reviewOf({ name: 'design' })],
    ['another member', reviewOf({}, ['ada', 'bob', 'cyd'])],
    ['one member less', reviewOf({}, ['ada'])],
    ['a member who is only counted', reviewOf({}, ['ada', '!bob'])],
    ['another workspace', reviewOf({}, undefined, 'beta')],
  ])('is another one with %s', (_name, other) => expect(other.key).not.toBe(reviewOf().key))

  test('is known by 32 hex digits, whatever the order of its members', () => {
    expect(reviewOf({}, ['bob', 'ada']).key).toBe(reviewOf().key)
    expect(reviewOf().key).toMatch(/^[0-9a-f]{32}$/)
  })

  test('is reviewed once the guards let through just that one', () => {
    const { key } = reviewOf()
    const remembered = (name: string, reviewed: string): Record<string, PoolState> => ({ [name]: state({}, { reviewed }) })
    expect(reviewOf({}, undefined, undefined, remembered('research', key))).toEqual({ name: 'research', key, isReviewed: true })
    expect(reviewOf({}, undefined, undefined, remembered('research', 'another')).isReviewed).toBe(false)
    expect(reviewOf({}, undefined, undefined, remembered('design', key)).isReviewed).toBe(false)
    expect(reviewOf().isReviewed).toBe(false)
  })
})

describe('what is remembered after a plan', () => {
  const review = reviewOf()
  const key = scopeKey(scope('ada'))
  const ofPool = new Map([[key, { key, pool: review } as Difference]])
  const ofNone = new Map([[key, { key } as Difference]])
  test.each<
    readonly [string, PoolState, PoolReview | undefined, ReadonlyMap<typeof key, Difference>, readonly string[], string | undefined]
  >([
    ['that the guards let the deal through', state({}), review, ofPool, [], review.key],
    ['it also where something else at a member’s scope is held', state({}), review, ofNone, [key], review.key],
    ['nothing while a part of the deal is held', state({}), review, ofPool, [key], undefined],
    ['nothing before anything was dealt', { cycle: CYCLE, readAt: NOW, members: {} }, review, ofPool, [], undefined],
    [
      'nothing new of a deal that was let through before',
      state({}, { reviewed: 'before' }),
      { ...review, isReviewed: true },
      ofPool,
      [],
      'before',
    ],
    ['nothing new of a pool that policy does not declare any more', state({}, { reviewed: 'before' }), undefined, ofPool, [], 'before'],
  ])('is %s', (_name, one, found, differences, held, expected) => {
    const reviews = new Map(found ? [['research', found]] : [])
    const after = withReviews({ research: one }, reviews, differences, new Set(held.map(() => key)))
    expect(after).toEqual({ research: expected === undefined ? one : { ...one, reviewed: expected } })
  })
})

describe('a plan with a deal', () => {
  const dealing = (to: number, more: PlanSketch = {}): PlanSketch => ({
    people: ['ada', 'bob', 'cyd'],
    pools: [{ ...POOL, members: { kind: 'emails', emails: [email('ada'), email('bob')] } }],
    dealt: { research: state({ ada: to, bob: to }) },
    caps: { cyd: 5 },
    observed: { ada: 60, bob: 60, cyd: 9 },
    guards: { maxAffected: 'off', maxLowered: { percent: 10, floor: 0 } },
    ...more,
  })

  test('holds it as one, under an id that does not move with the amounts', () => {
    const planned = planOf(dealing(50))
    expect(lines(planned)).toEqual([
      'ada lower 60>50 policy held:maxLowered',
      'bob lower 60>50 policy held:maxLowered',
      'cyd lower 9>5 policy held:maxLowered',
    ])
    const [deal, other] = planned.plan.holds
    expect(planned.plan.holds.map(({ changes }) => changes.length)).toEqual([2, 1])
    expect(planOf(dealing(40)).plan.holds.map(({ id }) => id)).toEqual([deal?.id, other?.id])
    expect(
      planOf(dealing(50, { pools: [{ ...POOL, credits: 99, members: { kind: 'emails', emails: [email('ada'), email('bob')] } }] })).plan
        .holds[0]?.id,
    ).not.toBe(deal?.id)
    expect(planOf(dealing(40, { approve: [deal?.id ?? ''] })).plan.holds.map(({ changes }) => changes.length)).toEqual([1])
  })

  test('lets it through once it was reviewed, and judges everything else as ever', () => {
    const { key } = reviewOf({}, ['ada', 'bob'])
    expect(lines(planOf(dealing(40, { dealt: { research: state({ ada: 40, bob: 40 }, { reviewed: key }) } })))).toEqual([
      'ada lower 60>40 policy',
      'bob lower 60>40 policy',
      'cyd lower 9>5 policy held:maxLowered',
    ])
  })
})

test.each<readonly [string, PlainCap, PlainCap, number]>([
  ['a raise', 5, 8, 3],
  ['what is taken', 8, 5, 3],
  ['nothing for a first cap', 'none', 8, 0],
  ['nothing for a cap that goes', 8, 'none', 0],
])('the credits that a deal moves are those of %s', (_name, from, to, expected) => {
  expect(creditsMoved([{ from: cap(from), to: cap(to) }])).toBe(expected)
  expect(
    creditsMoved([
      { from: cap(from), to: cap(to) },
      { from: cap(1), to: cap(3) },
    ]),
  ).toBe(expected + 2)
})
