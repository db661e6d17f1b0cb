// Who loses a cap of their own falls to what is wider: while that is above what policy gives them, or nobody could read it, the clear waits.
import { describe, expect, test } from 'vitest'
import type { Disposition } from '../../../src/core/model/change.ts'
import { cap, entryOf, NOW, scope, short } from '../../support/declare.ts'
import { type PlanMore, type PlanSketch, planOf } from '../../support/plan.ts'
import { keyOf } from '../../support/waves.ts'

const OFF = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
const fate = (one: Disposition): string =>
  one.kind === 'deferred' && one.waitsFor ? `${one.code} ${short(one.waitsFor)}` : one.kind === 'excluded' ? one.code : one.kind
const fates = (sketch: PlanSketch, more: PlanMore = {}): Readonly<Record<string, string>> => {
  const { plan } = planOf({ people: ['p0', 'p1'], guards: OFF, ...sketch }, more)
  return Object.fromEntries(plan.changes.map((one) => [short(one.scope), fate(one.disposition)]))
}
const failing = (name: string, to: number): PlanMore => ({
  failed: new Map([[keyOf(name), { to: cap(to), reason: '503' }]]),
})
const left = (name: string): PlanMore => ({
  excluded: (one) => (one.key === keyOf(name) ? { kind: 'excluded', code: 'notShown', reason: 'because' } : undefined),
})

/** p0 has 200 of their own and is to have the 500 of the team, which somebody has set to 5000. */
const LEAK: PlanSketch = { caps: { team: 500 }, owned: { p0: { cap: 200 } }, observed: { team: 5000, p0: 200 } }
const g = { g: ['p0'] }

describe('the clear of a person’s cap', () => {
  test.each<readonly [string, PlanSketch, PlanMore, string]>([
    ['goes out with the team’s cap', LEAK, {}, 'ready'],
    ['waits for a team’s cap that was not in the plan', LEAK, left('team'), 'order team'],
    ['waits for a team’s cap that fails', LEAK, failing('team', 500), 'order team'],
    [
      'goes out where the team’s cap is refused, which may be for good',
      { ...LEAK, quarantined: [{ scope: scope('team'), code: 'CAP_REFUSED', message: 'no', entry: entryOf('cap', 500), at: NOW }] },
      {},
      'ready',
    ],
    ['goes out where it falls to no more than policy gives', { ...LEAK, observed: { team: 300, p0: 200 } }, failing('team', 500), 'ready'],
    [
      'waits for a group that could not be read, whatever the ledger verified there',
      {
        caps: { 'group:g': 60 },
        groups: g,
        owned: { p0: { cap: 40 }, 'group:g': { cap: 60 } },
        observed: { 'group:g': 'unknown', p0: 40 },
      },
      {},
      'unread group:g',
    ],
    [
      'goes out over such a group where the person is to have less by it',
      {
        caps: { 'group:g': 60 },
        groups: g,
        owned: { p0: { cap: 90 }, 'group:g': { cap: 60 } },
        observed: { 'group:g': 'unknown', p0: 90 },
      },
      {},
      'ready',
    ],
    [
      'goes out once nobody waits for that group any more',
      {
        caps: { 'group:g': 60 },
        groups: g,
        owned: { p0: { cap: 40 }, 'group:g': { cap: 60 } },
        observed: { 'group:g': 'unknown', p0: 40 },
      },
      { givenUp: new Set([keyOf('group:g')]) },
      'ready',
    ],
  ])('%s', (_name, sketch, more, expected) => expect(fates(sketch, more)).toMatchObject({ p0: expected }))
})

describe('what would lift others stops nobody:', () => {
  test.each<readonly [string, PlanSketch, PlanMore, Readonly<Record<string, string>>]>([
    [
      'a lower cap of their own goes out though the team’s could not be read',
      { caps: { team: 500, p0: 100 }, owned: { team: { cap: 500 } }, observed: { team: 'unknown', p0: 200 } },
      {},
      { p0: 'ready' },
    ],
    [
      'the clear of a group waits for the team’s cap, and for no cap of a member',
      {
        caps: { team: 500, p0: 300 },
        groups: { g: ['p0', 'p1'] },
        owned: { 'group:g': { cap: 50 } },
        observed: { team: 5000, 'group:g': 50, p0: 'none' },
      },
      failing('team', 500),
      { 'group:g': 'order team', p0: 'ready' },
    ],
  ])('%s', (_name, sketch, more, expected) => expect(fates(sketch, more)).toMatchObject(expected))
})
