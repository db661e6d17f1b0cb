// What one reading of use changes, and when a new cycle is believed; what the sums come to is in burned.test.ts.
import { describe, expect, test } from 'vitest'
import type { Roster } from '../../../src/core/model/observed.ts'
import { credits } from '../../../src/core/model/units.ts'
import { type Burned, burnedOf, foldUsage, NOTHING_BURNED } from '../../../src/core/use/burned.ts'
import { CYCLE, email, HOUR, NOW } from '../../support/declare.ts'

const NEXT = { startAt: CYCLE.endAt, endAt: CYCLE.endAt + 30 * 24 * HOUR }
const roster = (used: Readonly<Record<string, number | undefined>>, { cycle, ...more }: Partial<Roster> = { cycle: CYCLE }): Roster => ({
  people: Object.entries(used).map(([name, amount]) => ({
    ...{ email: email(name), name, status: 'approved' as const, disabled: false },
    ...(amount !== undefined && { used: credits(amount) }),
  })),
  ...{ readAt: NOW, statusesAbsent: false, duplicates: [], ...more },
  ...(cycle && { cycle }),
})
const since = (used: Readonly<Record<string, number>>): Burned => foldUsage(NOTHING_BURNED, roster(used), []).burned
const step = (before: Burned, reading: Roster) => foldUsage(before, reading, [])

describe('a reading', () => {
  test('tells who used more, by how much, and what all have used', () => {
    const { burned, ...told } = step(since({ a: 100, b: 50 }), roster({ a: 130, b: 50, c: 0, d: undefined }))
    const increases = new Map([[email('a'), 30]])
    expect(told).toStrictEqual({ readAt: NOW, increases, isNewCycle: false, raised: [email('a')], used: 180 })
    expect([burned.team, burned.cycleStartAt, burned.highest?.get(email('a'))]).toEqual([30, CYCLE.startAt, 130])
  })
  test('tells no increase of less than a cent, and no use where nobody carries a figure', () => {
    const { increases, raised } = step(since({ a: 100 }), roster({ a: 100.001 }))
    expect([increases.size, raised]).toEqual([0, [email('a')]])
    expect(step(since({ a: 100 }), roster({ a: undefined }))).not.toHaveProperty('used')
  })
  test.each([
    ['grew', 108, 8],
    ['stayed', 100, 0],
    ['fell', 8, 8],
  ])('without a cycle burns what is new of a figure that %s', (_name, now, burned) => {
    const before = step(NOTHING_BURNED, roster({ a: 100 }, {})).burned
    expect(before).not.toHaveProperty('cycleStartAt')
    expect(step(before, roster({ a: now }, {})).burned.team).toBe(burned)
  })
  test('of a group without a record burns from nothing', () => {
    expect([burnedOf({}, 'g'), burnedOf({ g: credits(5) }, 'g'), burnedOf({}, 'constructor')]).toEqual([0, 5, 0])
  })
})

describe('a new cycle', () => {
  const began = (was: number, is: number, afterMs: number): boolean =>
    step(since({ a: was }), roster({ a: is }, { cycle: NEXT, readAt: NEXT.startAt + afterMs })).isNewCycle
  test.each<readonly [string, number, number, number, boolean]>([
    ['is not believed with more than half of the last figures', 100, 51, HOUR, false],
    ['is not believed with them as it starts', 100, 51, 0, false],
    ['is believed with half of them', 100, 50, HOUR, true],
    ['is not believed with them for six hours', 100, 100, 6 * HOUR - 1, false],
    ['is believed with them after six hours', 100, 100, 6 * HOUR, true],
    ['is believed with them by a clock that has not come to it', 100, 100, -1, true],
    ['is believed with any figures where there were none', 0, 5, HOUR, true],
  ])('%s', (_name, was, is, afterMs, expected) => expect(began(was, is, afterMs)).toBe(expected))

  test('that is not believed changes nothing', () => {
    const before = since({ a: 100 })
    const readAt = NEXT.startAt + HOUR
    const told = step(before, roster({ a: 60 }, { cycle: NEXT, readAt }))
    expect(told).toStrictEqual({ burned: before, readAt, increases: new Map(), isNewCycle: false, raised: [], used: 60 })
    expect(told.burned).toBe(before)
  })
  test('is believed where no figures of the last one are known', () => {
    const { highest: _, ...before } = since({ a: 100 })
    const reading = (used: number | undefined) => roster({ a: used }, { cycle: NEXT, readAt: NEXT.startAt + HOUR })
    expect([step(before, reading(60)).isNewCycle, step(since({ a: 100 }), reading(undefined)).isNewCycle]).toEqual([true, true])
  })
})
