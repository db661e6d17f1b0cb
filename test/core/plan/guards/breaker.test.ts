import { describe, expect, test } from 'vitest'
import { type Approval, holdOf } from '../../../../src/core/model/change.ts'
import { scopeKey } from '../../../../src/core/model/scope.ts'
import { formatInstant } from '../../../../src/core/model/units.ts'
import { cap, entryOf, NOW, scope, short } from '../../../support/declare.ts'
import { COPYING, each, lines, type PlanSketch, planOf } from '../../../support/plan.ts'

const guardsOf = (sketch: PlanSketch): string[] => planOf(sketch).plan.holds.map((hold) => hold.guards.join('+'))
const rule = (name: string, value: number, owned = value) => ({ [name]: { cap: owned, entry: entryOf('cap', value) } })

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
      'p1 lower 9>5 policy',
      'p0 raise 500>600 policy held:breaker',
    ])
  })

  test('let caps that our own team write took be given back, but not those that were turned down', () => {
    const sent = [{ scope: scope('team'), from: 'none' as const, to: cap(500), at: NOW }]
    const held = (facts: object): readonly string[] => {
      const sketch = { ...OPEN, model: COPYING, guards: { semantics: false }, facts: { breaker: { ...breaker, ...facts } } }
      return planOf(sketch, { sent }).plan.changes.flatMap((one) => (holdOf(one) === undefined ? [] : short(one.scope)))
    }
    expect(held({})).toEqual(['team', 'p1'])
    expect(held({ refused: true, scopes: [scopeKey(scope('p0'))] })).toEqual(['p0'])
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
      `acme: 3 of 12 changes failed (UsageConfig: 503), the limit is 3 in a row or 10 %; writes are tried again at ${formatInstant(breaker.retryAt)}; approve hold ${hold?.id} (capkeeper edit approve ${hold?.id}) or wait until then`,
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
