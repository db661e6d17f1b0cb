// Maintains a ledger in PostgreSQL: checks that each row can be read, and deletes old history. Pages, backups and standbys are left to the
// database.
import { DAY_MS, type Instant } from '../../../core/model/units.ts'
import type { Binding } from '../binding.ts'
import { LedgerError } from '../error.ts'
import { HISTORY_DAYS, MAX_PROBLEMS, TABLES } from '../sqlite/care.ts'
import type { BindingReport, LedgerReport } from '../store.ts'
import type { Decode } from '../values/decode.ts'
import { readRow } from '../values/rows.ts'
import { bindings } from './binding.ts'
import type { PostgresDatabase } from './database.ts'
import { pruneUse } from './rows/use.ts'
import { postgresVersion, VERSION_SQL } from './schema.ts'

/** Rows in one query. */
const AT_A_TIME = 5_000

/** Checks every row. Damage is reported, and does not reject. */
export async function checkPostgres(database: PostgresDatabase): Promise<LedgerReport> {
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
export function prunePostgres(database: PostgresDatabase, now: Instant): Promise<number> {
  const before = now - HISTORY_DAYS * DAY_MS
  return database.transaction(async (query) => {
    const sql = 'WITH gone AS (DELETE FROM capkeeper.history WHERE at < $1 RETURNING 1) SELECT count(*) AS n FROM gone'
    const [gone] = await query(sql, [before])
    return Number(gone?.['n']) + (await pruneUse(query, before))
  }, VERSION_SQL)
}
