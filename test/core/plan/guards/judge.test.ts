// How guards work together: in rounds, on what the others have left, with changes that they may not hold, part by part, and where caps are copied.
import { describe, expect, test } from 'vitest'
import { buildPlan } from '../../../../src/core/plan/plan.ts'
import { CYCLE, cap, DAY, email, entryOf, HOUR, keysOf, NOW, roster, scope, short } from '../../../support/declare.ts'
import { COPYING, each, lines, type PlanMore, type PlanSketch, planInputs, planOf } from '../../../support/plan.ts'

type Approval = NonNullable<PlanSketch['approvals']>[number]

const guardsOf = (sketch: PlanSketch, more: PlanMore = {}): string[] => planOf(sketch, more).plan.holds.map((hold) => hold.guards.join('+'))
const heldLines = (sketch: PlanSketch): string[] => lines(planOf(sketch)).filter((line) => line.includes('held'))

describe('what is left after a hold', () => {
  /** Four people fall back from 500 to the team cap, which is 400 unless a held change makes it 600. */
  const LEANING: PlanSketch = {
    ...{ caps: { team: 600 }, observed: { team: 400, ...each(4, 500) }, owned: each(4, { cap: 500 }) },
    ...{ people: Object.keys(each(4, 0)), model: COPYING },
  }
  test('is judged again, by what it does without the held changes', () => {
    const { holds } = planOf(LEANING).plan
    expect(holds.map((hold) => [hold.guards.join('+'), hold.changes.length, hold.people])).toEqual([
      ['semantics', 1, 4],
      ['maxLowered', 4, 4],
    ])
  })

  test('leaves no warning of a guard that holds something already', () => {
    const { plan } = planOf({ observed: { p0: 5 }, owned: { p0: { cap: 5 } }, facts: { verifiedDeclared: 9 } })
    expect(plan.holds).toHaveLength(1)
    expect(plan.problems).toEqual([])
  })

  test('a guard with nothing to hold says what is wrong, with the workspace', () =>
    expect(planOf({ facts: { verifiedDeclared: 12 } }).plan).toMatchObject({
      holds: [],
      problems: [{ code: 'GUARD_EMPTY_POLICY', message: 'acme: no policy declares any scope (12 before), so nothing is cleared' }],
    }))

  test.each<readonly [string, PlanSketch]>([
    ['maxAffected', { caps: each(6, 'none'), observed: each(6, 5), guards: { maxCleared: 'off' } }],
    ['maxLowered', { caps: each(4, 4), observed: each(4, 5) }],
    ['maxBlocked', { people: 100, caps: each(4, 400), observed: each(4, 500), used: each(4, 400) }],
    ['maxCleared', { caps: each(4, 'none'), observed: each(4, 500) }],
    ['maxRaise', { caps: each(4, 600), observed: each(4, 500), facts: { creditsRemaining: 399 } }],
  ])('%s says nothing any more once its hold is approved', (guard, sketch) => {
    const [hold] = planOf(sketch).plan.holds
    expect(hold?.guards).toEqual([guard])
    expect(planOf({ ...sketch, approve: [hold?.id ?? ''] }).plan).toMatchObject({ holds: [], problems: [] })
  })

  test('a guard that counts says what is wrong where all of it was done by an interrupted plan', () => {
    const sketch: PlanSketch = { caps: { ...each(4, 400), p5: 9 }, observed: { ...each(4, 400), p5: 8 }, baseline: each(4, 500) }
    const message = expect.stringContaining('4 of 20 people would be lowered (20 %)')
    expect(planOf(sketch).plan.problems).toMatchObject([{ message }])
  })

  test('two guards that are settled otherwise name both ways out', () => {
    const reads = { failed: 1, total: 9, teamFailed: true }
    const [hold] = planOf({ caps: { p0: 4 }, observed: { p0: 5 }, protect: ['p0'], facts: { reads } }).plan.holds
    expect(hold?.message).toContain(
      `approve hold ${hold?.id} (capkeeper edit approve ${hold?.id}) or change spec.protected (capkeeper edit remove protect:p0@example.com), and wait for the service to answer`,
    )
  })
})

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

test('a change that restores the cap from before a 0 of ours is not held as a team or group write either', () => {
  const zero: PlanSketch = { caps: { team: 0 }, observed: { team: 'none' }, quarantined: [kept('team', 300)], model: COPYING }
  expect(lines(planOf(zero))).toEqual(['team set none>300 policy'])
  expect(guardsOf({ ...zero, owned: { team: { cap: 300, entry: entryOf('kept', 300) } } })).toEqual(['semantics'])
})

describe('where caps are copied, a team or group write that reaches a person with a held change', () => {
  const COPIED: PlanSketch = {
    caps: { team: 600, 'group:g': 700, 'group:h': 800, p0: 4, p1: 4, p2: 4 },
    observed: { team: 500, 'group:g': 650, 'group:h': 750, p0: 5, p1: 5, p2: 5 },
    groups: { g: ['p0', 'p2'], h: ['p9'] },
    capSemantics: 'copied',
  }
  const breaker = { openedAt: NOW, retryAt: NOW + 1, waitMs: 1, failed: 3, planned: 3, cause: '422', refused: true }
  test('is held by every guard that holds anybody it reaches, each once', () =>
    expect(heldLines({ ...COPIED, protect: ['p0', 'p2'], facts: { breaker: { ...breaker, scopes: [...keysOf('p1')] } } })).toEqual([
      'team raise 500>600 policy held:protected+breaker',
      'group:g raise 650>700 policy held:protected',
      'p0 lower 5>4 policy held:protected',
      'p1 lower 5>4 policy held:breaker',
      'p2 lower 5>4 policy held:protected',
    ]))

  test('is held by its own guards alone when it has some', () =>
    expect(heldLines({ ...COPIED, caps: { team: 400, p0: 4 }, observed: { team: 500, p0: 5 }, protect: ['p0'] })).toEqual([
      'team lower 500>400 policy held:maxAffected+maxLowered',
      'p0 lower 5>4 policy held:maxAffected+maxLowered+protected',
    ]))
})

describe('a person whose cap changes by two changes, of which one may not be held', () => {
  test('counts, and only the other change is held', () => {
    const owned = { team: { cap: 400 }, ...each(4, { cap: 500 }) }
    expect(lines(planOf({ caps: { team: 400 }, observed: { team: 900, ...each(4, 500) }, owned }))).toEqual([
      'team lower 900>400 external',
      ...Object.keys(each(4, 0)).map((name) => `${name} clear 500>none orphan held:maxLowered`),
    ])
  })

  const ENDED: PlanSketch = {
    ...{ grants: [ended('p0')], owned: { p0: { cap: 6000, owner: 'grant', grant: ended('p0') } } },
    ...{ observed: { p0: 6000 }, protect: ['p0'] },
  }
  test('a protected one is kept from the other, not from the end of a grant', () => {
    const sketch = { ...ENDED, caps: { team: 400 }, observed: { team: 500, p0: 6000 }, people: ['p0'] }
    expect(lines(planOf(sketch))).toEqual(['p0 clear 6000>none expired', 'team lower 500>400 policy held:protected'])
  })

  test('a protected one whose grant ends is not named beside others, and is no warning alone', () => {
    const ending = { ...ENDED, caps: { p0: 500, p1: 4 }, observed: { p0: 6000, p1: 5 } }
    expect(planOf(ending).plan.problems).toEqual([])
    const [hold] = planOf({ ...ending, protect: ['p1', 'p0'] }).plan.holds
    expect(hold?.message).toContain('acme: p1@example.com is protected and would be lowered; ')
  })
})

test('protected people are named in the order of their addresses, without those who are not on the roster', () => {
  const [hold] = planOf({ caps: each(2, 4), observed: each(2, 5), protect: ['p1', 'nobody', 'p0'] }).plan.holds
  expect(hold?.message).toContain('acme: p0@example.com, p1@example.com are protected')
})

test.each([
  ['may be given back what our own team write took', 100, 400, []],
  ['are not given back less than what it took', 100, 500, ['protected']],
  ['may get more than before it, though less than it gave', 500, 300, []],
])('protected people %s', (_name, observed, before, expected) => {
  const sketch: PlanSketch = { caps: { p0: 400 }, observed: { p0: observed }, baseline: { p0: before }, protect: ['p0'] }
  const sent = [{ scope: scope('team'), from: 'none' as const, to: cap(observed), at: NOW }]
  expect(guardsOf({ ...sketch, capSemantics: 'copied' }, { sent })).toEqual(expected)
})

describe('while the roster is doubted', () => {
  const doubted = (sketch: PlanSketch) => lines(planOf({ ...sketch, facts: { rosterDoubt: { before: 40, now: 20 } } }))

  test('a first cap is held when it takes something from its person, and not otherwise', () => {
    const observed = { team: 600, p0: 'none', p1: 'none', p2: 'none' } as const
    expect(doubted({ caps: { team: 600, p0: 500, p1: 700, p2: 500 }, observed, used: { p1: 700 } })).toEqual([
      'p1 set none>700 policy',
      'p0 set none>500 policy held:rosterShrink',
      'p2 set none>500 policy held:rosterShrink',
    ])
  })

  test('a person who is not counted is not lowered or cleared either, but may be raised', () => {
    const people = roster({ p0: 'disabled', p1: 'disabled', p2: 'disabled', p3: 'disabled', p4: 'approved' })
    const caps = { p0: 4, p1: 6, p2: 'none' as const, p3: 7 }
    expect(doubted({ roster: people, caps, observed: { p0: 5, p1: 5, p2: 5, p3: 'none' } })).toEqual([
      'p1 raise 5>6 policy',
      'p3 set none>7 policy',
      'p0 lower 5>4 policy held:rosterShrink',
      'p2 clear 5>none policy held:rosterShrink',
    ])
  })
})

const lowering = (count: number): PlanSketch => ({ people: 20, caps: { ...each(20, 500), ...each(count, 400) }, observed: each(20, 500) })

describe('guards judge platform first, then each envelope', () => {
  /** Which people each hold keeps back, where some scopes are of envelopes. */
  function held(sketch: PlanSketch, envelopes: Readonly<Record<string, readonly string[]>>, narrowed: readonly string[] = []) {
    const inputs = planInputs(sketch)
    const inside = Object.entries(envelopes).flatMap(([envelope, names]) => [...keysOf(...names)].map((key) => [key, envelope]))
    const settled = {
      envelopeOf: Object.fromEntries(inside),
      narrowed: Object.fromEntries([...keysOf(...narrowed)].map((key) => [key, 'narrowed'])),
      ...{ refusals: [], notes: [], declaredByPlatform: 1 },
      memory: { readAt: {}, members: {}, last: {}, joined: {}, spans: {}, scopes: {} },
    }
    const { holds } = buildPlan({ ...inputs, policy: { ...inputs.policy, settled } }).plan
    return holds.map(({ guards, changes }) => `${guards.join('+')}: ${changes.map((one) => short(one.scope)).join(' ')}`)
  }

  test.each<readonly [string, PlanSketch, Readonly<Record<string, readonly string[]>>, readonly string[]]>([
    ['two that are each within the share do not count for each other', lowering(6), { a: ['p0', 'p1', 'p2'], b: ['p3', 'p4', 'p5'] }, []],
    ['what platform does counts with each, and is not held by it', lowering(5), { a: ['p0', 'p1', 'p2'] }, ['maxLowered: p0 p1 p2']],
    ['what platform exceeds holds only changes of platform', lowering(6), { a: ['p5'] }, ['maxLowered: p0 p1 p2 p3 p4']],
  ])('%s', (_name, sketch, envelopes, expected) => expect(held(sketch, envelopes)).toEqual(expected))

  test('what a narrowed envelope takes is held, and what it gives is not', () => {
    const sketch = { people: 20, caps: { ...each(20, 500), p0: 400, p1: 600 }, observed: each(20, 500) }
    expect(held(sketch, { a: ['p0', 'p1'] }, ['p0', 'p1'])).toEqual(['envelope: p0'])
  })
})

describe('an open breaker', () => {
  const openedAt = NOW - HOUR
  const breaker = { openedAt, retryAt: NOW + HOUR, waitMs: HOUR, failed: 3, planned: 12, cause: 'UsageConfig: 503', scopes: [] }
  const LOWER: PlanSketch = { caps: { p0: 400 }, observed: { p0: 500 }, facts: { breaker } }
  const approved = (approvedAt: number): Approval => ({
    ...{ id: 'aaaaaaaaaaaa', via: 'command', approvedAt, state: 'pending', people: 1 },
    released: [{ scope: scope('p0'), from: cap(500), to: cap(400), verified: false }],
  })
  test.each([
    ['holds what nobody approved', [], true],
    ['holds what was approved before it opened: that had its try', [approved(openedAt - 1)], true],
    ['lets through what was approved as it opened, or later', [approved(openedAt)], false],
  ])('%s', (_name, approvals, isHeld) => expect(heldLines({ ...LOWER, approvals })).toHaveLength(isHeld ? 1 : 0))

  test('tells the cause, both numbers, when it goes on, and the way out', () => {
    const [hold] = planOf(LOWER).plan.holds
    expect(hold?.message).toBe(
      `acme: 3 of 12 changes failed (UsageConfig: 503), the limit is 3 in a row or 10 %; writes are tried again at 2026-11-20 13:00 UTC; approve hold ${hold?.id} (capkeeper edit approve ${hold?.id}) or wait until then`,
    )
  })

  test('shares a hold with whatever else holds the same changes', () =>
    expect(guardsOf({ ...LOWER, caps: each(20, 400), observed: each(20, 500) })).toEqual(['maxAffected+maxLowered+breaker']))

  test.each<readonly [string, PlanSketch, string]>([
    ['holds what follows a wider cap of ours in layers', {}, 'p0 lower 900>500 policy held:breaker'],
    ['lets through what a team or group write of ours was copied over', { model: COPYING }, 'p0 lower 900>500 policy'],
  ])('%s', (_name, more, expected) => {
    const shown: PlanSketch = { caps: { p0: 500 }, observed: { team: 900, p0: 900 }, owned: { p0: { cap: 500 } }, readsExplicit: false }
    const sent = [{ scope: scope('team'), from: cap(500), to: cap(900), at: NOW }]
    expect(lines(planOf({ ...LOWER, ...shown, ...more }, { sent }))).toEqual([expected])
  })
})
