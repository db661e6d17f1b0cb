// What a replica and the table of leases say to each other. Types only.

/** A workspace that a replica holds, or held. */
export interface HeldWorkspace {
  readonly workspace: string
  readonly token: number
}

/** The digest of the settings under which it is kept, or would be. */
interface Settings {
  readonly config: string
}

/** What a replica tells the others and asks for, in one exchange. */
export interface Heartbeat {
  readonly replica: ReplicaName
  /** Of each lease that is given or renewed. */
  readonly lastsMs: number
  readonly renew: readonly (HeldWorkspace & Settings)[]
  readonly release: readonly HeldWorkspace[]
  readonly take: readonly (Pick<HeldWorkspace, 'workspace'> & Settings)[]
  readonly refuses: readonly string[]
  /** A command that holds a workspace for a while has no share in the others. */
  readonly spreads: boolean
}

export interface ReplicaName {
  /** Of one process, and of no other ever. */
  readonly id: string
  /** For people. */
  readonly name: string
}

/** A workspace as the table has it after a heartbeat. */
export interface LeaseRow {
  readonly workspace: string
  readonly token: number
  /** Absent: nobody, or one whose lease is over. */
  readonly holder?: ReplicaName
  /** Negative: for how long it has been free. */
  readonly lastsMs: number
  /** The digest of the holder's settings. */
  readonly config: string
  /** The policy set that came last. */
  readonly policy?: string
}

export interface HeartbeatAnswer {
  readonly renewed: ReadonlySet<string>
  /** `quietMs`: for so long a write that an earlier holder left open may still land; 0: nobody held it lately. */
  readonly taken: ReadonlyMap<string, { readonly token: number; readonly quietMs: number }>
  /** Replicas that are alive, and have a share. */
  readonly peers: readonly (ReplicaName & { readonly refuses: readonly string[] })[]
  readonly leases: readonly LeaseRow[]
  /** The policies that the table has of this replica, by workspace. */
  readonly told: ReadonlyMap<string, string>
}
