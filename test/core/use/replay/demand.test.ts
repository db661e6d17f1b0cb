// What people would have used: when a cap stopped a person, and what earlier days tell of the days on which it did.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../../src/core/model/units.ts'
import { demandByCycle } from '../../../../src/core/use/replay/demand.ts'
import type { CapSource } from '../../../../src/core/use/replay/in-force.ts'
import { DAY, email } from '../../../support/declare.ts'
import { cyclesOf, recordedOf, START, weekdays } from '../../../support/replay.ts'

/** The cap of everybody on the n-th day. */
const capped = (people: number, capOn: (day: number) => number): CapSource => ({
  scopes: [],
  capsOn: ({ at }) => ({
    caps: new Float64Array(people).fill(capOn(Math.floor((at - START) / DAY))),
    from: new Int32Array(people).fill(-1),
  }),
})

function demands(
  use: readonly (readonly number[])[],
  capOn: (day: number) => number,
  more: { perSeat?: number; cycles?: Parameters<typeof demandByCycle>[0]['cycles']; recorded?: ReturnType<typeof recordedOf> } = {},
) {
  const names = use.map((_, index) => `p${index}`)
  return [
    ...demandByCycle({
      recorded: more.recorded ?? recordedOf(Object.fromEntries(use.map((days, index) => [`p${index}`, days]))),
      people: names.map(email),
      cycles: more.cycles ?? cyclesOf(1),
      inForce: capped(use.length, capOn),
      ...(more.perSeat !== undefined && { creditsPerSeat: credits(more.perSeat) }),
    }),
  ]
}

describe('a cap stops a person', () => {
  test.each<readonly [string, number, number, number, boolean]>([
    ['not while more than a credit is left', 95, 93.99, 0, false],
    ['with a credit left', 95, 94, 0, true],
    ['not while more than a hundredth is left of a high one', 1000, 989.99, 0, false],
    ['with a hundredth left of a high one', 1000, 990, 0, true],
    ['ten credits beyond it', 50, 60, 0, true],
    ['not more than ten credits beyond it', 50, 60.01, 0, false],
    ['a tenth beyond a high one', 1000, 1100, 0, true],
    ['not more than a tenth beyond a high one', 1000, 1100.01, 0, false],
    ['of 0, who used something', 0, 0.01, 0, true],
    ['of 0, but not one who used nothing', 0, 0, 0, false],
    ['of 0, who is a credit from the end of the seat', 0, 99, 100, true],
    ['of 0, not who has more left of the seat', 0, 98.99, 100, false],
    ['by what was used beyond the seat', 50, 150, 100, true],
    ['not by what the seat pays for', 50, 50, 100, false],
    ['not where there is none', Number.POSITIVE_INFINITY, 1e6, 0, false],
  ])('%s', (_name, cap, used, perSeat, isStopped) => {
    const [one] = demands([[used], [1]], () => cap, { perSeat })
    // No day before tells what they would have used.
    expect(one?.atCap[0]).toBe(isStopped ? 2 : 0)
  })
})

describe('what a person would have used on a day at the cap', () => {
  /** Mondays; on the last of them the cap is what was used until then. */
  const mondays = (...use: readonly number[]) => {
    const days = Array.from({ length: use.length * 7 }, (_, day) => (day % 7 === 0 ? (use[day / 7] ?? 0) : 0))
    const total = use.reduce((sum, one) => sum + one, 0)
    const last = (use.length - 1) * 7
    const other = weekdays(1, days.length)
    const [demand] = demands([days, other], (day) => (day === last ? total : Number.POSITIVE_INFINITY), {
      cycles: [{ startAt: START, endAt: START + 70 * DAY, isWhole: true }],
    })
    return { cutOff: demand?.days[last]?.cutOff, atCap: demand?.atCap[0], days: demand?.workingDays[0] }
  }

  test.each<readonly [string, readonly number[], { readonly middle: number; readonly high: number; readonly share: number }]>([
    [
      'is the mean of the four latest such weekdays, the highest of them at most',
      [90, 20, 30, 40, 50, 5],
      { middle: 30, high: 45, share: 1 },
    ],
    ['is the mean of fewer where there are no more', [20, 30, 5], { middle: 20, high: 25, share: 1 }],
    ['is as likely as a working day as those were', [10, 0, 30, 40, 0], { middle: 20, high: 40, share: 0.75 }],
    ['goes by days since the first one with use', [0, 0, 30, 0, 0], { middle: 15, high: 30, share: 0.5 }],
    ['is nothing in the middle where they used more than the mean', [10, 30, 25], { middle: 0, high: 5, share: 1 }],
  ])('%s', (_name, use, expected) => expect(mondays(...use)).toMatchObject({ cutOff: [{ person: 0, ...expected }], atCap: 1 }))

  test('is nothing more where they used as much as ever', () => {
    expect(mondays(30, 30)).toEqual({ cutOff: [], atCap: 1, days: 2 })
    expect(mondays(30, 29.99).cutOff).toHaveLength(1)
  })
  test('is a working day as a whole with any use, else in part', () =>
    expect([mondays(20, 30, 5), mondays(10, 0, 30, 40, 0)].map(({ days }) => days)).toEqual([3, 3.75]))
  test('is not known where no such weekday is before it, and stays so for the cycle', () => {
    const use = [[10, 10, 10, 10, 10, 0, 0, 10, 10]]
    const at = (caps: Readonly<Record<number, number>>) => demands(use, (day) => caps[day] ?? Number.POSITIVE_INFINITY)[0]?.atCap[0]
    expect(at({ 4: 50 })).toBe(2)
    expect(at({ 7: 60 })).toBe(1)
    expect(at({ 4: 50, 7: 60 })).toBe(2)
  })
})

describe('the days of a cycle', () => {
  const NONE = () => Number.POSITIVE_INFINITY
  const spans = (use: readonly number[], cycles: Parameters<typeof demandByCycle>[0]['cycles']) =>
    demands([use], NONE, { cycles })
      .map(({ days }) => days.map(({ dayAt }) => (dayAt - START) / DAY))
      .map((days) => [days[0], days.at(-1)])
  const [first, second] = cyclesOf(2)
  if (!first || !second) throw new Error('two cycles')

  test.each<readonly [string, readonly number[], Parameters<typeof demandByCycle>[0]['cycles'], readonly (readonly number[])[]]>([
    ['begin with the first recorded one', weekdays(1).with(0, 0), [first], [[1, 27]]],
    ['end with a whole cycle, used or not', [1, 1, 1], [first], [[0, 27]]],
    ['end with the last recorded one where the cycle is not whole', [1, 1, 1], [{ ...first, isWhole: false }], [[0, 2]]],
    ['end with the cycle, recorded beyond it or not', weekdays(1, 56), [{ ...first, isWhole: false }], [[0, 27]]],
    ['are none where nothing is recorded yet', [1, 1, 1], [first, { ...second, isWhole: false }], [[0, 27]]],
    ['are none where nothing was ever recorded', [0, 0], [first], []],
  ])('%s', (_name, use, cycles, expected) => expect(spans(use, cycles)).toEqual(expected))
})
