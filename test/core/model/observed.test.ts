// What may be set at a scope of ours beside the verified cap: a later write that its read-back did not show.
import { describe, expect, test } from 'vitest'
import { mayBeSet, withTried } from '../../../src/core/model/observed.ts'
import { cap, type OwnedSketch, ownedCaps } from '../../support/declare.ts'

test.each<readonly [string, OwnedSketch, boolean]>([
  ['where one was read back', { cap: 500 }, true],
  ['where nothing was read back after a cap was tried', { cap: 'none', tried: 500 }, true],
  ['where a 0 was read back, which is a cap', { cap: 0 }, true],
  ['not where nothing was read back and nothing else was tried', { cap: 'none' }, false],
])('a cap of ours may be set: %s', (_name, sketch, expected) =>
  expect([...ownedCaps({ ada: sketch }).values()].map(mayBeSet)).toEqual([expected]),
)

describe('a write that did not read back', () => {
  const [ada] = ownedCaps({ ada: { cap: 500, owner: 'grant', baseline: 300 } }).values()
  const before = { ...(ada ?? expect.unreachable()), written: true }

  test('is remembered beside what was verified, which stays as it was', () =>
    expect(withTried(before, cap(900), false)).toEqual({ ...before, tried: cap(900) }))
  test('for a grant is remembered as one, so that it is given back when the grant is over', () =>
    expect(withTried(before, cap(900), true)).toEqual({ ...before, tried: cap(900), triedByGrant: true }))
  test('takes the place of what was tried before it, and of who asked for that', () =>
    expect(withTried(withTried(before, cap(900), true), cap(700), false)).toEqual({ ...before, tried: cap(700) }))
})
