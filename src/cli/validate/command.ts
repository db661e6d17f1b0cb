// `validate`: checks policies and config, and shows all errors at once with their places. No network, no key, no ledger.
import type { Command } from 'commander'
import { addUsedFlags, examples, type NetworkFlags, type OutputFormat, outputOption } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface ValidateFlags extends NetworkFlags {
  readonly output: OutputFormat
}

export function registerValidate(program: Command, cli: Cli): void {
  const command = program
    .command('validate')
    .summary('check policies and config')
    .description(
      'Checks policy files and, when one is named, the config file: no network, no key, nothing is written. All errors are shown at once with ' +
        'file:line:column, the line and a caret, and the command exits 65. Without PATH it checks what --policies or the config file names.',
    )
    .argument('[path...]', 'policy files or folders')
    .addOption(outputOption(['text', 'json', 'markdown']))
  addUsedFlags(command, ['config', 'policies', 'workspace'])
    .addHelpText('after', examples('capkeeper validate policies/', 'capkeeper validate --config capkeeper.yaml --output json'))
    .action(async (paths: readonly string[], flags: ValidateFlags) => (await import('./run.ts')).validate(paths, flags, cli))
}
