// A report as text and as Markdown. Long tables are cut with a count; JSON and CSV have all of it.
import { code, escaped, plain, row, tableHead } from '../../core/escape/text.ts'
import { EFFECTS } from '../../core/model/change.ts'
import { scopeKey } from '../../core/model/scope.ts'
import { SOURCE_TEXT } from '../../core/use/add-on.ts'
import { attributeOf, type Report, type ReportRow, subjectOf } from '../../core/use/report.ts'
import { DONE, RESULT_WORDS, SIGNS } from '../plan/view.ts'
import { type Paint, unpainted } from '../shared/context.ts'
import { amountText, capText, columns, dayText, people, shortTime } from '../shared/text.ts'

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
function headlinesOf({ totals, projected, exhaustedAt, cycle, currency }: Report): readonly (readonly [string, string])[] {
  const figure = (name: string, value: number | undefined, unit?: string): readonly (readonly [string, string])[] =>
    value === undefined ? [] : [[name, [amountText(value), ...(unit === undefined ? [] : [unit])].join(' ')]]
  return [
    ...figure('Credits used', totals.used),
    ...figure('Credits that the seats include', totals.included),
    ...figure('Add-on credits used', totals.addOnUsed),
    ...figure('Add-on credits available', totals.addOnAvailable),
    ...figure('Cost of the credits used', totals.cost, currency),
    ...figure('Cost of the add-on credits used', totals.addOnCost, currency),
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
function changesText({ changes: { applied, failed, byEffect } }: Report): string {
  if (applied + failed === 0) return 'none'
  const done = EFFECTS.flatMap((effect) => (byEffect[effect] > 0 ? [`${byEffect[effect]} ${DONE[effect]}`] : []))
  return [...done, ...(failed > 0 ? [`${failed} failed`] : [])].join(', ')
}

/** Lines shown of a table. */
const VISIBLE = 50

/** Reports as text, a blank line between blocks. */
export const renderReportText = (reports: readonly Report[], paint: Paint = unpainted): string =>
  reports.map((report) => `${textBlocks(report, paint).join('\n\n')}\n`).join('\n')

const titleOf = ({ workspace, which, cycle }: Report): string =>
  `${workspace}: ${which} cycle, ${dayText(cycle.startAt)} to ${dayText(cycle.endAt)}`

function textBlocks(report: Report, paint: Paint): readonly string[] {
  const { near, rows, notes, changes } = report
  const facts = headlinesOf(report).map(([name, value]) => [`  ${name}`, value])
  return [
    [paint('bold', plain(titleOf(report))), ...columns(facts)].join('\n'),
    ...(rows.length > 0 ? [table(report, paint)] : []),
    ...(near.length > 0
      ? [
          block(
            paint('yellow', `${people(near.length)} at 85 % of their cap or more:`),
            columns(near.slice(0, VISIBLE).map((one) => [plain(one.email), `${amountText(one.addOn)} of ${one.cap}`])),
            near.length,
          ),
        ]
      : []),
    block(
      `Changes by capkeeper in ${report.which === 'current' ? 'this' : 'that'} cycle: ${changesText(report)}`,
      columns(changes.latest.map(changeCells)),
      changes.applied + changes.failed,
    ),
    ...(notes.length > 0 ? [notes.map((note) => paint('dim', `note: ${plain(note)}`)).join('\n')] : []),
  ]
}

const block = (title: string, lines: readonly string[], total: number): string =>
  [title, ...lines.map((line) => `  ${line}`), ...(total > lines.length ? [`  … and ${total - lines.length} more`] : [])].join('\n')

const changeCells = (entry: Report['changes']['latest'][number]): readonly string[] => [
  shortTime(entry.at),
  `${SIGNS[entry.effect]} ${entry.effect}`,
  plain(scopeKey(entry.scope)),
  `${capText(entry.from)} → ${capText(entry.to)}`,
  RESULT_WORDS[entry.result],
]

function table(report: Report, paint: Paint): string {
  const shown = columnsOf(report)
  const lines = [
    shown.map(({ title }) => title.toUpperCase()),
    ...report.rows.slice(0, VISIBLE).map((one) => shown.map(({ cell }) => plain(cell(one)))),
  ]
  const [head = '', ...body] = columns(lines, (column) => shown[column]?.isNumber === true)
  const left = report.rows.length - body.length
  return [paint('dim', head), ...body, ...(left > 0 ? [`… and ${left} more; --output csv or json has all`] : [])].join('\n')
}

/** Reports as Markdown tables. */
export const renderReportMarkdown = (reports: readonly Report[]): string => `${reports.flatMap(markdownBlocks).join('\n\n')}\n`

function markdownBlocks(report: Report): readonly string[] {
  const { near, rows, notes } = report
  const shown = columnsOf(report)
  const left = rows.length - VISIBLE
  return [
    `### ${escaped(titleOf(report))}`,
    headlinesOf(report)
      .map(([name, value]) => `- ${name}: **${escaped(value)}**`)
      .join('\n'),
    ...(rows.length > 0
      ? [
          [
            ...tableHead(shown.map(({ title }) => title)),
            ...rows
              .slice(0, VISIBLE)
              .map((one) => row(shown.map(({ cell }, index) => (index === 0 ? code(cell(one)) : escaped(cell(one)))))),
          ].join('\n'),
        ]
      : []),
    ...(left > 0 ? [`… and ${left} more.`] : []),
    ...(near.length > 0
      ? [
          `**${people(near.length)} at 85 % of their cap or more**`,
          [
            ...tableHead(['Person', 'Add-on use', 'Cap']),
            ...near.slice(0, VISIBLE).map((one) => row([code(one.email), amountText(one.addOn), String(one.cap)])),
          ].join('\n'),
        ]
      : []),
    `Changes by capkeeper in ${report.which === 'current' ? 'this' : 'that'} cycle: ${changesText(report)}.`,
    ...notes.map((note) => `_${escaped(note)}_`),
  ].filter((part) => part !== '')
}
