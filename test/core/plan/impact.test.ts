import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countPeople } from '../../../src/core/interpret/effective.ts'
import type { Observed } from '../../../src/core/model/observed.ts'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { countingReader, impactOf, impactOn, isFree, netEffect, reachOf } from '../../../src/core/plan/impact.ts'
import type { Difference } from '../../../src/core/plan/snapshot.ts'
import { cap, members, NOW, type PlainCap, roster, scope } from '../../support/declare.ts'
import { runs } from '../../support/fuzz.ts'
import { capsOf, companies, inForceOf, peopleOf, SCOPES, PEOPLE as SOMEBODY, written } from '../../support/waves.ts'

type ImpactInputs = Parameters<typeof reachOf>[1]

type Caps = Readonly<Record<string, PlainCap | 'unknown'>>
const key = (name: string): ScopeKey => scopeKey(scope(name))
const observed = (value: PlainCap | 'unknown'): Observed => (value === 'unknown' ? value : cap(value))
const reader = (caps: Caps) => (at: ScopeKey) => {
  const found = Object.entries(caps).find(([name]) => key(name) === at)
  return found && observed(found[1])
}
/** ada is in a and b, bob in a, cyd in none, dan's access is switched off. */
const PEOPLE = countPeople({
  roster: roster({ ada: 'approved', bob: 'approved', cyd: 'approved', dan: 'disabled' }),
  groups: members({ a: ['ada', 'bob', 'dan'], b: ['ada'] }),
  now: NOW,
})
interface Sketch extends Partial<Omit<ImpactInputs, 'readings' | 'baseline'>> {
  readonly now: Caps
  readonly changes: Readonly<Record<string, PlainCap>>
  readonly baseline?: Readonly<Record<string, PlainCap>>
}
function inputsOf({ now, changes, baseline, ...more }: Sketch) {
  const inputs: ImpactInputs = {
    people: PEOPLE,
    readings: reader(now),
    capSemantics: 'layered',
    ...(baseline && { baseline: Object.fromEntries(Object.entries(baseline).map(([name, value]) => [key(name), cap(value)])) }),
    ...more,
  }
  const differences = Object.entries(changes).map(([name, to]): readonly [ScopeKey, Difference] => {
    const from = reader(now)(key(name))
    const shown = from === undefined || from === 'unknown' ? 'none' : from
    return [
      key(name),
      { scope: scope(name), key: key(name), from: shown, to: cap(to), cause: 'policy', entry: UNDECLARED, healing: false, grantEnd: false },
    ]
  })
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
    ['the same', credits(5), credits(5), 0, undefined],
    ['from unknown', 'unknown', credits(5), 0, undefined],
    ['to unknown', credits(5), 'unknown', 0, undefined],
    ['to none', credits(5), 'none', 0, 'cleared'],
    ['up', credits(5), credits(6), 9, 'raised'],
    ['down', credits(5), credits(4), 3, 'lowered'],
    ['down to use', credits(5), credits(4), 4, 'blocked'],
    ['to 0', credits(5), credits(0), -1, 'blocked'],
    ['first', 'none', credits(5), 4, 'capped'],
    ['first, at use', 'none', credits(5), 5, 'blocked'],
    ['first, of 0', 'none', credits(0), -1, 'blocked'],
  ])('net effect: %s', (_name, before, after, use, expected) => expect(netEffect(before, after, use)).toBe(expected))

  test('only who has less is counted by shares', () =>
    expect((['raised', 'capped', 'lowered', 'blocked', 'cleared'] as const).filter(isFree)).toEqual(['raised', 'capped']))
})

describe('in any small company', () => {
  const UNCAPPED = Number.POSITIVE_INFINITY
  const capIn = (value: number): Observed => (value === UNCAPPED ? 'none' : credits(value))

  test('a plan does to people just what the caps in force before and after it say', () => {
    fc.assert(
      fc.property(companies(), ({ groups, set, changes }) => {
        const people = peopleOf(groups)
        const [before, after] = [capsOf(set), written(capsOf(set), changes)]
        const expected = SOMEBODY.flatMap((name) => {
          const [had, gets] = [before, after].map((caps) => capIn(inForceOf(name, groups, caps)))
          const effect = had !== undefined && gets !== undefined && netEffect(had, gets, 0)
          return effect ? [`${name} ${effect} ${had}>${gets}`] : []
        })
        const byKey = new Map(changes.map((one) => [one.key, one]))
        const found = impactOf(byKey, { people, readings: (at) => before.get(at), capSemantics: 'layered' })
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
          return taken && !isFree(taken) && !isFree(effect) && named.length === 0
        })
        expect(unnamed).toEqual([])
      }),
      runs(300),
    )
  })

  test('a change reaches those for whom nothing narrower is in force after it', () => {
    fc.assert(
      fc.property(companies(), ({ groups, set }) => {
        const after = capsOf(set)
        const reach = (name: string) =>
          reachOf(key(name), { people: peopleOf(groups), readings: () => undefined, capSemantics: 'layered' }, (at) => after.get(at))
        // With the lowest cap of all at the team, whoever has that one has nothing narrower.
        const beneath = SOMEBODY.filter((name) => inForceOf(name, groups, new Map([...after, [key('team'), credits(1)]])) === 1)
        expect(reach('team')).toBe(beneath.length)
      }),
      runs(300),
    )
  })
})

describe('how many a change reaches', () => {
  const reach = (at: string, after: Caps, capSemantics: 'layered' | 'copied' = 'layered') =>
    reachOf(key(at), { people: PEOPLE, readings: reader({}), capSemantics }, reader(after))
  test.each<readonly [string, string, Caps, number]>([
    ['the team, where nothing is narrower', 'team', { team: 5 }, 4],
    ['the team, but those with a cap of their own', 'team', { team: 5, bob: 3, cyd: 'none', dan: 'unknown' }, 3],
    ['the team, but those in a group with a cap', 'team', { team: 5, 'group:b': 3 }, 3],
    ['the team, with those in a group without one', 'team', { team: 5, 'group:a': 'none', 'group:b': 'unknown' }, 4],
    ['a group, whatever the other group has', 'group:a', { 'group:a': 5, 'group:b': 3 }, 3],
    ['a group, but those with their own', 'group:a', { 'group:a': 5, ada: 3 }, 2],
    ['a group nobody is in', 'group:x', {}, 0],
    ['a person', 'bob', { bob: 5 }, 1],
    ['somebody who is not there', 'eve', { eve: 5 }, 0],
  ])('%s', (_name, at, after, expected) => expect(reach(at, after)).toBe(expected))
  test('all of them where caps are copied', () =>
    expect([reach('team', { bob: 3 }, 'copied'), reach('group:a', { ada: 3 }, 'copied')]).toEqual([4, 3]))
})

test('for counting, what is unknown or only inherited is not set', () => {
  const counted = countingReader(reader({ ada: 'unknown', bob: 5, cyd: 5 }), (one) => one === key('bob'))
  expect(['ada', 'bob', 'cyd', 'dan'].map((name) => counted(key(name)))).toEqual(['none', 'none', 5, undefined])
})
