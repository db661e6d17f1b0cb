// The state of the keeper of leases between two heartbeats. keeper.ts and sharing.ts act on it.
import type { HeartbeatAnswer, Lease, LeaseRow, Moment, Quiet, ReplicaName } from '../../core/replicas/lease.ts'
import type { Clock, LeaseTable } from '../../ports.ts'
import type { LeaseHooks, Wanted } from './leases.ts'
import { saySame } from './policies.ts'

export interface KeeperOptions {
  readonly replica: ReplicaName
  readonly table: LeaseTable
  readonly clock: Clock
  /** Logs something unexpected. */
  readonly complain?: (message: string) => void
}

export interface Own extends Lease {
  readonly quiet?: Quiet
}

export interface State extends KeeperOptions {
  wanted: readonly Wanted[]
  /** The digests of settings in `wanted`, by workspace. */
  configs: ReadonlyMap<string, string>
  /** The `configs` that the table has. */
  configsTold: ReadonlyMap<string, string> | undefined
  /** The leases in the last answer, by workspace. */
  rows: ReadonlyMap<string, LeaseRow>
  hooks: LeaseHooks | undefined
  readonly held: Map<string, Own>
  /** Workspaces whose loops are starting or ending. */
  readonly busy: Map<string, Promise<void>>
  /** Tokens of leases to release with the next heartbeat. */
  readonly leaving: Map<string, number>
  /** Lost leases: until when (monotonic clock) a write under them may still be under way. */
  readonly lost: Map<string, number>
  /** Workspaces that could not be opened here: until when (monotonic clock) they are left to other replicas. */
  readonly failed: Map<string, number>
  answer: HeartbeatAnswer | undefined
  /** Monotonic clock. */
  readonly freeSince: Map<string, number>
  /** The policies of valid files, by workspace. */
  policies: ReadonlyMap<string, string>
  /** The policies of this replica that the table has, and since when (monotonic clock). */
  told: ReadonlyMap<string, string>
  toldAt: number
  /** The newest policies of any replica, by workspace. */
  readonly latest: Map<string, string>
  readonly transfers: Map<string, number>
  readonly shown: Map<string, string>
  readonly saved: Map<string, string>
  shownMark: string | undefined
  /** Why the last heartbeat failed. */
  trouble: string | undefined
  stopping: boolean
  beating: Promise<void> | undefined
  /** When each step is due (monotonic clock); `free` is the search for free workspaces. */
  readonly due: { beat: number; free: number; readopt: number; show: number; readShown: number }
  readonly ended: AbortController
}

export const newState = (options: KeeperOptions): State => ({
  ...options,
  ...{
    wanted: [],
    configs: new Map(),
    configsTold: undefined,
    rows: new Map(),
    hooks: undefined,
    answer: undefined,
    policies: new Map(),
    told: new Map(),
    toldAt: 0,
    shownMark: undefined,
    beating: undefined,
  },
  ...{ held: new Map(), busy: new Map(), leaving: new Map(), lost: new Map(), failed: new Map(), freeSince: new Map(), latest: new Map() },
  ...{ transfers: new Map(), shown: new Map(), saved: new Map(), trouble: undefined, stopping: false },
  due: { beat: 0, free: 0, readopt: 0, show: 0, readShown: 0 },
  ended: new AbortController(),
})

export const momentOf = ({ clock }: State): Moment => ({ wall: clock.now(), monotonic: clock.monotonic() })

/**
 * Whether the policies of this replica are not the newest: another replica has had newer ones, or the table does not know them yet. The last
 * known good policies, in force while files are broken, were known before.
 */
export function isReplaced(state: State, workspace: string): boolean {
  const own = inForce(state, workspace)
  return own !== undefined && !saySame(state.latest.get(workspace), own)
}

/** The policies that this replica follows. */
export const inForce = ({ policies, latest, hooks }: State, workspace: string): string | undefined =>
  policies.get(workspace) ?? (latest.has(workspace) ? hooks?.lastGood(workspace) : undefined)

/** False also when the table has lost them: after a failover, or because it had dropped this replica. */
export const isTold = ({ policies, told }: State): boolean => [...policies].every(([workspace, policy]) => told.get(workspace) === policy)
