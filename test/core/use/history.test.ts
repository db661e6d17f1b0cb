// Past use by day: which ranges are read, which grade a figure has, and what makes an answer doubtful.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import {
  countGrades,
  doubtOf,
  isAboveTotal,
  missingDays,
  planHistory,
  requestsOf,
  usedByDay,
  withDays,
} from '../../../src/core/use/history.ts'
import { DAY, HOUR } from '../../support/declare.ts'

type Days = Parameters<typeof usedByDay>[1]
type KnownDays = Parameters<typeof withDays>[1]

const LAG_MS = 3.5 * HOUR
const at = (day: number): number => day * DAY
/** The first day that may still change. */
const openFrom = ({ readAt }: KnownDays): number => Math.floor((readAt - LAG_MS) / DAY) * DAY
const span = (from: number, until: number): Days => ({ fromAt: at(from), untilAt: at(until) })
const known = (from: number, until: number, readDay = until + 10): KnownDays => ({ ...span(from, until), readAt: at(readDay) })
const dayNumbers = (days: readonly Days[]): readonly number[] =>
  days.flatMap(({ fromAt, untilAt }) => Array.from({ length: (untilAt - fromAt) / DAY }, (_, index) => fromAt / DAY + index))

const anySpan = fc
  .tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 120 }))
  .map(([from, length]) => span(from, from + length))
const anyKnown = fc
  .tuple(anySpan, fc.integer({ min: -20, max: 20 }), fc.integer({ min: 0, max: 23 }))
  .map(([days, later, hour]): KnownDays => ({ ...days, readAt: days.untilAt + later * DAY + hour * HOUR }))

/** What is read of one person. */
const rangesToRead = (wanted: Days, known: readonly KnownDays[], measured?: Days): readonly Days[] =>
  planHistory([{ email: 'ada@example.com', known }], wanted, { common: { measured, unassignable: new Set() }, lagMs: LAG_MS }).map(
    ({ emails: _, ...days }) => days,
  )

describe('the ranges that are read', () => {
  test('cover each missing day once, and no other', () => {
    fc.assert(
      fc.property(anySpan, fc.array(anyKnown, { maxLength: 4 }), fc.option(anySpan, { nil: undefined }), (wanted, before, measured) => {
        const ranges = rangesToRead(wanted, before, measured)
        const isDone = (day: number): boolean =>
          (measured && at(day) >= measured.fromAt && at(day) < measured.untilAt) ||
          before.some((days) => at(day) >= days.fromAt && at(day) < days.untilAt && at(day) < openFrom(days))
        const expected = dayNumbers([wanted]).filter((day) => !isDone(day))
        expect([...dayNumbers(ranges)].sort((a, b) => a - b)).toEqual(expected)
        expect(ranges.every(({ fromAt, untilAt }) => untilAt > fromAt && untilAt - fromAt <= 30 * DAY)).toBe(true)
        expect(ranges.map(({ untilAt }) => untilAt)).toEqual(ranges.map(({ untilAt }) => untilAt).sort((a, b) => b - a))
      }),
    )
  })

  test('are the same however often an answer is kept', () => {
    fc.assert(
      fc.property(fc.array(anyKnown, { maxLength: 4 }), anyKnown, (before, read) => {
        const all = before.reduce<readonly KnownDays[]>((sum, one) => withDays(sum, one, LAG_MS), [])
        const once = withDays(all, read, LAG_MS)
        expect(withDays(once, read, LAG_MS)).toEqual(once)
        expect(missingDays(read, once)).toEqual([])
        for (const [index, one] of once.entries()) expect(one.fromAt).toBeGreaterThanOrEqual(once[index - 1]?.untilAt ?? 0)
      }),
    )
  })

  test('joining neighbours makes no day count as final before it is', () => {
    fc.assert(
      fc.property(fc.array(anyKnown, { minLength: 1, maxLength: 5 }), (kept) => {
        const answers = kept.toSorted((a, b) => a.readAt - b.readAt)
        const all = answers.reduce<readonly KnownDays[]>((sum, one) => withDays(sum, one, LAG_MS), [])
        const wanted = span(0, 400)
        const open = dayNumbers(rangesToRead(wanted, all))
        // The last answer about a day decides.
        const isFinal = (day: number): boolean => {
          const last = answers.findLast((days) => at(day) >= days.fromAt && at(day) < days.untilAt)
          return last !== undefined && at(day) < openFrom(last)
        }
        expect([...open].sort((a, b) => a - b)).toEqual(dayNumbers([wanted]).filter((day) => !isFinal(day)))
      }),
    )
  })
})

test.each<readonly [string, readonly KnownDays[], KnownDays, readonly KnownDays[]]>([
  ['joins what adjoins', [known(0, 10), known(20, 30)], known(10, 20, 40), [known(0, 30, 40)]],
  ['does not bridge a gap', [known(0, 10)], known(11, 20), [known(0, 10), known(11, 20)]],
  [
    'leaves apart what is silent',
    [{ ...known(0, 10), isSilent: true }],
    known(10, 20),
    [{ ...known(0, 10), isSilent: true }, known(10, 20)],
  ],
  ['leaves apart days that were still open', [known(0, 10, 10)], known(10, 20), [known(0, 10, 10), known(10, 20)]],
  ['drops what a clock that was ahead has read', [known(0, 10, 90)], known(20, 30, 40), [known(20, 30, 40)]],
  [
    'joins days that had just become final to others of which the first had not begun to',
    [{ ...span(0, 10), readAt: at(10) + LAG_MS }],
    { ...span(10, 20), readAt: at(10) + LAG_MS },
    [{ ...span(0, 20), readAt: at(10) + LAG_MS }],
  ],
])('one more answer %s', (_name, before, read, expected) => expect(withDays(before, read, LAG_MS)).toEqual(expected))

describe('the plan', () => {
  const person = (email: string, ...days: readonly KnownDays[]) => ({ email, known: days })
  const options = { common: { unassignable: new Set<string>() }, lagMs: LAG_MS }
  const people = [person('ada@example.com'), person('bob@example.com', known(40, 100)), person('eve@example.com')]

  test('asks for newest days first, and for each person alone', () => {
    const plan = planHistory(people, span(40, 100), options)
    expect(plan).toEqual([
      { ...span(70, 100), emails: ['ada@example.com', 'eve@example.com'] },
      { ...span(40, 70), emails: ['ada@example.com', 'eve@example.com'] },
    ])
    expect(requestsOf(plan)).toEqual({ people: 4, listings: 2 })
  })
  test('of ranges that end on one day asks for the shortest first, and lists nobody for one person', () => {
    const some = [person('ada@example.com'), person('bob@example.com', known(90, 100)), person('eve@example.com', known(40, 85))]
    const plan = planHistory(some, span(40, 100), options)
    expect(plan.map(({ emails, ...days }) => [days.fromAt / DAY, days.untilAt / DAY, ...emails])).toEqual([
      [85, 100, 'eve@example.com'],
      [70, 100, 'ada@example.com'],
      [60, 90, 'bob@example.com'],
      [40, 70, 'ada@example.com'],
      [40, 60, 'bob@example.com'],
    ])
    expect(requestsOf(plan)).toEqual({ people: 5, listings: 0 })
  })
  test('asks only for people without a key where one source tells the others', () => {
    const common = { measured: span(0, 100), unassignable: new Set(['eve@example.com']) }
    expect(planHistory(people, span(70, 100), { ...options, common })).toEqual([{ ...span(70, 100), emails: ['eve@example.com'] }])
  })
})

describe('the grade of a figure', () => {
  const ada = { email: 'ada@example.com', known: [known(10, 20), { ...known(30, 40), isSilent: true }] }
  const common = { unassignable: new Set(['bob@example.com']), measured: span(0, 5), recorded: span(35, 50) }
  test.each<readonly [string, number, Parameters<typeof countGrades>[1], string]>([
    ['a day that the better source tells is measured', 4, ada, 'measured'],
    ['a day of a person without a key is not', 4, { ...ada, email: 'bob@example.com' }, 'missing'],
    [
      'a day of a person whose two figures contradict each other is known in part',
      12,
      { ...ada, doubt: { cycleStartAt: at(10), told: credits(1), listed: credits(99) } },
      'partial',
    ],
    ['an empty answer about an active person leaves the day unknown', 32, ada, 'missing'],
    ['an empty answer about a person whom the service has found is no use', 32, { ...ada, isFound: true }, 'reconstructed'],
    ['a day of readings only is known in part', 36, ada, 'partial'],
  ])('%s', (_name, day, person, expected) => expect(countGrades(span(day, day + 1), person, common)).toMatchObject({ [expected]: 1 }))

  test('of several days counts each of them once', () => {
    fc.assert(
      fc.property(anySpan, fc.array(anyKnown, { maxLength: 3 }), fc.option(anySpan, { nil: undefined }), (wanted, days, measured) => {
        const grades = (of: Days) => countGrades(of, { email: 'ada@example.com', known: days }, { unassignable: new Set(), measured })
        const counts = grades(wanted)
        const byDay = dayNumbers([wanted]).map((day) => grades(span(day, day + 1)))
        for (const grade of ['measured', 'reconstructed', 'partial', 'missing'] as const)
          expect(counts[grade]).toBe(byDay.reduce((sum, one) => sum + one[grade], 0))
        expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe((wanted.untilAt - wanted.fromAt) / DAY)
      }),
    )
  })
})

test.each<readonly [string, number, number, number | undefined, boolean]>([
  ['a tenth apart is the same', 90, 90, 100, false],
  ['a figure below 20 credits is not compared', 1, 1, 19, false],
  ['from 20 credits on it is', 17, 17, 20, true],
  ['the list may know less of days that still change', 100, 50, 46, false],
  ['the list may not know less of other days', 100, 50, 44, true],
])('the comparison with the figure of the cycle: %s', (_name, told, settled, listed, isDoubted) => {
  const doubt = doubtOf(0, credits(told), credits(settled), listed === undefined ? undefined : credits(listed))
  expect(doubt).toEqual(isDoubted ? { cycleStartAt: 0, told, listed } : undefined)
})

describe('an answer', () => {
  test('is summed by day; days outside the range are dropped', () => {
    const rows = [
      { dayAt: at(3), used: credits(1.5) },
      { dayAt: at(1), used: credits(2) },
      { dayAt: at(3), used: credits(0.25) },
      { dayAt: at(2) },
      { dayAt: at(9), used: credits(7) },
    ]
    expect(usedByDay(rows, span(1, 9))).toEqual([
      { dayAt: at(1), used: 2 },
      { dayAt: at(2), used: 0 },
      { dayAt: at(3), used: 1.75 },
    ])
  })
  test('tells of others where people together have more than the workspace', () => {
    expect(isAboveTotal(1_010, credits(1_000))).toBe(false)
    expect(isAboveTotal(1_011, credits(1_000))).toBe(true)
    expect(isAboveTotal(1, credits(0))).toBe(false)
  })
})
