// A report as text, Markdown, JSON and CSV. Long tables of text and Markdown are cut with a count.
import { code, csvText, escaped, markdownText, plain, row, tableText } from '../../core/escape/text.ts'
import type { Instant } from '../../core/model/units.ts'
import { SOURCE_TEXT } from '../../core/use/add-on.ts'
import {
  attributeOf,
  changesLine,
  type Headline,
  headlinesOf,
  isCharge,
  type Report,
  type ReportRow,
  subjectOf,
} from '../../core/use/report.ts'
import { type Paint, unpainted } from '../shared/context.ts'
import { amountText, blocksText, capText, columns, dayText, documentText, people, present, rfc3339 } from '../shared/text.ts'

interface ReportColumn {
  readonly title: string
  readonly isNumber: boolean
  /** '' where it is not known. */
  cell(row: ReportRow): string
  /** For CSV: a bare number. */
  raw(row: ReportRow): string | number | undefined
}

const column = <K extends keyof ReportRow>(
  title: string,
  key: K,
  text: (value: NonNullable<ReportRow[K]>) => string,
  isNumber = false,
): ReportColumn => ({
  ...{ title, isNumber },
  raw: (row) => row[key],
  cell(row) {
    const value = row[key]
    return value === undefined ? '' : text(value)
  },
})

const amount = (title: string, key: 'people' | 'used' | 'addOn' | 'headRoom' | 'uncapped' | 'cost'): ReportColumn =>
  column(title, key, amountText, true)

/** The columns of a report's view that hold anything. */
function columnsOf({ by, rows }: Report): readonly ReportColumn[] {
  // The key of a value says no more than the value.
  const label = attributeOf(by) === undefined ? labelOf : ({ name }: ReportRow): string => name
  const all = [
    { title: subjectOf(by), isNumber: false, cell: label, raw: label },
    amount('People', 'people'),
    amount('Used', 'used'),
    { ...column('Share', 'share', percent, true), raw: ({ share }: ReportRow) => share && Number(share.toFixed(4)) },
    amount('Add-on use', 'addOn'),
    column('Cap', 'cap', capText, true),
    amount('Head-room', 'headRoom'),
    amount('Without a cap', 'uncapped'),
    column('Band', 'band', (band) => band.replaceAll('_', ' ')),
    amount('Cost', 'cost'),
    column('Add-on source', 'addOnSource', (source) => SOURCE_TEXT[source]),
  ]
  return all.filter(({ raw }, index) => index === 0 || rows.some((one) => raw(one) !== undefined))
}

const percent = (part: number): string => `${(part * 100).toFixed(1)} %`

const labelOf = ({ key, name }: ReportRow): string => (key === name || key === '-' || key === 'team' ? name : `${name} (${key})`)

/** Lines shown of a table. */
const VISIBLE = 50

/** Reports as text, a blank line between blocks. */
export const renderReportText = (reports: readonly Report[], paint: Paint = unpainted): string =>
  blocksText(reports.flatMap((report) => textBlocks(report, paint)))

const titleOf = ({ workspace, which, cycle }: Report): string =>
  `${workspace}: ${which} cycle, ${dayText(cycle.startAt)} to ${dayText(cycle.endAt)}`

const headlineText = ({ value, unit = '' }: Headline): string =>
  typeof value === 'string' ? value : `${amountText(value)} ${unit}`.trimEnd()

const nearTitle = ({ near }: Report): string => `${people(near.length)} at 85 % of their cap or more`

function textBlocks(report: Report, paint: Paint): readonly (readonly string[])[] {
  const { near } = report
  const nearest = near.slice(0, VISIBLE).map((one) => [`  ${plain(one.email)}`, `${amountText(one.addOn)} of ${one.cap}`])
  return [
    [paint('bold', plain(titleOf(report))), ...columns(headlinesOf(report).map((one) => [`  ${one.name}`, headlineText(one)]))],
    table(report, paint),
    present(
      near.length > 0 && paint('yellow', `${nearTitle(report)}:`),
      columns(nearest),
      near.length > VISIBLE && `  … and ${near.length - VISIBLE} more`,
    ),
    [changesLine(report)],
    report.notes.map((note) => paint('dim', `note: ${plain(note)}`)),
  ]
}

function table(report: Report, paint: Paint): readonly string[] {
  const { rows } = report
  if (rows.length === 0) return []
  const shown = columnsOf(report)
  const lines = [
    shown.map(({ title }) => title.toUpperCase()),
    ...rows.slice(0, VISIBLE).map((one) => shown.map(({ cell }) => plain(cell(one)))),
  ]
  const [head = '', ...body] = columns(lines, (index) => shown[index]?.isNumber === true)
  const left = rows.length - body.length
  return present(paint('dim', head), body, left > 0 && `… and ${left} more; --output csv or json has all`)
}

/** Reports as Markdown tables. */
export const renderReportMarkdown = (reports: readonly Report[]): string => markdownText(reports.flatMap(markdownBlocks))

function markdownBlocks(report: Report): readonly string[] {
  const { near, rows, notes } = report
  const shown = columnsOf(report)
  const cells = (one: ReportRow): readonly string[] => shown.map(({ cell }, index) => (index === 0 ? code : escaped)(cell(one)))
  const heads = shown.map(({ title }) => title)
  const nearest = near.slice(0, VISIBLE).map((one) => row([code(one.email), amountText(one.addOn), String(one.cap)]))
  const figures = headlinesOf(report).map((one) => `- ${one.name}: **${escaped(headlineText(one))}**`)
  return [
    `### ${escaped(titleOf(report))}`,
    figures.join('\n'),
    tableText(
      heads,
      rows.slice(0, VISIBLE).map((one) => row(cells(one))),
    ),
    rows.length > VISIBLE ? `… and ${rows.length - VISIBLE} more.` : '',
    near.length > 0 ? `**${nearTitle(report)}**` : '',
    tableText(['Person', 'Add-on use', 'Cap'], nearest),
    `${changesLine(report)}.`,
    ...notes.map((note) => `_${escaped(note)}_`),
  ]
}

/** `{apiVersion, kind: "Report", createdAt, reports: [{workspace, which, by, cycle, totals, projected?, exhaustedAt?, rows, days?, near, changes, notes}]}` (choice). */
export const renderReportJson = (reports: readonly Report[], now: Instant): string => documentText('Report', { createdAt: now, reports })

/** RFC 4180, one table for all workspaces, with every column that any of them has. */
export function renderReportCsv(reports: readonly Report[]): string {
  const shown = new Map(reports.flatMap((report) => columnsOf(report).map((column) => [column.title, column] as const)))
  const titles = [...shown.keys()]
  const hasMoney = reports.some(({ by }) => isCharge(by))
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
