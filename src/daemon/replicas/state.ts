// What the keeper of leases knows between two heartbeats. Values only: what follows from them is decided in keeper.ts and sharing.ts.
import type { Lease, Moment, Quiet } from '../../core/replicas/lease.ts'
import type { HeartbeatAnswer, LeaseRow, ReplicaName } from '../../core/replicas/table.ts'
import type { Clock, LeaseTable } from '../../ports.ts'
import type { LeaseHooks, Wanted } from './leases.ts'
import { saySame } from './policies.ts'

export interface KeeperOptions {
  readonly replica: ReplicaName
  readonly table: LeaseTable
  readonly clock: Clock
  /** Something unexpected, for the log. */
  readonly complain?: (message: string) => void
}

export interface Own extends Lease {
  readonly quiet?: Quiet
}

export interface State extends KeeperOptions {
  wanted: readonly Wanted[]
  /** Of what is wanted, by workspace. */
  configs: ReadonlyMap<string, string>
  /** Of the last answer, by workspace. */
  rows: ReadonlyMap<string, LeaseRow>
  hooks: LeaseHooks | undefined
  readonly held: Map<string, Own>
  /** Their loops are starting or ending. */
  readonly busy: Map<string, Promise<void>>
  /** To be let go with the next heartbeat. */
  readonly leaving: Map<string, number>
  /** Leases that were lost: until when on the monotonic clock something that left under them may be under way. */
  readonly lost: Map<string, number>
  /** Could not be opened here; until when on the monotonic clock. */
  readonly failed: Map<string, number>
  answer: HeartbeatAnswer | undefined
  readonly freeSince: Map<string, number>
  /** Of the files that are in order. */
  policies: ReadonlyMap<string, string>
  /** Which of them the table knows to be ours, and since when on the monotonic clock. */
  told: ReadonlyMap<string, string>
  toldAt: number
  /** The policies that came last of all, by workspace. */
  readonly latest: Map<string, string>
  readonly transfers: Map<string, number>
  readonly shown: Map<string, string>
  readonly saved: Map<string, string>
  shownMark: string | undefined
  /** Why the last exchange failed. */
  trouble: string | undefined
  stopping: boolean
  beating: Promise<void> | undefined
  /** On the monotonic clock. */
  readonly due: { beat: number; look: number; readopt: number; show: number; readShown: number }
  readonly ended: AbortController
}

export const newState = (options: KeeperOptions): State => ({
  ...options,
  ...{
    wanted: [],
    configs: new Map(),
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
  due: { beat: 0, look: 0, readopt: 0, show: 0, readShown: 0 },
  ended: new AbortController(),
})

export const momentOf = ({ clock }: State): Moment => ({ wall: clock.now(), monotonic: clock.monotonic() })

/** Not known to the others yet, or known to be older than what they have had. What is in force while files are broken was known before. */
export function isReplaced(state: State, workspace: string): boolean {
  const own = inForce(state, workspace)
  return own !== undefined && !saySame(state.latest.get(workspace), own)
}

/** The policies that this replica keeps to. */
export const inForce = ({ policies, latest, hooks }: State, workspace: string): string | undefined =>
  policies.get(workspace) ?? (latest.has(workspace) ? hooks?.lastGood(workspace) : undefined)

/** The table may also have lost what it was told: when it came back without its last moments, or when it had given us up. */
export const isTold = ({ policies, told }: State): boolean => [...policies].every(([workspace, policy]) => told.get(workspace) === policy)
