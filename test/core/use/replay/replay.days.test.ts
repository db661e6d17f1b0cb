// A replay day by day, on demand made by hand: what is let through, which days count as blocked, and what is noted of each cap.
import { describe, expect, test } from 'vitest'
import { TEAM_KEY } from '../../../../src/core/interpret/effective.ts'
import { noCapUse, recordedCycle, replayCycle } from '../../../../src/core/use/replay/replay.ts'
import { DAY } from '../../../support/declare.ts'

type CycleDemand = Parameters<typeof replayCycle>[0]
type CapSource = Parameters<typeof replayCycle>[1]
type DayDemand = CycleDemand['days'][number]
type BandEnd = Parameters<typeof replayCycle>[2]
type CapUse = ReturnType<typeof noCapUse>

interface DaySketch {
  /** By person. */
  readonly addOn: readonly number[]
  readonly cutOff?: DayDemand['cutOff']
  /** What is in force, for people as they were. */
  readonly caps?: readonly number[]
}

const demandOf = (...days: readonly DaySketch[]): CycleDemand => {
  const people = days[0]?.addOn.length ?? 0
  return {
    cycle: { startAt: 0, endAt: days.length * DAY, isWhole: true },
    atCap: new Uint8Array(people),
    addOn: Float64Array.from({ length: people }, (_, person) => days.reduce((sum, one) => sum + (one.addOn[person] ?? 0), 0)),
    workingDays: new Float64Array(people),
    days: days.map(({ addOn, cutOff = [], caps }, day) => ({
      dayAt: day * DAY,
      addOn: Float64Array.from(addOn),
      cutOff,
      caps: Float64Array.from(caps ?? addOn.map(() => Number.POSITIVE_INFINITY)),
    })),
  }
}
/** Caps by day and person; all from one scope, but what is infinite from none. */
const capped = (...days: readonly (readonly number[])[]): CapSource => ({
  scopes: [TEAM_KEY],
  capsOn: ({ at }) => {
    const caps = days[Math.min(days.length - 1, Math.floor(at / DAY))] ?? []
    return { caps: Float64Array.from(caps), from: Int32Array.from(caps, (cap) => (Number.isFinite(cap) ? 0 : -1)) }
  },
})
const NONE = Number.POSITIVE_INFINITY
const more = (person: number, middle: number, high: number, share = 1) => ({ person, middle, high, share })

function played(demand: CycleDemand, caps: CapSource, band: BandEnd = 'middle') {
  const { addOn, blockedDays, firstBlocked, capThen, from } = replayCycle(demand, caps, band)
  return { addOn: [...addOn], days: [...blockedDays], first: [...firstBlocked], cap: [...capThen], from: from && [...from] }
}

describe('a cap in a replay', () => {
  test('lets through what is left of it, and blocks from the first day on which that is less than was wanted', () =>
    expect(played(demandOf({ addOn: [6, 1] }, { addOn: [6, 1] }, { addOn: [6, 1] }), capped([10, NONE]))).toEqual({
      ...{ addOn: [10, 3], days: [2, 0], first: [1, -1], cap: [10, NONE], from: [0, -1] },
    }))
  test('that is raised on the way lets through more, and what it was at the first block is remembered', () =>
    expect(played(demandOf({ addOn: [6] }, { addOn: [6] }, { addOn: [6] }), capped([5], [5], [9]))).toMatchObject({
      ...{ addOn: [9], days: [3], first: [0], cap: [5] },
    }))
  test.each([['no more than half a hundredth', 0.005, 0]])('that falls short by %s blocks on so many days', (_name, wanted, days) =>
    expect(played(demandOf({ addOn: [wanted] }), capped([0])).days).toEqual([days]),
  )

  const stopped = demandOf({ addOn: [4, 0], cutOff: [more(0, 3, 6), more(1, 2, 8, 0.25)] })
  test.each<readonly [BandEnd, readonly number[], readonly number[]]>([
    ['middle', [5, 2], [1, 0]],
    ['high', [5, 5], [1, 0.25]],
  ])('meets what another had cut off at the %s end of the band; a day that may not be a working day counts in part', (band, addOn, days) =>
    expect(played(stopped, capped([5, 5]), band)).toMatchObject({ addOn, days }),
  )
})

describe('of each cap it is noted', () => {
  const noted = (demand: CycleDemand, caps: CapSource): CapUse => {
    const use = noCapUse()
    replayCycle(demand, caps, 'middle', use)
    return use
  }
  test.each<readonly [string, CycleDemand, CapSource, CapUse]>([
    ['that it was reached but for dust', demandOf({ addOn: [9.996] }), capped([10]), { highest: [9.996], cap: [10], isReached: [true] }],
    [
      'not that it was reached where something is left',
      demandOf({ addOn: [9.99] }),
      capped([10]),
      { highest: [9.99], cap: [10], isReached: [] },
    ],
    [
      'not that 0 was reached by a person who wanted nothing',
      demandOf({ addOn: [0] }),
      capped([0]),
      { highest: [0], cap: [0], isReached: [] },
    ],
    ['that nobody used it', demandOf({ addOn: [0] }), capped([10]), { highest: [0], cap: [10], isReached: [] }],
    ['nothing of one that no person has at the end, nor used', demandOf({ addOn: [0] }, { addOn: [0] }), capped([10], [NONE]), noCapUse()],
    [
      'the cap of when it was used most, of equal ones the first',
      demandOf({ addOn: [5, 0] }, { addOn: [0, 5] }),
      capped([10, 10], [20, 20]),
      { highest: [5], cap: [10], isReached: [] },
    ],
    ['nothing where there is none', demandOf({ addOn: [5] }), capped([NONE]), noCapUse()],
  ])('%s', (_name, demand, caps, expected) => expect(noted(demand, caps)).toEqual(expected))
})

test('the recorded outcome is blocked where more was wanted, by the cap in force then', () => {
  const demand = demandOf(
    { addOn: [5, 1], caps: [NONE, 9] },
    { addOn: [5, 0], caps: [10, 1], cutOff: [more(0, 2, 4), more(1, 0.005, 3, 0.5)] },
    { addOn: [0, 0], caps: [11, 1], cutOff: [more(0, 2, 4, 0.5), more(1, 1, 3, 0.25)] },
  )
  const of = (band: BandEnd) => {
    const { addOn, blockedDays, firstBlocked, capThen } = recordedCycle(demand, band)
    return { addOn: [...addOn], days: [...blockedDays], first: [...firstBlocked], cap: [...capThen] }
  }
  expect(of('middle')).toEqual({ addOn: [10, 1], days: [1.5, 0.25], first: [1, 2], cap: [10, 1] })
  expect(of('high')).toMatchObject({ days: [1.5, 0.75], first: [1, 1] })
  expect(of('low')).toEqual({ addOn: [10, 1], days: [0, 0], first: [-1, -1], cap: [NONE, NONE] })
  expect(recordedCycle(demand, 'low').from).toBeUndefined()
})
