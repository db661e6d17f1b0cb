// `approve ID`: records in the ledger that somebody looked at a hold and releases exactly its changes. It asks no service and needs no key.
import type { Command } from 'commander'
import type { Ledger } from '../../ports.ts'
import { addLedgerFlags, examples, type NetworkFlags, readHoldId } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'
import { EXIT } from '../shared/exit.ts'
import { people, shortTime } from '../shared/text.ts'

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
  const { withLedger } = await import('../shared/ledger-access.ts')
  const showsHold = (ledger: Ledger): boolean => ledger.fact('holdsShown')?.[id] !== undefined
  await withLedger(flags, cli, { mode: 'note', prefers: showsHold }, ({ workspace, ledger }) => {
    const before = ledger.approvals().find((one) => one.id === id)
    if (!showsHold(ledger)) cli.stderr.write(`warning: no hold ${id} shows in ${workspace} now; the approval waits for it, for 14 days\n`)
    cli.finish(EXIT.done)
    if (before?.state === 'pending') {
      cli.stdout.write(`${workspace}: hold ${id} was approved at ${shortTime(before.approvedAt)} already\n`)
      return
    }
    if (before) cli.stderr.write(`warning: the approval of ${shortTime(before.approvedAt)} is ${before.state}; this is a new one\n`)
    ledger.saveApproval({ id, via: 'command', approvedAt: cli.clock.now(), state: 'pending', released: [] })
    const shown = ledger.fact('holdsShown')?.[id]
    cli.stdout.write(`${workspace}: hold ${id} is approved${shown ? ` (${people(shown.people)})` : ''}\n`)
  })
}
