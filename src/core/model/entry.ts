// The policy entry behind a cap or a write: what kind of declaration asks for it, and for how much. It stays the same as long as what is asked of
// a scope does, whatever the line, the reason or the file, so that a change of policy can be told from a change by somebody else.
import type { Cap } from './policy.ts'

/**
 * Where a desired cap comes from: a cap declared for its scope (`rule`), a grant, a rule over people, a pool, the group conflict rule, a copy
 * at user scope, or the base a grant gives back.
 */
export const ORIGIN_KINDS = ['rule', 'grant', 'people', 'pool', 'conflict', 'copied', 'restore'] as const
export type OriginKind = (typeof ORIGIN_KINDS)[number]

/** `rule` and `pool`: of a person who matched a rule, or has a share in a pool; such caps lie at user scope. */
export const OWNER_KINDS = ['policy', 'grant', 'rule', 'pool', 'conflict', 'copied'] as const
export type OwnerKind = (typeof OWNER_KINDS)[number]

/** Something asks for a cap. `kept`: the cap from before a 0 that the service does not keep. */
export interface AskedEntry {
  readonly kind: OriginKind | 'kept'
  readonly cap: Cap
}

/** `undeclared`: nothing asks for a cap, as at an orphan. `given_up`: what asked for it counts no more, and the cap stays ours all the same. */
export type PolicyEntry = AskedEntry | { readonly kind: 'undeclared' } | { readonly kind: 'given_up' }

export const UNDECLARED: PolicyEntry = { kind: 'undeclared' }
export const GIVEN_UP: PolicyEntry = { kind: 'given_up' }

const askedBy = (entry: PolicyEntry): Cap | undefined => ('cap' in entry ? entry.cap : undefined)

/** Whether two entries ask for the same in the same way. */
export const isSameEntry = (one: PolicyEntry, other: PolicyEntry): boolean => one.kind === other.kind && askedBy(one) === askedBy(other)

const OWNERS: Readonly<Record<PolicyEntry['kind'], OwnerKind>> = {
  rule: 'policy',
  kept: 'policy',
  undeclared: 'policy',
  given_up: 'policy',
  grant: 'grant',
  restore: 'grant',
  people: 'rule',
  pool: 'pool',
  conflict: 'conflict',
  copied: 'copied',
}

/** Whose a cap is that was written for this entry. */
export const ownerOf = ({ kind }: PolicyEntry): OwnerKind => OWNERS[kind]
