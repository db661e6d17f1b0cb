// `ledger copy FROM TO`: moves a ledger between a file and PostgreSQL. Both are held for as long as it takes, so that nothing is written on
// the strength of a ledger that is being left; the one it comes from stays as it is.

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

/** Copies every row, and reads it back. */
export async function copyCommand(from: string, to: string, cli: Cli): Promise<void> {
  for (const one of [from, to]) {
    mustBeOwn(one)
    if (one === ':memory:') throw new UsageError('a ledger in memory is gone with its process; name a file or an address')
  }
  if (from === to) throw new UsageError('both names are of the same ledger')
  await mustHaveRecords(from, cli)
  const copied = await interruptible(cli, (signal) =>
    withStore(cli, from, 'write', async (source) => {
      // Before the target is made: a daemon may hold what it is copied from.
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

/** Opening to write would make what is not there. */
async function mustHaveRecords(from: string, cli: Cli): Promise<void> {
  const known = await withStore(cli, from, 'read', (store) => store.workspaces())
  if (known.length === 0) throw new CommandError(`${shownLedger(from)} holds no records, so there is nothing to copy`)
}
