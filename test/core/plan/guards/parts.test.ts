import { describe, expect, test } from 'vitest'
import type { Settled } from '../../../../src/core/model/policy.ts'
import { type ScopeKey, scopeKey } from '../../../../src/core/model/scope.ts'
import { buildPlan } from '../../../../src/core/plan/plan.ts'
import { each, type PlanSketch, planInputs } from '../../../support/plan.ts'

const keyOf = (name: string): ScopeKey => `${name}@example.com` as ScopeKey

/** Which people each hold keeps back, where some scopes are of envelopes. */
function held(sketch: PlanSketch, envelopeOf: Readonly<Record<string, string>>, narrowed: readonly string[] = []) {
  const inputs = planInputs(sketch)
  const settled: Settled = {
    envelopeOf: Object.fromEntries(Object.entries(envelopeOf).map(([name, envelope]) => [keyOf(name), envelope])),
    narrowed: Object.fromEntries(narrowed.map((name) => [keyOf(name), 'narrowed'])),
    ...{ refusals: [], notes: [], declaredByPlatform: 1 },
    memory: { readAt: {}, members: {}, last: {}, joined: {}, spans: {}, scopes: {} },
  }
  const { holds } = buildPlan({ ...inputs, policy: { ...inputs.policy, settled } }).plan
  return holds.map(
    ({ guards, changes }) => `${guards.join('+')}: ${changes.map(({ scope }) => scopeKey(scope).replace('@example.com', '')).join(' ')}`,
  )
}

const lowering = (count: number): PlanSketch => ({ people: 20, caps: { ...each(20, 500), ...each(count, 400) }, observed: each(20, 500) })
const of = (envelope: string, ...people: readonly number[]) => Object.fromEntries(people.map((n) => [`p${n}`, envelope]))

describe('guards judge platform first, then each envelope', () => {
  test('two envelopes that are each within the share do not count for each other', () => {
    expect(held(lowering(6), { ...of('a', 0, 1, 2), ...of('b', 3, 4, 5) })).toEqual([])
  })

  test('what platform does counts with each envelope, and is not held by it', () => {
    expect(held(lowering(5), of('a', 0, 1, 2))).toEqual(['maxLowered: p0 p1 p2'])
  })

  test('what platform exceeds holds only changes of platform', () => {
    expect(held(lowering(6), of('a', 5))).toEqual(['maxLowered: p0 p1 p2 p3 p4'])
  })

  test('what a narrowed envelope takes is held, and what it gives is not', () => {
    const sketch = { people: 20, caps: { ...each(20, 500), p0: 400, p1: 600 }, observed: each(20, 500) }
    expect(held(sketch, of('a', 0, 1), ['p0', 'p1'])).toEqual(['envelope: p0'])
  })
})
