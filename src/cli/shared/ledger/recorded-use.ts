// Recorded use from the ledger, for `simulate` and `recommend`. Nothing is written. A ledger that does not exist or has no records of a workspace
// is an error with a hint.

import type { RecordedUse } from '../../../daemon/replay/gather.ts'
import { recordedUseOf } from '../../../daemon/replay/recorded-use.ts'
import { ledgerArgs, type NetworkFlags } from '../args.ts'
import { type Cli, CommandError, UsageError } from '../context.ts'
import { isLedgerUrl } from '../remote.ts'
import { shownLedger } from './address.ts'
import { currentWorkspaces, withStore } from './store.ts'

interface RecordedLedger {
  readonly workspaces: readonly RecordedUse[]
  /** The salt of people's hashes; absent until a daemon has made it. */
  readonly salt?: string
}

/** Reads these workspaces. Throws a `CommandError` when the ledger has records of none, and a `LedgerError` when it cannot be read. */
export async function readRecordedUse(cli: Cli, file: string, names: readonly string[], flags: NetworkFlags): Promise<RecordedLedger> {
  if (isLedgerUrl(file)) {
    throw new UsageError(
      `${shownLedger(file)} is the address of a daemon, which hands out no use by day; name the ledger itself, or a copy of it (\`capkeeper ledger backup FILE\`), with --ledger`,
    )
  }
  return withStore(cli, file, 'read', async (store) => {
    const known = await currentWorkspaces(store)
    const found = names.filter((name) => known.includes(name))
    if (found.length === 0) throw nothingKnown(file, names, known, flags)
    let salt: string | undefined
    const workspaces: RecordedUse[] = []
    for (const workspace of found) {
      const ledger = await store.workspace(workspace, undefined)
      salt ??= ledger.fact('peopleSalt')
      workspaces.push(await recordedUseOf(workspace, ledger))
    }
    return { workspaces, ...(salt !== undefined && { salt }) }
  })
}

/** The command that gets past days into the same ledger. */
export const collectLine = (flags: NetworkFlags): string => ['capkeeper collect', ...ledgerArgs(flags)].join(' ')

function nothingKnown(file: string, names: readonly string[], known: readonly string[], flags: NetworkFlags): CommandError {
  if (known.length === 0)
    return new CommandError(`${file} has no records; type: ${collectLine(flags)}, or name another ledger with --ledger`)
  return new CommandError(
    `${file} knows nothing of ${names.join(', ')}; it knows ${known.join(', ')}: choose with --workspace, or name another ledger with --ledger`,
  )
}
