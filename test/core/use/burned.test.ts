// Credits burned: what one reading of use changes, and sums that never fall, whatever happens to the roster, the cycle and the groups. When a
// new cycle is believed is in core/resolve/turn.test.ts.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldUsage, NOTHING_BURNED } from '../../../src/core/use/burn.ts'
import { CYCLE, email, HOUR, NOW, rosterOfUse } from '../../support/declare.ts'

type Roster = Parameters<typeof foldUsage>[1]
type GroupMembers = Parameters<typeof foldUsage>[2][number]

const NEXT = { startAt: CYCLE.endAt, endAt: CYCLE.endAt + 30 * 24 * HOUR }

const used = (figures: Readonly<Record<string, number | undefined>>, cycle: Roster['cycle'] = CYCLE) => rosterOfUse(figures, cycle)
const group = (...names: readonly string[]): GroupMembers => ({ id: 'g', name: 'G', emails: names.map(email), readAt: NOW })

type Reading = readonly [Roster, GroupMembers?]

const fold = (readings: readonly Reading[]) =>
  readings.reduce((burned, [roster, members]) => foldUsage(burned, roster, members ? [members] : []).burned, NOTHING_BURNED)

describe('credits burned', () => {
  test.each<{ name: string; readings: readonly Reading[]; team: number; group?: number }>([
    { name: 'grow by the new figure after a cycle reset', readings: [[used({ a: 100 })], [used({ a: 7 }, NEXT)]], team: 7 },
    {
      name: 'do not count again what a cycle showed whose start moves on by some hours',
      readings: [[used({ a: 100 })], [used({ a: 101 }, { ...CYCLE, startAt: CYCLE.startAt + HOUR })], [used({ a: 103 }, CYCLE)]],
      team: 3,
    },
    { name: 'ignore a figure that is corrected downwards', readings: [[used({ a: 100 })], [used({ a: 90 })], [used({ a: 101 })]], team: 1 },
    { name: 'take a fall for a reset where the cycle is unknown', readings: [[rosterOfUse({ a: 100 })], [rosterOfUse({ a: 8 })]], team: 8 },
    {
      name: 'of a group go on where they were after it was not declared for a while',
      readings: [[used({ a: 10 }), group('a')], [used({ a: 12 }), group('a')], [used({ a: 15 })], [used({ a: 16 }), group('a')]],
      team: 6,
      group: 3,
    },
  ])('$name', ({ readings, team, group: ofGroup = 0 }) => {
    const burned = fold(readings)
    expect(burned.team).toBe(team)
    expect(burned.groups['g'] ?? 0).toBe(ofGroup)
  })

  test('a group may have any id', () => {
    const members = { ...group('a'), id: 'constructor' }
    expect(
      fold([
        [used({ a: 1 }), members],
        [used({ a: 3 }), members],
      ]).groups,
    ).toEqual({ constructor: 2 })
  })

  test('they never fall, and nothing is burned twice, whatever is read in whatever order', () => {
    const figure = fc.option(
      fc.nat(5000).map((amount) => amount / 100),
      { nil: undefined },
    )
    const reading = fc.tuple(fc.record({ a: figure, b: figure, c: figure }), fc.boolean())
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 12 }), (readings) => {
        let burned = NOTHING_BURNED
        let startAt = CYCLE.startAt
        for (const [figures, rolls] of readings) {
          if (rolls) startAt += 24 * HOUR
          const roster = used(figures, { startAt, endAt: startAt + 24 * HOUR })
          const after = foldUsage(burned, roster, [group('a', 'b')]).burned
          expect(after.team).toBeGreaterThanOrEqual(burned.team)
          expect(after.groups['g'] ?? 0).toBeLessThanOrEqual(after.team)
          expect(foldUsage(after, roster, []).burned.team).toBe(after.team)
          burned = after
        }
      }),
    )
  })
})

describe('a reading', () => {
  const step = (before: Readonly<Record<string, number>>, reading: Roster) => foldUsage(fold([[used(before)]]), reading, [])
  test('tells who used more, by how much, and the sum', () => {
    const { burned, ...told } = step({ a: 100, b: 50 }, used({ a: 130, b: 50, c: 0, d: undefined }))
    const increases = new Map([[email('a'), 30]])
    expect(told).toEqual({ readAt: NOW, increases, isNewCycle: false, raised: [email('a')], used: 180 })
    expect([burned.team, burned.cycleStartAt, burned.highest?.get(email('a'))]).toEqual([30, CYCLE.startAt, 130])
  })
  test('tells no increase of less than a cent, and no use where no person has a figure', () => {
    const { increases, raised } = step({ a: 100 }, used({ a: 100.001 }))
    expect([increases.size, raised]).toEqual([0, [email('a')]])
    expect(step({ a: 100 }, used({ a: undefined })).used).toBeUndefined()
  })
  test('without a cycle burns nothing of a figure that stayed', () => {
    const before = fold([[rosterOfUse({ a: 100 })]])
    expect(before.cycleStartAt).toBeUndefined()
    expect(foldUsage(before, rosterOfUse({ a: 100 }), []).burned.team).toBe(0)
  })
})
