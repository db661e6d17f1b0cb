// `explain`: why a scope has its cap: the declarations for it and the one that wins, the observed caps, and why a change is held.
import type { Command } from 'commander'
import { addFlags, addNetworkFlags, examples, type NetworkFlags, outputOption } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export interface ExplainFlags extends NetworkFlags {
  readonly output: 'text' | 'json'
}

export function registerExplain(program: Command, cli: Cli): void {
  const command = program
    .command('explain')
    .summary('why somebody has the cap they have')
    .description(
      'Shows the chain of declarations that bear on a person, a group or the team, with file:line and which one won, what the service ' +
        'shows at each scope, use and head-room, the last write, and why a change is held. Nothing is written.',
    )
    .argument('<scope>', 'an e-mail, group:ID or team')
    .addOption(outputOption(['text', 'json']))
  addFlags(addNetworkFlags(command), ['ledgerTokenFile'])
    .addHelpText('after', examples('capkeeper explain ada.lovelace@example.com', 'capkeeper explain group:grp_platform --output json'))
    .action(async (scope: string, flags: ExplainFlags) => (await import('./run.ts')).explainCommand(scope, flags, cli))
}
