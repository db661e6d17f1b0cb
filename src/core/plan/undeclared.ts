// User caps that no policy declares and that are not ours: which people to read, and which readings to show. They are never written.

import type { CountedPerson, People } from '../interpret/effective.ts'
import type { ScopeStatus } from '../model/events.ts'
import type { CapReading, Observed } from '../model/observed.ts'
import type { Cap } from '../model/policy.ts'
import { type ScopeKey, scopeKey, type UserScope, userScope } from '../model/scope.ts'
import type { MemberNow } from '../pools/state.ts'
import type { DesiredCap } from '../resolve/candidate.ts'
import type { Resolution } from '../resolve/resolution.ts'

interface UndeclaredCap {
  readonly scope: UserScope
  readonly cap: Exclude<Cap, 'none'>
  readonly readAt: number
}

/** The user scopes in policy or in the ledger. Skipped, rejected and quarantined scopes are managed too, and members to whom a pool has not dealt yet. */
export function managedUsers(
  resolution: Pick<Resolution, 'skipped' | 'rejected'> & {
    readonly desired: readonly Pick<DesiredCap, 'scope'>[]
    readonly pools: readonly { readonly members: readonly Pick<MemberNow, 'email'>[] }[]
  },
  ...more: readonly Iterable<ScopeKey>[]
): ReadonlySet<ScopeKey> {
  const { desired, skipped, rejected, pools } = resolution
  const managed = new Set<ScopeKey>()
  for (const { members } of pools) for (const { email } of members) managed.add(scopeKey(userScope(email)))
  for (const { scope } of [...desired, ...skipped, ...rejected]) if (scope.kind === 'user') managed.add(scopeKey(scope))
  for (const keys of more) for (const key of keys) managed.add(key)
  return managed
}

/** Approved people whose scope is not managed, in the order of the roster. */
export const undeclaredPeople = (people: People, managed: ReadonlySet<ScopeKey>): readonly UserScope[] =>
  people.approved.flatMap(({ key, email }: CountedPerson): UserScope[] => (managed.has(key) ? [] : [{ kind: 'user', email }]))

/**
 * The readings that show a cap of the person's own. A cap that equals the inherited one does not count: it makes no difference to the
 * person, and where reads show inherited caps every person would seem to have one (choice).
 */
export function undeclaredCaps(readings: Iterable<CapReading>, inherited: (key: ScopeKey) => Observed): readonly UndeclaredCap[] {
  const found: UndeclaredCap[] = []
  for (const { scope, observed, readAt, last } of readings) {
    const known = observed === 'unknown' ? last : { observed, readAt }
    if (scope.kind !== 'user' || known === undefined || known.observed === 'none') continue
    if (known.observed !== inherited(scopeKey(scope))) found.push({ scope, cap: known.observed, readAt: known.readAt })
  }
  return found
}

export const undeclaredStatus = ({ scope, cap, readAt }: UndeclaredCap): ScopeStatus => ({
  scope,
  state: 'undeclared',
  observed: cap,
  readAt,
  why: 'no policy declares it, and it is not ours; it is never written',
})
