// An open ledger: its interface, and what is the same in every database.
import type { Pause } from '../../core/model/change.ts'
import type { LedgerFacts } from '../../core/model/facts.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Clock, LeaseTable, Ledger } from '../../ports.ts'
import { dataRow, type LedgerMode } from './adapter.ts'
import { orNothing } from './error.ts'
import type { Fence } from './postgres/single.ts'
import { type Binding, bind, bindings, workspaceRows } from './sql/bindings.ts'
import { prune } from './sql/care.ts'
import type { CopyEnd } from './sql/copy.ts'
import { type SqlDatabase, textKept } from './sql/statement.ts'
import type { LedgerDatabase } from './sqlite/database.ts'
import { readFact, readRow } from './values/values.ts'
import { workspaceLedger } from './workspace.ts'

export interface LedgerOptions {
  /** A path, `:memory:` for a ledger that ends with the process, or the address of a database such as `postgres://host/name`. */
  readonly file: string
  /**
   * `write` is for `run` and `apply`, and takes the write lock. `note` is for small writes beside a running daemon (approve, pause, resume),
   * and takes no lock. `read` changes nothing and makes no file; a ledger that does not exist yet reads as an empty one.
   */
  readonly mode: LedgerMode
  readonly clock: Clock
  /** Has what the address of a database leaves open. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /**
   * For a database and the mode `write`: returns the lease that this process has on a workspace; each transaction checks its token. Absent: no
   * lease is needed, for a copy.
   */
  readonly fence?: Fence
}

/** The result of `ledger check`. */
export interface LedgerReport {
  readonly file: string
  /** False when there is no ledger (yet), which reads as an empty one. */
  readonly exists: boolean
  readonly schemaVersion: number
  /** One sentence for each fault; empty when the ledger is whole. */
  readonly problems: readonly string[]
  /** What was not checked. */
  readonly note?: string
}

/** Facts about a database server for `doctor`. */
export interface ServerReport {
  /** Such as 15.8. */
  readonly version: string
  readonly versionNumber: number
  /** Rights that this user lacks for the ledger. */
  readonly missingRights: readonly string[]
  /** The median of several round trips. */
  readonly latencyMs: number
  /** The server's clock minus ours. */
  readonly clockSkewMs: number
  readonly isStandby: boolean
  readonly isEncrypted: boolean
}

/** The open ledger. Every method rejects with a `LedgerError` when its database fails. */
export interface LedgerStore {
  /** The name of the ledger in messages: a path, or an address without its secrets. */
  readonly file: string
  /** False when there is no ledger (yet), which reads as an empty one. */
  readonly exists: boolean
  /**
   * The ledger of one workspace, loaded. `baseUrl` is the identity of its service; without it the current binding is used, for commands that
   * need no service. Rejects with LEDGER_BOUND when it is bound to another service, unless `rebind` sets those records aside.
   */
  workspace(name: string, baseUrl: string | undefined, options?: { readonly rebind?: boolean }): Promise<Ledger>
  /** All bindings by name; those that a rebinding set aside have `current` false. */
  workspaces(): Promise<readonly Omit<Binding, 'id'>[]>
  /** The pauses in force, by workspace. */
  pauses(now: Instant): Promise<ReadonlyMap<string, Pause>>
  /** The learned pace of each of these workspaces, by key name; one that cannot be read is left out. */
  paces(workspaces: ReadonlySet<string>): Promise<ReadonlyMap<string, LedgerFacts['pace']>>
  /** Commits a write that changes nothing; rejects when no record could be made now. */
  probe(): Promise<void>
  /** Deletes history and use older than 400 days; resolves with the number of deleted rows. */
  prune(now: Instant): Promise<number>
  /** Checks every page and every row. Damage is reported, and does not reject. */
  check(): Promise<LedgerReport>
  /** Writes a consistent copy to a file that does not exist yet. Rejects with LEDGER_BACKUP. */
  backup(target: string): Promise<void>
  /** Whether a process that writes caps holds the workspace now; undefined where that cannot be told. */
  isHeld(workspace: string): Promise<boolean | undefined>
  /** The leases of workspaces, for a ledger that several processes write. */
  readonly leases?: LeaseTable
  /** For a ledger on a server. */
  server?(): Promise<ServerReport>
  /** For a ledger in memory: a copy of its present state, which another thread can open to read. */
  share?: LedgerDatabase['share']
  /** This ledger as one end of a copy. Rejects with LEDGER_LOCKED while a replica holds one of its workspaces. */
  copyEnd(): Promise<CopyEnd>
  /** Frees the lock, and closes the file or the connections. A second call does nothing. */
  close(): Promise<void>
}

export interface StoreParts {
  readonly mode: LedgerMode
  readonly clock: Clock
  readonly exists: boolean
}

/** What a store does by SQL alone. */
export function storeOn(database: SqlDatabase, { mode, clock, exists }: StoreParts) {
  const { name: file, ask } = database
  return {
    ...{ file, exists },
    async workspace(name, baseUrl, { rebind = false } = {}) {
      const binding = await bind(database, name, baseUrl, { mode, now: clock.now(), rebind })
      const rowsOf = (id: number) => workspaceRows(database, { workspace: name, binding: id })
      const setAside = async () => (await bindings(database, name)).flatMap(({ id }) => (id === binding ? [] : [rowsOf(id)]))
      return workspaceLedger({ rows: rowsOf(binding), clock, isKeeper: mode === 'write', setAside })
    },
    workspaces: async () => (await bindings(database)).map(({ id: _, ...binding }) => binding),
    async pauses(now) {
      const rows = await ask({ sql: 'SELECT id, workspace, data FROM @pause' })
      const pauses = rows.map((row) => [textKept(row['workspace']), readRow(file, 'pause', dataRow(row))] as const)
      return new Map(pauses.filter(([, { untilAt }]) => untilAt > now))
    },
    async paces(workspaces) {
      const sql =
        "SELECT fact.id, workspace, data FROM @fact JOIN @binding ON binding.id = fact.binding WHERE binding.current AND name = 'pace'"
      const rows = (await ask({ sql })).map((row) => ({ ...dataRow(row), workspace: textKept(row['workspace']) }))
      const kept = rows.filter(({ workspace }) => workspaces.has(workspace))
      // A pace can be learned again.
      return new Map(kept.flatMap((row) => orNothing(() => [[row.workspace, readFact(file, 'pace', row)] as const]) ?? []))
    },
    prune: (now) => prune(database, now),
  } satisfies Partial<LedgerStore>
}
