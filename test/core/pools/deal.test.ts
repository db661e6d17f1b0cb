// When a pool is dealt again, and what a deal reports; what it gives is in pool.test.ts and in the laws.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { dealPool } from '../../../src/core/pools/deal.ts'
import type { PoolMember, PoolState } from '../../../src/core/pools/state.ts'
import { CYCLE, cap, email, HOUR, NOW, type PlainCap } from '../../support/declare.ts'

type PoolTerms = Parameters<typeof dealPool>[0]

const TERMS: PoolTerms = { credits: credits(1000), share: 'equal', min: credits(0) }
const member = (inForce: PlainCap | undefined, use: number, more: Partial<PoolMember> = {}): PoolMember => ({
  base: credits(0),
  use: credits(use),
  ...(inForce !== undefined && { inForce: { cap: cap(inForce), at: NOW - 9 * HOUR } }),
  ...{ sent: [], lowered: [], ...more },
})
const state = (members: Readonly<Record<string, PoolMember>>, more: Partial<PoolState> = {}): PoolState => ({
  ...{ cycle: CYCLE, readAt: NOW, terms: TERMS, dealtAt: NOW - 4 * HOUR },
  members: Object.fromEntries(Object.entries(members).map(([name, one]) => [email(name), one])),
  ...more,
})
const given = (amount: number): Partial<PoolMember> => ({ dealt: credits(amount) })
/** ada is at her cap, and bob has head-room to spare. */
const BLOCKED = { ada: member(500, 500, given(500)), bob: member(500, 0, given(500)) }

describe('a pool is dealt again', () => {
  test.each<readonly [string, PoolState, PoolTerms, boolean]>([
    ['where a member is at their cap, 4 h after the last deal', state(BLOCKED), TERMS, true],
    ['not earlier', state(BLOCKED, { dealtAt: NOW - 4 * HOUR + 1 }), TERMS, false],
    ['not without newer use', state(BLOCKED, { readAt: NOW - 4 * HOUR }), TERMS, false],
    ['not where no member needs more', state({ ada: member(500, 0, given(500)), bob: member(500, 0, given(500)) }), TERMS, false],
    ['at once where nothing was dealt yet', state(BLOCKED, { dealtAt: undefined as never }), TERMS, true],
    ['at once with other credits', state(BLOCKED, { dealtAt: NOW - 1 }), { ...TERMS, credits: credits(1001) }, true],
    ['at once with another share', state(BLOCKED, { dealtAt: NOW - 1 }), { ...TERMS, share: 'need' }, true],
    ['at once with another min', state(BLOCKED, { dealtAt: NOW - 1 }), { ...TERMS, min: credits(5) }, true],
    ['at once with a most', state(BLOCKED, { dealtAt: NOW - 1 }), { ...TERMS, max: credits(900) }, true],
    ['at once where a member has no deal', state({ ...BLOCKED, cyd: member(5, 0) }, { dealtAt: NOW - 1 }), TERMS, true],
    ['not where that one was never read', state({ ...BLOCKED, cyd: member(undefined, 0) }, { dealtAt: NOW - 1 }), TERMS, false],
    ['not where that one is at 0', state({ ...BLOCKED, cyd: member(0, 0) }, { dealtAt: NOW - 1 }), TERMS, false],
    ['not where that one is protected', state({ ...BLOCKED, cyd: member(5, 0, { protected: true }) }, { dealtAt: NOW - 1 }), TERMS, false],
  ])('%s', (_name, before, terms, isNew) => {
    const deal = dealPool(terms, before, NOW)
    expect(deal.isNew).toBe(isNew)
    expect(deal.state === before).toBe(!isNew)
    expect([deal.state.terms, deal.state.dealtAt]).toEqual(isNew ? [terms, NOW] : [before.terms, before.dealtAt])
  })
})

describe('raises that waited for use under lowered caps', () => {
  const early = { dealtAt: NOW - HOUR }
  const FREED = { ada: member(500, 490, given(500)), bob: member(260, 0, given(260)) }

  test('and nobody is lowered for them', () => {
    const before = state({ ...FREED, cyd: member(240, 0, given(240)) }, early)
    const after = dealPool(TERMS, before, NOW, { hasShown: true })
    expect(after).toMatchObject({ isNew: false, state: before })
  })
})

describe('a deal tells', () => {
  test.each<readonly [string, Readonly<Record<string, PoolMember>>, boolean]>([
    ['that it is not used up while there is a credit for each', { ada: member(500, 499), bob: member(500, 499) }, false],
    ['that it is used up with less', { ada: member(500, 500), bob: member(500, 499) }, true],
    [
      'that it is used up with less, whatever own caps are',
      { ada: member(500, 500, { fixed: credits(600) }), bob: member(500, 499) },
      true,
    ],
    ['that it is used up where the least takes what is left', { ada: member(1, 0), bob: member(998, 998) }, true],
  ])('%s', (_name, members, isUsedUp) => expect(dealPool(TERMS, state(members), NOW).isUsedUp).toBe(isUsedUp))
})
