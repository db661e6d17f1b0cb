// A ledger in PostgreSQL, with the same modes as a ledger in a file: its records, its end of a copy, and what `doctor` asks of the server. In
// place of SQLite's file lock, `run` and `apply` hold a lease on each workspace: each transaction checks its token and locks its row, so that
// a replica that lost the lease writes nothing.
import { BugError } from '../../../core/model/problem.ts'
import type { Clock } from '../../../ports.ts'
import { heldBy, LedgerError } from '../error.ts'
import { bindings } from '../sql/bindings.ts'
import { checkRows } from '../sql/care.ts'
import { recording, statementsOf, unbound } from '../sql/changes.ts'
import type { CopyEnd } from '../sql/copy.ts'
import { type Change, carriedOutBy, keptText, type SqlDatabase, type Steps } from '../sql/statement.ts'
import { mustBePresent, SCHEMA_VERSION, scriptOf, TABLES } from '../sql/tables.ts'
import { type LedgerOptions, type LedgerStore, type ServerReport, storeOn } from '../store.ts'
import { openPostgres, type PostgresDatabase, type Query } from './database.ts'
import { postgresLeases } from './leases.ts'
import { asking, recordedBy, singleOf, TYPES } from './single.ts'
import { SQL } from './statements.generated.ts'

/**
 * A ledger in PostgreSQL as a database that every ledger can use. With a fence each record needs the lease, which may be taken later: until then
 * it is refused. Without one it needs none, for commands that note something beside a running daemon.
 */
export function ledgerIn(database: PostgresDatabase, { mode, fence }: Pick<LedgerOptions, 'mode' | 'fence'>): SqlDatabase {
  const { name, query } = database
  /** Rejects when the schema has become newer meanwhile. */
  const versioned = <T>(body: (query: Query) => Promise<T>): Promise<T> =>
    database.transaction((own, [found]) => {
      mustBePresent(Number(found?.['version']), name)
      return body(own)
    }, SQL.version)
  return {
    name,
    ask: asking(query),
    transaction: (steps, isAlone) => versioned((own) => carriedOutBy(isAlone ? alone(steps) : steps(), asking(own))),
    async record(place, changes) {
      if (mode === 'read') throw readOnly(database)
      const { workspace } = place
      const under = fence?.(workspace)
      const refused = () => (fence ? fenced : unbound)(name, workspace)
      if (fence && !under) throw refused()
      const all = changes.flatMap((change) => [...statementsOf(change, place), ...(change.kind === 'forget' ? [notShown(workspace)] : [])])
      const single = singleOf(place, all, under)
      if (single) return recordedBy(await database.once(...single), all, name, refused)
      return versioned(async (own) => {
        if (under && (await own(SQL.holds, [keptText(workspace), under.replica, under.token])).length === 0) throw refused()
        return carriedOutBy(recording(place, all, name), asking(own))
      })
    },
  }
}

const readOnly = ({ name }: PostgresDatabase): BugError =>
  new BugError(`${name} was opened for reading, and something wants to write to it`)

const fenced = (name: string, workspace: string): LedgerError =>
  new LedgerError(
    'LEDGER_FENCED',
    `${name}: another replica holds ${workspace} now, so nothing was recorded; this replica continues when it holds it again`,
  )

function* alone<T>(steps: () => Steps<T>): Steps<T> {
  yield { sql: 'LOCK TABLE @binding IN SHARE ROW EXCLUSIVE MODE' }
  return yield* steps()
}

/** The holder of the workspace saves what it shows again, without the person. */
const notShown = (workspace: string): Change => ({ sql: 'DELETE FROM @shown WHERE workspace = ?1', values: [keptText(workspace)] })

const copyOf = ({ name, transaction, query: ask }: PostgresDatabase, ledger: Parameters<typeof bindings>[0]): CopyEnd => ({
  name,
  async mustBeFree() {
    for (const { workspace } of await bindings(ledger)) {
      const [held] = await ask(SQL.holder, [keptText(workspace)])
      if (held) throw heldBy(name, workspace, String(held['holder']))
    }
  },
  read: (body) => transaction((query) => body(asking(query)), 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY'),
  fill: (body) => transaction((query) => body(asking(query))),
  lastIntent: { sql: 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM capkeeper.intent_id_seq' },
  goOnAfter: (lastIntent) =>
    TABLES.filter(({ columns }) => columns.includes('id')).map(({ name: table }) => ({
      sql: `SELECT setval(pg_get_serial_sequence('capkeeper.${table}', 'id'), greatest(1, $1::bigint, (SELECT max(id) FROM capkeeper.${table})),
        greatest($1::bigint, (SELECT max(id) FROM capkeeper.${table})) > 0)`,
      values: [table === 'intent' ? lastIntent : 0],
    })),
})

/** Undefined when there is no ledger yet and the mode is `read`. Rejects with a `LedgerError`. */
export async function openPostgresStore(options: LedgerOptions): Promise<LedgerStore | undefined> {
  const { file: address, env, clock, mode } = options
  const database = openPostgres({ address, env, clock })
  try {
    if (mode !== 'read') await makePostgres(database)
    const version = await postgresVersion(database.query, database.name)
    if (version === 0) {
      await database.close()
      return undefined
    }
    mustBePresent(version, database.name)
    return store(database, options)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The report about a server that has no ledger yet. */
export async function serverOf(address: string, clock: Clock, env: LedgerOptions['env']): Promise<ServerReport> {
  const database = openPostgres({ address, env, clock })
  await using opened = new AsyncDisposableStack()
  opened.defer(database.close)
  return await serverReport(database, clock)
}

export const noBackupHere = (name: string): LedgerError =>
  new LedgerError(
    'LEDGER_BACKUP',
    `${name} is in PostgreSQL: copy it with pg_dump --schema=capkeeper, or with the backups of your database`,
  )

function store(database: PostgresDatabase, options: LedgerOptions): LedgerStore {
  const { mode, clock } = options
  const ledger = ledgerIn(database, options)
  let closed: Promise<void> | undefined
  return {
    ...storeOn(ledger, { mode, clock, exists: true }),
    async probe() {
      if (mode === 'read') throw readOnly(database)
      await database.transaction((query) => query('UPDATE capkeeper.schema_version SET version = version'), SQL.version)
    },
    check: async () => ({
      ...{ file: database.name, exists: true, schemaVersion: SCHEMA_VERSION, problems: await checkRows(ledger) },
      note: 'each row was read; checking the pages is left to PostgreSQL (data checksums, pg_amcheck)',
    }),
    backup: () => Promise.reject(noBackupHere(database.name)),
    isHeld: async (workspace) => (await database.query(SQL.holder, [keptText(workspace)])).length > 0,
    async copyEnd() {
      const end = copyOf(database, ledger)
      await end.mustBeFree()
      return end
    },
    leases: postgresLeases(database),
    server: () => serverReport(database, clock),
    close() {
      closed ??= database.close()
      return closed
    },
  }
}

// The schema: its version, and how it is made, in one transaction by one process at a time. A newer version, or a schema of another program, is
// never changed.

/** "capk": held while the schema is made. */
const MAKING_LOCK = 0x6361706b

/** 0 where there is no ledger yet. Rejects with LEDGER_FOREIGN or LEDGER_NEWER. */
async function postgresVersion(query: Query, name: string): Promise<number> {
  const [found] = await query(SQL.present)
  if (found?.['ours'] !== true && found?.['used'] === true) {
    throw new LedgerError('LEDGER_FOREIGN', `${name}: the schema capkeeper holds tables of another program; name another database`)
  }
  if (found?.['ours'] !== true) return 0
  const version = Number((await query(SQL.version))[0]?.['version'] ?? 0)
  if (version > SCHEMA_VERSION) mustBePresent(version, name)
  return version
}

/** Makes the schema where there is none. One process does it, and the others wait. No earlier version was ever released. */
export async function makePostgres(database: PostgresDatabase): Promise<void> {
  if ((await postgresVersion(database.query, database.name)) === SCHEMA_VERSION) return
  await database.transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock($1)', [MAKING_LOCK])
    const version = await postgresVersion(query, database.name)
    if (version === SCHEMA_VERSION) return
    if (version !== 0) return mustBePresent(version, database.name)
    // An administrator may have made it for a user without the right to.
    const [known] = await query("SELECT to_regnamespace('capkeeper') IS NOT NULL AS there")
    if (known?.['there'] !== true) await query('CREATE SCHEMA capkeeper')
    await query('CREATE TABLE capkeeper.schema_version (single BOOLEAN PRIMARY KEY DEFAULT true CHECK (single), version INTEGER NOT NULL)')
    await query('INSERT INTO capkeeper.schema_version (version) VALUES ($1)', [SCHEMA_VERSION])
    await query(`${scriptOf(TYPES)}; ${SQL.replicas}`)
  })
}

// Describes the server of a ledger for `doctor`: version, missing rights, latency and clock. It only reads.

const ROUND_TRIPS = 5

const serverReport = (database: PostgresDatabase, clock: Pick<Clock, 'now' | 'monotonic'>): Promise<ServerReport> =>
  database.using(async ({ query }) => {
    const [server] = await query(SQL.server)
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
  })

async function roundTrip(query: Query, clock: Pick<Clock, 'now' | 'monotonic'>) {
  const [sentAt, began] = [clock.now(), clock.monotonic()]
  const [row] = await query(SQL.now)
  const tookMs = clock.monotonic() - began
  return { tookMs, skewMs: Number(row?.['now']) - (sentAt + tookMs / 2) }
}

async function missingRights(query: Query): Promise<readonly string[]> {
  const rows = await query(SQL.missingRights)
  if (rows.length > 0) return rows.map((row) => `${String(row['privilege'])} on ${String(row['name'])}`)
  const [schema] = await query(SQL.rightsInSchema)
  if (schema?.['there'] !== true && schema?.['may'] !== true) return ['CREATE on the database, to make the schema capkeeper']
  return schema?.['enters'] === false ? ['USAGE on the schema capkeeper'] : []
}
