// Edits and policy texts for the tests of this folder.
import { parseScope, type Scope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import type { Edit } from '../../../src/policy/edit/edit.ts'
import { policyText } from '../support.ts'

export const NOW = Date.UTC(2026, 10, 20)

export const of = (text: string): Scope => parseScope(text) as Scope
export const cap = (scope: string, amount: number | 'none', more: object = {}): Edit => ({
  kind: 'cap',
  scope: of(scope),
  cap: amount === 'none' ? amount : credits(amount),
  ...more,
})
export const grant = (scope: string, more: object = {}): Edit => ({
  kind: 'grant',
  scope: of(scope),
  amount: { kind: 'cap', credits: 900 },
  until: '2026-12-15',
  reason: 'release',
  ...more,
})
export const extend = (scope: string, until: string, more: object = {}): Edit => ({ kind: 'extend', scope: of(scope), until, ...more })
export const remove = (scope: string): Edit => ({ kind: 'remove', target: { kind: 'scope', scope: of(scope) } })
export const unprotect = (email: string): Edit => ({ kind: 'remove', target: { kind: 'protect', email } })
export const removeGrant = (scope: string, more: object = {}): Edit => ({
  kind: 'remove',
  target: { kind: 'grant', scope: of(scope), ...more },
})
export const ID = '7d1f0c2a9b347d1f0c2a9b347d1f0c2a'

/** A document of these lines, in which blank lines are empty. */
export const lines = (...spec: readonly string[]): string => policyText(spec.join('\n')).replace(/^ +$/gm, '')
