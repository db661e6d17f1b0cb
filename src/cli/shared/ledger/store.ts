// How commands open a ledger. The password in an address is hidden from all output first, and the ledger of a running daemon is refused.
import type { WorkspaceConfig } from '../../../daemon/config/settings.ts'
import type { LedgerMode } from '../../../daemon/ledger/adapter.ts'
import { openLedger } from '../../../daemon/ledger/ledger.ts'
import type { LedgerOptions, LedgerStore } from '../../../daemon/ledger/store.ts'
import type { Ledger } from '../../../ports.ts'
import { type Cli, CommandError, UsageError } from '../context.ts'
import { mustBeOwn } from '../remote.ts'
import { hidePasswords } from './address.ts'

/** Opens a file or a database; the caller closes it. To write caps use `replica.ts`, which takes leases as well. */
export async function openStore(cli: Cli, file: string, mode: LedgerMode, fence?: LedgerOptions['fence']): Promise<LedgerStore> {
  mustBeOwn(file)
  await hidePasswords(cli, file)
  return openLedger({ file, mode, clock: cli.clock, env: cli.env, fence })
}

/** Opens a ledger, hands it to `use`, and closes it. */
export async function withStore<T>(cli: Cli, file: string, mode: LedgerMode, use: (store: LedgerStore) => Promise<T>): Promise<T> {
  await using opened = new AsyncDisposableStack()
  return await use(opened.adopt(await openStore(cli, file, mode), (store) => store.close()))
}

/** The ledger of one workspace, which is bound to the address of its service. */
export const ledgerOf = (store: LedgerStore, config: WorkspaceConfig, rebind = false): Promise<Ledger> =>
  store.workspace(config.name, config.baseUrl, { rebind })

/** The workspaces that have records, without those that were set aside by `--rebind`. */
export const currentWorkspaces = async (store: LedgerStore): Promise<readonly string[]> =>
  (await store.workspaces()).flatMap((one) => (one.current ? [one.workspace] : []))

/** One that does not exist yet, or is an empty file, reads as an empty one; nothing can be told of it. */
export function mustExist({ exists, file }: LedgerStore): void {
  if (!exists) throw new CommandError(`there is no ledger at ${file} yet; run or apply makes it, and --ledger names another`)
}

/** One in memory tells a command nothing, and keeps nothing for the next one. */
export function mustBeKept(file: string, way = 'a file with --ledger'): void {
  if (file === ':memory:') throw new UsageError(`a ledger in memory is gone with its process; name ${way}`)
}
