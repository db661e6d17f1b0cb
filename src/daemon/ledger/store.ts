// What an open ledger can do, whatever database it lies in. Types only.
import type { Pause } from '../../core/model/change.ts'
import type { Instant } from '../../core/model/units.ts'
import type { LeaseTable, Ledger, LedgerFacts } from '../../ports.ts'
import type { Binding } from './binding.ts'
import type { CopyEnd } from './copy.ts'
import type { SharedCopy } from './sqlite/database.ts'

/** What is recorded of one workspace at one address. */
export interface BindingReport extends Omit<Binding, 'id'> {
  readonly owned: number
  readonly openIntents: number
  readonly history: number
  readonly approvals: number
  readonly quarantined: number
}

/** What `ledger check` found. */
export interface LedgerReport {
  readonly file: string
  /** False when there is no ledger (yet), which reads as an empty one. */
  readonly exists: boolean
  readonly schemaVersion: number
  /** What is wrong, a sentence each; empty when the ledger is whole. */
  readonly problems: readonly string[]
  readonly workspaces: readonly BindingReport[]
  /** What was left to others to look at. */
  readonly note?: string
}

/** What `doctor` wants to know of a database server. */
export interface ServerReport {
  /** Such as 15.8. */
  readonly version: string
  readonly versionNumber: number
  /** What this user may not do with the ledger; empty when nothing is missing. */
  readonly missingRights: readonly string[]
  /** The half of several round trips took less. */
  readonly latencyMs: number
  /** The server's clock minus ours. */
  readonly clockSkewMs: number
  readonly isStandby: boolean
  readonly isEncrypted: boolean
}

/** The open ledger. Every method rejects with a `LedgerError` when its database fails. */
export interface LedgerStore {
  /** As messages name it: a path, or an address without what is secret in it. */
  readonly file: string
  /**
   * The ledger of one workspace. `baseUrl` is the identity of its service, or undefined for whichever it is bound to (commands that ask no
   * service), with what is recorded now. Rejects with LEDGER_BOUND when it is bound to another one; `rebind` moves it, and sets aside what was recorded for the old one.
   */
  workspace(name: string, baseUrl: string | undefined, options?: { readonly rebind?: boolean }): Promise<Ledger>
  /** What the ledger is bound to, by name; what a rebinding set aside has `current` false. */
  workspaces(): Promise<readonly Omit<Binding, 'id'>[]>
  /** The pauses that hold, by workspace, in one look. */
  pauses(now: Instant): Promise<ReadonlyMap<string, Pause>>
  /** The learned pace of each of these workspaces, by key name; what cannot be read is left out. */
  paces(workspaces: readonly string[]): Promise<ReadonlyMap<string, LedgerFacts['pace']>>
  /** Writes and commits something without meaning; rejects when a record could not be made now. */
  probe(): Promise<void>
  /** Forgets history that is older than 400 days; returns how many entries went. */
  prune(now: Instant): Promise<number>
  /** Looks at every page and every row; damage is reported and rejects nothing. */
  check(): Promise<LedgerReport>
  /** Writes a consistent copy to a file that does not exist yet. Rejects with LEDGER_BACKUP. */
  backup(target: string): Promise<void>
  /** Who holds which workspace, for ledgers that several processes write; absent: this one holds all of them. */
  readonly leases?: LeaseTable
  /** What there is to know of the server, for ledgers that have one. */
  server?(): Promise<ServerReport>
  /** For a ledger in this process alone: a copy as it is now, which a thread opens to read. */
  share?(): Promise<SharedCopy>
  /** This ledger as one end of a copy; opened to write, it holds all of its workspaces until it is closed. */
  copyEnd(): Promise<CopyEnd>
  /** Frees the lock and the file or the connections; a second call does nothing. */
  close(): Promise<void>
}
