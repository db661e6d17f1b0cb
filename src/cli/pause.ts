// `pause` and `resume`: stops writing at once, without a redeploy, and starts it again. The ledger records it, every writer checks it before
// each write, and it ends by itself.
import { type Command, InvalidArgumentError } from 'commander'
import { plain } from '../core/escape/text.ts'
import { LONGEST_PAUSE_MS } from '../core/model/change.ts'
import { addExamples, addLedgerFlags, type NetworkFlags, readDuration } from './shared/args.ts'
import { type Cli, EXIT, UsageError } from './shared/context.ts'
import { shortTime } from './shared/text.ts'

export function registerResume(command: Command, cli: Cli): void {
  command
    .description('Ends a pause that `capkeeper pause` began. A running daemon writes again from its next cycle on, or at once with SIGHUP.')
    .action((flags: NetworkFlags) => resume(flags, cli))
  addLedgerFlags(command)
  addExamples(command, 'capkeeper resume')
}

async function resume(flags: NetworkFlags, cli: Cli): Promise<void> {
  const { withLedger } = await import('./shared/ledger/access.ts')
  await withLedger(flags, cli, { mode: 'note' }, async ({ workspace, ledger }) => {
    const pause = await ledger.pause(cli.clock.now())
    await ledger.savePause(undefined)
    cli.stdout.write(
      pause ? `${plain(workspace)}: resumed; it was paused for: ${plain(pause.reason)}\n` : `${plain(workspace)}: was not paused\n`,
    )
    cli.finish(EXIT.done)
  })
}

interface PauseFlags extends NetworkFlags {
  readonly for: number
  readonly reason: string
}

export function register(command: Command, cli: Cli): void {
  command
    .description(
      'Stops all writing to a workspace at once: a running daemon goes on reading and measuring, and writes nothing. The pause is recorded in ' +
        'the ledger with its reason and ends by itself, after 7 days at most; `capkeeper resume` ends it earlier.',
    )
    .requiredOption('--for <duration>', 'how long, such as 30m, 4h or 2d; 7d at most', readPauseLength)
    .requiredOption('--reason <text>', 'why; shown in the log, on the status page and in `capkeeper status`')
    .action((flags: PauseFlags) => pause(flags, cli))
  addLedgerFlags(command)
  addExamples(command, 'capkeeper pause --for 4h --reason "billing migration"')
}

function readPauseLength(text: string): number {
  const ms = readDuration(text)
  if (ms <= 0) throw new InvalidArgumentError('A pause must be longer than nothing.')
  if (ms > LONGEST_PAUSE_MS) throw new InvalidArgumentError(`A pause lasts 7 days at most; for longer, set mode: paused in the config.`)
  return ms
}

async function pause(flags: PauseFlags, cli: Cli): Promise<void> {
  const reason = flags.reason.trim()
  if (reason === '') throw new UsageError('--reason is empty: say why, others will read it')
  const { withLedger } = await import('./shared/ledger/access.ts')
  await withLedger(flags, cli, { mode: 'note' }, async ({ workspace, ledger }) => {
    const now = cli.clock.now()
    const untilAt = now + flags.for
    await ledger.savePause({ untilAt, reason, pausedAt: now })
    cli.stdout.write(`${plain(workspace)}: paused until ${shortTime(untilAt)}: ${plain(reason)}\n`)
    cli.finish(EXIT.done)
  })
}
