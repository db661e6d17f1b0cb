// Rules over people: what a condition makes of a row, which rule counts, and how a match changes.
import { describe, expect, test } from 'vitest'
import type { When } from '../../../src/core/model/policy.ts'
import { fitsGlob, rowFacts, truthOf } from '../../../src/core/resolve/conditions.ts'
import { isReached, resolveDesired, resolvePerson } from '../../../src/core/resolve/desired.ts'
import type { DesiredInputs, Resolution } from '../../../src/core/resolve/resolution.ts'
import { nearest } from '../../../src/policy/suggest.ts'
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

type RowInputs = Parameters<typeof rowFacts>[0]

describe('a pattern', () => {
  test.each([
    ['*@contractor.example', 'eve@contractor.example', true],
    ['*@contractor.example', 'eve@contractor.example.com', false],
    ['*@contractor.example', 'eve@contractor-example', false],
    ['eve', 'eve@x.y', false],
    ['*', 'anybody@x.y', true],
    ['e?e@x.y', 'eve@x.y', true],
    ['e?e@x.y', 'ee@x.y', false],
    ['*.ext*@*', 'a.ext.b@x.y', true],
    ['*.ext*@*', 'a.external@x.y', true],
    ['*a*a*b', 'aab', true],
    ['*ab*ab', 'abxab', true],
    ['*ab*ab', 'abx', false],
    ['a+b@x.y', 'a+b@x.y', true],
    ['', '', true],
    ['?', '', false],
    ['a*', 'a', true],
    ['a**', 'a', true],
    ['a*', 'b', false],
    ['a', 'ab', false],
    ['*', '', true],
  ])('%s over %s: %s', (pattern, text, fits) => expect(fitsGlob(pattern, text)).toBe(fits))

  test('takes no longer than the product of the lengths', () => {
    expect(fitsGlob(`${'*a'.repeat(100)}b`, 'a'.repeat(320))).toBe(false)
  })
})

const PEOPLE: Readonly<Record<string, RowSketch>> = {
  ada: { role: 'admin', usedDaysAgo: 0, joinedDaysAgo: 400, activeDays: { 30: 20 } },
  bob: { role: 'Member', usedDaysAgo: 30, joinedDaysAgo: 300, activeDays: { 30: 4 } },
  cyd: { role: 'member', joinedDaysAgo: 14, activeDays: { 30: 5 } },
  dan: {},
}

describe('a condition', () => {
  const inputs: RowInputs = {
    roster: rosterRows(PEOPLE),
    groups: members({ a: ['ada'], b: ['bob'] }),
    unknownGroups: ['lost'],
    clockDoubted: false,
  }
  const truths = (when: When, more: Partial<RowInputs> = {}) => {
    const all = { ...inputs, ...more }
    const facts = rowFacts(all, new Set(when.groups))
    return all.roster?.people.map((person) => truthOf(when, person, facts))
  }
  test.each<[string, When, readonly unknown[]]>([
    ['an e-mail', { email: '?da@*' }, [true, false, false, false]],
    ['a role, whatever the case', { role: 'MEMBER' }, [false, true, true, 'unknown']],
    ['one of some groups', { groups: ['a', 'b'] }, [true, true, false, false]],
    ['a group whose members are not known', { groups: ['a', 'unread'] }, [true, 'unknown', 'unknown', 'unknown']],
    ['a group that the service does not know', { groups: ['lost'] }, ['unknown', 'unknown', 'unknown', 'unknown']],
    ['inactive days, from the newest use of anybody, or from signing up', { inactiveDays: 14 }, [false, true, true, 'unknown']],
    ['more inactive days', { inactiveDays: 31 }, [false, false, false, 'unknown']],
    ['days since signing up', { joinedWithinDays: 14 }, [false, false, true, 'unknown']],
    ['active days', { activeDays: { below: 5, within: 30 } }, [false, true, false, 'unknown']],
    ['active days of another time', { activeDays: { below: 5, within: 7 } }, ['unknown', 'unknown', 'unknown', 'unknown']],
    ['several things', { role: 'member', inactiveDays: 20 }, [false, true, false, 'unknown']],
    [
      'something that is not known, and something that holds',
      { role: 'member', groups: ['a', 'b', 'unread'], email: 'd*' },
      [false, false, false, 'unknown'],
    ],
    ['several things, one of which is not so', { role: 'member', email: 'bob@*' }, [false, true, false, false]],
  ])('on %s', (_name, when, expected) => expect(truths(when)).toEqual(expected))

  test('on something that the roster does not say is unknown, whatever else holds', () => {
    expect(truths({ role: 'member', groups: ['d'] }, { groups: members({ d: ['dan'] }) })).toEqual([false, false, false, 'unknown'])
  })

  test('on inactive days is unknown while nobody has a time of use', () => {
    expect(truths({ inactiveDays: 1 }, { roster: rosterRows({ cyd: { joinedDaysAgo: 90 } }) })).toEqual(['unknown'])
  })
})

const MEMBERS = { role: 'member' } as const
const resolve = (sketch: PolicySketch, more: Partial<DesiredInputs> = {}): Resolution =>
  resolveDesired(desiredInputs(sketch, { roster: rosterRows(PEOPLE), nearest, ...more }))

describe('the rule that counts', () => {
  test.each<[string, PolicySketch, Partial<DesiredInputs>, Record<string, string>]>([
    ['caps everybody who matches', { rules: [{ when: MEMBERS, cap: 100 }] }, {}, { bob: 'rule 100', cyd: 'rule 100' }],
    [
      'may set nothing, and stops those after it',
      {
        rules: [
          { when: { email: 'bob@*' }, cap: 'none' },
          { when: MEMBERS, cap: 5 },
        ],
      },
      {},
      { bob: 'rule none', cyd: 'rule 5' },
    ],
    [
      'yields to none of the person, where the next wider cap then applies',
      { caps: { bob: 'none', 'group:a': 9 }, rules: [{ when: { email: 'bob@*' }, cap: 100 }] },
      { capSemantics: 'copied', groups: members({ a: ['bob'] }) },
      { 'group:a': 'cap 9', bob: 'copied 9' },
    ],
    ['reaches nobody while the roster is unknown', { rules: [{ when: { email: '*' }, cap: 5 }] }, { roster: rosterRows({}) }, {}],
    [
      'leaves out who is not approved',
      { rules: [{ when: MEMBERS, cap: 5 }] },
      { roster: rosterRows({ bob: { status: 'pending', role: 'member' } }) },
      {},
    ],
  ])('%s', (_name, sketch, more, expected) => expect(asked(resolve(sketch, more))).toEqual(expected))

  test('names itself, the value that made it match, and its reason', () => {
    const rules = [
      { name: 'quiet', when: { ...MEMBERS, inactiveDays: 20, activeDays: { below: 5, within: 30 } }, cap: 5, reason: 'they left' },
    ]
    const [bob] = resolve({ rules }).desired
    expect(bob).toMatchObject({
      owner: 'rule',
      entry: entryOf('rule', 5),
      origin: {
        rule: 'quiet',
        at: { line: 201 },
        reason: 'rule quiet (role is Member, inactive for 30 days (20 or more), active on 4 of the last 30 days (fewer than 5)): they left',
      },
    })
  })

  test('reaches whom it matches, or may match', () => {
    const inputs = desiredInputs({ rules: [{ when: MEMBERS, cap: 100 }] }, { roster: rosterRows(PEOPLE) })
    expect(Object.keys(PEOPLE).filter((name) => isReached(email(name), inputs))).toEqual(['bob', 'cyd', 'dan'])
  })

  test('is what resolvePerson tells', () => {
    const inputs = desiredInputs({ caps: { team: 7 }, rules: [{ when: MEMBERS, cap: 100 }] }, { roster: rosterRows(PEOPLE) })
    expect(resolvePerson('bob@example.com', inputs)?.chain.map(({ kind }) => kind)).toEqual(['rule', 'cap'])
  })
})

describe('where a field is absent', () => {
  const sketch: PolicySketch = {
    caps: { 'group:a': 1, 'group:b': 2 },
    onGroupConflict: 'min',
    rules: [
      { when: MEMBERS, cap: 100 },
      { when: { email: '*' }, cap: 3 },
    ],
  }
  const dan = (owned?: OwnedSketch, more: Partial<DesiredInputs> = {}) => {
    const resolution = resolve(sketch, {
      groups: members({ a: ['dan'], b: ['dan'] }),
      ...(owned && { owned: ownedCaps({ dan: owned }) }),
      ...more,
    })
    return asked(resolution)['dan'] ?? codes(resolution)['dan'] ?? skips(resolution)['dan']
  }
  test('the person keeps the cap that is ours, whatever it came from, and no later rule is tried', () => {
    expect(dan({ cap: 50, owner: 'rule' })).toBe('rule 50')
    expect(dan({ cap: 40, owner: 'conflict' })).toBe('rule 40')
    expect(dan({ cap: 30 })).toBe('rule 30')
  })
  test('nothing is asked for a person without a cap of ours', () => {
    expect(dan()).toBeUndefined()
    expect(dan({ cap: 'none', owner: 'rule' })).toBeUndefined()
  })
  test('a grant that is over ends all the same', () => {
    expect(dan(byGrant(20))).toBe('restore 20')
    const conditions = resolve(sketch, { roster: rosterRows({ dan: { role: 'member' } }) }).conditions
    expect(dan(byGrant(), { conditions })).toBe('rule 100')
    expect(dan(byGrant())).toBeUndefined()
  })
})

describe('a match changes', () => {
  const sketch: PolicySketch = { rules: [{ when: MEMBERS, cap: 100 }] }
  const roleOf = (role: string | undefined) => rosterRows({ bob: role === undefined ? {} : { role } })
  /** What bob gets after each reading, all of them good. */
  function course(roles: readonly (string | undefined)[], good: (index: number) => boolean = () => true): readonly (string | undefined)[] {
    let conditions: Resolution['conditions'] = {}
    return roles.map((role, index) => {
      const resolution = resolve(sketch, { roster: roleOf(role), conditions, newReading: good(index) ? { groups: [] } : undefined })
      if (good(index) || index === 0) conditions = resolution.conditions
      return asked(resolution)['bob']
    })
  }
  const IN = 'rule 100'
  test.each<[string, readonly (string | undefined)[], readonly (string | undefined)[]]>([
    ['at once where nothing was known', ['member'], [IN]],
    ['to yes after two readings', ['admin', 'member', 'member'], [undefined, undefined, IN]],
    ['to no after two readings', ['member', 'admin', 'admin'], [IN, IN, undefined]],
    ['never by readings that take turns', ['member', 'admin', 'member', 'admin', 'member'], [IN, IN, IN, IN, IN]],
    ['never by one odd reading', ['admin', 'member', 'admin', 'admin'], [undefined, undefined, undefined, undefined]],
  ])('%s', (_name, roles, expected) => expect(course(roles)).toEqual(expected))

  test('never while the roster is doubted', () => {
    expect(course(['member', 'admin', 'admin', 'admin'], (index) => index === 0)).toEqual([IN, IN, IN, IN])
  })

  test('at once with the policy: a condition that is new is settled by the roster at hand', () => {
    const { conditions } = resolve(sketch, { roster: roleOf('member') })
    const edited = resolve(
      { rules: [{ when: { role: 'guest' }, cap: 1 }, ...(sketch.rules ?? [])] },
      { roster: roleOf('member'), conditions },
    )
    expect(asked(edited)).toEqual({ bob: 'rule 100' })
    expect(asked(resolve({ rules: [] }, { conditions }))).toEqual({})
    expect(asked(resolve({ rules: [{ when: MEMBERS, cap: 70 }] }, { roster: roleOf('member'), conditions }))).toEqual({ bob: 'rule 70' })
  })

  test('for no person who is away and comes back, as long as they have a cap of ours', () => {
    const owned = ownedCaps({ bob: { cap: 100, owner: 'rule' } })
    const first = resolve(sketch, { roster: roleOf('member'), owned })
    const away = resolve(sketch, { roster: rosterRows({ ada: {} }), owned, conditions: first.conditions })
    expect(skips(away)['bob']).toContain('not on the roster')
    expect(asked(resolve(sketch, { roster: roleOf('member'), owned, conditions: away.conditions }))['bob']).toBe(IN)
  })

  test('at once for a person who comes back after their rule was removed', () => {
    const owned = ownedCaps({ bob: { cap: 100, owner: 'rule' } })
    const others: PolicySketch = { rules: [{ when: { email: 'b*' }, cap: 70 }] }
    const first = resolve({ rules: [...(sketch.rules ?? []), ...(others.rules ?? [])] }, { roster: roleOf('member'), owned })
    const away = resolve(others, { roster: rosterRows({ ada: {} }), owned, conditions: first.conditions })
    expect(asked(resolve(others, { roster: roleOf('member'), owned, conditions: away.conditions }))['bob']).toBe('rule 70')
  })

  test('and says so while it waits', () => {
    const { conditions } = resolve(sketch, { roster: roleOf('member') })
    const [bob] = resolve(sketch, { roster: roleOf('admin'), conditions }).desired
    expect(bob?.origin.reason).toBe('rule r1 (no longer so (role is admin); counts after 2 agreeing readings, 1 so far)')
  })
})

describe('what a person should know of a rule', () => {
  const notes = (when: When, rows: Readonly<Record<string, RowSketch>> = PEOPLE, more: Partial<DesiredInputs> = {}) =>
    resolve({ rules: [{ when, cap: 5 }] }, { roster: rosterRows(rows), ...more }).ruleNotes.map(
      ({ code, message, at }) => `${at.line} ${code} ${message}`,
    )
  const KNOWN = Object.fromEntries(Object.entries(PEOPLE).filter(([name]) => name !== 'dan'))
  test.each<[string, When, string]>([
    ['a role that nobody has', { role: 'membr' }, 'nobody has the role membr; did you mean Member?'],
    ['a role that is like none', { role: 'contractor' }, 'nobody has the role contractor; the roles there are: Member, admin, member'],
    ['a domain that nobody has', { email: '*@exmaple.com' }, 'no e-mail matches *@exmaple.com; did you mean *@example.com?'],
    ['a name that nobody has', { email: 'zoe@*' }, 'no e-mail matches zoe@*'],
    ['a name that is like one', { email: 'bobb@example.com' }, 'no e-mail matches bobb@example.com; the nearest is bob@example.com'],
    ['a group without members', { groups: ['empty'] }, 'nobody is in group empty'],
    ['more days than anybody was inactive', { inactiveDays: 90 }, 'nobody was inactive for 90 days or more; the nearest is 30 days'],
    ['fewer days than anybody is here', { joinedWithinDays: 7 }, 'nobody joined within 7 days; the nearest is 14 days'],
    [
      'fewer active days than anybody has',
      { activeDays: { below: 4, within: 30 } },
      'nobody was active on fewer than 4 of the last 30 days; the least is 4',
    ],
    ['what nobody is at once', { role: 'admin', inactiveDays: 20 }, 'nobody meets all of its conditions at once'],
  ])('%s', (_name, when, why) => {
    expect(notes(when, KNOWN, { groups: members({ empty: [] }) })).toEqual([`201 RULE_NOBODY rule r1 matches nobody: ${why}`])
  })

  test('that earlier rules match everybody that it would', () => {
    const { ruleNotes } = resolve(
      {
        rules: [
          { when: { role: 'member' }, cap: 5 },
          { when: { email: 'bob@*' }, cap: 6 },
        ],
      },
      { roster: rosterRows(KNOWN) },
    )
    expect(ruleNotes.map(({ message }) => message)).toEqual(['rule r2 matches nobody: earlier rules match everybody that it would'])
  })

  test('that the answer is not known for some people', () => {
    expect(notes(MEMBERS)).toEqual([
      '201 RULE_UNKNOWN rule r1: whether it matches is not known for 1 person, who keeps what is in force (role: the roster has no role)',
    ])
  })

  test('that a pattern matches everybody there is', () => {
    const many = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, {}]))
    expect(notes({ email: '*@example.com' }, many)).toEqual([
      '201 RULE_EVERYBODY rule r1 matches everybody on the roster: e-mail matches *@example.com for all 5',
    ])
    expect(notes({ email: '*@example.com' }, KNOWN)).toEqual([])
  })

  test('nothing while there is no roster', () => {
    expect(resolveDesired(desiredInputs({ rules: [{ when: MEMBERS, cap: 5 }] })).ruleNotes).toEqual([])
  })
})
