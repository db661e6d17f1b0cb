import { describe, expect, test } from 'vitest'
import type { ApiErrorKind, CapReading } from '../../../src/core/model/observed.ts'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { byScope, type Scope, type ScopeKey, scopeKey, TEAM } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { activeQuarantine, scopesToRead, skippedScopes, unknownScopes } from '../../../src/core/plan/states.ts'
import { DAY, email, entryOf, HOUR, NOW, ownedCaps, type PlainCap, roster, scope, short } from '../../support/declare.ts'
import { type PlanMore, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

type Quarantined = Parameters<typeof activeQuarantine>[0][number]

const key = (name: string): ScopeKey => scopeKey(scope(name))
const AT = { file: 'acme.yaml', line: 1, column: 5 }
const states = (sketch: PlanSketch, more: PlanMore = {}) => planOf(sketch, more).scopes

describe('scopes that are left alone', () => {
  const resolution = (sketch: PlanSketch) => planInputs(sketch).resolution
  const everybody = roster({ ada: 'approved', bob: 'pending' })
  const owned = ownedCaps({
    ada: { cap: 5 },
    bob: { cap: 5 },
    cyd: { cap: 5 },
    'group:a': { cap: 5 },
    'group:b': { cap: 5 },
    team: { cap: 5 },
  })
  const skipped = (people: typeof everybody | undefined, sketch: PlanSketch = {}) => [
    ...skippedScopes(resolution(sketch), owned, people, ['b']),
  ]

  test('are those that policy names and that do not exist', () =>
    expect(skipped(everybody, { caps: { eve: 5 }, people: ['ada'] })).toEqual(['eve', 'bob', 'cyd', 'group:b'].map(key)))
})

describe('quarantine', () => {
  const entry = (more: Partial<Quarantined> = {}): Quarantined => ({
    scope: scope('p0'),
    code: 'CAP_REFUSED',
    message: 'refused',
    entry: entryOf('cap', 500),
    at: NOW,
    ...more,
  })
  const { resolution } = planInputs({ caps: { p0: 500 } })
  const of = (one: Quarantined, skipped: readonly string[] = [], now = NOW) => {
    const { active, over } = activeQuarantine([one], resolution, new Set(skipped.map(key)), now)
    return [...active.keys(), ...over.map((at) => `over ${at}`)].map((text) => text.replace('@example.com', ''))
  }
  test.each<readonly [string, Quarantined, readonly string[], number, string]>([
    ['holds for a day', entry(), [], NOW + 24 * HOUR - 1, 'p0'],
    ['is over after a day', entry(), [], NOW + DAY, 'over p0'],
    ['of a zero that is not stored is not over after a day', entry({ code: 'ZERO_NOT_STORED' }), [], NOW + 9 * DAY, 'p0'],
    ['is over when the entry changes', entry({ entry: entryOf('cap', 400) }), [], NOW, 'over p0'],
    ['is over when the scope is skipped', entry(), ['p0'], NOW, 'over p0'],
    [
      'of an unknown scope is over: the last reading says whether the service knows it',
      entry({ code: 'SCOPE_UNKNOWN' }),
      [],
      NOW,
      'over p0',
    ],
    ['of a scope that is not declared is over', entry({ scope: scope('p9') }), [], NOW, 'over p9'],
    ['of an orphan holds', entry({ scope: scope('p9'), entry: UNDECLARED }), [], NOW, 'p9'],
  ])('%s', (_name, one, skipped, now, expected) => expect(of(one, skipped, now)).toEqual([expected]))
})

describe('what a sweep reads', () => {
  const read = (skipped: readonly string[]) =>
    scopesToRead(
      planInputs({ caps: { p1: 5, 'group:b': 5, p0: 5 } }).resolution,
      ownedCaps({ team: { cap: 5 }, p0: { cap: 5 }, p3: { cap: 'none' }, p2: { cap: 4 } }),
      new Set(skipped.map(key)),
    ).map(short)
  test('but not what is skipped', () => expect(read(['p0', 'group:b'])).toEqual(['team', 'p1', 'p2']))
})

describe('a scope that the service does not know', () => {
  const [p0, p1, p2] = ['p0', 'p1', 'p2'].map(scope)
  const unknown = (failed: readonly Scope[], kind: ApiErrorKind = 'not_found') => {
    const all = [TEAM, p0, p1, p2].flatMap((one) => one ?? [])
    const failure = { kind, message: 'no such user' }
    const read = all.map(
      (one): CapReading =>
        failed.includes(one) ? { scope: one, observed: 'unknown', readAt: NOW, failure } : { scope: one, observed: 'none', readAt: NOW },
    )
    return [...unknownScopes(all, byScope(read)).keys()]
  }
  test('is one that the last reading did not find, while the service knows most', () => expect(unknown([p0 ?? TEAM])).toEqual([key('p0')]))
  test('is none where most are not found: that is about the address', () =>
    expect(unknown([p0, p1, p2].flatMap((one) => one ?? []))).toEqual([]))
})

describe('what a sweep reads beside what is asked for and what is ours', () => {
  const nobody = new Set<ScopeKey>()
  const resolution = (sketch: PlanSketch) => planInputs(sketch).resolution

  test('are the members of pools, also those to whom nothing is dealt yet', () => {
    const pool = { members: { kind: 'emails', emails: ['p1', 'p0'].map(email) }, credits: 100 } as const
    expect(scopesToRead(resolution({ pools: [pool] }), new Map(), nobody).map(short)).toEqual(['team', 'p0', 'p1'])
  })

  test('are undeclared groups, where their members may show their cap', () => {
    const groupsOf = (of: ScopeKey) => (of === key('p0') ? [key('group:b'), key('group:')] : [])
    expect(scopesToRead(resolution({ caps: { p0: 5, p1: 5 } }), new Map(), nobody, groupsOf).map(short)).toEqual([
      'team',
      'group:b',
      'p0',
      'p1',
    ])
  })
})

describe('the state of a scope', () => {
  const rule = { desired: 500, source: AT }
  test.each<readonly [string, PlanSketch, object]>([
    ['in sync', { caps: { p0: 500 }, observed: { p0: 500 } }, { state: 'in_sync', observed: 500, readAt: NOW, ...rule }],
    [
      'unknown, with the reason',
      { caps: { p0: 500 }, observed: { p0: 'unknown' } },
      { state: 'unknown', why: 'GetUsageConfig: 503', observed: 'unknown', ...rule },
    ],
    ['unknown, not read yet', { caps: { p0: 500 } }, { state: 'unknown', why: 'not read yet', observed: 'unknown', ...rule }],
    [
      'granted, with its reason',
      { grants: [{ on: 'p0', cap: 500, until: NOW + DAY }], observed: { p0: 500 } },
      { state: 'in_sync', observed: 500, readAt: NOW, desired: 500, source: { ...AT, line: 101 }, reason: 'release week' },
    ],
  ])('%s', (_name, sketch, expected) => expect(states(sketch)).toStrictEqual([{ scope: scope('p0'), ...expected }]))

  test('an orphan that stays while a policy file is broken, whatever prune says', () =>
    expect(states({ observed: { p0: 4 }, owned: { p0: { cap: 4 } }, prune: false }, { policyBroken: true })).toMatchObject([
      { state: 'drifted', cause: 'orphan', why: 'not cleared while a policy file is broken' },
    ]))

  test('drifted, with why it is not written now', () => {
    const excluded = () => ({ kind: 'excluded', code: 'pause', reason: 'paused until noon' }) as const
    expect(states({ caps: { p0: 500 }, observed: { p0: 4 } }, { excluded })).toMatchObject([{ state: 'drifted', why: 'paused until noon' }])
  })

  test('contested, with how often others changed it and until when it is left alone', () => {
    const known = { [key('p0')]: { at: NOW - HOUR, entry: entryOf('cap', 500), changes: 3 } }
    const fought: PlanSketch = { caps: { p0: 500 }, observed: { p0: 4 }, owned: { p0: { cap: 500 } }, contests: { known } }
    const [one] = states(fought)
    expect(one).toMatchObject({ state: 'contested', cause: 'external' })
    expect(one?.why).toMatch(/^hold [0-9a-f]{32}: changed by others 3 times in 24 h, left alone until 2026-11-21 11:00 UTC$/)
  })

  test.each<readonly [string, PlainCap, string]>([
    ['in sync', 500, 'in_sync'],
    ['that drifts', 4, 'drifted'],
  ])('a member of a pool %s tells which raise waits, and for what', (_name, observed, state) => {
    const inputs = planInputs({ caps: { p0: 500 }, observed: { p0: observed } })
    const waits = 'a raise to 600 waits until use up to 2026-11-20 12:00 UTC shows'
    const desired = inputs.resolution.desired.map((one) => ({ ...one, waits }))
    expect(buildPlan({ ...inputs, resolution: { ...inputs.resolution, desired } }).scopes).toMatchObject([{ state, why: waits }])
  })

  test('skipped, of a cap of ours on a person whom the service no longer knows', () => {
    const quarantined = [{ scope: scope('p0'), code: 'SCOPE_UNKNOWN', message: 'no such user', entry: UNDECLARED, at: NOW }]
    expect(states({ owned: { p0: { cap: 4 } }, quarantined })).toMatchObject([{ state: 'skipped', why: 'no such user' }])
  })

  test('rejected, in one row, where a 0 was not stored and the cap before it is set', () => {
    const zero = { code: 'ZERO_NOT_STORED', message: 'a 0 is not kept', entry: entryOf('cap', 0), restore: credits(7), at: NOW }
    const kept = states({ caps: { p0: 0 }, observed: { p0: 7 }, quarantined: [{ scope: scope('p0'), ...zero }] })
    expect(kept.map((one) => [short(one.scope), one.state, one.observed])).toEqual([['p0', 'rejected', 7]])
  })

  test('rejected by policy, and by the service', () => {
    const clash: PlanSketch = {
      caps: { 'group:a': 5, 'group:b': 7 },
      groups: { a: ['p0'], b: ['p0'] },
      observed: { 'group:a': 5, 'group:b': 7 },
    }
    expect(states(clash).map((one) => [short(one.scope), one.state, one.why?.slice(0, 30)])).toEqual([
      ['group:a', 'in_sync', undefined],
      ['group:b', 'in_sync', undefined],
      ['p0', 'rejected', 'p0@example.com is in groups wi'],
    ])
    const quarantined = [{ scope: scope('p0'), code: 'CAP_REFUSED', message: 'refused', entry: entryOf('cap', 500), at: NOW }]
    expect(states({ caps: { p0: 500 }, observed: { p0: 4 }, quarantined })).toEqual([
      { scope: scope('p0'), state: 'rejected', why: 'refused', observed: 4, readAt: NOW, ...rule },
    ])
  })

  test('held, with the id of its hold and since when it drifts', () => {
    const [one] = states({ people: 20, caps: { team: 4 }, observed: { team: 5 } }, { driftSince: { [key('team')]: NOW - HOUR } })
    expect(one).toMatchObject({ state: 'held', cause: 'policy', driftSince: NOW - HOUR })
    expect(one?.why).toMatch(/^hold [0-9a-f]{32}$/)
  })
})
