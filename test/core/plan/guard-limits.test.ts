// The guards that go by more than the plan: credits that are left, writes that fail, and somebody else who writes as well.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Approval } from '../../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { cap, NOW, scope } from '../../support/declare.ts'
import { each, lines, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

const guardsOf = (sketch: PlanSketch): string[] => planOf(sketch).plan.holds.map((hold) => hold.guards.join('+'))
const HOUR = 3_600_000
const rule = (name: string, value: number, owned = value) => ({ [name]: { cap: owned, entry: `rule|${value}` } })

describe('raises beyond the credits that are left', () => {
  const left = (creditsRemaining: number, sketch: PlanSketch): PlanSketch => ({ ...sketch, facts: { creditsRemaining } })
  const RAISED: PlanSketch = { caps: each(4, 600), observed: each(4, 500) }

  const TABLE: readonly (readonly [string, PlanSketch, readonly string[]])[] = [
    ['by as much as is left are allowed', left(400, RAISED), []],
    ['by more are held', left(399, RAISED), ['maxRaise']],
    ['by anything are held when nothing is left', left(0, RAISED), ['maxRaise']],
    ['by anything go out while nobody knows what is left', RAISED, []],
    ['by less than half go out when half is the limit', left(800, { ...RAISED, guards: { maxRaise: 50 } }), []],
    ['by more than half are held when half is the limit', left(799, { ...RAISED, guards: { maxRaise: 50 } }), ['maxRaise']],
    ['go out up to twice what is left when the limit says so', left(200, { ...RAISED, guards: { maxRaise: 200 } }), []],
    ['go out when the guard is off', left(0, { ...RAISED, guards: { maxRaise: 'off' } }), []],
    ['are not what first caps are', left(0, { caps: each(20, 9000), observed: each(20, 'none') }), []],
    ['are counted in people: a team raise reaches everybody', left(1999, { caps: { team: 600 }, observed: { team: 500 } }), ['maxRaise']],
    ['do not count people with a cap of their own', left(200, { caps: { team: 600 }, observed: { team: 500, ...each(18, 500) } }), []],
    [
      'are counted by net effect: a person whose cap goes falls to a higher one',
      left(99, { caps: { team: 600 }, observed: { team: 600, p0: 500 }, owned: { p0: { cap: 500 } } }),
      ['maxRaise'],
    ],
    [
      'are not made up for by lowering others',
      left(399, { caps: { ...each(4, 600), p9: 1 }, observed: { ...each(4, 500), p9: 900 } }),
      ['maxRaise'],
    ],
    [
      'that heal are neither counted nor held',
      left(100, { caps: { p0: 9000, p1: 600 }, observed: { p0: 1, p1: 500 }, owned: rule('p0', 9000) }),
      [],
    ],
    [
      'count from where an interrupted plan began',
      left(399, { caps: each(4, 600), observed: { ...each(4, 500), p0: 600, p1: 600 }, baseline: each(4, 500) }),
      ['maxRaise'],
    ],
  ]
  test.each(TABLE)('%s', (_name, sketch, expected) => expect(guardsOf(sketch)).toEqual(expected))

  test('hold all raises and nothing else', () => {
    const sketch = left(500, { caps: { p0: 1000, p1: 501, p2: 400, p3: 700 }, observed: { p0: 500, p1: 500, p2: 500, p3: 'none' } })
    expect(lines(planOf(sketch))).toEqual([
      'p0 raise 500>1000 policy held:maxRaise',
      'p1 raise 500>501 policy held:maxRaise',
      'p2 lower 500>400 policy',
      'p3 set none>700 policy',
    ])
  })

  test('leave out a change that heals, also when somebody is raised by it and by another', () => {
    const both: PlanSketch = { people: 1, caps: { team: 600 }, observed: { team: 500, p0: 500 } }
    expect(lines(planOf(left(99, { ...both, owned: { ...rule('team', 600), p0: { cap: 500 } } })))).toEqual([
      'team raise 500>600 external',
      'p0 clear 500>none orphan held:maxRaise',
    ])
  })

  test('the message names the people, both sums and the way out', () => {
    const [hold] = planOf(left(300, RAISED)).plan.holds
    expect(hold?.message).toBe(
      `acme: 4 of 20 people would be raised by 400 credits in all, the limit is 300 (100 % of the 300 add-on credits remaining); approve hold ${hold?.id} or raise guards.maxRaise`,
    )
  })

  test('are released by exactly that hold’s id', () => {
    const [hold] = planOf(left(300, RAISED)).plan.holds
    expect(guardsOf({ ...left(300, RAISED), approve: [hold?.id ?? ''] })).toEqual([])
  })

  test('are held exactly when what they add up to is above the limit, whatever the caps', () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ from: fc.integer({ min: 1, max: 99 }), to: fc.integer({ min: 1, max: 99 }) }), { maxLength: 8 }),
        fc.nat(200),
        fc.integer({ min: 0, max: 300 }),
        (people, creditsRemaining, maxRaise) => {
          const named = (pick: 'from' | 'to') => Object.fromEntries(people.map((one, index) => [`p${index}`, one[pick]]))
          const sum = people.reduce((total, { from, to }) => total + Math.max(0, to - from), 0)
          const guards = { maxRaise, maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off' } as const
          const held = guardsOf({ caps: named('to'), observed: named('from'), guards, facts: { creditsRemaining } })
          return held.length > 0 === sum > (creditsRemaining * maxRaise) / 100
        },
      ),
    ))
})

describe('writes that failed for a shared cause', () => {
  const breaker = {
    openedAt: NOW - 60_000,
    retryAt: NOW + 540_000,
    waitMs: 600_000,
    failed: 3,
    planned: 12,
    cause: 'UsageConfig: 503',
    scopes: [],
  }
  const OPEN: PlanSketch = { caps: { team: 500, p0: 600, p1: 5 }, observed: { team: 'none', p0: 500, p1: 9 }, facts: { breaker } }

  test('hold everything until they are tried again, also what heals', () => {
    const healing = { ...OPEN, owned: rule('p0', 600) }
    expect(lines(planOf(healing)).every((line) => line.endsWith('held:breaker'))).toBe(true)
    expect(planOf(healing).plan.changes.map((one) => one.healing)).toEqual([false, true, false])
  })

  test('hold only the scopes that were merely turned down', () => {
    const refused = { ...breaker, refused: true, scopes: [scopeKey(scope('p0'))] }
    expect(lines(planOf({ ...OPEN, facts: { breaker: refused } }))).toEqual([
      'team set none>500 policy',
      'p0 raise 500>600 policy held:breaker',
      'p1 lower 9>5 policy',
    ])
  })

  test('let caps that our own wide write took be given back, but not those that were turned down', () => {
    const overwritten = new Set([scopeKey(scope('p0'))])
    const held = (facts: object): readonly (string | undefined)[] =>
      buildPlan({ ...planInputs({ ...OPEN, facts: { breaker: { ...breaker, ...facts } } }), overwritten }).plan.changes.map(
        (one) => one.hold,
      )
    expect(held({}).map((hold) => hold !== undefined)).toEqual([true, false, true])
    expect(held({ refused: true, scopes: [...overwritten] }).map((hold) => hold !== undefined)).toEqual([false, true, false])
  })

  test('hold nothing when the guard is off', () => expect(guardsOf({ ...OPEN, guards: { breaker: 'off' } })).toEqual([]))

  test('are a warning while there is nothing to write', () => {
    const { plan } = planOf({ caps: { p0: 5 }, observed: { p0: 5 }, facts: { breaker } })
    expect(plan.holds).toEqual([])
    expect(plan.problems.map((one) => one.code)).toEqual(['GUARD_BREAKER'])
  })

  test('are told with the cause, both numbers, when it goes on, and the way out', () => {
    const [hold] = planOf(OPEN).plan.holds
    expect(hold?.message).toBe(
      `acme: 3 of 12 changes failed (UsageConfig: 503), the limit is 3 in a row or 10 %; writes are tried again at ${new Date(breaker.retryAt).toISOString()}; approve hold ${hold?.id} or wait until then`,
    )
  })

  test('are tried at once when that is approved', () => {
    const [hold] = planOf(OPEN).plan.holds
    expect(guardsOf({ ...OPEN, approve: [hold?.id ?? ''] })).toEqual([])
  })

  test('are not tried because something was approved before they failed', () => {
    const [hold] = planOf(OPEN).plan.holds
    const change = { scope: scope('p0'), from: cap(500), to: cap(600), verified: false }
    const before: Approval = { id: hold?.id ?? '', via: 'command', approvedAt: breaker.openedAt - 1, state: 'pending', released: [change] }
    expect(lines(planOf({ ...OPEN, approvals: [before] })).filter((line) => !line.includes('held'))).toEqual([])
  })

  test('share a hold with whatever else holds the same changes', () => {
    const sketch = { ...OPEN, caps: each(20, 400), observed: each(20, 500) }
    expect(guardsOf(sketch)).toEqual(['maxAffected+maxLowered+breaker'])
  })
})

describe('a scope that somebody else keeps changing', () => {
  const KEY: ScopeKey = scopeKey(scope('p0'))
  const since = NOW - HOUR
  const CONTESTED: PlanSketch = {
    caps: { p0: 500, p1: 500 },
    observed: { p0: 900, p1: 900 },
    owned: { ...rule('p0', 500), ...rule('p1', 500) },
    contests: { known: { [KEY]: { at: since, entry: 'rule|500', changes: 3 } } },
  }

  test('is left alone, is shown as contested, and holds up nobody else', () => {
    const planned = planOf(CONTESTED)
    expect(lines(planned)).toEqual(['p0 lower 900>500 external held:contested', 'p1 lower 900>500 external'])
    expect(planned.scopes.map(({ state, cause }) => `${state} ${cause}`)).toEqual(['contested external', 'drifted external'])
    expect(planned.scopes[0]?.why).toContain('changed by others 3 times in 24 h, left alone until ')
  })

  test('is told with its name, both numbers, until when, and the way out', () => {
    const [hold] = planOf(CONTESTED).plan.holds
    const until = new Date(since + 24 * HOUR).toISOString()
    expect(hold?.message).toBe(
      `acme: p0@example.com was changed by others 3 times (now 900, not 500, left alone until ${until}); the limit is 3 in 24 h, so they are not healed for 24 h; approve hold ${hold?.id} or stop the other writer`,
    )
  })

  test.each([
    [3, 'p2'],
    [5, 'p2', ' and 2 more'],
  ])('of %i, three are named and the rest is counted', (count, last, more = '') => {
    const owned = Object.assign({}, ...Object.keys(each(count, 0)).map((name) => rule(name, 500)))
    const contest = { at: since, entry: 'rule|500', changes: 3 }
    const known = Object.fromEntries(Object.keys(each(count, 0)).map((name) => [scopeKey(scope(name)), contest]))
    const [hold] = planOf({ caps: each(count, 500), observed: each(count, 900), owned, contests: { known } }).plan.holds
    const until = new Date(since + 24 * HOUR).toISOString()
    const told = ['p0', 'p1', last].map(
      (name) => `${name}@example.com was changed by others 3 times (now 900, not 500, left alone until ${until})`,
    )
    expect(hold?.message).toContain(`acme: ${told.join(', ')}${more}; the limit is 3 in 24 h`)
    expect(hold?.changes).toHaveLength(count)
  })

  test('is put right when its hold is approved, and then is only drifting', () => {
    const [hold] = planOf(CONTESTED).plan.holds
    const planned = planOf({ ...CONTESTED, approve: [hold?.id ?? ''] })
    expect(planned.plan.holds).toEqual([])
    expect(planned.scopes.map(({ state }) => state)).toEqual(['drifted', 'drifted'])
  })

  test('is put right when the guard is off, or policy asks for something else', () => {
    expect(guardsOf({ ...CONTESTED, guards: { contested: 'off' } })).toEqual([])
    expect(guardsOf({ ...CONTESTED, caps: { p0: 600, p1: 500 } })).toEqual([])
  })

  test('becomes so with the change that is one too many', () => {
    const written = () => [1, 2].map(() => ({ cause: 'external' as const, to: cap(500), result: 'applied' as const }))
    const planned = planOf({ ...CONTESTED, contests: { written } })
    expect([...planned.contested.values()]).toEqual([1, 2].map(() => ({ at: NOW, entry: 'rule|500', changes: 3 })))
    expect(guardsOf({ ...CONTESTED, contests: { written } })).toEqual(['contested'])
  })
})
