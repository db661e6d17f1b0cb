// `approve ID`: records in the ledger that somebody looked at a hold and releases exactly its changes. It asks no service and needs no key.
import type { Command } from 'commander'
import { addLedgerFlags, examples, type NetworkFlags, readHoldId } from '../args.ts'
import type { Cli } from '../context.ts'
import { EXIT } from '../exit.ts'
import { people, shortTime } from '../text.ts'

export function registerApprove(program: Command, cli: Cli): void {
  const command = program
    .command('approve')
    .summary('release a hold')
    .description(
      'Records the release of a hold in the ledger. The id stands in `capkeeper plan`, in the log and on the status page; it stands for ' +
        'exactly the changes that the hold keeps back. A running daemon takes the approval up in its next cycle, or at once with SIGHUP.',
    )
    .argument('<id>', 'hold id, 12 hex digits', readHoldId)
  addLedgerFlags(command)
    .addHelpText('after', examples('capkeeper approve 7d1f0c2a9b34'))
    .action((id: string, flags: NetworkFlags) => approve(id, flags, cli))
}

async function approve(id: string, flags: NetworkFlags, cli: Cli): Promise<void> {
  const { withLedger } = await import('../ledger-access.ts')
  await withLedger(
    flags,
    cli,
    'note',
    ({ workspace, ledger, others }) => {
      const now = cli.clock.now()
      const before = ledger.approvals().find((one) => one.id === id)
      const shown = ledger.fact('holdsShown')?.[id]
      if (before?.state !== 'pending') ledger.saveApproval({ id, via: 'command', approvedAt: now, state: 'pending', released: [] })
      if (!shown) cli.stderr.write(`warning: nothing in ${workspace} shows hold ${id} now; the approval waits for it, for 14 days\n`)
      if (before?.state === 'pending')
        cli.stdout.write(`${workspace}: hold ${id} was approved at ${shortTime(before.approvedAt)} already\n`)
      else
        cli.stdout.write(
          `${workspace}: hold ${id} is approved${shown ? ` (${people(shown.people)})` : ''}; the next cycle applies its changes\n`,
        )
      cli.finish(EXIT.done)
      void others
    },
    (ledger) => ledger.fact('holdsShown')?.[id] !== undefined,
  )
}
