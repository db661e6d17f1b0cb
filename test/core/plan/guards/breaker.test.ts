import { describe, expect, test } from 'vitest'
import type { Approval } from '../../../../src/core/model/change.ts'

import { formatInstant } from '../../../../src/core/model/units.ts'
import { cap, NOW, scope } from '../../../support/declare.ts'
import { each, lines, type PlanSketch, planOf } from '../../../support/plan.ts'

const guardsOf = (sketch: PlanSketch): string[] => planOf(sketch).plan.holds.map((hold) => hold.guards.join('+'))

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

  test('are told with the cause, both numbers, when it goes on, and the way out', () => {
    const [hold] = planOf(OPEN).plan.holds
    expect(hold?.message).toBe(
      `acme: 3 of 12 changes failed (UsageConfig: 503), the limit is 3 in a row or 10 %; writes are tried again at ${formatInstant(breaker.retryAt)}; approve hold ${hold?.id} (capkeeper edit approve ${hold?.id}) or wait until then`,
    )
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
