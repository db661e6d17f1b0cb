// When each guard holds a plan, and what it says: both numbers, and the way out.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../../../../src/core/model/units.ts'
import { DAY, keysOf, NOW, short } from '../../../support/declare.ts'
import { COPYING, each, lines, type PlanSketch, planOf, scopes } from '../../../support/plan.ts'

const guardsOf = (sketch: PlanSketch): string =>
  planOf(sketch)
    .plan.holds.map((hold) => hold.guards.join('+'))
    .join(', ')

/** So many of the people get 400 instead of 500. */
const lowering = (changed: number, people = 100): PlanSketch => ({
  people,
  caps: { ...each(people, 500), ...each(changed, 400) },
  observed: each(people, 500),
})
const blocking = (count: number): PlanSketch => ({
  people: 100,
  caps: each(count, 400),
  observed: each(count, 500),
  used: each(count, 400),
})
/** So many caps of ours are declared no more, beside those of `more`. */
const orphans = (count: number, more: PlanSketch = {}): PlanSketch => ({
  ...more,
  caps: { p19: 9, ...more.caps },
  observed: { p19: 9, ...each(count, 500), ...more.observed },
  owned: each(count, { cap: 500 }),
})
const protect = (...names: readonly string[]): PlanSketch => ({
  caps: Object.fromEntries(names.map((name) => [name, 4])),
  observed: Object.fromEntries(names.map((name) => [name, 5])),
  protect: names,
})
const LOWER: PlanSketch = { caps: { p0: 4 }, observed: { p0: 5 } }
const reading = (failed: number, total: number, more: { teamFailed?: boolean; cause?: string } = {}): PlanSketch => ({
  ...LOWER,
  facts: { reads: { failed, total, teamFailed: false, ...more } },
})
/** Four people are raised by 100 each, while so many credits are left. */
const raising = (creditsRemaining: number, more: PlanSketch = {}): PlanSketch => ({
  ...{ caps: each(4, 600), observed: each(4, 500), facts: { creditsRemaining } },
  ...more,
})
const DOUBT = { rosterDoubt: { before: 40, now: 20 } }
const UNLISTED = { unlistedGroups: keysOf('group:g') }
const PROTECTED: PlanSketch = { protect: ['p0'] }

test.each<readonly [string, PlanSketch, string]>([
  ['15 of 100 lowered are allowed', lowering(15), ''],
  ['16 of 100 lowered are held', lowering(16), 'maxLowered'],
  ['3 of 10 lowered are allowed by the floor', lowering(3, 10), ''],
  ['5 of 20 affected are allowed', { caps: each(5, 'none'), observed: each(5, 5), guards: { maxCleared: 'off' } }, ''],
  ['3 blocked are allowed by the floor', blocking(3), ''],
  ['first caps that block nobody are free', { caps: each(20, 500), observed: each(20, 'none') }, ''],
  ['raises are free', { caps: each(20, 500), observed: each(20, 400) }, ''],
  ['3 cleared of 20 are allowed by the floor', orphans(3), ''],
  ['clearing people who fall back to less is lowering', orphans(4, { caps: { team: 100 }, observed: { team: 100 } }), 'maxLowered'],
  ['a team-wide clear is always held', { people: 1, ...scopes('team 500>none, p0 5>5') }, 'maxCleared'],
  [
    'a cap that could not be read shields nobody from the team’s',
    { people: 4, ...scopes('team 500>400, p0 ?, p1 ?, p2 ?, p3 ?') },
    'maxLowered',
  ],
  ['one team write is counted in people', { caps: { team: 400 }, observed: { team: 500 } }, 'maxAffected+maxLowered'],
  [
    'when caps are copied a team write is put right for people whose cap policy keeps',
    { caps: { team: 400, ...each(18, 500) }, observed: { team: 500, ...each(20, 500) }, capSemantics: 'copied' },
    '',
  ],
  ['5 failed reads of 100 are allowed', reading(5, 100), ''],
  ['4 failed reads of 4 are allowed by the floor', reading(4, 4), ''],
  ['5 failed reads of 99 are too many', reading(5, 99), 'readQuality'],
  ['no policy at all holds clears', orphans(2, { caps: {}, facts: { verifiedDeclared: 2 } }), ''],
  ['half the scopes gone is allowed', { ...orphans(2), facts: { verifiedDeclared: 2 } }, ''],
  ['5 scopes gone are allowed', { ...orphans(2), facts: { verifiedDeclared: 6 } }, ''],
  [
    'a fall by half is allowed',
    { ...scopes('p0 5>5, p1 5>5, p2 5>5, p3 5>5, p4 5>5, p5 5>5, p9 5 ours 5'), facts: { verifiedDeclared: 12 } },
    '',
  ],
  [
    'what is written in place of a clear is held as one',
    {
      ...{ people: ['p0', 'p1'], caps: { p1: 9 }, observed: { team: 300, p0: 500, p1: 9 }, owned: { p0: { cap: 500 } } },
      ...{ capSemantics: 'copied', facts: { verifiedDeclared: 8 } },
    },
    'emptyPolicy',
  ],
  ['protected people are never cleared', { ...orphans(1), ...PROTECTED }, 'protected'],
  ['nor lowered from what an interrupted plan gave', { ...LOWER, baseline: { p0: 1 }, ...PROTECTED }, 'protected'],
  ['they may get a first cap', { caps: { p0: 6 }, observed: { p0: 'none' }, ...PROTECTED }, ''],
  ['they may be raised', { caps: { p0: 6 }, observed: { p0: 5 }, ...PROTECTED }, ''],
  [
    'they are not touched by a group they are not in',
    { caps: { 'group:g': 1 }, observed: { 'group:g': 5 }, groups: { g: ['p1'] }, ...PROTECTED },
    '',
  ],
  [
    'they are lowered when their grant ends',
    {
      ...{ caps: { p0: 500 }, observed: { p0: 6000 }, ...PROTECTED, grants: [{ on: 'p0', cap: 6000, until: NOW - DAY }] },
      owned: { p0: { cap: 6000, owner: 'grant', grant: { on: 'p0', until: NOW - DAY } } },
    },
    '',
  ],
  ['raises by anything are held when nothing is left', raising(0), 'maxRaise'],
  ['raises are ready while the remaining credits are not known', { caps: each(4, 600), observed: each(4, 500) }, ''],
  ['raises by half go out when half is the limit', raising(800, { guards: { maxRaise: 50 } }), ''],
  ['first caps are no raises', raising(0, { caps: each(20, 9000), observed: each(20, 'none') }), ''],
  ['a raise of the team reaches everybody', raising(1999, { caps: { team: 600 }, observed: { team: 500 } }), 'maxRaise'],
  [
    'raises are not made up for by lowering others',
    raising(399, { caps: { ...each(4, 600), p9: 1 }, observed: { ...each(4, 500), p9: 900 } }),
    'maxRaise',
  ],
  [
    'raises that heal are neither counted nor held',
    raising(100, { caps: { p0: 9000, p1: 600 }, observed: { p0: 1, p1: 500 }, owned: { p0: { cap: 9000 } } }),
    '',
  ],
  [
    'guards that are off hold nothing',
    {
      ...{ ...protect('p0'), caps: { p0: 4, p1: 9 }, observed: { p0: 5, p1: 8 }, model: COPYING },
      guards: { protected: false, semantics: false, emptyPolicy: false, rosterShrink: 'off', readQuality: 'off', maxRaise: 'off' },
      facts: { ...DOUBT, reads: { failed: 99, total: 100, teamFailed: true }, verifiedDeclared: 99, creditsRemaining: 0 },
    },
    '',
  ],
])('%s', (_name, sketch, expected) => expect(guardsOf(sketch)).toBe(expected))

/** `16 people, 1 change: why → what else settles it`: all that differs from one guard to the other. */
const told = (sketch: PlanSketch): readonly string[] =>
  planOf(sketch).plan.holds.map(({ id, people, changes, message }) => {
    const words = message.replace('acme: ', '').replace(`; approve hold ${id} (capkeeper edit approve ${id}) or `, ' → ')
    return `${people} people, ${changes.length} changes: ${words}`
  })

test.each<readonly [string, PlanSketch, string]>([
  [
    'maxAffected',
    { caps: each(6, 'none'), observed: each(6, 5), guards: { maxCleared: 'off' } },
    '6 people, 6 changes: 6 of 20 people would be lowered, blocked or cleared (30 %), the limit is 25 % → raise guards.maxAffected',
  ],
  [
    'maxAffected and maxLowered together',
    lowering(6, 20),
    '6 people, 6 changes: 6 of 20 people would be lowered, blocked or cleared (30 %), the limit is 25 %; 6 of 20 people would be lowered (30 %), the limit is 15 % → raise guards.maxAffected and guards.maxLowered',
  ],
  [
    'maxBlocked, while the credits of a seat are not known',
    blocking(4),
    '4 people, 4 changes: 4 of 100 people would be blocked, by a cap of 0 or one at or below their use (4 %), the limit is 3 people (use is an upper bound while the balance is unknown) → raise guards.maxBlocked',
  ],
  [
    'maxBlocked, with a balance',
    {
      ...blocking(4),
      balance: { creditsPerSeat: credits(0), seats: 1, addOnAvailable: credits(1), addOnUsed: credits(0), readAt: 0 },
    },
    '4 people, 4 changes: 4 of 100 people would be blocked, by a cap of 0 or one at or below their use (4 %), the limit is 3 people → raise guards.maxBlocked',
  ],
  [
    'maxCleared',
    { caps: each(4, 'none'), observed: each(4, 500) },
    '4 people, 4 changes: 4 of 20 people would be left without any cap (20 %), the limit is 3 people → raise guards.maxCleared',
  ],
  [
    'maxCleared of the team, however few they are',
    { people: 3, caps: { team: 'none' }, observed: { team: 5 } },
    '3 people, 1 changes: the team cap would be cleared → raise guards.maxCleared',
  ],
  [
    'protected',
    protect('p0'),
    '1 people, 1 changes: p0@example.com is protected and would be lowered → change spec.protected (capkeeper edit remove protect:p0@example.com)',
  ],
  [
    'protected, of three',
    protect('p0', 'p1', 'p2'),
    '3 people, 3 changes: p0@example.com, p1@example.com, p2@example.com are protected and would be lowered → change spec.protected (capkeeper edit remove protect:p0@example.com; capkeeper edit remove protect:p1@example.com; capkeeper edit remove protect:p2@example.com)',
  ],
  [
    'protected, of more than three',
    { ...protect('p0', 'p1', 'p2', 'p3', 'p4'), people: 100 },
    '5 people, 5 changes: p0@example.com, p1@example.com, p2@example.com and 2 more are protected and would be lowered → change spec.protected (capkeeper edit remove protect:p0@example.com; capkeeper edit remove protect:p1@example.com; capkeeper edit remove protect:p2@example.com)',
  ],
  [
    'semantics',
    { caps: { team: 6, p0: 6 }, observed: { team: 5, p0: 5 }, model: COPYING },
    '19 people, 1 changes: this service copies a team or group cap to each member (seen), while capSemantics is layered → set capSemantics: copied',
  ],
  [
    'readQuality, with the cause',
    reading(6, 100, { cause: '503' }),
    '1 people, 1 changes: 6 of 100 reads failed (6 %), the limit is 5 %: 503 → wait for the service to answer',
  ],
  [
    'readQuality of the team',
    reading(1, 999, { teamFailed: true }),
    '1 people, 1 changes: the team cap could not be read → wait for the service to answer',
  ],
  [
    'readQuality without a roster, also of raises',
    { caps: { p0: 6 }, observed: { p0: 5 }, roster: null },
    '0 people, 1 changes: the roster was never read, so people cannot be counted; no approval releases this; wait for the service to answer',
  ],
  [
    'readQuality with a roster of unknown age',
    { ...LOWER, facts: { rosterMissing: 'ahead' } },
    '1 people, 1 changes: the roster was not read since the clock went back, so people cannot be counted → wait for the service to answer',
  ],
  [
    'readQuality of a group that was never listed',
    { caps: { 'group:g': 4, p0: 6 }, observed: { 'group:g': 5, p0: 5 }, facts: UNLISTED },
    '0 people, 1 changes: group:g: its members are not known, so they cannot be counted → wait for the service to answer',
  ],
  [
    'emptyPolicy without any scope',
    { observed: { p0: 5 }, owned: { p0: { cap: 5 } }, facts: { verifiedDeclared: 9 } },
    '1 people, 1 changes: no policy declares any scope (9 before), so nothing is cleared → put the policies back',
  ],
  [
    'emptyPolicy after a fall, of clears alone',
    { caps: { p1: 6 }, observed: { p0: 5, p1: 5 }, owned: { p0: { cap: 5 } }, facts: { verifiedDeclared: 12 } },
    '1 people, 1 changes: declared scopes fell from 12 to 1, so nothing is cleared → put the policies back',
  ],
  [
    'rosterShrink, of all but raises of people',
    { caps: { p0: 4, p1: 9, p2: 'none', team: 8 }, observed: { p0: 5, p1: 8, p2: 9, team: 7 }, facts: DOUBT },
    '19 people, 3 changes: approved people fell from 40 to 20 (50 %), the limit is 20 % → wait for two agreeing readings of the roster',
  ],
  [
    'maxRaise',
    raising(399),
    '4 people, 4 changes: 4 of 20 people would be raised by 400 credits in all, the limit is 399 (100 % of the 399 add-on credits remaining) → raise guards.maxRaise',
  ],
])('a hold of %s', (_name, sketch, expected) => expect(told(sketch)).toEqual([expected]))

test.each([
  [15, 16, 100, '16 %'],
  [15, 151, 1000, '15.1 %'],
  [15, 31, 200, '16 %'],
  [20, 2001, 10_000, '20.01 %'],
  [5, 6, 11, '55 %'],
  [15, 750_001, 5_000_000, '15.00002 %'],
  [20, 3, 0, '100 %'],
])('above a limit of %s %%, %s of %s is told with as few digits as show that it is above: %s', (rosterShrink, part, before, text) => {
  const [hold] = planOf({ ...LOWER, guards: { rosterShrink }, facts: { rosterDoubt: { before, now: before - part } } }).plan.holds
  expect(hold?.message).toContain(`fell from ${before} to ${before - part} (${text}), the limit is ${rosterShrink} %`)
})

test('bad reads hold all but raises at user scope', () => {
  const caps = { team: 600, p0: 500, p1: 500, p2: 500, p3: 'none' } as const
  const observed = { team: 500, p0: 400, p1: 600, p2: 'none', p3: 700 } as const
  expect(lines(planOf({ ...reading(6, 100), caps, observed })).filter((line) => !line.includes('held'))).toEqual([
    'p0 raise 400>500 policy',
  ])
})

test('a raise that heals is not held beside another that lifts the same person', () => {
  const both: PlanSketch = { people: 1, caps: { team: 600 }, observed: { team: 500, p0: 500 } }
  expect(lines(planOf(raising(99, { ...both, owned: { team: { cap: 600 }, p0: { cap: 500 } } })))).toEqual([
    'team raise 500>600 external',
    'p0 clear 500>none orphan held:maxRaise',
  ])
})

describe('in any company of eight', () => {
  const caps = fc.dictionary(
    fc.constantFrom('team', 'group:g', ...Object.keys(each(8, 0))),
    fc.constantFrom<number | 'none'>('none', 100, 200, 300),
  )
  const world = fc.record({ caps, observed: caps, groups: fc.constant({ g: ['p0', 'p1', 'p2'] }), people: fc.constant(8) })
  const goingOut = (sketch: PlanSketch) => planOf(sketch).plan.changes.filter((one) => one.disposition.kind !== 'held')

  test('a stricter limit never lets more out', () => {
    const limit = (floor: number) =>
      ({ maxAffected: { percent: 0, floor }, maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' }) as const
    const open = (sketch: PlanSketch, floor: number) => goingOut({ ...sketch, guards: limit(floor) }).length
    fc.assert(fc.property(world, fc.nat(6), fc.nat(6), (sketch, a, b) => open(sketch, Math.min(a, b)) <= open(sketch, Math.max(a, b))))
  })
  test('what goes out after holding back is within every limit', () => {
    fc.assert(
      fc.property(world, (sketch) => {
        const rest = Object.fromEntries(goingOut(sketch).map((one) => [short(one.scope), one.to]))
        const again = planOf({ ...sketch, caps: { ...sketch.observed, ...rest } })
        expect(again.plan.holds.filter((hold) => !hold.guards.includes('emptyPolicy'))).toEqual([])
      }),
    )
  })
})
