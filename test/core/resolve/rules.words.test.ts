// The words about rules: the answer to each condition, what is missing, and notes on rules that may not do what was meant.
import { describe, expect, test } from 'vitest'
import type { When } from '../../../src/core/model/policy.ts'
import { answersOf, rowFacts } from '../../../src/core/resolve/conditions.ts'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import { judgeRules } from '../../../src/core/resolve/matches.ts'
import type { DesiredInputs } from '../../../src/core/resolve/resolution.ts'
import { nearest } from '../../../src/policy/suggest.ts'
import {
  desiredInputs,
  email,
  members,
  type PolicySketch,
  policy,
  type RowSketch,
  type RuleSketch,
  rosterRows,
} from '../../support/declare.ts'

type RowInputs = Parameters<typeof rowFacts>[0]

const PEOPLE: Readonly<Record<string, RowSketch>> = {
  ada: { role: ' Admin ', usedDaysAgo: 0, joinedDaysAgo: 400, activeDays: { 30: 20 } },
  bob: { role: 'member', usedDaysAgo: 1, joinedDaysAgo: 1, activeDays: { 30: 4 } },
  dan: {},
}

describe('the answer to a condition', () => {
  const told = (name: string, when: When, more: Partial<RowInputs> = {}): readonly string[] => {
    const inputs: RowInputs = {
      roster: rosterRows(PEOPLE),
      groups: members({ a: ['ada'], b: ['bob'] }),
      unknownGroups: ['lost'],
      ...{ memory: {}, newReading: { groups: [] }, owned: new Map(), clockDoubted: false },
      ...more,
    }
    const person = inputs.roster?.people.find((one) => one.email === email(name))
    return person
      ? answersOf(when, person, rowFacts(inputs, new Set(when.groups))).map(({ key, truth, text }) => `${key} ${truth}: ${text}`)
      : []
  }
  test.each<readonly [string, string, When, Partial<RowInputs>, string]>([
    ['on an e-mail', 'ada', { email: 'ada@*' }, {}, 'email true: e-mail matches ada@*'],
    ['on a role, whatever its case and the spaces about it', 'ada', { role: 'admin  ' }, {}, 'role true: role is  Admin '],
    ['on groups, with the one that they are in', 'bob', { groups: ['a', 'b'] }, {}, 'groups true: in group b'],
    ['on groups that they are not in', 'dan', { groups: ['a', 'b'] }, {}, 'groups false: in none of the groups a, b'],
    ['on days without use', 'bob', { inactiveDays: 1 }, {}, 'inactiveDays true: inactive for 1 day (1 or more)'],
    ['on days since signing up', 'ada', { joinedWithinDays: 7 }, {}, 'joinedWithinDays false: joined 400 days ago (7 or less)'],
    ['on a role that is absent', 'dan', { role: 'x' }, {}, 'role unknown: the roster has no role'],
    [
      'on groups whose members are not known',
      'dan',
      { groups: ['a', 'lost', 'unread'] },
      {},
      'groups unknown: the members of group lost, unread are not known',
    ],
    [
      'on use that is absent',
      'dan',
      { inactiveDays: 1 },
      {},
      'inactiveDays unknown: the roster has no time of use or sign-up for the person',
    ],
    ['on signing up that is absent', 'dan', { joinedWithinDays: 1 }, {}, 'joinedWithinDays unknown: the roster has no time of sign-up'],
    [
      'on signing up while the clocks differ',
      'ada',
      { joinedWithinDays: 1 },
      { clockDoubted: true },
      "joinedWithinDays unknown: the service's clock and ours differ",
    ],
    [
      'on active days of another time',
      'ada',
      { activeDays: { below: 5, within: 7 } },
      {},
      'activeDays unknown: the roster has no active days of the last 7 days',
    ],
  ])('%s', (_name, who, when, more, expected) => expect(told(who, when, more)).toEqual([expected]))
})

describe('of each rule', () => {
  const rows: Readonly<Record<string, RowSketch>> = {
    ada: { role: 'member' },
    bob: { role: 'member', status: 'pending' },
    cyd: {},
    dan: { status: 'pending' },
  }
  const inputs = {
    roster: rosterRows(rows),
    groups: [],
    unknownGroups: [],
    memory: {},
    newReading: { groups: [] },
    owned: new Map(),
    clockDoubted: false,
    nearest,
  }
  const set = policy({
    rules: [
      { when: { role: 'member' }, cap: 5 },
      { when: { role: 'x', inactiveDays: 5 }, cap: 5 },
    ],
  })
  const judged = judgeRules(set, inputs)
  test('approved people are counted, and everybody is matched', () => {
    expect(judged.statuses.map(({ people, holds, unknown }) => [people, holds, unknown])).toEqual([
      [1, 1, 1],
      [0, 0, 0],
    ])
    expect(judged.matched).toEqual([email('ada'), email('bob')])
  })
  test('everything that is absent is told, and who is off the roster', () => {
    const [, second] = set.peopleRules
    const why = (name: string) => second && judged.whyOf(second, email(name))
    expect(why('cyd')).toBe('role: the roster has no role, inactiveDays: the roster has no time of use for any person')
    expect(why('eve')).toBe('the person is not on the roster')
  })
  test('nothing is known where there are none', () => {
    const none = judgeRules(policy({}), inputs)
    expect([none.matched, none.statuses, none.notes, none.memory, none.verdictOf(email('ada'))]).toEqual([[], [], [], {}, { kind: 'none' }])
  })
})

describe('a note', () => {
  const rule = (when: When): PolicySketch => ({ rules: [{ when, cap: 5 }] })
  const resolved = (when: When, rows: Readonly<Record<string, RowSketch>>, more: Partial<DesiredInputs> = {}) =>
    resolveDesired(desiredInputs(rule(when), { roster: rosterRows(rows), nearest, ...more }))
  const notes = (...args: Parameters<typeof resolved>): readonly string[] => resolved(...args).ruleNotes.map(({ message }) => message)
  const KNOWN = { ada: PEOPLE['ada'] ?? {}, bob: PEOPLE['bob'] ?? {} }
  const five = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name): [string, RowSketch] => [name, { role: 'x' }]))
  const at = (...domains: readonly string[]) => {
    const roster = rosterRows(five)
    return {
      roster: {
        ...roster,
        people: domains.map((domain, index) => ({
          ...roster.people[0],
          email: `p${index}@${domain}`,
          name: '',
          status: 'approved' as const,
          disabled: false,
        })),
      },
    }
  }

  test.each<readonly [string, When, Readonly<Record<string, RowSketch>>, Partial<DesiredInputs>, readonly string[]]>([
    [
      'names all groups that nobody is in',
      { groups: ['a', 'b'] },
      KNOWN,
      { groups: members({ a: [], b: [] }) },
      ['rule r1 matches nobody: nobody is in one of the groups a, b'],
    ],
    [
      'counts those of whom nothing is known, and says what of the first',
      { role: 'x' },
      { ...KNOWN, dan: {}, eve: {} },
      {},
      ['rule r1: whether it matches is not known for 2 people, who keep what is in force (role: the roster has no role)'],
    ],
    [
      'names the domains there are, in order',
      { email: '*@zzzzzzzz.test' },
      five,
      at('b.example', 'a.example', 'b.example'),
      ['rule r1 matches nobody: no e-mail matches *@zzzzzzzz.test; the domains there are: a.example, b.example'],
    ],
    [
      'names five domains, and counts the others',
      { email: '*@zzzzzzzz.test' },
      five,
      at(...Array.from({ length: 7 }, (_, index) => `d${index}.example`)),
      [
        'rule r1 matches nobody: no e-mail matches *@zzzzzzzz.test; the domains there are: d0.example, d1.example, d2.example, d3.example, d4.example and 2 more',
      ],
    ],
    [
      'names the nearest person of the domain that was typed',
      { email: 'pp@b.example' },
      five,
      at('a.example', 'b.example'),
      ['rule r1 matches nobody: no e-mail matches pp@b.example; the nearest is p1@b.example'],
    ],
    ['says nothing of a rule for everybody that asks more than an e-mail', { email: '*', role: 'x' }, five, {}, []],
    ['says nothing of a rule for everybody that asks something else', { role: 'x' }, five, {}, []],
    ['says nothing of a rule for everybody where they are few', { email: '*' }, KNOWN, {}, []],
    ['says nothing of a rule for nearly everybody', { email: '?@*' }, { ...five, long: {} }, {}, []],
  ])('%s', (_name, when, rows, more, expected) => expect(notes(when, rows, more)).toEqual(expected))

  test('says that a match waits for a second reading', () => {
    const first = resolved({ role: 'member' }, { ada: { role: 'x' } })
    expect(notes({ role: 'member' }, { ada: { role: 'member' } }, { conditions: first.conditions })).toEqual([
      'rule r1 matches nobody: it holds since the last reading only, and counts after two readings that agree',
    ])
  })

  test('does not count people who are not approved', () => {
    const rows: Readonly<Record<string, RowSketch>> = { ada: { role: 'admin' }, bob: { role: 'member', status: 'pending' } }
    expect(notes({ role: 'mamber' }, rows)).toEqual(['rule r1 matches nobody: nobody has the role mamber; the roles there are: admin'])
    expect(notes({ role: 'x' }, { bob: { status: 'pending' } })).toEqual([])
  })
})

test('a note says that it is not known whether earlier rules match those that it would', () => {
  const unknown = { when: { role: 'member' }, cap: 5 }
  const everybody = { when: { email: '*@*' }, cap: 6 }
  const last = (rules: readonly RuleSketch[]) =>
    resolveDesired(desiredInputs({ rules }, { roster: rosterRows({ ada: {}, bob: {} }) })).ruleNotes.at(-1)?.message
  expect(last([unknown, everybody])).toBe('rule r2 matches nobody: it is not known whether earlier rules match those that it would')
  expect(last([{ when: { email: 'ada@*' }, cap: 4 }, unknown, everybody])).toBe(
    'rule r3 matches nobody: earlier rules match everybody that it would, or it is not known whether they do',
  )
})

test('a note says that the nearest joined some hours too early', () => {
  const rules = [{ when: { joinedWithinDays: 14 }, cap: 5 }]
  const { ruleNotes } = resolveDesired(desiredInputs({ rules }, { roster: rosterRows({ ada: { joinedDaysAgo: 14.01 } }) }))
  expect(ruleNotes[0]?.message).toBe('rule r1 matches nobody: nobody joined within 14 days; the nearest is more than 14 days')
})
