// A scope is what a cap is set on: the team, one group, one user. Its key is the text that users type and read everywhere
// (`team`, `group:ID`, an e-mail), so there is one spelling in the CLI, the ledger, the logs and the plan.
import type { Position } from './problem.ts'
import { byKind, record, type Shape, text } from './shape.ts'

/** By code unit. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** By file, line and column: the last tie-break, so that the order of the files never matters. */
export const comparePositions = (a: Position, b: Position): number => compareText(a.file, b.file) || a.line - b.line || a.column - b.column

export const SCOPE_KINDS = ['team', 'group', 'user'] as const

export interface TeamScope {
  readonly kind: 'team'
}

export interface GroupScope {
  readonly kind: 'group'
  readonly id: string
}

/** `email` is always normalised: trimmed and lower case. */
export interface UserScope {
  readonly kind: 'user'
  readonly email: string
}

export type Scope = TeamScope | GroupScope | UserScope
export const SCOPE: Shape<Scope> = byKind({ team: {}, group: { id: text }, user: { email: text } })

declare const keyBrand: unique symbol

/** `team`, `group:ID` or an e-mail in lower case. */
export type ScopeKey = string & { readonly [keyBrand]: 'scope' }

/** Values by the keys of scopes. */
export const ofScopes = <T>(item: Shape<T>): Shape<Readonly<Record<ScopeKey, T>>> => record(item)

export const TEAM: TeamScope = { kind: 'team' }

export const groupScope = (id: string): GroupScope => ({ kind: 'group', id })

export const userScope = (email: string): UserScope => ({ kind: 'user', email: normaliseEmail(email) })

/** What stands before the last @ of an address or of a pattern; '' where there is none. */
export const nameIn = (address: string): string => address.slice(0, Math.max(0, address.lastIndexOf('@')))

/** What stands behind it; all of it where there is none. */
export const domainIn = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** E-mails compare trimmed, with the letters of ASCII folded and nothing else: other foldings make one address of two (docs/policies.md). */
export const normaliseEmail = (email: string): string => asciiFold(email.trim())

const asciiFold = (text: string): string =>
  IS_ASCII.test(text) ? text.toLowerCase() : text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
const IS_ASCII = /^[ -~]*$/

/** For a trimmed text. A colon is not allowed: it would make the text the key of a group. */
export const isEmail = (text: string): boolean => /^[^\s@:]+@[^\s@:]+$/.test(text)

export function scopeKey(scope: Scope): ScopeKey {
  switch (scope.kind) {
    case 'team':
      return 'team' as ScopeKey
    case 'group':
      return `group:${scope.id}` as ScopeKey
    case 'user':
      return scope.email as ScopeKey
  }
}

/** A list by the keys of its scopes. */
export const byScope = <T extends { readonly scope: Scope }>(list: readonly T[]): Map<ScopeKey, T> =>
  new Map(list.map((one) => [scopeKey(one.scope), one]))

/** Parses what a user types: `team`, `group:ID`, `user:EMAIL` or an e-mail; otherwise undefined. */
export function parseScope(text: string): Scope | undefined {
  const trimmed = text.trim()
  if (trimmed === 'team') return TEAM
  if (trimmed.startsWith('group:')) return trimmed.length > 6 ? groupScope(trimmed.slice(6)) : undefined
  const email = trimmed.startsWith('user:') ? trimmed.slice(5) : trimmed
  return isEmail(email) ? userScope(email) : undefined
}

/** The canonical order: the team, groups by id, users by e-mail; by code unit, so that it is the same on every machine. */
export const compareScopes = (a: Scope, b: Scope): number =>
  a.kind === b.kind ? compareText(scopeKey(a), scopeKey(b)) : SCOPE_KINDS.indexOf(a.kind) - SCOPE_KINDS.indexOf(b.kind)
