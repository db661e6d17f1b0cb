// The interface of an open ledger in any database, and the copy of a whole ledger from one database to another, which is compared afterwards.

import { createHash } from 'node:crypto'
import type { Pause } from '../../core/model/change.ts'
import type { Instant } from '../../core/model/units.ts'
import type { LeaseTable, Ledger, LedgerFacts } from '../../ports.ts'
import type { Binding } from './adapter.ts'
import { LedgerError } from './error.ts'
import type { SharedCopy } from './sqlite/database.ts'

/** The type of a column; a `key` is a text that rows are searched by. */
type ColumnKind = 'number' | 'flag' | 'key' | 'data'

export interface CopyTable {
  readonly name: string
  readonly columns: readonly (readonly [name: string, kind: ColumnKind])[]
}

const ID = ['id', 'number'] as const
const BINDING = ['binding', 'number'] as const
const DATA = ['data', 'data'] as const

/** In an order in which each row comes after the rows that it refers to. */
export const COPY_TABLES: readonly CopyTable[] = [
  { name: 'binding', columns: [ID, ['workspace', 'key'], ['base_url', 'key'], ['bound_at', 'number'], ['current', 'flag']] },
  { name: 'owned', columns: [ID, BINDING, ['scope', 'key'], DATA] },
  { name: 'intent', columns: [ID, BINDING, DATA] },
  { name: 'history', columns: [ID, BINDING, ['at', 'number'], ['scope', 'key'], DATA] },
  { name: 'approval', columns: [ID, BINDING, ['hold', 'key'], DATA] },
  { name: 'quarantine', columns: [ID, BINDING, ['scope', 'key'], DATA] },
  { name: 'fact', columns: [ID, BINDING, ['name', 'key'], DATA] },
  { name: 'pause', columns: [ID, ['workspace', 'key'], DATA] },
  {
    name: 'run_use',
    columns: [BINDING, ['day', 'number'], ['scope', 'key'], ['model', 'key'], ['mode', 'key'], ['messages', 'number'], ['cents', 'number']],
  },
  { name: 'person', columns: [ID, BINDING, ['email', 'key'], ['highest', 'number'], ['last_day', 'number']] },
  { name: 'person_use', columns: [BINDING, ['day', 'number'], ['person', 'number'], ['cents', 'number'], ['told', 'flag']] },
  { name: 'known_days', columns: [ID, BINDING, ['email', 'key'], DATA] },
  {
    name: 'add_on_use',
    columns: [BINDING, ['day', 'number'], ['person', 'number'], ['model', 'key'], ['cents', 'number'], ['add_on_cents', 'number']],
  },
  { name: 'use_reading', columns: [BINDING, ['at', 'number'], ['cents', 'number']] },
]

export const columnNames = ({ columns }: CopyTable): string => columns.map(([name]) => name).join(', ')

/** The values of a row in the order of its table's columns. */
export type CopyRow = readonly (string | number | boolean | null)[]

export interface CopyReader {
  /** All rows of a table, in batches. */
  rows(table: CopyTable): AsyncIterable<readonly CopyRow[]>
  /** The highest id that an intent ever had; no later intent may have it. */
  lastIntent(): Promise<number>
}

export interface CopyWriter extends CopyReader {
  put(table: CopyTable, rows: readonly CopyRow[]): Promise<void>
  /** New ids start after the copied ones; ids of intents also after this one. */
  goOnAfter(lastIntent: number): Promise<void>
}

/** One end of a copy. The store holds every workspace until the copy ends. */
export interface CopyEnd {
  readonly name: string
  count(): Promise<number>
  /** Reads one state of the ledger, even if other processes write meanwhile. */
  read<T>(body: (reader: CopyReader) => Promise<T>): Promise<T>
  /** One transaction, rolled back when `body` rejects. */
  fill<T>(body: (writer: CopyWriter) => Promise<T>): Promise<T>
}

/** Resolves with the number of copied rows. Rejects with LEDGER_BACKUP, and leaves the target unchanged then. */
export async function copyLedger(from: CopyEnd, to: CopyEnd, onRows: (rows: readonly unknown[]) => void): Promise<number> {
  if ((await to.count()) > 0) throw notCopied(from, `${to.name} holds records already; name an empty ledger`)
  return from.read((reader) =>
    to.fill(async (writer) => {
      let copied = 0
      for (const table of COPY_TABLES) {
        const read = digest()
        for await (const rows of reader.rows(table)) {
          for (const row of rows) read.add(row)
          await writer.put(table, rows)
          copied += rows.length
          onRows(rows)
        }
        const written = digest()
        for await (const rows of writer.rows(table)) for (const row of rows) written.add(row)
        if (read.value() !== written.value()) {
          throw notCopied(from, `table ${table.name} read back differs from what was written to ${to.name}`)
        }
      }
      await writer.goOnAfter(await reader.lastIntent())
      return copied
    }),
  )
}

const notCopied = ({ name }: CopyEnd, why: string): LedgerError => new LedgerError('LEDGER_BACKUP', `no copy was made of ${name}: ${why}`)

/** A digest that does not depend on the order of rows, because databases sort texts differently. */
function digest() {
  let sum = 0n
  let count = 0
  return {
    add(row: CopyRow): void {
      sum += BigInt(`0x${createHash('sha256').update(JSON.stringify(row)).digest('hex')}`)
      count += 1
    },
    value: (): string => `${count} ${sum}`,
  }
}

/** How many records one workspace has at one address. */
export interface BindingReport extends Omit<Binding, 'id'> {
  readonly owned: number
  readonly openIntents: number
  readonly history: number
  readonly approvals: number
  readonly quarantined: number
}

/** The result of `ledger check`. */
export interface LedgerReport {
  readonly file: string
  /** False when there is no ledger (yet), which reads as an empty one. */
  readonly exists: boolean
  readonly schemaVersion: number
  /** One sentence for each fault; empty when the ledger is whole. */
  readonly problems: readonly string[]
  readonly workspaces: readonly BindingReport[]
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
  paces(workspaces: readonly string[]): Promise<ReadonlyMap<string, LedgerFacts['pace']>>
  /** Commits a write that changes nothing; rejects when no record could be made now. */
  probe(): Promise<void>
  /** Deletes history and use older than 400 days; resolves with the number of deleted rows. */
  prune(now: Instant): Promise<number>
  /** Checks every page and every row. Damage is reported, and does not reject. */
  check(): Promise<LedgerReport>
  /** Writes a consistent copy to a file that does not exist yet. Rejects with LEDGER_BACKUP. */
  backup(target: string): Promise<void>
  /** The leases of workspaces, for a ledger that several processes write. */
  readonly leases?: LeaseTable
  /** For a ledger on a server. */
  server?(): Promise<ServerReport>
  /** For a ledger in memory: a copy of its present state, which another thread can open to read. */
  share?(): Promise<SharedCopy>
  /** This ledger as one end of a copy. A ledger that is open for writing then holds all of its workspaces until it is closed. */
  copyEnd(): Promise<CopyEnd>
  /** Frees the lock, and closes the file or the connections. A second call does nothing. */
  close(): Promise<void>
}
