// What becomes of caps under a written team: what it overwrites where caps are copied, and what it shows where reads show inherited caps.
import { describe, expect, test } from 'vitest'
import type { Disposition } from '../../../src/core/model/change.ts'
import { credits } from '../../../src/core/model/units.ts'
import type { Difference, Exclusion } from '../../../src/core/plan/snapshot.ts'
import { DAY, NOW, scope, short } from '../../support/declare.ts'
import { type PlanMore, type PlanSketch, planOf } from '../../support/plan.ts'
import { keyOf } from '../../support/waves.ts'

const OFF = { maxAffected: 'off', maxLowered: 'off', maxBlocked: 'off', maxCleared: 'off' } as const
const fate = (one: Disposition): string =>
  one.kind === 'deferred' && one.waitsFor
    ? `deferred ${one.code} ${short(one.waitsFor)}`
    : one.kind === 'excluded'
      ? `excluded ${one.code}`
      : one.kind
const fates = (sketch: PlanSketch, more: PlanMore = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(planOf(sketch, more).plan.changes.map((one) => [short(one.scope), fate(one.disposition)]))
const only =
  (code: Exclusion['code'], name: string) =>
  ({ scope: at }: Pick<Difference, 'scope'>): Exclusion | undefined =>
    short(at) === name ? { kind: 'excluded', code, reason: 'because' } : undefined

/** p0 is protected, and somebody has approved what is to become of the wide scope, before p0's change was there. */
const released = (wide: string): PlanSketch => ({
  protectedPeople: ['p0'],
  approvals: [
    {
      ...{ id: 'a'.repeat(32), via: 'command', approvedAt: NOW, state: 'pending', people: 9 },
      released: [{ scope: scope(wide), from: credits(500), to: credits(600), verified: false }],
    },
  ],
})

describe('where caps are copied', () => {
  const COPIED: PlanSketch = {
    ...{ people: ['p0', 'p1'], caps: { team: 600, p0: 900 }, observed: { team: 500, p0: 900, p1: 500 }, guards: OFF },
    capSemantics: 'copied',
  }
  test('what is overwritten is told in the order of scopes, with the line that asks for it', () => {
    const caps = { team: 600, p1: 800, p0: 900 }
    const sketch: PlanSketch = { ...COPIED, people: ['p1', 'p0'], caps, observed: { team: 500, p0: 900, p1: 800 } }
    const [, ...overwritten] = planOf(sketch).plan.changes
    expect(overwritten).toMatchObject([
      {
        scope: scope('p0'),
        source: { line: 3 },
        cause: 'policy',
        healing: false,
        grantEnd: false,
        disposition: { reason: 'team comes first, and overwrites it' },
      },
      { scope: scope('p1'), source: { line: 2 } },
    ])
  })
  test('nothing is written again for somebody who is to have no cap of their own, while what they fall back to is not known', () => {
    const ended = { on: 'group:g', cap: 6000, until: NOW - DAY }
    const sketch: PlanSketch = {
      ...{ ...COPIED, groups: { g: ['p0'], h: ['p0'] }, caps: { p0: 'none' }, grants: [ended] },
      owned: { 'group:g': { cap: 6000, owner: 'grant', grant: ended, baseline: 400 } },
      observed: { 'group:g': 6000, 'group:h': 'unknown', p0: 6000 },
    }
    expect(fates(sketch)).toEqual({ 'group:g': 'ready' })
  })
  test('nothing is hidden beneath a wide cap that goes: its clear is copied as well', () => {
    const sketch: PlanSketch = { ...COPIED, caps: { team: 'none', p0: 'none' }, observed: { team: 300, p0: 300 }, readsExplicit: false }
    expect(fates(sketch)).toEqual({ team: 'ready' })
  })
  test.each<readonly [string, string, PlanSketch, Readonly<Record<string, string>>]>([
    [
      'of the team waits',
      'team',
      { caps: { team: 600, p0: 700 }, observed: { team: 500, p0: 900, p1: 600 } },
      { team: 'deferred order p0' },
    ],
    [
      'of a group of others goes',
      'group:g',
      { caps: { 'group:g': 600, p0: 700 }, groups: { g: ['p1'] }, observed: { 'group:g': 500, p0: 900, p1: 600 } },
      { 'group:g': 'ready' },
    ],
  ])('while a guard holds a person’s change, a released write %s', (_name, wide, more, expected) =>
    expect(fates({ ...COPIED, ...more, ...released(wide) })).toEqual({ ...expected, p0: 'held' }),
  )
  test('a released wide write says whose change it waits for, and which hold keeps that', () => {
    const caps = { team: 600, p0: 700 }
    const { changes } = planOf({ ...COPIED, caps, observed: { team: 500, p0: 900, p1: 600 }, ...released('team') }).plan
    const [hold] = changes.flatMap(({ disposition: one }) => (one.kind === 'held' ? one.hold : []))
    const [reason] = changes.flatMap(({ disposition: one }) => (one.kind === 'deferred' ? one.reason : []))
    expect(reason).toBe(`p0@example.com comes first, and hold ${hold} keeps it back`)
  })
  test('nothing is overwritten when the wide write does not go', () =>
    expect(fates(COPIED, { excluded: only('focus', 'team') })).toEqual({ p1: 'ready', team: 'excluded focus' }))
})

describe('where reads may show what applies', () => {
  const HIDDEN: PlanSketch = {
    ...{ people: ['p0', 'p1'], groups: { g: ['p0', 'p1'] }, guards: OFF, readsExplicit: false },
    ...{ caps: { team: 600, 'group:g': 'none', p0: 'none', p1: 'none' }, observed: { team: 500, 'group:g': 500, p0: 500, p1: 700 } },
  }
  test('what may be hidden beneath a wide cap that goes is shown with its condition, and is no difference before', () => {
    const { plan, differences, scopes } = planOf(HIDDEN)
    expect(plan.changes.map((one) => [short(one.scope), one.from, one.to, fate(one.disposition)])).toEqual([
      ['team', 500, 600, 'ready'],
      ['p1', 700, 'none', 'ready'],
      ['group:g', 500, 'none', 'deferred order team'],
      ['p0', 500, 'none', 'deferred order team'],
    ])
    expect(plan.changes.at(-1)).toMatchObject({
      ...{ action: 'clear', cause: 'policy', source: { line: 3 } },
      disposition: { reason: 'team comes first, and shows whether 500 is a cap of its own: only then is it cleared' },
    })
    expect([...differences.keys()].map(String)).not.toContain(keyOf('p0'))
    expect(scopes.find((one) => short(one.scope) === 'p0')?.state).toBe('in_sync')
  })
  test('what is surely ours beneath it, and is cleared at once, is no second change', () => {
    const sketch: PlanSketch = { ...HIDDEN, caps: { team: 600, p0: 'none' }, observed: { team: 500, p0: 500 }, owned: { p0: { cap: 500 } } }
    expect(planOf(sketch).plan.changes.map((one) => [short(one.scope), one.from, one.to, fate(one.disposition)])).toEqual([
      ['team', 500, 600, 'ready'],
      ['p0', 500, 'none', 'ready'],
    ])
  })
  test('what a held wide cap would reveal is in the hold of that cap, and waits for it once both are released', () => {
    const sketch: PlanSketch = { ...HIDDEN, groups: {}, people: 8, caps: { team: 300, p0: 'none', p1: 'none' }, guards: {} }
    const { plan } = planOf({ ...sketch, observed: { team: 500, p0: 500, p1: 'none' } })
    const [hold] = plan.holds
    expect(plan.holds).toMatchObject([{ people: 8, changes: [{ scope: scope('team') }, { scope: scope('p0'), from: 500, to: 'none' }] }])
    expect(plan.changes.map(({ disposition }) => fate(disposition))).toEqual(['held', 'held'])
    const { changes, holds } = planOf({ ...sketch, observed: { team: 500, p0: 500, p1: 'none' }, approve: [hold?.id ?? ''] }).plan
    expect(holds).toEqual([])
    expect(changes.map((one) => [short(one.scope), fate(one.disposition), one.released?.id])).toEqual([
      ['team', 'ready', hold?.id],
      ['p0', 'deferred order team', hold?.id],
    ])
  })
  test.each<readonly [string, Partial<PlanSketch>, PlanMore]>([
    ['the wide cap is not written', {}, { excluded: only('focus', 'team') }],
    ['reads show what is set', { readsExplicit: true, caps: { team: 600, p0: 900 }, observed: { team: 500, p0: 900 } }, {}],
    ['another value is shown', { observed: { team: 501, 'group:g': 'none', p0: 'none', p1: 'none' } }, {}],
    [
      'what is shown comes from a group, and the team’s other cap is written',
      { caps: { team: 700, p0: 'none' }, observed: { team: 600, 'group:g': 500, p0: 500 } },
      {},
    ],
    ['a cap is asked for', { caps: { team: 600, p0: 500 } }, {}],
  ])('nothing is where %s', (_name, sketch, more) => {
    const { changes } = planOf({ ...HIDDEN, ...sketch }, more).plan
    expect(changes.filter(({ disposition }) => disposition.kind === 'deferred' && disposition.reason.includes('only then'))).toEqual([])
  })
})
