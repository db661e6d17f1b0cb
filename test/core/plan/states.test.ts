// What is shown of each scope beside the changes, which scopes are left alone, and which a sweep reads.
import { describe, expect, test } from 'vitest'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { activeQuarantine, scopesToRead, skippedScopes, unknownScopes } from '../../../src/core/plan/states.ts'
import { cap, DAY, email, entryOf, HOUR, keysOf, NOW, ownedCaps, type PlainCap, roster, scope, short } from '../../support/declare.ts'
import { type PlanMore, type PlanSketch, planInputs, planOf, scopes } from '../../support/plan.ts'

const UNDECLARED = { kind: 'undeclared' } as const
const AT = { file: 'acme.yaml', line: 1, column: 5 }
const states = (sketch: PlanSketch, more: PlanMore = {}) => planOf(sketch, more).scopes
type Quarantined = NonNullable<PlanSketch['quarantined']>[number]

test('left alone are scopes that policy names or that are ours, and that do not exist', () => {
  const ours = { p0: { cap: 5 }, p1: { cap: 5 }, p2: { cap: 5 }, 'group:a': { cap: 5 }, 'group:b': { cap: 5 }, team: { cap: 5 } }
  const people = roster({ p0: 'approved', p1: 'pending' })
  const { resolution } = planInputs({ roster: people, caps: { eve: 5, p0: 5 } })
  expect(skippedScopes(resolution, ownedCaps(ours), people, ['b'])).toEqual(keysOf('eve', 'p1', 'p2', 'group:b'))
})

describe('quarantine', () => {
  const entry = (more: Partial<Quarantined> = {}): Quarantined => ({
    ...{ scope: scope('p0'), code: 'CAP_REFUSED', message: 'refused', entry: entryOf('cap', 500), at: NOW },
    ...more,
  })
  const DECLARED: PlanSketch = { caps: { p0: 500, p1: 500 }, observed: { p0: 400, p1: 400 } }
  const ORPHAN: PlanSketch = { caps: { p1: 500 }, observed: { p0: 5, p1: 400 }, owned: { p0: { cap: 5 } } }
  const zero = entry({ code: 'ZERO_NOT_STORED' })
  test.each<readonly [string, Quarantined, PlanSketch, string]>([
    ['holds for a day, and never for others', entry(), { ...DECLARED, now: NOW + DAY - 1 }, 'p1'],
    ['is over after a day', entry(), { ...DECLARED, now: NOW + DAY }, 'p0 p1 over'],
    ['is over where it is dated ahead, by a clock that was set back', entry({ at: NOW + 30 * DAY }), DECLARED, 'p0 p1 over'],
    ['of a zero that is not stored lasts until the policy changes', zero, { ...DECLARED, now: NOW + 99 * DAY }, 'p1'],
    ['is over when the entry changes', entry({ entry: entryOf('cap', 400) }), DECLARED, 'p0 p1 over'],
    ['of a scope that is not declared any more is over', entry(), ORPHAN, 'p1 p0 over'],
    ['of an orphan holds', entry({ entry: UNDECLARED }), ORPHAN, 'p1'],
  ])('%s', (_name, one, sketch, expected) => {
    const { changes } = planOf({ ...sketch, quarantined: [one] }).plan
    const { over } = activeQuarantine([one], planInputs(sketch).resolution, new Set(), sketch.now ?? NOW)
    expect([...changes.map(({ scope: at }) => short(at)), ...over.map(() => 'over')].join(' ')).toBe(expected)
  })

  test('is over where the scope is left alone, and where the service does not know it: the last reading says that', () => {
    const over = (one: Quarantined, left: ReturnType<typeof keysOf>) =>
      activeQuarantine([one], planInputs(DECLARED).resolution, left, NOW).over
    expect([over(entry(), keysOf('p0')), over(entry({ code: 'SCOPE_UNKNOWN' }), new Set())]).toEqual([[email('p0')], [email('p0')]])
  })

  test('asks for what stood there before a 0 that is not kept, and says so', () => {
    const quarantined = [{ ...zero, entry: entryOf('cap', 0), restore: cap(300) }]
    const reason = 'the service does not store a cap of 0 here, so the cap before it stays'
    const { plan } = planOf({ caps: { p0: 0, p1: 400 }, observed: { p0: 'none', p1: 400 }, quarantined })
    expect(plan.changes).toMatchObject([{ scope: scope('p0'), from: 'none', to: 300, reason }])
    const there = planOf({ caps: { p0: 0, p1: 400, p2: 400 }, observed: { p0: 300, p1: 400, p2: 400 }, quarantined })
    expect(there.plan.counts).toMatchObject({ rejected: 1, inSync: 2 })
    expect(there.desired.get(email('p0') as never)).toMatchObject({ cap: 300, entry: { kind: 'kept', cap: 300 } })
    const told = there.scopes.map((one) => `${short(one.scope)} ${one.state} ${one.observed}`)
    expect(told).toEqual(['p0 rejected 300', 'p1 in_sync 400', 'p2 in_sync 400'])
  })
})

describe('a scope that the service does not know', () => {
  const all = ['team', 'p0', 'p1', 'p2'].map(scope)
  const unknown = (...names: readonly string[]) => {
    const readings = [...planInputs({ observed: Object.fromEntries(all.map((one) => [short(one), 'none' as const])) }).readings]
    const failure = { kind: 'not_found', message: 'no such user' } as const
    const read = readings.map(
      ([key, one]) => [key, names.includes(short(one.scope)) ? { ...one, observed: 'unknown' as const, failure } : one] as const,
    )
    return [...unknownScopes(all, new Map(read)).keys()]
  }
  test('is one that the last reading did not find, while the service knows most', () => expect(unknown('p0')).toEqual([email('p0')]))
  test('is none where most are not found: that is about the address', () => expect(unknown('p0', 'p1', 'p2')).toEqual([]))
})

describe('what a sweep reads', () => {
  const read = (sketch: PlanSketch, ...more: readonly [ReturnType<typeof keysOf>?, Parameters<typeof scopesToRead>[3]?]) => {
    const [skipped = new Set(), mayShow] = more
    return scopesToRead(planInputs(sketch).resolution, ownedCaps(sketch.owned ?? {}), skipped, mayShow)
      .map(short)
      .join(' ')
  }
  test('is what is asked for and what is ours, but not what is skipped', () => {
    const owned = { team: { cap: 5 }, p0: { cap: 5 }, p3: { cap: 'none' }, p2: { cap: 4 } } as const
    expect(read({ caps: { p1: 5, 'group:b': 5, p0: 5 }, owned }, keysOf('p0', 'group:b'))).toBe('team p1 p2')
  })
  test('are the members of pools, also those to whom nothing is dealt yet', () =>
    expect(read({ pools: [{ members: { kind: 'emails', emails: ['p1', 'p0'].map(email) }, credits: 100 }] })).toBe('team p0 p1'))
  test('are undeclared groups, where their members may show their cap', () => {
    const [p0, ...groups] = keysOf('p0', 'group:b', 'group:')
    expect(read({ caps: { p0: 5, p1: 5 } }, new Set(), (of) => (of === p0 ? groups : []))).toBe('team group:b p0 p1')
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
    [
      'rejected by the service',
      {
        ...{ caps: { p0: 500 }, observed: { p0: 4 } },
        quarantined: [{ scope: scope('p0'), code: 'CAP_REFUSED', message: 'refused', entry: entryOf('cap', 500), at: NOW }],
      },
      { state: 'rejected', why: 'refused', observed: 4, readAt: NOW, ...rule },
    ],
  ])('%s', (_name, sketch, expected) => expect(states(sketch)).toStrictEqual([{ scope: scope('p0'), ...expected }]))

  const ORPHAN: PlanSketch = { observed: { p0: 4 }, owned: { p0: { cap: 4 } } }
  const excluded = () => ({ kind: 'excluded', code: 'pause', reason: 'paused until noon' }) as const
  const known = { [email('p0')]: { at: NOW - HOUR, entry: entryOf('cap', 500), changes: 3 } }
  const quarantined = [{ scope: scope('p0'), code: 'SCOPE_UNKNOWN', message: 'no such user', entry: UNDECLARED, at: NOW }]
  test.each<readonly [string, PlanSketch, PlanMore, object]>([
    [
      'an orphan that stays while a policy file is broken, whatever prune says',
      { ...ORPHAN, prune: false },
      { policyBroken: true },
      { state: 'drifted', cause: 'orphan', why: 'not cleared while a policy file is broken' },
    ],
    [
      'drifted, with why it is not written now',
      { caps: { p0: 500 }, observed: { p0: 4 } },
      { excluded },
      { state: 'drifted', why: 'paused until noon' },
    ],
    [
      'contested, with how often others changed it and until when it is left alone',
      { caps: { p0: 500 }, observed: { p0: 4 }, owned: { p0: { cap: 500 } }, contests: { known } },
      {},
      {
        ...{ state: 'contested', cause: 'external' },
        why: expect.stringMatching(/^hold [0-9a-f]{32}: changed by others 3 times in 24 h, left alone until 2026-11-21 11:00 UTC$/),
      },
    ],
    [
      'skipped, of a cap of ours on a person whom the service no longer knows',
      { ...ORPHAN, quarantined },
      {},
      { state: 'skipped', why: 'no such user' },
    ],
    [
      'held, with the id of its hold and since when it drifts',
      { caps: { team: 4 }, observed: { team: 5 } },
      { driftSince: Object.fromEntries([...keysOf('team')].map((key) => [key, NOW - HOUR])) },
      { state: 'held', cause: 'policy', driftSince: NOW - HOUR, why: expect.stringMatching(/^hold [0-9a-f]{32}$/) },
    ],
  ])('%s', (_name, sketch, more, expected) => expect(states(sketch, more)).toMatchObject([expected]))

  test('that was asked for and failed without a reason says that it was not read', () => {
    const inputs = planInputs(scopes('p0 ?>5, p1 ? ours 5'))
    const readings = new Map([...inputs.readings].map(([at, { failure: _, ...one }]) => [at, one]))
    expect(buildPlan({ ...inputs, readings }).diff.unknown.map((one) => one.message)).toEqual(['not read yet', 'not read yet'])
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

  test('rejected by policy, beside the groups that differ', () => {
    const groups = { 'group:a': 5, 'group:b': 7 }
    const clash = states({ caps: groups, groups: { a: ['p0'], b: ['p0'] }, observed: groups })
    expect(clash.map((one) => [short(one.scope), one.state, one.why?.slice(0, 30)])).toEqual([
      ['group:a', 'in_sync', undefined],
      ['group:b', 'in_sync', undefined],
      ['p0', 'rejected', 'p0@example.com is in groups wi'],
    ])
  })
})
