// Which raises of a pool are told to wait for newer figures, to how much, and which are not: nothing waits where no lowered cap still counts.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { capToAsk, dealPool } from '../../../src/core/pools/deal.ts'
import { waitingRaises, waitingText } from '../../../src/core/pools/notes.ts'
import { cap, HOUR, NOW, type PlainCap } from '../../support/declare.ts'
import { type MemberSketch, type Members, since, stateOf } from './world.ts'

/** With what was dealt in force. */
const member = (use: number, dealt: number, more: MemberSketch = {}): MemberSketch => ({ use, cap: dealt, dealt, ...more })
const from = (before: PlainCap): MemberSketch => ({ lowered: [since(before, NOW - HOUR)] })
const TERMS = { credits: credits(1000), share: 'equal', min: credits(0) } as const
const state = (members: Members, more: Parameters<typeof stateOf>[1] = {}) => stateOf(members, { terms: TERMS, ...more })
/** Of a state that nobody asked about before: what was found for a state is remembered with it. */
const told = (one: ReturnType<typeof state>): readonly string[] =>
  [...waitingRaises(TERMS, { ...one })].map(([who, raise]) => `${who} ${waitingText(raise)}`)

describe('a raise waits', () => {
  const shows = 'waits until use up to 2026-11-20 11:00 UTC shows'
  test.each<readonly [string, ReturnType<typeof state>, readonly string[]]>([
    ['not once its use shows', state({ ada: member(480, 500), bob: member(0, 260) }), []],
    ['not where no member needs more', state({ ada: member(10, 500), bob: member(0, 490, from(500)) }), []],
    ['not before anything was dealt', state({ ada: member(480, 500), bob: member(0, 260, from(500)) }, { dealtAt: undefined }), []],
    [
      'for the cap of a protected member',
      state({
        ada: member(0, 100, { protected: true, fixed: 600, dealt: undefined }),
        bob: member(0, 260, { protected: true, dealt: undefined, ...from(901) }),
      }),
      [`ada@example.com a raise to 600 ${shows}`],
    ],
    [
      'not for use under the cap of who left, which goes on counting whatever shows',
      state({ ada: member(480, 500), bob: member(0, 260, { left: { at: NOW }, ...from(500) }) }),
      [],
    ],
    [
      'for use of who left before a first cap of theirs counted, which shows for what it was',
      state({
        ada: member(480, 500),
        bob: member(0, 260, { left: { at: NOW, cap: cap(260) }, ...from('none') }),
      }),
      [`ada@example.com a raise to 740 ${shows}`],
    ],
  ])('%s', (_name, one, expected) => expect(told(one)).toEqual(expected))

  test('to what the next deal leaves of it, where that one is due once the use shows', () => {
    const dealtAt = NOW - 5 * HOUR
    const ada = member(480, 740, { cap: 500 })
    const bob = member(250, 260, from(600))
    expect(told(state({ ada, bob }, { dealtAt, readAt: dealtAt }))).toEqual([`ada@example.com a raise to 615 ${shows}`])
  })

  test('and is worked out once for all members, and again for other terms', () => {
    const now = state({ ada: member(480, 500), bob: member(0, 260, from(500)) })
    const [first, again, other] = [TERMS, TERMS, { ...TERMS, credits: credits(900) }].map((terms) => waitingRaises(terms, now))
    expect(again).toBe(first)
    expect([...(other ?? [])].map(([, { to }]) => to)).toEqual([640])
  })

  test('only to what it goes out to once the use shows, whatever the figures are', () => {
    const one = fc.record({
      use: fc.nat(600),
      dealt: fc.integer({ min: 1, max: 600 }),
      before: fc.option(fc.integer({ min: 1, max: 900 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 5 }), (members) => {
        const names = members.map((_, index) => `p${index}`)
        const sketch = members.map(
          ({ use, dealt, before }, index) => [names[index] ?? '', member(use, dealt, before === undefined ? {} : from(before))] as const,
        )
        const now = state(Object.fromEntries(sketch))
        const shown = state(Object.fromEntries(sketch.map(([name, each]) => [name, { ...each, lowered: [] }])), { readAt: NOW + 1 })
        const next = dealPool(TERMS, shown, NOW + 1, { hasShown: true }).state
        for (const [who, { to }] of waitingRaises(TERMS, now)) {
          expect(to).toBe(capToAsk(TERMS, next, who))
          expect(to).toBeGreaterThan(capToAsk(TERMS, now, who) ?? 0)
        }
      }),
    )
  })
})
