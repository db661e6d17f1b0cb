// What was held when something else was released: for a day it stays held, though the release has made it harmless, and nothing else does.
import { describe, expect, test } from 'vitest'
import { cap, DAY, NOW, scope } from '../../support/declare.ts'
import { each, type PlanSketch, planOf } from '../../support/plan.ts'

type Approval = NonNullable<PlanSketch['approvals']>[number]
type HeldChange = Omit<Approval['released'][number], 'verified'>

const change = (name: string, from: number | 'none', to: number | 'none'): HeldChange => ({
  scope: scope(name),
  from: cap(from),
  to: cap(to),
})

/** The team's raise from 50 to 200 was released, while clears of what six people have were held. */
const approval = (more: Partial<Approval> = {}, released: Partial<Approval['released'][number]> = {}): Approval => ({
  ...{ id: 'a'.repeat(32), via: 'command', approvedAt: NOW - DAY, state: 'spent', people: 20, releasedAt: NOW - DAY / 2 },
  released: [{ ...change('team', 50, 200), verified: true, ...released }],
  beside: Array.from({ length: 6 }, (_, index) => change(`p${index}`, 200, 'none')),
  ...more,
})
const SKETCH: PlanSketch = {
  ...{ people: 20, caps: { team: 200 }, observed: { team: 200, ...each(6, 200) }, facts: { creditsRemaining: 100 } },
  owned: { team: { cap: 200 }, ...each(6, { cap: 200 }) },
}
/** So many that the clears alone, which lower nobody below the team's 200, are held only while the raise of the team counts. */
const MANY: PlanSketch = { people: 40, guards: { maxLowered: { percent: 0, floor: 5 } } }
const heldOf = (sketch: PlanSketch, one: Approval): number =>
  planOf({ ...SKETCH, ...sketch, approvals: [one] }).plan.holds.reduce((sum, { changes }) => sum + changes.length, 0)

test.each<readonly [string, PlanSketch, Approval, number]>([
  ['stays held once the raise has landed', {}, approval(), 6],
  ['stays held where only a reading shows that it has', {}, approval({}, { verified: false }), 6],
  ['stays held just short of a day', {}, approval({ releasedAt: NOW - DAY + 1 }), 6],
  ['goes out after a day', {}, approval({ releasedAt: NOW - DAY }), 0],
  ['goes out where nothing was released yet', {}, { ...approval(), releasedAt: undefined } as unknown as Approval, 0],
  ['goes out where it was another change then', {}, approval({ beside: [change('p0', 300, 'none'), change('p1', 200, 100)] }), 0],
  ['goes out where it was not held', {}, approval({ beside: [] }), 0],
  ['stays held where what was released is the deal of a pool', {}, approval({}, { pool: 'deal' }), 6],
  ['goes out where nobody wrote down what was held', {}, { ...approval(), beside: undefined } as unknown as Approval, 0],
  ['goes out where another team cap is asked by now', { ...MANY, caps: { team: 300 }, facts: { creditsRemaining: 4500 } }, approval(), 0],
  [
    'goes out where the raise never landed, and nobody asks for it any more',
    { ...MANY, caps: { p39: 9 }, observed: { team: 300, p39: 9, ...each(6, 200) }, facts: { creditsRemaining: 2000 } },
    approval({}, { verified: false }),
    0,
  ],
  ['stays held where somebody else has changed the team since', { observed: { team: 500, ...each(6, 200) } }, approval(), 6],
])('what was held when the team was raised: %s', (_name, sketch, one, count) => expect(heldOf(sketch, one)).toBe(count))

describe('an approved roster', () => {
  const doubt = (since: number, now = 20): PlanSketch => ({
    ...{ people: 20, caps: { team: 200 }, observed: { team: 200 }, owned: { team: { cap: 200 } } },
    facts: { rosterDoubt: { before: 40, now, since } },
  })
  const given = (more: Partial<Approval>): Approval => approval({ released: [], beside: [], roster: 20, ...more })
  test.each<readonly [string, PlanSketch, Approval, boolean]>([
    ['counts once no hold doubts it', doubt(NOW - DAY), given({}), true],
    ['counts from the instant of the doubt on', doubt(NOW - DAY / 2), given({}), true],
    ['is not that of an earlier doubt', doubt(NOW - DAY / 4), given({}), false],
    ['is not another one', doubt(NOW - DAY, 9), given({}), false],
    [
      'is none where nothing was released, since whenever it is doubted',
      { ...doubt(0), facts: { rosterDoubt: { before: 40, now: 20 } } },
      { ...given({}), releasedAt: undefined } as unknown as Approval,
      false,
    ],
    ['does not count while a hold doubts it', { ...doubt(NOW - DAY), caps: { team: 300 } }, given({}), false],
    ['is nothing where none is doubted', { ...doubt(0), facts: {} }, given({}), false],
  ])('%s', (_name, sketch, one, isAccepted) => expect(planOf({ ...sketch, approvals: [one] }).rosterAccepted).toBe(isAccepted))

  test('counts by any of several approvals', () =>
    expect(planOf({ ...doubt(NOW - DAY), approvals: [approval({ id: 'b'.repeat(32) }), given({})] }).rosterAccepted).toBe(true))
})

test('a hold keeps its id when another is released: what would come upon its people in place of what is held is in it from the beginning', () => {
  const uses = (names: readonly string[], value: number) => Object.fromEntries(names.map((name) => [name, value]))
  const high = { p10: 500, p11: 500, p12: 500 }
  const company: PlanSketch = {
    people: 20,
    groups: { a: ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'], b: ['p0'] },
    caps: { 'group:a': 1000, 'group:b': 200, p10: 100, p11: 100, p12: 100 },
    onGroupConflict: 'max',
    // Blocked by what is asked for are p0 to p3 and p10 to p12, p0 by the cap of the conflict rule.
    used: uses(['p0', 'p1', 'p2', 'p3', ...Object.keys(high)], 1200),
  }
  const before = planOf({ ...company, observed: { team: 'none', 'group:a': 1500, 'group:b': 'none', p0: 'none', ...high } }).plan.holds
  const [a, others] = before
  expect(before.map(({ changes }) => changes.length)).toEqual([1, 5])
  const after = planOf({
    ...company,
    observed: { team: 'none', 'group:a': 1000, 'group:b': 'none', p0: 'none', ...high },
    baseline: { 'group:a': 1500 },
    approvals: [
      { ...approval({ id: a?.id ?? '' }), released: [{ ...change('group:a', 1500, 1000), verified: true }], beside: others?.changes ?? [] },
    ],
  }).plan.holds
  expect(after.map(({ id }) => id)).toEqual([others?.id])
})
