// What becomes of each change, and which of several reasons is shown.
import { describe, expect, test } from 'vitest'
import type { Disposition } from '../../../src/core/model/change.ts'
import { credits } from '../../../src/core/model/units.ts'
import { waveInputs } from '../../../src/core/plan/dispositions.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import type { Difference, Exclusion, Failure } from '../../../src/core/plan/snapshot.ts'
import { CYCLE, cap, email, entryOf, NOW, type PlainCap, scope, short } from '../../support/declare.ts'
import { type PlanMore, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'
import { keyOf } from '../../support/waves.ts'

const OFF = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
const fate = (disposition: Disposition): string => {
  if (disposition.kind === 'ready') return 'ready'
  if (disposition.kind === 'held') return 'held'
  const waits = disposition.kind === 'deferred' && disposition.waitsFor ? ` ${short(disposition.waitsFor)}` : ''
  return `${disposition.kind} ${disposition.code}${waits}`
}
const fates = (sketch: PlanSketch, more: PlanMore = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(planOf(sketch, more).plan.changes.map((one) => [short(one.scope), fate(one.disposition)]))
const only =
  (code: Exclusion['code'], ...names: readonly string[]) =>
  ({ scope: at }: Pick<Difference, 'scope'>): Exclusion | undefined =>
    names.includes(short(at)) ? { kind: 'excluded', code, reason: 'because' } : undefined
const failed = (failures: Readonly<Record<string, PlainCap>>): ReadonlyMap<ReturnType<typeof keyOf>, Failure> =>
  new Map(Object.entries(failures).map(([name, to]) => [keyOf(name), { to: cap(to), reason: '422' }]))

/** p0 is cleared and falls to the team's first cap. */
const LEANING: PlanSketch = {
  people: ['p0', 'p1'],
  caps: { team: 500, p0: 'none', p1: 9 },
  observed: { team: 'none', p0: 500, p1: 8 },
  guards: OFF,
}

describe('a change', () => {
  test.each<readonly [string, PlanSketch, PlanMore, Readonly<Record<string, string>>]>([
    [
      'waits for one that a guard holds',
      { ...LEANING, facts: { rosterDoubt: { before: 9, now: 2 } } },
      {},
      { p1: 'ready', team: 'held', p0: 'held' },
    ],
    [
      'waits for one that failed in this run',
      LEANING,
      { failed: failed({ team: 500 }) },
      { p1: 'ready', team: 'deferred failed', p0: 'deferred order team' },
    ],
    ['goes when what failed was another value', LEANING, { failed: failed({ team: 400 }) }, { p1: 'ready', team: 'ready', p0: 'ready' }],
    [
      'waits for nothing that is only watched',
      { ...LEANING, caps: { team: 100, p0: 500 }, observed: { team: 500, p0: 'none' } },
      { watched: only('onDrift', 'p0') },
      { team: 'ready', p0: 'excluded onDrift' },
    ],
  ])('%s', (_name, sketch, more, expected) => expect(fates(sketch, more)).toEqual(expected))

  // p0 shows the group's old value and is to have it: whether it is its own cannot be told.
  test.each(['open', 'inherited'] as const)(
    'at a group waits for a member’s cap that may only be inherited, where reads are %s',
    (reads) => {
      const sketch: PlanSketch = {
        people: ['p0', 'p1'],
        groups: { g: ['p0', 'p1'] },
        caps: { 'group:g': 200, p0: 300 },
        observed: { 'group:g': 300, p0: 300, team: 'none' },
        guards: OFF,
        model: { reads },
      }
      expect(fates(sketch)).toEqual({ p0: 'ready', 'group:g': 'ready' })
      expect(fates(sketch, { excluded: only('focus', 'p0') })).toEqual({ 'group:g': 'deferred order p0', p0: 'excluded focus' })
    },
  )

  test('that a guard holds is shown as held, whatever else keeps it', () => {
    const sketch: PlanSketch = { caps: { p0: 4 }, observed: { p0: 5 }, protectedPeople: ['p0'] }
    const all = { excluded: only('pause', 'p0'), failed: failed({ p0: 4 }) }
    expect(fates(sketch, all)).toEqual({ p0: 'held' })
    expect(fates(sketch, { ...all, watched: only('onDrift', 'p0') })).toEqual({ p0: 'excluded onDrift' })
  })
})

describe('a scope that could not be read', () => {
  /** Nobody knows whether p0 has the cap that policy gives them, so the team's may not fall below it. */
  const UNREAD: PlanSketch = { people: ['p0', 'p1'], caps: { team: 100, p0: 500 }, observed: { team: 500, p0: 'unknown' }, guards: OFF }
  test.each<readonly [string, PlanSketch, PlanMore, string]>([
    ['keeps out what counts on it', UNREAD, {}, 'deferred unread p0'],
    ['defers no change once it is given up', UNREAD, { givenUp: new Set([keyOf('p0')]) }, 'ready'],
    ['defers no change when the ledger verified it under the same entry', { ...UNREAD, owned: { p0: { cap: 500 } } }, {}, 'ready'],
    [
      'keeps out what counts on it when the ledger knows another entry',
      { ...UNREAD, owned: { p0: { cap: 400 } } },
      {},
      'deferred unread p0',
    ],
    ['defers no change when nothing is to be set there', { ...UNREAD, caps: { team: 100, p0: 'none' } }, {}, 'ready'],
    [
      'keeps out what counts on it when the ledger verified another value under the same entry',
      { ...UNREAD, owned: { p0: { cap: 400, entry: entryOf('cap', 500) } } },
      {},
      'deferred unread p0',
    ],
    [
      'defers no change where it is no longer desired, and the person falls to the team’s cap',
      { ...UNREAD, caps: { team: 100 }, owned: { p0: { cap: 50 } } },
      {},
      'ready',
    ],
    ['defers no change that takes nothing away', { ...UNREAD, caps: { team: 600, p0: 500 } }, {}, 'ready'],
    ['defers no change that reaches others', { ...UNREAD, caps: { p1: 4, p0: 500 }, observed: { p1: 5, p0: 'unknown' } }, {}, 'ready'],
  ])('%s', (_name, sketch, more, expected) => expect(Object.values(fates(sketch, more))).toEqual([expected]))
})

test('a scope that is given up is not pending', () => {
  const unread: PlanSketch = { people: ['p0'], caps: { p0: 500 }, observed: { p0: 'unknown' }, guards: OFF }
  expect(planOf(unread).pending).toMatchObject([{ key: keyOf('p0'), from: 'none', to: 500, isUnread: true }])
  expect(planOf(unread, { givenUp: new Set([keyOf('p0')]) }).pending).toEqual([])
})

test('a scope that could not be read is told by its name', () => {
  const sketch: PlanSketch = { people: ['p0'], caps: { team: 100, p0: 500 }, observed: { team: 500, p0: 'unknown' }, guards: OFF }
  expect(planOf(sketch).plan.changes.map((one) => one.disposition)).toMatchObject([{ reason: 'p0@example.com could not be read' }])
})

describe('what a wave is judged by', () => {
  const sketch: PlanSketch = {
    ...{ people: ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'], readsExplicit: false, guards: OFF },
    caps: { team: 500, p0: 40, p1: 30, p2: 500, p3: 60, p4: 7, p6: 90, p7: 80 },
    observed: { team: 500, p0: 'unknown', p1: 'unknown', p2: 500, p3: 50, p4: 'unknown', p5: 'unknown', p6: 'unknown', p7: 80 },
    owned: { p0: { cap: 40 }, p1: { cap: 30 }, p5: { cap: 70 }, p6: { cap: 90 }, p7: { cap: 80, more: { written: true } } },
  }
  const inputs = planInputs(sketch)
  const last = { observed: cap(90), readAt: NOW - 1 }
  const lastRead = new Set([keyOf('p1'), keyOf('p6')])
  const readings = new Map([...inputs.readings].map(([at, one]) => [at, lastRead.has(at) ? { ...one, last } : one] as const))
  const { slots, people, owned, desired } = buildPlan({ ...inputs, readings })
  const { caps, mayBeInherited, ...rest } = waveInputs({ slots, people, owned, desired })
  test.each<readonly [string, string, PlainCap, boolean]>([
    ['is what shows, or nothing where no write of ours set it', 'p3', 50, true],
    ['is what shows where a write of ours set it', 'p7', 80, false],
    ['may be nothing where what shows may be inherited', 'p2', 500, true],
    ['is what the ledger verified under the same entry, where nothing could be read', 'p0', 40, false],
    ['is what was read last, or nothing, whatever the ledger had verified before', 'p1', 90, true],
    ['is what the ledger verified under the same entry, where that was read last', 'p6', 90, false],
    ['is nothing where nothing was ever read', 'p4', 'none', true],
    ['is nothing where nothing could be read and policy asks for nothing any more', 'p5', 'none', true],
  ])('%s', (_name, name, expected, isOpen) => expect([caps(keyOf(name)), mayBeInherited(keyOf(name))]).toEqual([expected, isOpen]))
  test('names groups with unknown members, where there are any', () => {
    expect(rest).toEqual({ people, layers: 'layered' })
    const unlisted = new Set([keyOf('group:g')])
    expect(waveInputs({ slots, people, owned, desired, unlisted }).unlisted).toBe(unlisted)
  })
})

test.each(['mode', 'pause', 'replaced'] as const)(
  'everything that %s keeps back is shown in the order in which it would be written',
  (code) =>
    expect(Object.entries(fates(LEANING, { excluded: only(code, 'team', 'p0', 'p1') }))).toEqual(
      ['p1', 'team', 'p0'].map((name) => [name, `excluded ${code}`]),
    ),
)

describe('the cap that a pool deals', () => {
  const member = { base: credits(0), use: credits(0), dealt: credits(200), sent: [], lowered: [] }
  const dealing: PlanSketch = {
    ...{ people: ['p0', 'p1'], caps: { team: 900 }, observed: { team: 100, p0: 'none' } },
    pools: [{ name: 'research', credits: 1000, members: { kind: 'emails', emails: [email('p0')] } }],
    dealt: { research: { cycle: CYCLE, readAt: NOW, dealtAt: NOW, members: { [email('p0')]: member } } },
    guards: OFF,
  }
  test.each<readonly [string, PlanSketch, PlanMore, Readonly<Record<string, string>>]>([
    [
      'keeps out what would lift its member above it',
      dealing,
      { excluded: only('focus', 'p0') },
      { team: 'deferred order p0', p0: 'excluded focus' },
    ],
    [
      'does so as well where it could not be read',
      { ...dealing, observed: { team: 100, p0: 'unknown' } },
      {},
      { team: 'deferred unread p0' },
    ],
  ])('%s', (_name, sketch, more, expected) => expect(fates(sketch, more)).toMatchObject(expected))
})

describe('a foreign value', () => {
  test('is reverted at the team though a first cap of a member is held: a foreign cap is not protected', () => {
    const sketch: PlanSketch = {
      ...{ people: ['p0', 'p1'], caps: { team: 100, p0: 500 }, observed: { team: 900, p0: 'none' }, guards: OFF },
      owned: { team: { cap: 100 } },
    }
    expect(fates(sketch, { excluded: only('focus', 'p0') })).toEqual({ team: 'ready', p0: 'excluded focus' })
    expect(fates({ ...sketch, owned: {} }, { excluded: only('focus', 'p0') })).toEqual({ team: 'deferred order p0', p0: 'excluded focus' })
  })

  test.each<readonly [string, PlanSketch]>([
    ['was refused', { quarantined: [{ scope: scope('team'), code: 'CAP_REFUSED', message: 'no', entry: entryOf('cap', 100), at: NOW }] }],
    ['could not be read', { observed: { team: 'unknown', 'group:g': 'none', p0: 'none' } }],
  ])('is not what stands at a team whose own cap %s: no person falls below the present cap', (_name, more) => {
    const sketch: PlanSketch = {
      ...{ people: ['p0', 'p1'], groups: { g: ['p0'] }, guards: OFF },
      ...{ caps: { team: 100, 'group:g': 300, p0: 500 }, observed: { team: 900, 'group:g': 'none', p0: 'none' } },
    }
    const inputs = planInputs({ ...sketch, ...more })
    const last = { observed: cap(900), readAt: NOW - 1 }
    const readings = new Map([...inputs.readings].map(([at, one]) => [at, one.observed === 'unknown' ? { ...one, last } : one] as const))
    const { plan } = buildPlan({ ...inputs, readings, excluded: only('focus', 'p0') })
    expect(plan.changes.map((one) => [short(one.scope), fate(one.disposition)])).toEqual([
      ['group:g', 'deferred order p0'],
      ['p0', 'excluded focus'],
    ])
  })
})

describe('a deferred ancestor names the change it waits for', () => {
  const reason = (sketch: PlanSketch, more: PlanMore = {}): string | undefined =>
    planOf(sketch, more).plan.changes.flatMap(({ scope: at, disposition: one }) =>
      short(at) === 'p0' && one.kind === 'deferred' ? one.reason : [],
    )[0]
  test.each<readonly [string, PlanSketch, PlanMore, string]>([
    ['failed', LEANING, { failed: failed({ team: 500 }) }, 'team comes first, and it failed: 422'],
    ['is left out', LEANING, { excluded: only('focus', 'team') }, 'team comes first, and is not written now: because'],
  ])('when it %s', (_name, sketch, more, expected) => expect(reason(sketch, more)).toBe(expected))

  test('when it waits itself', () => {
    const groups = { g: ['p0', 'p1'] }
    const sketch: PlanSketch = {
      ...{ ...LEANING, groups, caps: { team: 500, 'group:g': 'none', p0: 'none' } },
      observed: { team: 'none', 'group:g': 400, p0: 500 },
    }
    expect(reason(sketch, { excluded: only('focus', 'team') })).toBe('group:g comes first, and waits itself')
  })
})

describe('a team or group cap that the service refused', () => {
  const REFUSED = (name: string, code = 'CAP_REFUSED', value: PlainCap = 500): NonNullable<PlanSketch['quarantined']> => [
    { scope: scope(name), code, message: 'too high', entry: entryOf('cap', value), at: NOW },
  ]
  const GROUP: PlanSketch = {
    ...{ people: ['p0', 'p1'], groups: { g: ['p0'] }, caps: { 'group:g': 500, p0: 'none' }, guards: OFF },
    observed: { 'group:g': 'none', p0: 500 },
  }
  test.each<readonly [string, PlanSketch, Readonly<Record<string, string>>]>([
    ['of a group keeps out its members', { ...GROUP, quarantined: REFUSED('group:g') }, { p0: 'deferred order group:g' }],
    [
      'of the team keeps out its members, also where the scope is unknown',
      { ...LEANING, quarantined: REFUSED('team', 'SCOPE_UNKNOWN') },
      { p1: 'ready', p0: 'deferred order team' },
    ],
    ['of a person defers no change', { ...LEANING, quarantined: REFUSED('p1', undefined, 9) }, { team: 'ready', p0: 'ready' }],
  ])('%s', (_name, sketch, expected) => expect(fates(sketch)).toEqual(expected))

  test('is told with what the service said', () => {
    const [one] = planOf({ ...GROUP, quarantined: REFUSED('group:g') }).plan.changes
    expect(one?.disposition).toMatchObject({ reason: 'group:g comes first, and is refused: too high' })
  })
})
