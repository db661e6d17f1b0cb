// Weaker rules, removed protection and wider envelopes count only for what was shown before them (docs/guards-and-approvals.md, Two steps).
import { describe, expect, test } from 'vitest'
import { byScope } from '../../../src/core/model/scope.ts'
import { buildPlan } from '../../../src/core/plan/plan.ts'
import { noteRules, rulesOf } from '../../../src/core/plan/reviewed.ts'
import { email, entryOf, HOUR, NOW, SETTINGS } from '../../support/declare.ts'
import { each, lines, type PlanMore, type PlanSketch, planInputs, planOf } from '../../support/plan.ts'

/** The rules of one revision. */
interface Revision {
  readonly guards?: PlanSketch['guards']
  readonly listed?: readonly string[]
  readonly approvals?: 'separate' | 'together'
  readonly envelopes?: readonly object[]
}
type Noted = ReturnType<typeof noteRules> | undefined

/** The plan's inputs under one revision after another, an hour apart but for the hours that are named between them. */
function inputsAfter(steps: readonly (Revision | number)[], sketch: PlanSketch = {}) {
  let noted: Noted
  let at = NOW
  let inputs = planInputs(sketch)
  for (const step of steps) {
    if (typeof step === 'number') at += step * HOUR
    else {
      const { guards, listed, approvals, envelopes } = step
      const made = planInputs({ ...sketch, now: at, ...(guards && { guards }), protect: listed ?? [] })
      const delegated = { envelopes: envelopes ?? [], files: [], unlisted: [], refused: [] } as never
      inputs = { ...made, policy: { ...made.policy, delegated }, ...(approvals && { approvalSteps: approvals }) }
      noted = noteRules(noted, rulesOf(inputs.policy, inputs.guards, inputs.approvalSteps), at)
    }
  }
  return { ...inputs, ...(noted?.before && { reviewed: noted.before }) }
}
const weakened = (steps: readonly (Revision | number)[]): readonly string[] =>
  buildPlan(inputsAfter(steps)).plan.problems.flatMap(({ code, message }) =>
    code === 'RULES_WEAKENED' ? message.replace('policy weakens ', '').replace('envelopes.', '') : [],
  )

const limit = (percent: number, floor: number) => ({ percent, floor })
const PAY = { name: 'pay', workspace: 'w', groups: ['g1'], maxCap: 500, at: { file: 'f', line: 1, column: 1 } }
const half = { maxLowered: limit(50, 3) }
const pay = (...each: readonly object[]): Revision => ({ envelopes: each.map((more) => ({ ...PAY, ...more })) })
const GONE = 'protected: ada@example.com → not listed'

test.each<readonly [string, readonly (Revision | number)[], readonly string[]]>([
  ['nothing when rules are first seen', [{ guards: half }], []],
  ['nothing when nothing changed', [{}, {}], []],
  ['a higher share', [{}, { guards: { maxLowered: limit(90, 3) } }], ['guards.maxLowered: 15 % → 90 %']],
  ['a higher floor alone', [{}, { guards: { maxLowered: limit(1, 9) } }], ['guards.maxLowered: 15 %, never under 3 → 1 %, never under 9']],
  [
    'guards that are off',
    [{}, { guards: { maxBlocked: 'off', protected: false } }],
    ['guards.maxBlocked: 2 %, never under 3 → off', 'guards.protected: on → off'],
  ],
  [
    'higher percentages',
    [{}, { guards: { rosterShrink: 21, maxRaise: 101 } }],
    ['guards.rosterShrink: 20 % → 21 %', 'guards.maxRaise: 100 % → 101 %'],
  ],
  [
    'a higher limit of `breaker` or `contested`, which counts at once',
    [{}, { guards: { breaker: { inARow: 9, percent: 10 }, contested: 'off' } }],
    ['guards.breaker: 3 in a row or 10 % → 9 in a row or 10 %', 'guards.contested: 3 in 24 h → off'],
  ],
  ['no guard that is on again', [{ guards: { maxBlocked: 'off', semantics: false, maxRaise: 'off' } }, {}], []],
  ['a person who is no longer protected', [{ listed: ['ada', 'bob'] }, { listed: ['bob'] }], [GONE]],
  ['approvals that were freed', [{ approvals: 'separate' }, { approvals: 'together' }], ['approvals: separate → together']],
  ['no approvals that were not known before', [{}, { approvals: 'together' }], []],
  ['freed approvals no longer than a day', [{ approvals: 'separate' }, { approvals: 'together' }, 24, { approvals: 'together' }], []],
  ['a new envelope by one line', [{}, pay({ sum: 9 })], ['pay: no envelope → an envelope']],
  ['an envelope that is gone, whose files nothing bounds now', [pay({ sum: 9 }), {}], ['pay: an envelope → no envelope']],
  ['a group that is inside now', [pay({}), pay({ groups: ['g1', 'g2'] })], ['pay.groups.g2: not inside → inside']],
  ['a higher maxCap', [pay({}), pay({ maxCap: 501 })], ['pay.maxCap: 500 → 501']],
  ['a sum that bounds nothing now', [pay({ sum: 9 }), pay({})], ['pay.sum: 9 → no bound']],
  ['no sum that is new', [pay({}), pay({ sum: 9 })], []],
  ['more people', [pay({ maxPeople: 3 }), pay({ maxPeople: 4 })], ['pay.maxPeople: 3 → 4']],
  [
    'grants that are allowed now, and in order',
    [pay({}), pay({ maxCap: 600, grants: { maxDays: 7, maxAdd: 100 } })],
    ['pay.grants.maxAdd: 0 → 100', 'pay.grants.maxDays: 0 → 7', 'pay.maxCap: 500 → 600'],
  ],
  ['bounds of before for a day', [pay({}), pay({ maxCap: 600 }), 23, pay({ maxCap: 600 })], ['pay.maxCap: 500 → 600']],
  ['and no longer', [pay({}), pay({ maxCap: 600 }), 24, pay({ maxCap: 600 })], []],
  [
    'bounds of before for a day from when the clock, which was a month ahead, is set back',
    [pay({}), 720, pay({ maxCap: 600 }), -720, pay({ maxCap: 600 }), 23, pay({ maxCap: 600 })],
    ['pay.maxCap: 500 → 600'],
  ],
  ['and no longer than that', [pay({}), 720, pay({ maxCap: 600 }), -720, pay({ maxCap: 600 }), 24, pay({ maxCap: 600 })], []],
  ['no bounds that are as narrow again', [pay({}), pay({ maxCap: 600 }), 1, pay({})], []],
  [
    'bounds that are widened again and again from the first',
    [pay({}), 1, pay({ maxCap: 600 }), 1, pay({ maxCap: 700, sum: 9 }), 1, pay({ maxCap: 700 })],
    ['pay.maxCap: 500 → 700', 'pay.sum: 9 → no bound'],
  ],
  [
    'no guard that was off before',
    [{ listed: ['ada'], guards: { semantics: false, maxRaise: 'off' } }, { guards: { semantics: false, maxRaise: 'off' } }],
    [GONE],
  ],
  ['nothing that is as strict again', [{ listed: ['ada'] }, { guards: half }, { listed: ['ada'] }], []],
])('a plan tells of %s', (_name, steps, expected) => expect(weakened(steps)).toEqual(expected))

test.each<readonly [string, readonly (Revision | number)[]]>([
  ['is as before', [{}, {}]],
  ['keeps approvals as they were', [{ approvals: 'separate' }, { approvals: 'separate' }]],
  ['binds approvals', [{ approvals: 'together' }, { approvals: 'separate' }]],
  ['freed approvals a day ago', [{ approvals: 'separate' }, { approvals: 'together' }, 24, { approvals: 'together' }]],
])('nothing of before is noted where a revision %s', (_name, steps) => expect(inputsAfter(steps)).not.toHaveProperty('reviewed'))

test('of the rules of before is noted what is stricter than now, and everything else as off', () => {
  const off = Object.entries(SETTINGS.guards).map(([name, value]) => [name, typeof value === 'boolean' ? false : 'off'])
  const guards = { ...Object.fromEntries(off), maxLowered: SETTINGS.guards.maxLowered }
  expect(inputsAfter([{ listed: ['eve', 'bob', 'ada'] }, 1, { guards: half, listed: ['bob'] }]).reviewed).toEqual([
    { guards, protectedEmails: [email('ada'), email('eve')], weakenedAt: NOW + HOUR },
  ])
})

describe('a weakened rule', () => {
  const LOWER: PlanSketch = { people: 100, caps: each(16, 400), observed: each(16, 500), guards: { maxLowered: 'off' } }
  const [STRICT] = planOf({ ...LOWER, guards: {} }).plan.holds
  const weakenedAt = NOW - HOUR
  const reviewed = [{ guards: SETTINGS.guards, protectedEmails: [], weakenedAt }]
  const shownAt = (at: number): PlanMore => ({ reviewed, holdsShown: { [STRICT?.id ?? '']: { people: 16, at } } })

  test('does not count for what comes with it, and is the first problem of the plan', () => {
    const { holds, problems } = planOf(LOWER, { reviewed }).plan
    expect(holds.map((hold) => [hold.id, hold.guards])).toEqual([[STRICT?.id, ['maxLowered']]])
    expect(holds[0]?.message).toContain('the weaker rules of this revision count only for changes that were shown before them')
    const message = 'policy weakens guards.maxLowered: 15 %, never under 3 → off'
    expect(problems[0]).toEqual({ severity: 'warning', code: 'RULES_WEAKENED', message })
  })

  test.each<readonly [string, PlanSketch, PlanMore, number]>([
    ['counts for a hold that was shown before it', LOWER, shownAt(weakenedAt - 1), 0],
    ['does not count for a hold that was shown with it', LOWER, shownAt(weakenedAt), 1],
    ['does not count for a hold that was shown after it', LOWER, shownAt(NOW), 1],
    ['counts at once where approvals are together', LOWER, { reviewed, approvalSteps: 'together' }, 0],
    ['holds nothing that the rules of before let through', { ...LOWER, caps: each(15, 400) }, { reviewed }, 0],
  ])('%s', (_name, sketch, more, count) => expect(planOf(sketch, more).plan.holds).toHaveLength(count))

  test.each<readonly [string, Partial<(typeof reviewed)[number]> & { approvals?: 'separate' }, PlanMore['approvalSteps'], number]>([
    ['were freed', { approvals: 'separate' }, 'together', 1],
    ['are still separate', { approvals: 'separate' }, 'separate', 0],
    ['were not known before', {}, 'together', 0],
  ])('is told beside approvals only where these %s', (_name, more, approvalSteps, count) => {
    const { problems } = planOf(LOWER, { reviewed: reviewed.map((one) => ({ ...one, ...more })), approvalSteps }).plan
    expect(problems.filter(({ message }) => message.startsWith('policy weakens approvals'))).toHaveLength(count)
  })

  test('of `breaker` or `contested` counts at once', () => {
    const breaker = { openedAt: NOW - HOUR, retryAt: NOW + HOUR, waitMs: HOUR, failed: 3, planned: 3, cause: 'server', scopes: [] } as const
    const one: PlanSketch = { caps: { p0: 400 }, observed: { p0: 500 }, owned: { p0: { cap: 400 } } }
    expect(planOf({ ...one, facts: { breaker } }, { reviewed }).plan.holds.map((hold) => hold.guards)).toEqual([['breaker']])
    expect(planOf({ ...one, facts: { breaker }, guards: { breaker: 'off' } }, { reviewed }).plan.holds).toEqual([])
    const known = { [email('p0')]: { at: NOW - HOUR, entry: entryOf('cap', 400), changes: 5 } }
    const [hold] = planOf({ ...one, contests: { known }, guards: { contested: 5 } }, { reviewed }).plan.holds
    expect(hold?.message).toContain('the limit is 5 in 24 h')
  })

  test('that was shown before it for one hold does not let another through', () => {
    const both: PlanSketch = { ...LOWER, protect: ['p0'] }
    const [first, second] = planOf({ ...both, guards: {} }).plan.holds
    const holdsShown = { [second?.id ?? '']: { people: 15, at: NOW - 9 * HOUR } }
    expect(planOf(both, { reviewed, holdsShown }).plan.holds.map((hold) => hold.changes)).toEqual([first?.changes])
  })

  test.each<readonly [string, Revision, number]>([
    ['a guard that is weakened after another rule was', { guards: { maxAffected: 'off', maxLowered: 'off' } }, 16],
    ['a person who leaves the list after another', { guards: { maxAffected: 'off' } }, 1],
  ])('lets go out at once what was shown before its own weakening: %s', (_name, weaker, count) => {
    const others: Revision = { guards: { maxAffected: 'off' }, listed: count === 1 ? ['p0'] : [] }
    const sketch: PlanSketch = { people: 100, caps: each(count, 400), observed: each(count, 500) }
    const inputs = inputsAfter([{ ...others, listed: ['ada', ...(others.listed ?? [])] }, 1, others, 22, weaker, 1, weaker], sketch)
    const [strict] = planOf({ ...sketch, guards: { maxAffected: 'off' }, protect: others.listed ?? [] }).plan.holds
    const held = (hours: number): number =>
      buildPlan({ ...inputs, holdsShown: { [strict?.id ?? '']: { people: count, at: NOW + hours * HOUR } } }).plan.holds.length
    expect([held(9), held(23)]).toEqual([0, 1])
  })
})

describe('a person who was protected until this revision', () => {
  const reviewed = [{ guards: SETTINGS.guards, protectedEmails: ['p0', 'p1'].map(email), weakenedAt: NOW - HOUR }]
  const LOWER: PlanSketch = { caps: { p0: 4, p1: 4 }, observed: { p0: 5, p1: 5 } }
  /** What the holds of a plan show, two hours ago. */
  const shown = (sketch: PlanSketch) => {
    const changes = planOf({ ...sketch, protect: ['p0', 'p1'] }).plan.holds.flatMap((hold) => hold.changes)
    return byScope(changes.map((one) => ({ ...one, at: NOW - 2 * HOUR })))
  }
  test.each<readonly [string, PlanSketch, PlanSketch, readonly string[]]>([
    ['stays protected until a review could be', LOWER, {}, ['p0 lower 5>4 policy held:protected', 'p1 lower 5>4 policy held:protected']],
    ['is protected no more by what was shown before', LOWER, LOWER, ['p0 lower 5>4 policy', 'p1 lower 5>4 policy']],
    ['is protected beside it', LOWER, { ...LOWER, caps: { p0: 4, p1: 5 } }, ['p0 lower 5>4 policy', 'p1 lower 5>4 policy held:protected']],
    ['is protected from another cap than was shown', { ...LOWER, caps: { p0: 3 } }, LOWER, ['p0 lower 5>3 policy held:protected']],
  ])('%s', (_name, sketch, before, expected) =>
    expect(lines(planOf(sketch, { reviewed, changesShown: Object.fromEntries(shown(before)) }))).toEqual(expected),
  )
})
