// `report`: who used what in a billing cycle, what is left, and what capkeeper did. It reads the service and the ledger, and writes nothing.
import { type Command, Option } from 'commander'
import { REPORT_CYCLES, REPORT_VIEWS, type ReportCycle, type ReportView } from '../../core/use/report.ts'
import { addNetworkFlags, examples, type NetworkFlags, outputOption } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export const REPORT_FORMATS = ['text', 'json', 'csv', 'markdown', 'html'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

export interface ReportFlags extends NetworkFlags {
  readonly cycle: ReportCycle
  readonly by: ReportView
  readonly output: ReportFormat
}

export function registerReport(program: Command, cli: Cli): void {
  const command = program
    .command('report')
    .summary('use, caps, head-room, projection and changes of a cycle')
    .description(
      'Shows what was used in a billing cycle by the team, by group, by person or by model, what the caps leave, who is at or near theirs, ' +
        'what the cycle is expected to end with, and what capkeeper changed. With pricePerCredit in the config also what it costs. HTML is ' +
        'one page to print or to mail. Of the previous cycle it knows what the ledger of a running daemon has kept.',
    )
    .addOption(new Option('--cycle <cycle>', 'which billing cycle').choices(REPORT_CYCLES).default('current'))
    .addOption(new Option('--by <view>', 'one line for each of these').choices(REPORT_VIEWS).default('team'))
    .addOption(outputOption(REPORT_FORMATS))
  addNetworkFlags(command)
    .addHelpText(
      'after',
      examples(
        'capkeeper report',
        'capkeeper report --by group --output html > report.html',
        'capkeeper report --cycle previous --by user --output csv > use.csv',
      ),
    )
    .action(async (flags: ReportFlags) => (await import('./run.ts')).reportCommand(flags, cli))
}
