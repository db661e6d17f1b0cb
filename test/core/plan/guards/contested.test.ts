import { describe, expect, test } from 'vitest'
import { type ScopeKey, scopeKey } from '../../../../src/core/model/scope.ts'
import { formatInstant } from '../../../../src/core/model/units.ts'
import { entryOf, NOW, scope } from '../../../support/declare.ts'
import { each, type PlanSketch, planOf } from '../../../support/plan.ts'

const HOUR = 3_600_000
const rule = (name: string, value: number, owned = value) => ({ [name]: { cap: owned, entry: entryOf('cap', value) } })

describe('a scope that another client keeps changing', () => {
  const KEY: ScopeKey = scopeKey(scope('p0'))
  const since = NOW - HOUR
  const CONTESTED: PlanSketch = {
    caps: { p0: 500, p1: 500 },
    observed: { p0: 900, p1: 900 },
    owned: { ...rule('p0', 500), ...rule('p1', 500) },
    contests: { known: { [KEY]: { at: since, entry: entryOf('cap', 500), changes: 3 } } },
  }

  test('is told with its name, both numbers, until when, and the way out', () => {
    const [hold] = planOf(CONTESTED).plan.holds
    const until = formatInstant(since + 24 * HOUR)
    expect(hold?.message).toBe(
      `acme: p0@example.com was changed by others 3 times (now 900, not 500, left alone until ${until}); the limit is 3 in 24 h, so they are not healed for 24 h; approve hold ${hold?.id} (capkeeper edit approve ${hold?.id}) or stop the other writer`,
    )
  })

  test.each([
    [3, 'p2'],
    [5, 'p2', ' and 2 more'],
  ])('of %i, three are named and the rest is counted', (count, last, more = '') => {
    const owned = Object.assign({}, ...Object.keys(each(count, 0)).map((name) => rule(name, 500)))
    const contest = { at: since, entry: entryOf('cap', 500), changes: 3 }
    const known = Object.fromEntries(Object.keys(each(count, 0)).map((name) => [scopeKey(scope(name)), contest]))
    const [hold] = planOf({ caps: each(count, 500), observed: each(count, 900), owned, contests: { known } }).plan.holds
    const until = formatInstant(since + 24 * HOUR)
    const told = ['p0', 'p1', last].map(
      (name) => `${name}@example.com was changed by others 3 times (now 900, not 500, left alone until ${until})`,
    )
    expect(hold?.message).toContain(`acme: ${told.join(', ')}${more}; the limit is 3 in 24 h`)
    expect(hold?.changes).toHaveLength(count)
  })
})
