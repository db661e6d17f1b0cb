// `apply`: plans, asks, writes, reads back. One of the two commands that write caps; it holds the ledger's write lock while it runs.
import type { Command } from 'commander'
import { addNetworkFlags, examples, outputOption, readHoldId, type ShowFlags } from '../shared/args.ts'
import { type Cli, UsageError } from '../shared/context.ts'

export interface ApplyFlags extends ShowFlags {
  readonly yes?: boolean
  readonly plan?: string
  readonly approve?: readonly string[]
  readonly rebind?: boolean
}

const collectHold = (text: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), readHoldId(text)]

export function registerApply(program: Command, cli: Cli): void {
  const command = program
    .command('apply')
    .description(
      'Plans like `capkeeper plan`, shows the plan, asks on a terminal (elsewhere --yes is needed), writes what no guard holds in an order ' +
        'that leaves nobody worse off on the way, and reads every cap back. With --plan every scope of the saved plan is read again, and ' +
        'the whole plan is refused when one of them has changed since.',
    )
    .addOption(outputOption(['text', 'json', 'markdown']))
    .option('--yes', 'do not ask')
    .option('--plan <file>', 'apply this saved plan (`capkeeper plan --out FILE`), at most 24 h old')
    .option('--approve <id>', 'release this hold; may be given several times', collectHold)
    .option('--rebind', 'the workspace has moved to another base URL: bind the ledger to the new one')
  addNetworkFlags(command)
    .addHelpText(
      'after',
      examples('capkeeper apply', 'capkeeper apply --yes --approve 7d1f0c2a9b34', 'capkeeper apply --plan plan.json --yes'),
    )
    .action(async (flags: ApplyFlags) => {
      if (!flags.yes && cli.stdin.isTTY !== true) throw new UsageError('there is no terminal to ask on: give --yes to apply without asking')
      await (await import('./run.ts')).applyCommand(flags, cli)
    })
}
