// The chain of a scope: which declaration won and why each other lost, with grants, groups, rules and pools.
import { describe, expect, test } from 'vitest'
import {
  CYCLE,
  cap,
  DAY,
  email,
  members,
  NOW,
  over,
  ownedCaps,
  type PolicySketch,
  research,
  roster,
  rosterRows,
} from '../../support/declare.ts'
import { explained, inDecember, lines, observed, untilDecember } from '../../support/explained.ts'

type More = NonNullable<Parameters<typeof explained>[2]>

const NARROWEST = 'the narrowest cap declared'
const SETS_NOTHING = 'sets nothing here, so the next wider one applies'
const DIFFER = 'the groups of this person differ and spec.onGroupConflict is not set'
const BACK = 'a grant has ended, and the cap from before it is restored'
const RULE_WINS = 'the first rule that matches, and nothing is declared for the person alone'
const STAYS = 'it is not known whether it matches, so the cap in force stays and no later rule is tried'
const GONE = 'no longer in groups with different caps; dropped after 2 agreeing readings, 1 so far'
const TWO: PolicySketch['caps'] = { 'group:a': 9, 'group:b': 8 }
const MEMBER = { when: { role: 'member' }, cap: 100, reason: 'as agreed' } as const
const ROWS = rosterRows({ ada: { role: 'member' }, eve: { role: 'member' }, dan: {} })
const ADA = roster({ ada: 'approved' })
const groups = members({ a: ['ada', 'eve'], b: ['eve'] })
const ends = (value: number, owner: 'conflict' | 'grant' | 'copied', baseline?: number | 'none', name = 'ada'): More => ({
  owned: ownedCaps({ [name]: { cap: value, owner, ...(baseline !== undefined && { baseline }) } }),
})
const OVER: PolicySketch = { caps: { eve: 'none', ...TWO }, grants: [{ on: 'eve', cap: 6, ...over }] }
const frozen = { grantsFrozen: true }
const DISAGREE = "the service's clock and ours differ by more than 5 min: grants neither start nor end until they agree"
const NO_BASE = 'a grant adds 6 credits, but no cap is declared for it to add to; declare that cap, or write cap: in place of add:'
const toCome = { cycle: { startAt: NOW - 60 * DAY, endAt: NOW - 30 * DAY } }

/** ada is in group a, eve in a and b. */
test.each<[string, string, PolicySketch, string, More?]>([
  ['the cap that won', 'ada', { caps: { ada: 4000 } }, `> cap ada 4000 @1: ${NARROWEST}`],
  ['that a group’s cap is narrower', 'ada', { caps: { team: 500, 'group:a': 15 } }, 'cap team 500 @1: a group cap is narrower'],
  [
    'what a grant to come adds to a group’s cap',
    'group:a',
    { caps: { team: 500, 'group:a': 1500 }, grants: [{ on: 'group:a', add: 800, ...inDecember }] },
    'grant (pending) group:a 2300 @101: starts 2026-12-01 12:00 UTC',
  ],
  ['that nothing wider is declared', 'ada', { caps: { team: 'none' } }, '> cap team none @1: no cap is declared here or wider'],
  ['when a grant ended', 'ada', { grants: [{ on: 'ada', cap: 6, ...over }] }, 'grant (ended) ada 6 @101: ended 2026-11-19 12:00 UTC'],
  [
    'what a coming grant that adds will come to',
    'ada',
    { caps: { ada: 4000 }, grants: [{ on: 'ada', add: 800, ...inDecember }] },
    'grant (pending) ada 4800 @101: starts 2026-12-01 12:00 UTC',
  ],
  [
    'that the cycle of a grant is over',
    'ada',
    { grants: [{ on: 'ada', cap: 6, from: NOW - 40 * DAY, until: 'cycleEnd' }] },
    'grant (ended) ada 6 @101: ended with its billing cycle',
  ],
  [
    'that the cycle of a grant has not begun, though its start has passed',
    'ada',
    { grants: [{ on: 'ada', cap: 6, from: NOW - DAY, until: 'cycleEnd' }] },
    'grant (pending) ada 6 @101: its billing cycle has not begun',
    toCome,
  ],
  [
    'that the clocks disagree where that keeps a grant from starting',
    'ada',
    { caps: { ada: 1 }, grants: [{ on: 'ada', cap: 6, ...untilDecember }] },
    `grant (pending) ada 6 @101: ${DISAGREE}`,
    frozen,
  ],
  [
    'why a grant makes no sense',
    'ada',
    { grants: [{ on: 'ada', add: 6, ...untilDecember }] },
    `grant (active) ada none @101: ada@example.com: ${NO_BASE}`,
  ],
  ['the groups that clash', 'eve', { caps: { team: 1, ...TWO } }, `cap group:b 8 @3: ${DIFFER}`],
  ['that what is wider than they loses to a group', 'eve', { caps: { team: 1, ...TWO } }, 'cap team 1 @1: a group cap is narrower'],
  ['a none of their own over groups that clash', 'eve', { caps: { eve: 'none', ...TWO } }, `cap eve none @1: ${SETS_NOTHING}`],
  [
    'the choice between groups before a none of their own',
    'eve',
    { caps: { eve: 'none', ...TWO }, onGroupConflict: 'min' },
    '> conflict eve 8 @3: onGroupConflict: min of group:a (9) and group:b (8)',
  ],
  [
    'that the groups lose to the choice between them',
    'eve',
    { caps: TWO, onGroupConflict: 'min' },
    'cap group:a 9 @1: spec.onGroupConflict decides between the groups',
  ],
  [
    'that a cap of the person is narrower than the choice between groups',
    'eve',
    { caps: { eve: 7, ...TWO }, onGroupConflict: 'min' },
    'conflict eve 8 @3: a user cap is narrower',
  ],
  [
    'the team’s cap where a grant gives back nothing',
    'ada',
    { caps: { team: 5 } },
    `> cap team 5 @1: ${NARROWEST}`,
    ends(6, 'grant', 'none'),
  ],
  [
    'the base of a grant that is out of the policy',
    'ada',
    { caps: { team: 5 } },
    `> restore ada 300 @no line: ${BACK}`,
    ends(6, 'grant', 300),
  ],
  ['the base of a grant that is over', 'eve', OVER, `> restore eve 300 @101: ${BACK}`, ends(6, 'grant', 300, 'eve')],
  ['that a none of the person sets nothing beside it', 'eve', OVER, `cap eve none @1: ${SETS_NOTHING}`, ends(6, 'grant', 300, 'eve')],
  [
    'the declaration behind a copy',
    'ada',
    { caps: { team: 500 } },
    `> cap team 500 @1: ${NARROWEST}`,
    { capSemantics: 'copied', roster: ADA },
  ],
  [
    'a copy that stays while the members of a group are not known',
    'ada',
    { caps: { team: 500, 'group:a': 9 } },
    '> copied ada 77 @no line: the members of group:a are not known; what was set stays until they are',
    { capSemantics: 'copied', roster: ADA, groups: [], ...ends(77, 'copied') },
  ],
  [
    'a rule over groups, which need not agree',
    'eve',
    { caps: TWO, rules: [MEMBER] },
    `> rule eve 100 @201: ${RULE_WINS}`,
    { roster: ROWS },
  ],
  ['that a rule is narrower than groups', 'eve', { caps: TWO, rules: [MEMBER] }, 'cap group:a 9 @1: a rule is narrower', { roster: ROWS }],
  [
    'that a none of the person keeps the rule away',
    'ada',
    { caps: { ada: 'none', 'group:a': 1 }, rules: [MEMBER] },
    'rule ada 100 @201: a cap for the person goes before rules',
    { roster: ROWS },
  ],
  [
    'and away from groups that differ, too',
    'eve',
    { caps: { eve: 'none', ...TWO }, rules: [MEMBER] },
    `cap group:a 9 @2: ${DIFFER}`,
    { roster: ROWS },
  ],
  [
    'a rule of which it is not known whether it matches',
    'dan',
    { caps: { team: 5 }, rules: [MEMBER] },
    `rule dan 100 @201: ${STAYS}`,
    { roster: ROWS },
  ],
  [
    'and the team’s cap after it',
    'dan',
    { caps: { team: 5 }, rules: [MEMBER] },
    'cap team 5 @1: whether rule r1 matches is not known',
    { roster: ROWS },
  ],
])('a chain tells %s', (_name, name, policy, expected, more = {}) =>
  expect(lines(explained(name, policy, { groups, ...more }))).toContain(expected),
)

test.each<readonly [string, string, PolicySketch, More, readonly string[]]>([
  [
    'of the team is its own',
    'team',
    { caps: { team: 5, 'group:a': 9 }, grants: [{ on: 'team', cap: 8, ...untilDecember }] },
    {},
    ['> grant (active) team 8 @101: a grant in force, ends 2026-12-16 00:00 UTC', 'cap team 5 @1: a grant on the same scope is in force'],
  ],
  [
    'of a person with a grant has it once, before the choice between groups',
    'eve',
    { caps: TWO, onGroupConflict: 'min', grants: [{ on: 'eve', cap: 7, ...untilDecember }] },
    {},
    [
      '> grant (active) eve 7 @101: a grant in force, ends 2026-12-16 00:00 UTC',
      ...['conflict eve 8 @2', 'cap group:a 9 @1', 'cap group:b 8 @2'].map((one) => `${one}: a user grant is narrower`),
    ],
  ],
  [
    'of a person in groups has the grant of one of them once',
    'eve',
    { caps: TWO, grants: [{ on: 'group:b', cap: 9, ...untilDecember }] },
    {},
    [
      '> grant (active) group:b 9 @101: a grant in force, ends 2026-12-16 00:00 UTC',
      'cap group:a 9 @1: group:b asks for the same',
      'cap group:b 8 @2: a grant on the same scope is in force',
    ],
  ],
  [
    'of a conflict cap that waits for a second reading has what is wider after it',
    'ada',
    { caps: TWO, onGroupConflict: 'min' },
    ends(7, 'conflict'),
    [`> conflict ada 7 @1: ${GONE}`, 'cap group:a 9 @1: a user cap is narrower'],
  ],
])('a chain %s', (_name, name, policy, more, expected) => expect(lines(explained(name, policy, { groups, ...more }))).toEqual(expected))

test('a chain begins with the winner, then come the losers as they are narrower, and grants that are not in force last', () => {
  const policy: PolicySketch = {
    caps: { eve: 'none', ...TWO, team: 1 },
    grants: [
      { on: 'group:a', cap: 9, ...inDecember },
      { on: 'eve', cap: 6, ...over },
    ],
  }
  expect(lines(explained('eve', { ...policy, onGroupConflict: 'min' }, { groups }))).toEqual([
    '> conflict eve 8 @3: onGroupConflict: min of group:a (9) and group:b (8)',
    `cap eve none @1: ${SETS_NOTHING}`,
    'cap group:a 9 @2: spec.onGroupConflict decides between the groups',
    'cap group:b 8 @3: spec.onGroupConflict decides between the groups',
    'cap team 1 @4: a user cap is narrower',
    'grant (ended) eve 6 @102: ended 2026-11-19 12:00 UTC',
    'grant (pending) group:a 9 @101: starts 2026-12-01 12:00 UTC',
  ])
  expect(explained('ada', {}, { groups }).chain).toEqual([])
})

describe('the chain of a group and of the team', () => {
  const policy: PolicySketch = { caps: { team: 500, 'group:a': 1500 }, grants: [{ on: 'group:a', cap: 9, ...inDecember }] }

  test('has no other scopes, no groups and no person', () => {
    const more = { groups, readings: observed({ team: 500 }) }
    const found = ['group:a', 'team'].map((name) => explained(name, policy, more))
    expect(found.map((one) => [one.groups, one.inForce, one.person, one.chain.length])).toEqual([
      [[], undefined, undefined, 3],
      [[], undefined, undefined, 1],
    ])
    expect(found.map((one) => one.observed.map(({ reading }) => reading?.observed))).toEqual([[undefined, 500], [500]])
  })

  test('of a group whose own cap is none ends at the team', () =>
    expect(explained('group:a', { caps: { team: 5, 'group:a': 'none' } })).toMatchObject({ cap: 5, desired: { cap: 'none' } }))

  test('says so where a grant has no known end', () => {
    const grants = [{ on: 'team', cap: 8, from: NOW - DAY, until: 'cycleEnd' }] as const
    const owned = ownedCaps({ team: { cap: 8, owner: 'grant' } })
    expect(explained('team', { grants }, { owned, cycle: undefined }).chain[0]?.why).toBe('a grant in force')
  })
})

test('of whom a rule is not known the cap in force stays, with what is missing', () => {
  const sketch = { caps: { team: 500 }, rules: [MEMBER] }
  const open = explained('dan', sketch, { roster: ROWS })
  expect([open.cap, open.chain[0]?.candidate.reason]).toEqual([undefined, 'rule r1 (role: the roster has no role): as agreed'])
  const kept = explained('dan', sketch, { roster: ROWS, owned: ownedCaps({ dan: { cap: 50, owner: 'rule' } }) })
  expect([kept.desired?.cap, ...lines(kept)]).toEqual([
    50,
    `> rule dan 50 @201: ${STAYS}`,
    'cap team 500 @1: whether rule r1 matches is not known',
  ])
})

describe('a member of a pool', () => {
  const POOL: PolicySketch = { pools: [research(100, ['ada'], { share: 'need' })] }
  const known = roster({ ada: 'approved', bob: 'approved' })
  const dealt = (to: number, more: object = {}): More => {
    const ada = { base: cap(0) as never, use: cap(7) as never, dealt: cap(to) as never, sent: [], lowered: [], ...more }
    return { roster: known, pools: { research: { cycle: CYCLE, readAt: NOW, dealtAt: NOW, members: { [email('ada')]: ada } } } }
  }
  const inForce = { inForce: { cap: cap(40) as never, at: NOW } }
  const DEAL = [
    'pool research: 100 credits for 1 member, by need',
    'used 7, counted at 40',
    'dealt 2026-11-20 12:00 UTC, use read 2026-11-20 12:00 UTC',
  ]
  const TOLD = '> pool ada 40 @301: what the pool deals'
  test.each<readonly [string, PolicySketch, More, readonly string[]]>([
    [
      'has what the pool deals before the team’s cap',
      { caps: { team: 500 } },
      dealt(40, inForce),
      [TOLD, 'cap team 500 @1: a pool is narrower', ...DEAL, 'ada@example.com: used 7 of it, dealt 40'],
    ],
    [
      'with a cap of their own gets what is left',
      { caps: { ada: 90 } },
      dealt(40, { fixed: cap(90), ...inForce }),
      [
        TOLD,
        'cap ada 90 @1: pool research deals at most what is left',
        ...DEAL,
        'ada@example.com: used 7 of it, dealt 40, own cap 90, dealt first',
      ],
    ],
    [
      'has a rule’s cap dealt first',
      { rules: [{ when: { email: 'ada@*' }, cap: 30 }] },
      dealt(30, { fixed: cap(30), ...inForce }),
      [
        `> rule ada 30 @201: ${RULE_WINS}`,
        'pool ada 30 @301: a cap for the person is dealt first',
        ...DEAL,
        'ada@example.com: used 7 of it, dealt 30, own cap 30, dealt first',
      ],
    ],
    [
      'has what applies until something is dealt',
      { caps: { team: 500 } },
      { roster: known },
      [`> cap team 500 @1: ${NARROWEST}`, 'pool research: nothing is dealt yet'],
    ],
  ])('%s', (_name, policy, more, expected) => {
    const found = explained('ada', { ...POOL, ...policy }, more)
    expect([...lines(found), ...(found.pool?.lines ?? [])]).toEqual(expected)
    expect(found.pool?.name).toBe('research')
  })

  test('is told of the pool, and nobody else is', () =>
    expect(['bob', 'team'].map((name) => explained(name, POOL, dealt(40)).pool)).toEqual([undefined, undefined]))

  test('may be one of whom that is not known, who is told what is missing', () => {
    const { pool } = explained('dan', { pools: [research(100, { kind: 'when', when: { role: 'member' } })] }, { roster: ROWS })
    expect(pool).toEqual({
      name: 'research',
      lines: ['pool research: whether its condition holds is not known (role: the roster has no role), so the person stays out of it'],
    })
  })

  test('is stopped first by the pool once that is used up', () => {
    const people = { ...ADA, people: ADA.people.map((one) => ({ ...one, used: cap(100) as never })) }
    const { stopsFirst } = explained('ada', POOL, { ...dealt(100, { use: cap(100) }), roster: people, cycle: CYCLE })
    expect(stopsFirst).toEqual({ what: 'pool', at: NOW, without: 'balance' })
  })
})
