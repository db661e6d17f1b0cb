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
import { openStore } from '../../compose.ts'
import type { Cli } from '../context.ts'

/** A ledger to write to, and what this process may write of it. */
export interface WritingStore extends LedgerStore {
  readonly held: Leases
}

/** Of this process and no other; a pod's host name is its own name. */
const replicaName = (what = ''): ReplicaName => ({ id: randomSalt(), name: `${what}${hostname()}:${process.pid}` })

/** For the daemon: leases come and go. `complain` takes what is for the log. */
export async function openForDaemon(cli: Cli, config: Config, complain: (message: string) => void): Promise<WritingStore> {
  if (!isPostgresAddress(config.ledger)) return { ...(await openStore(cli, config, 'write')), held: soleLeases() }
  const late: { fence?: Fence } = {}
  const store = await openStore(cli, config, 'write', (workspace) => late.fence?.(workspace))
  if (!store.leases) return { ...store, held: soleLeases() }
  const keeper = createKeeper({ replica: replicaName(), table: store.leases, clock: cli.clock, complain })
  late.fence = keeper.fence
  return { ...store, held: keeper }
}

/** For a command: each workspace that is opened is held until the store is closed, or refused with the name of its holder. */
export async function openForCommand(cli: Cli, config: Config, name: string): Promise<WritingStore> {
  if (!isPostgresAddress(config.ledger)) return { ...(await openStore(cli, config, 'write')), held: soleLeases() }
  const late: { fence?: Fence } = {}
  const store = await openStore(cli, config, 'write', (workspace) => late.fence?.(workspace))
  if (!store.leases) return { ...store, held: soleLeases() }
  const leases = commandLeases({
    replica: replicaName(`${name} on `),
    table: store.leases,
    clock: cli.clock,
    wanted: wantedIn(config),
    heldBy: (workspace, holder) => heldBy(store.file, workspace, holder),
  })
  late.fence = leases.fence
  return {
    ...store,
    held: leases,
    async workspace(workspace, baseUrl, options) {
      await leases.claim(workspace)
      return store.workspace(workspace, baseUrl, options)
    },
    async close() {
      await leases.stop()
      await store.close()
    },
  }
}
