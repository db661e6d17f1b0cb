// What is asked of each scope: by rules, by grants and their end, by groups and the conflict rule, and by copies.
import { describe, expect, test } from 'vitest'
import { declaredIn, resolveDesired, resolvePerson } from '../../../src/core/resolve/desired.ts'
import {
  asked,
  byGrant,
  coming,
  decided,
  desiredInputs,
  HOUR,
  members,
  NOW,
  type OwnedSketch,
  over,
  ownedCaps,
  type PlainCap,
  type PolicySketch,
  roster,
  running,
  short,
  skips,
} from '../../support/declare.ts'

type More = NonNullable<Parameters<typeof decided>[1]>

const owned = (name: string, one: OwnedSketch): More => ({ owned: ownedCaps({ [name]: one }) })
const on = (name: string, cap: number) => ({ on: name, cap, ...running })
const adding = (name: string, more: PolicySketch = {}): PolicySketch => ({ ...more, grants: [{ on: name, add: 800, ...running }] })
const inside = (name: string, ...ids: readonly string[]): More => ({ groups: members(Object.fromEntries(ids.map((id) => [id, [name]]))) })
const TEAM_A = { team: 500, 'group:a': 1500 }
const A_B = { 'group:a': 1500, 'group:b': 900 }
const NONE_9 = { 'group:a': 'none', 'group:b': 9 } as const
const MEMBER: PolicySketch['rules'] = [{ when: { role: 'member' }, cap: 5 }]
const approved = (name: string): More => ({ roster: roster({ [name]: 'approved' }) })

test.each<readonly [string, PolicySketch, More, string]>([
  ['nothing is asked where nothing is declared', {}, {}, ''],
  ['a running grant goes before its rule', { caps: { ada: 4000 }, grants: [on('ada', 6000)] }, {}, 'ada grant 6000'],

  ['an addition comes on top of the group’s rule', adding('bob', { caps: TEAM_A }), inside('bob', 'a'), 'bob grant 2300'],
  ['it passes by a group that sets none', adding('bob', { caps: { team: 500, 'group:a': 'none' } }), inside('bob', 'a'), 'bob grant 1300'],
  [
    'it ignores a group that only a grant declares',
    { caps: { team: 500 }, grants: [{ on: 'bob', add: 800, ...running }, on('group:a', 9000)] },
    inside('bob', 'a'),
    'group:a grant 9000, bob grant 1300',
  ],
  ['it is on the lower group under min', adding('bob', { caps: A_B, onGroupConflict: 'min' }), inside('bob', 'a', 'b'), 'bob grant 1700'],
  ['it is on the higher group under max', adding('bob', { caps: A_B, onGroupConflict: 'max' }), inside('bob', 'a', 'b'), 'bob grant 2300'],
  ['it is rejected where nothing is declared', adding('bob'), {}, 'bob ADD_WITHOUT_BASE'],
  ['and while a declared group was never read', adding('bob', { caps: TEAM_A }), {}, 'bob ADD_WITHOUT_BASE'],
  ['it needs no group readings on top of an own rule', adding('bob', { caps: { 'group:a': 15, bob: 2000 } }), {}, 'bob grant 2800'],
  ['on a group without a rule it is on the team’s', adding('group:a', { caps: { team: 500 } }), {}, 'group:a grant 1300'],
  ['on the team it is rejected without a rule', adding('team'), {}, 'team ADD_WITHOUT_BASE'],
  ['it may reach the largest cap', adding('team', { caps: { team: 2_147_482_847 } }), {}, 'team grant 2147483647'],
  ['it may not pass the largest cap', adding('team', { caps: { team: 2_147_482_848 } }), {}, 'team CAP_TOO_LARGE'],
  ['it does not count while it does not run', { grants: [{ on: 'bob', add: 800, ...coming }] }, {}, ''],

  ['different groups give the lower under min', { caps: A_B, onGroupConflict: 'min' }, inside('eve', 'a', 'b'), 'eve conflict 900'],
  ['and the higher under max', { caps: A_B, onGroupConflict: 'max' }, inside('eve', 'a', 'b'), 'eve conflict 1500'],
  ['they are rejected without a conflict rule', { caps: A_B }, inside('eve', 'a', 'b'), 'eve GROUP_CONFLICT'],
  ['none twice is no conflict', { caps: { 'group:a': 'none', 'group:b': 'none' } }, inside('eve', 'a', 'b'), ''],
  ['it gives the number under min', { caps: NONE_9, onGroupConflict: 'min' }, inside('eve', 'a', 'b'), 'eve conflict 9'],
  ['a rule of their own is no conflict', { caps: { ...A_B, eve: 7 } }, inside('eve', 'a', 'b'), ''],
  [
    'a none of their own is one also where it is not known whether a rule matches',
    { caps: { ...A_B, eve: 'none' }, rules: MEMBER },
    { ...inside('eve', 'a', 'b'), ...approved('eve') },
    'eve GROUP_CONFLICT',
  ],
  [
    'nobody is rejected while it is not known whether a rule decides for them',
    { caps: A_B, rules: MEMBER },
    { ...inside('eve', 'a', 'b'), ...approved('eve') },
    '',
  ],
])('%s', (_name, policy, more, expected) => expect(decided(policy, more)).toBe(expected))

describe('the end of a grant on a scope without a rule', () => {
  const ENDED: PolicySketch = { grants: [{ on: 'bob', cap: 6000, ...over }] }
  const BASE = owned('bob', byGrant(300))
  const OURS = owned('bob', { ...byGrant(300), more: { baselineIsOurs: true } })
  const copied: More = { ...BASE, capSemantics: 'copied', ...approved('bob') }
  test.each<readonly [string, PolicySketch, More, string]>([
    ['restores the cap from before it', ENDED, BASE, 'bob restore 300'],
    ['restores it even when the grant is gone from the policy', {}, BASE, 'bob restore 300'],
    ['gives it back to a group', {}, owned('group:a', byGrant(300)), 'group:a restore 300'],
    ['gives back nothing that was ours and that policy declares no more, where such caps are pruned', ENDED, OURS, 'bob restore none'],
    [
      'gives back also what was ours while nobody knows whether a rule asks for it',
      { ...ENDED, rules: [{ when: { role: 'member' }, cap: 300 }] },
      { ...OURS, ...approved('bob') },
      'bob restore 300',
    ],
    ['gives it back where no number is copied to the person', { ...ENDED, caps: { team: 'none' } }, copied, 'bob restore 300'],
  ])('%s', (_name, policy, more, expected) => expect(decided(policy, more)).toBe(expected))

  test('keeps nothing for a person with a none of their own whose groups differ, though they are rejected', () => {
    const inputs = desiredInputs({ caps: { ...A_B, eve: 'none' } }, { ...inside('eve', 'a', 'b'), ...owned('eve', byGrant('none')) })
    const { rejected, desired } = resolveDesired(inputs)
    expect([rejected.map(({ code }) => code), desired.at(-1)?.origin.kind]).toEqual([['GROUP_CONFLICT'], 'restore'])
  })

  test('points at the grant also where it was moved into the future', () => {
    const [bob] = resolveDesired(desiredInputs({ grants: [{ on: 'bob', ...coming }] }, BASE)).desired
    expect(bob?.origin).toMatchObject({ at: { line: 101 }, reason: 'release week', untilAt: coming.until })
  })
})

describe('where the service copies shared caps to people', () => {
  const everybody = roster({ ada: 'approved', bob: 'approved', cyd: 'disabled', dan: 'pending' })
  const ofAda = owned('ada', { cap: 500, owner: 'copied' })
  const ofBob = owned('bob', { cap: 77, owner: 'copied' })
  const unlisted = { groups: [] }
  test.each<readonly [string, PolicySketch, More, string]>([
    ['everybody approved keeps the cap that applies to them', { caps: TEAM_A }, {}, 'ada copied 500, bob copied 1500, cyd copied 500'],
    ['a none of their own with nothing wider stays none', { caps: { bob: 'none' } }, {}, ''],
    ['nobody gets anything where nothing applies', { caps: { 'group:a': 1500 } }, {}, 'bob copied 1500'],
    ['none is written to those who have a cap of ours', { caps: { team: 'none' } }, ofAda, 'ada copied none'],
    ['a cap of ours that nothing declares is left to pruning', {}, ofAda, ''],
    ['what was copied stays meanwhile', { caps: TEAM_A }, { ...unlisted, ...ofBob }, 'bob copied 77'],
    ['a base still comes back meanwhile', { caps: TEAM_A }, { ...unlisted, ...owned('bob', byGrant(300)) }, 'bob restore 300'],
    [
      'so does what a grant gave where nothing stood there before it',
      { caps: TEAM_A },
      { ...unlisted, ...owned('bob', byGrant('none')) },
      'bob copied 6000',
    ],
    [
      'a conflict without a rule is rejected also while the members of another group are not known',
      { caps: { ...A_B, 'group:c': 7 } },
      { ...inside('bob', 'a', 'b'), ...ofBob },
      'bob GROUP_CONFLICT',
    ],
    [
      'what was copied stays while the roster is unknown',
      { caps: TEAM_A },
      { roster: undefined as never, ...owned('bob', { cap: 1500, owner: 'copied' }) },
      'bob copied 1500',
    ],
  ])('%s', (_name, policy, more, expected) =>
    expect(decided(policy, { capSemantics: 'copied', roster: everybody, ...inside('bob', 'a'), ...more })).toBe(expected),
  )
})

describe('a cap of the conflict rule whose conflict is gone', () => {
  const policy: PolicySketch = { caps: A_B, onGroupConflict: 'min' }
  const EVE = 'eve@example.com'
  const OURS = owned('eve', { cap: 900, owner: 'conflict' })
  const left = members({ a: ['eve'], b: [], c: [] })
  const gone = (more: More, sketch = policy) => resolveDesired(desiredInputs(sketch, { ...OURS, groups: left, ...more }))

  test.each<readonly [string, More, string | undefined, Record<string, number>]>([
    ['is not counted down while one of the groups was not read', inside('eve', 'a'), 'conflict 900', {}],
    ['stays gone without another reading', { conflictsGone: { [EVE]: 2 }, newReading: undefined }, undefined, { [EVE]: 2 }],
    [
      'is forgotten of who is away with a cap that does not come from the conflict rule',
      { ...owned('eve', { cap: 900 }), roster: roster({ eve: 'pending' }), conflictsGone: { [EVE]: 1 } },
      undefined,
      {},
    ],
    [
      'waits with its count while the person is away',
      { roster: roster({ eve: 'pending' }), conflictsGone: { [EVE]: 1 } },
      undefined,
      { [EVE]: 1 },
    ],
    [
      'gives way to a copy in the end',
      { capSemantics: 'copied', ...approved('eve'), conflictsGone: { [EVE]: 1 } },
      'copied 1500',
      { [EVE]: 2 },
    ],
  ])('%s', (_name, more, expected, conflictsGone) => {
    const resolution = gone(more)
    expect([asked(resolution)['eve'], resolution.conflictsGone]).toEqual([expected, conflictsGone])
  })

  const inBoth = { conflictGroups: { [EVE]: ['a', 'b'] } }
  test.each<readonly [string, PolicySketch, More, string | undefined]>([
    ['goes at once when one of them is not declared any more', { caps: { 'group:a': 1500, 'group:c': 900 } }, inBoth, undefined],
    ['stays for a reading while they differ', { caps: A_B }, inBoth, 'conflict 900'],
    ['follows what they are to have', { caps: { 'group:a': 1500, 'group:b': 800 } }, inBoth, 'conflict 800'],
    ['stays as it is while their groups are not known', { caps: { 'group:a': 1500, 'group:b': 800 } }, {}, 'conflict 900'],
    ['goes at once when no groups differ', { caps: { 'group:a': 1500 } }, {}, undefined],
  ])('%s', (_name, sketch, more, expected) => {
    const resolution = gone(more, { ...policy, ...sketch })
    expect(asked(resolution)['eve']).toBe(expected)
    expect(resolution.conflictGroups).toStrictEqual(more.conflictGroups ?? {})
  })

  test.each(['approved', 'pending'] as const)('remembers the groups that differ, for a person who is %s then', (status) => {
    const { conflictGroups } = gone({ ...inside('eve', 'a', 'b'), ...approved('eve') })
    expect(conflictGroups).toEqual({ [EVE]: ['a', 'b'] })
    const later = gone({ groups: members({ a: [], b: [] }), conflictGroups, roster: roster({ eve: status }) })
    expect(later.conflictGroups).toEqual(conflictGroups)
  })

  test('stays for a reading as it is when the conflict rule was removed as well', () =>
    expect(decided({ caps: A_B }, { ...OURS, groups: left, ...inBoth })).toBe('eve conflict 900'))
})

describe('a scope is skipped', () => {
  const declared: PolicySketch = { caps: { team: 500, 'group:a': 1500, ada: 4000 }, grants: [on('bob', 6)] }
  test.each<readonly [string, More, Record<string, string>]>([
    ['for nobody who is approved, also where they are disabled', { roster: roster({ ada: 'approved', bob: 'disabled' }) }, {}],
    [
      'when it is ours and its group unknown, so that it is no orphan',
      { unknownGroups: ['x'], ...owned('group:x', { cap: 1 }) },
      { 'group:x': 'the service does not know group x' },
    ],
  ])('%s', (_name, more, expected) => {
    const resolution = resolveDesired(desiredInputs(declared, more))
    expect([skips(resolution), Object.keys(asked(resolution))]).toEqual([expected, ['team', 'group:a', 'ada', 'bob']])
  })
})

describe('the cap of a person', () => {
  const caps = { team: 500, 'group:a': 1500, 'group:b': 900, ada: 4000, eve: 'none' as const }
  const groups = members({ a: ['ada', 'bob', 'eve'], b: ['bob'] })
  const person = (name: string, policy: PolicySketch): (PlainCap | string)[] | undefined => {
    const found = resolvePerson(`${name}@example.com`, desiredInputs(policy, { groups }))
    return found && [found.cap, ...found.chain.map((one) => `${one.kind} ${short(one.scope)} ${one.cap}`)]
  }
  test.each<readonly [string, string, PolicySketch, (string | number)[] | undefined]>([
    ['is their own rule', 'ada', { caps }, [4000, 'cap ada 4000', 'cap group:a 1500', 'cap team 500']],
    ['is the next inherited one under a none', 'eve', { caps }, [1500, 'cap group:a 1500', 'cap eve none', 'cap team 500']],
    [
      'is the group’s grant before its rule',
      'eve',
      { caps, grants: [on('group:a', 6)] },
      [6, 'grant group:a 6', 'cap eve none', 'cap group:a 1500', 'cap team 500'],
    ],
    [
      'is chosen by the conflict rule',
      'bob',
      { caps, onGroupConflict: 'max' },
      [1500, 'conflict bob 1500', 'cap group:a 1500', 'cap group:b 900', 'cap team 500'],
    ],
    ['is undecided where groups clash', 'bob', { caps }, undefined],
    ['is undecided where groups clash and their own cap is none', 'bob', { caps: { ...caps, bob: 'none' } }, undefined],
    ['is none by the last none', 'eve', { caps: { team: 'none', eve: 'none' } }, ['none', 'cap team none', 'cap eve none']],
    ['is undefined where nothing is declared', 'zoe', { caps: { ada: 1 } }, undefined],
    ['is found whatever the spelling of the e-mail', ' Ada', { caps: { ada: 4000 } }, [4000, 'cap ada 4000']],
  ])('%s', (_name, name, policy, expected) => expect(person(name, policy)).toEqual(expected))
})

test('a resolution is in the canonical order, and of a group or the team names what its cap beat, once', () => {
  const { desired } = resolveDesired(
    desiredInputs({ caps: { zoe: 1, ada: 2, 'group:z': 3, 'group:a': 4, team: 5 }, grants: [on('team', 9)] }),
  )
  expect(desired.map(({ scope, losers }) => [short(scope), losers.map(({ cap }) => cap)])).toEqual([
    ...[
      ['team', [5]],
      ['group:a', [9, 5]],
      ['group:z', [9, 5]],
      ['ada', [9, 5]],
      ['zoe', [9, 5]],
    ],
  ])
})

test('the grants of a resolution are all reported with their state', () => {
  const grants = [
    { on: 'ada', ...over },
    { on: 'bob', ...running },
    { on: 'cyd', until: NOW + HOUR },
    { on: 'team', ...coming },
  ]
  const { grants: reported } = resolveDesired(desiredInputs({ grants }, { roster: roster({}) }))
  const told = reported.map((one) => `${short(one.grant.scope)} ${one.state}`)
  expect(told).toEqual(['team pending', 'ada ended', 'bob active', 'cyd expiring'])
})

test('what is declared is found once for the same inputs, however many people are asked about', () => {
  const inputs = desiredInputs({ caps: { ada: 5 } })
  expect(declaredIn(inputs)).toBe(declaredIn(inputs))
  expect(declaredIn({ ...inputs })).not.toBe(declaredIn(inputs))
})
