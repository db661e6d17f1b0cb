// The schema of a ledger in PostgreSQL: its version, and how it is made, in one transaction by one process at a time. A newer version, or a
// schema of another program, is never changed.
import { LedgerError } from '../error.ts'
import { mustBePresent, SCHEMA_VERSION, scriptOf } from '../sql/tables.ts'
import type { PostgresDatabase, Query } from './database.ts'
import { TYPES } from './single.ts'

/**
 * What replicas share: `lease` says which of them may write a workspace; `token` rises with each new holder, and `era` is the era of the server in
 * which it was given. `policy_seen` has all policy sets in the order of their arrival, `shown` the view that the holder shows of a workspace.
 */
const REPLICAS = `CREATE INDEX intent_binding ON capkeeper.intent (binding);

   CREATE TABLE capkeeper.lease (
     workspace TEXT COLLATE "C" PRIMARY KEY,
     holder TEXT,
     token BIGINT NOT NULL,
     until TIMESTAMPTZ NOT NULL,
     era TEXT NOT NULL DEFAULT '',
     config TEXT NOT NULL DEFAULT ''
   );
   CREATE INDEX lease_free ON capkeeper.lease (workspace) WHERE holder IS NULL;

   CREATE TABLE capkeeper.replica (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     spreads BOOLEAN NOT NULL,
     refuses TEXT[] NOT NULL,
     until TIMESTAMPTZ NOT NULL
   );

   CREATE TABLE capkeeper.era (
     single BOOLEAN PRIMARY KEY DEFAULT true CHECK (single),
     id TEXT NOT NULL,
     since TIMESTAMPTZ NOT NULL
   );

   CREATE TABLE capkeeper.policy_seen (
     workspace TEXT COLLATE "C" NOT NULL,
     policy TEXT NOT NULL,
     seen_at TIMESTAMPTZ NOT NULL,
     PRIMARY KEY (workspace, policy)
   );

   CREATE TABLE capkeeper.replica_policy (
     replica TEXT NOT NULL REFERENCES capkeeper.replica ON DELETE CASCADE,
     workspace TEXT COLLATE "C" NOT NULL,
     policy TEXT NOT NULL,
     since TIMESTAMPTZ NOT NULL,
     PRIMARY KEY (replica, workspace)
   );

   CREATE TABLE capkeeper.replica_config (
     replica TEXT NOT NULL,
     workspace TEXT COLLATE "C" NOT NULL,
     config TEXT NOT NULL,
     PRIMARY KEY (replica, workspace)
   );

   CREATE TABLE capkeeper.shown (
     workspace TEXT COLLATE "C" PRIMARY KEY,
     document TEXT NOT NULL,
     saved_at TIMESTAMPTZ NOT NULL
   );

   CREATE TABLE capkeeper.common (
     name TEXT PRIMARY KEY,
     data TEXT NOT NULL
   )`

/** "capk": held while the schema is made. */
const MAKING_LOCK = 0x6361706b

/** Read at the beginning of each transaction that writes: a replica that is older than the schema must write nothing. */
export const VERSION_SQL = 'SELECT version FROM capkeeper.schema_version'

/** 0 where there is no ledger yet. Rejects with LEDGER_FOREIGN or LEDGER_NEWER. */
export async function postgresVersion(query: Query, name: string): Promise<number> {
  const [found] = await query(
    `SELECT to_regclass('capkeeper.schema_version') IS NOT NULL AS ours, EXISTS (
       SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'capkeeper'
     ) AS used`,
  )
  if (found?.['ours'] !== true && found?.['used'] === true) {
    throw new LedgerError('LEDGER_FOREIGN', `${name}: the schema capkeeper holds tables of another program; name another database`)
  }
  if (found?.['ours'] !== true) return 0
  const version = Number((await query(VERSION_SQL))[0]?.['version'] ?? 0)
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
    await query(`${scriptOf(TYPES)}; ${REPLICAS}`)
  })
}
