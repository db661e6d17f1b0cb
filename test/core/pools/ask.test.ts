// What the last deal asks for a member now, who keeps a cap because a raise has to wait, and who may inherit higher caps.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { capToAsk, followersIn, keepsCap, keptCap } from '../../../src/core/pools/deal.ts'
import type { PoolMember, PoolState } from '../../../src/core/pools/state.ts'
import { CYCLE, cap, email, HOUR, NOW, type PlainCap } from '../../support/declare.ts'

const member = (inForce: PlainCap | undefined, more: Partial<PoolMember> = {}): PoolMember => ({
  base: credits(0),
  ...(inForce !== undefined && { inForce: { cap: cap(inForce), at: NOW - HOUR } }),
  ...{ sent: [], lowered: [], ...more },
})
const state = (members: Readonly<Record<string, PoolMember>>): PoolState => ({
  cycle: CYCLE,
  readAt: NOW,
  dealtAt: NOW,
  members: Object.fromEntries(Object.entries(members).map(([name, one]) => [email(name), one])),
})
const TERMS = { credits: credits(100) }
const dealt = (amount: number): Partial<PoolMember> => ({ dealt: credits(amount) })
/** Alone with ada they come to more than the credits. */
const CROWD = { bob: member(95, dealt(10)) }

describe('what is asked for a member', () => {
  test.each<readonly [string, Readonly<Record<string, PoolMember>>, number | undefined]>([
    ['is what was dealt', { ada: member(20, dealt(40)) }, 40],
    ['is what was dealt while the sum is just the credits', { ada: member(20, dealt(40)), bob: member(60, dealt(60)) }, 40],
    ['is what is in force while a raise has to wait for the sum', { ada: member(20, dealt(40)), ...CROWD }, 20],
    ['is what was dealt where that lowers, whatever the sum', { ada: member(60, dealt(40)), ...CROWD }, 40],
    ['is what was dealt where it is in force', { ada: member(40, dealt(40)), ...CROWD }, 40],
    ['is a first cap, whatever the sum', { ada: member('none', dealt(40)), ...CROWD }, 40],
    ['is what was dealt where nothing was read yet', { ada: member(undefined, dealt(40)), ...CROWD }, 40],
    ['is 1 where that is in force and a raise has to wait', { ada: member(1, dealt(40)), ...CROWD }, 1],
    ['is nothing where a raise from 0 has to wait', { ada: member(0, dealt(40)), ...CROWD }, undefined],
    ['is nothing where nothing was dealt', { ada: member(20) }, undefined],
    ['is nothing for a protected member', { ada: member(20, { ...dealt(40), protected: true }) }, undefined],
    ['is nothing of who left', { ada: member(20, { ...dealt(40), left: { at: NOW } }) }, undefined],
    ['is nothing for an unknown person', {}, undefined],
  ])('%s', (_name, members, expected) => expect(capToAsk(TERMS, state(members), email('ada'))).toBe(expected))
})

describe('whether a member keeps the cap in force', () => {
  const waiting = (fixed: number | undefined, inForce: PlainCap | undefined = 20): PoolMember =>
    member(inForce, { protected: true, ...(fixed !== undefined && { fixed: credits(fixed) }) })
  test.each<readonly [string, Readonly<Record<string, PoolMember>>, boolean]>([
    ['so at 0 where a raise from it has to wait', { ada: member(0, dealt(40)), ...CROWD, cyd: member(9) }, true],
    ['not where the raise can go', { ada: member(0, dealt(40)) }, false],
    ['not where 0 is what was dealt', { ada: member(0, dealt(0)), ...CROWD, cyd: member(9) }, false],
    ['not above 0, where what is asked keeps it', { ada: member(1, dealt(40)), ...CROWD, cyd: member(9) }, false],
    ['so where the credits do not pay for the cap of a protected member', { ada: waiting(101) }, true],
    ['not where they just pay for it', { ada: waiting(100) }, false],
    ['so where they do not pay for all protected members together', { ada: waiting(50), bob: waiting(51) }, true],
    ['not where they pay for all of them', { ada: waiting(50), bob: waiting(50) }, false],
    ['counts nobody who left', { ada: waiting(50), bob: { ...waiting(90), left: { at: NOW, cap: cap(20) } } }, false],
    ['does not count members who are dealt', { ada: waiting(50), bob: member(20, { fixed: credits(90) }) }, false],
    ['not where the declared cap is no raise', { ada: waiting(20), bob: member(95) }, false],
    ['not where no cap is declared', { ada: waiting(undefined), bob: member(95) }, false],
    ['not without a cap in force', { ada: waiting(900, 'none') }, false],
    ['not where nothing was read', { ada: { ...waiting(900), inForce: undefined as never } }, false],
    ['nothing of who left', { ada: { ...waiting(900), left: { at: NOW } } }, false],
    ['not for an unknown person', {}, false],
  ])('%s', (_name, members, expected) => expect(keepsCap(TERMS, state(members), email('ada'))).toBe(expected))
  test.each<readonly [string, PoolMember | undefined, object | undefined]>([
    ['is read', member(20), { cap: 20, at: NOW - HOUR }],
    ['is none where nothing is set', member('none'), undefined],
    ['is none where nothing was read', member(undefined), undefined],
    ['is none for an unknown person', undefined, undefined],
  ])('the cap that is kept %s', (_name, one, expected) => expect(keptCap(one)).toEqual(expected))
})

describe('members who may inherit higher caps', () => {
  const followers = (members: Readonly<Record<string, PoolMember>>) => {
    const { room, members: found } = followersIn(TERMS, state(members))
    return [room, ...found.map((one) => `${one.email.split('@')[0]} ${one.base} ${one.count}`)]
  }
  test.each<readonly [string, Readonly<Record<string, PoolMember>>, readonly unknown[]]>([
    [
      'are all members, with what they count at, and what nobody counts at is the room',
      { ada: member(20), bob: member(30, { base: credits(10), use: credits(35) }) },
      [55, 'ada 0 20', 'bob 10 25'],
    ],
    [
      'are none who left, whose use counts all the same',
      { ada: member(20), bob: member(30, { use: credits(30), left: { at: NOW, cap: cap(30) } }) },
      [50, 'ada 0 20'],
    ],
    [
      'have no room that protected members are to get',
      { ada: member(20, { protected: true, fixed: credits(50) }), bob: member(30) },
      [20, 'ada 0 20', 'bob 0 30'],
    ],
    [
      'have what is left where they do not get it',
      { ada: member(20, { protected: true, fixed: credits(90) }), bob: member(30) },
      [50, 'ada 0 20', 'bob 0 30'],
    ],
    ['leave room for protected members alone', { ada: member(20, { fixed: credits(50) }) }, [80, 'ada 0 20']],
    [
      'count at their use where they have no known cap',
      { ada: member('none', { use: credits(7) }) },
      [Number.NEGATIVE_INFINITY, 'ada 0 7'],
    ],
  ])('%s', (_name, members, expected) => expect(followers(members)).toEqual(expected))

  test.each<readonly [string, PoolMember, Partial<PoolState>, boolean]>([
    ['a member at 0 who gets nothing is left there', member(0), {}, true],
    ['a member at 0 who waits for the sum is left there', member(0, dealt(40)), {}, true],
    ['a member who is dealt more is not left at 0', member(0, dealt(40)), { members: {} }, false],
    ['a member above 0 is not left at 0', member(1), {}, false],
    ['a member without a cap is not left at 0', member('none'), {}, false],
    ['no member is left at 0 before the first deal', member(0), { dealtAt: undefined as never }, false],
    ['no protected member is left at 0 by a deal', member(0, { protected: true }), {}, false],
  ])('%s', (_name, ada, more, expected) => {
    const { members = state({ ...CROWD, cyd: member(9) }).members, ...rest } = more
    const all = { ...state({}), ...rest, members: { ...members, [email('ada')]: ada } }
    expect(followersIn(TERMS, all).members.find((one) => one.email === email('ada'))?.isLeftAtZero).toBe(expected)
  })
})
