// A ledger in PostgreSQL, with the same modes as a ledger in a file. In place of SQLite's file lock, `run` and `apply` hold a lock or a lease
// on each workspace.
import type { Clock } from '../../../ports.ts'
import type { LedgerMode } from '../binding.ts'
import { LedgerError } from '../error.ts'
import type { LedgerStore, ServerReport } from '../store.ts'
import { pacesIn, pausesIn } from '../values/rows.ts'
import { workspaceLedger } from '../workspace.ts'
import { bind, bindings } from './binding.ts'
import { checkPostgres, prunePostgres } from './care.ts'
import { postgresCopy } from './copy.ts'
import { openPostgres, type PostgresDatabase } from './database.ts'
import { postgresLeases } from './leases.ts'
import { postgresRows } from './rows/rows.ts'
import { migratePostgres, POSTGRES_VERSION, postgresVersion, VERSION_SQL } from './schema.ts'
import { serverReport } from './server.ts'
import { keptText, textKept } from './text.ts'
import { type Fence, fencedWriter, freeWriter, lockingWriter, noWriter, readOnly, type Writer } from './writer.ts'

export interface PostgresStoreOptions {
  readonly address: string
  readonly mode: LedgerMode
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  /** In the mode `write`: checked in each transaction. Absent: the process takes a lock on each workspace that it opens. */
  readonly fence?: Fence
}

/** Undefined when there is no ledger yet and the mode is `read`. Rejects with a `LedgerError`. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<LedgerStore | undefined> {
  const { address, env, clock, mode } = options
  const database = openPostgres({ address, env, clock })
  try {
    if (mode !== 'read') await migratePostgres(database)
    const version = await postgresVersion(database.query, database.name)
    if (version === 0) {
      await database.close()
      return undefined
    }
    if (version < POSTGRES_VERSION) throw olderSchema(database.name, version)
    return store(database, options)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The report about a server that has no ledger yet. */
export async function serverOf(options: Pick<PostgresStoreOptions, 'address' | 'clock' | 'env'>): Promise<ServerReport> {
  const database = openPostgres(options)
  try {
    return await serverReport(database, options.clock)
  } finally {
    await database.close()
  }
}

export const noBackupHere = (name: string): LedgerError =>
  new LedgerError(
    'LEDGER_BACKUP',
    `${name} is in PostgreSQL: copy it with pg_dump --schema=capkeeper, or with the backups of your database`,
  )

const olderSchema = (name: string, version: number): LedgerError =>
  new LedgerError(
    'LEDGER_UNREADABLE',
    `${name} has schema version ${version}, and this capkeeper reads ${POSTGRES_VERSION}; start run or apply with it once, or use the older capkeeper`,
  )

function writerFor(database: PostgresDatabase, { mode, fence, clock }: PostgresStoreOptions): Writer {
  if (mode === 'read') return noWriter(database)
  if (mode === 'note') return freeWriter(database)
  return fence ? fencedWriter(database, fence) : lockingWriter(database, clock)
}

function store(database: PostgresDatabase, options: PostgresStoreOptions): LedgerStore {
  const { mode, clock } = options
  const writer = writerFor(database, options)
  let closed: Promise<void> | undefined
  return {
    file: database.name,
    exists: true,
    async workspace(name, baseUrl, { rebind = false } = {}) {
      // Before anything is changed, because the holder may use another address.
      if (mode === 'write') await writer.claim(name)
      const binding = await bind(database, name, baseUrl, { mode, now: clock.now(), rebind })
      const rowsOf = (id: number) => postgresRows({ database, writer, workspace: name, binding: id })
      const setAside = async () => (await bindings(database.query, name)).flatMap(({ id }) => (id === binding ? [] : [rowsOf(id)]))
      return workspaceLedger({ rows: rowsOf(binding), clock, isKeeper: mode === 'write', setAside })
    },
    workspaces: async () => (await bindings(database.query)).map(({ id: _, ...binding }) => binding),
    async pauses(now) {
      const rows = await database.query('SELECT id, workspace, data FROM capkeeper.pause')
      return pausesIn(
        database.name,
        rows.map((row) => ({ id: Number(row['id']), workspace: textKept(row['workspace']), data: row['data'] })),
        now,
      )
    },
    async paces(workspaces) {
      const rows = await database.query(
        `SELECT workspace, data FROM capkeeper.fact JOIN capkeeper.binding ON binding.id = fact.binding
         WHERE binding.current AND name = 'pace' AND workspace = ANY($1::text[])`,
        [workspaces.map(keptText)],
      )
      return pacesIn(rows.map((row) => ({ workspace: textKept(row['workspace']), data: row['data'] })))
    },
    async probe() {
      if (mode === 'read') throw readOnly(database)
      await database.transaction((query) => query('UPDATE capkeeper.schema_version SET version = version'), VERSION_SQL)
    },
    prune: (now) => prunePostgres(database, now),
    check: () => checkPostgres(database),
    backup: () => Promise.reject(noBackupHere(database.name)),
    async copyEnd() {
      for (const { workspace } of await bindings(database.query)) await writer.claim(workspace)
      return postgresCopy(database)
    },
    leases: postgresLeases(database),
    server: () => serverReport(database, clock),
    close() {
      writer.close()
      closed ??= database.close()
      return closed
    },
  }
}
