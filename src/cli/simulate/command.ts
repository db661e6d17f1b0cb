// `simulate`: replays recorded use under other policies. It reads policies and the ledger; no network, no key, nothing is written.
import type { Command } from 'commander'
import { Option } from 'commander'
import { addUsedFlags, examples, type NetworkFlags, outputOption, readInteger } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

const SIMULATE_FORMATS = ['text', 'json', 'markdown', 'html'] as const
type SimulateFormat = (typeof SIMULATE_FORMATS)[number]

export interface SimulateFlags extends NetworkFlags {
  readonly cycles?: number
  readonly against?: string
  readonly output: SimulateFormat
}

export function registerSimulate(program: Command, cli: Cli): void {
  const command = program
    .command('simulate')
    .summary('what past cycles would have been under these policies')
    .description(
      'Replays the recorded days of use under the given policies and compares them with the caps in force, or with other policies. Shows ' +
        'for each billing cycle and group the use, the people who would have been blocked, from which day and on how many of their working ' +
        'days, the caps that were never reached and the people who gain or lose. No network, no key; nothing is written.',
    )
    .argument('[path...]', 'policy files or folders; default: those of --policies or the config')
    .addOption(new Option('--cycles <n>', 'how many of the last whole billing cycles; default 3').argParser(readInteger(1, 36)))
    .addOption(new Option('--against <path>', 'compare with these policies instead of with what was in force'))
    .addOption(outputOption(SIMULATE_FORMATS))
  addUsedFlags(command, ['config', 'policies', 'ledger', 'workspace'])
    .addHelpText(
      'after',
      examples(
        'capkeeper simulate policies/',
        'capkeeper simulate proposed.yaml --against policies/ --cycles 6',
        'capkeeper simulate --output html > simulation.html',
      ),
    )
    .action(async (paths: readonly string[], flags: SimulateFlags) => (await import('./run.ts')).simulateCommand(paths, flags, cli))
}
