// `ledger backup`, `check` and `forget` work beside a running daemon; `ledger copy` takes the write lock, because it moves a ledger.
import type { Command } from 'commander'
import { addLedgerFlags, addUsedFlags, examples, type NetworkFlags } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'

export function registerLedger(program: Command, cli: Cli): void {
  const group = program
    .command('ledger')
    .summary('copy, move or check the ledger')
    .description(
      'Works on the ledger, the durable record of what capkeeper wrote. `backup`, `check` and `forget` are fine beside a running daemon; `copy` needs it stopped.',
    )
    .usage('<command> [flags]')
    .addHelpText('after', examples('capkeeper ledger check', 'capkeeper ledger backup /backups/capkeeper-2026-11-20.db'))
  const backup = group
    .command('backup')
    .summary('copy the ledger')
    .description(
      'Writes a consistent copy of the ledger to a file that does not exist yet, also while the daemon runs. A ledger in PostgreSQL is copied with pg_dump.',
    )
    .argument('<file>', 'where the copy goes')
  addUsedFlags(backup, ['config', 'ledger'])
    .addHelpText('after', examples('capkeeper ledger backup /backups/capkeeper-2026-11-20.db'))
    .action(async (file: string, flags: NetworkFlags) => (await import('../shared/ledger/access.ts')).backupLedger(file, flags, cli))
  group
    .command('copy')
    .summary('move the ledger to another place')
    .description(
      'Copies every row of a ledger into an empty one, from a file to PostgreSQL or back, and reads each row back before the copy counts. ' +
        'No daemon may use either of them meanwhile. The old ledger stays as it is.',
    )
    .argument('<from>', 'a file, or an address such as postgres://user@host/name')
    .argument('<to>', 'a file or an address without records')
    .addHelpText('after', examples('capkeeper ledger copy ./capkeeper.db postgres://capkeeper@db.example/capkeeper'))
    .action(async (from: string, to: string) => (await import('./run.ts')).copyCommand(from, to, cli))
  const forget = group
    .command('forget')
    .summary('erase the records of a person')
    .description(
      'Erases what the ledger keeps of a person who has no cap of ours: writes, use by day, and everything about them that capkeeper remembers. ' +
        'A running daemon takes it up in its next cycle. A person who is still on the roster is recorded again from then on.',
    )
    .argument('<email>', 'the person whose records are erased')
  addLedgerFlags(forget)
    .addHelpText('after', examples('capkeeper ledger forget ada@example.com'))
    .action(async (email: string, flags: NetworkFlags) => (await import('./run.ts')).forgetCommand(email, flags, cli))
  const check = group
    .command('check')
    .summary('check the ledger')
    .description(
      'Checks the integrity and the schema version of the ledger, and says which workspaces it is bound to. Exits 1 when it is not whole. ' +
        'In PostgreSQL it reads every row; the database itself checks its pages.',
    )
  addUsedFlags(check, ['config', 'ledger'])
    .addHelpText('after', examples('capkeeper ledger check --ledger ./capkeeper.db'))
    .action(async (flags: NetworkFlags) => (await import('../shared/ledger/access.ts')).checkLedger(flags, cli))
}
