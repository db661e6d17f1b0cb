// What a simulated life needs of a ledger in either database: rows for a process that writes, notes beside it, and the data on the disk.
import type { WorkspaceRows } from '../../../../src/daemon/ledger/sql/bindings.ts'
import type { Clock, Ledger } from '../../../../src/ports.ts'
import type { Disk } from '../disk.ts'

export interface SimLedger {
  /** For the one process that writes; rejects with LEDGER_LOCKED while another one has the lock. */
  open(clock: Clock): Promise<OpenLedger>
  /** The data on the disk now; a ledger was opened before. */
  disk(): Disk
  /** For a short command beside the daemon. */
  withNotes(clock: Clock, act: (ledger: Ledger) => Promise<void>): Promise<void>
  /** Real work is under way: simulated time must not pass. */
  isBusy(): boolean
  close(): Promise<void>
}

export interface OpenLedger {
  rows(workspace: string, baseUrl: string): Promise<WorkspaceRows>
  /** Frees the lock, even during a transaction. */
  close(): void
}
