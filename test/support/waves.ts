// Small random companies for the laws of waves: people in overlapping groups, stored caps, caps to write. Also the cap in force for a
// person, computed naively, so that the laws do not depend on the code they judge.

import fc from 'fast-check'
import { countPeople, type People } from '../../src/core/interpret/effective.ts'
import { type Cap, UNDECLARED } from '../../src/core/model/policy.ts'
import { type ScopeKey, scopeKey } from '../../src/core/model/scope.ts'
import type { Difference } from '../../src/core/plan/snapshot.ts'
import type { WaveInputs } from '../../src/core/plan/wave.ts'
import { cap, members, NOW, type PlainCap, roster, scope } from './declare.ts'

export const PEOPLE = ['p0', 'p1', 'p2']
const GROUPS = ['a', 'b']
export const SCOPES = ['team', 'group:a', 'group:b', ...PEOPLE]

export type Caps = ReadonlyMap<ScopeKey, Cap>

export interface Company {
  readonly groups: Readonly<Record<string, readonly string[]>>
  readonly set: Readonly<Record<string, PlainCap>>
  readonly changes: readonly Difference[]
}

export const keyOf = (name: string): ScopeKey => scopeKey(scope(name))

export const capsOf = (caps: Readonly<Record<string, PlainCap>>): Caps =>
  new Map(Object.entries(caps).map(([name, value]) => [keyOf(name), cap(value)]))

export const changeOf = (name: string, from: PlainCap, to: PlainCap, healing = false): Difference => ({
  ...{ scope: scope(name), key: keyOf(name), from: cap(from), to: cap(to) },
  ...{ cause: 'policy', entry: UNDECLARED, healing, grantEnd: false },
})

export const peopleOf = (groups: Company['groups'], names: readonly string[] = PEOPLE): People =>
  countPeople({ roster: roster(Object.fromEntries(names.map((name) => [name, 'approved']))), groups: members(groups), now: NOW })

/** The person whom nothing may lower, whatever is put back. */
export const GUARDED = 'p0'

/** Default: layered, reads explicit, everything ready. */
export const waveOf = ({ groups, set, changes }: Company, more: Partial<WaveInputs<Difference>> = {}): WaveInputs<Difference> => {
  const caps = capsOf(set)
  return {
    ...{ ready: changes, pending: changes, caps: (key) => caps.get(key), mayBeInherited: () => false },
    ...{ people: peopleOf(groups), guarded: new Set([keyOf(GUARDED)]), layers: 'layered' },
    ...more,
  }
}

/** User before the lowest group before the team. */
export function inForceOf(name: string, groups: Company['groups'], caps: Caps): number {
  const at = (one: string): number | undefined => {
    const found = caps.get(keyOf(one))
    return typeof found === 'number' ? found : undefined
  }
  const theirs = GROUPS.filter((id) => groups[id]?.includes(name)).flatMap((id) => at(`group:${id}`) ?? [])
  return at(name) ?? (theirs.length > 0 ? Math.min(...theirs) : (at('team') ?? Number.POSITIVE_INFINITY))
}

export const written = (caps: Caps, changes: readonly Difference[]): Caps =>
  new Map([...caps, ...changes.map(({ key, to }) => [key, to] as const)])

export function* subsetsOf<T>(all: readonly T[]): Iterable<readonly T[]> {
  for (let bits = 0; bits < 2 ** all.length; bits += 1) yield all.filter((_, index) => (bits >> index) % 2 === 1)
}

const amount = fc.constantFrom<PlainCap>('none', 100, 200, 300, 400)

/** People in any of two groups; any caps; up to six changes, some of them reverts on request. */
export const companies = (healing: fc.Arbitrary<boolean> = fc.constant(false)): fc.Arbitrary<Company> =>
  fc
    .record({
      groups: fc.record({ a: fc.subarray(PEOPLE), b: fc.subarray(PEOPLE) }),
      set: fc.record(Object.fromEntries(SCOPES.map((name) => [name, amount]))),
      targets: fc.dictionary(fc.constantFrom(...SCOPES), fc.tuple(amount, healing), { maxKeys: 6, noNullPrototype: true }),
    })
    .map(({ groups, set, targets }) => ({
      ...{ groups, set },
      changes: Object.entries(targets).flatMap(([name, [to, heals]]) => {
        const from = set[name] ?? 'none'
        return from === to ? [] : [changeOf(name, from, to, heals)]
      }),
    }))
