// The edits that `capkeeper edit` knows, as plain data, and how each is named to people.
import type { Cap } from '../../core/model/policy.ts'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { Times } from '../grant.ts'

/** Sets the cap of a scope. `name`: of a group that is not declared yet. */
export interface CapEdit {
  readonly kind: 'cap'
  readonly scope: Scope
  readonly cap: Cap
  readonly reason?: string
  readonly name?: string
}

/** Adds a grant. Times are as they are written in a policy. */
export interface GrantEdit {
  readonly kind: 'grant'
  readonly scope: Scope
  readonly amount: { readonly kind: 'cap' | 'add'; readonly credits: number }
  readonly from?: string
  readonly until: string
  readonly reason: string
  readonly ticket?: string
}

/** Moves the end of a grant later; of several, `from` names one. */
export interface ExtendEdit {
  readonly kind: 'extend'
  readonly scope: Scope
  readonly until: string
  readonly from?: string
}

/** Adds a protected person. */
interface ProtectEdit {
  readonly kind: 'protect'
  readonly email: string
}

/** Adds the id of a hold. */
interface ApproveEdit {
  readonly kind: 'approve'
  readonly id: string
}

/** Removes an entry. */
interface RemoveEdit {
  readonly kind: 'remove'
  readonly target: Target
}

export type Target =
  | { readonly kind: 'scope'; readonly scope: Scope }
  | { readonly kind: 'protect'; readonly email: string }
  | { readonly kind: 'approval'; readonly id: string }
  /** Of several grants `from` names one, or `times` do. */
  | { readonly kind: 'grant'; readonly scope: Scope; readonly from?: string; readonly times?: Times }

export type Edit = CapEdit | GrantEdit | ExtendEdit | ProtectEdit | ApproveEdit | RemoveEdit

/** What an edit is about, in messages. */
export function subjectOf(edit: Edit): string {
  switch (edit.kind) {
    case 'cap':
      return `the cap of ${scopeKey(edit.scope)}`
    case 'grant':
    case 'extend':
      return `the grant of ${scopeKey(edit.scope)}`
    case 'protect':
      return `the protection of ${edit.email}`
    case 'approve':
      return `the approval ${edit.id}`
    case 'remove':
      return targetName(edit.target)
  }
}

function targetName(target: Target): string {
  switch (target.kind) {
    case 'scope':
      return `the entry of ${scopeKey(target.scope)}`
    case 'protect':
      return `the protection of ${target.email}`
    case 'approval':
      return `the approval ${target.id}`
    case 'grant':
      return `the grant of ${scopeKey(target.scope)}`
  }
}
