// What policy files declare, after parsing: plain data with the place of every declaration. Nothing here knows YAML.
import type { Position } from './problem.ts'
import type { GroupScope, Scope, UserScope } from './scope.ts'
import type { Credits, Instant } from './units.ts'

/** Whole credits a person may use, or `none`: nothing set at this scope, the next wider one applies. */
export type Cap = Credits | 'none'

/** `cap:` at a team, group or user. */
export interface CapRule {
  readonly scope: Scope
  readonly cap: Cap
  readonly reason?: string
  readonly at: Position
  /** `metadata.name` of the document it stands in. */
  readonly document: string
}

/** A temporary cap on top of the rules; the base comes back by itself. */
export interface Grant {
  readonly scope: Scope
  readonly amount: { readonly kind: 'cap'; readonly credits: Credits } | { readonly kind: 'add'; readonly credits: Credits }
  /** Absent: from now on. */
  readonly fromAt?: Instant
  /** Exclusive end. A date in the file means the end of that day in `spec.timezone`, which parsing has already worked out. */
  readonly until: { readonly kind: 'instant'; readonly at: Instant } | { readonly kind: 'cycleEnd' }
  readonly reason: string
  readonly ticket?: string
  readonly at: Position
  readonly document: string
}

/** A declared group: the id is used for caps, the name to list members. */
export interface DeclaredGroup {
  readonly scope: GroupScope
  readonly name: string
  readonly at: Position
}

export interface ProtectedPerson {
  readonly scope: UserScope
  readonly at: Position
}

export interface PolicyApproval {
  /** A hold id, 12 hex digits. */
  readonly id: string
  readonly at: Position
}

/** Everything that all files together declare for one workspace. */
export interface PolicySet {
  readonly workspace: string
  readonly rules: readonly CapRule[]
  readonly grants: readonly Grant[]
  readonly groups: readonly DeclaredGroup[]
  readonly protectedPeople: readonly ProtectedPerson[]
  readonly approvals: readonly PolicyApproval[]
  readonly onGroupConflict?: 'min' | 'max'
  /** Names of the documents, sorted. */
  readonly documents: readonly string[]
}

/** A policy set with its identity, as it is enforced. */
export interface PolicyRevision {
  readonly set: PolicySet
  /** 12 hex digits over the meaning of the set: the same whatever the order or the formatting of the files. */
  readonly digest: string
  /** The commit of the worktree the files lie in, or '' outside one. */
  readonly revision: string
}

/** A revision for people: each commit by its first 12 digits, `+dirty` as it is. */
export const shortRevision = (revision: string): string => revision.replace(/[0-9a-f]{13,}/g, (commit) => commit.slice(0, 12))
