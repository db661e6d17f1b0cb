// What a plan does to people: who is reached, by which changes, and with what effect, also after an interrupted plan.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { impactOf, impactOn, netEffect } from '../../../src/core/plan/impact.ts'
import { cap, type PlainCap, roster, short } from '../../support/declare.ts'
import { runs } from '../../support/fuzz.ts'
import { type PlanSketch, planInputs, planOf, scopes } from '../../support/plan.ts'
import { capsOf, changeOf, companies, inForceOf, keyOf as key, PEOPLE, peopleOf, SCOPES, written } from '../../support/waves.ts'

type ImpactInputs = Parameters<typeof impactOf>[1]
type Observed = Parameters<typeof netEffect>[0]
type Caps = Readonly<Record<string, PlainCap>>

/** ada is in a and b, bob in a, cyd in none, dan's access is switched off. */
const COMPANY: PlanSketch = {
  roster: roster({ ada: 'approved', bob: 'approved', cyd: 'approved', dan: 'disabled' }),
  groups: { a: ['ada', 'bob', 'dan'], b: ['ada'] },
}
const { people } = planInputs(COMPANY)
interface Sketch extends Partial<Omit<ImpactInputs, 'readings' | 'baseline'>> {
  readonly now: Caps
  readonly changes: Caps
  readonly baseline?: Caps
}
function inputsOf({ now, changes, baseline, ...more }: Sketch) {
  const caps = capsOf(now)
  const began = baseline && { baseline: Object.fromEntries(capsOf(baseline)) }
  const inputs: ImpactInputs = { people, readings: (at) => caps.get(at), capSemantics: 'layered', ...began, ...more }
  const differences = Object.entries(changes).map(([name, to]) => [key(name), changeOf(name, now[name] ?? 'none', to)] as const)
  return [new Map(differences), inputs] as const
}
const told = (sketch: Sketch): string[] =>
  impactOf(...inputsOf(sketch)).map(
    (one) =>
      `${one.person.email.split('@')[0]} ${one.effect} ${one.before}>${one.after} by ${one.changes.map((at) => at.replace('@example.com', '')).join(' ') || 'nothing'}`,
  )

describe('what changes do to people', () => {
  test.each<readonly [string, Sketch, readonly string[]]>([
    ['nothing changes, nobody is reached', { now: { team: 5 }, changes: {} }, []],
    ['the lower of two groups counts', { now: { 'group:a': 9, 'group:b': 4 }, changes: { 'group:a': 7 } }, ['bob lowered 9>7 by group:a']],
    ['an own cap reaches its person', { now: { bob: 4 }, changes: { bob: 6 } }, ['bob raised 4>6 by bob']],
    ['clearing falls back to the wider cap', { now: { team: 3, bob: 4 }, changes: { bob: 'none' } }, ['bob lowered 4>3 by bob']],
    ['clearing the last cap leaves none', { now: { team: 'none', bob: 4 }, changes: { bob: 'none' } }, ['bob cleared 4>none by bob']],
    ['nor is a lowering for a raise', { now: { team: 5, 'group:a': 9 }, changes: { team: 4, cyd: 8 } }, ['cyd raised 5>8 by cyd']],
    [
      'an interrupted plan counts from where it began',
      { now: { team: 5, bob: 4 }, changes: { cyd: 3 }, baseline: { bob: 9 } },
      ['cyd lowered 5>3 by cyd', 'bob lowered 9>4 by nothing'],
    ],
    [
      'an interrupted group write counts for who shows what it brought',
      { now: { 'group:a': 5, bob: 5 }, changes: { cyd: 3 }, baseline: { 'group:a': 9 }, mayBeInherited: (at) => at === key('bob') },
      ['cyd capped none>3 by cyd', 'ada lowered 9>5 by nothing', 'bob lowered 9>5 by nothing'],
    ],
    [
      'but not what gives them back more of it',
      { now: { team: 5, cyd: 3 }, changes: { cyd: 'none' }, baseline: { team: 9, cyd: 'none' } },
      ['ada lowered 9>5 by nothing', 'bob lowered 9>5 by nothing', 'cyd lowered 9>5 by nothing'],
    ],
    [
      'of two ways to read what somebody shows the one that takes counts, also where the other gives',
      { now: { team: 5, cyd: 5 }, changes: { cyd: 6 }, baseline: { team: 9 }, mayBeInherited: (at) => at === key('cyd') },
      ['ada lowered 9>5 by nothing', 'bob lowered 9>5 by nothing', 'cyd lowered 9>6 by cyd'],
    ],
    [
      'a cap that goes back to where it began neither gives nor takes: it is named beside what does',
      { now: { 'group:a': 8, bob: 3 }, changes: { 'group:a': 5, bob: 'none' }, baseline: { 'group:a': 5 } },
      ['bob raised 3>5 by bob group:a'],
    ],
    [
      'nor the other way round',
      { now: { 'group:a': 3, bob: 8 }, changes: { 'group:a': 5, bob: 'none' }, baseline: { 'group:a': 5 } },
      ['bob lowered 8>5 by bob group:a'],
    ],
    [
      'what gave until now what another change gives from now on is not named',
      { now: { 'group:a': 5, 'group:b': 8 }, changes: { 'group:a': 8, 'group:b': 5 }, baseline: { 'group:a': 12, 'group:b': 10 } },
      ['ada lowered 10>5 by group:b', 'bob lowered 12>8 by group:a'],
    ],
    [
      'copies of a group come before those of the team',
      { now: { team: 5, bob: 9 }, changes: { team: 3, 'group:a': 7 }, capSemantics: 'copied' },
      ['ada raised 5>7 by team group:a', 'bob lowered 9>7 by group:a', 'cyd lowered 5>3 by team'],
    ],
  ])('%s', (_name, sketch, expected) => expect(told(sketch)).toEqual(expected))

  test.each<readonly [string, Observed, Observed, number, string | undefined]>([
    ['the same', cap(5), cap(5), 0, undefined],
    ['from unknown', 'unknown', cap(5), 0, undefined],
    ['to unknown', cap(5), 'unknown', 0, undefined],
    ['to none', cap(5), 'none', 0, 'cleared'],
    ['up', cap(5), cap(6), 9, 'raised'],
    ['down', cap(5), cap(4), 3, 'lowered'],
    ['down to use', cap(5), cap(4), 4, 'blocked'],
    ['to 0', cap(5), cap(0), -1, 'blocked'],
    ['first', 'none', cap(5), 4, 'capped'],
    ['first, at use', 'none', cap(5), 5, 'blocked'],
    ['first, of 0', 'none', cap(0), -1, 'blocked'],
  ])('net effect: %s', (_name, before, after, use, expected) => expect(netEffect(before, after, use)).toBe(expected))
})

describe('in any small company', () => {
  const UNCAPPED = Number.POSITIVE_INFINITY
  const capIn = (value: number): Observed => (value === UNCAPPED ? 'none' : cap(value))

  test('a plan does to people just what the caps in force before and after it say', () => {
    fc.assert(
      fc.property(companies(), ({ groups, set, changes }) => {
        const [before, after] = [capsOf(set), written(capsOf(set), changes)]
        const expected = PEOPLE.flatMap((name) => {
          const [had, gets] = [before, after].map((caps) => capIn(inForceOf(name, groups, caps)))
          const effect = had !== undefined && gets !== undefined && netEffect(had, gets, 0)
          return effect ? [`${name} ${effect} ${had}>${gets}`] : []
        })
        const byKey = new Map(changes.map((one) => [one.key, one]))
        const found = impactOf(byKey, { people: peopleOf(groups), readings: (at) => before.get(at), capSemantics: 'layered' })
        const told = found.map((one) => `${one.person.email.split('@')[0]} ${one.effect} ${one.before}>${one.after}`)
        expect(told.toSorted()).toEqual(expected)
      }),
      runs(300),
    )
  })

  test('nobody is left out because of a group that may have no cap, or had none where an interrupted plan began', () => {
    const some = fc.subarray(SCOPES.map((name) => key(name)))
    fc.assert(
      fc.property(companies(), companies(), some, fc.boolean(), ({ groups, set, changes }, other, open, isCopied) => {
        const inputs: ImpactInputs = {
          people: peopleOf(groups),
          readings: (at) => capsOf(set).get(at),
          mayBeInherited: (at) => open.includes(at),
          baseline: Object.fromEntries(other.changes.map((one) => [one.key, one.to])),
          capSemantics: isCopied ? 'copied' : 'layered',
        }
        fc.pre(changes.length > 0)
        const byKey = new Map(changes.map((one) => [one.key, one]))
        const told = (found: ReturnType<typeof impactOf>) => found.map((one) => JSON.stringify(one)).toSorted()
        expect(told(impactOf(byKey, inputs))).toEqual(told(impactOn(inputs.people.approved, byKey, inputs)))
      }),
      runs(300),
    )
  })

  test('what leaves somebody with less than they have now is named, wherever an interrupted plan began', () => {
    fc.assert(
      fc.property(companies(), companies(), ({ groups, set, changes }, other) => {
        const [now, after] = [capsOf(set), written(capsOf(set), changes)]
        const baseline = Object.fromEntries(capsOf(other.set))
        const inputs: ImpactInputs = { people: peopleOf(groups), readings: (at) => now.get(at), baseline, capSemantics: 'layered' }
        const found = impactOf(new Map(changes.map((one) => [one.key, one])), inputs)
        const unnamed = found.filter(({ person, effect, changes: named }) => {
          const [has, gets] = [now, after].map((caps) => capIn(inForceOf(person.email.split('@')[0] ?? '', groups, caps)))
          const taken = has !== undefined && gets !== undefined && has !== 'none' && netEffect(has, gets, 0)
          const isLess = (one: typeof effect): boolean => one !== 'raised' && one !== 'capped'
          return taken && isLess(taken) && isLess(effect) && named.length === 0
        })
        expect(unnamed).toEqual([])
      }),
      runs(300),
    )
  })
})

test.each<[string, string, number, PlanSketch?]>([
  ['the team, where nothing is narrower', 'team 4>5', 4],
  ['the team, but those with a cap of their own', 'team 4>5, bob 3>3, cyd none>none, dan ?>3', 3],
  ['the team, but those in a group with a cap', 'team 4>5, group:b 3>3', 3],
  ['the team, with those in a group without one', 'team 4>5, group:a none>none, group:b ?>4', 4],
  ['a group, whatever the other group has', 'group:a 4>5, group:b 3>3', 3],
  ['a group, but those with their own', 'group:a 4>5, ada 3>3', 2],
  ['a group nobody is in', 'group:x 4>5', 0],
  ['a person', 'bob 4>5', 1],
  ['all of the team where caps are copied', 'team 4>5, bob 3>3', 4, { capSemantics: 'copied' }],
  ['all of a group where caps are copied', 'group:a 4>5, ada 3>3', 3, { capSemantics: 'copied' }],
])('a change reaches %s', (_name, text, expected, more = {}) => {
  const [name] = text.split(' ')
  const { changes } = planOf({ ...COMPANY, ...scopes(text), ...more }).plan
  expect(changes.find((one) => short(one.scope) === name)?.people).toBe(expected)
})
