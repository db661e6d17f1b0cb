// What a pool remembers after a clock that was ahead: nothing in the future, and the very same state where nothing was.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { rewound } from '../../../src/core/pools/observe.ts'
import { CYCLE, HOUR, NOW } from '../../support/declare.ts'
import { type MemberSketch, since, stateOf } from './world.ts'

const state = (ada: MemberSketch = {}, more: Parameters<typeof stateOf>[1] = {}) =>
  stateOf({ ada, bob: {} }, { readAt: NOW - HOUR, dealtAt: undefined, ...more })
const lowered = (at: number) => [since(40, NOW - HOUR), since(40, at)]

/** The same thing noted at an instant, in every place that has one. */
const noted: readonly (readonly [string, (at: number) => ReturnType<typeof state>])[] = [
  ['the reading of use', (at) => state({}, { readAt: at })],
  ['the last deal', (at) => state({}, { dealtAt: at })],
  ['the new cycle', (at) => state({}, { later: { startAt: CYCLE.endAt, readAt: at } })],
  ['a cap in force', (at) => state({ cap: since(40, at) })],
  ['a value sent', (at) => state({ sent: lowered(at) })],
  ['a lowered cap', (at) => state({ lowered: lowered(at) })],
  ['that somebody left', (at) => state({ left: { at, cap: credits(40), settled: true } })],
]

describe.each(noted)('%s', (_name, at) => {
  test('counts as noted now where it was noted in the future', () => expect(rewound(at(NOW + HOUR), NOW)).toStrictEqual(at(NOW)))
  test.each([NOW, NOW - HOUR])('stays the very same at %i', (instant) => {
    const before = at(instant)
    expect(rewound(before, NOW)).toBe(before)
  })
})
