// Waves: what may be written side by side, whatever of it fails. The laws walk every way on which a plan can go, by the reading of
// docs/operations.md and a slow count of their own.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextWave, planStart, schedule } from '../../../src/core/plan/wave.ts'
import { type PlainCap, short } from '../../support/declare.ts'
import { runs } from '../../support/fuzz.ts'
import { scopes } from '../../support/plan.ts'
import {
  type Caps,
  type Company,
  capsOf,
  changeOf,
  companies,
  GUARDED,
  inForceOf,
  keyOf,
  PEOPLE,
  peopleOf,
  SCOPES,
  subsetsOf,
  waveOf,
  written,
} from '../../support/waves.ts'

type Difference = ReturnType<typeof changeOf>
type ScopeKey = Difference['key']

const named = (changes: readonly Difference[]): string => changes.map((one) => short(one.scope)).join(' ')
type More = Parameters<typeof waveOf>[1]
/** The waves one after another, and what each blocked change comes after: `team, p2; p0 after team`. */
const told = (company: Company, more: More = {}): string => {
  const { waves, blocked } = schedule(waveOf(company, more))
  const after = [...blocked].map(([key, by]) => `${key.replace('@example.com', '')} after ${short(by)}`)
  return [waves.map(named).join(', '), ...after].join('; ')
}

/** What shows and what is asked, as in `scopes`; p0 and p1 are in group a, p1 and p2 in b, unless it is said otherwise. */
function company(text: string, groups: Company['groups'] = { a: ['p0', 'p1'], b: ['p1', 'p2'] }): Company {
  const { observed, caps } = scopes(text)
  const set = observed as Company['set']
  return { groups, set, changes: Object.entries(caps).map(([name, to]) => changeOf(name, set[name] ?? 'none', to)) }
}
const without = (one: Company, ...names: readonly string[]): Required<Pick<NonNullable<More>, 'ready'>> => ({
  ready: one.changes.filter(({ scope }) => !names.includes(short(scope))),
})

describe('the order of kinds', () => {
  const ALL = company('team 5>4, group:a 5>6, group:b 6>5, p0 none>5, p1 5>6, p2 5>none')
  test('is first sets and raises from users to the team, then the rest from the team to users', () =>
    expect(told(ALL)).toBe('p0 p1, group:a, team, group:b, p2'))
  test('is from the team to users where caps are copied, raises of people before the rest', () =>
    expect(told(ALL, { layers: 'copied' })).toBe('team, group:a group:b, p0 p1, p2'))
  test('counts a cap that may be inherited as a first one, but never a clearing', () => {
    const one = company('p0 6>5, p1 5>none, team 9>8')
    const changes = one.changes.map((change) => ({ ...change, isFirst: change.key !== keyOf('team') }))
    expect(told({ ...one, changes })).toMatch(/^p0, /)
  })
  test('counts pending caps also without a refused one of a descendant, which may never be written', () => {
    const one = company('team 200>300, group:a none>0, p0 700>none')
    const refused = (isRefused: boolean) => {
      const pending = one.changes.map((change) => (change.key === keyOf('group:a') ? { ...change, isRefused } : change))
      return told(one, { pending, ready: pending.slice(2) })
    }
    expect([refused(true), refused(false)]).toEqual(['; p0 after team', 'p0'])
  })
  test('is kept where caps are copied, even if a person falls below on the way: there is no safe order', () => {
    const one = company('team 9>5, p0 none>9')
    expect(told(one, { ...without(one, 'p0'), layers: 'copied' })).toBe('team')
  })
})

describe('a change waits', () => {
  const inThree = { a: ['p0'], b: ['p0'], c: ['p0'] }
  test.each<readonly [string, Company, readonly string[], string]>([
    ['for the ancestor’s cap that takes the place of a cleared one', company('p0 5>none, team none>4'), ['team'], '; p0 after team'],
    ['for a first cap of a person who would fall below it', company('team 9>2, p0 none>9'), ['p0'], '; team after p0'],
    ['not where the person is to have no less', company('team 9>5, p0 none>4'), ['p0'], 'team'],
    ['for the other group of who would be uncapped', company('group:a none>4, group:b 9>none'), ['group:a'], '; group:b after group:a'],
    ['for the one of two that makes room', company('group:a 9>8, group:b 2>6, p1 5>none'), ['group:a', 'group:b'], '; p1 after group:b'],
    [
      'for the first that is not written yet, where only several together make room for it',
      company('group:a 2>6, group:b 2>6, group:c 2>6, p0 5>none', inThree),
      ['group:b', 'group:c'],
      'group:a; p0 after group:b',
    ],
    ['not for another that is to be cleared as well', company('group:a 5>none, group:b 7>none'), [], 'group:a group:b'],
    ['not where nobody is in the group', company('group:c 5>4, team 9>8'), ['team'], 'group:c'],
  ])('%s', (_name, one, names, expected) => expect(told(one, without(one, ...names))).toBe(expected))

  test('for the first cap of a group with unknown members: anybody may be in it', () => {
    const one = company('team 9>5, group:a none>9, p2 9>none', {})
    expect(told(one, without(one, 'group:a'))).toBe('team, p2')
    expect(told(one, { ...without(one, 'group:a'), unlisted: new Set([keyOf('group:a')]) })).toBe('p2; team after group:a')
  })

  test('so it does where more are than are tried in every combination, and very many without a cap', { timeout: 20_000 }, () => {
    const one = company('team 9>5, group:a none>9, group:c1 5, group:c2 5, group:c3 5, group:c4 5', {})
    const names = ['a', ...Array.from({ length: 3_000 }, (_, index) => `c${index}`)]
    const more = { unlisted: new Set(names.map((id) => keyOf(`group:${id}`))), people: peopleOf({}, names) }
    expect(told(one, { ...without(one, 'group:a'), ...more })).toBe('; team after group:a')
    expect(told(one, more)).toBe('group:a, team')
  })

  test('so it does for members of two such groups, where neither alone would be in the way', () => {
    const one = company('group:a 4>none, group:b 9>5, p0 none>5, team 5, group:c 4', {})
    const pending = one.changes.map((change) => ({ ...change, isPooled: change.scope.kind === 'user' }))
    const unlisted = new Set(['a', 'b', 'c', 'd'].map((id) => keyOf(`group:${id}`)))
    expect(told(one, { ...without(one, 'group:b', 'p0'), pending, unlisted })).toBe('; group:a after p0')
  })

  test('for a first cap of a person who had one when the plan began, and of no other person', () => {
    const one = company('group:a 5>none, p0 none>7', { a: ['p0'] })
    expect(told(one, without(one, 'p0'))).toBe('; group:a after p0')
    expect(told(one, { ...without(one, 'p0'), start: planStart(waveOf({ ...one, set: {} })) })).toBe('group:a')
  })

  test('for the cap that a pool deals, where it would lift a member above it: what members have counts in a sum', () => {
    const result = (team: string, isWatched: boolean) => {
      const one = company(`team ${team}, p0 none>6`)
      const dealt = one.changes.map((change) => (change.scope.kind === 'user' ? { ...change, isPooled: true, isWatched } : change))
      return told(one, { ...without(one, 'p0'), pending: dealt })
    }
    expect([result('5>9', false), result('5>9', true)]).toEqual(['; team after p0', '; team after p0'])
    expect([result('5>6', false), result('5>6', true)]).toEqual(['team', 'team'])
    expect([result('9>4', false), result('9>4', true)]).toEqual(['; team after p0', 'team'])
  })

  test('where it is wrong in one way to read, though right in the others', () => {
    const one = company('group:a 9>4, p0 9>12, team 2')
    expect(told(one, without(one, 'p0'))).toBe('group:a')
    expect(told(one, { ...without(one, 'p0'), mayBeInherited: (key) => key !== keyOf('team') })).toBe('; group:a after p0')
  })

  test.each([
    [1, 1],
    [1, 2],
    [6, 2],
    [7, 1],
  ])('where of many groups %i get a first cap and %i are raised, so that nobody is lifted above what a pool deals', (firsts, raised) => {
    const ids = Array.from({ length: firsts + raised }, (_, index) => `g${index}`)
    const from = (index: number): PlainCap => (index < firsts ? 'none' : 4)
    const changes = ids.map((id, index) => changeOf(`group:${id}`, from(index), index < firsts ? 500 : 900))
    const dealt = { ...changeOf('p0', 'none', 500), isPooled: true }
    const groups = Object.fromEntries(ids.map((id) => [id, ['p0']]))
    const set = Object.fromEntries(ids.map((id, index) => [`group:${id}`, from(index)]))
    const inputs = { ...waveOf({ groups, set, changes }), people: peopleOf(groups, ['p0']), pending: [...changes, dealt] }
    expect(schedule(inputs).waves.map((wave) => wave.length)).toEqual([ids.length - 1, 1])
  })
})

/** Walks every way: each subset of each wave lands, the rest fails and is not tried again; `check` sees every state on it. */
function walk(given: Company, check: (caps: Caps) => void, inputs: Parameters<typeof waveOf>[1] = {}): void {
  const seen = new Set<string>()
  const { mayBeInherited = () => false } = inputs
  const start = planStart(waveOf(given, inputs))
  const step = (caps: Caps, ready: readonly Difference[], pending: readonly Difference[]): void => {
    const id = `${named(ready)}|${named(pending)}`
    if (seen.has(id)) return
    seen.add(id)
    const isPending = new Set(pending.map(({ key }) => key))
    const wave = nextWave(
      waveOf(given, {
        ...inputs,
        ...{ ready, pending, start, caps: (key: ScopeKey) => caps.get(key) },
        mayBeInherited: (key) => mayBeInherited(key) && (isPending.has(key) || !given.changes.some((one) => one.key === key)),
      }),
    ).changes
    for (const landed of wave.length === 0 ? [] : subsetsOf(wave)) {
      const after = written(caps, landed)
      check(after)
      step(
        after,
        ready.filter((one) => !wave.includes(one)),
        pending.filter((one) => !landed.includes(one)),
      )
    }
  }
  step(capsOf(given.set), given.changes, given.changes)
}

function expectSafe(given: Company, before: Caps, now: Caps): void {
  const after = written(before, given.changes)
  for (const name of PEOPLE) {
    const [had, gets, has] = [before, after, now].map((caps) => inForceOf(name, given.groups, caps))
    if (had === undefined || gets === undefined || has === undefined) throw new Error('three states')
    expect(has, `${name} has ${has} on the way from ${had} to ${gets}`).toBeGreaterThanOrEqual(Math.min(had, gets))
    const isCapped = Number.isFinite(had) && Number.isFinite(gets)
    expect(isCapped && !Number.isFinite(has), `${name} is uncapped on the way from ${had} to ${gets}`).toBe(false)
  }
}

/** Nor does anybody fall to an ancestor’s cap above both that is still to be changed. */
function expectFair(given: Company, before: Caps, now: Caps): void {
  expectSafe(given, before, now)
  const after = written(before, given.changes)
  for (const name of PEOPLE) {
    const [had = 0, gets = 0, has] = [before, after, now].map((caps) => inForceOf(name, given.groups, caps))
    expect(has, `${name} has ${has} on the way from ${had} to ${gets}`).toBeLessThanOrEqual(Math.max(had, gets))
  }
}

describe('laws, in any small company, whichever writes of each wave fail', () => {
  test('nobody is ever below the lesser of before and after, nor uncapped on the way to a cap', () => {
    fc.assert(
      fc.property(companies(), (given) => walk(given, (now) => expectSafe(given, capsOf(given.set), now))),
      runs(200),
    )
  })

  test('so it is in every way to read caps while that is open', () => {
    fc.assert(
      fc.property(companies(), fc.subarray(SCOPES.slice(1)), (given, names) => {
        const start = capsOf(given.set)
        const open = new Set(names.map(keyOf).filter((key) => typeof start.get(key) === 'number'))
        walk(
          given,
          (now) => {
            const isLanded = (key: ScopeKey) => now.get(key) !== start.get(key)
            for (const unset of subsetsOf([...open])) {
              const read = (caps: Caps, keys: readonly ScopeKey[]): Caps => new Map([...caps, ...keys.map((key) => [key, 'none'] as const)])
              expectSafe(
                given,
                read(start, unset),
                read(
                  now,
                  unset.filter((key) => !isLanded(key)),
                ),
              )
            }
          },
          { mayBeInherited: (key) => open.has(key) },
        )
      }),
      runs(200),
    )
  })

  test('so nobody is above the higher of before and after while a pool’s cap is pending', () => {
    fc.assert(
      fc.property(companies(), fc.subarray(PEOPLE), (given, names) => {
        const dealt = given.changes.map((one) => ({ ...one, isPooled: names.includes(short(one.scope)) }))
        const start = capsOf(given.set)
        const after = written(start, dealt)
        walk({ ...given, changes: dealt }, (now) => {
          for (const { key, to, scope } of dealt.filter(({ isPooled }) => isPooled)) {
            const [had, gets, has] = [start, after, now].map((caps) => inForceOf(short(scope), given.groups, caps))
            if (now.get(key) !== to) expect(has).toBeLessThanOrEqual(Math.max(had ?? 0, gets ?? 0))
          }
        })
      }),
      runs(200),
    )
  })

  test('so it is for members of groups with unknown members', () => {
    fc.assert(
      fc.property(companies(), fc.subarray(['a', 'b'], { minLength: 1 }), (given, hidden) => {
        const listed = Object.fromEntries(Object.entries(given.groups).filter(([id]) => !hidden.includes(id)))
        const inputs = { people: peopleOf(listed), unlisted: new Set(hidden.map((id) => keyOf(`group:${id}`))) }
        walk(given, (now) => expectSafe(given, capsOf(given.set), now), inputs)
      }),
      runs(200),
    )
  })

  test('where nothing fails or is held, everything is written while it is open how caps are read: some order is right in every way', () => {
    fc.assert(
      fc.property(companies(fc.boolean()), fc.subarray(SCOPES), (given, names) => {
        const open = new Set(names.map(keyOf))
        const { waves, blocked } = schedule(waveOf(given, { mayBeInherited: (key) => open.has(key) }))
        expect([waves.flat().length, blocked.size]).toEqual([given.changes.length, 0])
      }),
      runs(200),
    )
  })

  test('where nothing fails, is held or is open, everything is written, in at most six waves of one kind and direction each', () => {
    fc.assert(
      fc.property(companies(), (given) => {
        const { waves, blocked } = schedule(waveOf(given))
        expect(named(waves.flat()).split(' ').sort()).toEqual(named(given.changes).split(' ').sort())
        expect(blocked.size).toBe(0)
        const ranks = waves.map((wave) => new Set(wave.map(rank)))
        expect(ranks.every((one) => one.size === 1)).toBe(true)
        const order = ranks.flatMap((one) => [...one])
        expect(order).toEqual(order.toSorted((a, b) => a - b))
      }),
      runs(200),
    )
  })

  test('a blocked change is exactly one that would harm a person before the other is written, or lift them in between', () => {
    fc.assert(
      fc.property(companies(), fc.subarray(SCOPES), (given, names) => {
        const ready = given.changes.filter(({ scope }) => !names.includes(short(scope)))
        const { waves, blocked } = schedule(waveOf(given, { ready }))
        const done = written(capsOf(given.set), waves.flat())
        expect(waves.flat().length + blocked.size).toBe(ready.length)
        for (const key of blocked.keys()) {
          const one = ready.filter((change) => change.key === key)
          expect(() => expectFair(given, capsOf(given.set), written(done, one)), `${key} could have been written`).toThrow()
        }
      }),
      runs(200),
    )
  })

  test('a wave is the same whatever the order in which changes came, but for its own order', () => {
    fc.assert(
      fc.property(
        companies().chain((given) =>
          fc.tuple(fc.constant(given), fc.shuffledSubarray([...given.changes], { minLength: given.changes.length })),
        ),
        ([given, changes]) => {
          const sorted = (one: Company) =>
            nextWave(waveOf(one))
              .changes.map(({ key }) => key)
              .sort()
          expect(sorted({ ...given, changes })).toEqual(sorted(given))
        },
      ),
      runs(100),
    )
  })
})

const KINDS = ['user', 'group', 'team']
const rank = ({ scope, from, to }: Difference): number => {
  const isUp = to !== 'none' && (from === 'none' || to > from)
  return isUp ? KINDS.indexOf(scope.kind) : 5 - KINDS.indexOf(scope.kind)
}

test('healing never leaves anybody below before, after, and what is put back; nor who is guarded below before and after', () => {
  fc.assert(
    fc.property(companies(fc.boolean()), (given) => {
      const start = capsOf(given.set)
      const healed = written(
        start,
        given.changes.filter((one) => one.healing),
      )
      walk(given, (now) => {
        const after = written(start, given.changes)
        for (const name of PEOPLE) {
          const [had, gets, back, has] = [start, after, healed, now].map((caps) => inForceOf(name, given.groups, caps))
          const least = Math.min(had ?? 0, gets ?? 0)
          expect(has).toBeGreaterThanOrEqual(name === GUARDED ? least : Math.min(least, back ?? 0))
        }
      })
    }),
    runs(200),
  )
})
