// The exchange between a replica and the table of leases. Types only.
import type { Votes } from './spread.ts'

/** A workspace that a replica holds, or held. */
export interface HeldWorkspace {
  readonly workspace: string
  readonly token: number
}

interface Settings {
  /** The digest of the settings with which the replica runs the workspace. */
  readonly config: string
}

/** What a replica reports and asks for. */
export interface Heartbeat {
  readonly replica: ReplicaName
  /** The duration of each lease given or renewed. */
  readonly lastsMs: number
  readonly renew: readonly (HeldWorkspace & Settings)[]
  readonly release: readonly HeldWorkspace[]
  readonly take: readonly (Pick<HeldWorkspace, 'workspace'> & Settings)[]
  readonly refuses: readonly string[]
  /** False for a command that holds one workspace for a while, and takes no share of the others. */
  readonly spreads: boolean
}

export interface ReplicaName {
  /** Unique to one process, for ever. */
  readonly id: string
  /** For people. */
  readonly name: string
}

/** A workspace's row in the table after a heartbeat. */
export interface LeaseRow {
  readonly workspace: string
  readonly token: number
  /** Absent when no replica holds it, or the lease is over. */
  readonly holder?: ReplicaName
  /** Negative: how long it has been free. */
  readonly lastsMs: number
  /** The digest of the holder's settings. */
  readonly config: string
  /** The latest policy set. */
  readonly policy?: string
}

export interface HeartbeatAnswer {
  readonly renewed: ReadonlySet<string>
  /** `quietMs`: how long an earlier holder's open write may still land; 0 when it was not held lately. */
  readonly taken: ReadonlyMap<string, { readonly token: number; readonly quietMs: number }>
  /** Live replicas that take a share of the workspaces. */
  readonly peers: readonly (ReplicaName & { readonly refuses: readonly string[] })[]
  readonly leases: readonly LeaseRow[]
  /** The settings of the live replicas for each workspace about which they differ, those that this replica reported included. */
  readonly votes: ReadonlyMap<string, Votes>
  /** The policies that this replica reported to the table, by workspace. */
  readonly told: ReadonlyMap<string, string>
}
