// A report as text and as Markdown. Long tables are cut with a count; JSON and CSV have all of it.

import { code, escaped, row, tableHead } from '../../core/escape/markdown.ts'
import { plain } from '../../core/escape/terminal.ts'
import { scopeKey } from '../../core/model/scope.ts'
import type { Report } from '../../core/use/report.ts'
import { RESULT_WORDS, SIGNS } from '../plan/view.ts'
import { type Paint, unpainted } from '../shared/context.ts'
import { amountText, capText, columns, dayText, people, shortTime } from '../shared/text.ts'
import { changesText, columnsOf, headlinesOf } from './table.ts'

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
