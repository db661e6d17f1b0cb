// What each guard says, word for word, with both numbers and the way out, and how much it holds; when it holds is in judge.test.ts.
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../../src/core/model/scope.ts'
import { credits } from '../../../../src/core/model/units.ts'
import { NOW, scope } from '../../../support/declare.ts'
import { COPYING, each, type PlanSketch, planOf } from '../../../support/plan.ts'

const FOUR_AT_USE: PlanSketch = { people: 100, caps: each(4, 400), observed: each(4, 500), used: each(4, 400) }
const BALANCE = { creditsPerSeat: credits(0), seats: 1, addOnAvailable: credits(1), addOnUsed: credits(0), readAt: NOW }
const LOWER: PlanSketch = { caps: { p0: 4 }, observed: { p0: 5 } }
const protect = (names: readonly string[]): PlanSketch => ({
  caps: Object.fromEntries(names.map((name) => [name, 4])),
  observed: Object.fromEntries(names.map((name) => [name, 5])),
  protectedPeople: names,
})

describe('a hold', () => {
  test.each<readonly [string, PlanSketch, number, number, string]>([
    [
      'maxAffected',
      { caps: each(6, 'none'), observed: each(6, 5), guards: { maxCleared: 'off' } },
      ...([
        6,
        6,
        '6 of 20 people would be lowered, blocked or cleared (30 %), the limit is 25 %; approve hold ID (capkeeper edit approve ID) or raise guards.maxAffected',
      ] as const),
    ],
    [
      'maxAffected and maxLowered together',
      { people: 20, caps: each(6, 400), observed: each(6, 500) },
      ...([
        6,
        6,
        '6 of 20 people would be lowered, blocked or cleared (30 %), the limit is 25 %; 6 of 20 people would be lowered (30 %), the limit is 15 %; approve hold ID (capkeeper edit approve ID) or raise guards.maxAffected and guards.maxLowered',
      ] as const),
    ],
    [
      'maxBlocked, while the credits of a seat are not known',
      FOUR_AT_USE,
      ...([
        4,
        4,
        '4 of 100 people would be blocked, by a cap of 0 or one at or below their use (4 %), the limit is 3 people (use is an upper bound while the balance is unknown); approve hold ID (capkeeper edit approve ID) or raise guards.maxBlocked',
      ] as const),
    ],
    [
      'maxBlocked, with a balance',
      { ...FOUR_AT_USE, balance: BALANCE },
      ...([
        4,
        4,
        '4 of 100 people would be blocked, by a cap of 0 or one at or below their use (4 %), the limit is 3 people; approve hold ID (capkeeper edit approve ID) or raise guards.maxBlocked',
      ] as const),
    ],
    [
      'maxCleared',
      { caps: each(4, 'none'), observed: each(4, 500) },
      ...([
        4,
        4,
        '4 of 20 people would be left without any cap (20 %), the limit is 3 people; approve hold ID (capkeeper edit approve ID) or raise guards.maxCleared',
      ] as const),
    ],
    [
      'maxCleared of the team, however few they are',
      { people: 3, caps: { team: 'none' }, observed: { team: 5 } },
      ...([3, 1, 'the team cap would be cleared; approve hold ID (capkeeper edit approve ID) or raise guards.maxCleared'] as const),
    ],
    [
      'protected',
      protect(['p0']),
      1,
      1,
      'p0@example.com is protected and would be lowered; approve hold ID (capkeeper edit approve ID) or change spec.protected (capkeeper edit remove protect:p0@example.com)',
    ],
    [
      'protected, of three',
      protect(['p0', 'p1', 'p2']),
      3,
      3,
      'p0@example.com, p1@example.com, p2@example.com are protected and would be lowered; approve hold ID (capkeeper edit approve ID) or change spec.protected (capkeeper edit remove protect:p0@example.com; capkeeper edit remove protect:p1@example.com; capkeeper edit remove protect:p2@example.com)',
    ],
    [
      'protected, of more',
      { ...protect(['p0', 'p1', 'p2', 'p3', 'p4']), people: 100 },
      ...([
        5,
        5,
        'p0@example.com, p1@example.com, p2@example.com and 2 more are protected and would be lowered; approve hold ID (capkeeper edit approve ID) or change spec.protected (capkeeper edit remove protect:p0@example.com; capkeeper edit remove protect:p1@example.com; capkeeper edit remove protect:p2@example.com)',
      ] as const),
    ],
    [
      'semantics',
      { caps: { team: 6, p0: 6 }, observed: { team: 5, p0: 5 }, model: COPYING },
      ...([
        19,
        1,
        'this service copies a team or group cap to each member (seen), while capSemantics is layered; approve hold ID (capkeeper edit approve ID) or set capSemantics: copied',
      ] as const),
    ],
    [
      'readQuality, with the cause',
      { ...LOWER, facts: { reads: { failed: 6, total: 100, teamFailed: false, cause: '503' } } },
      ...([
        1,
        1,
        '6 of 100 reads failed (6 %), the limit is 5 %: 503; approve hold ID (capkeeper edit approve ID) or wait for the service to answer',
      ] as const),
    ],
    [
      'readQuality of the team',
      { ...LOWER, facts: { reads: { failed: 1, total: 100, teamFailed: true } } },
      ...([1, 1, 'the team cap could not be read; approve hold ID (capkeeper edit approve ID) or wait for the service to answer'] as const),
    ],
    [
      'readQuality without a roster',
      { ...LOWER, roster: null },
      ...([
        0,
        1,
        'the roster was never read, so people cannot be counted; no approval releases this; wait for the service to answer',
      ] as const),
    ],
    [
      'readQuality with a roster of unknown age',
      { ...LOWER, facts: { rosterMissing: 'ahead' } },
      ...([
        1,
        1,
        'the roster was not read since the clock went back, so people cannot be counted; approve hold ID (capkeeper edit approve ID) or wait for the service to answer',
      ] as const),
    ],
    [
      'readQuality of a group that was never listed',
      {
        caps: { 'group:g': 4, p0: 6 },
        observed: { 'group:g': 5, p0: 5 },
        facts: { unlistedGroups: new Set([scopeKey(scope('group:g'))]) },
      },
      ...([
        0,
        1,
        'group:g: its members are not known, so they cannot be counted; approve hold ID (capkeeper edit approve ID) or wait for the service to answer',
      ] as const),
    ],
    [
      'emptyPolicy without any scope',
      { observed: { p0: 5 }, owned: { p0: { cap: 5 } }, facts: { verifiedDeclared: 9 } },
      ...([
        1,
        1,
        'no policy declares any scope (9 before), so nothing is cleared; approve hold ID (capkeeper edit approve ID) or put the policies back',
      ] as const),
    ],
    [
      'emptyPolicy after a fall, of clears alone',
      { caps: { p1: 6 }, observed: { p0: 5, p1: 5 }, owned: { p0: { cap: 5 } }, facts: { verifiedDeclared: 12 } },
      ...([
        1,
        1,
        'declared scopes fell from 12 to 1, so nothing is cleared; approve hold ID (capkeeper edit approve ID) or put the policies back',
      ] as const),
    ],
    [
      'rosterShrink, of all but raises of people',
      {
        caps: { p0: 4, p1: 9, p2: 'none', team: 8 },
        observed: { p0: 5, p1: 8, p2: 9, team: 7 },
        facts: { rosterDoubt: { before: 40, now: 20 } },
      },
      ...([
        19,
        3,
        'approved people fell from 40 to 20 (50 %), the limit is 20 %; approve hold ID (capkeeper edit approve ID) or wait for two agreeing readings of the roster',
      ] as const),
    ],
    [
      'maxRaise',
      { caps: each(4, 600), observed: each(4, 500), facts: { creditsRemaining: 399 } },
      ...([
        4,
        4,
        '4 of 20 people would be raised by 400 credits in all, the limit is 399 (100 % of the 399 add-on credits remaining); approve hold ID (capkeeper edit approve ID) or raise guards.maxRaise',
      ] as const),
    ],
  ])('of %s', (_name, sketch, people, changes, message) => {
    const { holds } = planOf(sketch).plan
    expect(holds.map((hold) => [hold.people, hold.changes.length, hold.message.replaceAll(hold.id, 'ID')])).toEqual([
      [people, changes, `acme: ${message}`],
    ])
  })
})

describe('at the very limit nothing is held', () => {
  test.each<readonly [string, PlanSketch]>([
    ['5 of 20 affected', { caps: each(5, 'none'), observed: each(5, 5), guards: { maxCleared: 'off' } }],
    ['15 of 100 lowered', { people: 100, caps: each(15, 400), observed: each(15, 500) }],
    ['3 blocked', { people: 100, caps: each(3, 400), observed: each(3, 500), used: each(3, 400) }],
    ['3 cleared', { caps: each(3, 'none'), observed: each(3, 500) }],
    [
      'a fall by half',
      { caps: each(6, 5), observed: { ...each(6, 5), p9: 5 }, owned: { p9: { cap: 5 } }, facts: { verifiedDeclared: 12 } },
    ],
    ['a fall by five', { caps: each(1, 5), observed: { ...each(1, 5), p9: 5 }, owned: { p9: { cap: 5 } }, facts: { verifiedDeclared: 6 } }],
    ['4 failed reads of few', { ...LOWER, facts: { reads: { failed: 4, total: 10, teamFailed: false } } }],
    ['5 % failed reads', { ...LOWER, facts: { reads: { failed: 5, total: 100, teamFailed: false } } }],
    [
      'guards that are off',
      {
        ...protect(['p0']),
        guards: { protected: false, semantics: false, emptyPolicy: false, rosterShrink: 'off', readQuality: 'off' },
        model: COPYING,
        facts: {
          rosterDoubt: { before: 40, now: 20 },
          reads: { failed: 99, total: 100, teamFailed: true },
          verifiedDeclared: 99,
        },
      },
    ],
    ['a raise of somebody protected', { caps: { p0: 6 }, observed: { p0: 5 }, protectedPeople: ['p0'] }],
  ])('%s', (_name, sketch) => expect(planOf(sketch).plan.holds).toEqual([]))
})
