import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { CYCLE, members, NOW, type PolicySketch, roster, scope } from '../../support/declare.ts'
import { explained, observed, untilDecember } from '../../support/explained.ts'
import { planOf, scopes } from '../../support/plan.ts'

type Roster = ReturnType<typeof roster>
type More = NonNullable<Parameters<typeof explained>[2]>
type Explanation = ReturnType<typeof explained>

describe('what is known of a person', () => {
  const people: Roster = { ...roster({ ada: 'approved', bob: 'pending', cyd: 'disabled' }) }
  const used = (amount: number): Roster => ({ ...people, people: people.people.map((one) => ({ ...one, used: credits(amount) })) })
  const balance = { creditsPerSeat: credits(500), seats: 3, addOnAvailable: credits(0), addOnUsed: credits(0), readAt: NOW }
  const groups = members({ a: ['ada'] })
  const policy: PolicySketch = { caps: { team: 500, 'group:a': 1500 } }

  test.each<[string, string, More, Explanation['person']]>([
    ['that they are approved', 'ada', { roster: people }, { status: 'approved', disabled: false }],
    ['that they are pending', 'bob', { roster: people }, { status: 'pending', disabled: false }],
    ['that they are off the roster', 'dan', { roster: people }, { status: 'off-roster', disabled: false }],
    [
      'that people count as approved where no row has a status',
      'bob',
      { roster: { ...people, statusesAbsent: true } },
      { status: 'approved', disabled: false },
    ],
    ['nothing while the roster is unknown', 'ada', {}, undefined],
  ])('is %s', (_, name, more, expected) => expect(explained(name, policy, more).person).toEqual(expected))

  test('is what the service said at their scope, their groups and the team', () => {
    const readings = observed({ ada: 'none', 'group:a': 1500 })
    const { observed: seen } = explained('ada', policy, { groups, readings })
    expect(seen.map((one) => `${scopeKey(one.scope)} ${one.reading?.observed ?? 'not read'}`)).toEqual([
      'ada@example.com none',
      'group:a 1500',
      'team not read',
    ])
  })

  test('of a group and of the team is no person, no group and no other scope', () => {
    const found = ['group:a', 'team'].map((name) => explained(name, policy, { groups, readings: observed({ team: 500 }) }))
    expect(found.map((one) => [one.groups, one.inForce, one.person])).toEqual(Array(2).fill([[], undefined, undefined]))
    expect(found.map((one) => one.observed.map(({ reading }) => reading?.observed))).toEqual([[undefined, 500], [500]])
  })

  test.each<[string, More, object]>([
    [
      'the cap in force and the head-room',
      { roster: used(700), balance, readings: observed({ 'group:a': 1500 }) },
      {
        inForce: { cap: credits(1500), from: scopeKey(scope('group:a')) },
        use: { used: credits(200), source: 'estimated', isUpperBound: false, headRoom: credits(1300) },
      },
    ],
    [
      'use as an upper bound without a balance',
      { roster: used(700), readings: observed({ team: 500 }) },
      {
        inForce: { cap: credits(500), from: scopeKey(scope('team')) },
        use: { used: credits(700), source: 'upperBound', isUpperBound: true, headRoom: credits(-200) },
      },
    ],
    [
      'no room where a reading failed',
      { roster: used(700), balance, readings: observed({ ada: 'unknown' }) },
      { inForce: { cap: 'unknown', from: scopeKey(scope('ada')) }, use: { used: credits(200), source: 'estimated', isUpperBound: false } },
    ],
  ])('is %s', (_, more, expected) => expect(explained('ada', policy, { groups, ...more })).toMatchObject(expected))

  const over = { ...balance, addOnAvailable: credits(100), addOnUsed: credits(100) }
  test.each<[string, More, object | undefined]>([
    [
      'their cap, at their pace on working days, after the credits of the seat',
      { roster: used(400), balance, readings: observed({ team: 40 }) },
      { what: 'cap', at: Date.UTC(2026, 10, 27, 13, 48), without: 'balance' },
    ],
    [
      'the balance, where it is used up',
      { roster: used(600), balance: over, readings: observed({ team: 5000 }) },
      { what: 'balance', at: NOW },
    ],
    ['nothing in a new cycle', { roster: used(700), balance: { ...over, readAt: 0 } }, { what: 'nothing', without: 'balance' }],
  ])('is what stops them first: %s', (_, more, expected) =>
    expect(explained('ada', policy, { cycle: CYCLE, ...more }).stopsFirst).toEqual(expected),
  )

  test('is a list of the groups that are declared, known, and theirs', () => {
    const list = { groups: members({ a: ['ada'], b: ['ada'], c: ['eve'], d: ['ada'] }), unknownGroups: ['b'] }
    const { groups: theirs } = explained('ada', { caps: { 'group:a': 1, 'group:b': 2, 'group:c': 3 } }, list)
    expect(theirs).toEqual([{ id: 'a', name: 'A' }])
  })

  test.each<[string, string, PolicySketch, Roster | undefined, string, string | undefined]>([
    ['a person of the roster', 'adda', {}, people, 'ada', 'ada@example.com'],
    ['a person whom only policy names', 'dann', { caps: { dan: 1 } }, people, 'dan', 'dan@example.com'],
    ['nobody for a person of the roster, however near others are', 'ada', {}, people, 'bob', undefined],
    ['another person for one whom only policy names', 'dan', { caps: { dan: 1, dann: 1 } }, people, 'dann', 'dann@example.com'],
    ['nothing for a group that policy names', 'group:pay', { caps: { 'group:pay': 1, 'group:pya': 1 } }, people, 'group:pya', undefined],
    ['no group for a person', 'pay', { caps: { 'group:pay': 1 } }, people, 'group:pay', undefined],
    ['nobody where nobody is near', 'eve', {}, people, '', undefined],
    ['nobody while there is no roster', 'adda', { caps: { ada: 1 } }, undefined, 'ada', undefined],
    ['a group while there is no roster', 'group:pya', { caps: { 'group:pay': 1 } }, undefined, 'group:pay', 'group:pay'],
  ])('names as the nearest %s', (_, name, sketch, known, near, expected) => {
    const nearest = (_word: string, among: readonly string[]) => among.find((one) => one === (near && scopeKey(scope(near))))
    const more = known && { roster: known }
    expect(explained(name, sketch, { ...more, nearest }).nearest).toBe(expected)
    expect(explained(name, sketch, more).nearest).toBeUndefined()
  })

  test('is no use where the service says none', () => {
    expect(explained('ada', policy, { roster: people, balance }).use).toBeUndefined()
  })
})

describe('what became of a scope', () => {
  const policy: PolicySketch = { caps: { ada: 1, bob: 1 } }
  const { plan } = planOf({
    ...scopes('ada 2>1, bob 2>1, cyd >5'),
    people: ['ada', 'bob'],
    protect: ['bob'],
    approvalIds: ['0'.repeat(32)],
  })

  test('is the change, the hold and the problems of the plan', () => {
    const found = ['ada', 'bob', 'cyd'].map((name) => explained(name, policy, { plan }))
    expect(found.map(({ change, hold, problems }) => [change?.effect, hold?.guards, problems.map((one) => one.code)])).toEqual([
      ['lower', undefined, []],
      ['lower', ['protected'], []],
      [undefined, undefined, ['SCOPE_SKIPPED']],
    ])
    expect(explained('bob', policy).problems).toEqual([])
  })

  test('is a hold by itself as well', () => expect(explained('bob', policy, { holds: plan.holds }).hold?.id).toBe(plan.holds[0]?.id))

  test('is the change of the group or team whose cap applies, and its hold', () => {
    const people = ['ada', 'bob', 'eve']
    const groups = { g: ['ada'] }
    const wide = planOf({ ...scopes('team 400>500, group:g 300>200, eve 7>7'), people, groups, protect: ['ada'] }).plan
    const caps: PolicySketch = { caps: { team: 500, 'group:g': 200, eve: 7 } }
    const found = people.map((name) => explained(name, caps, { plan: wide, groups: members(groups) }).inherits)
    expect(found.map((one) => one && [scopeKey(one.scope), one.change.effect, one.hold?.guards])).toEqual([
      ['group:g', 'lower', ['protected']],
      ['team', 'raise', undefined],
      undefined,
    ])
    expect(explained('bob', caps).inherits).toBeUndefined()
  })

  test('is its rejection, with the reason', () =>
    expect(explained('ada', { grants: [{ on: 'ada', add: 1, ...untilDecember }] }).rejected?.code).toBe('ADD_WITHOUT_BASE'))

  test('is that it is skipped, with the reason', () => {
    const { skipped, inForce } = explained('ada', policy, { roster: roster({ ada: 'pending' }), readings: observed({ team: 500 }) })
    expect(skipped?.why).toBe('ada@example.com is pending, not approved')
    // Their own cap is not read, and goes before the team's.
    expect(inForce).toEqual({ cap: 'unknown' })
  })
})
