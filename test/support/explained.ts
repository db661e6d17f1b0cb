// Explanations of sketched policies, in a form that is easy to read in tests.

import type { CapReading, Observed } from '../../src/core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../src/core/model/scope.ts'
import { credits } from '../../src/core/model/units.ts'
import { type ExplainInputs, type Explanation, explain } from '../../src/core/plan/explain.ts'
import type { DesiredInputs } from '../../src/core/resolve/chain.ts'
import { DAY, desiredInputs, NOW, type PolicySketch, scope } from './declare.ts'

/** Readings by scope name. */
export const observed = (caps: Readonly<Record<string, Observed | number>>): ReadonlyMap<ScopeKey, CapReading> =>
  new Map(
    Object.entries(caps).map(([name, value]) => {
      const reading: CapReading = { scope: scope(name), observed: typeof value === 'number' ? credits(value) : value, readAt: NOW }
      return [scopeKey(reading.scope), reading]
    }),
  )

/** Explains a scope by name, with no readings, history or holds unless given. */
export function explained(name: string, policy: PolicySketch, more: Partial<DesiredInputs & ExplainInputs> = {}): Explanation {
  const asked = { ...desiredInputs(policy, more), ...more }
  return explain({ asked, readings: new Map(), history: [], holds: more.plan?.holds ?? [], ...more }, scope(name))
}

/** A window around now, with an end that is easy to recognise. */
export const untilDecember = { from: NOW - DAY, until: Date.UTC(2026, 11, 16) }
