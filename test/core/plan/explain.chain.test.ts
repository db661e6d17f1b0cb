import { describe, expect, test } from 'vitest'
import { explain } from '../../../src/core/plan/explain.ts'
import { DAY, desiredInputs, members, NOW, over, ownedCaps, type PolicySketch, roster, scope, withoutCycle } from '../../support/declare.ts'
import { explained, inDecember, lines, observed, untilDecember } from '../../support/explained.ts'

describe('the chain of a person', () => {
  const groups = members({ a: ['ada', 'eve'], b: ['eve'] })

  test.each<[string, string, PolicySketch, readonly string[]]>([
    ['names the rule that won', 'ada', { caps: { ada: 4000 } }, ['> cap ada 4000 at acme.yaml:1:5: the narrowest cap declared']],
    [
      'says that a group cap is narrower than the team’s',
      'ada',
      { caps: { team: 500, 'group:a': 1500 } },
      ['> cap group:a 1500 at acme.yaml:2:5: the narrowest cap declared', 'cap team 500 at acme.yaml:1:5: a group cap is narrower'],
    ],
    [
      'says what a grant to come adds to a group’s cap',
      'group:a',
      { caps: { team: 500, 'group:a': 1500 }, grants: [{ on: 'group:a', add: 800, ...inDecember }] },
      [
        '> cap group:a 1500 at acme.yaml:2:5: the narrowest cap declared',
        'cap team 500 at acme.yaml:1:5: a group cap is narrower',
        'grant (pending) group:a 2300 at acme.yaml:101:5: starts 2026-12-01 12:00 UTC',
      ],
    ],
    [
      'ends at a none when there is nothing else',
      'ada',
      { caps: { team: 'none' } },
      ['> cap team none at acme.yaml:1:5: no cap is declared here or wider'],
    ],
    [
      'says when a grant ended',
      'ada',
      { caps: { ada: 4000 }, grants: [{ on: 'ada', cap: 6000, ...over }] },
      [
        '> cap ada 4000 at acme.yaml:1:5: the narrowest cap declared',
        'grant (ended) ada 6000 at acme.yaml:101:5: ended 2026-11-19 12:00 UTC',
      ],
    ],
    [
      'says what a coming grant that adds will come to',
      'ada',
      { caps: { ada: 4000 }, grants: [{ on: 'ada', add: 800, ...inDecember }] },
      [
        '> cap ada 4000 at acme.yaml:1:5: the narrowest cap declared',
        'grant (pending) ada 4800 at acme.yaml:101:5: starts 2026-12-01 12:00 UTC',
      ],
    ],
    [
      'says that the cycle of a grant is over',
      'ada',
      { grants: [{ on: 'ada', cap: 6, from: NOW - 40 * DAY, until: 'cycleEnd' }] },
      ['grant (ended) ada 6 at acme.yaml:101:5: ended with its billing cycle'],
    ],
    [
      'says why a grant makes no sense',
      'ada',
      { grants: [{ on: 'ada', add: 6, ...untilDecember }] },
      [
        'grant (active) ada none at acme.yaml:101:5: ada@example.com: a grant adds 6 credits, but no cap is declared for it to add to; declare that cap, or write cap: in place of add:',
      ],
    ],
    [
      'names the groups that clash',
      'eve',
      { caps: { team: 1, 'group:a': 9, 'group:b': 8 } },
      [
        'cap group:a 9 at acme.yaml:2:5: the groups of this person differ and spec.onGroupConflict is not set',
        'cap group:b 8 at acme.yaml:3:5: the groups of this person differ and spec.onGroupConflict is not set',
        'cap team 1 at acme.yaml:1:5: a group cap is narrower',
      ],
    ],
    [
      'passes by a none of their own over groups that clash',
      'eve',
      { caps: { eve: 'none', 'group:a': 9, 'group:b': 8 } },
      [
        'cap eve none at acme.yaml:1:5: sets nothing here, so the next wider one applies',
        'cap group:a 9 at acme.yaml:2:5: the groups of this person differ and spec.onGroupConflict is not set',
        'cap group:b 8 at acme.yaml:3:5: the groups of this person differ and spec.onGroupConflict is not set',
      ],
    ],
    [
      'names the choice between groups before a none of their own',
      'eve',
      { caps: { eve: 'none', 'group:a': 9, 'group:b': 8 }, onGroupConflict: 'min' },
      [
        '> conflict eve 8 at acme.yaml:3:5: onGroupConflict: min of group:a (9) and group:b (8)',
        'cap eve none at acme.yaml:1:5: sets nothing here, so the next wider one applies',
        'cap group:a 9 at acme.yaml:2:5: spec.onGroupConflict decides between the groups',
        'cap group:b 8 at acme.yaml:3:5: spec.onGroupConflict decides between the groups',
      ],
    ],
    [
      'says that a cap of the person is narrower than the choice between groups',
      'eve',
      { caps: { eve: 7, 'group:a': 9, 'group:b': 8 }, onGroupConflict: 'min' },
      [
        '> cap eve 7 at acme.yaml:1:5: the narrowest cap declared',
        'conflict eve 8 at acme.yaml:3:5: a user cap is narrower',
        'cap group:a 9 at acme.yaml:2:5: a user cap is narrower',
        'cap group:b 8 at acme.yaml:3:5: a user cap is narrower',
      ],
    ],
    [
      'says that a grant of the person is narrower than the choice between groups',
      'eve',
      { caps: { 'group:a': 9, 'group:b': 8 }, onGroupConflict: 'min', grants: [{ on: 'eve', cap: 7, ...untilDecember }] },
      [
        '> grant (active) eve 7 at acme.yaml:101:5: a grant in force, ends 2026-12-16 00:00 UTC',
        'conflict eve 8 at acme.yaml:2:5: a user grant is narrower',
        'cap group:a 9 at acme.yaml:1:5: a user grant is narrower',
        'cap group:b 8 at acme.yaml:2:5: a user grant is narrower',
      ],
    ],
    [
      'sets a rule beneath its grant apart from a group that asks for the same',
      'eve',
      { caps: { 'group:a': 9, 'group:b': 8 }, grants: [{ on: 'group:b', cap: 9, ...untilDecember }] },
      [
        '> grant (active) group:b 9 at acme.yaml:101:5: a grant in force, ends 2026-12-16 00:00 UTC',
        'cap group:a 9 at acme.yaml:1:5: group:b asks for the same',
        'cap group:b 8 at acme.yaml:2:5: a grant on the same scope is in force',
      ],
    ],
    ['is empty where nothing is declared', 'ada', {}, []],
  ])('%s', (_, name, policy, expected) => expect(lines(explained(name, policy, { groups }))).toEqual(expected))

  test('says that the clocks disagree where that keeps a grant from starting', () => {
    const [, grant] = explained(
      'ada',
      { caps: { ada: 1 }, grants: [{ on: 'ada', cap: 6, ...untilDecember }] },
      { grantsFrozen: true },
    ).chain
    expect([grant?.state, grant?.why]).toEqual([
      'pending',
      "the service's clock and ours differ by more than 5 min: grants neither start nor end until they agree",
    ])
  })

  test('says that the cycle of a grant has not begun, though its start has passed', () => {
    const cycle = { startAt: NOW - 60 * DAY, endAt: NOW - 30 * DAY }
    const [grant] = explained('ada', { grants: [{ on: 'ada', from: NOW - DAY, until: 'cycleEnd' }] }, { cycle }).chain
    expect([grant?.state, grant?.why]).toEqual(['pending', 'its billing cycle has not begun'])
  })

  test('ends at the ancestor’s cap where a grant gives back nothing', () => {
    const owned = ownedCaps({ ada: { cap: 6000, owner: 'grant', baseline: 'none' } })
    const explanation = explained('ada', { caps: { team: 500 } }, { owned })
    expect([explanation.cap, explanation.desired?.cap, lines(explanation)]).toEqual([
      500,
      'none',
      ['> cap team 500 at acme.yaml:1:5: the narrowest cap declared'],
    ])
  })

  test.each(['ada', 'group:a'])('names no place for the base that a grant of %s gives back once it is out of the policy', (name) => {
    const owned = ownedCaps({ [name]: { cap: 6000, owner: 'grant', baseline: 300 } })
    const [line] = lines(explained(name, { caps: { team: 500 } }, { owned }))
    expect(line).toBe(`> restore ${name} 300 at no line: a grant has ended, and the cap from before it is restored`)
  })

  test('says that a none of the person sets nothing beside what a grant gives back', () => {
    const owned = ownedCaps({ eve: { cap: 6000, owner: 'grant', baseline: 300 } })
    const policy: PolicySketch = { caps: { eve: 'none', 'group:a': 9, 'group:b': 8 }, grants: [{ on: 'eve', cap: 6000, ...over }] }
    expect(lines(explained('eve', policy, { owned, groups })).slice(0, 2)).toEqual([
      '> restore eve 300 at acme.yaml:101:5: a grant has ended, and the cap from before it is restored',
      'cap eve none at acme.yaml:1:5: sets nothing here, so the next wider one applies',
    ])
  })

  test('names a conflict cap that waits for a second reading', () => {
    const owned = ownedCaps({ ada: { cap: 900, owner: 'conflict' } })
    const inputs = { owned, groups: [...groups, ...members({ b: [] })] }
    expect(lines(explained('ada', { caps: { 'group:a': 1500, 'group:b': 900 }, onGroupConflict: 'min' }, inputs))).toEqual([
      '> conflict ada 900 at acme.yaml:1:5: no longer in groups with different caps; dropped after 2 agreeing readings, 1 so far',
      'cap group:a 1500 at acme.yaml:1:5: a user cap is narrower',
    ])
  })

  test('names the declaration behind a copy', () => {
    const explanation = explained('ada', { caps: { team: 500 } }, { capSemantics: 'copied', roster: roster({ ada: 'approved' }) })
    expect([explanation.desired?.owner, ...lines(explanation)]).toEqual([
      'copied',
      '> cap team 500 at acme.yaml:1:5: the narrowest cap declared',
    ])
  })

  test('names a copy that stays while the members of a group are not known', () => {
    const more = {
      capSemantics: 'copied',
      roster: roster({ ada: 'approved' }),
      owned: ownedCaps({ ada: { cap: 77, owner: 'copied' } }),
    } as const
    expect(explained('ada', { caps: { team: 500, 'group:a': 9 } }, more)).toMatchObject({
      cap: 77,
      chain: [{ wins: true, candidate: { kind: 'copied' } }, {}],
    })
  })
})

describe('the chain of a group and of the team', () => {
  const policy: PolicySketch = {
    caps: { team: 500, 'group:a': 1500 },
    grants: [
      { on: 'group:a', cap: 9, ...inDecember },
      { on: 'team', cap: 8, ...untilDecember },
    ],
  }

  test('of the team is its own', () => {
    const explanation = explained('team', policy)
    expect(lines(explanation)).toEqual([
      '> grant (active) team 8 at acme.yaml:102:5: a grant in force, ends 2026-12-16 00:00 UTC',
      'cap team 500 at acme.yaml:1:5: a grant on the same scope is in force',
    ])
    expect(explanation).not.toHaveProperty('person')
  })

  test('are of no groups and no person', () => {
    const more = { groups: members({ a: ['ada'] }), readings: observed({ team: 500 }) }
    expect(['group:a', 'team'].map((name) => explained(name, policy, more).groups)).toEqual([[], []])
    expect(['group:a', 'team'].map((name) => explained(name, policy, more).inForce)).toEqual([undefined, undefined])
    expect(explained('group:a', policy, more).observed.map((one) => one.reading?.observed)).toEqual([undefined, 500])
    expect(explained('team', policy, more).observed).toHaveLength(1)
  })

  test('of a group whose own cap is none ends at the team', () => {
    expect(explained('group:a', { caps: { team: 5, 'group:a': 'none' } })).toMatchObject({ cap: 5, desired: { cap: 'none' } })
  })

  test('says so where a grant has no known end', () => {
    const grants = [{ on: 'team', cap: 8, from: NOW - DAY, until: 'cycleEnd' }] as const
    const owned = ownedCaps({ team: { cap: 8, owner: 'grant' } })
    const inputs = withoutCycle(desiredInputs({ grants }, { owned }))
    expect(explain({ ...inputs, readings: new Map(), history: [], holds: [] }, scope('team')).chain[0]?.why).toBe('a grant in force')
  })
})
