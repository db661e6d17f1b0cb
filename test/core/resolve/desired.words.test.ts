// The words about rejected and skipped scopes, and the fields of a winner.
import { describe, expect, test } from 'vitest'
import { resolveDesired, resolvePerson } from '../../../src/core/resolve/desired.ts'
import { nearest } from '../../../src/policy/suggest.ts'
import {
  byGrant,
  CYCLE,
  DAY,
  desiredInputs,
  email,
  entryOf,
  members,
  NOW,
  ownedCaps,
  type PolicySketch,
  policy,
  roster,
  running,
  scope,
  short,
} from '../../support/declare.ts'

type More = NonNullable<Parameters<typeof desiredInputs>[1]>

const resolve = (sketch: PolicySketch, more: More = {}) => resolveDesired(desiredInputs(sketch, more))
const at = (line: number) => ({ file: 'acme.yaml', line, column: 5 })
const two = { groups: members({ a: ['ada'], b: ['ada'] }) }

const NO_BASE = 'declare that cap, or write cap: in place of add:'
const NO_RULE = 'spec.onGroupConflict is not set'
const ADDS: PolicySketch = { grants: [{ on: 'ada', add: 5, ...running }] }
const OVERLAPPING: PolicySketch['grants'] = [
  { on: 'ada', ...running },
  { on: 'ada', from: NOW - 5, until: NOW + 5 },
]
test.each<readonly [string, PolicySketch, More, string]>([
  [
    'a grant adds to nothing',
    ADDS,
    {},
    `ADD_WITHOUT_BASE 101 ada@example.com: a grant adds 5 credits, but no cap is declared for it to add to; ${NO_BASE}`,
  ],
  [
    'a grant adds to none',
    { ...ADDS, caps: { ada: 'none' } },
    {},
    `ADD_WITHOUT_BASE 101 ada@example.com: a grant adds 5 credits, but the cap to add to is none (acme.yaml:1:5); ${NO_BASE}`,
  ],
  [
    'a grant adds to what a group that was not read may set',
    { ...ADDS, caps: { 'group:a': 7, team: 5 } },
    {},
    `ADD_WITHOUT_BASE 101 ada@example.com: a grant adds 5 credits, but the members of group:a are not known, so neither is the cap to add to; ${NO_BASE}`,
  ],
  [
    'a grant adds to groups that differ',
    { ...ADDS, caps: { 'group:a': 7, 'group:b': 9 } },
    two,
    `ADD_WITHOUT_BASE 101 ada@example.com: a grant adds 5 credits, but the caps of group:a (7) and group:b (9) differ and ${NO_RULE}; ${NO_BASE}`,
  ],
  [
    'a grant adds too much',
    { ...ADDS, caps: { ada: 2_147_483_643 } },
    {},
    'CAP_TOO_LARGE 101 ada@example.com: a grant adds 5 credits to 2147483643, which makes 2147483648, above the largest cap 2147483647; add less',
  ],
  [
    'two grants are in force',
    { grants: OVERLAPPING },
    {},
    'GRANT_OVERLAP 102 ada@example.com: two grants are in force at once, acme.yaml:101:5 and acme.yaml:102:5; let one end before the other begins',
  ],
  [
    'groups differ',
    { caps: { 'group:a': 7, 'group:b': 'none' } },
    two,
    `GROUP_CONFLICT 1 ada@example.com is in groups with different caps: group:a (cap 7, acme.yaml:1:5) and group:b (cap none, acme.yaml:2:5); set spec.onGroupConflict to min or max, or declare a cap for this user`,
  ],
])('a scope is rejected where %s', (_name, sketch, more, expected) =>
  expect(resolve(sketch, more).rejected.map(({ code, at: place, message }) => `${code} ${place?.line} ${message}`)).toEqual([expected]),
)

describe('a scope is left alone', () => {
  const skipped = (sketch: PolicySketch, more: More) => resolve(sketch, more).skipped
  const away = { roster: roster({ ada: 'pending', bob: 'rejected' }) }
  const unknown = { unknownGroups: ['a', 'date'], nearest }
  test.each<readonly [string, PolicySketch, More, string]>([
    ['somebody is off the roster', { grants: [{ on: 'eve', ...running }] }, away, 'eve 101 eve@example.com is not on the roster'],
    [
      'a cap of ours stays on somebody who is away',
      {},
      { ...away, owned: ownedCaps({ bob: { cap: 5 } }) },
      'bob undefined bob@example.com is rejected, not approved',
    ],
    [
      'a group of ours that nobody declares is unknown',
      {},
      { ...unknown, owned: ownedCaps({ 'group:a': { cap: 5 } }) },
      'group:a undefined the service does not know group a',
    ],
    [
      'a grant makes no sense either for somebody who is away',
      { grants: [{ on: 'eve', add: 5, ...running }] },
      away,
      'eve 101 eve@example.com is not on the roster',
    ],
    [
      'a grant makes no sense either for a group that is unknown',
      { grants: [{ on: 'group:a', add: 5, ...running }] },
      unknown,
      'group:a 101 the service does not know group a by the name A',
    ],
    [
      'the service does not know a group whose name is nearly that of another',
      { caps: { 'group:data': 5, 'group:date': 6 } },
      unknown,
      'group:date 2 the service does not know group date by the name DATE; did you mean DATA?',
    ],
    ['but not a person in two groups who is away', { caps: { 'group:a': 5, 'group:b': 6 } }, { ...two, ...away }, ''],
  ])('%s', (_name, sketch, more, expected) => {
    const { skipped: left, rejected } = resolve(sketch, more)
    expect(left.map(({ scope: one, at: place, why }) => `${short(one)} ${place?.line} ${why}`).join()).toBe(expected)
    expect(rejected).toEqual([])
  })
  test('of many people off the roster only the first are compared with everybody', () => {
    const typed = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`bobb${String.fromCharCode(97 + index)}`, 5]))
    const all = skipped({ caps: typed }, { roster: roster({ bobbie: 'approved' }), nearest })
    expect(all).toHaveLength(30)
    expect(all.filter(({ why }) => why.includes('did you mean'))).toHaveLength(20)
  })
  test('a group is placed at its name, where the service does not know it', () => {
    const set = policy({ caps: { 'group:a': 5 } })
    const named = { ...set, groups: set.groups.map((group) => ({ ...group, nameAt: at(7) })) }
    expect(resolveDesired({ ...desiredInputs({}), set: named, unknownGroups: ['a'] }).skipped).toMatchObject([{ at: at(7) }])
  })
})

describe('a winner', () => {
  test.each<readonly [string, PolicySketch, number | string | undefined]>([
    ['the cap declared for the person', { caps: { ada: 500, team: 9 }, rules: [{ when: { email: '*' }, cap: 7 }] }, 500],
    ['that of a rule that matches', { caps: { team: 9 }, rules: [{ when: { email: '*' }, cap: 7 }] }, 7],
    ['that of the conflict rule', { caps: { 'group:a': 5, 'group:b': 6 }, onGroupConflict: 'max' }, 6],
    ['none where the person is declared to have none', { caps: { ada: 'none', team: 9 } }, 'none'],
    ['absent where only the group and the team have one', { caps: { 'group:a': 5, team: 9 } }, undefined],
  ])('of a grant has as its base %s', (_name, declared, base) => {
    const grants = [{ on: 'ada', cap: 800, ...running }]
    const found = resolve({ ...declared, grants }, { ...two, roster: roster({ ada: 'approved' }) })
    expect(found.desired.find(({ owner }) => owner === 'grant')?.base).toBe(base)
  })

  test('of a plain grant carries nothing that it does not have', () => {
    const [one] = resolve({ grants: [{ on: 'ada', cap: 6, until: 'cycleEnd', from: CYCLE.startAt }] }, {}).desired
    expect(Object.keys(JSON.parse(JSON.stringify(one?.origin))).sort()).toEqual([
      'at',
      'cap',
      'fromAt',
      'grant',
      'kind',
      'reason',
      'scope',
      'untilAt',
    ])
    expect(resolve({ grants: [{ on: 'ada', cap: 6, until: NOW + DAY }] }).desired[0]?.origin?.fromAt).toBeUndefined()
    expect(resolve({ ...ADDS, caps: { ada: 500 } }).desired[0]?.origin).toMatchObject({ cap: 505, add: 5 })
  })
  test('of the conflict rule says what it chose from, and where, the first of equal ones', () => {
    for (const [rule, cap, line] of [
      ['min', 7, 1],
      ['max', 9, 2],
    ] as const) {
      const { desired } = resolve(
        { caps: { 'group:a': 7, 'group:b': 9, 'group:c': 'none', 'group:d': cap }, onGroupConflict: rule },
        { groups: members({ a: ['ada'], b: ['ada'], c: ['ada'], d: ['ada'] }) },
      )
      expect(desired.at(-1)).toMatchObject({
        ...{ scope: scope('ada'), cap, owner: 'conflict', entry: entryOf('conflict', cap) },
        origin: { at: at(line), reason: `onGroupConflict: ${rule} of group:a (7) and group:b (9) and group:c (none) and group:d (${cap})` },
      })
    }
  })
  test('of a base that comes back tells the grant that ended last', () => {
    const over = (line: number, until: number) => ({
      on: 'ada',
      cap: 6000,
      from: until - 5,
      until,
      line,
      ticket: `T${line}`,
      reason: `r${line}`,
    })
    const { desired } = resolve(
      { grants: [over(5, NOW - 50), over(6, NOW - 20), { ...over(7, NOW + 90), from: NOW + 60 }] },
      { owned: ownedCaps({ ada: byGrant(300) }) },
    )
    expect(desired).toMatchObject([{ cap: 300, origin: { kind: 'restore', at: at(6), reason: 'r6', ticket: 'T6', untilAt: NOW - 20 } }])
    const gone = resolve({}, { owned: ownedCaps({ ada: byGrant(300) }) }).desired[0]?.origin
    expect(gone).toEqual({
      kind: 'restore',
      scope: scope('ada'),
      cap: 300,
      reason: 'the grant is no longer declared',
    })
  })
  test('that stays for another reading says for how many', () => {
    const inside = { groups: members({ a: ['ada'], b: [] }), owned: ownedCaps({ ada: { cap: 7, owner: 'conflict' } }) }
    const { desired, conflictsGone } = resolve({ caps: { 'group:a': 7, 'group:b': 9 }, onGroupConflict: 'min' }, inside)
    expect(desired.at(-1)).toMatchObject({
      cap: 7,
      owner: 'conflict',
      origin: { reason: 'no longer in groups with different caps; dropped after 2 agreeing readings, 1 so far' },
    })
    expect(conflictsGone).toEqual({ [email('ada')]: 1 })
  })
  test('that is kept while a group is not known carries the grant that it came from', () => {
    const owned = ownedCaps({ ada: { cap: 900, owner: 'copied', grant: { on: 'team', cap: 900, ...running } } })
    const kept = resolve(
      { caps: { 'group:a': 7, team: 5 } },
      {
        capSemantics: 'copied',
        roster: roster({ ada: 'approved' }),
        owned,
      },
    ).desired.at(-1)
    expect(kept?.origin).toMatchObject({
      kind: 'copied',
      cap: 900,
      reason: 'the members of group:a are not known; what was set stays until they are',
      grant: owned.get(email('ada') as never)?.grant,
    })
    const plain = resolve(
      { caps: { 'group:a': 7 } },
      { capSemantics: 'copied', roster: roster({ ada: 'approved' }), owned: ownedCaps({ ada: { cap: 9, owner: 'copied' } }) },
    )
    expect(plain.desired.at(-1)?.origin?.grant).toBeUndefined()
  })
  test('of a scope that is declared twice is the first place, whatever the order', () => {
    const set = policy({ caps: { ada: 5 } })
    const later = set.rules.map((rule) => ({ ...rule, cap: 'none' as const, at: at(9) }))
    for (const rules of [
      [...set.rules, ...later],
      [...later, ...set.rules],
    ]) {
      expect(resolvePerson(email('ada'), desiredInputs({}, { set: { ...set, rules } }))?.cap).toBe(5)
    }
  })
})
