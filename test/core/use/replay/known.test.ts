// How much of a cycle is known, and the days of two sources as one.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { credits } from '../../../../src/core/model/units.ts'
import { cycleKnown, isEnough, mergedDays, teamDays } from '../../../../src/core/use/history.ts'
import { DAY } from '../../../support/declare.ts'

type RecordedDays = ReturnType<typeof mergedDays>
type PastDays = Parameters<typeof cycleKnown>[3]
type PersonHistory = PastDays['people'] extends ReadonlyMap<string, infer Of> ? Of : never
type KnownDays = PersonHistory['known'][number]

const at = (day: number): number => day * DAY
const span = (from: number, until: number) => ({ fromAt: at(from), untilAt: at(until) })
const CYCLE = span(30, 60)
const known = (from: number, until: number, more: Partial<KnownDays> = {}): KnownDays => ({ ...span(from, until), readAt: at(99), ...more })
const person = (email: string, days: readonly KnownDays[], more: Partial<PersonHistory> = {}): PersonHistory => ({
  email,
  known: days,
  ...more,
})
const NOBODY: RecordedDays = { addOn: 'estimated', people: [], days: [] }

type Cells = ReadonlyMap<string, readonly [cents: number, addOn: number | undefined]>

const days = (addOn: RecordedDays['addOn'], cells: Cells): RecordedDays => {
  const people = [...new Set([...cells.keys()].map((key) => key.split(' ')[0] ?? ''))]
  const byDay = Map.groupBy([...cells], ([key]) => Number(key.split(' ')[1]))
  return {
    addOn,
    people,
    days: [...byDay]
      .sort(([a], [b]) => a - b)
      .map(([day, rows]) => ({
        dayAt: at(day),
        people: Int32Array.from(rows, ([key]) => people.indexOf(key.split(' ')[0] ?? '')),
        cents: Float64Array.from(rows, ([, [cents]]) => cents),
        ...(addOn === 'measured' && { addOnCents: Float64Array.from(rows, ([, [, paid = 0]]) => paid) }),
      })),
  }
}

const cellsOf = ({ people, days: all }: RecordedDays): Cells =>
  new Map(
    all.flatMap(({ dayAt, people: places, cents, addOnCents }) =>
      [...places].map((place, row) => {
        const paid = addOnCents?.[row] ?? Number.NaN
        return [`${people[place]} ${dayAt / DAY}`, [cents[row] ?? 0, Number.isNaN(paid) ? undefined : paid]] as const
      }),
    ),
  )

describe('a cycle', () => {
  const past = (people: readonly PersonHistory[], common: Partial<PastDays['common']> = {}): PastDays => ({
    people: new Map(people.map((one) => [one.email, one])),
    common: { unassignable: new Set(), ...common },
  })
  const SILENT = [known(30, 60, { isSilent: true })]
  test.each<readonly [string, PastDays, number]>([
    ['is known over answers that adjoin', past([person('a', [known(20, 45), known(45, 60)]), person('b', [known(0, 90)])]), 1],
    ['is not known of a person of whom the service never told a run', past([person('a', [known(20, 70)]), person('b', SILENT)]), 0.5],
    ['is known of such a person once it has', past([person('a', [known(20, 70)]), person('b', SILENT, { isFound: true })]), 1],
    ['is known of everybody by readings from its first day to its last', past([], { recorded: span(30, 60) }), 1],
    ['is known of everybody where one source tells all', past([], { measured: span(0, 90) }), 1],
    ['but not of people without a key', past([], { measured: span(0, 90), unassignable: new Set(['b']) }), 0.5],
  ])('%s', (_name, one, share) => expect(cycleKnown(CYCLE, NOBODY, ['a', 'b'], one)).toEqual({ people: share }))

  test('is compared with the use of the whole workspace, where all of its days are known', () => {
    const recorded = days(
      'estimated',
      new Map([
        ['a 30', [6_000, undefined]],
        ['a 60', [9_000, undefined]],
      ]),
    )
    const team = (range: ReturnType<typeof span>) => ({
      ...past([]),
      team: {
        ...range,
        days: [
          { dayAt: at(30), used: credits(80) },
          { dayAt: at(60), used: credits(5) },
        ],
      },
    })
    for (const all of [CYCLE, span(0, 90)]) expect(cycleKnown(CYCLE, recorded, ['a'], team(all))).toEqual({ people: 0, use: 0.75 })
    for (const less of [span(31, 90), span(0, 59)]) expect(cycleKnown(CYCLE, recorded, ['a'], team(less))).toEqual({ people: 0 })
  })

  test.each<readonly [Parameters<typeof isEnough>[0], boolean]>([
    [{ people: 0.95 }, true],
    [{ people: 1, use: 0.95 }, true],
    [{ people: 1, use: 0.94 }, false],
    [{ people: 0.9, use: 1 }, false],
  ])('of which %j is known counts: %s', (share, expected) => expect(isEnough(share)).toBe(expected))
})

describe('two sources', () => {
  const cell = fc.record({
    who: fc.constantFrom('a', 'b', 'c'),
    day: fc.integer({ min: 0, max: 9 }),
    cents: fc.integer({ min: 1, max: 999 }),
  })
  const cells = fc
    .array(cell)
    .map((all) => new Map(all.map(({ who, day, cents }) => [`${who} ${day}`, [cents, Math.floor(cents / 2)] as const])))

  test('give each person and day one figure: the measured one where it is told, else the other, and never a sum', () => {
    fc.assert(
      fc.property(
        cells,
        cells,
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 0, max: 9 }),
        fc.subarray(['a', 'b']),
        (first, second, from, length, out) => {
          const told = span(from, from + length)
          const measured = new Map([...second].filter(([key]) => !out.includes(key.split(' ')[0] ?? '')))
          const common = { measured: told, unassignable: new Set(out) }
          const isTold = (key: string): boolean => {
            const [who = '', day] = key.split(' ')
            return !out.includes(who) && Number(day) >= from && Number(day) < from + length
          }
          const expected: Cells = new Map<string, readonly [number, number | undefined]>([
            ...[...first].filter(([key]) => !isTold(key)).map(([key, [cents]]) => [key, [cents, undefined]] as const),
            ...[...measured].filter(([key]) => isTold(key)),
          ])
          const merged = mergedDays(days('estimated', first), days('measured', measured), common)
          expect([...cellsOf(merged)].sort()).toEqual([...expected].sort())
          expect(merged.addOn).toBe([...expected.values()].every(([, paid]) => paid !== undefined) ? 'measured' : 'estimated')
          expect(merged.days.map(({ dayAt }) => dayAt)).toEqual(merged.days.map(({ dayAt }) => dayAt).toSorted((a, b) => a - b))
        },
      ),
    )
  })
})

test('the use of the workspace is absent where its runs carry no credits', () => {
  expect(teamDays([{ dayAt: at(1) }])).toBeUndefined()
  expect(teamDays([{ dayAt: at(1), used: credits(2) }, { dayAt: at(2) }])).toEqual([{ dayAt: at(1), used: 2 }])
})
