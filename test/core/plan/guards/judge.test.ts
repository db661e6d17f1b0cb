import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { holdOf } from '../../../../src/core/model/change.ts'
import { scopeKey } from '../../../../src/core/model/scope.ts'
import { netEffect } from '../../../../src/core/plan/impact.ts'
import { cap, DAY, NOW } from '../../../support/declare.ts'
import { each, lines, NO_FAILED_READS, type PlanSketch, planOf } from '../../../support/plan.ts'

const guardsOf = (sketch: PlanSketch): string[] => planOf(sketch).plan.holds.map((hold) => hold.guards.join('+'))

/** `changed` of `people` get 400 instead of 500. */
const lowering = (changed: number, people = 100): PlanSketch => ({
  people,
  caps: { ...each(people, 500), ...each(changed, 400) },
  observed: each(people, 500),
})

const REST_IN_SYNC = { caps: { p19: 9 }, observed: { p19: 9 } }
const orphans = (count: number, more: PlanSketch = {}): PlanSketch => ({
  ...more,
  caps: { ...REST_IN_SYNC.caps, ...more.caps },
  observed: { ...REST_IN_SYNC.observed, ...each(count, 500), ...more.observed },
  owned: each(count, { cap: 500 }),
})

describe('shares of people', () => {
  const TABLE: readonly (readonly [string, PlanSketch, readonly string[]])[] = [
    ['15 of 100 lowered is allowed', lowering(15), []],
    ['16 of 100 lowered is held', lowering(16), ['maxLowered']],
    ['26 of 100 lowered is held by both shares', lowering(26), ['maxAffected+maxLowered']],
    ['3 of 10 lowered is allowed by the floor', lowering(3, 10), []],
    ['4 of 10 lowered is held', lowering(4, 10), ['maxLowered']],
    ['first caps that block nobody are free', { caps: each(20, 500), observed: each(20, 'none') }, []],
    ['raises are free', { caps: each(20, 500), observed: each(20, 400) }, []],
    ['3 blocked are allowed by the floor', { caps: each(3, 500), observed: each(3, 'none'), used: each(3, 900) }, []],
    ['clearing 4 of 20 is held', orphans(4), ['maxCleared']],
    ['clearing 3 of 20 is allowed by the floor', orphans(3), []],
    ['clearing people who fall back to the same team cap is free', orphans(15, { caps: { team: 500 }, observed: { team: 500 } }), []],
    ['clearing people who fall back to less is lowering', orphans(4, { caps: { team: 100 }, observed: { team: 100 } }), ['maxLowered']],
    ['a team-wide clear is always held', { caps: { team: 'none', p0: 5 }, observed: { team: 500, p0: 5 }, people: 1 }, ['maxCleared']],
    ['one team write is counted in people', { caps: { team: 400 }, observed: { team: 500 } }, ['maxAffected+maxLowered']],
    [
      'when caps are copied a team write is put right for people whose cap policy keeps',
      { caps: { team: 400, ...each(18, 500) }, observed: { team: 500, ...each(20, 500) }, capSemantics: 'copied' },
      [],
    ],
    ['a guard that is off holds nothing', { ...lowering(16), guards: { maxLowered: 'off' } }, []],
    ['people off the roster are not counted', { ...lowering(16), roster: null, facts: { rosterMissing: false } }, []],
  ]
  test.each(TABLE)('%s', (_name, sketch, expected) => expect(guardsOf(sketch)).toEqual(expected))

  test('the message names both numbers and the way out', () => {
    const [hold] = planOf(lowering(34, 100)).plan.holds
    expect(hold?.message).toBe(
      `acme: 34 of 100 people would be lowered, blocked or cleared (34 %), the limit is 25 %; 34 of 100 people would be lowered (34 %), the limit is 15 %; approve hold ${hold?.id} (capkeeper edit approve ${hold?.id}) or raise guards.maxAffected and guards.maxLowered`,
    )
    expect(hold?.people).toBe(34)
  })
})

describe('guards about knowledge', () => {
  const mixed: PlanSketch = {
    caps: { team: 600, p0: 500, p1: 500, p2: 500, p3: 'none' },
    observed: { team: 500, p0: 400, p1: 600, p2: 'none', p3: 700 },
  }

  test('bad reads hold all but raises at user scope', () => {
    const planned = planOf({ ...mixed, facts: { reads: { failed: 6, total: 100, teamFailed: false, cause: 'GetUsageConfig: 503' } } })
    expect(lines(planned).filter((line) => !line.includes('held'))).toEqual(['p0 raise 400>500 policy'])
  })
  test.each([
    ['5 failed of 100 are allowed', { failed: 5, total: 100, teamFailed: false }, 0],
    ['4 failed of 4 are allowed by the floor', { failed: 4, total: 4, teamFailed: false }, 0],
    ['5 failed of 99 are too many', { failed: 5, total: 99, teamFailed: false }, 1],
    ['a failed team read is always too much', { failed: 1, total: 999, teamFailed: true }, 1],
    ['no failed read is fine', NO_FAILED_READS, 0],
  ])('%s', (_name, reads, holds) =>
    expect(planOf({ caps: { p1: 5 }, observed: { p1: 6 }, facts: { reads } }).plan.holds).toHaveLength(holds),
  )

  test('without any roster nothing at all is written', () =>
    expect(lines(planOf({ caps: { p0: 500 }, observed: { p0: 400 }, roster: null }))).toEqual(['p0 raise 400>500 policy held:readQuality']))

  test.each([
    ['no policy at all holds clears', orphans(2, { caps: {}, facts: { verifiedDeclared: 2 } }), false],
    ['half the scopes gone is allowed', { ...orphans(2), facts: { verifiedDeclared: 2 } }, false],
    ['more than half and more than 5 gone is held', { ...orphans(2), facts: { verifiedDeclared: 8 } }, true],
    ['5 gone is allowed', { ...orphans(2), facts: { verifiedDeclared: 6 } }, false],
    [
      'what is written in place of a clear is held as one',
      {
        ...{ people: ['p0', 'p1'], caps: { p1: 9 }, observed: { team: 300, p0: 500, p1: 9 }, owned: { p0: { cap: 500 } } },
        ...{ capSemantics: 'copied' as const, facts: { verifiedDeclared: 8 } },
      },
      true,
    ],
  ])('emptyPolicy: %s', (_name, sketch: PlanSketch, held) => expect(guardsOf(sketch).includes('emptyPolicy')).toBe(held))

  test('emptyPolicy with nothing to clear is a warning, not a hold', () => {
    const planned = planOf({ facts: { verifiedDeclared: 12 } })
    expect(planned.plan.holds).toEqual([])
    expect(planned.plan.problems.map((one) => one.code)).toEqual(['GUARD_EMPTY_POLICY'])
  })
})

describe('protected people', () => {
  const ONE_LOWERED: PlanSketch = { caps: { p0: 400 }, observed: { p0: 500 } }
  const TABLE: readonly (readonly [string, PlanSketch, readonly string[]])[] = [
    ['are never lowered', ONE_LOWERED, ['protected']],
    ['are never cleared', orphans(1), ['protected']],
    ['are never lowered from what an interrupted plan gave', { ...ONE_LOWERED, baseline: { p0: 100 } }, ['protected']],
    ['may be raised', { caps: { p0: 600 }, observed: { p0: 500 } }, []],
    ['are never lowered through a group', { caps: { 'group:g': 1 }, observed: { 'group:g': 5 }, groups: { g: ['p0'] } }, ['protected']],
    ['are not touched by a group they are not in', { caps: { 'group:g': 1 }, observed: { 'group:g': 5 }, groups: { g: ['p1'] } }, []],
    [
      'are lowered when their grant ends',
      {
        caps: { p0: 500 },
        grants: [{ on: 'p0', cap: 6000, until: NOW - DAY }],
        observed: { p0: 6000 },
        owned: { p0: { cap: 6000, owner: 'grant', grant: { on: 'p0', until: NOW - DAY } } },
      },
      [],
    ],
  ]
  test.each(TABLE)('%s', (_name, sketch, expected) => expect(guardsOf({ ...sketch, protectedPeople: ['p0'] })).toEqual(expected))
})

describe('net effect', () => {
  const TABLE: readonly (readonly [number | 'none', number | 'none', number, string | undefined])[] = [
    [500, 500, 0, undefined],
    [500, 600, 0, 'raised'],
    [500, 400, 0, 'lowered'],
    [500, 400, 400, 'blocked'],
    [500, 0, 0, 'blocked'],
    [500, 'none', 0, 'cleared'],
    ['none', 500, 0, 'capped'],
    ['none', 500, 500, 'blocked'],
    ['none', 0, 0, 'blocked'],
    [100, 200, 900, 'raised'],
  ]
  test.each(TABLE)('from %s to %s with %s used is %s', (from, to, use, effect) => expect(netEffect(cap(from), cap(to), use)).toBe(effect))
})

describe('laws', () => {
  const caps = fc.dictionary(
    fc.constantFrom('team', 'group:g', ...Object.keys(each(8, 0))),
    fc.constantFrom<number | 'none'>('none', 100, 200, 300),
  )
  const world = fc.record({ caps, observed: caps, groups: fc.constant({ g: ['p0', 'p1', 'p2'] }), people: fc.constant(8) })

  test('a world that is as asked has no changes', () => {
    fc.assert(
      fc.property(world, (sketch) => {
        expect(planOf({ ...sketch, observed: sketch.caps }).plan.changes).toEqual([])
      }),
    )
  })
  test('guards are monotone: a stricter limit never lets more out', () => {
    const open = (sketch: PlanSketch) => planOf(sketch).plan.changes.filter((one) => holdOf(one) === undefined).length
    fc.assert(
      fc.property(world, fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }), (sketch, a, b) => {
        const limit = (floor: number) =>
          ({ maxAffected: { percent: 0, floor }, maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' }) as const
        expect(open({ ...sketch, guards: limit(Math.min(a, b)) })).toBeLessThanOrEqual(open({ ...sketch, guards: limit(Math.max(a, b)) }))
      }),
    )
  })
  test('what goes out after holding back is within every limit', () => {
    fc.assert(
      fc.property(world, (sketch) => {
        const planned = planOf(sketch)
        const out = planned.plan.changes.filter((one) => holdOf(one) === undefined)
        const rest = Object.fromEntries(out.map((one) => [scopeKey(one.scope).replace('@example.com', ''), one.to]))
        const again = planOf({ ...sketch, caps: { ...sketch.observed, ...rest } })
        expect(again.plan.holds.filter((hold) => !hold.guards.includes('emptyPolicy'))).toEqual([])
      }),
    )
  })
})
