// How guards work together: in rounds, on what the others have left, with changes that they may not hold, part by part, and where caps are copied.
import { expect, test } from 'vitest'
import { buildPlan } from '../../../../src/core/plan/plan.ts'
import { CYCLE, cap, DAY, email, entryOf, NOW, roster, scope } from '../../../support/declare.ts'
import { COPYING, each, lines, type PlanSketch, planInputs, planOf } from '../../../support/plan.ts'

test('the id of a hold is taken from the workspace and one line a change, and that of a deal from the deal', () => {
  const texts: string[] = []
  const digest = (text: string): string => {
    texts.push(text)
    return '0123456789abcdef0123456789abcdef0123456789abcdef'
  }
  const wide: PlanSketch = { caps: { team: 6, 'group:g': 6 }, observed: { team: 5, 'group:g': 'none' }, model: COPYING }
  const [hold] = buildPlan({ ...planInputs(wide), digest }).plan.holds
  expect([hold?.changes.length, hold?.id]).toEqual([2, '0123456789abcdef0123456789abcdef'])
  expect(texts).toContain(JSON.stringify(['acme', ['["group:g","none",6]', '["team",5,6]']]))
  const deal = planInputs(dealing(400))
  buildPlan({ ...deal, digest })
  expect(texts).toContain(JSON.stringify(['acme', 'pool', deal.poolReviews.get('research')?.key]))
})

/** By number, from p0 on: eight are lowered, of whom p0 is protected, six are blocked, four cleared, two raised; no credits are left. */
const ALL = each(20, 0)
const shape = <T>(of: (to: number | 'none', from: number, name: string) => T): Record<string, T> =>
  Object.fromEntries(
    Object.keys(ALL).map((name, index) => [
      name,
      index < 14 ? of(400, 500, name) : index < 18 ? of('none', 500, name) : of(500, 400, name),
    ]),
  )
const EVERYTHING: PlanSketch = {
  ...{
    observed: shape((_to, from) => from),
    used: each(6, 400, 8),
  },
  ...{ protect: ['p0'], facts: { creditsRemaining: 0 } },
}
const kept = (name: string, to: number | 'none') =>
  ({ scope: scope(name), code: 'ZERO_NOT_STORED', message: 'reads unset', entry: entryOf('cap', 0), at: NOW, restore: cap(to) }) as const
/** The pool deals so much to each; `none` of them is cleared. */
function dealing(to: number, reviewed?: string): PlanSketch {
  const member = (dealt: number) => ({ base: cap(0) as never, dealt: cap(dealt) as never, sent: [], lowered: [] })
  const members = Object.fromEntries(Object.keys(ALL).map((name, index) => [email(name), member(index < 18 ? to : 500)]))
  return {
    ...EVERYTHING,
    pools: [{ name: 'research', credits: 99_999, members: { kind: 'emails', emails: Object.keys(members) } }],
    dealt: { research: { cycle: CYCLE, readAt: NOW, dealtAt: NOW, members, ...(reviewed !== undefined && { reviewed }) } },
  }
}
const ended = (on: string) => ({ on, cap: 6000, until: NOW - DAY })

test.each<readonly [string, PlanSketch, string]>([
  ['of policy from none', { caps: shape((to) => to) }, 'maxAffected maxLowered maxBlocked maxCleared maxRaise protected'],
  [
    'that heals from shares and raises',
    { caps: shape((to) => to), owned: shape((to) => ({ cap: to })), guards: { contested: 'off' } },
    'maxCleared protected',
  ],
  [
    'that ends a grant from shares but clears, and from protection',
    {
      grants: Object.keys(ALL).map(ended),
      owned: shape((to, from, name) => ({ cap: from, owner: 'grant', baseline: to, grant: ended(name) })),
    },
    'maxCleared maxRaise',
  ],
  [
    'that restores the cap from before a 0 of ours as one that heals, and from protection',
    { caps: each(20, 0), quarantined: Object.entries(shape((to) => to)).map(([name, to]) => kept(name, to)) },
    'maxCleared',
  ],
  [
    'that restores the same after a foreign change as any that heals',
    {
      caps: each(20, 0),
      owned: shape((to) => ({ cap: to, entry: entryOf('kept', to) })),
      quarantined: Object.entries(shape((to) => to)).map(([name, to]) => kept(name, to)),
    },
    'maxCleared protected',
  ],
  ['of a pool that was not reviewed from none', dealing(400), 'maxAffected maxLowered maxBlocked maxRaise'],
  ['of a reviewed pool from all that count', dealing(400, planInputs(dealing(400)).poolReviews.get('research')?.key), ''],
])('a change %s is exempt', (_name, sketch, expected) => {
  const guards = new Set(planOf({ ...EVERYTHING, ...sketch }).plan.holds.flatMap((hold) => hold.guards))
  expect([...guards].sort().join(' ')).toBe(expected.split(' ').sort().join(' '))
})

const doubted = (sketch: PlanSketch) => lines(planOf({ ...sketch, facts: { rosterDoubt: { before: 40, now: 20 } } }))

test('while the roster is doubted a person who is not counted is not lowered or cleared either, but may be raised', () => {
  const people = roster({ p0: 'disabled', p1: 'disabled', p2: 'disabled', p3: 'disabled', p4: 'approved' })
  const caps = { p0: 4, p1: 6, p2: 'none' as const, p3: 7 }
  expect(doubted({ roster: people, caps, observed: { p0: 5, p1: 5, p2: 5, p3: 'none' } })).toEqual([
    'p1 raise 5>6 policy',
    'p3 set none>7 policy',
    'p0 lower 5>4 policy held:rosterShrink',
    'p2 clear 5>none policy held:rosterShrink',
  ])
})
