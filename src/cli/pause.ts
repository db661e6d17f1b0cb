// `pause` and `resume`: stops writing at once, without a redeploy, and starts it again. The ledger records it, every writer checks it before
// each write, and it ends by itself.
import { InvalidArgumentError } from 'commander'
import { plain } from '../core/escape/text.ts'
import { LONGEST_PAUSE_MS } from '../core/model/change.ts'
import { readDuration } from './shared/args.ts'
import { action, COMMANDS, type FlagsOf, type NetworkFlags } from './shared/command.ts'
import { type Cli, EXIT, UsageError } from './shared/context.ts'
import { shortTime } from './shared/text.ts'

export const registerResume = action(COMMANDS.resume, resume)

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

function readPauseLength(text: string): number {
  const ms = readDuration(text)
  if (ms <= 0) throw new InvalidArgumentError('A pause must be longer than nothing.')
  if (ms > LONGEST_PAUSE_MS) throw new InvalidArgumentError(`A pause lasts 7 days at most; for longer, set mode: paused in the config.`)
  return ms
}

const OWN = { pauseLength: readPauseLength }
export const register = action(COMMANDS.pause, pause, OWN)

async function pause(flags: FlagsOf<typeof COMMANDS.pause, typeof OWN>, cli: Cli): Promise<void> {
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
