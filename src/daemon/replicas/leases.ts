// What the daemon asks about leases, the same for a ledger that is one process's own and for one that replicas share. Whoever holds everything
// for ever answers here; the one that has to keep its leases is keeper.ts.
import type { Instant } from '../../core/model/units.ts'
import type { WorkspaceLease } from '../workspace.ts'

/** A workspace that this process is configured for. */
export interface Wanted {
  readonly workspace: string
  /** The digest of its settings. */
  readonly config: string
}

/** What the daemon does when leases come and go. Calls for one workspace never overlap. */
export interface LeaseHooks {
  /** It is ours: its loop may start. Rejects when it cannot. */
  taken(workspace: string): Promise<void>
  /** Its loop has to end; resolves when it has. `gone`: the lease is over, so that even a write in flight is cut off. */
  ending(workspace: string, gone: boolean): Promise<void>
  /** It could not be started, and is left to others for a while. */
  failed(workspace: string, error: unknown): void
  /** The table was asked; what is told of leases may be news. */
  beaten(): void
  /** Policies that were held back may count now. */
  policiesSettled(): void
  /** What a workspace shows, as text; undefined while it knows nothing that should take the place of what its holder before has shown. */
  document(workspace: string): string | undefined
  /** The policy set that a workspace follows while its files are broken. */
  lastGood(workspace: string): string | undefined
}

/** How a workspace stands among the replicas. */
export interface LeaseStatus {
  readonly isHere: boolean
  readonly holder?: string
  /** Why this replica will not have it, while another does. */
  readonly refused?: { readonly ours: string; readonly theirs: string; readonly holder: string }
}

export interface Leases {
  /** This process is the only one there can be. */
  readonly isSole: boolean
  holds(workspace: string): boolean
  /** A write that may take so long may leave now. Asked last. */
  mayLeave(workspace: string, timeoutMs: number): boolean
  /** Until then (wall clock) a write of the holder before may land. */
  quietUntil(workspace: string): Instant
  /** Another replica has had newer policies than those that this one was told to follow. */
  isReplaced(workspace: string): boolean
  /** What this process is configured for, from now on. */
  want(wanted: readonly Wanted[]): void
  begin(hooks: LeaseHooks): void
  /** These policies were loaded; resolves when the others know, or cannot be told now. */
  followed(policies: ReadonlyMap<string, string>): Promise<void>
  /** The workspace's loop ended for good here. */
  release(workspace: string): Promise<void>
  /** Why the table of leases could not be used when it was last tried. */
  trouble(): string | undefined
  /** The first exchange was through. */
  hasBegun(): boolean
  statusOf(workspace: string): LeaseStatus
  /** Processes that share the workspaces, this one among them; empty where it is alone. */
  peers(): readonly { readonly name: string; readonly isHere: boolean }[]
  /** How often it came to this replica. */
  transfers(workspace: string): number
  /** What holders showed last, of workspaces that are not held here. */
  shownElsewhere(): Promise<ReadonlyMap<string, string>>
  /** Takes nothing any more. */
  withdraw(): void
  /** All that is held goes free at once, as its loops have ended. */
  stop(): Promise<void>
}

/** A ledger of one process: its lock is the lease. */
export const soleLeases = (): Leases => ({
  isSole: true,
  holds: () => true,
  mayLeave: () => true,
  quietUntil: () => Number.NEGATIVE_INFINITY,
  isReplaced: () => false,
  want: () => undefined,
  begin: () => undefined,
  followed: async () => undefined,
  release: async () => undefined,
  trouble: () => undefined,
  hasBegun: () => true,
  statusOf: () => ({ isHere: true }),
  peers: () => [],
  transfers: () => 0,
  shownElsewhere: async () => new Map(),
  withdraw: () => undefined,
  stop: async () => undefined,
})

/** What leases mean for one workspace; undefined where there are none. */
export function leaseOf(leases: Leases, workspace: string): WorkspaceLease | undefined {
  if (leases.isSole) return undefined
  return {
    isReplaced: () => leases.isReplaced(workspace),
    quietUntil: () => leases.quietUntil(workspace),
    shown() {
      const { isHere, holder } = leases.statusOf(workspace)
      return { isHere, ...(holder !== undefined && { holder }), transfers: leases.transfers(workspace) }
    },
  }
}
