// What people would have used: when a cap stopped a person, and what earlier days tell of the days on which it did.
import { describe, expect, test } from 'vitest'
import { DAY, scope } from '../../../support/declare.ts'
import { historyOf, ownedCap, raise } from '../../../support/ledger.ts'
import { cyclesOf, START, simulated, weekdays } from '../../../support/replay.ts'

const ADA = scope('ada')

/** Who was at a cap, by the notes: nobody, one of whom earlier days tell what they wanted, or one of whom none does. */
function stopped({ notes }: ReturnType<typeof simulated>): 'not' | 'told' | 'untold' {
  if (!notes.some((note) => note.startsWith('1 person was at a cap'))) return 'not'
  return notes.some((note) => note.startsWith('For 1 of them no earlier day tells')) ? 'untold' : 'told'
}

/** ada had each of these caps for a day, and none on the others, from the first day on. */
const cappedOn = (caps: Readonly<Record<number, number>>) => [
  { ...historyOf(raise(ADA, 0, 1), START), from: 'none' as const, to: 'none' as const },
  ...Object.entries(caps).flatMap(([day, cap]) => {
    const set = historyOf(raise(ADA, 0, cap), START + Number(day) * DAY)
    return [
      { ...set, from: 'none' as const },
      { ...set, at: set.at + DAY, from: set.to, to: 'none' as const },
    ]
  }),
]

test.each<readonly [string, number, number, number, boolean]>([
  ['not while more than a hundredth is left of a high one', 1000, 989.99, 0, false],
  ['with a hundredth left of a high one', 1000, 990, 0, true],
  ['a tenth beyond a high one', 1000, 1100, 0, true],
  ['not more than a tenth beyond a high one', 1000, 1100.01, 0, false],
  ['of 0, who used something', 0, 0.01, 0, true],
  ['of 0, but not one who used nothing', 0, 0, 0, false],
  ['of 0, who is a credit from the end of the seat', 0, 99, 100, true],
  ['of 0, not who has more left of the seat', 0, 98.99, 100, false],
  ['by what was used beyond the seat', 50, 150, 100, true],
  ['not by what the seat pays for', 50, 50, 100, false],
])('a cap stops a person %s', (_name, cap, used, perSeat, isStopped) =>
  expect(stopped(simulated({ use: { ada: [used], bob: [1] }, owned: [ownedCap(ADA, cap)], perSeat }))).toBe(isStopped ? 'untold' : 'not'),
)

describe('what a person would have used on a day at the cap', () => {
  /** Use on Mondays; on the last of them the cap is what was used until then. */
  const onMondays = (use: readonly number[], caps: Parameters<typeof simulated>[0]['caps'] = {}) => {
    const last = (use.length - 1) * 7
    const days = Array.from({ length: last + 1 }, (_, day) => (day % 7 === 0 ? (use[day / 7] ?? 0) : 0))
    return simulated({
      caps,
      use: { ada: days, bob: weekdays(1, last + 1) },
      history: cappedOn({ [last]: use.reduce((sum, amount) => sum + amount, 0) }),
      cycles: [{ startAt: START, endAt: START + (last + 1) * DAY }],
    })
  }
  const mondays = (...use: readonly number[]) => {
    const one = onMondays(use)
    const { policy, beside, workingDays } = one.cycles[0]?.total ?? expect.unreachable()
    const { low, middle, high } = policy.credits
    const round = (amount: number) => Math.round(amount * 100) / 100
    const ofBob = 5 * (use.length - 1) + 1
    return {
      is: stopped(one),
      middle: round(middle - low),
      high: round(high - low),
      share: beside.blockedDays?.high,
      days: round(workingDays - ofBob),
    }
  }

  test.each<readonly [string, readonly number[], ReturnType<typeof mondays>]>([
    ['is as likely as a working day as those were', [10, 0, 30, 40, 0], { is: 'told', middle: 20, high: 40, share: 0.8, days: 3.8 }],
    ['goes by days since the first one with use', [0, 0, 30, 0, 0], { is: 'told', middle: 15, high: 30, share: 0.5, days: 1.5 }],
    ['is nothing in the middle where they used more than the mean', [10, 30, 25], { is: 'told', middle: 0, high: 5, share: 1, days: 3 }],
    ['is nothing more where they used as much as ever', [30, 30], { is: 'told', middle: 0, high: 0, share: 0, days: 2 }],
    ['is little more where they used a little less', [30, 29.99], { is: 'told', middle: 0.01, high: 0.01, share: 1, days: 2 }],
  ])('%s', (_name, use, expected) => expect(mondays(...use)).toEqual(expected))

  test('is no block where it is half a hundredth more', () => {
    const { policy, beside } = onMondays([0.01, 0, 0], { caps: { ada: 0 } }).cycles[0]?.total ?? expect.unreachable()
    expect([policy.blockedDays.middle, beside.blockedDays?.middle]).toEqual([1, 0])
  })

  test('is not known where no such weekday is before it, and stays so for the cycle', () => {
    const use = { ada: [10, 10, 10, 10, 10, 0, 0, 10, 10] }
    const of = (caps: Readonly<Record<number, number>>) => stopped(simulated({ use, history: cappedOn(caps) }))
    expect([of({ 4: 50 }), of({ 7: 60 }), of({ 4: 50, 7: 60 })]).toEqual(['untold', 'told', 'untold'])
  })
})

test('where nothing was ever used no cycle is replayed', () => {
  const cyclesWith = (ada: readonly number[]) => simulated({ use: { ada }, cycles: cyclesOf(1) }).cycles.length
  expect([cyclesWith([1, 1, 1]), cyclesWith([0, 0])]).toEqual([1, 0])
})
