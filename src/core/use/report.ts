// The figures of a report on one cycle of one workspace: use, head-room, people at or near their cap, and what capkeeper changed. Sums and shares
// only. A figure that is not known is absent, and a note says so.

import { DONE, EFFECTS, type Effect, type HistoryEntry } from '../model/change.ts'
import type { Band } from '../model/events.ts'
import { type Balance, balanceOf, type Cycle, type Observed, type RunUse } from '../model/observed.ts'
import { compareText } from '../model/scope.ts'
import { type Credits, credits, formatInstant, sumOfKnown, wholeCents } from '../model/units.ts'
import { type AddOnFigures, type AddOnSource, type AddOnUse, beyond, worstSource } from './add-on.ts'
import { type BurnFigures, projectedCents } from './burn.ts'
import { bandOf, bandRank } from './first-stop.ts'

export const REPORT_VIEWS = ['team', 'group', 'user', 'model'] as const
export const ATTRIBUTE_VIEW = 'attribute:'
/** `attribute:COLUMN`: by a column of the people file. */
export type ReportView = (typeof REPORT_VIEWS)[number] | `attribute:${string}`

/** The column of a report by a column of the people file. */
export const attributeOf = (by: ReportView): string | undefined =>
  by.startsWith(ATTRIBUTE_VIEW) ? by.slice(ATTRIBUTE_VIEW.length) : undefined

const SUBJECTS: Readonly<Record<(typeof REPORT_VIEWS)[number], string>> = { team: 'Team', group: 'Group', user: 'Person', model: 'Model' }

/** The heading of what each line is of. */
export const subjectOf = (by: ReportView): string => attributeOf(by) ?? SUBJECTS[by as (typeof REPORT_VIEWS)[number]]

/** Whether the table is for finance: parts of the workspace that are charged. */
export const isCharge = (by: ReportView): boolean => by === 'group' || attributeOf(by) !== undefined

/** The present cycle, the one before, or the one that begins in a month, such as `2026-09`. */
export type ReportCycle = 'current' | 'previous' | `${number}-${number}`

/** One person, from the roster, the ledger and the caps. */
export interface ReportPerson {
  readonly email: string
  /** Ids of declared groups. */
  readonly groups: readonly string[]
  /** What the people file says in the report's column; absent: not known. */
  readonly attribute?: { readonly value: string } | 'unlisted'
  /** Credits used in the cycle. */
  readonly used?: Credits
  /** The cap in force; absent for a cycle that is over. */
  readonly cap?: Observed
}

export interface ReportInputs {
  readonly workspace: string
  readonly which: ReportCycle
  readonly by: ReportView
  readonly cycle: Cycle
  readonly people: readonly ReportPerson[]
  readonly groups: readonly { readonly id: string; readonly name: string }[]
  /** It counts only where it is of this cycle. */
  readonly balance?: Balance
  /** Add-on use of this cycle, from a source worth reporting; absent: not known. */
  readonly addOn?: AddOnFigures
  /** The same by model, in the service's spelling; absent where it is not measured. */
  readonly addOnByModel?: ReadonlyMap<string, number>
  /** Runs within the cycle; absent when they could not be read. */
  readonly runs?: readonly RunUse[]
  readonly figures?: BurnFigures
  /** Writes within the cycle, newest first. */
  readonly writes: readonly HistoryEntry[]
  readonly pricePerCredit?: number
  readonly currency?: string
  /** What could not be gathered. */
  readonly notes: readonly string[]
}

/** One line of the table. Amounts are credits. */
export interface ReportRow {
  /** `team`, `group:ID`, `COLUMN:VALUE`, an e-mail, a model's name; `-` for people in no declared group, and for use in no run; else what it is not. */
  readonly key: string
  readonly name: string
  readonly people?: number
  readonly used?: number
  /** Add-on use, summed over the people. */
  readonly addOn?: number
  /** Its source; for a sum the worst of its parts. */
  readonly addOnSource?: AddOnSource
  /** Of one person. */
  readonly cap?: Observed
  /** Credits left under the caps in force, summed over people with a cap. */
  readonly headRoom?: number
  readonly uncapped?: number
  readonly band?: Band
  /** The share of all use in the report, 0 to 1. */
  readonly share?: number
  /** Use × price, in the configured currency. */
  readonly cost?: number
  /** Add-on use × price. */
  readonly addOnCost?: number
}

export type Report = ReturnType<typeof reportOf>

export function reportOf(given: ReportInputs) {
  const inputs = { ...given, balance: balanceOf(given.cycle, given.balance) }
  const { workspace, which, by, cycle, balance, figures, people, pricePerCredit } = inputs
  const measured = people.map((person) => measure(person, inputs.addOn))
  const { key: _, name: __, ...sums } = teamRow(inputs, measured)
  const totals = {
    ...sums,
    included: balance && balance.seats * balance.creditsPerSeat,
    addOnAvailable: balance?.addOnAvailable,
    addOnUsed: balance?.addOnUsed,
    cost: priced(sums.used, pricePerCredit),
    /** The balance's add-on credits used × price. */
    addOnCost: priced(balance?.addOnUsed, pricePerCredit),
  }
  const rows = rowsOf(inputs, measured)
  const whole = by === 'model' ? sumOfKnown(rows.map(({ used }) => used)) : sums.used
  return {
    workspace,
    which,
    by,
    cycle,
    pricePerCredit,
    currency: inputs.currency,
    totals,
    projected: figures?.projected && projectedCents(figures.projected),
    exhaustedAt: figures?.exhaustedAt,
    /** The most used first; people in no group last. */
    rows: rows
      .map(
        (row): ReportRow => ({
          ...row,
          share: row.used === undefined || whole === undefined || whole <= 0 ? undefined : row.used / whole,
          cost: priced(row.used, pricePerCredit),
          addOnCost: priced(row.addOn, pricePerCredit),
        }),
      )
      .sort((a, b) => Number(isRest(a, by)) - Number(isRest(b, by)) || (b.used ?? -1) - (a.used ?? -1) || compareText(a.key, b.key)),
    /** Credits of runs by day and model, in order; undefined where runs were not read or have no credits. */
    days: daysOf(inputs.runs ?? []),
    /** People who have used 85 % of their cap or more, the nearest first. */
    near: measured.flatMap(nearOf).sort(nearestFirst),
    changes: changesOf(inputs.writes),
    notes: [...inputs.notes, ...notesOn(inputs)],
  }
}

/** Keys of rows for what a report by a column cannot tell. */
const REST = ['not listed', 'not known', 'not attributed'] as const

const isRest = ({ key }: Pick<ReportRow, 'key'>, by: ReportView): boolean =>
  key === '-' || (attributeOf(by) !== undefined && REST.some((rest) => rest === key))

interface Measured extends ReportPerson {
  readonly addOn?: AddOnUse
  readonly band?: Band
  readonly headRoom?: number
}

function measure(person: ReportPerson, figures: AddOnFigures | undefined): Measured {
  const addOn = figures?.of(person.email, person.used)
  const { cap } = person
  const band = cap === undefined || cap === 'unknown' ? undefined : bandOf(cap, addOn?.credits)
  const headRoom = typeof cap === 'number' && addOn ? Math.max(0, cap - addOn.credits) : undefined
  return { ...person, addOn, band, headRoom }
}

function rowsOf(inputs: ReportInputs, people: readonly Measured[]): readonly ReportRow[] {
  const column = attributeOf(inputs.by)
  if (column !== undefined) return attributeRows(inputs, column, people)
  switch (inputs.by) {
    case 'team':
      return [teamRow(inputs, people)]
    case 'group': {
      const rest = people.filter(({ groups }) => groups.length === 0)
      return [
        ...inputs.groups.map(({ id, name }) => {
          const members = people.filter(({ groups }) => groups.includes(id))
          return rowOf(inputs, { key: `group:${id}`, name }, members)
        }),
        ...(rest.length > 0 ? [rowOf(inputs, { key: '-', name: 'in no declared group' }, rest)] : []),
      ]
    }
    case 'user':
      return people.map(personRow)
    default:
      return modelRows(inputs.runs ?? [], inputs.addOnByModel, teamRow(inputs, people).used)
  }
}

/** Each person once. What no person is known for, such as the use of people who left, is a row of its own, so that the rows make the whole. */
function attributeRows(inputs: ReportInputs, column: string, people: readonly Measured[]): readonly ReportRow[] {
  const parts = Map.groupBy(people, ({ attribute }) => (typeof attribute === 'object' ? `${column}:${attribute.value}` : restOf(attribute)))
  const rows = [...parts].map(([key, some]) => {
    const [{ attribute } = {}] = some
    const name = typeof attribute === 'object' ? attribute.value || 'empty' : key
    return rowOf(inputs, { key, name }, some)
  })
  const whole = teamRow(inputs, people)
  const left = (of: (row: ReportRow) => number | undefined): number => (of(whole) ?? 0) - (sumOfKnown(rows.map(of)) ?? 0)
  const [used, addOn] = [left((row) => row.used), left((row) => row.addOn)]
  if (used <= 0 && addOn <= 0) return rows
  const source = whole.addOnSource
  return [
    ...rows,
    {
      ...{ key: 'not attributed', name: 'not attributed' },
      used: rounded(Math.max(0, used)),
      addOn: whole.addOn === undefined ? undefined : rounded(Math.max(0, addOn)),
      addOnSource: source,
    },
  ]
}

const restOf = (attribute: 'unlisted' | undefined): string => (attribute === undefined ? 'not known' : 'not listed')

/** Where the use of single people is not known, runs still tell the sum. */
function teamRow(inputs: ReportInputs, people: readonly Measured[]): ReportRow {
  const { addOn, ...rest } = rowOf(inputs, { key: 'team', name: 'the team' }, people)
  const guessed = sumOfKnown(people.map((one) => (one.addOn?.source === 'measured' ? 0 : one.addOn?.credits))) ?? 0
  // People who left used something too.
  const row = { ...rest, addOn: addOn === undefined ? undefined : rounded(addOn + (inputs.addOn ? beyond(inputs.addOn, guessed) : 0)) }
  const { used, ...others } = row
  return used === undefined ? { ...others, used: sumOfKnown((inputs.runs ?? []).map((run) => run.used)) } : row
}

function daysOf(runs: readonly RunUse[]) {
  const counted = runs.filter(({ used }) => used !== undefined)
  if (counted.length === 0) return undefined
  const byDay = Map.groupBy(counted, ({ dayAt }) => dayAt)
  return [...byDay]
    .sort(([a], [b]) => a - b)
    .map(([at, rows]) => {
      const models = Map.groupBy(rows, ({ model }) => model)
      return { at, byModel: Object.fromEntries([...models].map(([model, some]) => [model, sumOfKnown(some.map(({ used }) => used)) ?? 0])) }
    })
}

/** A row does not count people when no person is known at all. */
function rowOf(inputs: ReportInputs, about: Pick<ReportRow, 'key' | 'name'>, people: readonly Measured[]): ReportRow {
  return {
    ...about,
    people: inputs.people.length > 0 ? people.length : undefined,
    used: sumOfKnown(people.map(({ used }) => used)),
    ...addOnOf(people.map(({ addOn }) => addOn)),
    headRoom: sumOfKnown(people.map(({ headRoom }) => headRoom)),
    uncapped: people.some(({ cap }) => cap !== undefined && cap !== 'unknown')
      ? people.filter(({ cap }) => cap === 'none').length
      : undefined,
  }
}

function addOnOf(uses: readonly (AddOnUse | undefined)[]): Pick<ReportRow, 'addOn' | 'addOnSource'> {
  const source = worstSource(uses.map((use) => use?.source))
  return source === undefined ? {} : { addOn: sumOfKnown(uses.map((use) => use?.credits)), addOnSource: source }
}

const personRow = ({ email, used, addOn, cap, headRoom, band }: Measured): ReportRow => ({
  ...{ key: email, name: email, used: rounded(used) },
  ...addOnOf([addOn]),
  ...{ cap, headRoom: rounded(headRoom), band },
})

/** The models of runs, and the use of which no run tells. */
function modelRows(runs: readonly RunUse[], measured: ReportInputs['addOnByModel'], whole = 0): readonly ReportRow[] {
  const models = [...Map.groupBy(runs, ({ model }) => model)].map(([model, some]): ReportRow => {
    return { key: model, name: model, used: sumOfKnown(some.map(({ used }) => used)) }
  })
  const told = models.reduce((sum, { used = 0 }) => sum + used, 0)
  // Less than a credit is rounding.
  const rest = told > 0 && whole - told >= 1 ? [{ key: '-', name: 'in no run', used: rounded(whole - told) }] : []
  return [...(measured?.size ? withMeasured(models, measured) : models), ...rest]
}

/** Names of a model that is not known. */
const UNKNOWN = new Set(['', '<nil>', 'unknown'])

/** Runs and add-on use spell a model differently: `Large Model 4` and `MODEL_LARGE_MODEL_4` are the same. */
const spelled = (model: string): string =>
  UNKNOWN.has(model.toLowerCase())
    ? ''
    : model
        .toLowerCase()
        .replace(/^model_/, '')
        .replaceAll(/[^a-z0-9]/g, '')

/** With the add-on credits of each model, and rows of models that no run has. */
function withMeasured(models: readonly ReportRow[], measured: ReadonlyMap<string, number>): readonly ReportRow[] {
  const left = new Map<string, { readonly name: string; readonly addOn: number }>()
  for (const [model, addOn] of measured) {
    const key = spelled(model)
    left.set(key, { name: key === '' ? 'not known' : model, addOn: addOn + (left.get(key)?.addOn ?? 0) })
  }
  const known = models.map((row): ReportRow => {
    const addOn = rounded(left.get(spelled(row.key))?.addOn ?? 0)
    left.delete(spelled(row.key))
    return { ...row, addOn, addOnSource: 'measured' }
  })
  const others = [...left.values()].map(
    ({ name, addOn }): ReportRow => ({ key: name, name, addOn: rounded(addOn), addOnSource: 'measured' }),
  )
  return [...known, ...others]
}

const rounded = (value: number | undefined): Credits | undefined => (value === undefined ? undefined : wholeCents(value))

/** An amount of credits in the configured currency, to a hundredth. */
const priced = (amount: number | undefined, price: number | undefined): number | undefined =>
  amount === undefined || price === undefined ? undefined : wholeCents(amount * price)

type NearRow = ReturnType<typeof nearOf>[number]

function nearOf({ email, addOn, cap, band }: Measured) {
  const isNear = band !== undefined && bandRank(band) >= bandRank('85_to_95')
  if (!isNear || !addOn || typeof cap !== 'number') return []
  return [{ email, addOn: addOn.credits, addOnSource: addOn.source, cap: credits(cap), band }]
}

/** By the share of the cap that is used; people with a cap of 0 first. */
function nearestFirst(a: NearRow, b: NearRow): number {
  if (a.cap === 0 || b.cap === 0) return a.cap - b.cap || compareText(a.email, b.email)
  return b.addOn * a.cap - a.addOn * b.cap || compareText(a.email, b.email)
}

function changesOf(writes: readonly HistoryEntry[]) {
  const applied = writes.filter(({ result }) => result === 'applied')
  const counts = new Map<Effect, number>()
  for (const { effect } of applied) counts.set(effect, (counts.get(effect) ?? 0) + 1)
  return {
    applied: applied.length,
    failed: writes.length - applied.length,
    byEffect: Object.fromEntries(EFFECTS.map((effect) => [effect, counts.get(effect) ?? 0])) as Record<Effect, number>,
  }
}

/** With `14 set, 2 raised, 1 failed`, or that there were none. */
export function changesLine({ which, changes: { applied, failed, byEffect } }: Report): string {
  const done = EFFECTS.flatMap((effect) => (byEffect[effect] > 0 ? [`${byEffect[effect]} ${DONE[effect]}`] : []))
  const all = applied + failed === 0 ? ['none'] : [...done, ...(failed > 0 ? [`${failed} failed`] : [])]
  return `Changes by capkeeper in ${which === 'current' ? 'this' : 'that'} cycle: ${all.join(', ')}`
}

/** A figure above the table. */
export interface Headline {
  readonly name: string
  readonly value: number | string
  readonly unit?: string | undefined
}

/** Unknown ones are left out. */
export function headlinesOf({ totals, projected, exhaustedAt, cycle, currency }: Report): readonly Headline[] {
  const one = (name: string, value: Headline['value'] | undefined, unit?: string): readonly Headline[] =>
    value === undefined ? [] : [{ name, value, unit }]
  const expected = projected && `${Math.round(projected.p50)} (80 % between ${Math.round(projected.p10)} and ${Math.round(projected.p90)})`
  return [
    ...one('Credits used', totals.used),
    ...one('Credits that the seats include', totals.included),
    ...one('Add-on credits used', totals.addOnUsed),
    ...one('Add-on credits available', totals.addOnAvailable),
    ...one('Cost of the credits used', totals.cost, currency),
    ...one('Cost of the add-on credits used', totals.addOnCost, currency),
    ...one('Expected at the cycle’s end', expected),
    ...one(
      'Add-on credits run out',
      exhaustedAt !== undefined && exhaustedAt < cycle.endAt ? formatInstant(exhaustedAt).slice(0, 10) : undefined,
    ),
  ]
}

const MEASURED_NOTE = 'Add-on use is measured: the service tells it by person and day, about 3 hours late.'

function notesOn({ by, balance, addOn, addOnByModel, runs, people, which, groups }: ReportInputs): readonly string[] {
  const notes: string[] = []
  if (by === 'group') notes.push('A person in two groups counts in both.', ...inSeveral(people))
  if (by === 'group' && groups.length === 0) notes.push('No policy declares a group.')
  if (which !== 'current') notes.push('Caps, head-room and the balance are known for the current cycle only.')
  else if (!balance && !addOn) notes.push('The balance is not known: add-on use, head-room and projections are left out.')
  else if (!balance) notes.push('The balance is not known: when add-on credits run out is left out.')
  notes.push(...attributeNotes(by, people))
  if (addOn?.source === 'measured' && (by !== 'model' || addOnByModel?.size)) notes.push(MEASURED_NOTE)
  if (by === 'model' && runs && runs.length > 0 && runs.every(({ used }) => used === undefined))
    notes.push('This plan shows no credits by model.')
  const without = people.filter(({ used }) => used === undefined).length
  if (without > 0) notes.push(`${without} of ${people.length} people ${without === 1 ? 'has' : 'have'} no figure of use.`)
  return notes
}

function attributeNotes(by: ReportView, people: readonly ReportPerson[]): readonly string[] {
  const column = attributeOf(by)
  if (column === undefined) return []
  const unknown = people.filter(({ attribute }) => attribute === undefined).length
  if (unknown === 0) return []
  return [`The ${column} of ${unknown} of ${people.length} people is not known for that time: no people file was read then.`]
}

function inSeveral(people: readonly ReportPerson[]): readonly string[] {
  const several = people.filter(({ groups }) => groups.length > 1).length
  if (several === 0) return []
  return [
    `${several} of ${people.length} people ${several === 1 ? 'is' : 'are'} in several groups, so the groups add up to more than the team.`,
  ]
}
