// Which raises of a pool are told to wait for newer figures, to how much, and which are not: nothing waits where no lowered cap still counts.
import { describe, expect, test } from 'vitest'
import { resolveDesired } from '../../../src/core/resolve/desired.ts'
import {
  cap,
  desiredInputs,
  HOUR,
  NOW,
  ownedCaps,
  type PlainCap,
  type PolicySketch,
  research,
  roster,
  short,
} from '../../support/declare.ts'
import { type MemberSketch, type Members, since, stateOf } from './world.ts'

/** With what was dealt in force. */
const member = (use: number, dealt: number, more: MemberSketch = {}): MemberSketch => ({ use, cap: dealt, dealt, ...more })
const from = (before: PlainCap): MemberSketch => ({ lowered: [since(before, NOW - HOUR)] })
const TERMS = { credits: cap(1000) as never, share: 'equal', min: cap(0) as never } as const
const state = (members: Members, more: Parameters<typeof stateOf>[1] = {}) => stateOf(members, { terms: TERMS, ...more })
const told = (one: ReturnType<typeof state>, credits = 1000): readonly string[] => {
  const here = Object.entries(one.members).filter(([, { left }]) => !left)
  const names = here.map(([who]) => who)
  const sketch: PolicySketch = {
    pools: [research(credits, names)],
    caps: Object.fromEntries(here.flatMap(([who, { fixed }]) => (fixed === undefined ? [] : [[who, fixed]]))),
    protect: here.flatMap(([who, { protected: isProtected }]) => (isProtected ? [who] : [])),
  }
  const people = roster(Object.fromEntries(names.map((who) => [who, 'approved'])))
  const owned = ownedCaps(Object.fromEntries(names.map((who) => [who, { cap: 100 }])))
  const { desired } = resolveDesired(desiredInputs(sketch, { roster: people, pools: { research: one }, owned }))
  return desired.flatMap(({ scope, waits }) => (waits === undefined ? [] : [`${short(scope)} ${waits}`]))
}

describe('a raise waits', () => {
  const shows = 'waits until use up to 2026-11-20 11:00 UTC shows'
  test.each<readonly [string, ReturnType<typeof state>, readonly string[]]>([
    ['not once its use shows', state({ ada: member(480, 500), bob: member(0, 260) }), []],
    ['not before anything was dealt', state({ ada: member(480, 500), bob: member(0, 260, from(500)) }, { dealtAt: undefined }), []],
    [
      'for the cap of a protected member',
      state({
        ada: member(0, 100, { protected: true, fixed: 600, dealt: undefined }),
        bob: member(0, 260, { protected: true, dealt: undefined, ...from(901) }),
      }),
      [`ada a raise to 600 ${shows}`],
    ],
    ['not for use under a leaver’s cap', state({ ada: member(480, 500), bob: member(0, 260, { left: { at: NOW }, ...from(500) }) }), []],
    [
      'for use of who left before a first cap of theirs counted, which shows for what it was',
      state({
        ada: member(480, 500),
        bob: member(0, 260, { left: { at: NOW, cap: cap(260) }, ...from('none') }),
      }),
      [`ada a raise to 740 ${shows}`],
    ],
  ])('%s', (_name, one, expected) => expect(told(one)).toEqual(expected))

  test('to what the next deal leaves of it, where that one is due once the use shows', () => {
    const dealtAt = NOW - 5 * HOUR
    const ada = member(480, 740, { cap: 500 })
    const bob = member(250, 260, from(600))
    expect(told(state({ ada, bob }, { dealtAt, readAt: dealtAt }))).toEqual([`ada a raise to 615 ${shows}`])
  })

  test('and is worked out again for other terms', () => {
    const now = state({ ada: member(480, 500), bob: member(0, 260, from(500)) })
    expect([told(now), told(now), told(now, 900)].flat()).toEqual([740, 740, 640].map((to) => `ada a raise to ${to} ${shows}`))
  })
})
