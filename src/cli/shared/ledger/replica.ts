// How a process that writes opens its ledger: alone over a file, or as one of several over a database, with leases in the place of the file's lock.
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

/** A ledger to write to, and what this process may write of it. */
export interface WritingStore extends LedgerStore {
  readonly held: Leases
}

/** Of this process and no other; a pod's host name is its own name. */
const replicaName = (what = ''): ReplicaName => ({ id: randomSalt(), name: `${what}${hostname()}:${process.pid}` })

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

/** For the daemon: leases come and go. `complain` takes messages for the log. */
export const openForDaemon = (cli: Cli, config: Config, complain: (message: string) => void): Promise<WritingStore> =>
  openFenced(cli, config, (_store, table) => createKeeper({ replica: replicaName(), table, clock: cli.clock, complain }))

/** For a command: each workspace that is opened is held until the store is closed, or refused with the name of its holder. */
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
