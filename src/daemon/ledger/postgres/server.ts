// Describes the server of a ledger for `doctor`: version, missing rights, latency and clock. It only reads.
import type { Clock } from '../../../ports.ts'
import type { ServerReport } from '../store.ts'
import type { PostgresDatabase, Query } from './database.ts'

const ROUND_TRIPS = 5

export async function serverReport(database: PostgresDatabase, clock: Pick<Clock, 'now' | 'monotonic'>): Promise<ServerReport> {
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
