// How a write may have ended, what may be set after it, and which scopes in quarantine are only skipped.
import { expect, test } from 'vitest'
import { isGone, isInDoubt, mayHaveLanded } from '../../../src/core/model/change.ts'
import { UNDECLARED } from '../../../src/core/model/policy.ts'
import { entryOf, NOW, scope } from '../../support/declare.ts'

test.each<readonly [string, Parameters<typeof isInDoubt>[0], { readonly landed: boolean; readonly doubted: boolean }]>([
  ['that was read back has landed without doubt', { result: 'applied' }, { landed: true, doubted: false }],
  ['whose answer was lost may land yet', { result: 'ambiguous' }, { landed: true, doubted: true }],
  ['that did not read back may show later', { result: 'verify_failed' }, { landed: true, doubted: true }],
  ['that the service refused left nothing behind', { result: 'failed' }, { landed: false, doubted: false }],
  ['that failed on the word of a reading that may be too early', { result: 'failed', unproven: true }, { landed: true, doubted: true }],
  ['that was never sent left nothing behind', { result: 'skipped' }, { landed: false, doubted: false }],
])('a write: %s', (_name, end, { landed, doubted }) => expect([mayHaveLanded(end), isInDoubt(end)]).toEqual([landed, doubted]))

test.each<readonly [string, string, Parameters<typeof isGone>[0]['entry'], boolean]>([
  ['is only skipped where the service does not know it and no policy declares it', 'SCOPE_UNKNOWN', UNDECLARED, true],
  ['is an error where policy still declares what the service does not know', 'SCOPE_UNKNOWN', entryOf('cap', 5), false],
  ['is an error where the service refused a value for an undeclared scope, as it may be restored yet', 'CAP_REFUSED', UNDECLARED, false],
  ['is an error where the service refused what policy declares', 'CAP_REFUSED', entryOf('cap', 5), false],
])('a scope that is left alone: %s', (_name, code, entry, gone) =>
  expect(isGone({ scope: scope('group:a'), code, message: 'unknown group', entry, at: NOW })).toBe(gone),
)
