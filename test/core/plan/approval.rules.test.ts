// The life of an approval, step by step; what it does to a plan is in approval.test.ts.

import { describe, expect, test } from 'vitest'
import type { Approval, Hold } from '../../../src/core/model/change.ts'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { type ScopeKey, scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { currentApprovals, matchApprovals, releasedChanges, verifyApprovals, voidGrown } from '../../../src/core/plan/approval.ts'
import type { Impact } from '../../../src/core/plan/impact.ts'
import type { Difference } from '../../../src/core/plan/snapshot.ts'
import { DAY, email, NOW, scope } from '../../support/declare.ts'

const key = (name: string): ScopeKey => scopeKey(scope(name))
const held = (name: string, from = 5, to = 3) => ({ scope: scope(name), from: credits(from), to: credits(to) })
const released = (name: string, verified = false) => ({ ...held(name), verified })
const approval = (more: Partial<Approval> = {}): Approval => ({
  id: 'a',
  via: 'policy',
  approvedAt: NOW,
  state: 'pending',
  released: [],
  ...more,
})
const hold = (more: Partial<Hold> = {}): Hold => ({
  id: 'a',
  guards: ['maxLowered'],
  people: 8,
  changes: [held('ada'), held('bob')],
  message: '',
  ...more,
})
const difference = (name: string, from = 5, to = 3): Difference => ({
  ...held(name, from, to),
  key: key(name),
  cause: 'policy',
  entry: UNDECLARED,
  healing: false,
  grantEnd: false,
})
const person = (name: string) => ({ email: email(name), key: key(name), disabled: false, groups: [], use: credits(0) })
const impact = (...names: readonly string[]): Impact => ({
  person: person(names[0] ?? ''),
  effect: 'lowered',
  before: credits(5),
  after: credits(3),
  changes: names.map(key),
})

describe('what is approved now', () => {
  const current = (known: readonly Approval[], policy: readonly string[], command: readonly string[]) =>
    currentApprovals(known, { policy, command }, NOW).map(
      (one) => `${one.id} ${one.via} ${one.state} ${one.approvedAt === NOW ? 'now' : 'before'}`,
    )
  const old = { approvedAt: NOW - DAY }

  test.each<readonly [string, readonly Approval[], readonly string[], readonly string[], readonly string[]]>([
    ['a new id in policy', [], ['a'], [], ['a policy pending now']],
    ['a new id on the command line', [], [], ['a'], ['a command pending now']],
    ['an id in both counts once, as an operator’s word', [], ['a'], ['a'], ['a command pending now']],
    ['a known id in policy goes on as it is', [approval({ ...old, state: 'spent' })], ['a'], [], ['a policy spent before']],
    [
      'a pending id that has released something goes on, also when it is given again',
      [approval({ ...old, released: [released('ada')] })],
      [],
      ['a'],
      ['a policy pending before'],
    ],
    ['a pending id of policy that released nothing becomes an operator’s word', [approval(old)], [], ['a'], ['a command pending now']],
    ['an operator’s word is not given twice', [approval({ ...old, via: 'command' })], [], ['a'], ['a command pending before']],
    ['a spent id that is given again begins again', [approval({ ...old, state: 'spent' })], [], ['a'], ['a command pending now']],
    ['a void id that is given again begins again', [approval({ ...old, state: 'void' })], [], ['a'], ['a command pending now']],
    ['an id that policy does not list any more was withdrawn', [approval(old)], [], [], []],
    ['an operator’s word is in no policy', [approval({ ...old, via: 'command' })], [], [], ['a command pending before']],
    ['after 14 days it is still good', [approval({ approvedAt: NOW - 14 * DAY })], ['a'], [], ['a policy pending before']],
    ['beyond 14 days it is void', [approval({ approvedAt: NOW - 14 * DAY - 1 })], ['a'], [], ['a policy void before']],
    [
      'what is spent stays spent beyond 14 days',
      [approval({ approvedAt: NOW - 15 * DAY, state: 'spent' })],
      [],
      [],
      ['a policy spent before'],
    ],
  ])('%s', (_name, known, policy, command, expected) => expect(current(known, policy, command)).toEqual(expected))
})

describe('verifying', () => {
  const verify = (one: Approval, caps: Readonly<Record<string, number>>, inSync: readonly string[] = []) => {
    const observed = new Map(Object.entries(caps).map(([name, value]) => [key(name), credits(value)]))
    const [after] = verifyApprovals([one], { shown: (at) => observed.get(at), inSync: new Set(inSync.map(key)) })
    return [after?.state, after?.released.map((change) => change.verified)]
  }
  const two = approval({ released: [released('ada'), released('bob')] })

  test.each([
    ['a clear', 'none', ['spent', [true]]],
    ['a cap', credits(3), ['pending', [false]]],
  ] as const)('%s is verified where nothing of ours is set any more, whatever shows: %s', (_row, to, expected) => {
    const one = approval({ released: [{ ...released('ada'), to }] })
    const [after] = verifyApprovals([one], { shown: () => credits(5), isBare: (at) => at === key('ada'), inSync: new Set() })
    expect([after?.state, after?.released.map(({ verified }) => verified)]).toEqual(expected)
  })

  test.each([
    ['once it was written since it was released', NOW, false, 'spent'],
    ['not by what was written before', NOW + 1, false, 'pending'],
    ['not while the plan asks for it again', NOW, true, 'pending'],
  ] as const)('a change of a person whom nobody reads any more is verified %s', (_row, releasedAt, wanted, expected) => {
    const one = approval({ released: [released('ada')], releasedAt })
    const wasWritten = (_change: unknown, since: number) => since <= NOW
    const [after] = verifyApprovals([one], { shown: () => undefined, inSync: new Set(), isWanted: () => wanted, wasWritten })
    expect(after?.state).toBe(expected)
  })

  test.each<readonly [string, Approval, Readonly<Record<string, number>>, readonly string[], unknown]>([
    ['a change that shows is verified, the other is awaited', two, { ada: 3, bob: 5 }, [], ['pending', [true, false]]],
    ['a scope in sync is verified', two, { ada: 9 }, ['ada'], ['pending', [true, false]]],
    [
      'what was verified stays so',
      approval({ released: [released('ada', true), released('bob')] }),
      { ada: 9, bob: 9 },
      [],
      ['pending', [true, false]],
    ],
    ['with all verified it is spent', two, { ada: 3, bob: 3 }, [], ['spent', [true, true]]],
    ['what was not matched yet is not spent', approval(), {}, [], ['pending', []]],
    ['what is void stays so', { ...two, state: 'void' }, { ada: 3, bob: 3 }, [], ['void', [false, false]]],
  ])('%s', (_name, one, caps, inSync, expected) => expect(verify(one, caps, inSync)).toEqual(expected))
})

describe('what is released', () => {
  const two = approval({ released: [released('ada'), released('bob')] })
  const of = (one: Approval, differences: readonly Difference[], overwritten: readonly string[] = []) => [
    ...releasedChanges([one], differences, (at) => overwritten.map(key).includes(at)).keys(),
  ]
  test.each<readonly [string, Approval, readonly Difference[], readonly string[] | undefined, readonly string[]]>([
    ['the changes as they were shown', two, [difference('ada'), difference('bob'), difference('cyd')], undefined, ['ada', 'bob']],
    ['not one to another value', two, [difference('ada', 5, 2)], undefined, []],
    ['not one from another value', two, [difference('ada', 6, 3)], undefined, []],
    ['one from another value that our own team write set', two, [difference('ada', 6, 3)], ['ada'], ['ada']],
    ['not one to another value, overwritten or not', two, [difference('ada', 6, 2)], ['ada'], []],
    ['not one that was verified', approval({ released: [released('ada', true)] }), [difference('ada')], undefined, []],
    ['nothing of a spent approval', { ...two, state: 'spent' }, [difference('ada')], undefined, []],
    ['nothing of a void one', { ...two, state: 'void' }, [difference('ada')], undefined, []],
    ['nothing that does not differ any more', two, [], undefined, []],
  ])('%s', (_name, one, differences, overwritten, expected) => expect(of(one, differences, overwritten)).toEqual(expected.map(key)))
})

describe('growth', () => {
  const matched = approval({ people: 4, released: [released('ada'), released('bob', true)] })
  const state = (one: Approval, impacts: readonly Impact[]) => voidGrown([one], impacts)[0]?.state
  const of = (count: number, ...names: readonly string[]) => Array.from({ length: count }, () => impact(...names))

  test.each<readonly [string, Approval, readonly Impact[], string]>([
    ['a quarter more people is still good', matched, of(5, 'ada'), 'pending'],
    ['more than that is void', matched, of(6, 'ada'), 'void'],
    ['people count whom one of several changes reaches', matched, of(6, 'cyd', 'ada'), 'void'],
    ['people of other changes do not count', matched, [...of(4, 'ada'), ...of(9, 'cyd')], 'pending'],
    ['people of what is verified do not count', matched, of(9, 'bob'), 'pending'],
    ['with nothing open it does not grow', approval({ people: 4, released: [released('ada', true)] }), of(9, 'ada'), 'pending'],
    ['what was not matched yet has no size', approval({ released: [released('ada')] }), of(9, 'ada'), 'pending'],
    ['what is spent stays so', { ...matched, state: 'spent' }, of(9, 'ada'), 'spent'],
  ])('%s', (_name, one, impacts, expected) => expect(state(one, impacts)).toBe(expected))
})

describe('matching', () => {
  const SHOWN = (people: number, roster?: number) => ({ a: { people, at: NOW, ...(roster !== undefined && { roster }) } })
  const doubt = hold({ guards: ['rosterShrink'] })
  test.each<readonly [string, Approval, Hold, Parameters<typeof matchApprovals>[2], number | undefined, Partial<Approval>, boolean]>([
    ['of another id does nothing', approval({ id: 'b' }), hold(), {}, undefined, approval({ id: 'b' }), false],
    ['that is spent does nothing', approval({ state: 'spent' }), hold(), {}, undefined, { state: 'spent', released: [] }, false],
    ['of a doubted roster', approval(), doubt, SHOWN(8, 50), 50, { state: 'pending' }, true],
    ['of a doubted roster that has changed since is void', approval(), doubt, SHOWN(8, 50), 40, { state: 'void' }, false],
    ['of a doubted roster of which no size was shown', approval(), doubt, SHOWN(8), 40, { state: 'pending' }, true],
    ['of a roster that is not doubted any more', approval(), doubt, SHOWN(8, 50), undefined, { state: 'pending' }, true],
    ['of another guard ignores the roster', approval(), hold(), SHOWN(8, 50), 40, { state: 'pending' }, true],
  ])('%s', (_name, one, other, shown, roster, expected, isMatched) => {
    const { approvals, matched } = matchApprovals([one], [other], shown, { ...(roster !== undefined && { roster }), isSeparate: false })
    expect(approvals).toMatchObject([expected])
    expect(matched).toEqual(isMatched ? [other] : [])
  })

  const seen = (reviewed?: boolean) => ({ a: { people: 8, at: NOW, ...(reviewed !== undefined && { reviewed }) } })
  test.each<readonly [string, Approval['via'], Parameters<typeof matchApprovals>[2], boolean, boolean]>([
    ['in a policy releases what was shown without it', 'policy', seen(true), true, true],
    ['in a policy releases nothing that was shown only beside it', 'policy', seen(false), true, false],
    ['in a policy releases nothing that was shown before anybody noted revisions', 'policy', seen(), true, false],
    ['in a policy releases nothing that was never shown', 'policy', {}, true, false],
    ['in a policy may come with its change where approvals are together', 'policy', {}, false, true],
    ['of an operator needs no second step', 'command', {}, true, true],
  ])('two steps: an approval %s', (_name, via, shown, isSeparate, isMatched) => {
    const result = matchApprovals([approval({ via })], [hold()], shown, { isSeparate })
    expect(result.matched).toHaveLength(isMatched ? 1 : 0)
    expect(result.approvals).toMatchObject([{ state: 'pending', released: isMatched ? [released('ada'), released('bob')] : [] }])
    expect(result.unmatched.map((one) => one.id)).toEqual(isMatched ? [] : ['a'])
  })
})
