// Workspaces that share one key of a service: the part of the key's rate that each may use, and the pace that any of them has learned. Keys are
// compared by their digests and never shown.
import { ApiError } from '../../../api/errors.ts'
import { createKeyRing } from '../../../api/keys.ts'
import { learnedTogether, type NamedKey, sharersOf } from '../../../core/replicas/budget.ts'
import type { Config, WorkspaceConfig } from '../../../daemon/config/settings.ts'
import type { LedgerStore } from '../../../daemon/ledger/store.ts'
import type { Cli } from '../context.ts'

export interface Sharers {
  /** How many workspaces of the configuration use the key of this one, itself included. */
  count(workspace: string): number
  /** The learned pace of the workspace's keys: its own, or that of others with the same key while it has not reached the limit itself. */
  learned(workspace: string, own: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>
}

interface Known {
  readonly of: Config
  readonly keys: ReadonlyMap<string, readonly NamedKey[]>
  readonly counts: ReadonlyMap<string, number>
}

/** Computes the sharers once for each configuration. */
export function sharersIn(cli: Pick<Cli, 'env' | 'files'>, store: Pick<LedgerStore, 'paces'>, config: () => Config): Sharers {
  let known: Known | undefined
  const now = (): Known => {
    const of = config()
    if (known?.of === of) return known
    const keys = new Map(of.workspaces.map((one) => [one.name, keysOf(one, cli)]))
    known = { of, keys, counts: sharersOf(new Map([...keys].map(([name, all]) => [name, new Set(all.map(({ id }) => id))]))) }
    return known
  }
  return {
    count: (workspace) => now().counts.get(workspace) ?? 1,
    async learned(workspace, own) {
      const { keys, counts } = now()
      const mine = keys.get(workspace) ?? []
      if ((counts.get(workspace) ?? 1) < 2) return own
      const ids = new Set(mine.map(({ id }) => id))
      const others = [...keys].filter(([name, all]) => name !== workspace && all.some(({ id }) => ids.has(id)))
      const paces = await store.paces(others.map(([name]) => name))
      return learnedTogether(
        own,
        mine,
        others.map(([name, named]) => ({ named, learned: paces.get(name) ?? {} })),
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
