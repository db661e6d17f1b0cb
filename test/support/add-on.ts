// Add-on use for tests: measured figures by name, a model of what a ledger must return as plain maps, and batches to compare the two.
import fc from 'fast-check'
import type { LedgerFacts } from '../../src/core/model/facts.ts'
import type { AddOnRow } from '../../src/core/model/observed.ts'
import type { AddOnAsked } from '../../src/core/model/past.ts'
import { credits, wholeCents } from '../../src/core/model/units.ts'
import { addOnFigures, type MeasuredAddOn, totalAddOn } from '../../src/core/use/add-on.ts'
import type { RecordedDays } from '../../src/core/use/history.ts'
import type { AddOnBatch, AddOnSum, Ledger } from '../../src/ports.ts'
import { CYCLE, DAY, email, NOW, rosterOfUse } from './declare.ts'

/** The measured use of this cycle, by short name; `others` belongs to no person. */
export function measuredAddOn(
  use: Readonly<Record<string, number>>,
  { others = 0, ...more }: Partial<Omit<MeasuredAddOn, 'cycles'>> & { readonly others?: number; readonly startAt?: number } = {},
): MeasuredAddOn {
  const { startAt = CYCLE.startAt, ...rest } = more
  const people = Object.fromEntries(Object.entries(use).map(([name, amount]) => [email(name), credits(amount)]))
  return { readAt: NOW, unassignable: [], ...rest, cycles: [{ startAt, people, others: credits(others) }] }
}

/** All add-on use of people with this use in the cycle, each of whom has 500 credits of their seat. */
export const totalOf = (used: Readonly<Record<string, number | undefined>>, measured?: MeasuredAddOn): number | undefined =>
  totalAddOn(addOnFigures({ now: NOW, cycle: CYCLE, measured, balance: { creditsPerSeat: credits(500) } }), rosterOfUse(used).people)

type DayEntry = readonly [dayAt: number, email: string, cents: number, addOnCents?: number]

/** As a replay reads them. */
export function recordedDays(addOn: RecordedDays['addOn'], entries: readonly DayEntry[]): RecordedDays {
  const people = [...new Set(entries.map(([, who]) => who))]
  const days = [...Map.groupBy(entries, ([dayAt]) => dayAt)].map(([dayAt, rows]) => ({
    dayAt,
    people: Int32Array.from(rows, ([, who]) => people.indexOf(who)),
    cents: Float64Array.from(rows, ([, , cents]) => cents),
    addOnCents: addOn === 'measured' ? Float64Array.from(rows, (row) => row[3] ?? 0) : undefined,
  }))
  return { addOn, people, days }
}

/** `keep` saves a fact of the same ledger. */
export function modelAddOn(
  keep: <K extends keyof LedgerFacts>(name: K, value: LedgerFacts[K]) => void,
): Pick<Ledger, 'saveAddOnUse' | 'addOnSums' | 'addOnByModel' | 'addOnOfPerson' | 'useByDay' | 'firstDay'> {
  let known: readonly AddOnRow[] = []
  const within = ({ fromAt, untilAt }: { readonly fromAt: number; readonly untilAt: number }) =>
    known.filter(({ dayAt }) => dayAt >= fromAt && dayAt < untilAt)
  return {
    async saveAddOnUse({ fromAt, untilAt, rows, asked }) {
      const words = ({ dayAt, email: of, model }: AddOnRow): string => `${String(dayAt).padStart(20)} ${of}\u0000${model}`
      const others = known.filter(({ dayAt }) => dayAt < fromAt || dayAt >= untilAt)
      known = [...others, ...rows].sort((a, b) => (words(a) < words(b) ? -1 : 1))
      keep('addOnAsked', asked)
    },
    addOnSums: async (days) => {
      const sums = new Map<string, AddOnSum>()
      for (const { email: of, used, addOn } of within(days)) {
        const before = sums.get(of)
        sums.set(of, { used: wholeCents((before?.used ?? 0) + used), addOn: wholeCents((before?.addOn ?? 0) + addOn) })
      }
      return new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
    },
    addOnByModel: async (days) => {
      const models = [...Map.groupBy(within(days), ({ model }) => model)].sort(([x], [y]) => (x < y ? -1 : 1))
      return new Map(models.map(([model, rows]) => [model, wholeCents(rows.reduce((sum, { addOn }) => sum + addOn, 0))]))
    },
    async useByDay(range) {
      const days = Map.groupBy(
        within(range).filter((row) => row.email !== ''),
        (row) => `${row.dayAt} ${row.email}`,
      )
      const cents = (rows: readonly AddOnRow[], name: 'used' | 'addOn') => rows.reduce((sum, row) => sum + Math.round(row[name] * 100), 0)
      const entries = [...days.values()].flatMap((rows) => {
        const [first] = rows
        return first ? [[first.dayAt, first.email, cents(rows, 'used'), cents(rows, 'addOn')] as const] : []
      })
      return recordedDays('measured', entries)
    },
    async addOnOfPerson(of, days) {
      const byDay = Map.groupBy(
        within(days).filter(({ email }) => email === of),
        ({ dayAt }) => dayAt,
      )
      const sum = (rows: readonly AddOnRow[], name: 'used' | 'addOn') => wholeCents(rows.reduce((all, row) => all + row[name], 0))
      return [...byDay].sort(([a], [b]) => a - b).map(([dayAt, rows]) => ({ dayAt, used: sum(rows, 'used'), addOn: sum(rows, 'addOn') }))
    },
    firstDay: async () => (known.length === 0 ? undefined : Math.min(...known.map(({ dayAt }) => dayAt))),
  }
}

const midnight = fc.integer({ min: 0, max: 30 }).map((day) => day * DAY)
const amount = fc.integer({ min: 0, max: 1_000_000 }).map((cents) => credits(cents / 100))

const addOnAsked: fc.Arbitrary<AddOnAsked> = fc.record({
  ...{ fromAt: midnight, throughAt: midnight, readAt: fc.nat(), wideAt: fc.nat() },
  ...{ hasRows: fc.boolean(), emptyDays: fc.nat() },
})

/** Two days with each person and model once a day. */
export const addOnBatch: fc.Arbitrary<AddOnBatch> = fc
  .record({
    fromAt: midnight,
    rows: fc.uniqueArray(
      fc.record({
        day: fc.integer({ min: 0, max: 1 }),
        email: fc.constantFrom('', 'ada@example.com', "o'hara@example.com", '__proto__@example.com'),
        model: fc.constantFrom('', '<nil>', 'MODEL_A'),
        used: amount,
        addOn: amount,
      }),
      { selector: ({ day, email: of, model }) => `${day} ${of} ${model}` },
    ),
    asked: addOnAsked,
  })
  .map(({ fromAt, rows, asked }) => ({
    ...{ fromAt, untilAt: fromAt + 2 * DAY, asked },
    rows: rows.map(({ day, ...row }) => ({ ...row, dayAt: fromAt + day * DAY })),
  }))
