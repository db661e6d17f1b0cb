// The columns of a report's table, and the figures above it, for every format but JSON.
import { EFFECTS } from '../../core/model/change.ts'
import { SOURCE_TEXT } from '../../core/use/add-on.ts'
import { attributeOf, type Report, type ReportRow, subjectOf } from '../../core/use/report.ts'
import { DONE } from '../plan/view.ts'
import { amountText, capText, dayText } from '../shared/text.ts'

interface ReportColumn {
  readonly title: string
  readonly isNumber: boolean
  /** '' where it is not known. */
  cell(row: ReportRow): string
  /** For CSV: a bare number. */
  raw(row: ReportRow): string | number | undefined
}

const amount = (title: string, of: (row: ReportRow) => number | undefined): ReportColumn => ({
  title,
  isNumber: true,
  cell: (row) => {
    const value = of(row)
    return value === undefined ? '' : amountText(value)
  },
  raw: of,
})

/** The columns of a report's view that hold anything. */
export function columnsOf({ by, rows }: Report): readonly ReportColumn[] {
  // The key of a value says no more than the value.
  const text = attributeOf(by) === undefined ? labelOf : ({ name }: ReportRow): string => name
  const label: ReportColumn = { title: subjectOf(by), isNumber: false, cell: text, raw: text }
  const share: ReportColumn = {
    title: 'Share',
    isNumber: true,
    cell: ({ share: part }) => (part === undefined ? '' : `${(part * 100).toFixed(1)} %`),
    raw: ({ share: part }) => (part === undefined ? undefined : Number(part.toFixed(4))),
  }
  const cap: ReportColumn = {
    title: 'Cap',
    isNumber: true,
    cell: (row) => (row.cap === undefined ? '' : capText(row.cap)),
    raw: (row) => row.cap,
  }
  const source: ReportColumn = {
    title: 'Add-on source',
    isNumber: false,
    cell: ({ addOnSource }) => (addOnSource === undefined ? '' : SOURCE_TEXT[addOnSource]),
    raw: ({ addOnSource }) => addOnSource,
  }
  const band: ReportColumn = { title: 'Band', isNumber: false, cell: (row) => row.band?.replaceAll('_', ' ') ?? '', raw: (row) => row.band }
  const all = [
    label,
    amount('People', ({ people }) => people),
    amount('Used', ({ used }) => used),
    share,
    amount('Add-on use', ({ addOn }) => addOn),
    cap,
    amount('Head-room', ({ headRoom }) => headRoom),
    amount('Without a cap', ({ uncapped }) => uncapped),
    band,
    amount('Cost', ({ cost }) => cost),
    source,
  ]
  return all.filter((column, index) => index === 0 || rows.some((row) => column.raw(row) !== undefined))
}

const labelOf = ({ key, name }: ReportRow): string => (key === name || key === '-' || key === 'team' ? name : `${name} (${key})`)

/** The figures above the table, as name and value; unknown ones are left out. */
export function headlinesOf({ totals, projected, exhaustedAt, cycle }: Report): readonly (readonly [string, string])[] {
  const figure = (name: string, value: number | undefined): readonly (readonly [string, string])[] =>
    value === undefined ? [] : [[name, amountText(value)]]
  return [
    ...figure('Credits used', totals.used),
    ...figure('Credits that the seats include', totals.included),
    ...figure('Add-on credits used', totals.addOnUsed),
    ...figure('Add-on credits available', totals.addOnAvailable),
    ...figure('Cost of the credits used', totals.cost),
    ...figure('Cost of the add-on credits used', totals.addOnCost),
    ...(projected
      ? ([
          [
            'Expected at the cycle’s end',
            `${amountText(Math.round(projected.p50))} (80 % between ${amountText(Math.round(projected.p10))} and ${amountText(Math.round(projected.p90))})`,
          ],
        ] as const)
      : []),
    ...(exhaustedAt !== undefined && exhaustedAt < cycle.endAt ? ([['Add-on credits run out', dayText(exhaustedAt)]] as const) : []),
  ]
}

/** `14 set, 2 raised, 1 failed`, or that there were none. */
export function changesText({ changes: { applied, failed, byEffect } }: Report): string {
  if (applied + failed === 0) return 'none'
  const done = EFFECTS.flatMap((effect) => (byEffect[effect] > 0 ? [`${byEffect[effect]} ${DONE[effect]}`] : []))
  return [...done, ...(failed > 0 ? [`${failed} failed`] : [])].join(', ')
}
