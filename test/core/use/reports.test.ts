// The figures of a report: reports.txt has people, runs and what is known of add-on use, and what is told of them by each view.
// `CAPKEEPER_TESTS=test/core/use/reports.test.ts npx vitest run -u` writes what is told into it, for review as a change of text.
import { credits } from '../../../src/core/model/units.ts'
import { changesLine, headlinesOf, isCharge, reportOf, subjectOf } from '../../../src/core/use/report.ts'
import { CYCLE, DAY, NOW } from '../../support/declare.ts'
import { clause, type Named, playTables } from '../../support/tables.ts'

type Inputs = Parameters<typeof reportOf>[0]
type Report = ReturnType<typeof reportOf>
type Figures = NonNullable<Inputs['addOn']>

interface Part extends Partial<Omit<Inputs, 'people' | 'runs' | 'addOn' | 'addOnByModel' | 'balance' | 'groups'>> {
  readonly people?: Named<{
    readonly used?: number
    readonly cap?: number | 'none' | 'unknown'
    readonly in?: readonly string[]
    readonly attribute?: string | null
  }>
  /** By day of the cycle and model; a null says that the service tells no credits. */
  readonly runs?: readonly (readonly [day: number, model: string, used: number | null])[]
  readonly groups?: Named<string>
  /** 300 credits of seats, 150 of 1,000 add-on credits used. */
  readonly balance?: boolean
  /** Estimated from that balance, or measured: all use is, or so many credits of everybody, and people who left used more. */
  readonly addOn?: 'estimated' | { readonly each?: number; readonly others?: number; readonly source?: 'estimated' }
  readonly byModel?: Named<number>
  /** Whether what stands above the table is told instead. */
  readonly above?: boolean
}

const BALANCE: NonNullable<Inputs['balance']> = {
  ...{ creditsPerSeat: credits(100), seats: 3, addOnAvailable: credits(1000), addOnUsed: credits(150) },
  ...{ cycle: CYCLE, readAt: NOW },
}

const figuresOf = (addOn: NonNullable<Part['addOn']>): Figures =>
  addOn === 'estimated'
    ? {
        ...{ source: addOn, others: credits(0) },
        of: (_, used) => used && { credits: credits(Math.max(0, used - BALANCE.creditsPerSeat)), source: addOn },
      }
    : {
        ...{ source: addOn.source ?? 'measured', others: credits(addOn.others ?? 0) },
        of: (_, used) => {
          const own = addOn.each ?? used
          return own === undefined ? undefined : { credits: credits(own), source: 'measured' }
        },
      }

const report = ({ people = {}, runs, groups = {}, balance, addOn, byModel, above: _, ...more }: Part): Report =>
  reportOf({
    ...{ workspace: 'acme', which: 'current', by: 'team', cycle: CYCLE, writes: [], notes: [] },
    people: Object.entries(people).map(([email, { used, cap, in: inside = [], attribute }]) => ({
      ...{ email, groups: inside, used: used === undefined ? undefined : credits(used) },
      cap: typeof cap === 'number' ? credits(cap) : cap,
      ...(attribute !== undefined && { attribute: attribute === null ? ('unlisted' as const) : { value: attribute } }),
    })),
    runs: runs?.map(([day, model, used]) => ({
      ...{ dayAt: CYCLE.startAt + day * DAY, model, mode: 'write', messages: 1 },
      ...(used !== null && { used: credits(used) }),
    })),
    groups: Object.entries(groups).map(([id, name]) => ({ id, name })),
    balance: balance ? BALANCE : undefined,
    addOn: addOn && figuresOf(addOn),
    addOnByModel: byModel && new Map(Object.entries(byModel)),
    ...more,
  })

const told = ({ totals, rows, near, days, notes, pricePerCredit, currency, projected, exhaustedAt }: Report): readonly string[] => {
  const fields = (record: object): string =>
    Object.entries(record)
      .map(([name, one]) => clause(name, name === 'share' ? one?.toFixed(4) : one))
      .join('')
      .slice(2)
  return [
    `totals: ${fields(totals)}`,
    ...rows.map(({ key, ...row }) => `${key}: ${fields(row)}`),
    ...near.map(({ email, ...row }) => `near: ${email}, ${fields(row)}`),
    ...(days?.length === 0 ? ['days: none'] : []),
    ...(days ?? []).map(({ at, byModel }) => `day ${(at - CYCLE.startAt) / DAY}: ${fields(byModel)}`),
    ...notes.map((note) => `note: ${note}`),
    ...(pricePerCredit === undefined && currency === undefined ? [] : [`price ${pricePerCredit} ${currency}`]),
    ...(projected || exhaustedAt !== undefined ? [`projected ${JSON.stringify(projected)}${clause('exhausted', exhaustedAt)}`] : []),
  ]
}

const above = (one: Report): readonly string[] => [
  `by ${subjectOf(one.by)}${isCharge(one.by) ? ', charged' : ''}`,
  ...headlinesOf(one).map(({ name, value, unit = '' }) => `${name}: ${value} ${unit}`.trimEnd()),
  changesLine(one),
]

playTables<Part>(import.meta.dirname, (part) => [(part.above ? above : told)(report(part))])
