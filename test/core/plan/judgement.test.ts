// Guards and approvals together: what one approval releases goes on counting for all other holds.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Approval, type Hold, holdOf, isReady } from '../../../src/core/model/change.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { impactOf, isFree } from '../../../src/core/plan/impact.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { NOW, short } from '../../support/declare.ts'
import { runs } from '../../support/fuzz.ts'
import { each, lines, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

const limits = (floor: number) => ({ percent: 0, floor })
const amount = fc.constantFrom<number | 'none'>('none', 0, 100, 200, 300)
const names = ['team', 'group:g', 'group:h', ...Object.keys(each(8, 0))]
const caps = fc.record(Object.fromEntries(names.map((name) => [name, amount])))
/** Companies of eight where several guards hold several things at once. */
const worlds: fc.Arbitrary<PlanSketch> = fc.record({
  ...{ observed: caps, people: fc.constant(8), used: fc.constant(each(3, 100)) },
  caps: fc.dictionary(fc.constantFrom(...names), amount, { minKeys: 3, noNullPrototype: true }),
  groups: fc.record({ g: fc.subarray(['p0', 'p1', 'p2', 'p3']), h: fc.subarray(['p2', 'p3', 'p4']) }),
  protectedPeople: fc.subarray(['p0', 'p5']),
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
      expect(approved.plan.changes.filter((change) => holdOf(change) === undefined)).toEqual([])
      expect(approved.plan.holds).toEqual(plan.holds)
      expect(plan.holds.every(({ release, message }) => release === 'never' && !message.includes('approve hold'))).toBe(true)
      expect(approved.approvals.map(({ state, released }) => [state, released])).toEqual(
        before.map(({ state, released }) => [state, released]),
      )
    }),
    runs(100),
  ))

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
        const out = approved.plan.changes.filter((change, index) => isReady(change) && (which >> index) % 2 === 0)
        const written = Object.fromEntries(out.map((change) => [short(change.scope), change.to]))
        const next = planOf({ ...world, observed: { ...observed, ...written }, baseline: observed, approvals: approved.approvals }).plan
        expect(ids(next)).toEqual(ids(first).filter((id) => id !== one?.id))
      }),
      runs(200),
    )
  })

  test('lets through only what harms nobody any more by what its own guards are about, also where people fall back', () => {
    const strict = { maxAffected: limits(0), maxLowered: limits(0), maxBlocked: limits(0), maxCleared: limits(0) }
    fc.assert(
      fc.property(worlds, fc.nat(9), (some, pick) => {
        const world = { ...some, guards: { ...strict, maxRaise: 'off' as const } }
        const { plan } = planOf(world)
        fc.pre(plan.holds.length > 1)
        const one = plan.holds[pick % plan.holds.length]
        const approved = planOf({ ...world, approve: [one?.id ?? ''] })
        const its = held({ holds: one ? [one] : [] })
        expect(new Set(approved.plan.changes.flatMap((change) => (change.released ? scopeKey(change.scope) : [])))).toEqual(its)
        for (const key of its) expect(held(approved.plan)).not.toContain(key)
        const out = new Map([...approved.differences].filter(([key]) => !held(approved.plan).has(key)))
        const inputs = { people: approved.people, readings: approved.slots.shown, capSemantics: 'layered' as const }
        for (const impact of impactOf(out, inputs)) {
          const isReleased = impact.changes.some((key) => its.has(key))
          expect(isReleased || isFree(impact.effect), `${impact.person.email} is ${impact.effect} by ${impact.changes}`).toBe(true)
        }
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
        expect(all.changes.filter((one) => holdOf(one) !== undefined)).toEqual([])
      }),
      runs(100),
    )
  })
})

describe('what was released is counted', () => {
  const TWO: PlanSketch = { people: 100, caps: { ...each(15, 400), p15: 400 }, observed: each(16, 500), protectedPeople: ['p15'] }

  test('so that one person fewer to be held does not let the others through', () => {
    const { holds } = planOf(TWO).plan
    expect(holds.map((hold) => [hold.guards.join('+'), hold.changes.length])).toEqual([
      ['maxLowered', 15],
      ['maxLowered+protected', 1],
    ])
    const [, single] = holds
    expect(lines(planOf({ ...TWO, approve: [single?.id ?? ''] })).filter((line) => line.includes('held:maxLowered'))).toHaveLength(15)
  })
  test('in the raises that are left credits for', () => {
    const raised: PlanSketch = { caps: { p0: 600, p1: 600 }, observed: { p0: 500, p1: 500 }, facts: { creditsRemaining: 100 } }
    const released: Approval = {
      ...{ id: 'a'.repeat(32), via: 'command', approvedAt: NOW, state: 'pending', people: 1 },
      released: planOf(raised).plan.holds.flatMap((hold) => hold.changes.slice(0, 1).map((one) => ({ ...one, verified: false }))),
    }
    expect(lines(planOf({ ...raised, approvals: [released] }))).toEqual([
      'p0 raise 500>600 policy',
      'p1 raise 500>600 policy held:maxRaise',
    ])
  })
})

describe('ids that an operator types', () => {
  const LOWER: PlanSketch = { people: 100, caps: each(16, 400), observed: each(16, 500) }
  const id = planOf(LOWER).plan.holds[0]?.id ?? ''
  const typed = (...approve: readonly string[]) => planOf({ ...LOWER, approve }).plan
  test.each([
    ['whole', id, true],
    ['by 8 digits', id.slice(0, 8), true],
    ['by 7 digits', id.slice(0, 7), false],
    ['by the end of the id', id.slice(-8), false],
    ['by digits of no hold', '0'.repeat(32), false],
  ])('release a hold: %s', (_name, text, isReleased) => {
    const { holds, approvals, problems } = typed(text)
    expect(holds).toHaveLength(isReleased ? 0 : 1)
    expect(approvals).toMatchObject([{ via: 'command', releases: { length: isReleased ? 16 : 0 } }])
    expect(problems.map((one) => one.code).filter((code) => code.startsWith('APPROVAL'))).toEqual(isReleased ? [] : ['APPROVAL_UNMATCHED'])
  })
  test('release nothing where two holds begin so', () => {
    const inputs = planInputs({ ...LOWER, protectedPeople: ['p0'] })
    const same = (text: string): string => `${'ab'.repeat(4)}${inputs.digest(text)}`
    const { holds, approvals } = buildPlan({ ...inputs, approve: ['abababab'], digest: same }).plan
    expect(holds).toHaveLength(2)
    expect(approvals).toEqual([
      { id: 'abababab', via: 'command', state: 'pending', releases: [], note: '2 holds begin with abababab; type more of the id' },
    ])
    const whole = holds.map((hold) => hold.id)
    expect(buildPlan({ ...inputs, approve: whole, digest: same }).plan.holds).toEqual([])
  })
  test('in a policy are whole ids only', () => {
    const holdsShown = { [id]: { people: 16, at: NOW, reviewed: true } }
    expect(planOf({ ...LOWER, approvalIds: [id.slice(0, 12)], holdsShown }).plan.holds).toHaveLength(1)
    expect(planOf({ ...LOWER, approvalIds: [id], holdsShown }).plan.holds).toEqual([])
  })
})

describe('an approval in a policy', () => {
  const LOWER: PlanSketch = { people: 100, caps: each(16, 400), observed: each(16, 500) }
  const id = planOf(LOWER).plan.holds[0]?.id ?? ''
  const AT = { file: 'acme.yaml', line: 1, column: 1 }

  test('that came with its change releases nothing, and says why with its place', () => {
    const { holds, approvals, problems } = planOf({ ...LOWER, approvalIds: [id], holdsShown: { [id]: { people: 16, at: NOW } } }).plan
    expect(holds).toHaveLength(1)
    expect(approvals).toMatchObject([{ id, via: 'policy', at: AT, releases: [], state: 'pending' }])
    expect(approvals[0]?.note).toContain('it came with the change it releases, or ahead of it')
    expect(problems).toMatchObject([{ code: 'APPROVAL_UNMATCHED', at: AT }])
  })
  test('names its place at every change it releases', () => {
    const { changes } = planOf({ ...LOWER, approvalIds: [id], holdsShown: { [id]: { people: 16, at: NOW, reviewed: true } } }).plan
    expect(changes.map((one) => one.released)).toEqual(Array.from({ length: 16 }, () => ({ id, via: 'policy', at: AT })))
  })
  test('may come with its change where approvals are together', () =>
    expect(buildPlan({ ...planInputs({ ...LOWER, approvalIds: [id] }), approvalSteps: 'together' }).plan.holds).toEqual([]))
  test('that came too early releases once an operator types it as well', () =>
    expect(planOf({ ...LOWER, approvalIds: [id], approve: [id] }).plan.holds).toEqual([]))
})

describe('an approval that releases nothing any more is told', () => {
  const LOWER: PlanSketch = { people: 100, caps: each(16, 400), observed: each(16, 500) }
  const id = planOf(LOWER).plan.holds[0]?.id ?? ''
  const AT = { file: 'acme.yaml', line: 1, column: 1 }
  const spent: Approval = { id, via: 'command', approvedAt: NOW, state: 'spent', released: [] }

  test('while its hold stands, when more people were reached than somebody had seen', () => {
    const { approvals, holds } = planOf({ ...LOWER, approve: [id], holdsShown: { [id]: { people: 12, at: NOW } } }).plan
    expect(holds).toHaveLength(1)
    expect(approvals).toEqual([{ id, via: 'command', state: 'void', releases: [], note: expect.stringContaining('approve that anew') }])
  })
  test('with its place where a policy lists it, whoever had given it', () => {
    const { approvals, problems } = planOf({ ...LOWER, approvalIds: [id], approvals: [spent] }).plan
    expect(approvals).toMatchObject([{ id, at: AT, state: 'spent', releases: [] }])
    expect(problems).toMatchObject([{ code: 'APPROVAL_SPENT', at: AT, message: expect.stringContaining('remove it from spec.approvals') }])
  })
  test('and is not, once nothing is held', () =>
    expect(planOf({ observed: {}, caps: {}, approvals: [{ ...spent, state: 'void' }] }).plan.approvals).toEqual([]))
})
