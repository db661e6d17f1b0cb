// `history`: the writes of capkeeper, from the ledger alone. It needs no network and works beside a running daemon.
import type { Command } from 'commander'
import type { Scope } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { addLedgerFlags, examples, outputOption, readInteger, readScope, readSince, type ShowFlags } from '../shared/args.ts'
import { type Cli, EXIT, painter } from '../shared/context.ts'

interface HistoryFlags extends ShowFlags {
  readonly since?: (now: Instant) => Instant
  readonly limit: number
}

export function registerHistory(program: Command, cli: Cli): void {
  const command = program
    .command('history')
    .description(
      'Shows what capkeeper wrote, newest first: when, to which scope, from what to what, how it ended, why, and at which policy revision. ' +
        'The ledger keeps 400 days.',
    )
    .argument('[scope]', 'only this scope: an e-mail, group:ID or team', readScope)
    .option('--since <when>', 'a duration back from now (7d), a date (2026-11-01) or an RFC 3339 instant', readSince)
    .option('--limit <n>', 'how many entries at most', readInteger(1, 1_000_000), 100)
    .addOption(outputOption(['text', 'json']))
  addLedgerFlags(command)
    .addHelpText('after', examples('capkeeper history --since 7d', 'capkeeper history ada@example.com --output json'))
    .action((scope: Scope | undefined, flags: HistoryFlags) => history(scope, flags, cli))
}

async function history(scope: Scope | undefined, flags: HistoryFlags, cli: Cli): Promise<void> {
  const [{ withLedger }, { renderHistoryJson, renderHistoryText }] = await Promise.all([
    import('../shared/ledger/access.ts'),
    import('./render.ts'),
  ])
  await withLedger(flags, cli, { mode: 'read' }, async ({ workspace, ledger }) => {
    const sinceAt = flags.since?.(cli.clock.now())
    const filter = { scope, sinceAt }
    const found = await ledger.history({ ...filter, limit: flags.limit + 1 })
    const entries = found.slice(0, flags.limit)
    cli.stdout.write(flags.output === 'json' ? renderHistoryJson(workspace, entries) : renderHistoryText(entries, painter(cli.stdout)))
    if (found.length > entries.length) cli.stderr.write('there are older entries; --limit shows more\n')
    cli.finish(EXIT.done)
  })
}
