// Rules over people: what a condition makes of a row and says of it, which rule counts, how a match changes, and what is noted of a rule.
import { describe, expect, test } from 'vitest'
import { declaredIn, isReached, resolveDesired, resolvePerson } from '../../../src/core/resolve/desired.ts'
import {
  asked,
  byGrant,
  codes,
  desiredInputs,
  email,
  entryOf,
  members,
  type OwnedSketch,
  ownedCaps,
  type PolicySketch,
  type RowSketch,
  rosterRows,
  skips,
} from '../../support/declare.ts'

type More = NonNullable<Parameters<typeof desiredInputs>[1]>
type When = NonNullable<PolicySketch['rules']>[number]['when']
type Rows = Readonly<Record<string, RowSketch>>

/** Whether a condition holds for an address by this pattern. */
const fits = (pattern: string, address: string): boolean => {
  const when = { email: pattern }
  const inputs = desiredInputs({ rules: [{ when, cap: 5 }] }, { roster: rosterRows({ [address]: {} }) })
  return declaredIn(inputs).rules.verdictOf(address).kind === 'match'
}

test.each([
  ['*@contractor.example', 'eve@contractor.example', true],
  ['e?e@x.y', 'eve@x.y', true],
  ['*.ext*@*', 'a.ext.b@x.y', true],
  ['*a*a*b', 'a@ab', true],
  ['*ab*ab', 'ab@ab', true],
  ['a@x?', 'a@x', false],
  ['a@x*', 'a@x', true],
])('the pattern %s over %s: %s', (pattern, text, expected) => expect(fits(pattern, text)).toBe(expected))

test('a pattern takes no longer than the product of the lengths', () =>
  expect(fits(`${'*a'.repeat(100)}b`, `${'a'.repeat(320)}@x`)).toBe(false))

const PEOPLE: Rows = {
  ada: { role: ' Admin ', usedDaysAgo: 0, joinedDaysAgo: 400, activeDays: { 30: 20 }, listing: { values: { unit: 'R', team: '' } } },
  bob: { role: 'Member', usedDaysAgo: 30, joinedDaysAgo: 300, activeDays: { 30: 4 }, listing: { values: { unit: 'S' }, goneAt: 5 } },
  cyd: { role: 'member', joinedDaysAgo: 14, activeDays: { 30: 5 }, listing: {} },
  dan: {},
}
const MEMBERS = { role: 'member' } as const
const MEMBER_RULE: PolicySketch = { rules: [{ when: MEMBERS, cap: 100 }] }
const rowsOf = (rows: Rows): More => ({ roster: rosterRows(rows) })
const resolve = (sketch: PolicySketch, more: More = {}) => resolveDesired(desiredInputs(sketch, { ...rowsOf(PEOPLE), ...more }))

describe('a condition', () => {
  const known = { groups: members({ a: ['ada'], b: ['bob'] }), unknownGroups: ['lost'] }
  const judged = (when: When, more: More = {}) => {
    const inputs = desiredInputs({ rules: [{ when, cap: 5 }] }, { ...rowsOf(PEOPLE), ...known, ...more })
    const { rules } = declaredIn(inputs)
    return { rules, people: inputs.roster?.people ?? [], why: (name: string) => rules.whyOf({ when }, email(name)) }
  }
  const GONE = 'no longer in the people file, the last values count for 7 days'
  const LACKS = 'the people file that was read last has no column'
  const MOVED: Rows = { eve: { listing: { values: { unit: 'S', team: 'A' }, was: { at: 5, values: { unit: '' } } } } }
  /** `+` it holds, `-` it does not, `?` that is not known: of ada, bob, cyd and dan. */
  const SIGNS = { match: '+', none: '-', unknown: '?' }
  test.each<[string, When, string, More?]>([
    ['an e-mail', { email: '?da@*' }, '+---'],
    ['a role, whatever the case and the spaces about it', { role: ' MEMBER' }, '-++?'],
    ['one of some groups', { groups: ['a', 'b'] }, '++--'],
    ['a group whose members are not known', { groups: ['a', 'unread'] }, '+???'],
    ['a group that the service does not know', { groups: ['lost'] }, '????'],
    ['inactive days, from the newest use of anybody, or from signing up', { inactiveDays: 14 }, '-++?'],
    ['more inactive days', { inactiveDays: 31 }, '---?'],
    ['days since signing up', { joinedWithinDays: 14 }, '--+?'],
    ['active days', { activeDays: { below: 5, within: 30 } }, '-+-?'],
    ['active days of another time', { activeDays: { below: 5, within: 7 } }, '????'],
    ['a value of the people file', { attributes: { columns: { unit: 'R' } } }, '+-??'],
    ['being in the people file', { attributes: { listed: true } }, '++-?'],
    ['being in it with a value', { attributes: { listed: true, columns: { unit: 'S' } } }, '-+-?'],
    ['several things', { role: 'member', inactiveDays: 20 }, '-+-?'],
    ['what the roster does not say, whatever else holds', { role: 'member', groups: ['d'] }, '---?', { groups: members({ d: ['dan'] }) }],
    ['inactive days while nobody has a time of use', { inactiveDays: 1 }, '?', rowsOf({ cyd: { joinedDaysAgo: 90 } })],
  ])('is on %s', (_name, when, expected, more = {}) => {
    const { rules, people } = judged(when, more)
    expect(people.map((one) => SIGNS[rules.verdictOf(one.email).kind]).join('')).toBe(expected)
  })

  test.each<[string, string, When, string, More?]>([
    ['an e-mail', 'ada', { email: 'ada@*' }, 'e-mail matches ada@*'],
    ['a role', 'ada', { role: 'admin  ' }, 'role is  Admin '],
    ['groups, with the one that they are in', 'bob', { groups: ['a', 'b'] }, 'in group b'],
    ['groups that they are not in', 'dan', { groups: ['a', 'b'] }, 'in none of the groups a, b'],
    ['days since signing up that are more', 'ada', { joinedWithinDays: 7 }, 'joined 400 days ago (7 or less)'],
    ['days without use', 'bob', { inactiveDays: 1 }, 'inactive for 30 days (1 or more)'],
    [
      'a single day without use',
      'eve',
      { inactiveDays: 1 },
      'inactive for 1 day (1 or more)',
      rowsOf({ ada: { usedDaysAgo: 0 }, eve: { usedDaysAgo: 1 } }),
    ],
    ['a value of the people file', 'ada', { attributes: { columns: { unit: 'R', team: 'x' } } }, 'unit is R, team is empty'],
    ['being in the people file', 'ada', { attributes: { listed: true } }, 'in the people file'],
    ['not being in it', 'cyd', { attributes: { listed: true } }, 'not in the people file'],
    ['a value of who vanished from it', 'bob', { attributes: { listed: true, columns: { unit: 'S' } } }, `unit is S, ${GONE}`],
    [
      'a value that changed',
      'eve',
      { attributes: { columns: { unit: 'S', team: 'A' } } },
      'unit is S, was empty, team is A',
      rowsOf(MOVED),
    ],
    ['that no people file was read', 'dan', { attributes: { listed: true } }, 'attributes: no people file was read yet'],
    ['who is not in it', 'cyd', { attributes: { columns: { unit: 'R' } } }, 'attributes: not in the people file'],
    ['columns that it lacks', 'bob', { attributes: { columns: { unit: 'S', team: '', at: '' } } }, `attributes: ${LACKS} team, at`],
    ['groups that are not known', 'dan', { groups: ['a', 'lost', 'unread'] }, 'groups: the members of group lost, unread are not known'],
    ['use that is absent', 'dan', { inactiveDays: 1 }, 'inactiveDays: the roster has no time of use or sign-up for the person'],
    ['signing up that is absent', 'dan', { joinedWithinDays: 1 }, 'joinedWithinDays: the roster has no time of sign-up'],
    [
      'signing up while the clocks differ',
      ...(['ada', { joinedWithinDays: 1 }, "joinedWithinDays: the service's clock and ours differ", { grantsFrozen: true }] as const),
    ],
    [
      'active days of another time',
      ...(['ada', { activeDays: { below: 5, within: 7 } }, 'activeDays: the roster has no active days of the last 7 days'] as const),
    ],
    [
      'everything that is absent',
      'eve',
      { role: 'x', inactiveDays: 5 },
      'role: the roster has no role, inactiveDays: the roster has no time of use for any person',
      rowsOf({ eve: {} }),
    ],
    ['who is off the roster', 'eve', { role: 'x' }, 'the person is not on the roster'],
  ])('tells %s', (_name, who, when, expected, more = {}) => expect(judged(when, more).why(who)).toBe(expected))

  test('is answered for everybody, and counted for approved people; where there is none nothing is known', () => {
    const rows: Rows = { ada: { role: 'member' }, bob: { role: 'member', status: 'pending' }, cyd: {}, dan: { status: 'pending' } }
    const { rules } = judged(MEMBERS, rowsOf(rows))
    expect(rules.statuses.map(({ people, holds, unknown }) => [people, holds, unknown])).toEqual([[1, 1, 1]])
    expect(rules.matched).toEqual([email('ada'), email('bob')])
    const { rules: none } = declaredIn(desiredInputs({}, rowsOf(rows)))
    expect([none.matched, none.statuses, none.notes, none.memory, none.verdictOf(email('ada'))]).toEqual([[], [], [], {}, { kind: 'none' }])
  })
})

describe('the rule that counts', () => {
  test.each<readonly [string, PolicySketch, More, Record<string, string>]>([
    ['caps everybody who matches', MEMBER_RULE, {}, { bob: 'rule 100', cyd: 'rule 100' }],
    [
      'yields to none of the person, where the next wider cap then applies',
      { caps: { bob: 'none', 'group:a': 9 }, rules: [{ when: { email: 'bob@*' }, cap: 100 }] },
      { capSemantics: 'copied', groups: members({ a: ['bob'] }) },
      { 'group:a': 'cap 9', bob: 'copied 9' },
    ],
    ['reaches nobody while the roster is unknown', { rules: [{ when: { email: '*' }, cap: 5 }] }, rowsOf({}), {}],
  ])('%s', (_name, sketch, more, expected) => expect(asked(resolve(sketch, more))).toEqual(expected))

  test('names itself, the value that made it match, and its reason', () => {
    const when = { ...MEMBERS, inactiveDays: 20, activeDays: { below: 5, within: 30 } }
    const [bob] = resolve({ rules: [{ name: 'quiet', when, cap: 5, reason: 'they left' }] }).desired
    const values = 'role is Member, inactive for 30 days (20 or more), active on 4 of the last 30 days (fewer than 5)'
    expect(bob).toMatchObject({
      ...{ owner: 'rule', entry: entryOf('rule', 5) },
      origin: { rule: 'quiet', at: { line: 201 }, reason: `rule quiet (${values}): they left` },
    })
    expect(resolve(MEMBER_RULE).desired[0]?.origin.reason).toBe('rule r1 (role is Member)')
  })

  test('reaches whom it matches, or may match, and is told of a person before the team’s cap', () => {
    const inputs = desiredInputs(MEMBER_RULE, rowsOf(PEOPLE))
    expect(Object.keys(PEOPLE).filter((name) => isReached(email(name), inputs))).toEqual(['bob', 'cyd', 'dan'])
    const found = resolvePerson(email('bob'), desiredInputs({ ...MEMBER_RULE, caps: { team: 7 } }, rowsOf(PEOPLE)))
    expect(found?.chain.map(({ kind }) => kind)).toEqual(['rule', 'cap'])
  })
})

describe('where a field is absent', () => {
  const sketch: PolicySketch = {
    ...{ caps: { 'group:a': 1, 'group:b': 2 }, onGroupConflict: 'min' },
    rules: [...(MEMBER_RULE.rules ?? []), { when: { email: '*' }, cap: 3 }],
  }
  const groups = members({ a: ['dan'], b: ['dan'] })
  const told = (sketchNow: PolicySketch, owned?: OwnedSketch, more: More = {}) => {
    const resolution = resolve(sketchNow, { groups, ...(owned && { owned: ownedCaps({ dan: owned }) }), ...more })
    return asked(resolution)['dan'] ?? codes(resolution)['dan'] ?? skips(resolution)['dan']
  }
  const { conditions } = resolve(sketch, rowsOf({ dan: { role: 'member' } }))
  test.each<readonly [string, OwnedSketch | undefined, More, string | undefined]>([
    ['the person keeps the cap of a rule, and no later rule is tried', { cap: 50, owner: 'rule' }, {}, 'rule 50'],
    ['the person keeps any cap of ours', { cap: 30 }, {}, 'rule 30'],
    ['nothing is asked for a person whose cap of ours is none', { cap: 'none', owner: 'rule' }, {}, undefined],
    ['a grant that is over ends at the rule that matched before', byGrant(), { conditions }, 'rule 100'],
  ])('%s', (_name, owned, more, expected) => expect(told(sketch, owned, more)).toBe(expected))
})

describe('a match changes', () => {
  const roleOf = (role: string | undefined): More => rowsOf({ bob: role === undefined ? {} : { role } })
  const IN = 'rule 100'
  /** What bob gets after each reading, all of them good. */
  function course(roles: readonly string[], good: (index: number) => boolean = () => true): readonly (string | undefined)[] {
    let conditions: More['conditions'] = {}
    return roles.map((role, index) => {
      const resolution = resolve(MEMBER_RULE, { ...roleOf(role), conditions, newReading: good(index) ? { groups: [] } : undefined })
      if (good(index) || index === 0) conditions = resolution.conditions
      return asked(resolution)['bob']
    })
  }
  test.each<readonly [string, readonly string[], readonly (string | undefined)[]]>([
    ['to yes after two readings', ['admin', 'member', 'member'], [undefined, undefined, IN]],
    ['to no after two readings', ['member', 'admin', 'admin'], [IN, IN, undefined]],
  ])('%s', (_name, roles, expected) => expect(course(roles)).toEqual(expected))

  test('at once with the policy: a condition that is new is settled by the roster at hand', () => {
    const { conditions } = resolve(MEMBER_RULE, roleOf('member'))
    const edited = { rules: [{ when: { role: 'guest' }, cap: 1 }, ...(MEMBER_RULE.rules ?? [])] }
    const now = { ...roleOf('member'), conditions }
    expect([edited, { rules: [] }, { rules: [{ when: MEMBERS, cap: 70 }] }].map((one) => asked(resolve(one, now))['bob'])).toEqual([
      ...[IN, undefined, 'rule 70'],
    ])
    const [member = { when: MEMBERS, cap: 100 }, other] = [MEMBER_RULE.rules?.[0], { when: { email: 'b*' }, cap: 70 }]
    const both = resolve({ rules: [member, other] }, roleOf('member'))
    expect(asked(resolve({ rules: [other, member] }, { ...roleOf('member'), conditions: both.conditions }))['bob']).toBe('rule 70')
  })

  test('to yes without clearing a cap of ours in between, which policy declares no longer', () => {
    const { conditions } = resolve(MEMBER_RULE, roleOf('admin'))
    const once = resolve(MEMBER_RULE, { ...roleOf('member'), conditions, owned: ownedCaps({ bob: { cap: 40 } }) })
    const reason = `rule r1 matches since the last reading, and ${WAITS}; what is in force stays`
    expect(once.desired).toMatchObject([{ cap: 40, owner: 'policy', origin: { kind: 'rule', rule: 'r1', reason } }])
    expect(resolve(MEMBER_RULE, { ...roleOf('member'), conditions, owned: ownedCaps({ bob: { cap: 'none' } }) }).desired).toEqual([])
    expect(resolve(MEMBER_RULE, { ...roleOf('admin'), conditions, owned: ownedCaps({ bob: { cap: 40 } }) }).desired).toEqual([])
  })

  test('for no person who is away and comes back, as long as they have a cap of ours and the rule is there', () => {
    const owned = ownedCaps({ bob: { cap: 100, owner: 'rule' } })
    const others: PolicySketch = { rules: [{ when: { email: 'b*' }, cap: 70 }] }
    const both = { rules: [...(MEMBER_RULE.rules ?? []), ...(others.rules ?? [])] }
    const first = resolve(both, { ...roleOf('member'), owned })
    const back = (sketch: PolicySketch) => {
      const away = resolve(sketch, { ...rowsOf({ ada: {} }), owned, conditions: first.conditions })
      return asked(resolve(sketch, { ...roleOf('member'), owned, conditions: away.conditions }))['bob']
    }
    expect([back(both), back(others)]).toEqual([IN, 'rule 70'])
  })

  const WAITS = 'counts after 2 agreeing readings, 1 so far'
  const BY_ROLE = ['member', 'admin', 'guest'].map((role) => ({ name: role, when: { role }, cap: 5 }))
  test.each<readonly [string, NonNullable<PolicySketch['rules']>, readonly string[], When, string]>([
    ['that it no longer holds', BY_ROLE, ['member', 'admin'], { role: 'member' }, `no longer so (role is admin); ${WAITS}`],
    [
      ...([
        'that an earlier rule holds too',
        [
          { name: 'first', when: { role: 'admin' }, cap: 1 },
          { when: { email: 'b*' }, cap: 2 },
        ],
      ] as const),
      ...([['member', 'admin'], { email: 'b*' }, `e-mail matches b*; now rule first goes before it; ${WAITS}`] as const),
    ],
    ['nothing of a rule that did not match', BY_ROLE, ['member', 'admin'], { role: 'admin' }, 'role is admin'],
    ['that two readings disagree', BY_ROLE, ['member', 'admin', 'guest'], { role: 'guest' }, `role is guest; ${WAITS}`],
  ])('and tells while it waits %s', (_name, rules, roles, when, expected) => {
    let conditions: More['conditions'] = {}
    let why = ''
    for (const role of roles) {
      const { rules: judged } = declaredIn(desiredInputs({ rules }, { ...roleOf(role), newReading: { groups: [] }, conditions }))
      conditions = judged.memory
      why = judged.whyOf({ when }, email('bob'))
    }
    expect(why).toBe(expected)
  })
})
