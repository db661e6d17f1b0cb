// `ledger copy FROM TO`: moves a ledger between a file and PostgreSQL. Both are locked meanwhile, so that no daemon writes caps with the old
// ledger. The old ledger stays as it is.

import { plain } from '../../core/escape/terminal.ts'
import { type CopyEnd, copyLedger } from '../../daemon/ledger/copy.ts'
import { type Cli, CommandError, UsageError } from '../shared/context.ts'
import { EXIT } from '../shared/exit.ts'
import { interruptible } from '../shared/interrupt.ts'
import { shownLedger } from '../shared/ledger/address.ts'
import { withStore } from '../shared/ledger/store.ts'
import { sweepProgress } from '../shared/progress.ts'
import { mustBeOwn } from '../shared/remote.ts'
import { count } from '../shared/text.ts'

export async function copyCommand(from: string, to: string, cli: Cli): Promise<void> {
  for (const one of [from, to]) {
    mustBeOwn(one)
    if (one === ':memory:') throw new UsageError('a ledger in memory is gone with its process; name a file or an address')
  }
  if (from === to) throw new UsageError('both names are of the same ledger')
  await mustHaveRecords(from, cli)
  const copied = await interruptible(cli, (signal) =>
    withStore(cli, from, 'write', async (source) => {
      // Before the target is made, because a daemon may hold the source.
      const end = await source.copyEnd()
      return withStore(cli, to, 'write', async (target) => copyBetween(end, await target.copyEnd(), cli, signal))
    }),
  )
  cli.stdout.write(
    `${plain(`${shownLedger(from)}: ${count(copied, 'row')} copied to ${shownLedger(to)}, and every one read back as it was`)}\n`,
  )
  cli.finish(EXIT.done)
}

async function copyBetween(from: CopyEnd, to: CopyEnd, cli: Cli, signal: AbortSignal): Promise<number> {
  const progress = await sweepProgress('copying the ledger', cli.stderr, signal)
  try {
    progress.expect({ length: await from.count() })
    return await copyLedger(from, to, (rows) => {
      signal.throwIfAborted()
      progress.some(rows.length)
    })
  } finally {
    progress.stop()
  }
}

/** Checked first, because opening a missing ledger to write would create it. */
async function mustHaveRecords(from: string, cli: Cli): Promise<void> {
  const known = await withStore(cli, from, 'read', (store) => store.workspaces())
  if (known.length === 0) throw new CommandError(`${shownLedger(from)} holds no records, so there is nothing to copy`)
}
