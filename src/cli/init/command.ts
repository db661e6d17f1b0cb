// `init`: writes the first files of a workspace: a config in audit mode, the caps in force as a policy, schemas for editors and a workflow. It
// writes nothing to the service and changes no existing file.
import type { Command } from 'commander'
import { groupOption, type NamedGroup } from '../import/command.ts'
import { addFlags, examples, type NetworkFlags } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface InitFlags extends Pick<NetworkFlags, 'baseUrl' | 'serviceKeyFile' | 'caFile' | 'allowPlainHttp' | 'workspace'> {
  readonly group?: readonly NamedGroup[]
  readonly nonInteractive?: true
}

export function registerInit(program: Command, cli: Cli): void {
  const command = program
    .command('init')
    .summary('write the first files, from the caps in force')
    .description(
      'Reads the roster and the caps of a workspace and writes the files to start with into DIR: capkeeper.yaml in audit mode, a policy that ' +
        'asks for exactly what is in force, the JSON Schemas for editors, and a workflow that validates and plans. Asks for what is not given, ' +
        'on a terminal. Nothing is written to the service, no file is overwritten, and the key stays where it is.',
    )
    .argument('[dir]', 'root of the policy repository; made when it is not there', '.')
  addFlags(command, ['baseUrl', 'serviceKeyFile'])
    .addOption(groupOption())
    .option('--workspace <name>', 'what the workspace is called in config, policy and metrics; default: default')
    .option('--non-interactive', 'ask nothing, also on a terminal')
  addFlags(command, ['caFile', 'allowPlainHttp'])
    .addHelpText(
      'after',
      examples(
        'capkeeper init',
        'capkeeper init caps --base-url https://service.example --service-key-file read-key --workspace acme --group grp_platform=Platform',
      ),
    )
    .action(async (dir: string, flags: InitFlags) => (await import('./run.ts')).initCommand(dir, flags, cli))
}
