// Opens the ledger of a process that writes: a file has one writer, and a database may have several, which hold workspaces by leases.
import { hostname } from 'node:os'
import type { ReplicaName } from '../../../core/replicas/table.ts'
import type { Config } from '../../../daemon/config/settings.ts'
import { isPostgresAddress } from '../../../daemon/ledger/postgres/address.ts'
import { type Fence, heldBy } from '../../../daemon/ledger/postgres/writer.ts'
import type { LedgerStore } from '../../../daemon/ledger/store.ts'
import { commandLeases } from '../../../daemon/replicas/command.ts'
import { createKeeper } from '../../../daemon/replicas/keeper.ts'
import { type Leases, soleLeases } from '../../../daemon/replicas/leases.ts'
import { wantedIn } from '../../../daemon/replicas/shown.ts'
import { randomSalt } from '../../../daemon/schedule/system.ts'
import type { Cli } from '../context.ts'
import { openStore } from './store.ts'

/** A ledger to write to, with the leases that say which workspaces this process may write. */
export interface WritingStore extends LedgerStore {
  readonly held: Leases
}

/** Unique to this process; a pod's host name is the pod's name. */
const replicaName = (prefix = ''): ReplicaName => ({ id: randomSalt(), name: `${prefix}${hostname()}:${process.pid}` })

/** Opens a ledger to write to. The leases, where a database has any, come from `leasesOver` the open store, and fence its records. */
async function openFenced<T extends Leases & { readonly fence: Fence }>(
  cli: Cli,
  { ledger }: Config,
  leasesOver: (store: LedgerStore, table: NonNullable<LedgerStore['leases']>) => T,
): Promise<WritingStore & { readonly leased?: T }> {
  if (!isPostgresAddress(ledger)) return { ...(await openStore(cli, ledger, 'write')), held: soleLeases() }
  const late: { fence?: Fence } = {}
  const store = await openStore(cli, ledger, 'write', (workspace) => late.fence?.(workspace))
  if (!store.leases) return { ...store, held: soleLeases() }
  const leased = leasesOver(store, store.leases)
  late.fence = leased.fence
  return { ...store, held: leased, leased }
}

/** For the daemon, whose leases come and go. `complain` logs a message. */
export const openForDaemon = (cli: Cli, config: Config, complain: (message: string) => void): Promise<WritingStore> =>
  openFenced(cli, config, (_store, table) => createKeeper({ replica: replicaName(), table, clock: cli.clock, complain }))

/** For a command: a workspace is leased when it is opened, until the store is closed. One that is held elsewhere is refused with its holder's name. */
export async function openForCommand(cli: Cli, config: Config, name: string): Promise<WritingStore> {
  const { leased, ...store } = await openFenced(cli, config, ({ file }, table) =>
    commandLeases({
      replica: replicaName(`${name} on `),
      table,
      clock: cli.clock,
      wanted: wantedIn(config),
      heldBy: (workspace, holder) => heldBy(file, workspace, holder),
    }),
  )
  if (!leased) return store
  return {
    ...store,
    async workspace(workspace, baseUrl, options) {
      await leased.claim(workspace)
      return store.workspace(workspace, baseUrl, options)
    },
    async close() {
      await leased.stop()
      await store.close()
    },
  }
}
