// The plan as one object, what guards are asked about it when only a part goes, and the problems that it carries.
import { describe, expect, test } from 'vitest'
import { type Approval, type ExclusionCode, isReady } from '../../../src/core/model/change.ts'
import { credits } from '../../../src/core/model/units.ts'
import type { Difference, Exclusion } from '../../../src/core/plan/snapshot.ts'
import { DAY, entryOf, HOUR, NOW, scope, short } from '../../support/declare.ts'
import { COPYING, each, lines, type PlanSketch, planOf } from '../../support/plan.ts'

const AT = { file: 'acme.yaml', line: 1, column: 5 }
const running = { on: 'p1', cap: 6000, until: NOW + 9 * DAY }
/** Leaves out what is not one of these. */
const but =
  (code: ExclusionCode, ...names: readonly string[]) =>
  ({ scope: at }: Pick<Difference, 'scope'>): Exclusion | undefined =>
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

  test.each<readonly [string, PlanSketch, readonly string[]]>([
    ['clear', { caps: { p0: 'none' }, observed: { p0: 9 } }, ['clear clear']],
    ['set', { caps: { p0: 5 }, observed: { p0: 'none' } }, ['set set']],
    ['raise, also to below use', { caps: { p0: 6 }, observed: { p0: 5 }, used: { p0: 900 } }, ['set raise']],
    ['lower', { caps: { p0: 4 }, observed: { p0: 5 } }, ['set lower']],
    [
      'block at use, of the group whose member it is',
      { people: ['p0'], caps: { 'group:g': 5 }, groups: { g: ['p0'] }, observed: { 'group:g': 9 }, used: { p0: 5 } },
      ['set block'],
    ],
    ['block to 0', { caps: { 'group:g': 0 }, observed: { 'group:g': 9 } }, ['set block']],
    ['block as a first cap', { caps: { p0: 5 }, observed: { p0: 'none' }, used: { p0: 9 } }, ['set block']],
  ])('tells a change that is a %s', (_name, one, expected) =>
    expect(planOf(one).plan.changes.map((change) => `${change.action} ${change.effect}`)).toEqual(expected),
  )

  test('counts each effect, and what is held only as held', () => {
    const caps = { p0: 'none', p1: 4, p2: 0, p3: 9, p4: 7, p5: 1 } as const
    const observed = { p0: 5, p1: 5, p2: 5, p3: 5, p4: 'none', p5: 1 } as const
    const off = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
    const even = { set: 1, raise: 1, lower: 1, block: 1, clear: 1, held: 0, inSync: 1, unknown: 0, skipped: 0, rejected: 0 }
    expect(planOf({ caps, observed, guards: off }).plan.counts).toEqual(even)
    const guarded = planOf({ caps, observed, guards: { ...off, maxLowered: { percent: 0, floor: 0 } } }).plan.counts
    expect(guarded).toEqual({ ...even, lower: 0, held: 1 })
  })

  test('is empty where everything is as asked', () => {
    const { plan: empty, scopes } = planOf({ caps: { p0: 5 }, observed: { p0: 5 } })
    expect([empty.changes, empty.holds, empty.unknown, empty.problems]).toEqual([[], [], [], []])
    expect(scopes.map((one) => [short(one.scope), one.state])).toEqual([['p0', 'in_sync']])
  })
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
  test.each(['mode', 'pause'] as const)('%s keeps everything back in the order of writing', (code) => {
    const { changes } = planOf(leaning, { excluded: but(code) }).plan
    expect(changes.map((one) => [short(one.scope), one.disposition])).toEqual([
      ['team', { kind: 'excluded', code, reason: 'not now' }],
      ['p0', { kind: 'excluded', code, reason: 'not now' }],
    ])
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
    expect(approved.plan.changes.flatMap((one) => (isReady(one) ? short(one.scope) : []))).toEqual(['p1'])
    expect(approved.plan.changes.filter((one) => one.released)).toHaveLength(9)
    expect(approved.rosterAccepted).toBe(false)
  })
  test('an approved doubt about the roster counts, also when this run writes something else', () => {
    const doubt = { ...leaning, facts: { rosterDoubt: { before: 40, now: 20 } } }
    const [hold] = planOf(doubt).plan.holds
    expect(planOf({ ...doubt, approve: [hold?.id ?? ''] }, { excluded: but('focus', 'team') }).rosterAccepted).toBe(true)
  })
  test('nothing is matched while nothing is going to be written', () => {
    const lower = { people: 100, caps: each(16, 400), observed: each(16, 500) }
    const id = planOf(lower).plan.holds[0]?.id ?? ''
    expect(planOf({ ...lower, approve: [id] }).plan.holds).toEqual([])
    const given = { id, via: 'command', approvedAt: NOW, state: 'pending', released: [] } as const
    const idle = planOf({ ...lower, approvals: [given] }, { idle: 'mode is audit' })
    expect(idle.plan.holds.map((one) => one.id)).toEqual([id])
    expect(idle.approvals).toMatchObject([{ id, state: 'pending', released: [] }])
    // It is told what it is going to release, and not that no hold has this id.
    expect(idle.plan.approvals).toEqual([{ id, via: 'command', state: 'pending', releases: idle.plan.holds[0]?.changes }])
    expect(idle.plan.problems).toEqual([])
  })
  test.each([
    ['came too early', { via: 'policy' as const }, 'pending', /^it came with the change/],
    ['has grown', { via: 'command' as const, people: 4 }, 'void', /^it is void/],
  ])('an approval that %s releases nothing later either, and says so', (_name, more, state, note) => {
    const lower = { people: 100, caps: each(16, 400), observed: each(16, 500) }
    const id = planOf(lower).plan.holds[0]?.id ?? ''
    const given = { id, approvedAt: NOW, state: 'pending', released: [], ...more } as const
    const idle = planOf({ ...lower, approvals: [given], approvalIds: [id] }, { idle: 'mode is audit' })
    expect(idle.plan.approvals).toMatchObject([{ id, state, releases: [], note: expect.stringMatching(note) }])
    expect(idle.approvals).toMatchObject([{ id, state: 'pending' }])
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
  const approval = (more: Partial<Approval>): Approval => ({
    id: '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b',
    via: 'policy',
    approvedAt: NOW,
    state: 'spent',
    released: [],
    ...more,
  })
  test.each<readonly [string, Partial<Approval>, readonly string[], readonly string[]]>([
    ['spent and still in policy', {}, ['7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b'], ['warning APPROVAL_SPENT acme.yaml:1']],
    ['void and still in policy', { state: 'void' }, ['7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b'], ['warning APPROVAL_VOID acme.yaml:1']],
    ['spent and in no policy', {}, [], []],
    ['pending and match nothing', { state: 'pending' }, ['7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b'], ['warning APPROVAL_UNMATCHED acme.yaml:1']],
  ])('are approvals that are %s', (_name, more, approvalIds, expected) => {
    const found = problems({ ...FINE, approvals: [approval(more)], approvalIds })
    expect(found.map(({ severity, code, at }) => `${severity} ${code} ${at?.file}:${at?.line}`)).toEqual(expected)
    const isOver = more.state !== 'pending'
    expect(found.map(({ message }) => message.includes('; remove it from spec.approvals: capkeeper edit remove approval:'))).toEqual(
      expected.map(() => isOver),
    )
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
      ...{ readsExplicit: false, groups: { g: ['p0'], h: ['p0'] }, protectedPeople: ['p0'] },
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

describe('an open breaker', () => {
  const openedAt = NOW - HOUR
  const lower: PlanSketch = {
    caps: { p0: 400 },
    observed: { p0: 500 },
    facts: { breaker: { openedAt, retryAt: NOW + HOUR, waitMs: HOUR, failed: 3, planned: 3, cause: 'server', scopes: [] } },
  }
  const approved = (approvedAt: number): Approval => ({
    ...{ id: 'aaaaaaaaaaaa', via: 'command', approvedAt, state: 'pending', people: 1 },
    released: [{ scope: scope('p0'), from: credits(500), to: credits(400), verified: false }],
  })
  test.each([
    ['holds what nobody approved', [], true],
    ['holds what was approved before it opened: that had its try', [approved(openedAt - 1)], true],
    ['lets through what was approved as it opened, or later', [approved(openedAt)], false],
  ])('%s', (_name, approvals, isHeld) => expect(lines(planOf({ ...lower, approvals }))[0]?.includes('held:breaker')).toBe(isHeld))

  test.each<readonly [string, PlanSketch, string]>([
    ['holds what follows a wider cap of ours in layers', {}, 'p0 lower 900>500 policy held:breaker'],
    ['lets through what a team or group write of ours was copied over', { model: COPYING }, 'p0 lower 900>500 policy'],
  ])('%s', (_name, more, expected) => {
    const shown: PlanSketch = { caps: { p0: 500 }, observed: { team: 900, p0: 900 }, owned: { p0: { cap: 500 } }, readsExplicit: false }
    const sent = [{ scope: scope('team'), from: credits(500), to: credits(900), at: NOW }]
    expect(lines(planOf({ ...lower, ...shown, ...more }, { sent }))).toEqual([expected])
  })
})
