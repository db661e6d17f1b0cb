// `ledger backup FILE` and `ledger check`: a consistent copy while the daemon runs, and whether the ledger is whole. Neither takes the
// write lock.
import type { Command } from 'commander'
import { addUsedFlags, examples, type NetworkFlags } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export function registerLedger(program: Command, cli: Cli): void {
  const group = program
    .command('ledger')
    .summary('copy or check the ledger')
    .description('Works on the ledger, the durable record of what capkeeper wrote. Both commands are fine beside a running daemon.')
    .usage('<command> [flags]')
    .addHelpText('after', examples('capkeeper ledger check', 'capkeeper ledger backup /backups/capkeeper-2026-11-20.db'))
  const backup = group
    .command('backup')
    .summary('copy the ledger')
    .description('Writes a consistent copy of the ledger to a file that does not exist yet, also while the daemon runs.')
    .argument('<file>', 'where the copy goes')
  addUsedFlags(backup, ['config', 'ledger'])
    .addHelpText('after', examples('capkeeper ledger backup /backups/capkeeper-2026-11-20.db'))
    .action(async (file: string, flags: NetworkFlags) => (await import('../shared/ledger-access.ts')).backupLedger(file, flags, cli))
  const check = group
    .command('check')
    .summary('check the ledger')
    .description(
      'Checks the integrity and the schema version of the ledger, and says which workspaces it is bound to. Exits 1 when it is not whole.',
    )
  addUsedFlags(check, ['config', 'ledger'])
    .addHelpText('after', examples('capkeeper ledger check --ledger ./capkeeper.db'))
    .action(async (flags: NetworkFlags) => (await import('../shared/ledger-access.ts')).checkLedger(flags, cli))
}
