// What a simulated life needs of a ledger, whichever database it lies in: rows for a process that writes, notes beside it, and what lies on
// the disk.
import type { WorkspaceRows } from '../../../../src/daemon/ledger/adapter.ts'
import type { Clock, Ledger } from '../../../../src/ports.ts'
import type { Disk } from '../disk.ts'

export interface SimLedger {
  /** For the one process that writes; rejects with LEDGER_LOCKED while another one does. */
  open(clock: Clock): Promise<OpenLedger>
  /** What lies on the disk now; something was opened before. */
  disk(): Disk
  /** What a short command does beside the daemon. */
  withNotes(clock: Clock, act: (ledger: Ledger) => Promise<void>): Promise<void>
  /** Something is under way that takes real time: simulated time must not pass. */
  isBusy(): boolean
  close(): Promise<void>
}

export interface OpenLedger {
  rows(workspace: string, baseUrl: string): Promise<WorkspaceRows>
  /** Frees the lock, whatever is under way. */
  close(): void
}
