// Opens the ledger of a process that writes: a file has one writer, and a database may have several, which hold workspaces by leases and share
// the rate of a key.
import { hostname } from 'node:os'
import { createKeyRing } from '../../../api/keys.ts'
import { ApiError } from '../../../core/model/observed.ts'
import { onceFor } from '../../../core/model/once.ts'
import { learnedTogether, type NamedKey, type ReplicaName, sharersOf } from '../../../core/replicas/lease.ts'
import type { Config, WorkspaceConfig } from '../../../daemon/config/settings.ts'
import type { Fence } from '../../../daemon/ledger/postgres/single.ts'
import type { LedgerStore } from '../../../daemon/ledger/store.ts'
import { createKeeper } from '../../../daemon/replicas/keeper.ts'
import { commandLeases, type Leases, soleLeases } from '../../../daemon/replicas/leases.ts'
import { wantedIn } from '../../../daemon/replicas/shown.ts'
import { randomSalt } from '../../../daemon/schedule/system.ts'
import type { Cli } from '../context.ts'
import { openStore } from './store.ts'

/** Requests per second by key; `isMet`: the service's limit was reached while learning. */
export function learnedPaces(fact: Readonly<Record<string, unknown>> = {}) {
  return Object.entries(fact).flatMap(([key, pace]) => {
    if (typeof pace !== 'object' || pace === null || !('rate' in pace) || typeof pace.rate !== 'number') return []
    return [{ key, rate: pace.rate, isMet: 'limited' in pace && pace.limited === true }]
  })
}

/** Requests per second of the slowest key; `orElse` where none has learned any. */
export function slowestPace(fact: Parameters<typeof learnedPaces>[0], orElse: number): number {
  const rates = learnedPaces(fact).map(({ rate }) => rate)
  return rates.length > 0 ? Math.min(...rates) : orElse
}

/** The workspaces of the configuration with the same key; their keys are read once for each configuration. */
export function sharersIn(cli: Pick<Cli, 'env' | 'files'>, config: () => Config) {
  const known = onceFor((of: Config) => {
    const keys = new Map(of.workspaces.map((one) => [one.name, keysOf(one, cli)]))
    return { keys, counts: sharersOf(new Map([...keys].map(([name, all]) => [name, new Set(all.map(({ id }) => id))]))) }
  })
  return {
    /** How many workspaces use the key of this one, itself included. */
    count: (workspace: string): number => known(config()).counts.get(workspace) ?? 1,
    /** What a workspace begins with: its own pace, or that of others with the same key while it has not met the limit itself. */
    async learned(workspace: WorkspaceConfig, own: Readonly<Record<string, unknown>>, { paces }: Pick<LedgerStore, 'paces'>) {
      const mine = keysOf(workspace, cli)
      const others = [...known(config()).keys].flatMap(([name, keys]) =>
        name === workspace.name ? [] : keys.flatMap((key) => (mine.some(({ id }) => id === key.id) ? [{ workspace: name, key }] : [])),
      )
      if (others.length === 0) return own
      const all = await paces(new Set(others.map((other) => other.workspace)))
      return learnedTogether(
        own,
        mine,
        others.map((other) => ({ id: other.key.id, learned: all.get(other.workspace)?.[other.key.name] })),
      )
    },
  }
}

/** Keys by address and digest. A key that cannot be read now is shared with none. */
function keysOf({ keys, baseUrl }: WorkspaceConfig, options: Parameters<typeof createKeyRing>[1]): readonly NamedKey[] {
  const ring = createKeyRing(keys, options)
  return (['GetUsageConfig', 'UsageConfig'] as const).flatMap((operation) => {
    try {
      const { id, name } = ring.keyFor(operation)
      return [{ id: `${baseUrl} ${id}`, name }]
    } catch (error) {
      if (error instanceof ApiError) return []
      throw error
    }
  })
}

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
    commandLeases({ replica: replicaName(`${name} on `), table, clock: cli.clock, wanted: wantedIn(config), file }),
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
