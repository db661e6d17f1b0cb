// The plan as one object: its order, its changes, what guards are asked about it when only a part goes, and the problems that it carries.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, entryOf, keysOf, NOW, scope, short } from '../../support/declare.ts'
import { each, type PlanMore, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

const AT = { file: 'acme.yaml', line: 1, column: 5 }
const running = { on: 'p1', cap: 6000, until: NOW + 9 * DAY }
/** Leaves out what is not one of these. */
const but =
  (code: 'focus' | 'mode' | 'pause' | 'onDrift', ...names: readonly string[]): NonNullable<PlanMore['excluded']> =>
  ({ scope: at }) =>
    names.includes(short(at)) ? undefined : { kind: 'excluded', code, reason: 'not now' }

describe('a plan as a whole', () => {
  const sketch: PlanSketch = {
    people: ['p0', 'p1', 'p2'],
    caps: { p0: 500, p2: 5, p9: 3 },
    grants: [running],
    observed: { p0: 'none', p1: 400, p2: 'unknown' },
  }

  test('says which workspace, which policy, when, and what changes why', () => {
    const { id, ...rest } = planOf(sketch).plan
    expect(id).toBe('7e56f7314b387c9c')
    expect(rest).toEqual({
      apiVersion: 'capkeeper/v1',
      kind: 'Plan',
      workspace: 'acme',
      createdAt: NOW,
      policyDigest: 'aaaabbbbcccc',
      revision: '',
      counts: { set: 1, raise: 1, lower: 0, block: 0, clear: 0, held: 0, inSync: 0, unknown: 1, skipped: 1, rejected: 0 },
      changes: [
        {
          scope: scope('p0'),
          action: 'set',
          effect: 'set',
          from: 'none',
          to: 500,
          cause: 'policy',
          people: 1,
          source: AT,
          healing: false,
          grantEnd: false,
          disposition: { kind: 'ready' },
        },
        {
          ...{ scope: scope('p1'), action: 'set', effect: 'raise', from: 400, to: 6000, cause: 'policy', people: 1 },
          ...{ source: { ...AT, line: 101 }, reason: 'release week', healing: false, grantEnd: false, disposition: { kind: 'ready' } },
        },
      ],
      holds: [],
      unknown: [{ scope: scope('p2'), message: 'GetUsageConfig: 503' }],
      problems: [
        {
          severity: 'warning',
          code: 'SCOPE_SKIPPED',
          message: 'p9@example.com is not on the roster',
          scope: scope('p9'),
          at: { ...AT, line: 3 },
        },
      ],
      approvals: [],
    })
  })

  test('has the same id in whatever order its changes are shown', () => {
    const two = { caps: { p0: 5, p1: 5 }, observed: { p0: 'none', p1: 'none' } } as const
    const [whole, part] = [planOf(two).plan, planOf(two, { excluded: but('focus', 'p1') }).plan]
    expect(part.changes.map(({ scope: at }) => short(at))).toEqual(whole.changes.map(({ scope: at }) => short(at)).toReversed())
    expect(part.id).toBe(whole.id)
  })

  test('counts each effect, and what is held only as held', () => {
    const caps = { p0: 'none', p1: 4, p2: 0, p3: 9, p4: 7, p5: 1 } as const
    const observed = { p0: 5, p1: 5, p2: 5, p3: 5, p4: 'none', p5: 1 } as const
    const off = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
    const even = { set: 1, raise: 1, lower: 1, block: 1, clear: 1, held: 0, inSync: 1, unknown: 0, skipped: 0, rejected: 0 }
    const { counts, changes } = planOf({ caps, observed, guards: off }).plan
    expect(counts).toEqual(even)
    expect(changes.flatMap((one) => (one.action === 'clear' ? short(one.scope) : []))).toEqual(['p0'])
    const guarded = planOf({ caps, observed, guards: { ...off, maxLowered: { percent: 0, floor: 0 } } }).plan.counts
    expect(guarded).toEqual({ ...even, lower: 0, held: 1 })
  })
})

const mixed: PlanSketch = {
  caps: { p2: 600, 'group:b': 600, team: 600, p1: 400, 'group:a': 400, p0: 'none' },
  observed: { team: 500, 'group:a': 500, 'group:b': 500, p0: 700, p1: 500, p2: 500 },
}

test('a plan is the same whatever the order of what went in', () => {
  const names = Object.keys(mixed.caps ?? {})
  fc.assert(
    fc.property(fc.shuffledSubarray(names, { minLength: names.length }), (order) => {
      const caps = Object.fromEntries(order.map((name) => [name, mixed.caps?.[name] ?? 0]))
      expect(planOf({ ...mixed, caps }).plan.id).toBe(planOf(mixed).plan.id)
    }),
  )
})

test('a plan has the groups with unknown members', () => {
  const unlistedGroups = keysOf('group:g')
  expect(planOf({ facts: { unlistedGroups } }).unlisted).toBe(unlistedGroups)
  expect(planOf({}).unlisted).toBeUndefined()
  expect(planOf({}).poolNotes).toEqual([])
})

/** Clearing p0 falls back to the team's cap, which this plan raises first. */
const leaning: PlanSketch = {
  caps: { team: 500, p0: 'none' },
  observed: { team: 'none', p0: 500 },
  people: ['p0'],
  guards: { maxCleared: { percent: 0, floor: 0 } },
}
test('the same is held whichever part this run writes, with the same ids', () => {
  const both: PlanSketch = {
    ...leaning,
    people: 30,
    caps: { ...each(10, 3), ...leaning.caps },
    observed: { ...each(10, 4), ...leaning.observed },
  }
  const whole = planOf(both).plan.holds
  expect(whole.map((hold) => [hold.guards.join(), hold.changes.length])).toEqual([['maxAffected,maxLowered', 9]])
  expect(planOf(both, { excluded: but('focus', 'p0') }).plan.holds).toEqual(whole)
  const approved = planOf({ ...both, approve: whole.map((hold) => hold.id) }, { excluded: but('focus', 'p1') })
  expect(approved.plan.changes.flatMap((one) => (one.disposition.kind === 'ready' ? short(one.scope) : []))).toEqual(['p1'])
  expect(approved.plan.changes.filter((one) => one.released)).toHaveLength(9)
  expect(approved.rosterAccepted).toBe(false)
})

describe('the problems of a plan', () => {
  const FINE: PlanSketch = { caps: { p0: 5 }, observed: { p0: 5 } }
  test('are scopes that the service refused', () => {
    const refused = {
      scope: { kind: 'user', email: 'p0@example.com' },
      code: 'CAP_REFUSED',
      message: 'refused',
      entry: entryOf('cap', 500),
      at: NOW,
    } as const
    const planned = planOf({ caps: { p0: 500 }, observed: { p0: 400 }, quarantined: [refused] })
    expect(planned.plan.problems).toEqual([{ severity: 'error', code: 'CAP_REFUSED', message: 'refused', scope: scope('p0') }])
    expect(planned.plan.counts.rejected).toBe(1)
    expect([...planned.desired.keys()]).toEqual([])
  })
  test('are grants that wait', () => {
    const sketch: PlanSketch = { ...FINE, grants: [{ on: 'p0', cap: 5, until: NOW + 1 }] }
    const { resolution } = planInputs(sketch)
    const grants = resolution.grants.map((one) => ({ ...one, note: 'the clocks differ' }))
    expect(planOf(sketch, { resolution: { ...resolution, grants } }).plan.problems).toMatchObject([
      { severity: 'warning', code: 'GRANT_WAITS', message: 'the grant for p0@example.com: the clocks differ' },
    ])
  })
  test('are what rules and pools do that nobody may have meant', () => {
    const at = { file: 'acme.yaml', line: 301, column: 5 }
    const note = (code: 'POOL_BOUNDS' | 'POOL_NOBODY') => ({ code, subject: 'pool p', message: code.toLowerCase(), version: '', at })
    const planned = planOf(
      { ...FINE, rules: [{ when: { email: 'nobody@*' }, cap: 5 }] },
      { poolNotes: [note('POOL_NOBODY'), note('POOL_BOUNDS')] },
    )
    expect(planned.plan.problems).toMatchObject([
      { severity: 'warning', code: 'RULE_NOBODY', at: { line: 201 } },
      { severity: 'warning', code: 'POOL_NOBODY', message: 'pool_nobody', at },
      { severity: 'error', code: 'POOL_BOUNDS', message: 'pool_bounds', at },
    ])
  })
})
