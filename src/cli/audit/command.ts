// `audit`: caps that no policy declares, people without a cap, and people near theirs. It only reads.
import type { Command } from 'commander'
import { addFlags, addNetworkFlags, examples, type NetworkFlags, type OutputFormat, outputOption } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface AuditFlags extends NetworkFlags {
  readonly output: OutputFormat
}

export function registerAudit(program: Command, cli: Cli): void {
  const command = program
    .command('audit')
    .summary('caps that no policy declares, people without a cap, people near theirs')
    .description(
      'Reads the cap of every approved person, whether policy declares one or not, and lists caps at user scope that no policy declares, ' +
        'people whom no cap reaches, and people who have used 85 % of theirs or more. One request a person; nothing is written.',
    )
    .addOption(outputOption(['text', 'json', 'markdown']))
  addFlags(addNetworkFlags(command), ['ledgerTokenFile'])
    .addHelpText('after', examples('capkeeper audit', 'capkeeper audit --workspace acme --output json | jq .workspaces[].undeclared'))
    .action(async (flags: AuditFlags) => (await import('./run.ts')).auditCommand(flags, cli))
}
