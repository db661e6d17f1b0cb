// `report`: use, head-room and changes of a billing cycle. It reads the service and the ledger, and writes nothing.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ATTRIBUTE_VIEW, REPORT_VIEWS, type ReportCycle, type ReportView } from '../../core/use/report.ts'
import { addNetworkFlags, examples, outputOption, type ShowFlags } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

const REPORT_FORMATS = ['text', 'json', 'csv', 'markdown', 'html'] as const
type ReportFormat = (typeof REPORT_FORMATS)[number]

export interface ReportFlags extends ShowFlags<ReportFormat> {
  readonly cycle: ReportCycle
  readonly by: ReportView
}

export function registerReport(program: Command, cli: Cli): void {
  const command = program
    .command('report')
    .description(
      'Shows the use of a billing cycle by the team, by group, by person, by model or by a column of the people file, the head-room, people at or near their cap, the ' +
        'expected use at the end of the cycle, and the changes of capkeeper; with pricePerCredit in the config also the cost. HTML is one ' +
        'page to print or to mail. Past cycles need the ledger of a daemon that ran then.',
    )
    .addOption(
      new Option('--cycle <cycle>', 'which billing cycle; also the month in which it begins, such as 2026-09')
        .choices(['current', 'previous'])
        .default('current')
        .argParser(readCycle),
    )
    .addOption(
      new Option('--by <view>', 'one line for each of these; attribute:COLUMN for a column of the people file')
        .choices([...REPORT_VIEWS, 'attribute:COLUMN'])
        .default('team')
        .argParser(readView),
    )
    .addOption(outputOption(REPORT_FORMATS))
  addNetworkFlags(command)
    .addHelpText(
      'after',
      examples(
        'capkeeper report',
        'capkeeper report --by group --output html > report.html',
        'capkeeper report --cycle previous --by user --output csv > use.csv',
        'capkeeper report --cycle previous --by attribute:costCenter --output csv > cost-centers.csv',
        'capkeeper report --cycle 2026-09 --by group --output csv > chargeback.csv',
      ),
    )
    .action(async (flags: ReportFlags) => (await import('./run.ts')).reportCommand(flags, cli))
}

function readView(text: string): ReportView {
  const word = text.trim()
  const view = REPORT_VIEWS.find((one) => one === word)
  if (view !== undefined) return view
  if (word.startsWith(ATTRIBUTE_VIEW) && word.length > ATTRIBUTE_VIEW.length) return word as ReportView
  throw new InvalidArgumentError(`Allowed choices are ${REPORT_VIEWS.join(', ')}, attribute:COLUMN.`)
}

/** `current`, `previous`, or a month. */
function readCycle(text: string): ReportCycle {
  const word = text.trim()
  if (word === 'current' || word === 'previous') return word
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(word) ?? []
  if (year === undefined || Number(month) < 1 || Number(month) > 12) {
    throw new InvalidArgumentError('Write current, previous, or the month in which the cycle begins, such as 2026-09.')
  }
  return word as ReportCycle
}
