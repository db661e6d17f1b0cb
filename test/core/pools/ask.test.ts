// What the last deal asks for a member now, who keeps a cap because a raise has to wait, and who may inherit higher caps.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { capToAsk, followersIn, keepsCap } from '../../../src/core/pools/deal.ts'
import { email, NOW, type PlainCap } from '../../support/declare.ts'
import { type MemberSketch, type Members, stateOf } from './world.ts'

const TERMS = { credits: credits(100) }
/** Alone with ada they come to more than the credits. */
const CROWD = { bob: { cap: 95, dealt: 10 } }

test.each<readonly [string, Members, number | undefined]>([
  ['is what was dealt while the sum is just the credits', { ada: { cap: 20, dealt: 40 }, bob: { cap: 60, dealt: 60 } }, 40],
  ['is what was dealt where that lowers, whatever the sum', { ada: { cap: 60, dealt: 40 }, ...CROWD }, 40],
  ['is what was dealt where it is in force', { ada: { cap: 40, dealt: 40 }, ...CROWD }, 40],
  ['is a first cap, whatever the sum', { ada: { cap: 'none', dealt: 40 }, ...CROWD }, 40],
  ['is what was dealt where nothing was read yet', { ada: { dealt: 40 }, ...CROWD }, 40],
  ['is 1 where that is in force and a raise has to wait', { ada: { cap: 1, dealt: 40 }, ...CROWD }, 1],
  ['is nothing where a raise from 0 has to wait', { ada: { cap: 0, dealt: 40 }, ...CROWD }, undefined],
  ['is nothing of who left', { ada: { cap: 20, dealt: 40, left: { at: NOW } } }, undefined],
  ['is nothing for an unknown person', {}, undefined],
])('what is asked for a member: %s', (_name, members, expected) => expect(capToAsk(TERMS, stateOf(members), email('ada'))).toBe(expected))

const waiting = (fixed?: number, inForce: PlainCap = 20): MemberSketch => ({ cap: inForce, fixed, protected: true })
test.each<readonly [string, Members, boolean]>([
  ['so at 0 where a raise from it has to wait', { ada: { cap: 0, dealt: 40 }, ...CROWD, cyd: { cap: 9 } }, true],
  ['not where the raise can go', { ada: { cap: 0, dealt: 40 } }, false],
  ['not where 0 is what was dealt', { ada: { cap: 0, dealt: 0 }, ...CROWD, cyd: { cap: 9 } }, false],
  ['not above 0, where what is asked keeps it', { ada: { cap: 1, dealt: 40 }, ...CROWD, cyd: { cap: 9 } }, false],
  ['not where they just pay for it', { ada: waiting(100) }, false],
  ['so where they do not pay for all protected members together', { ada: waiting(50), bob: waiting(51) }, true],
  ['counts nobody who left', { ada: waiting(50), bob: { ...waiting(90), left: { at: NOW, cap: credits(20) } } }, false],
  ['not where the declared cap is no raise', { ada: waiting(20), bob: { cap: 95 } }, false],
  ['not where no cap is declared', { ada: waiting(), bob: { cap: 95 } }, false],
  ['not without a cap in force', { ada: waiting(900, 'none') }, false],
  ['not for an unknown person', {}, false],
])('whether a member keeps the cap in force: %s', (_name, members, expected) =>
  expect(keepsCap(TERMS, stateOf(members), email('ada'))).toBe(expected),
)

describe('members who may inherit higher caps', () => {
  const followers = (members: Members) => {
    const { room, members: found } = followersIn(TERMS, stateOf(members))
    return [room, ...found.map((one) => `${one.email.split('@')[0]} ${one.base} ${one.count}`)]
  }
  test.each<readonly [string, Members, readonly unknown[]]>([
    ['are none who left', { ada: { cap: 20 }, bob: { cap: 30, use: 30, left: { at: NOW, cap: credits(30) } } }, [50, 'ada 0 20']],
    ['have no room of protected ones', { ada: { cap: 20, protected: true, fixed: 50 }, bob: { cap: 30 } }, [20, 'ada 0 20', 'bob 0 30']],
    ['have it where those do not get it', { ada: { cap: 20, protected: true, fixed: 90 }, bob: { cap: 30 } }, [50, 'ada 0 20', 'bob 0 30']],
    ['leave room for protected members alone', { ada: { cap: 20, fixed: 50 } }, [80, 'ada 0 20']],
  ])('%s', (_name, members, expected) => expect(followers(members)).toEqual(expected))

  const crowded = { ...CROWD, cyd: { cap: 9 } }
  test.each<readonly [string, Members, number | undefined, boolean]>([
    ['a member at 0 who waits for the sum is left there', { ada: { cap: 0, dealt: 40 }, ...crowded }, NOW, true],
    ['a member who is dealt more is not left at 0', { ada: { cap: 0, dealt: 40 } }, NOW, false],
    ['a member without a cap is not left at 0', { ada: { cap: 'none' }, ...crowded }, NOW, false],
    ['no member is left at 0 before the first deal', { ada: { cap: 0 }, ...crowded }, undefined, false],
    ['no protected member is left at 0 by a deal', { ada: { cap: 0, protected: true }, ...crowded }, NOW, false],
  ])('%s', (_name, members, dealtAt, expected) =>
    expect(followersIn(TERMS, stateOf(members, { dealtAt })).members.find((one) => one.email === email('ada'))?.isLeftAtZero).toBe(
      expected,
    ),
  )
})
