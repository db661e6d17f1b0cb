// The ledger of a simulated life in a real PostgreSQL: simulated time stops while the server works. The data on its disk is read again
// after every transaction, because invariants may need it at any time.
import { inOrder } from '../../../../src/daemon/ledger/adapter.ts'
import { LedgerError } from '../../../../src/daemon/ledger/error.ts'
import { openLedger } from '../../../../src/daemon/ledger/ledger.ts'
import { openPostgres, type PostgresDatabase } from '../../../../src/daemon/ledger/postgres/database.ts'
import { ledgerIn, makePostgres } from '../../../../src/daemon/ledger/postgres/store.ts'
import { bind, bindings, type Snapshot, type WorkspaceRows, workspaceRows } from '../../../../src/daemon/ledger/sql/bindings.ts'
import { readRow } from '../../../../src/daemon/ledger/values/values.ts'
import { keptFacts } from '../../../../src/daemon/ledger/workspace.ts'
import type { Clock } from '../../../../src/ports.ts'
import { realClock } from '../../../support/real-clock.ts'
import { within } from '../crash.ts'
import { contentOf, type Disk } from '../disk.ts'
import type { SimLedger } from './kind.ts'

interface State {
  readonly database: PostgresDatabase
  readonly workspace: string
  busy: number
  snapshot: Snapshot | undefined
  pauseData: unknown
  /** A process has the ledger open, as by a lease. */
  isHeld: boolean
  /** Resolves when the last process of it writes no more. */
  freed: Promise<void>
}

/** `address`: an empty database that this life alone uses. */
export function postgresLedger(address: string, workspace: string): SimLedger {
  const handle = (): PostgresDatabase => openPostgres({ address, env: {}, clock: realClock() })
  const state: State = {
    database: handle(),
    workspace,
    busy: 0,
    snapshot: undefined,
    pauseData: undefined,
    isHeld: false,
    freed: Promise.resolve(),
  }
  const real = async <T>(work: () => Promise<T>): Promise<T> => {
    state.busy += 1
    try {
      return await work()
    } finally {
      state.busy -= 1
    }
  }
  return {
    async open(clock: Clock) {
      if (state.isHeld) throw new LedgerError('LEDGER_LOCKED', `${workspace} is held by another process`)
      state.isHeld = true
      const database = handle()
      const tables = ledgerIn(database, { mode: 'write' })
      const close = (): void => {
        state.isHeld = false
        state.freed = real(() => database.close())
      }
      try {
        await real(() => state.freed)
        await real(() => makePostgres(database))
      } catch (error) {
        close()
        throw error
      }
      return {
        rows: (name, baseUrl) =>
          real(async () => {
            const binding = await bind(tables, name, baseUrl, { mode: 'write', now: clock.now(), rebind: false })
            await refresh(state)
            return watched(workspaceRows(tables, { workspace: name, binding }), state, real)
          }),
        close,
      }
    },
    disk: () => diskOf(state),
    withNotes: (clock, act) =>
      real(async () => {
        const store = await openLedger({ file: address, mode: 'note', clock, env: {} })
        try {
          await act(await store.workspace(workspace, undefined))
        } finally {
          await store.close()
          await refresh(state)
        }
      }),
    isBusy: () => state.busy > 0,
    close: () => state.database.close(),
  }
}

async function refresh(state: State): Promise<void> {
  const { database, workspace } = state
  const tables = ledgerIn(database, { mode: 'read' })
  const binding = (await bindings(tables, workspace)).find((one) => one.current)?.id ?? 0
  const rows = workspaceRows(tables, { workspace, binding })
  state.snapshot = await rows.read(Number.MAX_SAFE_INTEGER)
  state.pauseData = (await rows.pause())?.data
}

type Real = <T>(work: () => Promise<T>) => Promise<T>

/** Each transaction and the data on the disk after it, in order. */
function watched(rows: WorkspaceRows, state: State, real: Real): WorkspaceRows {
  const run = inOrder()
  return {
    name: rows.name,
    ...within({ isCurrent: rows.isCurrent, read: rows.read, history: rows.history, pause: rows.pause, knownDays: rows.knownDays }, real),
    use: within(rows.use, real),
    write: (changes) =>
      real(() =>
        run(async () => {
          const opened = await rows.write(changes)
          await refresh(state)
          return opened
        }),
      ),
  }
}

function diskOf({ snapshot, pauseData, database: { name } }: State): Disk {
  const tables = snapshot?.tables ?? { owned: [], approval: [], quarantine: [], fact: [] }
  return {
    ...contentOf(name, tables, snapshot?.intents ?? []),
    fact(named) {
      const kept = keptFacts(name)
      kept.replace(tables.fact)
      return kept.value(named)
    },
    pause(now) {
      const kept = pauseData === undefined ? undefined : readRow(name, 'pause', { id: 0, data: pauseData })
      return kept && kept.untilAt > now ? kept : undefined
    },
  }
}
