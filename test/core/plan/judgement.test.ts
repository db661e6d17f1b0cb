// Guards and approvals together: what one approval releases goes on counting for all other holds.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { email, NOW, SETTINGS, short } from '../../support/declare.ts'
import { runs } from '../../support/fuzz.ts'
import { each, lines, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

type Approval = NonNullable<PlanSketch['approvals']>[number]
type Hold = ReturnType<typeof buildPlan>['plan']['holds'][number]

const limits = (floor: number) => ({ percent: 0, floor })
const amount = fc.constantFrom<number | 'none'>('none', 0, 100, 200, 300)
const names = ['team', 'group:g', 'group:h', ...Object.keys(each(8, 0))]
const caps = fc.record(Object.fromEntries(names.map((name) => [name, amount])))
/** Companies of eight where several guards hold several things at once. */
const worlds: fc.Arbitrary<PlanSketch> = fc.record({
  ...{ observed: caps, people: fc.constant(8), used: fc.constant(each(3, 100)) },
  caps: fc.dictionary(fc.constantFrom(...names), amount, { minKeys: 3, noNullPrototype: true }),
  groups: fc.record({ g: fc.subarray(['p0', 'p1', 'p2', 'p3']), h: fc.subarray(['p2', 'p3', 'p4']) }),
  protect: fc.subarray(['p0', 'p5']),
  guards: fc.record({
    maxAffected: fc.nat(4).map(limits),
    maxLowered: fc.nat(3).map(limits),
    maxBlocked: fc.nat(2).map(limits),
    maxCleared: fc.nat(2).map(limits),
  }),
  facts: fc.record({ creditsRemaining: fc.nat(300) }),
})
const held = ({ holds }: { readonly holds: readonly Hold[] }): ReadonlySet<string> =>
  new Set(holds.flatMap((hold) => hold.changes.map((one) => scopeKey(one.scope))))

/** People with caps of their own before and after, so that no change takes the harm out of another. */
const own: fc.Arbitrary<PlanSketch> = fc
  .tuple(worlds, fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 6 })), { minLength: 8, maxLength: 8 }))
  .map(([world, steps]) => {
    const pick = (at: 0 | 1) => Object.fromEntries(steps.map((step, index) => [`p${index}`, step[at] * 50]))
    return { ...world, groups: {}, observed: pick(0), caps: pick(1) }
  })
const numbers = (all: PlanSketch['observed'] = {}): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value] as const] : [])))
const ids = ({ holds }: { readonly holds: readonly Hold[] }): readonly string[] => holds.map((hold) => hold.id).sort()

test('nothing is released while no roster was ever read, whatever was approved before or is approved now', () =>
  fc.assert(
    fc.property(worlds, (world) => {
      const known = planOf(world).plan
      const before = planOf({ ...world, approve: known.holds.map(({ id }) => id) }).approvals
      const { plan } = planOf({ ...world, roster: null })
      const approved = planOf({ ...world, roster: null, approvals: before, approve: ids(plan) })
      expect(approved.plan.changes.filter((change) => change.disposition.kind !== 'held')).toEqual([])
      expect(approved.plan.holds).toEqual(plan.holds)
      expect(plan.holds.every(({ release, message }) => release === 'never' && !message.includes('approve hold'))).toBe(true)
      expect(approved.approvals.map(({ state, released }) => [state, released])).toEqual(
        before.map(({ state, released }) => [state, released]),
      )
    }),
    runs(100),
  ))

test('rules that are weakened let out the changes that were shown before, and keep all others that the earlier rules hold', () => {
  const off = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off', maxRaise: 'off' } as const
  fc.assert(
    fc.property(worlds, fc.nat(), (world, which) => {
      const strict = planOf(world).plan
      fc.pre(strict.holds.length > 0)
      const { guards } = planInputs(world)
      const protectedEmails = (world.protect ?? []).map(email)
      const shown = strict.changes.filter((_change, index) => (which >> index) % 2 === 0)
      const changesShown = Object.fromEntries(shown.map(({ scope, from, to }) => [scopeKey(scope), { from, to, at: NOW - 2 }]))
      const reviewed = [{ guards, protectedEmails, weakenedAt: NOW - 1 }]
      const now = planInputs({ ...world, guards: off, protect: [] })
      const { plan } = buildPlan({ ...now, reviewed, changesShown })
      for (const { scope } of shown) expect(held(plan)).not.toContain(scopeKey(scope))
      const others = [...held(strict)].filter((key) => changesShown[key] === undefined)
      expect([...held(plan)]).toEqual(expect.arrayContaining(others))
    }),
    runs(600),
  )
})

describe('approving one hold', () => {
  test('releases exactly its changes, and leaves every other hold as it is', () => {
    fc.assert(
      fc.property(own, fc.nat(9), (world, pick) => {
        const { plan } = planOf(world)
        fc.pre(plan.holds.length > 1)
        const one = plan.holds[pick % plan.holds.length]
        const approved = planOf({ ...world, approve: [one?.id ?? ''] }).plan
        expect(ids(approved)).toEqual(ids(plan).filter((id) => id !== one?.id))
        const released = approved.changes.flatMap((change) => (change.released ? scopeKey(change.scope) : []))
        expect(new Set(released)).toEqual(held({ holds: one ? [one] : [] }))
      }),
      runs(200),
    )
  })

  test('leaves every other hold as it is in the next cycles too, written or interrupted', () => {
    fc.assert(
      fc.property(own, fc.nat(9), fc.nat(), (world, pick, which) => {
        const first = planOf(world).plan
        fc.pre(first.holds.length > 1)
        const one = first.holds[pick % first.holds.length]
        const approved = planOf({ ...world, approve: [one?.id ?? ''] })
        const observed = numbers(world.observed)
        const out = approved.plan.changes.filter((change, index) => change.disposition.kind === 'ready' && (which >> index) % 2 === 0)
        const written = Object.fromEntries(out.map((change) => [short(change.scope), change.to]))
        const next = planOf({ ...world, observed: { ...observed, ...written }, baseline: observed, approvals: approved.approvals }).plan
        expect(ids(next)).toEqual(ids(first).filter((id) => id !== one?.id))
      }),
      runs(200),
    )
  })

  test('leaves its changes, put back after another client, to the guards that judge a revert', () => {
    fc.assert(
      fc.property(own, fc.nat(9), fc.nat(9), (world, pick, which) => {
        const unprotected = { ...world, protect: [] }
        const first = planOf(unprotected).plan
        fc.pre(first.holds.length > 1)
        const approved = planOf({ ...unprotected, approve: [first.holds[pick % first.holds.length]?.id ?? ''] })
        const released = approved.plan.changes.filter((change) => change.released && change.to !== 'none')
        const one = released[which % Math.max(1, released.length)]
        if (one?.scope.kind !== 'user') return
        const written = Object.fromEntries(
          approved.plan.changes.filter(({ disposition }) => disposition.kind === 'ready').map((change) => [short(change.scope), change.to]),
        )
        const owned = Object.fromEntries(Object.entries(written).map(([scope, to]) => [scope, { cap: to }]))
        const observed = { ...numbers(world.observed), ...written, [short(one.scope)]: 999 }
        const inputs = planInputs({ ...unprotected, observed, owned, approvals: approved.approvals })
        // The person was protected until just now: that alone may hold the revert.
        const reviewed = [{ guards: inputs.guards, protectedEmails: [one.scope.email], weakenedAt: NOW - 1 }]
        const key = scopeKey(one.scope)
        const holds = buildPlan({ ...inputs, reviewed }).plan.holds.filter(({ changes }) =>
          changes.some(({ scope }) => scopeKey(scope) === key),
        )
        expect(holds.map(({ guards }) => guards)).toEqual([['protected']])
      }),
      runs(200),
    )
  })

  test('keeps back all that other holds keep back, also where people fall back to what it has released', () => {
    fc.assert(
      fc.property(worlds, fc.nat(9), fc.nat(), (world, pick, which) => {
        const { plan } = planOf(world)
        fc.pre(plan.holds.length > 1)
        const one = plan.holds[pick % plan.holds.length]
        const its = held({ holds: one ? [one] : [] })
        const others = [...held(plan)].filter((key) => !its.has(key))
        const approved = planOf({ ...world, approve: [one?.id ?? ''] })
        expect([...held(approved.plan)]).toEqual(expect.arrayContaining(others))
        for (const key of its) expect(held(approved.plan)).not.toContain(key)
        const out = approved.plan.changes.filter((change, index) => change.disposition.kind === 'ready' && (which >> index) % 2 === 0)
        const worldWith = (written: typeof out): PlanSketch => {
          const of = (value: 'from' | 'to') => Object.fromEntries(written.map((change) => [short(change.scope), change[value]]))
          return { ...world, observed: { ...world.observed, ...of('to') }, baseline: of('from') }
        }
        const next = planOf({ ...worldWith(out), approvals: approved.approvals }).plan
        // What would stay held had nothing been released; other writes may let go of something by themselves.
        const unreleased = held(planOf(worldWith(out.filter(({ released }) => !released))).plan)
        expect([...held(next)]).toEqual(expect.arrayContaining(others.filter((key) => unreleased.has(key))))
        for (const key of its) expect(held(next)).not.toContain(key)
      }),
      runs(200),
    )
  })

  test('of all holds at once releases all of them', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { holds } = planOf(world).plan
        const all = planOf({ ...world, approve: holds.map((hold) => hold.id) }).plan
        expect(all.holds).toEqual([])
        expect(all.changes.filter((one) => one.disposition.kind === 'held')).toEqual([])
      }),
      runs(100),
    )
  })
})

test('what was released is counted in the raises that are left credits for', () => {
  const raised: PlanSketch = { caps: { p0: 600, p1: 600 }, observed: { p0: 500, p1: 500 }, facts: { creditsRemaining: 100 } }
  const released: Approval = {
    ...{ id: 'a'.repeat(32), via: 'command', approvedAt: NOW, state: 'pending', people: 1 },
    released: planOf(raised).plan.holds.flatMap((hold) => hold.changes.slice(0, 1).map((one) => ({ ...one, verified: false }))),
  }
  expect(lines(planOf({ ...raised, approvals: [released] }))).toEqual(['p0 raise 500>600 policy', 'p1 raise 500>600 policy held:maxRaise'])
})

describe('ids that an operator types', () => {
  const LOWER: PlanSketch = { people: 100, caps: each(16, 400), observed: each(16, 500) }
  const id = planOf(LOWER).plan.holds[0]?.id ?? ''
  const typed = (...approve: readonly string[]) => planOf({ ...LOWER, approve }).plan
  const NONE = 'no hold has this id now'
  test.each([
    ['whole', id, undefined],
    ['by 8 digits', id.slice(0, 8), undefined],
    ['by 7 digits', id.slice(0, 7), `a hold begins with ${id.slice(0, 7)}; type more of the id`],
    ['by the end of the id', id.slice(-8), NONE],
    ['by digits of no hold', '0'.repeat(32), NONE],
  ])('release a hold: %s', (_name, text, note) => {
    const isReleased = note === undefined
    const { holds, approvals, problems } = typed(text)
    expect(holds).toHaveLength(isReleased ? 0 : 1)
    expect(approvals).toMatchObject([{ via: 'command', releases: { length: isReleased ? 16 : 0 } }])
    expect(approvals[0]?.note).toBe(note)
    expect(problems.map((one) => one.code).filter((code) => code.startsWith('APPROVAL'))).toEqual(isReleased ? [] : ['APPROVAL_UNMATCHED'])
  })
  test('release nothing where two holds begin so', () => {
    const inputs = planInputs({ ...LOWER, protect: ['p0'] })
    const same = (text: string): string => `${'ab'.repeat(4)}${inputs.digest(text)}`
    const { holds, approvals } = buildPlan({ ...inputs, approve: ['abababab'], digest: same }).plan
    expect(holds).toHaveLength(2)
    expect(approvals).toEqual([
      { id: 'abababab', via: 'command', state: 'pending', releases: [], note: '2 holds begin with abababab; type more of the id' },
    ])
    const whole = holds.map((hold) => hold.id)
    expect(buildPlan({ ...inputs, approve: whole, digest: same }).plan.holds).toEqual([])
  })
  test('say nothing new of what was released before and is not there yet', () => {
    const { approvals } = planOf({ ...LOWER, approve: [id] })
    const again = (text: string) => planOf({ ...LOWER, approvals, approve: [text] }).plan
    expect(again(id.slice(0, 8)).approvals).toMatchObject([{ id, via: 'command', releases: { length: 16 } }])
    expect(again(id.slice(0, 8)).problems).toEqual([])
    expect(again(id.slice(-8)).approvals).toMatchObject([{ id }, { id: id.slice(-8), note: NONE }])
    const spent = approvals.map((one): Approval => ({ ...one, state: 'spent' }))
    const over = planOf({ ...LOWER, observed: each(16, 400), approvals: spent, approve: [id] }).plan
    expect(over.approvals).toMatchObject([{ id, note: NONE }])
  })
  test('are told as releasing nothing while no roster was ever read, as what was given before is', () => {
    const note = 'the roster was never read, and without it nothing is released'
    const known = (name: string, state: Approval['state']): Approval => ({ id: name, via: 'command', approvedAt: NOW, state, released: [] })
    const { plan } = planOf({ ...LOWER, roster: null, approvals: [known('a', 'pending'), known('b', 'spent')], approve: ['c'] })
    expect(plan.approvals.map((one) => [one.id, one.note])).toEqual([
      ['a', note],
      ['c', note],
    ])
  })
})

describe('an approval in a policy', () => {
  const LOWER: PlanSketch = { people: 100, caps: each(16, 400), observed: each(16, 500) }
  const id = planOf(LOWER).plan.holds[0]?.id ?? ''
  const AT = { file: 'acme.yaml', line: 1, column: 5 }

  test('leaves the word to an operator who typed it as well, and its place to what has no effect any more', () => {
    const holdsShown = { [id]: { people: 16, at: NOW, reviewed: true } }
    const { changes, approvals } = planOf({ ...LOWER, approvalIds: ['0'.repeat(32), id], approve: [id], holdsShown }).plan
    expect(changes[0]?.released).toEqual({ id, via: 'command' })
    const own = approvals.find((one) => one.id === id)
    expect(own).toEqual({ id, via: 'command', state: 'pending', releases: expect.objectContaining({ length: 16 }) })
  })
  test('names its place at every change it releases, also among several', () => {
    const inputs = planInputs({ ...LOWER, approvalIds: [id], holdsShown: { [id]: { people: 16, at: NOW, reviewed: true } } })
    const other = { id: '0'.repeat(32), at: { ...AT, line: 7 } }
    const policy = { ...inputs.policy, set: { ...inputs.policy.set, approvals: [other, ...inputs.policy.set.approvals] } }
    const { changes, approvals } = buildPlan({ ...inputs, policy }).plan
    expect(changes.map((one) => one.released)).toEqual(Array.from({ length: 16 }, () => ({ id, via: 'policy', at: AT })))
    expect(approvals.map((one) => [one.at?.line, one.note])).toEqual([
      [7, 'no hold has this id now'],
      [1, undefined],
    ])
  })
})

describe('two holds', () => {
  const TWO: PlanSketch = { people: 100, caps: { ...each(15, 400), p15: 400 }, observed: each(16, 500), protect: ['p15'] }
  const both = ids(planOf(TWO).plan)

  test('that are approved are released each by its own approval, now or once anything may be written', () => {
    const approvals = both.map((id): Approval => ({ id, via: 'command', approvedAt: NOW, state: 'pending', released: [] }))
    const sizes = (inputs: ReturnType<typeof planInputs>) =>
      buildPlan(inputs)
        .plan.approvals.map((one) => [one.id, one.releases.length])
        .sort()
    const expected = planOf(TWO)
      .plan.holds.map((hold) => [hold.id, hold.changes.length])
      .sort()
    expect(sizes(planInputs({ ...TWO, approve: both }))).toEqual(expected)
    expect(sizes({ ...planInputs({ ...TWO, approvals }), idle: 'mode is audit' })).toEqual(expected)
  })

  test('say of themselves whether only the rules of before hold them', () => {
    const reviewed = [{ guards: SETTINGS.guards, protectedEmails: [], weakenedAt: NOW }]
    const { holds } = planOf({ ...TWO, guards: { maxLowered: 'off', maxAffected: 'off' } }, { reviewed }).plan
    const isOld = (hold: Hold): boolean => hold.message.includes('the weaker rules of this revision count only')
    expect(holds.map((hold) => [hold.guards.includes('protected'), isOld(hold)])).toEqual([
      [false, true],
      [true, false],
    ])
  })

  test('say so as well where only a part of what they hold is held by the rules of now', () => {
    const reviewed = [{ guards: SETTINGS.guards, protectedEmails: ['p0', 'p1'].map(email), weakenedAt: NOW }]
    const lowered = { caps: each(2, 400), observed: each(2, 500), protect: ['p0'] }
    const { holds } = planOf(lowered, { reviewed }).plan
    expect(holds.map(({ changes, message }) => [changes.length, message.includes('the weaker rules of this revision')])).toEqual([
      [2, true],
    ])
  })

  test('say why nothing is written now, whatever is approved', () => {
    const { holds } = planOf(TWO, { idle: 'mode is audit' }).plan
    expect(holds.map(({ message, release }) => [message.includes('nothing is written now: mode is audit'), release])).toEqual([
      [true, 'later'],
      [true, 'later'],
    ])
  })
})

test('a pin that was released stays released until it is written, though its value shows already', () => {
  const world: PlanSketch = {
    ...{ people: 40, groups: { g: ['p0', 'p1'] }, readsExplicit: false },
    ...{ caps: { team: 400, 'group:g': 500 }, observed: { team: 500, 'group:g': 500 } },
    owned: { team: { cap: 500 }, 'group:g': { cap: 500 } },
    facts: { reads: { failed: 50, total: 100, teamFailed: false, cause: 'GetUsageConfig: 503' } },
  }
  const first = planOf(world)
  const approved = planOf({ ...world, approve: first.plan.holds.map(({ id }) => id) })
  expect(held(approved.plan)).toEqual(new Set())
  // Nothing of it was written: the process died.
  expect(held(planOf({ ...world, approvals: approved.approvals }).plan)).toEqual(new Set())
})
