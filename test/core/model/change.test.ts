// How a write may have ended, and what may be set after it.
import { expect, test } from 'vitest'
import { isInDoubt, mayHaveLanded } from '../../../src/core/model/change.ts'

test.each<readonly [string, Parameters<typeof isInDoubt>[0], { readonly landed: boolean; readonly doubted: boolean }]>([
  ['that was read back has landed without doubt', { result: 'applied' }, { landed: true, doubted: false }],
  ['whose answer was lost may land yet', { result: 'ambiguous' }, { landed: true, doubted: true }],
  ['that did not read back may show later', { result: 'verify_failed' }, { landed: true, doubted: true }],
  ['that the service refused left nothing behind', { result: 'failed' }, { landed: false, doubted: false }],
  ['that failed on the word of a reading that may be too early', { result: 'failed', unproven: true }, { landed: true, doubted: true }],
  ['that was never sent left nothing behind', { result: 'skipped' }, { landed: false, doubted: false }],
])('a write: %s', (_name, end, { landed, doubted }) => expect([mayHaveLanded(end), isInDoubt(end)]).toEqual([landed, doubted]))
