// The ledger of a simulated life in a file of SQLite, in memory where the machine has such a folder. No call waits.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from '../../../../src/daemon/ledger/ledger.ts'
import { bindings, workspaceRows } from '../../../../src/daemon/ledger/sql/bindings.ts'
import { openDatabase } from '../../../../src/daemon/ledger/sqlite/database.ts'
import { sqliteDatabase } from '../../../../src/daemon/ledger/sqlite/file.ts'
import { type OpenDisk, openDisk } from '../disk.ts'
import type { SimLedger } from './kind.ts'

export function sqliteLedger(workspace: string): SimLedger {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'capkeeper-sim-'))
  const file = join(folder, 'capkeeper.db')
  let disk: OpenDisk | undefined
  return {
    async open(clock) {
      const store = await openLedger({ file, mode: 'write', clock })
      const database = openDatabase(file, { readOnly: false })
      const tables = sqliteDatabase(database)
      return {
        async rows(name, baseUrl) {
          await store.workspace(name, baseUrl)
          const binding = (await bindings(tables, name)).find((one) => one.current)?.id ?? 0
          return workspaceRows(tables, { workspace: name, binding })
        },
        close() {
          void store.close()
          database.close()
        },
      }
    },
    disk() {
      disk ??= openDisk(file, workspace)
      return disk
    },
    async withNotes(clock, act) {
      const store = await openLedger({ file, mode: 'note', clock })
      try {
        await act(await store.workspace(workspace, undefined))
      } finally {
        await store.close()
      }
    },
    isBusy: () => false,
    async close() {
      disk?.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
