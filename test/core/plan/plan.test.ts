import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { cap, entryOf, HOUR, NOW, scope, short } from '../../support/declare.ts'
import { type PlanSketch, planOf } from '../../support/plan.ts'

const mixed: PlanSketch = {
  caps: { p2: 600, 'group:b': 600, team: 600, p1: 400, 'group:a': 400, p0: 'none' },
  observed: { team: 500, 'group:a': 500, 'group:b': 500, p0: 700, p1: 500, p2: 500 },
}
const order = (sketch: PlanSketch): readonly string[] => planOf(sketch).plan.changes.map((one) => short(one.scope))

describe('a plan', () => {
  test('is in the order of writing: first sets and raises from users to the team, then the rest from the team to users', () =>
    expect(order(mixed)).toEqual(['p2', 'group:b', 'team', 'group:a', 'p0', 'p1']))

  test('has team and group writes first where caps are copied, and the caps they overwrite after them', () => {
    const copied: PlanSketch = {
      people: ['p0', 'p1', 'p2'],
      caps: { team: 600, p0: 900, p1: 700 },
      observed: { team: 500, p0: 900, p1: 500, p2: 500 },
      capSemantics: 'copied',
    }
    const { changes } = planOf(copied).plan
    expect(changes.map((one) => [short(one.scope), one.from, one.to, one.disposition.kind])).toEqual([
      ['team', 500, 600, 'ready'],
      ['p1', 500, 700, 'ready'],
      ['p2', 500, 600, 'ready'],
      ['p0', 600, 900, 'deferred'],
    ])
    expect(changes.at(-1)?.disposition).toMatchObject({ code: 'order', waitsFor: scope('team') })
  })

  test('is the same whatever the order of what went in', () => {
    const names = Object.keys(mixed.caps ?? {})
    fc.assert(
      fc.property(fc.shuffledSubarray(names, { minLength: names.length }), (order) => {
        const caps = Object.fromEntries(order.map((name) => [name, mixed.caps?.[name] ?? 0]))
        expect(planOf({ ...mixed, caps }).plan.id).toBe(planOf(mixed).plan.id)
      }),
    )
  })
  test('counts what goes out by effect, and what stays', () => {
    expect(planOf({ ...mixed, observed: { ...mixed.observed, p1: 'unknown', p2: 600 } }).plan.counts).toMatchObject({
      raise: 2,
      lower: 1,
      clear: 1,
      inSync: 1,
      unknown: 1,
    })
  })
  test('names the source line, the reason and how many people a change reaches', () => {
    const { changes } = planOf({
      caps: { team: 100, 'group:g': 50, p0: 20 },
      observed: { team: 'none', 'group:g': 'none', p0: 'none' },
      groups: { g: ['p0', 'p1'] },
    }).plan
    expect(changes.map((one) => [one.people, one.source?.line])).toEqual([
      [1, 3],
      [1, 2],
      [18, 1],
    ])
  })
  test('reaches people with a desired `none` who show the ancestor’s cap', () => {
    const shown: PlanSketch = { caps: { team: 400, p0: 'none', p1: 9 }, observed: { team: 300, p0: 300, p1: 9 }, readsExplicit: false }
    expect(planOf(shown).plan.changes.map((one) => [short(one.scope), one.people])[0]).toEqual(['team', 19])
  })
  test('sets the ancestor’s cap for people without one of their own where caps are copied', () => {
    const copied: PlanSketch = { people: ['p0'], caps: { p0: 'none' }, observed: { team: 300, p0: 500 }, capSemantics: 'copied' }
    expect(planOf(copied).scopes).toMatchObject([{ state: 'drifted', desired: 300, observed: 500 }])
  })
})

test('what could not be read is told in the order of scopes, declared or not any more', () => {
  const sketch = { caps: { p1: 5 }, observed: { p0: 'unknown', p1: 'unknown' }, owned: { p0: { cap: 5 } } } as const
  expect(planOf(sketch).plan.unknown.map((one) => one.scope)).toEqual([scope('p0'), scope('p1')])
  const { plan } = planOf({ caps: { p1: 5, p0: 5, team: 5 }, observed: { p1: 'unknown', p0: 'unknown', team: 'unknown' } })
  expect(plan.unknown.map((one) => short(one.scope))).toEqual(['team', 'p0', 'p1'])
})

test('a plan has the groups with unknown members', () => {
  const unlistedGroups = new Set([scopeKey(scope('group:g'))])
  expect(planOf({ facts: { unlistedGroups } }).unlisted).toBe(unlistedGroups)
  expect(planOf({}).unlisted).toBeUndefined()
  expect(planOf({}).poolNotes).toEqual([])
})

describe('quarantine', () => {
  const entry = {
    scope: { kind: 'user', email: 'p0@example.com' },
    code: 'CAP_REFUSED',
    message: 'p0@example.com: refused',
    entry: entryOf('cap', 500),
    at: NOW,
  } as const
  const sketch: PlanSketch = { caps: { p0: 500, p1: 500 }, observed: { p0: 400, p1: 400 }, quarantined: [entry] }
  const changed = (more: PlanSketch) => planOf({ ...sketch, ...more }).plan.changes.map((one) => scopeKey(one.scope))

  test('leaves one scope alone and never the others', () => expect(changed({})).toEqual(['p1@example.com']))
  test('is over after 24 h', () => expect(changed({ now: NOW + 24 * HOUR })).toHaveLength(2))

  test('asks for what stood there before a 0 that is not kept, and says so', () => {
    const zero = { ...entry, code: 'ZERO_NOT_STORED', entry: entryOf('cap', 0), restore: cap(300) }
    const { plan } = planOf({ caps: { p0: 0, p1: 400 }, observed: { p0: 'none', p1: 400 }, quarantined: [zero] })
    expect(plan.changes).toMatchObject([
      { scope: scope('p0'), from: 'none', to: 300, reason: 'the service does not store a cap of 0 here, so the cap before it stays' },
    ])
    const there = planOf({ caps: { p0: 0, p1: 400, p2: 400 }, observed: { p0: 300, p1: 400, p2: 400 }, quarantined: [zero] })
    expect(there.plan.counts).toMatchObject({ rejected: 1, inSync: 2 })
    expect(there.desired.get(scopeKey(scope('p0')))).toMatchObject({ cap: 300, entry: { kind: 'kept', cap: 300 } })
  })
  test('leaves a scope alone also where it is ours and policy asks for nothing', () => {
    const left = { ...entry, entry: UNDECLARED }
    expect(planOf({ observed: { p0: 5 }, owned: { p0: { cap: 5 } }, quarantined: [left], facts: {} }).plan.changes).toEqual([])
  })
  test('of a zero that is not stored lasts until the policy changes', () =>
    expect(changed({ now: NOW + 999 * HOUR, quarantined: [{ ...entry, code: 'ZERO_NOT_STORED' }] })).toEqual(['p1@example.com']))
})
