// What may be set at a scope of ours beside the verified cap: a later write that its read-back did not show.
import { describe, expect, test } from 'vitest'
import { withTried } from '../../../src/core/model/observed.ts'
import { cap, ownedCaps } from '../../support/declare.ts'

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
