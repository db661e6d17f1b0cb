// A ledger in PostgreSQL, with the same modes as a ledger in a file: its bindings, its end of a copy, its check, and what `doctor` asks of the
// server. In place of SQLite's file lock, `run` and `apply` hold a lock or a lease on each workspace.
import { DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { Clock } from '../../../ports.ts'
import { type Binding, type BindOptions, chosen, type LedgerMode, NO_BINDING } from '../adapter.ts'
import { LedgerError } from '../error.ts'
import { HISTORY_DAYS, MAX_PROBLEMS, TABLES } from '../sqlite/care.ts'
import {
  type BindingReport,
  COPY_TABLES,
  type CopyEnd,
  type CopyReader,
  type CopyRow,
  type CopyTable,
  type CopyWriter,
  columnNames,
  type LedgerReport,
  type LedgerStore,
  type ServerReport,
} from '../store.ts'
import type { Decode } from '../values/decode.ts'
import { pacesIn, pausesIn, readRow } from '../values/rows.ts'
import { workspaceLedger } from '../workspace.ts'
import { openPostgres, type PostgresDatabase, type Query, type Row } from './database.ts'
import { keptText, textKept } from './error.ts'
import { postgresLeases } from './leases.ts'
import { postgresRows } from './rows/rows.ts'
import { pruneUse } from './rows/use.ts'
import { migratePostgres, POSTGRES_VERSION, postgresVersion, VERSION_SQL } from './schema.ts'
import { type Fence, fencedWriter, freeWriter, lockingWriter, noWriter, readOnly, type Writer } from './writer.ts'

const ROWS_AT_ONCE = 1_000

export const postgresCopy = (database: PostgresDatabase): CopyEnd => ({
  name: database.name,
  async count() {
    const counts = COPY_TABLES.map(({ name }) => `(SELECT count(*) FROM capkeeper.${name})`)
    const [row] = await database.query(`SELECT ${counts.join(' + ')} AS n`)
    return Number(row?.['n'])
  },
  read: (body) => database.transaction((query) => body(reader(query)), 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY'),
  fill: (body) => database.transaction((query) => body(writer(query))),
})

const reader = (query: Query): CopyReader => ({
  async *rows(table) {
    await query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${columnNames(table)} FROM capkeeper.${table.name}`)
    for (;;) {
      const rows = await query(`FETCH ${ROWS_AT_ONCE} FROM copied`)
      if (rows.length > 0) yield rows.map((row) => rowOf(table, row))
      if (rows.length < ROWS_AT_ONCE) break
    }
    await query('CLOSE copied')
  },
  async lastIntent() {
    const [row] = await query('SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM capkeeper.intent_id_seq')
    return Number(row?.['last'])
  },
})

const rowOf = ({ columns }: CopyTable, row: Row): CopyRow =>
  columns.map(([name, kind]) => {
    const kept = row[name]
    if (kept === null) return null
    if (kind === 'number') return Number(kept)
    if (kind === 'flag') return kept === true
    return kind === 'key' ? textKept(kept) : String(kept)
  })

/** Instants may have fractions of a millisecond. */
const typeOf = (name: string, kind: CopyTable['columns'][number][1]): string => {
  if (kind === 'flag') return 'boolean'
  if (kind !== 'number') return 'text'
  return name === 'at' || name === 'bound_at' ? 'double precision' : 'bigint'
}

const writer = (query: Query): CopyWriter => ({
  ...reader(query),
  async put(table, rows) {
    const lists = table.columns.map(([name, kind], index) => `$${index + 1}::${typeOf(name, kind)}[]`)
    const values = table.columns.map(([, kind], index) =>
      rows.map((row) => {
        const value = row[index] ?? null
        if (typeof value === 'boolean') return String(value)
        return kind === 'key' && value !== null ? keptText(String(value)) : value
      }),
    )
    await query(`INSERT INTO capkeeper.${table.name} (${columnNames(table)}) SELECT * FROM unnest(${lists.join(', ')})`, values)
  },
  async goOnAfter(lastIntent) {
    for (const { name, columns } of COPY_TABLES) {
      if (!columns.some(([column]) => column === 'id')) continue
      const least = name === 'intent' ? lastIntent : 0
      await query(
        `SELECT setval(pg_get_serial_sequence('capkeeper.${name}', 'id'), greatest(1, $1::bigint, (SELECT max(id) FROM capkeeper.${name})),
           greatest($1::bigint, (SELECT max(id) FROM capkeeper.${name})) > 0)`,
        [least],
      )
    }
  },
})

/** All bindings, or those of one workspace, by name, the current one of a name first. */
export async function bindings(query: Query, only?: string): Promise<readonly Binding[]> {
  // Filtered, because all bindings for each of a thousand workspaces would be a million rows.
  const rows = await query(
    `SELECT * FROM capkeeper.binding WHERE $1::text IS NULL OR workspace = $1 ORDER BY workspace, current DESC, bound_at DESC, id`,
    [only === undefined ? null : keptText(only)],
  )
  return rows.map((row) => ({
    id: Number(row['id']),
    workspace: textKept(row['workspace']),
    baseUrl: textKept(row['base_url']),
    current: row['current'] === true,
    boundAt: Number(row['bound_at']),
  }))
}

/** The id of the binding to use; see `../adapter.ts`. Rejects with LEDGER_BOUND. */
export async function bind(
  database: PostgresDatabase,
  workspace: string,
  baseUrl: string | undefined,
  options: BindOptions,
): Promise<number> {
  const choose = async (query: Query): Promise<number | undefined> =>
    chosen({ all: await bindings(query, workspace), ledger: database.name }, workspace, baseUrl, options)
  const known = await choose(database.query)
  if (known !== undefined) return known
  if (options.mode === 'read') return NO_BINDING
  return database.transaction(async (query) => {
    await query('LOCK TABLE capkeeper.binding IN SHARE ROW EXCLUSIVE MODE')
    return (await choose(query)) ?? make(query, workspace, baseUrl, options)
  })
}

async function make(query: Query, workspace: string, baseUrl: string | undefined, { now }: BindOptions): Promise<number> {
  const url = keptText(baseUrl ?? '')
  const name = keptText(workspace)
  const [claimed] = await query("SELECT id FROM capkeeper.binding WHERE workspace = $1 AND base_url = '' AND current", [name])
  if (claimed) {
    await query('UPDATE capkeeper.binding SET base_url = $1, bound_at = $2 WHERE id = $3', [url, now, Number(claimed['id'])])
    return Number(claimed['id'])
  }
  await query('UPDATE capkeeper.binding SET current = false WHERE workspace = $1', [name])
  const [made] = await query(
    `INSERT INTO capkeeper.binding (workspace, base_url, bound_at, current) VALUES ($1, $2, $3, true)
     ON CONFLICT (workspace, base_url) DO UPDATE SET current = true, bound_at = excluded.bound_at RETURNING id`,
    [name, url, now],
  )
  return Number(made?.['id'])
}

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
