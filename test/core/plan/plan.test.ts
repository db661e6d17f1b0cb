// The plan as one object: its order, its changes, what guards are asked about it when only a part goes, and the problems that it carries.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, entryOf, keysOf, NOW, scope, short } from '../../support/declare.ts'
import { each, lines, type PlanMore, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

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
const order = (sketch: PlanSketch): readonly string[] => planOf(sketch).plan.changes.map((one) => short(one.scope))

describe('a plan of several changes', () => {
  test('is in the order of writing: first sets and raises from users to the team, then the rest from the team to users', () =>
    expect(order(mixed)).toEqual(['p2', 'group:b', 'team', 'group:a', 'p0', 'p1']))

  test('has team and group writes first where caps are copied, and the caps they overwrite after them', () => {
    const copied: PlanSketch = {
      people: ['p0', 'p1', 'p2'],
      caps: { team: 600, p0: 900, p1: 700 },
      observed: { team: 500, p0: 900, p1: 500, p2: 500 },
      capSemantics: 'copied',
    }
    const { changes } = planOf(copied).plan
    expect(changes.map((one) => [short(one.scope), one.from, one.to, one.disposition.kind])).toEqual([
      ['team', 500, 600, 'ready'],
      ['p1', 500, 700, 'ready'],
      ['p2', 500, 600, 'ready'],
      ['p0', 600, 900, 'deferred'],
    ])
    expect(changes.at(-1)?.disposition).toMatchObject({ code: 'order', waitsFor: scope('team') })
  })

  test('is the same whatever the order of what went in', () => {
    const names = Object.keys(mixed.caps ?? {})
    fc.assert(
      fc.property(fc.shuffledSubarray(names, { minLength: names.length }), (order) => {
        const caps = Object.fromEntries(order.map((name) => [name, mixed.caps?.[name] ?? 0]))
        expect(planOf({ ...mixed, caps }).plan.id).toBe(planOf(mixed).plan.id)
      }),
    )
  })
  test('reaches people with a desired `none` who show the ancestor’s cap', () => {
    const shown: PlanSketch = { caps: { team: 400, p0: 'none', p1: 9 }, observed: { team: 300, p0: 300, p1: 9 }, readsExplicit: false }
    expect(planOf(shown).plan.changes.map((one) => [short(one.scope), one.people])[0]).toEqual(['team', 19])
  })
  test('sets the ancestor’s cap for people without one of their own where caps are copied', () => {
    const copied: PlanSketch = { people: ['p0'], caps: { p0: 'none' }, observed: { team: 300, p0: 500 }, capSemantics: 'copied' }
    expect(planOf(copied).scopes).toMatchObject([{ state: 'drifted', desired: 300, observed: 500 }])
  })
})

test('what could not be read is told in the order of scopes, declared or not any more', () => {
  const sketch = { caps: { p1: 5 }, observed: { p0: 'unknown', p1: 'unknown' }, owned: { p0: { cap: 5 } } } as const
  expect(planOf(sketch).plan.unknown.map((one) => one.scope)).toEqual([scope('p0'), scope('p1')])
  const { plan } = planOf({ caps: { p1: 5, p0: 5, team: 5 }, observed: { p1: 'unknown', p0: 'unknown', team: 'unknown' } })
  expect(plan.unknown.map((one) => short(one.scope))).toEqual(['team', 'p0', 'p1'])
})

test('a plan has the groups with unknown members', () => {
  const unlistedGroups = keysOf('group:g')
  expect(planOf({ facts: { unlistedGroups } }).unlisted).toBe(unlistedGroups)
  expect(planOf({}).unlisted).toBeUndefined()
  expect(planOf({}).poolNotes).toEqual([])
})

describe('when only a part goes', () => {
  /** Clearing p0 falls back to the team's cap, which this plan raises first. */
  const leaning: PlanSketch = {
    caps: { team: 500, p0: 'none' },
    observed: { team: 'none', p0: 500 },
    people: ['p0'],
    guards: { maxCleared: { percent: 0, floor: 0 } },
  }

  test('the whole stands', () => expect(lines(planOf(leaning))).toEqual(['team set none>500 policy', 'p0 clear 500>none policy']))

  test('a change that leans on one that nobody is going to write is judged without it, and held', () => {
    const part = planOf(leaning, { watched: but('onDrift', 'p0') })
    expect(lines(part)).toEqual(['team set none>500 policy', 'p0 clear 500>none policy held:maxCleared'])
    expect(part.plan.holds.map((hold) => hold.changes.length)).toEqual([1])
  })
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
  test('an approved doubt about the roster counts, also when this run writes something else', () => {
    const doubt = { ...leaning, facts: { rosterDoubt: { before: 40, now: 20 } } }
    const [hold] = planOf(doubt).plan.holds
    expect(planOf({ ...doubt, approve: [hold?.id ?? ''] }, { excluded: but('focus', 'team') }).rosterAccepted).toBe(true)
  })
})

describe('the problems of a plan', () => {
  const FINE: PlanSketch = { caps: { p0: 5 }, observed: { p0: 5 } }
  const problems = (sketch: PlanSketch) => planOf(sketch).plan.problems
  const clash: PlanSketch = {
    caps: { 'group:a': 5, 'group:b': 7 },
    groups: { a: ['p0'], b: ['p0'] },
    observed: { 'group:a': 5, 'group:b': 7 },
  }

  test('are people whom policy cannot decide about, with their place', () => {
    const [problem, ...more] = problems(clash)
    expect(more).toEqual([])
    expect(problem).toMatchObject({ severity: 'error', code: 'GROUP_CONFLICT', scope: scope('p0') })
    expect(problem && 'at' in problem && problem.at?.file).toBe('acme.yaml')
  })
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
  test('are guards with nothing to hold back', () => {
    expect(problems({ ...FINE, facts: { rosterDoubt: { before: 40, now: 20 } } })).toMatchObject([
      { severity: 'warning', code: 'GUARD_ROSTER_SHRINK' },
    ])
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
    const note = (code: 'POOL_BOUNDS' | 'POOL_NOBODY') => ({ code, pool: 'p', message: code.toLowerCase(), version: '', at })
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

describe('who is judged', () => {
  test('where reads may show what is inherited, so are people of a group that shows just what the team has', () => {
    const shown = { team: 500, 'group:g': 500 }
    const lowered: PlanSketch = { people: 10, groups: { g: ['p0', 'p1'] }, caps: { team: 400 }, observed: shown }
    const people = (more: PlanSketch) => planOf({ ...lowered, ...more }).plan.holds[0]?.people
    expect(people({ readsExplicit: false })).toBe(10)
    expect(people({})).toBe(8)
  })
  test('where reads may show what is inherited, a declared cap is set at its own scope first, and nobody is lowered', () => {
    const kept = { 'group:g': 500, ...each(10, 500), p1: 900 }
    const lowered: PlanSketch = { people: 10, groups: { g: ['p0', 'p1'] }, caps: { team: 400, ...kept }, observed: { team: 500, ...kept } }
    const people = (more: PlanSketch) => planOf({ ...lowered, ...more }).plan.holds[0]?.people
    expect(people({ readsExplicit: false })).toBeUndefined()
    expect(people({})).toBeUndefined()
    expect(people({ readsExplicit: false, capSemantics: 'copied' })).toBeUndefined()
  })
  test('whatever gives them what they show, people are raised and lowered from there', () => {
    const wide = { team: 500, 'group:g': 500, 'group:h': 700 }
    const sketch: PlanSketch = {
      ...{ readsExplicit: false, groups: { g: ['p0'], h: ['p0'] }, protect: ['p0'] },
      observed: { ...wide, p0: 500 },
    }
    const guards = (own: number) => planOf({ ...sketch, caps: { ...wide, p0: own } }).plan.holds.map((hold) => hold.guards)
    expect([guards(600), guards(400)]).toEqual([[], [['protected']]])
  })

  test('copies do not count for people whom policy keeps', () => {
    const copied: PlanSketch = {
      people: 10,
      caps: { team: 400, p0: 500 },
      observed: { team: 500, ...each(10, 500) },
      capSemantics: 'copied',
    }
    expect(planOf(copied).plan.holds[0]?.people).toBe(9)
  })
})
