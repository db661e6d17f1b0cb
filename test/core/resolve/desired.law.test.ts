// Laws of resolving, over random worlds: a naive chain written from docs/policies.md agrees with the real one, the order of
// inputs never matters, and no scope is asked for and refused at once.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scopeKey } from '../../../src/core/model/scope.ts'
import { resolveDesired, resolvePerson } from '../../../src/core/resolve/desired.ts'
import {
  DAY,
  desiredInputs,
  email,
  type GrantSketch,
  members,
  NOW,
  ownedCaps,
  type PlainCap,
  type PolicySketch,
  roster,
} from '../../support/declare.ts'
import { runs } from '../../support/fuzz.ts'

type Inputs = ReturnType<typeof desiredInputs>

const PEOPLE = ['ada', 'bob', 'cyd', 'dan', 'eve']
const GROUPS = ['a', 'b', 'c']
const SCOPES = ['team', ...GROUPS.map((id) => `group:${id}`), ...PEOPLE]

interface World {
  readonly sketch: PolicySketch & { readonly caps: Readonly<Record<string, PlainCap>>; readonly grants: readonly GrantSketch[] }
  readonly inside: Readonly<Record<string, readonly string[]>>
}

const amount: fc.Arbitrary<PlainCap> = fc.oneof(fc.constant('none' as const), fc.constantFrom(0, 300, 500, 900, 1500))
const window = fc.constantFrom(
  { from: NOW - 2 * DAY, until: NOW - DAY },
  { from: NOW - DAY, until: NOW + 3 * DAY },
  { until: NOW + 1 },
  { from: NOW + DAY, until: NOW + 3 * DAY },
)
const size = fc.oneof(fc.record({ cap: fc.constantFrom(0, 700, 900, 6000) }), fc.record({ add: fc.constantFrom(1, 400) }))
// One grant a scope: parsing refuses those that overlap.
const grants = fc
  .uniqueArray(fc.constantFrom(...SCOPES), { maxLength: 5 })
  .chain((on) =>
    fc.tuple(...on.map((scope) => fc.tuple(window, size).map(([when, much]): GrantSketch => ({ on: scope, ...when, ...much })))),
  )
const world: fc.Arbitrary<World> = fc.record({
  sketch: fc.record(
    { caps: fc.dictionary(fc.constantFrom(...SCOPES), amount), grants, onGroupConflict: fc.constantFrom('min' as const, 'max' as const) },
    { requiredKeys: ['caps', 'grants'] },
  ),
  inside: fc.record({ a: fc.subarray(PEOPLE), b: fc.subarray(PEOPLE), c: fc.subarray(PEOPLE) }),
})

/** What a slow reader of docs/policies.md makes of it: a number, `none`, nothing declared, or `clash` (groups differ without a rule). */
type Naive = PlainCap | undefined | 'clash'

function naiveGroups(caps: readonly PlainCap[], rule: 'min' | 'max' | undefined): Naive {
  if (new Set(caps).size <= 1) return caps[0]
  const numbers = caps.filter((one) => one !== 'none')
  return rule === undefined ? 'clash' : rule === 'min' ? Math.min(...numbers) : Math.max(...numbers)
}

/** The first number on the way out; `none` when somebody said so and nobody a number; a clash stops the search. */
function naiveChain(...steps: readonly Naive[]): Naive {
  const found = steps.find((one) => one !== undefined && one !== 'none')
  return found ?? (steps.includes('none') ? 'none' : undefined)
}

function naivePerson({ sketch, inside }: World, name: string): Naive {
  const rule = (on: string): PlainCap | undefined => sketch.caps[on]
  const groups = GROUPS.filter((id) => inside[id]?.includes(name)).map((id) => `group:${id}`)
  const grant = (on: string, base: Naive): PlainCap | undefined => {
    const one = sketch.grants.find((other) => other.on === on)
    if (!one || (one.from ?? 0) > NOW || Number(one.until) <= NOW) return undefined
    if (one.add === undefined) return one.cap
    return typeof base === 'number' ? base + one.add : undefined
  }
  const inGroups = (cap: (on: string) => PlainCap | undefined): Naive =>
    naiveGroups(
      groups.map(cap).filter((one) => one !== undefined),
      sketch.onGroupConflict,
    )
  const base = rule(name) ?? naiveChain(inGroups(rule), rule('team'))
  const ofGroups = inGroups((on) => grant(on, rule(on) ?? rule('team')) ?? rule(on))
  return naiveChain(grant(name, base), rule(name), ofGroups, grant('team', rule('team')), rule('team'))
}

const inputsOf = ({ sketch, inside }: World, more: Partial<Inputs> = {}): Inputs =>
  desiredInputs(sketch, { groups: members(inside), ...more })

describe('resolving', () => {
  test('agrees for every person with a naive reading of the chain', () => {
    fc.assert(
      fc.property(world, (one) => {
        const inputs = inputsOf(one)
        for (const name of PEOPLE) {
          const naive = naivePerson(one, name)
          expect(resolvePerson(email(name), inputs)?.cap).toBe(naive === 'clash' ? undefined : naive)
        }
      }),
      runs(250),
    )
  })

  test('copies to every approved person what the naive chain gives them, or says why not', () => {
    fc.assert(
      fc.property(world, (one) => {
        const everybody = roster(Object.fromEntries(PEOPLE.map((name) => [name, 'approved' as const])))
        const { desired, rejected } = resolveDesired(inputsOf(one, { capSemantics: 'copied', roster: everybody }))
        const refused = new Set(rejected.map((other) => scopeKey(other.scope) as string))
        for (const name of PEOPLE.filter((other) => !refused.has(email(other)))) {
          const naive = naivePerson(one, name)
          const asked = desired.find((other) => scopeKey(other.scope) === email(name))?.cap
          expect(asked === undefined && naive === 'none' ? 'none' : asked).toBe(naive)
        }
      }),
      runs(150),
    )
  })

  const situation = fc.record({
    world,
    statuses: fc.dictionary(fc.constantFrom(...PEOPLE), fc.constantFrom('approved' as const, 'pending' as const, 'disabled' as const)),
    unknownGroups: fc.subarray(GROUPS),
    unread: fc.subarray(GROUPS),
    capSemantics: fc.constantFrom('layered' as const, 'copied' as const),
    grantsFrozen: fc.boolean(),
    owned: fc.dictionary(
      fc.constantFrom(...SCOPES),
      fc.record({
        cap: fc.constantFrom(300, 6000),
        owner: fc.constantFrom('policy' as const, 'grant' as const, 'conflict' as const, 'copied' as const),
        baseline: amount,
      }),
    ),
    gone: fc.dictionary(fc.constantFrom(...PEOPLE.map(email)), fc.constantFrom(1, 2)),
  })
  type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never
  const place = (one: Situation): Inputs =>
    inputsOf(one.world, {
      roster: roster(one.statuses),
      groups: members(one.world.inside).filter((group) => !one.unread.includes(group.id)),
      unknownGroups: one.unknownGroups,
      capSemantics: one.capSemantics,
      grantsFrozen: one.grantsFrozen,
      owned: ownedCaps(one.owned),
      conflictsGone: one.gone,
    })

  test('puts a scope into at most one of desired, skipped and rejected, but for what a grant gives back, in the canonical order', () => {
    fc.assert(
      fc.property(situation, (one) => {
        const { desired, skipped, rejected } = resolveDesired(place(one))
        const clashing = new Set(rejected.map((other) => scopeKey(other.scope)))
        const asked = desired.filter(({ scope, origin }) => origin.kind !== 'restore' || !clashing.has(scopeKey(scope)))
        const keys = [...asked, ...skipped, ...rejected].map((other) => scopeKey(other.scope) as string)
        expect(new Set(keys).size).toBe(keys.length)
        const rank = (key: string): string => (key === 'team' ? '0' : key.startsWith('group:') ? `1${key}` : `2${key}`)
        const order = desired.map((other) => rank(scopeKey(other.scope)))
        expect(order).toEqual(order.toSorted())
      }),
      runs(150),
    )
  })

  test('asks nothing for people who are not approved, and nothing of groups the service does not know', () => {
    fc.assert(
      fc.property(situation, (one) => {
        for (const { scope } of resolveDesired(place(one)).desired) {
          if (scope.kind === 'user') expect(['approved', 'disabled']).toContain(one.statuses[scope.email.split('@')[0] ?? ''])
          if (scope.kind === 'group') expect(one.unknownGroups).not.toContain(scope.id)
        }
      }),
      runs(150),
    )
  })

  test('gives the same whatever the order of rules, grants, groups, members, people and what is ours', () => {
    fc.assert(
      fc.property(situation, (one) => {
        const inputs = place(one)
        const { set, groups, roster: people, owned, unknownGroups } = inputs
        const turned: Inputs = {
          ...inputs,
          set: { ...set, rules: set.rules.toReversed(), grants: set.grants.toReversed(), groups: set.groups.toReversed() },
          groups: groups.toReversed().map((group) => ({ ...group, emails: group.emails.toReversed() })),
          unknownGroups: unknownGroups.toReversed(),
          owned: new Map([...owned].toReversed()),
          ...(people && { roster: { ...people, people: people.people.toReversed() } }),
        }
        expect(resolveDesired(turned)).toEqual(resolveDesired(inputs))
      }),
      runs(150),
    )
  })
})
