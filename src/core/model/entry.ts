// The policy entry behind a cap or a write: the kind of declaration, and its cap. It does not depend on the line, the reason or the file. So a
// change of policy can be told from a foreign change.
import type { Cap } from './policy.ts'

/**
 * Where a desired cap comes from: a cap declared for its scope, a grant, a rule, a pool, the group conflict rule, a copy at user scope, or the
 * base a grant gives back.
 */
export const ORIGIN_KINDS = ['cap', 'grant', 'rule', 'pool', 'conflict', 'copied', 'restore'] as const
export type OriginKind = (typeof ORIGIN_KINDS)[number]

/** `rule` and `pool`: the cap of a person who matched a rule, or is a member of a pool; such caps are at user scope. */
export const OWNER_KINDS = ['policy', 'grant', 'rule', 'pool', 'conflict', 'copied'] as const
export type OwnerKind = (typeof OWNER_KINDS)[number]

/** A declaration of a cap. `kept`: the cap from before a 0 that the service does not store. */
export interface AskedEntry {
  readonly kind: OriginKind | 'kept'
  readonly cap: Cap
}

/** `undeclared`: no declaration, as at an orphan. `given_up`: the declaration counts no more, but the cap stays ours. */
export type PolicyEntry = AskedEntry | { readonly kind: 'undeclared' } | { readonly kind: 'given_up' }

export const UNDECLARED: PolicyEntry = { kind: 'undeclared' }
export const GIVEN_UP: PolicyEntry = { kind: 'given_up' }

const capOf = (entry: PolicyEntry): Cap | undefined => ('cap' in entry ? entry.cap : undefined)

/** Whether two entries declare the same cap in the same way. */
export const isSameEntry = (one: PolicyEntry, other: PolicyEntry): boolean => one.kind === other.kind && capOf(one) === capOf(other)

const OWNERS: Readonly<Record<PolicyEntry['kind'], OwnerKind>> = {
  cap: 'policy',
  kept: 'policy',
  undeclared: 'policy',
  given_up: 'policy',
  grant: 'grant',
  restore: 'grant',
  rule: 'rule',
  pool: 'pool',
  conflict: 'conflict',
  copied: 'copied',
}

/** The owner of a cap that was written for this entry. */
export const ownerOf = ({ kind }: PolicyEntry): OwnerKind => OWNERS[kind]
