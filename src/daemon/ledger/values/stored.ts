// The differences between values in the ledger and in memory: policy entries are stored as texts, and fields of later versions may be absent.

import { type AskedEntry, GIVEN_UP, ORIGIN_KINDS, type PolicyEntry, type PolicyRevision, UNDECLARED } from '../../../core/model/policy.ts'
import type { ScopeKey } from '../../../core/model/scope.ts'
import { credits } from '../../../core/model/units.ts'
import type { Contest } from '../../../core/plan/snapshot.ts'
import type { LedgerFacts } from '../../../ports.ts'
import type { StoredPolicySet } from './policy-source.ts'

/** A value as it is stored: its policy entry is a text. */
export type Stored<T extends { readonly entry: PolicyEntry }> = Omit<T, 'entry'> & { readonly entry: string }

export const stored = <T extends { readonly entry: PolicyEntry }>(value: T): Stored<T> => ({ ...value, entry: entryText(value.entry) })

export const restored = <T extends { readonly entry: string }>(value: T): Omit<T, 'entry'> & { readonly entry: PolicyEntry } => ({
  ...value,
  entry: entryFrom(value.entry),
})

type Contests<C> = Readonly<Record<ScopeKey, C>>

/** Facts as they are stored. */
export interface StoredFacts extends Omit<LedgerFacts, 'contested' | 'policy'> {
  readonly contested: Contests<Stored<Contest>>
  readonly policy: Omit<PolicyRevision, 'set' | 'empty' | 'delegated' | 'settled'> & { readonly set: StoredPolicySet }
}

const contests = <A, B>(all: Contests<A>, change: (one: A) => B): Contests<B> =>
  Object.fromEntries(Object.entries<A>(all).map(([key, one]) => [key, change(one)]))

/** A fact as it is stored. */
export const storedFact = <K extends keyof LedgerFacts>(name: K, value: LedgerFacts[K] | undefined): unknown =>
  value === undefined ? undefined : (KEPT[name]?.(value) ?? value)

const KEPT: { readonly [K in keyof LedgerFacts]?: (value: LedgerFacts[K]) => StoredFacts[K] } = {
  contested: (all) => contests(all, stored),
  // The bounds are those of the config, and what teams say beyond them is in their files.
  policy: ({ delegated: _, settled: __, ...revision }) => revision,
}

/** A fact as it is in memory. */
export function restoredFact<K extends keyof LedgerFacts>(name: K, value: StoredFacts[K]): LedgerFacts[K]
export function restoredFact<K extends keyof LedgerFacts>(name: K, value: StoredFacts[K] | undefined): LedgerFacts[K] | undefined
export function restoredFact<K extends keyof LedgerFacts>(name: K, value: StoredFacts[K] | undefined): unknown {
  return value === undefined ? undefined : (READ[name]?.(value) ?? value)
}

const READ: { readonly [K in keyof LedgerFacts]?: (value: StoredFacts[K]) => LedgerFacts[K] } = {
  contested: (all) => contests(all, restored),
  policy: ({ set, ...revision }) => ({ ...revision, set: { peopleRules: [], pools: [], ...set } }),
}

// Stores a policy entry as a short text, such as `rule|500`, and reads every text that an earlier version wrote.

const ASKED: readonly AskedEntry['kind'][] = [...ORIGIN_KINDS, 'kept']

/** The first version called a declared cap `rule` and a rule `people`; the stored texts keep these names. */
const STORED_NAMES: Readonly<Partial<Record<AskedEntry['kind'], string>>> = { cap: 'rule', rule: 'people' }

const storedName = (kind: AskedEntry['kind']): string => STORED_NAMES[kind] ?? kind

const NOTHING = ''
const GIVEN_UP_TEXT = 'given up'

export function entryText(entry: PolicyEntry): string {
  if (entry.kind === 'undeclared') return NOTHING
  return entry.kind === 'given_up' ? GIVEN_UP_TEXT : `${storedName(entry.kind)}|${entry.cap}`
}

/** A text of an unknown kind is an entry that no longer counts. */
export function entryFrom(text: string): PolicyEntry {
  if (text === NOTHING) return UNDECLARED
  const [, name, cap] = /^([a-z]+)\|(none|\d+)$/.exec(text) ?? []
  const kind = ASKED.find((one) => storedName(one) === name)
  return kind ? { kind, cap: cap === 'none' ? cap : credits(Number(cap)) } : GIVEN_UP
}
