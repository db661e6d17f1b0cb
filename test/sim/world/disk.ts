// What the ledger's file holds, read beside the process that writes it: invariants judge what is on the disk, not what a process means to write.

import type { Pause } from '../../../src/core/model/change.ts'
import type { Instant } from '../../../src/core/model/units.ts'
import { bindings } from '../../../src/daemon/ledger/binding.ts'
import { factsKept } from '../../../src/daemon/ledger/facts-kept.ts'
import { keptRows } from '../../../src/daemon/ledger/kept-rows.ts'
import { type LedgerDatabase, openDatabase } from '../../../src/daemon/ledger/sqlite/database.ts'
import { pauseRow, readRows } from '../../../src/daemon/ledger/sqlite/rows.ts'
import { readRow } from '../../../src/daemon/ledger/values/rows.ts'
import { approval, intent, ownedCap, pause } from '../../../src/daemon/ledger/values/values.ts'
import type { RecordsReader } from '../../../src/ports.ts'

export interface Disk extends Pick<RecordsReader, 'owned' | 'openIntents' | 'approvals' | 'fact'> {
  pause(now: Instant): Pause | undefined
}

export interface OpenDisk extends Disk {
  close(): void
}

/** Opens the file for reading; it has to exist. */
export function openDisk(file: string, workspace: string): OpenDisk {
  const database: LedgerDatabase = openDatabase(file, { readOnly: true })
  const rows = () => {
    const binding = bindings(database).find((one) => one.workspace === workspace && one.current)
    return readRows(database, binding?.id ?? 0, Number.MAX_SAFE_INTEGER)
  }
  return {
    owned: () => rows().tables.owned.map((row) => readRow(file, 'owned', row, ownedCap)),
    approvals: () => rows().tables.approval.map((row) => readRow(file, 'approval', row, approval)),
    openIntents: () => rows().intents.map((row) => ({ id: row.id, ...readRow(file, 'intent', row, intent) })),
    fact(name) {
      const kept = keptRows(() => undefined)
      kept.replace(rows().tables.fact)
      return factsKept(file, kept)(name)
    },
    pause(now) {
      const row = pauseRow(database, workspace)
      const kept = row && readRow(file, 'pause', row, pause)
      return kept && kept.untilAt > now ? kept : undefined
    },
    close: () => database.close(),
  }
}
