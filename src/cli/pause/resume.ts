// `resume`: ends a pause before its time.
import type { Command } from 'commander'
import { plain } from '../../core/escape/terminal.ts'
import { addLedgerFlags, examples, type NetworkFlags } from '../shared/args.ts'
import type { Cli } from '../shared/context.ts'
import { EXIT } from '../shared/exit.ts'

export function registerResume(program: Command, cli: Cli): void {
  const command = program
    .command('resume')
    .summary('end a pause')
    .description('Ends a pause that `capkeeper pause` began. A running daemon writes again from its next cycle on, or at once with SIGHUP.')
  addLedgerFlags(command)
    .addHelpText('after', examples('capkeeper resume'))
    .action((flags: NetworkFlags) => resume(flags, cli))
}

async function resume(flags: NetworkFlags, cli: Cli): Promise<void> {
  const { withLedger } = await import('../shared/ledger/access.ts')
  await withLedger(flags, cli, { mode: 'note' }, async ({ workspace, ledger }) => {
    const pause = await ledger.pause(cli.clock.now())
    await ledger.savePause(undefined)
    cli.stdout.write(
      pause ? `${plain(workspace)}: resumed; it was paused for: ${plain(pause.reason)}\n` : `${plain(workspace)}: was not paused\n`,
    )
    cli.finish(EXIT.done)
  })
}
