// A report for programs: all of it as JSON, the table as CSV. Nothing is cut.

import { csvText } from '../../core/escape/csv.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Report, ReportRow } from '../../core/use/report.ts'
import { documentText } from '../shared/document.ts'
import { dayText, rfc3339 } from '../shared/text.ts'
import { columnsOf } from './table.ts'

/** `{apiVersion, kind: "Report", createdAt, reports: [{workspace, which, by, cycle, totals, projected?, exhaustedAt?, rows, days?, near, changes, notes}]}` (choice). */
export const renderReportJson = (reports: readonly Report[], now: Instant): string => documentText('Report', { createdAt: now, reports })

/** RFC 4180, one table for all workspaces, with every column that any of them has. */
export function renderReportCsv(reports: readonly Report[]): string {
  const shown = new Map(reports.flatMap((report) => columnsOf(report).map((column) => [column.title, column] as const)))
  const titles = [...shown.keys()]
  const hasMoney = reports.some(({ by }) => by === 'group')
  const head = ['workspace', 'cycle_start', 'key', ...titles.slice(1).map(nameOf), ...(hasMoney ? CHARGES.map(({ name }) => name) : [])]
  const lines = reports.flatMap((report) =>
    report.rows.map((row) => [
      report.workspace,
      dayText(report.cycle.startAt),
      row.key,
      ...titles.slice(1).map((title) => shown.get(title)?.raw(row) ?? ''),
      ...(hasMoney ? CHARGES.map(({ of }) => of(report, row) ?? '') : []),
    ]),
  )
  return csvText([head, ...lines])
}

const nameOf = (title: string): string => title.toLowerCase().replaceAll(/[- ]/g, '_')

/** Columns for finance tools, as in FOCUS (docs/chargeback.md); the amount is the cost of the add-on credits. */
const CHARGES: readonly { readonly name: string; readonly of: (report: Report, row: ReportRow) => string | number | undefined }[] = [
  { name: 'period_start', of: ({ cycle }) => rfc3339(cycle.startAt) },
  { name: 'period_end', of: ({ cycle }) => rfc3339(cycle.endAt) },
  { name: 'group', of: (_, { name }) => name },
  { name: 'unit_price', of: ({ pricePerCredit }) => pricePerCredit },
  { name: 'amount', of: (_, { addOnCost }) => addOnCost },
  { name: 'currency', of: ({ currency }) => currency },
]
