// Reads the ledger's file beside the process that writes it: invariants judge the data on the disk, not what a process is about to write.

import type { Pause } from '../../../src/core/model/change.ts'
import type { Instant } from '../../../src/core/model/units.ts'
import { bindingOf, bindingsSql, pauseSql, presentSql, type Snapshot, snapshotOf } from '../../../src/daemon/ledger/sql/bindings.ts'
import { type LedgerDatabase, openDatabase } from '../../../src/daemon/ledger/sqlite/database.ts'
import { statementsIn } from '../../../src/daemon/ledger/sqlite/file.ts'
import { readRow } from '../../../src/daemon/ledger/values/values.ts'
import { keptFacts } from '../../../src/daemon/ledger/workspace.ts'
import type { RecordsReader } from '../../../src/ports.ts'

export interface Disk extends Pick<RecordsReader, 'owned' | 'openIntents' | 'approvals' | 'quarantined' | 'fact'> {
  pause(now: Instant): Pause | undefined
}

export interface OpenDisk extends Disk {
  close(): void
}

type DiskContent = Pick<Disk, 'owned' | 'openIntents' | 'approvals' | 'quarantined'>

/** Rows are decoded when their table is first read. */
export function contentOf(file: string, tables: Snapshot['tables'], intents: Snapshot['intents']): DiskContent {
  const { owned, approval: approvals, quarantine } = tables
  return {
    owned: once(() => owned.map((row) => readRow(file, 'owned', row))),
    approvals: once(() => approvals.map((row) => readRow(file, 'approval', row))),
    quarantined: once(() => quarantine.map((row) => readRow(file, 'quarantine', row))),
    openIntents: once(() => intents.map((row) => ({ id: row.id, ...readRow(file, 'intent', row) }))),
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Opens the file for reading; it has to exist. */
export function openDisk(file: string, workspace: string): OpenDisk {
  const database: LedgerDatabase = openDatabase(file, { readOnly: true })
  const run = statementsIn(database)
  const facts = keptFacts(file)
  let seen: { readonly version: unknown; readonly content: DiskContent } | undefined
  // Read again after any commit; SQLite counts commits by other connections, and this one never writes.
  const now = (): DiskContent => {
    const version = database.all('PRAGMA data_version')[0]?.['data_version']
    if (seen && seen.version === version) return seen.content
    const binding = run(bindingsSql(workspace))
      .map(bindingOf)
      .find((one) => one.current)
    const { tables, intents } = snapshotOf(run(presentSql(binding?.id ?? 0)), [])
    facts.replace(tables.fact)
    const content = contentOf(file, tables, intents)
    seen = { version, content }
    return content
  }
  return {
    owned: () => now().owned(),
    approvals: () => now().approvals(),
    openIntents: () => now().openIntents(),
    quarantined: () => now().quarantined(),
    fact(name) {
      now()
      return facts.value(name)
    },
    pause(now) {
      const [row] = run(pauseSql(workspace))
      const kept = row && readRow(file, 'pause', row)
      return kept && kept.untilAt > now ? kept : undefined
    },
    close: () => database.close(),
  }
}
