// The schema of a ledger in PostgreSQL: its version, and how it is made, in one transaction by one process at a time. A newer version, or a
// schema of another program, is never changed.
import { LedgerError } from '../error.ts'
import { mustBePresent, SCHEMA_VERSION, scriptOf } from '../sql/tables.ts'
import type { PostgresDatabase, Query } from './database.ts'
import { TYPES } from './single.ts'
import { SQL } from './statements.generated.ts'

/** "capk": held while the schema is made. */
const MAKING_LOCK = 0x6361706b

/** 0 where there is no ledger yet. Rejects with LEDGER_FOREIGN or LEDGER_NEWER. */
export async function postgresVersion(query: Query, name: string): Promise<number> {
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
