import { describe, expect, test } from 'vitest'
import type { HistoryEntry, Hold, Plan } from '../../src/core/change.ts'
import { type ExplainInputs, type Explanation, explain, formatInstant } from '../../src/core/explain.ts'
import type { CapReading, Observed, Roster } from '../../src/core/observed.ts'
import { formatPosition } from '../../src/core/problem.ts'
import { scopeKey } from '../../src/core/scope.ts'
import { credits } from '../../src/core/units.ts'
import { DAY, desiredInputs, members, NOW, ownedCaps, type PolicySketch, roster, scope, withoutCycle } from '../support/declare.ts'

const running = { from: NOW - DAY, until: Date.UTC(2026, 11, 16) }
const over = { from: NOW - 3 * DAY, until: NOW - DAY }
const coming = { from: NOW + 11 * DAY, until: NOW + 13 * DAY }

const observed = (caps: Readonly<Record<string, Observed | number>>): ReadonlyMap<string & CapReadingKey, CapReading> =>
  new Map(
    Object.entries(caps).map(([name, value]) => {
      const reading: CapReading = { scope: scope(name), observed: typeof value === 'number' ? credits(value) : value, readAt: NOW }
      return [scopeKey(reading.scope), reading]
    }),
  )
type CapReadingKey = ReturnType<typeof scopeKey>

function explained(name: string, policy: PolicySketch, more: Partial<ExplainInputs> = {}): Explanation {
  return explain({ ...desiredInputs(policy, more), readings: new Map(), history: [], holds: [], ...more }, scope(name))
}

/** One line a candidate: `> ` before the winner, the cap, the place, why. */
const lines = ({ chain }: Explanation): string[] =>
  chain.map(({ candidate, wins, why, state }) => {
    const what = `${candidate.kind}${state ? ` (${state})` : ''} ${scopeKey(candidate.scope).replace('@example.com', '')} ${candidate.cap}`
    return `${wins ? '> ' : ''}${what} at ${formatPosition(candidate.at)}: ${why}`
  })

describe('the chain of a person', () => {
  const caps = { team: 500, 'group:a': 1500, ada: 4000 }
  const groups = members({ a: ['ada', 'eve'], b: ['eve'] })

  test('with a grant, an override and a group tells all three and which one won', () => {
    const explanation = explained('ada', { caps, grants: [{ on: 'ada', cap: 6000, ...running }] }, { groups })
    expect(lines(explanation)).toEqual([
      '> grant (active) ada 6000 at acme.yaml:101:5: a grant in force, ends 2026-12-16 00:00 UTC',
      'rule ada 4000 at acme.yaml:3:5: a grant on the same scope is in force',
      'rule group:a 1500 at acme.yaml:2:5: a user grant is narrower',
      'rule team 500 at acme.yaml:1:5: a user grant is narrower',
    ])
    expect([explanation.cap, explanation.desired?.cap, explanation.groups]).toEqual([6000, 6000, [{ id: 'a', name: 'A' }]])
  })

  test.each<[string, string, PolicySketch, readonly string[]]>([
    ['names the rule that won', 'ada', { caps: { ada: 4000 } }, ['> rule ada 4000 at acme.yaml:1:5: the narrowest cap declared']],
    [
      'says that a user cap is narrower than the team’s',
      'ada',
      { caps: { team: 500, ada: 4000 } },
      ['> rule ada 4000 at acme.yaml:2:5: the narrowest cap declared', 'rule team 500 at acme.yaml:1:5: a user cap is narrower'],
    ],
    [
      'says that a group cap is narrower than the team’s',
      'ada',
      { caps: { team: 500, 'group:a': 1500 } },
      ['> rule group:a 1500 at acme.yaml:2:5: the narrowest cap declared', 'rule team 500 at acme.yaml:1:5: a group cap is narrower'],
    ],
    [
      'passes by a none',
      'ada',
      { caps: { team: 500, ada: 'none' } },
      [
        '> rule team 500 at acme.yaml:1:5: the narrowest cap declared',
        'rule ada none at acme.yaml:2:5: sets nothing here, so the next wider one applies',
      ],
    ],
    [
      'ends at a none when there is nothing else',
      'ada',
      { caps: { team: 'none' } },
      ['> rule team none at acme.yaml:1:5: no cap is declared here or wider'],
    ],
    [
      'says when a grant ended',
      'ada',
      { caps: { ada: 4000 }, grants: [{ on: 'ada', cap: 6000, ...over }] },
      [
        '> rule ada 4000 at acme.yaml:1:5: the narrowest cap declared',
        'grant (ended) ada 6000 at acme.yaml:101:5: ended 2026-11-19 12:00 UTC',
      ],
    ],
    [
      'says when a grant starts',
      'ada',
      { caps: { ada: 4000 }, grants: [{ on: 'ada', cap: 6000, ...coming }] },
      [
        '> rule ada 4000 at acme.yaml:1:5: the narrowest cap declared',
        'grant (pending) ada 6000 at acme.yaml:101:5: starts 2026-12-01 12:00 UTC',
      ],
    ],
    [
      'says what a coming grant that adds will come to',
      'ada',
      { caps: { ada: 4000 }, grants: [{ on: 'ada', add: 800, ...coming }] },
      [
        '> rule ada 4000 at acme.yaml:1:5: the narrowest cap declared',
        'grant (pending) ada 4800 at acme.yaml:101:5: starts 2026-12-01 12:00 UTC',
      ],
    ],
    [
      'includes grants of groups and team that do not run',
      'ada',
      {
        caps: { 'group:a': 9 },
        grants: [
          { on: 'team', cap: 1, ...over },
          { on: 'group:a', cap: 2, ...coming },
        ],
      },
      [
        '> rule group:a 9 at acme.yaml:1:5: the narrowest cap declared',
        'grant (pending) group:a 2 at acme.yaml:102:5: starts 2026-12-01 12:00 UTC',
        'grant (ended) team 1 at acme.yaml:101:5: ended 2026-11-19 12:00 UTC',
      ],
    ],
    [
      'leaves out groups of others',
      'dan',
      { caps: { team: 1, 'group:a': 9 } },
      ['> rule team 1 at acme.yaml:1:5: the narrowest cap declared'],
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
      { grants: [{ on: 'ada', add: 6, ...running }] },
      [
        'grant (active) ada none at acme.yaml:101:5: ada@example.com: a grant adds 6 credits, but no cap is declared for it to add to; declare that cap, or write cap: in place of add:',
      ],
    ],
    [
      'names the groups that clash',
      'eve',
      { caps: { team: 1, 'group:a': 9, 'group:b': 8 } },
      [
        'rule group:a 9 at acme.yaml:2:5: the groups of this person differ and spec.onGroupConflict is not set',
        'rule group:b 8 at acme.yaml:3:5: the groups of this person differ and spec.onGroupConflict is not set',
        'rule team 1 at acme.yaml:1:5: a group cap is narrower',
      ],
    ],
    [
      'passes by a none of their own over groups that clash',
      'eve',
      { caps: { eve: 'none', 'group:a': 9, 'group:b': 8 } },
      [
        'rule eve none at acme.yaml:1:5: sets nothing here, so the next wider one applies',
        'rule group:a 9 at acme.yaml:2:5: the groups of this person differ and spec.onGroupConflict is not set',
        'rule group:b 8 at acme.yaml:3:5: the groups of this person differ and spec.onGroupConflict is not set',
      ],
    ],
    [
      'names the choice between groups',
      'eve',
      { caps: { 'group:a': 9, 'group:b': 8 }, onGroupConflict: 'min' },
      [
        '> conflict eve 8 at acme.yaml:2:5: onGroupConflict: min of group:a (9) and group:b (8)',
        'rule group:a 9 at acme.yaml:1:5: spec.onGroupConflict decides between the groups',
        'rule group:b 8 at acme.yaml:2:5: spec.onGroupConflict decides between the groups',
      ],
    ],
    [
      'names groups that ask for the same',
      'eve',
      { caps: { 'group:a': 9, 'group:b': 9 } },
      ['> rule group:a 9 at acme.yaml:1:5: the narrowest cap declared', 'rule group:b 9 at acme.yaml:2:5: group:a asks for the same'],
    ],
    [
      'sets a rule beneath its grant apart from a group that asks for the same',
      'eve',
      { caps: { 'group:a': 9, 'group:b': 8 }, grants: [{ on: 'group:b', cap: 9, ...running }] },
      [
        '> grant (active) group:b 9 at acme.yaml:101:5: a grant in force, ends 2026-12-16 00:00 UTC',
        'rule group:a 9 at acme.yaml:1:5: group:b asks for the same',
        'rule group:b 8 at acme.yaml:2:5: a grant on the same scope is in force',
      ],
    ],
    ['is empty where nothing is declared', 'ada', {}, []],
  ])('%s', (_, name, policy, expected) => expect(lines(explained(name, policy, { groups }))).toEqual(expected))

  test('says that the clocks disagree where that keeps a grant from starting', () => {
    const [, grant] = explained('ada', { caps: { ada: 1 }, grants: [{ on: 'ada', cap: 6, ...running }] }, { grantsFrozen: true }).chain
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

  test('names the base that a grant gives back', () => {
    const owned = ownedCaps({ ada: { cap: 6000, owner: 'grant', baseline: 300 } })
    const explanation = explained('ada', { caps: { team: 500 }, grants: [{ on: 'ada', cap: 6000, ...over }] }, { owned })
    expect(explanation.cap).toBe(300)
    expect(lines(explanation)).toEqual([
      '> restore ada 300 at acme.yaml:101:5: a grant is over, and what stood here before it comes back',
      'rule team 500 at acme.yaml:1:5: a user cap is narrower',
      'grant (ended) ada 6000 at acme.yaml:101:5: ended 2026-11-19 12:00 UTC',
    ])
  })

  test('ends at the wider cap where a grant gives back nothing', () => {
    const owned = ownedCaps({ ada: { cap: 6000, owner: 'grant', baseline: 'none' } })
    const explanation = explained('ada', { caps: { team: 500 } }, { owned })
    expect([explanation.cap, explanation.desired?.cap, lines(explanation)]).toEqual([
      500,
      'none',
      ['> rule team 500 at acme.yaml:1:5: the narrowest cap declared'],
    ])
  })

  test('names a conflict cap that waits for a second reading', () => {
    const owned = ownedCaps({ ada: { cap: 900, owner: 'conflict' } })
    expect(lines(explained('ada', { caps: { 'group:a': 1500 }, onGroupConflict: 'min' }, { owned, groups }))).toEqual([
      '> conflict ada 900 at acme.yaml:1:5: no longer in groups with different caps; goes after 2 agreeing readings, 1 so far',
      'rule group:a 1500 at acme.yaml:1:5: a user cap is narrower',
    ])
  })

  test('names the declaration behind a copy', () => {
    const explanation = explained('ada', { caps: { team: 500 } }, { capSemantics: 'copied', roster: roster({ ada: 'approved' }) })
    expect([explanation.desired?.owner, ...lines(explanation)]).toEqual([
      'copied',
      '> rule team 500 at acme.yaml:1:5: the narrowest cap declared',
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
      { on: 'group:a', cap: 9, ...coming },
      { on: 'team', cap: 8, ...running },
    ],
  }

  test('of a group goes on to the team', () => {
    expect(lines(explained('group:a', policy))).toEqual([
      '> rule group:a 1500 at acme.yaml:2:5: the narrowest cap declared',
      'grant (active) team 8 at acme.yaml:102:5: a group cap is narrower',
      'rule team 500 at acme.yaml:1:5: a group cap is narrower',
      'grant (pending) group:a 9 at acme.yaml:101:5: starts 2026-12-01 12:00 UTC',
    ])
  })

  test('of the team is its own', () => {
    const explanation = explained('team', policy)
    expect(lines(explanation)).toEqual([
      '> grant (active) team 8 at acme.yaml:102:5: a grant in force, ends 2026-12-16 00:00 UTC',
      'rule team 500 at acme.yaml:1:5: a grant on the same scope is in force',
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

describe('what is known of a person', () => {
  const people: Roster = { ...roster({ ada: 'approved', bob: 'pending', cyd: 'disabled' }) }
  const used = (amount: number): Roster => ({ ...people, people: people.people.map((one) => ({ ...one, used: credits(amount) })) })
  const balance = { creditsPerSeat: credits(500), seats: 3, addOnAvailable: credits(0), addOnUsed: credits(0), readAt: NOW }
  const groups = members({ a: ['ada'] })
  const policy: PolicySketch = { caps: { team: 500, 'group:a': 1500 } }

  test.each<[string, string, Partial<ExplainInputs>, Explanation['person']]>([
    ['that they are approved', 'ada', { roster: people }, { status: 'approved', disabled: false }],
    ['that they are pending', 'bob', { roster: people }, { status: 'pending', disabled: false }],
    ['that they are disabled', 'cyd', { roster: people }, { status: 'approved', disabled: true }],
    ['that they are off the roster', 'dan', { roster: people }, { status: 'off-roster', disabled: false }],
    [
      'that they count as approved where nobody has a status',
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

  test.each<[string, Partial<ExplainInputs>, Partial<Explanation>]>([
    [
      'the cap in force and the room left beneath it',
      { roster: used(700), balance, readings: observed({ 'group:a': 1500 }) },
      {
        inForce: { cap: credits(1500), from: scopeKey(scope('group:a')) },
        use: { used: credits(200), isUpperBound: false, headRoom: credits(1300) },
      },
    ],
    [
      'use as an upper bound without a balance',
      { roster: used(700), readings: observed({ team: 500 }) },
      {
        inForce: { cap: credits(500), from: scopeKey(scope('team')) },
        use: { used: credits(700), isUpperBound: true, headRoom: credits(-200) },
      },
    ],
    [
      'no room without a cap',
      { roster: used(700), balance },
      { inForce: { cap: 'none' }, use: { used: credits(200), isUpperBound: false } },
    ],
    [
      'no room where a reading failed',
      { roster: used(700), balance, readings: observed({ ada: 'unknown' }) },
      { inForce: { cap: 'unknown', from: scopeKey(scope('ada')) }, use: { used: credits(200), isUpperBound: false } },
    ],
  ])('is %s', (_, more, expected) => expect(explained('ada', policy, { groups, ...more })).toMatchObject(expected))

  test('is a list of the groups that are declared, known, and theirs', () => {
    const list = { groups: members({ a: ['ada'], b: ['ada'], c: ['eve'], d: ['ada'] }), unknownGroups: ['b'] }
    const { groups: theirs } = explained('ada', { caps: { 'group:a': 1, 'group:b': 2, 'group:c': 3 } }, list)
    expect(theirs).toEqual([{ id: 'a', name: 'A' }])
  })

  test('is no use where the service says none', () => {
    expect(explained('ada', policy, { roster: people, balance })).not.toHaveProperty('use')
  })
})

describe('what became of a scope', () => {
  const entry = (name: string, at: number): HistoryEntry => ({
    at,
    scope: scope(name),
    action: 'set',
    effect: 'raise',
    from: credits(1),
    to: credits(2),
    cause: 'policy',
    result: 'applied',
    planId: '0123456789abcdef',
    digest: '0123456789ab',
    revision: '',
  })
  const hold = (name: string): Hold => ({
    id: '7d1f0c2a9b34',
    guards: ['maxLowered'],
    people: 1,
    changes: [{ scope: scope(name), from: credits(2), to: credits(1) }],
    message: 'too many',
  })
  const plan: Plan = {
    apiVersion: 'capkeeper/v1',
    kind: 'Plan',
    id: '0123456789abcdef',
    workspace: 'acme',
    createdAt: NOW,
    policyDigest: '',
    revision: '',
    counts: { set: 0, raise: 0, lower: 1, block: 0, clear: 0, held: 0, inSync: 0, unknown: 0, skipped: 0, rejected: 0 },
    changes: [
      {
        scope: scope('ada'),
        action: 'set',
        effect: 'lower',
        from: credits(2),
        to: credits(1),
        cause: 'policy',
        people: 1,
        healing: false,
        grantEnd: false,
      },
    ],
    holds: [hold('bob')],
    unknown: [],
    problems: [
      { severity: 'warning', code: 'SOME', message: 'about all' },
      { severity: 'error', code: 'OTHER', message: 'about ada', scope: scope('ada') },
    ],
  }
  const policy: PolicySketch = { caps: { ada: 1, bob: 2 } }

  test('is the last write of just this scope', () => {
    const history = [entry('bob', 9), entry('ada', 8), entry('ada', 7)]
    expect(explained('ada', policy, { history }).lastWrite?.at).toBe(8)
    expect(explained('dan', policy, { history })).not.toHaveProperty('lastWrite')
  })

  test('is the change and the problems of the plan', () => {
    const { change, problems } = explained('ada', policy, { plan })
    expect([change?.effect, problems.map((one) => one.code)]).toEqual(['lower', ['OTHER']])
    expect(explained('bob', policy, { plan })).toMatchObject({ problems: [] })
    expect(explained('bob', policy)).toMatchObject({ problems: [] })
  })

  test('is the hold that keeps it back, of the plan or by itself', () => {
    expect(explained('bob', policy, { plan }).hold?.id).toBe('7d1f0c2a9b34')
    expect(explained('ada', policy, { holds: [hold('ada')] }).hold?.message).toBe('too many')
    expect(explained('ada', policy, { plan })).not.toHaveProperty('hold')
  })

  test('is its rejection, with the reason', () => {
    const { rejected } = explained('ada', { grants: [{ on: 'ada', add: 1, ...running }] })
    expect(rejected?.code).toBe('ADD_WITHOUT_BASE')
  })

  test('is that it is skipped, with the reason', () => {
    expect(explained('ada', policy, { roster: roster({ ada: 'pending' }) }).skipped?.why).toBe('ada@example.com is pending, not approved')
  })

  test('is what the ledger remembers of it', () => {
    expect(explained('ada', policy, { owned: ownedCaps({ ada: { cap: 1 } }) }).owned?.entry).toBe('rule|1')
  })
})

test('an instant reads as its date and time in UTC', () => {
  expect([Date.UTC(2026, 0, 2, 3, 4), Date.UTC(2026, 11, 31, 0, 0)].map(formatInstant)).toEqual([
    '2026-01-02 03:04 UTC',
    '2026-12-31 00:00 UTC',
  ])
})
