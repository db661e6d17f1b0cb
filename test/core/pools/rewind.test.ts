// What a pool remembers after a clock that was ahead: nothing in the future, and the very same state where nothing was.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { rewound } from '../../../src/core/pools/observe.ts'
import type { PoolMember, PoolState } from '../../../src/core/pools/state.ts'
import { CYCLE, cap, HOUR, NOW } from '../../support/declare.ts'

const since = (at: number) => ({ cap: cap(40), at })
const member = (more: Partial<PoolMember> = {}): PoolMember => ({ base: credits(0), use: credits(5), sent: [], lowered: [], ...more })
const state = (ada: PoolMember = member(), more: Partial<PoolState> = {}): PoolState => ({
  ...{ cycle: CYCLE, readAt: NOW - HOUR, members: { 'ada@example.com': ada, 'bob@example.com': member() } },
  ...more,
})

/** The same thing noted at an instant, in every place that has one. */
const noted: readonly (readonly [string, (at: number) => PoolState])[] = [
  ['the reading of use', (at) => state(member(), { readAt: at })],
  ['the last deal', (at) => state(member(), { dealtAt: at })],
  ['the new cycle', (at) => state(member(), { later: { startAt: CYCLE.endAt, readAt: at } })],
  ['a cap in force', (at) => state(member({ inForce: since(at) }))],
  ['a value sent', (at) => state(member({ sent: [since(NOW - HOUR), since(at)] }))],
  ['a lowered cap', (at) => state(member({ lowered: [since(at)] }))],
  ['that somebody left', (at) => state(member({ left: { at, cap: cap(40), settled: true } }))],
]

describe.each(noted)('%s', (_name, at) => {
  test('counts as noted now where it was noted in the future', () => expect(rewound(at(NOW + HOUR), NOW)).toStrictEqual(at(NOW)))
  test.each([NOW, NOW - HOUR])('stays the very same at %i', (instant) => {
    const before = at(instant)
    expect(rewound(before, NOW)).toBe(before)
  })
})
