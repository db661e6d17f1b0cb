// The daemon's view of leases, the same for a ledger of one process and for one that replicas share. `soleLeases` is the case of one process;
// keeper.ts keeps the leases of a replica.
import type { Instant } from '../../core/model/units.ts'
import type { WorkspaceLease } from '../workspace.ts'

/** A workspace that this process is configured for. */
export interface Wanted {
  readonly workspace: string
  /** The digest of its settings: see `configDigest`. */
  readonly config: string
}

/** How the daemon reacts to changes of leases. Calls for one workspace never overlap. */
export interface LeaseHooks {
  /** The lease was taken: starts the loop. Rejects when it cannot start. */
  taken(workspace: string): Promise<void>
  /** Ends the loop, and resolves when it has ended. `gone`: the lease is over, so that even a write in flight is cut off. */
  ending(workspace: string, gone: boolean): Promise<void>
  /** The loop could not start; the workspace is left to other replicas for a while. */
  failed(workspace: string, error: unknown): void
  /** A heartbeat was answered; the status of leases may have changed. */
  beaten(): void
  /** Policies that were held back may count now. */
  policiesSettled(): void
  /** The workspace's view as text; undefined while it should not yet replace the view of the former holder. */
  document(workspace: string): string | undefined
  /** The policy set that a workspace follows while its files are broken. */
  lastGood(workspace: string): string | undefined
}

/** Who holds a workspace. */
export interface LeaseStatus {
  readonly isHere: boolean
  readonly holder?: string
  /** Why this replica does not keep it: other settings count, those of `holder`. */
  readonly refused?: { readonly ours: string; readonly theirs: string; readonly holder: string }
}

export interface Leases {
  /** The ledger allows only one process. */
  readonly isSole: boolean
  holds(workspace: string): boolean
  /** Whether a write that may take so long may leave now. Asked last. */
  mayLeave(workspace: string, timeoutMs: number): boolean
  /** Until this instant (wall clock) a write of the former holder may land. */
  quietUntil(workspace: string): Instant
  /** Whether another replica has had newer policies than this one. */
  isReplaced(workspace: string): boolean
  /** Sets the workspaces that this process is configured for. */
  want(wanted: readonly Wanted[]): void
  begin(hooks: LeaseHooks): void
  /** Reports the loaded policies; resolves when the other replicas know of them, or cannot be reached now. */
  followed(policies: ReadonlyMap<string, string>): Promise<void>
  /** The workspace's loop ended for good here. */
  release(workspace: string): Promise<void>
  /** Why the last heartbeat failed. */
  trouble(): string | undefined
  /** The first heartbeat was answered. */
  hasBegun(): boolean
  statusOf(workspace: string): LeaseStatus
  /** The processes that share the workspaces, with this one; empty when it is the only one. */
  peers(): readonly { readonly name: string; readonly isHere: boolean }[]
  /** How often this replica took the workspace. */
  transfers(workspace: string): number
  /** The last saved views of workspaces that other replicas hold. */
  shownElsewhere(): Promise<ReadonlyMap<string, string>>
  /** From now on takes no workspace. */
  withdraw(): void
  /** Releases all leases; their loops have ended. */
  stop(): Promise<void>
}

/** Leases with the token that fences each record. */
export interface FencedLeases extends Leases {
  fence(workspace: string): { readonly replica: string; readonly token: number } | undefined
}

/** For a ledger of one process: its lock is the lease. */
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

/** The lease of one workspace; undefined when the ledger has no leases. */
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
