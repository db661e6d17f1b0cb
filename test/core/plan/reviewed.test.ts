// Weaker rules and removed protection count only for what was shown before them (docs/guards-and-approvals.md, Two steps).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_GUARDS, type GuardSettings } from '../../../src/core/model/change.ts'
import type { Envelope } from '../../../src/core/model/policy.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { noteRules, rulesOf, stricter, weakenings } from '../../../src/core/plan/reviewed.ts'
import type { ReviewedRules } from '../../../src/core/plan/snapshot.ts'
import { DAY, email, entryOf, HOUR, NOW } from '../../support/declare.ts'
import { each, lines, type PlanMore, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

type NotedRules = ReturnType<typeof noteRules>

const guards = (more: Partial<GuardSettings>): GuardSettings => ({ ...DEFAULT_GUARDS, ...more })
const rulesBefore = (more: Partial<GuardSettings> = {}, protectedEmails: readonly string[] = []): ReviewedRules => ({
  ...{ guards: guards(more), protectedEmails },
  weakenedAt: NOW - HOUR,
})
const found = (now: Partial<GuardSettings>, reviewed: ReviewedRules | undefined, listed: readonly string[] = []) =>
  weakenings({ guards: guards(now), protectedEmails: listed }, reviewed && [reviewed]).map(
    ({ rule, from, to }) => `${rule}: ${from} → ${to}`,
  )

describe('a rule is weaker', () => {
  const limit = (percent: number, floor: number) => ({ percent, floor })
  test.each<readonly [string, Partial<GuardSettings>, Partial<GuardSettings>, readonly string[]]>([
    ['never when nothing changed', {}, {}, []],
    ['with a higher share', { maxLowered: limit(90, 3) }, {}, ['guards.maxLowered: 15 % → 90 %']],
    [
      'with a higher floor, though the share fell',
      { maxLowered: limit(1, 9) },
      {},
      ['guards.maxLowered: 15 %, never under 3 → 1 %, never under 9'],
    ],
    [
      'when it is off',
      { maxBlocked: 'off', protected: false },
      {},
      ['guards.maxBlocked: 2 %, never under 3 → off', 'guards.protected: on → off'],
    ],
    [
      'with a higher percentage',
      { rosterShrink: 21, maxRaise: 101 },
      {},
      ['guards.rosterShrink: 20 % → 21 %', 'guards.maxRaise: 100 % → 101 %'],
    ],
    [
      'with a higher limit of `breaker` or `contested`, which counts at once',
      { breaker: { inARow: 9, percent: 10 }, contested: 'off' },
      {},
      ['guards.breaker: 3 in a row or 10 % → 9 in a row or 10 %', 'guards.contested: 3 in 24 h → off'],
    ],
    ['not when it is on again', {}, { maxBlocked: 'off', semantics: false, maxRaise: 'off' }, []],
    ['not with a lower limit', { maxLowered: limit(10, 3), rosterShrink: 5 }, {}, []],
  ])('%s', (_name, now, was, expected) => expect(found(now, rulesBefore(was))).toEqual(expected))

  test('when a person is no longer protected', () =>
    expect(found({}, rulesBefore({}, ['ada@example.com', 'bob@example.com']), ['bob@example.com'])).toEqual([
      'protected: ada@example.com → not listed',
    ]))
  test.each([
    ['separate', 'together', ['approvals: separate → together']],
    ['together', 'separate', []],
    [undefined, 'together', []],
  ] as const)('when approvals were %s and are %s: %j', (before, approvals, expected) => {
    const rules = { guards: DEFAULT_GUARDS, protectedEmails: [] }
    const noted = noteRules({ ...rules, ...(before && { approvals: before }) }, { ...rules, approvals }, NOW)
    expect(weakenings({ ...rules, approvals }, noted.before).map(({ rule, from, to }) => `${rule}: ${from} → ${to}`)).toEqual(expected)
    // It holds nothing, and is told for a day.
    expect(noteRules(noted, { ...rules, approvals }, NOW + DAY).before).toBeUndefined()
  })

  test.each([
    ['stay separate', 'separate', 'separate', []],
    ['stay together', 'together', 'together', []],
    ['are together, and were not known before', undefined, 'together', []],
    ['are together, and were separate', 'separate', 'together', ['approvals']],
  ] as const)('and approvals are told of beside it only where they were freed: they %s', (_name, before, approvals, expected) => {
    const reviewed = { ...rulesBefore(), ...(before && { approvals: before }) }
    const told = weakenings({ guards: guards({ semantics: false }), protectedEmails: [], approvals }, [reviewed])
    expect(told.map(({ rule }) => rule)).toEqual(['guards.semantics', ...expected])
  })

  test('never while no earlier rules were saved', () => expect(found({ maxLowered: 'off' }, undefined)).toEqual([]))

  test('than neither of two where the stricter of each is taken', () => {
    const share = fc.oneof(fc.constant('off' as const), fc.record({ percent: fc.nat(100), floor: fc.nat(9) }))
    const percent = fc.oneof(fc.constant('off' as const), fc.nat(200))
    const settings = fc
      .record({
        maxAffected: share,
        maxLowered: share,
        maxRaise: percent,
        rosterShrink: percent,
        directoryShrink: percent,
        protected: fc.boolean(),
        semantics: fc.boolean(),
      })
      .map(guards)
    const isComparable = (a: GuardSettings, b: GuardSettings): boolean =>
      (['maxAffected', 'maxLowered'] as const).every((name) => {
        const [one, two] = [a[name], b[name]]
        return one === 'off' || two === 'off' || (one.percent - two.percent) * (one.floor - two.floor) >= 0
      })
    fc.assert(
      fc.property(settings, settings, (a, b) => {
        fc.pre(isComparable(a, b))
        const picked = stricter(a, b)
        const weaker = (reviewed: GuardSettings) =>
          weakenings({ guards: picked, protectedEmails: [] }, [{ guards: reviewed, protectedEmails: [], weakenedAt: 0 }])
        expect([weaker(a), weaker(b)]).toEqual([[], []])
      }),
    )
  })
})

describe('a weakened rule', () => {
  const LOWER: PlanSketch = { people: 100, caps: each(16, 400), observed: each(16, 500), guards: { maxLowered: 'off' } }
  const planned = (sketch: PlanSketch, more: PlanMore) => planOf(sketch, more).plan
  const heldId = planOf({ ...LOWER, guards: {} }).plan.holds[0]?.id ?? ''
  const reviewed = rulesBefore()

  test('does not count for what comes with it, and is the first problem of the plan', () => {
    const plan = planned(LOWER, { reviewed: [reviewed] })
    expect(plan.holds.map((hold) => [hold.id, hold.guards])).toEqual([[heldId, ['maxLowered']]])
    expect(plan.holds[0]?.message).toContain('the weaker rules of this revision count only for changes that were shown before them')
    expect(plan.problems[0]).toEqual({
      ...{ severity: 'warning', code: 'RULES_WEAKENED' },
      message: 'policy weakens guards.maxLowered: 15 %, never under 3 → off',
    })
  })
  test('of approvals is a problem of the plan, and holds nothing', () => {
    const { holds, problems } = planned(
      { ...LOWER, caps: {} },
      { reviewed: [{ ...reviewed, approvals: 'separate' }], approvalSteps: 'together' },
    )
    expect(holds).toEqual([])
    expect(problems.map(({ message }) => message)).toContain('policy weakens approvals: separate → together')
  })
  test('of `breaker` or `contested` counts at once', () => {
    const breaker = { openedAt: NOW - HOUR, retryAt: NOW + HOUR, waitMs: HOUR, failed: 3, planned: 3, cause: 'server', scopes: [] } as const
    const one: PlanSketch = { caps: { p0: 400 }, observed: { p0: 500 }, owned: { p0: { cap: 400 } } }
    expect(planned({ ...one, facts: { breaker } }, { reviewed: [reviewed] }).holds.map((hold) => hold.guards)).toEqual([['breaker']])
    expect(planned({ ...one, facts: { breaker }, guards: { breaker: 'off' } }, { reviewed: [reviewed] }).holds).toEqual([])
    const known = { [email('p0')]: { at: NOW - HOUR, entry: entryOf('cap', 400), changes: 5 } }
    const [hold] = planned({ ...one, contests: { known }, guards: { contested: 5 } }, { reviewed: [reviewed] }).holds
    expect(hold?.message).toContain('the limit is 5 in 24 h')
  })
  test.each([
    ['counts for a hold that was shown before it', reviewed.weakenedAt - 1, 0],
    ['does not count for a hold that was shown with it', reviewed.weakenedAt, 1],
    ['does not count for a hold that was shown after it', NOW, 1],
  ])('%s', (_name, at, holds) =>
    expect(planned(LOWER, { reviewed: [reviewed], holdsShown: { [heldId]: { people: 16, at } } }).holds).toHaveLength(holds),
  )
  test('counts at once where approvals are together', () =>
    expect(planned(LOWER, { reviewed: [reviewed], approvalSteps: 'together' }).holds).toEqual([]))

  test('holds nothing that the rules of before let through', () =>
    expect(planned({ ...LOWER, caps: each(15, 400), observed: each(15, 500) }, { reviewed: [reviewed] }).holds).toEqual([]))

  test('that was shown before it for one hold does not let another through', () => {
    const both: PlanSketch = { ...LOWER, protectedPeople: ['p0'] }
    const [first, second] = planOf({ ...both, guards: {} }).plan.holds
    const holdsShown = { [second?.id ?? '']: { people: 15, at: NOW - 9 * HOUR } }
    expect(planned(both, { reviewed: [reviewed], holdsShown }).holds.map((hold) => hold.changes)).toEqual([first?.changes])
  })
})

test('a person who was protected until this revision stays protected until a review was possible', () => {
  const sketch: PlanSketch = { caps: { p0: 4 }, observed: { p0: 5 } }
  const reviewed = rulesBefore({}, [email('p0')])
  const [hold] = planOf({ ...sketch, protectedPeople: ['p0'] }).plan.holds
  expect(lines(planOf(sketch, { reviewed: [reviewed] }))).toEqual(['p0 lower 5>4 policy held:protected'])
  const holdsShown = { [hold?.id ?? '']: { people: 1, at: NOW - 2 * HOUR } }
  expect(lines(planOf(sketch, { reviewed: [reviewed], holdsShown }))).toEqual(['p0 lower 5>4 policy'])
})

describe('where a change comes beside one that was shown before the rule was weakened', () => {
  const since = NOW - 2 * HOUR
  const shown = (sketch: PlanSketch): NonNullable<PlanMore['changesShown']> => {
    const changes = planOf(sketch).plan.holds.flatMap((hold) => hold.changes)
    return Object.fromEntries(changes.map(({ scope, from, to }) => [scopeKey(scope), { from, to, at: since }]))
  }
  const planLines = (sketch: PlanSketch, reviewed: ReviewedRules, changesShown: NonNullable<PlanMore['changesShown']>) =>
    lines(planOf(sketch, { reviewed: [reviewed], changesShown }))

  test('the shown one goes out, and the new one is held: a person left the protected', () => {
    const sketch: PlanSketch = { caps: { p0: 4, p1: 4 }, observed: { p0: 5, p1: 5 } }
    const before = shown({ ...sketch, caps: { p0: 4, p1: 5 }, protectedPeople: ['p0', 'p1'] })
    expect(planLines(sketch, rulesBefore({}, [email('p0'), email('p1')]), before)).toEqual([
      'p0 lower 5>4 policy',
      'p1 lower 5>4 policy held:protected',
    ])
  })

  test('a change of a shown scope to another cap is held as well', () => {
    const sketch: PlanSketch = { caps: { p0: 4 }, observed: { p0: 5 }, protectedPeople: ['p0'] }
    const other: PlanSketch = { caps: { p0: 3 }, observed: { p0: 5 } }
    expect(planLines(other, rulesBefore({}, [email('p0')]), shown(sketch))).toEqual(['p0 lower 5>3 policy held:protected'])
  })
})

describe('the bounds of envelopes', () => {
  type Bounds = readonly Envelope[]
  const PAY = { name: 'pay', workspace: 'w', groups: ['g1'], maxCap: 500, at: { file: 'f', line: 1, column: 1 } }
  const rules = (envelopes: Bounds = []) =>
    rulesOf({ set: { protectedPeople: [] }, delegated: { envelopes, files: [], unlisted: [], refused: [] } } as never, DEFAULT_GUARDS)
  const told = (...steps: readonly (Bounds | number)[]): readonly string[] => {
    let noted: NotedRules | undefined
    let at = NOW
    for (const step of steps) {
      if (typeof step === 'number') at += step * HOUR
      else noted = noteRules(noted, rules(step), at)
    }
    const { before, ...now }: NotedRules = noted ?? rules()
    return weakenings(now, before).map(({ rule, from, to }) => `${rule.replace('envelopes.', '')}: ${from} → ${to}`)
  }

  test.each<readonly [string, readonly (Bounds | number)[], readonly string[]]>([
    ['tell of nothing that is as before', [[PAY], [PAY]], []],
    ['tell of a new envelope by one line', [[], [{ ...PAY, sum: 9 }]], ['pay: no envelope → an envelope']],
    ['tell of an envelope that is gone, whose files nothing bounds now', [[{ ...PAY, sum: 9 }], []], ['pay: an envelope → no envelope']],
    ['tell of a group that is inside now', [[PAY], [{ ...PAY, groups: ['g1', 'g2'] }]], ['pay.groups.g2: not inside → inside']],
    ['tell of no group that is inside no more', [[{ ...PAY, groups: ['g1', 'g2'] }], [PAY]], []],
    ['tell of a higher maxCap', [[PAY], [{ ...PAY, maxCap: 501 }]], ['pay.maxCap: 500 → 501']],
    ['tell of no lower maxCap', [[PAY], [{ ...PAY, maxCap: 499 }]], []],
    ['tell of a sum that bounds nothing now', [[{ ...PAY, sum: 9 }], [PAY]], ['pay.sum: 9 → no bound']],
    ['tell of no sum that is new', [[PAY], [{ ...PAY, sum: 9 }]], []],
    ['tell of more people', [[{ ...PAY, maxPeople: 3 }], [{ ...PAY, maxPeople: 4 }]], ['pay.maxPeople: 3 → 4']],
    [
      'tell of grants that are allowed now, and in order',
      [[PAY], [{ ...PAY, maxCap: 600, grants: { maxDays: 7, maxAdd: 100 } }]],
      ['pay.grants.maxAdd: 0 → 100', 'pay.grants.maxDays: 0 → 7', 'pay.maxCap: 500 → 600'],
    ],
    [
      'tell of one envelope and not of another',
      [
        [PAY, { ...PAY, name: 'web' }],
        [PAY, { ...PAY, name: 'web', maxCap: 900 }],
      ],
      ['web.maxCap: 500 → 900'],
    ],
    ['of before are told of for a day', [[PAY], [{ ...PAY, maxCap: 600 }], 23, [{ ...PAY, maxCap: 600 }]], ['pay.maxCap: 500 → 600']],
    ['and no longer', [[PAY], [{ ...PAY, maxCap: 600 }], 24, [{ ...PAY, maxCap: 600 }]], []],
    ['as narrow again are forgotten', [[PAY], [{ ...PAY, maxCap: 600 }], 1, [PAY]], []],
    [
      'half as wide again are told of from the first',
      [[PAY], 1, [{ ...PAY, maxCap: 900 }], 1, [{ ...PAY, maxCap: 700 }]],
      ['pay.maxCap: 500 → 700'],
    ],
    [
      'that are widened again and again are told of from the first',
      [[PAY], 1, [{ ...PAY, maxCap: 600 }], 1, [{ ...PAY, maxCap: 700, sum: 9 }], 1, [{ ...PAY, maxCap: 700 }]],
      ['pay.maxCap: 500 → 700', 'pay.sum: 9 → no bound'],
    ],
  ])('%s', (_name, steps, expected) => expect(told(...steps)).toEqual(expected))
})

describe('rules that are noted again and again', () => {
  type Step = readonly [atHours: number, now: Partial<GuardSettings>, listed: readonly string[]]
  const noted = (steps: readonly Step[]): NotedRules | undefined =>
    steps.reduce<NotedRules | undefined>(
      (before, [at, now, protectedEmails]) => noteRules(before, { guards: guards(now), protectedEmails }, NOW + at * HOUR),
      undefined,
    )
  const half = { maxLowered: { percent: 50, floor: 3 } }
  const told = (steps: readonly Step[]): readonly string[] => {
    const { before, ...now }: NotedRules = noted(steps) ?? rulesBefore()
    return weakenings(now, before).map(({ rule, from, to }) => `${rule}: ${from} → ${to}`)
  }

  test.each<readonly [string, readonly Step[], readonly string[]]>([
    ['tell of nothing when they are first seen', [[0, half, []]], []],
    [
      'keep a limit that became stricter after another was weakened',
      [
        [0, {}, ['ada@x']],
        [1, { maxRaise: 10 }, []],
        [2, {}, []],
      ],
      ['guards.maxRaise: 10 % → 100 %', 'protected: ada@x → not listed'],
    ],
    [
      'let each weakening wait for its own day',
      [
        [0, {}, ['ada@x']],
        [1, {}, []],
        [23, half, []],
        [26, half, []],
      ],
      ['guards.maxLowered: 15 % → 50 %'],
    ],
    [
      'tell of no guard that was off before',
      [
        [0, { semantics: false, maxRaise: 'off' }, ['ada@x']],
        [1, { semantics: false, maxRaise: 'off' }, []],
      ],
      ['protected: ada@x → not listed'],
    ],
    [
      'forget what is as strict again',
      [
        [0, {}, ['ada@x']],
        [1, half, []],
        [2, {}, ['ada@x']],
      ],
      [],
    ],
  ])('%s', (_name, steps, expected) => expect(told(steps)).toEqual(expected))

  test('keep of the rules of before what is stricter than now, and everything else off', () => {
    const { before } = noted([
      [0, {}, ['ada@x', 'bob@x']],
      [1, half, ['bob@x']],
    ]) ?? { before: undefined }
    const off = {
      maxAffected: 'off',
      maxBlocked: 'off',
      maxCleared: 'off',
      maxRaise: 'off',
      rosterShrink: 'off',
      directoryShrink: 'off',
      contested: 'off',
    } as const
    expect(before).toEqual([
      {
        guards: {
          ...{ ...off, breaker: 'off', readQuality: 'off', emptyPolicy: false, protected: false, semantics: false, envelope: false },
          maxLowered: DEFAULT_GUARDS.maxLowered,
        },
        protectedEmails: ['ada@x'],
        weakenedAt: NOW + HOUR,
      },
    ])
  })

  test.each<readonly [string, Partial<GuardSettings>, readonly string[], number]>([
    ['a guard that is weakened after another rule was', { maxLowered: 'off' }, [], 16],
    ['a person who leaves the list after another', {}, ['p0'], 1],
  ])('let go out at once what was shown before its own weakening: %s', (_name, weaker, protectedPeople, count) => {
    const others = { maxAffected: 'off' } as const
    const emails = protectedPeople.map(email)
    const steps: readonly Step[] = [
      [0, others, ['ada@x', ...emails]],
      [1, others, emails],
      [23, { ...others, ...weaker }, []],
    ]
    const sketch: PlanSketch = { people: 100, caps: each(count, 400), observed: each(count, 500) }
    const [strict] = planOf({ ...sketch, guards: others, protectedPeople }).plan.holds
    const inputs = planInputs({ ...sketch, guards: { ...others, ...weaker }, now: NOW + 24 * HOUR })
    const held = (hours: number): number => {
      const holdsShown = { [strict?.id ?? '']: { people: count, at: NOW + hours * HOUR } }
      return buildPlan({ ...inputs, reviewed: noted(steps)?.before ?? [], holdsShown }).plan.holds.length
    }
    expect([held(9), held(23)]).toEqual([0, 1])
  })
})
