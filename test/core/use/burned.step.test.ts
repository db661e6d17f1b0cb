// What one reading of use changes; what the sums come to is in burned.test.ts, and when a new cycle is believed in turn.test.ts.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { type Burned, foldUsage, NOTHING_BURNED } from '../../../src/core/use/burn.ts'
import { CYCLE, email, NOW } from '../../support/declare.ts'

type Roster = Parameters<typeof foldUsage>[1]

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
  test('tells who used more, by how much, and the sum', () => {
    const { burned, ...told } = step(since({ a: 100, b: 50 }), roster({ a: 130, b: 50, c: 0, d: undefined }))
    const increases = new Map([[email('a'), 30]])
    expect(told).toEqual({ readAt: NOW, increases, isNewCycle: false, raised: [email('a')], used: 180 })
    expect([burned.team, burned.cycleStartAt, burned.highest?.get(email('a'))]).toEqual([30, CYCLE.startAt, 130])
  })
  test('tells no increase of less than a cent, and no use where no person has a figure', () => {
    const { increases, raised } = step(since({ a: 100 }), roster({ a: 100.001 }))
    expect([increases.size, raised]).toEqual([0, [email('a')]])
    expect(step(since({ a: 100 }), roster({ a: undefined })).used).toBeUndefined()
  })
  test.each([
    ['grew', 108, 8],
    ['stayed', 100, 0],
    ['fell', 8, 8],
  ])('without a cycle burns what is new of a figure that %s', (_name, now, burned) => {
    const before = step(NOTHING_BURNED, roster({ a: 100 }, {})).burned
    expect(before.cycleStartAt).toBeUndefined()
    expect(step(before, roster({ a: now }, {})).burned.team).toBe(burned)
  })
})
