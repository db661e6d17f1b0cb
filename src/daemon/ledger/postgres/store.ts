// A ledger in PostgreSQL, with the same modes as a ledger in a file. In place of SQLite's file lock, `run` and `apply` hold a lock or a lease
// on each workspace.
import { DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { Clock } from '../../../ports.ts'
import type { Binding, LedgerMode } from '../adapter.ts'
import { LedgerError } from '../error.ts'
import { HISTORY_DAYS, MAX_PROBLEMS, TABLES } from '../sqlite/care.ts'
import type { BindingReport, LedgerReport, LedgerStore, ServerReport } from '../store.ts'
import type { Decode } from '../values/decode.ts'
import { pacesIn, pausesIn, readRow } from '../values/rows.ts'
import { workspaceLedger } from '../workspace.ts'
import { bind, bindings } from './binding.ts'
import { postgresCopy } from './copy.ts'
import { openPostgres, type PostgresDatabase, type Query } from './database.ts'
import { keptText, textKept } from './error.ts'
import { postgresLeases } from './leases.ts'
import { postgresRows } from './rows/rows.ts'
import { pruneUse } from './rows/use.ts'
import { migratePostgres, POSTGRES_VERSION, postgresVersion, VERSION_SQL } from './schema.ts'
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

// Describes the server of a ledger for `doctor`: version, missing rights, latency and clock. It only reads.

const ROUND_TRIPS = 5

async function serverReport(database: PostgresDatabase, clock: Pick<Clock, 'now' | 'monotonic'>): Promise<ServerReport> {
  const session = await database.session()
  try {
    const { query } = session
    const [server] = await query(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
         pg_is_in_recovery() AS standby, coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS tls`,
    )
    const times: { readonly tookMs: number; readonly skewMs: number }[] = []
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1) times.push(await roundTrip(query, clock))
    // The fastest answer gives the best estimate of the clock, the median the latency.
    const [fastest, , middle] = times.toSorted((a, b) => a.tookMs - b.tookMs)
    return {
      version: String(server?.['version']),
      versionNumber: Number(server?.['number']),
      isStandby: server?.['standby'] === true,
      isEncrypted: server?.['tls'] === true,
      latencyMs: middle?.tookMs ?? 0,
      clockSkewMs: Math.round(fastest?.skewMs ?? 0),
      missingRights: await missingRights(query),
    }
  } finally {
    session.release()
  }
}

async function roundTrip(query: Query, clock: Pick<Clock, 'now' | 'monotonic'>) {
  const [sentAt, began] = [clock.now(), clock.monotonic()]
  const [row] = await query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')
  const tookMs = clock.monotonic() - began
  return { tookMs, skewMs: Number(row?.['now']) - (sentAt + tookMs / 2) }
}

async function missingRights(query: Query): Promise<readonly string[]> {
  const rows = await query(
    `SELECT nspname || '.' || relname AS name, privilege FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
     WHERE nspname = 'capkeeper' AND relkind = 'r' AND NOT has_table_privilege(pg_class.oid, privilege) ORDER BY 1, 2`,
  )
  if (rows.length > 0) return rows.map((row) => `${String(row['privilege'])} on ${String(row['name'])}`)
  const [schema] = await query(
    `SELECT to_regnamespace('capkeeper') IS NOT NULL AS there, has_database_privilege(current_database(), 'CREATE') AS may,
       coalesce(has_schema_privilege(to_regnamespace('capkeeper'), 'USAGE'), true) AS enters`,
  )
  if (schema?.['there'] !== true && schema?.['may'] !== true) return ['CREATE on the database, to make the schema capkeeper']
  return schema?.['enters'] === false ? ['USAGE on the schema capkeeper'] : []
}

// Maintains a ledger in PostgreSQL: checks that each row can be read, and deletes old history. Pages, backups and standbys are left to the
// database.

/** Rows in one query. */
const AT_A_TIME = 5_000

/** Checks every row. Damage is reported, and does not reject. */
async function checkPostgres(database: PostgresDatabase): Promise<LedgerReport> {
  const problems: string[] = []
  for (const [table, decode] of TABLES) await checkRows(database, table, decode, problems)
  const workspaces: BindingReport[] = []
  for (const binding of await bindings(database.query)) workspaces.push(await countRows(database, binding))
  return {
    file: database.name,
    exists: true,
    schemaVersion: await postgresVersion(database.query, database.name),
    problems,
    workspaces,
    note: 'each row was read; checking the pages is left to PostgreSQL (data checksums, pg_amcheck)',
  }
}

async function checkRows(database: PostgresDatabase, table: string, decode: Decode<unknown>, problems: string[]): Promise<void> {
  const data = table === 'fact' ? "'[' || to_json(name)::text || ',' || data || ']'" : 'data'
  const sql = `SELECT id, ${data} AS data FROM capkeeper.${table} WHERE id > $1 ORDER BY id LIMIT ${AT_A_TIME}`
  let after = 0
  for (;;) {
    const rows = await database.query(sql, [after])
    for (const row of rows) {
      after = Number(row['id'])
      try {
        readRow(database.name, table, row, decode)
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error
        if (problems.length < MAX_PROBLEMS) problems.push(error.message)
      }
    }
    if (rows.length < AT_A_TIME) return
  }
}

async function countRows({ query }: PostgresDatabase, { id, ...binding }: Binding): Promise<BindingReport> {
  const tables = ['owned', 'intent', 'history', 'approval', 'quarantine']
  const counts = tables.map((table) => `(SELECT count(*) FROM capkeeper.${table} WHERE binding = $1) AS ${table}`)
  const [row] = await query(`SELECT ${counts.join(', ')}`, [id])
  return {
    ...binding,
    owned: Number(row?.['owned']),
    openIntents: Number(row?.['intent']),
    history: Number(row?.['history']),
    approvals: Number(row?.['approval']),
    quarantined: Number(row?.['quarantine']),
  }
}

/** Deletes history and use older than 400 days. Resolves with the number of deleted rows. */
function prunePostgres(database: PostgresDatabase, now: Instant): Promise<number> {
  const before = now - HISTORY_DAYS * DAY_MS
  return database.transaction(async (query) => {
    const sql = 'WITH gone AS (DELETE FROM capkeeper.history WHERE at < $1 RETURNING 1) SELECT count(*) AS n FROM gone'
    const [gone] = await query(sql, [before])
    return Number(gone?.['n']) + (await pruneUse(query, before))
  }, VERSION_SQL)
}
