// A model of what a ledger must return about use, as plain maps, and steps to compare the two.
import fc from 'fast-check'
import type { LedgerFacts } from '../../src/core/model/facts.ts'
import type { RunUse } from '../../src/core/model/observed.ts'
import type { PersonHistory } from '../../src/core/model/past.ts'
import { groupScope, scopeKey, TEAM } from '../../src/core/model/scope.ts'
import { type Credits, credits } from '../../src/core/model/units.ts'
import type { BurnStep } from '../../src/core/use/burn.ts'
import { type RecordedDays, withDays } from '../../src/core/use/history.ts'
import type { DayRange, Ledger } from '../../src/ports.ts'
import { addOnBatch, recordedDays } from './add-on.ts'
import { DAY } from './declare.ts'

type Use = Pick<
  Ledger,
  | 'histories'
  | 'changeHistory'
  | 'dropHistories'
  | 'firstDay'
  | 'saveRuns'
  | 'runs'
  | 'saveBurn'
  | 'highestUse'
  | 'useReadings'
  | 'useByPerson'
  | 'useByDay'
  | 'useOfPerson'
>

const inCents = (amount: number): Credits => credits(Math.round(amount * 100) / 100)
const byWords = (a: RunUse, b: RunUse): number => {
  const words = ({ dayAt, model, mode }: RunUse) => [String(dayAt).padStart(20), model, mode]
  return words(a) < words(b) ? -1 : 1
}

/** `keep` saves a fact of the same ledger. */
export function modelUse(keep: <K extends keyof LedgerFacts>(name: K, value: LedgerFacts[K]) => void): Use {
  const runs = new Map<string, readonly RunUse[]>()
  const days = new Map<string, Map<number, number>>()
  /** Days that the service told, by `E-MAIL DAY`. */
  const told = new Set<string>()
  const histories = new Map<string, PersonHistory>()
  const highest = new Map<string, Credits>()
  let readings: readonly { readonly at: number; readonly used: Credits }[] = []
  return {
    async saveRuns(scope, { rows, asked, fromAt, untilAt }) {
      const others = (runs.get(scopeKey(scope)) ?? []).filter(({ dayAt }) => dayAt < fromAt || dayAt >= untilAt)
      runs.set(scopeKey(scope), [...others, ...rows].sort(byWords))
      keep('runsAsked', asked)
    },
    runs: async (scope, { fromAt, untilAt }) => (runs.get(scopeKey(scope)) ?? []).filter(({ dayAt }) => dayAt >= fromAt && dayAt < untilAt),
    async saveBurn({ burned: { highest: figures, ...burned }, isNewCycle, raised, increases, readAt, used }) {
      if (isNewCycle) highest.clear()
      for (const email of raised) {
        highest.set(email, figures?.get(email) ?? credits(0))
      }
      for (const [email, increase] of increases) {
        const own = days.get(email) ?? new Map<number, number>()
        const day = Math.floor(readAt / DAY)
        if (!told.has(`${email} ${day}`)) days.set(email, own.set(day, inCents((own.get(day) ?? 0) + increase)))
      }
      const kept = readings.filter(({ at }) => at !== readAt && at >= readAt - 9 * DAY)
      if (used !== undefined) readings = [...kept, { at: readAt, used }].sort((a, b) => a.at - b.at)
      keep('burned', burned)
    },
    histories: async (only) =>
      [...histories.values()].filter(({ email }) => only === undefined || email === only).sort((a, b) => (a.email < b.email ? -1 : 1)),
    async changeHistory([email = ''], change) {
      const made = change(histories.get(email) ?? { email, known: [] })
      if (!made) return false
      histories.set(email, made.history)
      if (!made.told) return true
      const own = days.get(email) ?? new Map<number, number>()
      for (let day = made.told.fromAt / DAY; day < made.told.untilAt / DAY; day += 1) {
        own.delete(day)
        told.delete(`${email} ${day}`)
      }
      for (const { dayAt, used } of made.told.rows) {
        if (used === 0) continue
        own.set(dayAt / DAY, used)
        told.add(`${email} ${dayAt / DAY}`)
      }
      days.set(email, own)
      return true
    },
    async dropHistories(droppedAt) {
      for (const [email, own] of days) for (const day of [...own.keys()]) if (told.has(`${email} ${day}`)) own.delete(day)
      told.clear()
      histories.clear()
      keep('history', { droppedAt })
    },
    async firstDay() {
      const recorded = [...days].flatMap(([email, own]) => [...own.keys()].filter((day) => !told.has(`${email} ${day}`)))
      return recorded.length === 0 ? undefined : Math.min(...recorded) * DAY
    },
    highestUse: async () => new Map([...highest].filter(([, amount]) => amount > 0)),
    useReadings: async () => readings,
    useByPerson: async ({ fromAt, untilAt }) =>
      [...days]
        .map(([email, own]) => {
          const inside = [...own].filter(([day]) => day * DAY >= fromAt && day * DAY < untilAt)
          return { email, used: inCents(inside.reduce((sum, [, amount]) => sum + amount, 0)) }
        })
        .filter(({ used }) => used > 0)
        .sort((a, b) => b.used - a.used || (a.email < b.email ? -1 : 1)),
    useOfPerson: async (email, { fromAt, untilAt }) =>
      [...(days.get(email) ?? [])]
        .map(([day, used]) => ({ dayAt: day * DAY, used: credits(used) }))
        .filter(({ dayAt }) => dayAt >= fromAt && dayAt < untilAt)
        .sort((a, b) => a.dayAt - b.dayAt),
    useByDay: async (range) =>
      recordedDays(
        'estimated',
        [...days].flatMap(([who, own]) =>
          [...own].flatMap(([day, used]) => (isWithin(day * DAY, range) ? [[day * DAY, who, Math.round(used * 100)] as const] : [])),
        ),
      ),
  }
}

const isWithin = (at: number, { fromAt, untilAt }: DayRange): boolean => at >= fromAt && at < untilAt

/** Whatever the order of people is: each day and person with the amounts. */
async function byDay(ledger: Ledger, source: RecordedDays['addOn']): Promise<readonly string[]> {
  const { people, days } = await ledger.useByDay({ fromAt: 5 * DAY, untilAt: 20 * DAY }, source)
  return days
    .flatMap((day) => [...day.people].map((place, row) => `${day.dayAt} ${people[place]} ${day.cents[row]} ${day.addOnCents?.[row]}`))
    .toSorted()
}

const midnight = fc.integer({ min: 0, max: 16 }).map((day) => day * DAY)
const amount = fc.integer({ min: 1, max: 1_000_000 }).map((cents) => credits(cents / 100))
const email = fc.constantFrom('ada@example.com', '__proto__@example.com')

const asked: fc.Arbitrary<LedgerFacts['runsAsked']> = fc.dictionary(
  fc.constantFrom('team', 'group:a'),
  fc.record({ fromAt: midnight, throughAt: midnight, readAt: fc.nat(), wideAt: fc.nat() }),
  { noNullPrototype: true },
)

const row: fc.Arbitrary<Omit<RunUse, 'dayAt'>> = fc.record(
  { model: fc.constantFrom('', 'Large', '__proto__'), mode: fc.constantFrom('', 'UNKNOWN'), messages: fc.nat(), used: amount },
  { requiredKeys: ['model', 'mode', 'messages'] },
)

const saveRuns = fc
  .record({
    scope: fc.constantFrom(TEAM, groupScope('a')),
    fromAt: midnight,
    rows: fc.uniqueArray(row, { selector: ({ model, mode }) => `${model} ${mode}` }),
    asked,
  })
  .map(
    ({ scope, fromAt, rows, asked }) =>
      (ledger: Ledger) =>
        ledger.saveRuns(scope, { fromAt, untilAt: fromAt + 2 * DAY, rows: rows.map((one) => ({ ...one, dayAt: fromAt + DAY })), asked }),
  )

/** All people who burned credits are raised too. */
const step: fc.Arbitrary<BurnStep> = fc
  .record({
    team: amount,
    figures: fc.array(fc.tuple(email, amount)),
    readAt: fc.integer({ min: 0, max: 20 * DAY }),
    isNewCycle: fc.boolean(),
  })
  .map(({ team, figures, readAt, isNewCycle }) => {
    const highest = new Map(figures)
    return {
      burned: { team, groups: { a: team }, highest },
      readAt,
      increases: highest,
      isNewCycle,
      raised: [...highest.keys()],
      used: team,
    }
  })

/** What a collector keeps of one answer. */
const answer = fc
  .record({
    who: email,
    fromAt: midnight,
    length: fc.integer({ min: 1, max: 12 }),
    amounts: fc.array(fc.option(amount, { nil: undefined }), { maxLength: 12 }),
    readAt: fc.nat(),
  })
  .map(({ who, fromAt, length, amounts, readAt }) => (ledger: Ledger) => {
    const range = { fromAt, untilAt: fromAt + length * DAY }
    const rows = amounts.slice(0, length).flatMap((used, index) => (used === undefined ? [] : [{ dayAt: fromAt + index * DAY, used }]))
    return ledger.changeHistory([who], (before) => ({
      history: { ...before, known: withDays(before.known, { ...range, readAt }, 0) },
      told: { ...range, rows },
    }))
  })

export const useSteps: fc.Arbitrary<(ledger: Ledger) => Promise<unknown>> = fc.oneof(
  saveRuns,
  answer,
  { arbitrary: fc.constant((ledger: Ledger) => ledger.dropHistories(1)), weight: 1 },
  step.map((one) => (ledger: Ledger) => ledger.saveBurn(one)),
  addOnBatch.map((one) => (ledger: Ledger) => ledger.saveAddOnUse(one)),
)

const EVER = { fromAt: 0, untilAt: 8_640_000_000_000_000 }

/** All queries of a ledger about use. */
export const useOf = async (ledger: Ledger) => ({
  team: await ledger.runs(TEAM, { fromAt: 3 * DAY, untilAt: 25 * DAY }),
  group: await ledger.runs(groupScope('a'), { fromAt: 0, untilAt: 60 * DAY }),
  highest: Object.fromEntries(await ledger.highestUse()),
  readings: await ledger.useReadings(),
  histories: await ledger.histories(),
  firstDays: [await ledger.firstDay('recorded'), await ledger.firstDay('measured')],
  people: await ledger.useByPerson({ fromAt: 5 * DAY, untilAt: 20 * DAY }),
  byDay: [await byDay(ledger, 'estimated'), await byDay(ledger, 'measured')],
  person: await ledger.useOfPerson('ada@example.com', { fromAt: 5 * DAY, untilAt: 20 * DAY }),
  // The cost of a query depends on the days with use, not on the requested days: these are a hundred million.
  ever: await ledger.useOfPerson('ada@example.com', EVER),
  addOnSums: [...(await ledger.addOnSums({ fromAt: 5 * DAY, untilAt: 60 * DAY }))],
  addOnByModel: [...(await ledger.addOnByModel({ fromAt: 5 * DAY, untilAt: 60 * DAY }))],
  addOnOf: await Promise.all(
    ['ada@example.com', '__proto__@example.com', 'nobody@example.com'].map((who) => ledger.addOnOfPerson(who, EVER)),
  ),
})
