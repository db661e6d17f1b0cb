import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { burnOf } from '../../../src/core/use/burn.ts'
import { alike, at, BALANCE, historyOf, reading, readingsOf, steadily } from '../../support/burn.ts'
import { CYCLE, DAY, HOUR } from '../../support/declare.ts'

type BurnInputs = Parameters<typeof burnOf>[0]
type BurnWindow = keyof ReturnType<typeof burnOf>['ratios']

/** Day 10, 10 credits an hour since the start and before: the even pace of the balance. */
const STEADY = {
  now: at(10),
  cycle: CYCLE,
  readings: readingsOf(at(2), at(10), steadily),
  history: historyOf(at(10), alike(40, 240)),
  balance: BALANCE,
  people: [{ used: credits(1200) }, { used: credits(1200) }],
} satisfies BurnInputs

/** The same team when its cycle has just ended. */
const AT_END: BurnInputs = {
  ...STEADY,
  now: CYCLE.endAt,
  readings: readingsOf(at(20), CYCLE.endAt, steadily),
  history: historyOf(CYCLE.endAt, alike(40, 240)),
}

/** The same with something gone. */
function without(...names: readonly (keyof BurnInputs)[]): BurnInputs {
  const kept: Partial<BurnInputs> = Object.fromEntries(Object.entries(STEADY).filter(([name]) => names.every((one) => one !== name)))
  return { now: STEADY.now, cycle: CYCLE, readings: STEADY.readings, ...kept }
}

const ALL: readonly BurnWindow[] = ['6h', '24h', '3d', '7d']

test('a team that burns evenly has ratios of 1, uses what the cycle has, and is told so', () => {
  const { ratios, projected, exhaustedAt } = burnOf(STEADY)
  for (const window of ALL) expect(ratios[window]).toBeCloseTo(1, 9)
  expect(projected?.p50).toBeCloseTo(7200, 9)
  expect(projected?.p10).toBeCloseTo(2400 + 4800 * Math.exp(-1.2816 * Math.sqrt(0.01 / 4)), 6)
  expect(projected?.p90).toBeCloseTo(2400 + 4800 * Math.exp(1.2816 * Math.sqrt(0.01 / 4)), 6)
  // Two people, both far beyond their seats: 1200 more credits are 5 days away.
  expect(exhaustedAt).toBe(at(15))
})

/** Which figures there are. */
const told = (inputs: BurnInputs): string => {
  const { ratios, ...others } = JSON.parse(JSON.stringify(burnOf(inputs)))
  return [...Object.keys(ratios), ...Object.keys(others)].join(' ')
}
const { cycle: _cycle, ...UNNAMED } = BALANCE
const balance = (more: Partial<typeof BALANCE>): BurnInputs => ({ ...STEADY, balance: { ...BALANCE, ...more } })
const ahead = (now: number, readAt: number, fromAt: number): BurnInputs => ({
  ...{ ...STEADY, now, history: { ...historyOf(at(10), alike(28, 240)), fromAt, readAt } },
})

test.each<readonly [string, BurnInputs, string]>([
  ['without credits of the team', balance({ creditsPerSeat: credits(0), addOnAvailable: credits(0) }), 'projected lasts'],
  ['where the credits last', balance({ addOnAvailable: credits(4801) }), '6h 24h 3d 7d projected lasts'],
  ['with the balance of no cycle, read in it', { ...STEADY, balance: { ...UNNAMED, readAt: at(0) } }, '6h 24h 3d 7d projected exhaustedAt'],
  ['with the balance of no cycle, read before it', { ...STEADY, balance: { ...UNNAMED, readAt: at(0) - 1 } }, 'projected'],
  ['when the cycle is over', AT_END, 'projected lasts'],
  ['without people', without('people'), '6h 24h 3d 7d projected'],
  ['without a balance', without('balance'), 'projected'],
  ['with few days and one reading', { ...STEADY, readings: [reading(at(10), 2400)], history: historyOf(at(10), alike(5, 240)) }, '3d'],
  ['without any use yet', { ...STEADY, readings: [reading(at(10), 0)] }, '3d 7d projected'],
  ['in the first six hours of a cycle', { ...STEADY, now: at(0, 6) - 1, readings: readingsOf(at(-7), at(0, 6) - 1, () => 5) }, ''],
  ['after them', { ...STEADY, now: at(0, 6), readings: [reading(at(0, 6), 60)] }, '6h 3d 7d projected exhaustedAt'],
  ['when the latest reading is older than 24 hours', { ...STEADY, now: at(11) + 1 }, ''],
  ['when it is just that old', { ...STEADY, now: at(11) }, '6h 24h 3d 7d projected exhaustedAt'],
  ['when a clock ahead has read the days', ahead(at(10), at(11, 4), at(-17)), '6h 24h 3d 7d'],
  ['when a day is not complete', ahead(at(10, 23), at(10, 23), at(-17)), '6h 24h 3d 7d'],
])('%s there are these figures', (_row, inputs, expected) => expect(told(inputs)).toBe(expected))

describe('burn ratios', () => {
  test('come from the days for 3d and 7d as long as readings do not reach back far enough', () => {
    const first = { ...STEADY, readings: [reading(at(10), 2400)], history: historyOf(at(10), [...alike(37, 240), 480, 480, 480]) }
    const { ratios } = burnOf(first)
    expect(Object.keys(ratios)).toEqual(['3d', '7d'])
    // At midnight the days of `historyOf` end with the day before yesterday: nothing is listed for yesterday.
    expect(ratios['3d']).toBeCloseTo((480 + 480) / 720, 9)
    expect(ratios['7d']).toBeCloseTo((3 * 480 + 3 * 240) / (7 * 240), 9)
  })

  const burned = (now: number, readings: BurnInputs['readings'], window: BurnWindow, more: Partial<BurnInputs> = {}) => {
    const ratio = burnOf({ ...without('history'), now, readings, ...more }).ratios[window]
    return ratio === undefined ? undefined : ratio * { '6h': 60, '24h': 240, '3d': 720, '7d': 1680 }[window]
  }
  const quiet = (from: number, until: number, used = 510) => readingsOf(from, until, () => used)
  const since = readingsOf(at(0, 6), at(1), steadily)
  const cycleBefore = (until: number) => readingsOf(at(-7), until, (takenAt) => 5000 + ((takenAt - at(-7)) / HOUR) * 20)
  test.each<readonly [string, number | undefined, number | undefined]>([
    [
      'of an increase after a time without readings, the part of all of that time',
      burned(
        at(9, 22),
        [...quiet(at(9), at(9, 14)), reading(at(9, 18), 550), ...quiet(at(9, 18), at(9, 21), 550), reading(at(9, 22), 570)],
        '6h',
      ),
      20 + 40 * (2 / 4),
    ],
    ['of two cycles, with a reading a day before the reset', burned(at(1), [...cycleBefore(at(-1)), ...since], '3d'), 20 * 24 + 240],
    ['nothing known, with the last reading longer before it', burned(at(1), [...cycleBefore(at(-1, -1)), ...since], '3d'), undefined],
    [
      'by days that just reach back',
      burned(at(10, 12), [reading(at(10, 12), 9)], '7d', { history: { ...historyOf(at(10, 12), alike(7, 240)), fromAt: at(3, 12) } }),
      6.5 * 240,
    ],
  ])('count %s', (_row, found, expected) =>
    expected === undefined ? expect(found).toBeUndefined() : expect(found).toBeCloseTo(expected, 6),
  )

  test('go by the readings until now, in any order', () => {
    const more = [...STEADY.readings, reading(at(10) + 1, 99_999), reading(at(9), Number.NaN)]
    expect(burnOf({ ...STEADY, readings: more.toReversed() })).toEqual(burnOf(STEADY))
  })
})

test('the projection expects use from the latest refresh on, not from now', () => {
  const readings = readingsOf(at(9), at(10, 2), (takenAt) => steadily(Math.min(takenAt, at(10))))
  expect(burnOf({ ...STEADY, now: at(10, 2), readings }).projected?.p50).toBeCloseTo(7200, 9)
  // Without a refresh for three hours nobody used anything.
  const quiet = readingsOf(at(9), at(10, 3), (takenAt) => steadily(Math.min(takenAt, at(10))))
  expect(burnOf({ ...STEADY, now: at(10, 3), readings: quiet }).projected?.p50).toBeCloseTo(7170, 9)
  expect(burnOf({ ...STEADY, now: at(10, 3), readings: quiet, freshnessMs: 4 * HOUR }).projected?.p50).toBeCloseTo(7200, 9)
})

describe('exhaustion', () => {
  const person = (used: number, cap?: number | 'none') => ({
    used: credits(used),
    ...(cap !== undefined && { cap: cap === 'none' ? cap : credits(cap) }),
  })
  /** A seat has 100 credits, and the team 100 add-on credits. */
  const exhaustedAt = (perDay: number, addOnUsed: number, ...people: readonly ReturnType<typeof person>[]) => {
    const used = people.reduce((sum, one) => sum + one.used, 0)
    const balance = { ...BALANCE, addOnAvailable: credits(100), addOnUsed: credits(addOnUsed) }
    return burnOf({ ...STEADY, readings: [reading(at(10), used)], history: historyOf(at(10), alike(40, perDay)), balance, people })
      .exhaustedAt
  }
  test.each<readonly [string, number | undefined, number | undefined]>([
    ['comes after the credits of the seats', exhaustedAt(100, 0, person(50)), at(11, 12)],
    ['does not wait for a cap of none', exhaustedAt(20, 50, person(150, 'none')), at(12, 12)],
    // Of 4.5 credits a day 2 are for the first, who needs the 10 that are left.
    ['takes nothing back from who is beyond a cap', exhaustedAt(4.5, 90, person(200), person(250, 10)), at(15)],
    ['comes with the end of the cycle', exhaustedAt(2.5, 50, person(150)), CYCLE.endAt],
  ])('%s', (_row, found, expected) => expect(found).toBe(expected))

  test('that has happened is known without a forecast', () => {
    const spent = { ...BALANCE, addOnUsed: credits(1200) }
    expect(burnOf({ ...without('history'), balance: spent }).exhaustedAt).toBe(BALANCE.readAt)
  })
})

describe('laws', () => {
  const amount = fc.double({ min: 0, max: 1000, noNaN: true })
  /** A team at some hour of the cycle: increases of the last readings, an hour apart, and days. */
  const team = fc.record({
    hours: fc.integer({ min: 30, max: 30 * 24 }),
    increases: fc.array(fc.double({ min: 0.001, max: 1000, noNaN: true }), { minLength: 1, maxLength: 60 }),
    days: fc.array(amount, { minLength: 0, maxLength: 60 }),
    people: fc.array(fc.record({ used: amount.map(credits) }), { maxLength: 5 }),
    addOnUsed: amount,
  })
  type Team = typeof team extends fc.Arbitrary<infer Value> ? Value : never

  const inputsOf = ({ hours, increases, days, people, addOnUsed }: Team): BurnInputs => {
    const now = at(0, hours)
    let used = 0
    const readings = increases.map((increase, index) => {
      used += increase
      return reading(now - (increases.length - 1 - index) * HOUR, used)
    })
    const balance = { ...BALANCE, addOnUsed: credits(addOnUsed) }
    return {
      now,
      cycle: CYCLE,
      readings: readings.filter(({ at: takenAt }) => takenAt >= at(0)),
      history: historyOf(now, days),
      balance,
      people,
    }
  }
  const highest = ({ readings }: BurnInputs): number => Math.max(...readings.map(({ used }) => used))

  test('no figure is ever NaN, infinite or negative, and the percentiles are in order and never below what is used', () => {
    fc.assert(
      fc.property(team, (one) => {
        const inputs = inputsOf(one)
        const { ratios, projected, exhaustedAt } = burnOf(inputs)
        for (const ratio of Object.values(ratios)) expect(Number.isFinite(ratio) && ratio >= 0).toBe(true)
        if (exhaustedAt !== undefined) expect(exhaustedAt <= CYCLE.endAt || exhaustedAt === BALANCE.readAt).toBe(true)
        if (!projected) return
        expect(projected.p10).toBeGreaterThanOrEqual(highest(inputs))
        expect(projected.p50).toBeGreaterThanOrEqual(projected.p10)
        expect(projected.p90).toBeGreaterThanOrEqual(projected.p50)
        expect(Number.isFinite(projected.p90)).toBe(true)
      }),
    )
  })

  test('more use in this cycle never lowers a percentile', () => {
    fc.assert(
      fc.property(team, amount, (one, more) => {
        const inputs = inputsOf(one)
        const raised = inputs.readings.map((each) => ({ ...each, used: credits(each.used + more) }))
        const [low, high] = [burnOf(inputs).projected, burnOf({ ...inputs, readings: raised }).projected]
        if (!low || !high) return
        expect(high.p10).toBeGreaterThanOrEqual(low.p10)
        expect(high.p50).toBeGreaterThanOrEqual(low.p50)
        expect(high.p90).toBeGreaterThanOrEqual(low.p90)
      }),
    )
  })

  test('use that is even all cycle long has a ratio of 1 in every window that is known, at any time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 30, max: 30 * 24 - 1 }), fc.constantFrom(15, 60, 180), (hours, minutes) => {
        const now = at(0, hours)
        const readings = readingsOf(at(0), now, steadily, minutes * 60_000)
        for (const ratio of Object.values(burnOf({ now, cycle: CYCLE, readings, balance: BALANCE }).ratios)) expect(ratio).toBeCloseTo(1, 9)
      }),
    )
  })

  test('no reading may be missing in the days between: a hole where a window begins never gives a figure', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ALL), (window) => {
        const from = at(10) - { '6h': 6 * HOUR, '24h': DAY, '3d': 3 * DAY, '7d': 7 * DAY }[window]
        const near = Math.max(4 * HOUR, (at(10) - from) / 3) / 2
        const readings = STEADY.readings.filter(({ at: takenAt }) => Math.abs(takenAt - from) > near)
        expect(burnOf({ ...without('history'), readings }).ratios[window]).toBeUndefined()
      }),
    )
  })
})
