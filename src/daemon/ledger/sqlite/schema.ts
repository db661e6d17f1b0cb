// The schema of a ledger file: its owner, version and tables. A file of another program or of a newer capkeeper is never changed, and a
// ledger that cannot be read is never replaced by a new one. An empty file is a new ledger.

import { DATA_KEYS } from '../adapter.ts'
import { corrupt, LedgerError } from '../error.ts'
import type { LedgerDatabase } from './database.ts'

/** "capk": tells a ledger from other SQLite files (`PRAGMA application_id`). */
const APPLICATION_ID = 0x6361706b

const KEYED_TABLES = Object.entries(DATA_KEYS)
  .map(
    ([table, key]) => `CREATE TABLE ${table} (
    id INTEGER PRIMARY KEY,
    binding INTEGER NOT NULL REFERENCES binding,
    ${key} TEXT NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (binding, ${key})
  ) STRICT;`,
  )
  .join('\n\n  ')

/**
 * All records of a workspace refer to a binding: its name with a service's address. `data` is one value as JSON; the other columns are for
 * searching. Instants are milliseconds since the epoch.
 */
const SCHEMA = `
  CREATE TABLE binding (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    base_url TEXT NOT NULL,
    bound_at REAL NOT NULL,
    current INTEGER NOT NULL CHECK (current IN (0, 1)),
    UNIQUE (workspace, base_url)
  ) STRICT;
  CREATE UNIQUE INDEX binding_current ON binding (workspace) WHERE current = 1;

  ${KEYED_TABLES}

  CREATE TABLE intent (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    binding INTEGER NOT NULL REFERENCES binding,
    data TEXT NOT NULL
  ) STRICT;

  CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    binding INTEGER NOT NULL REFERENCES binding,
    at REAL NOT NULL,
    scope TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX history_at ON history (binding, at);
  CREATE INDEX history_scope ON history (binding, scope, at);

  CREATE TABLE pause (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL UNIQUE,
    data TEXT NOT NULL
  ) STRICT;

  -- Use. Days are counted from the epoch, amounts are cents (100 = 1 credit). Days come first in the keys, because rows are added at the end and
  -- deleted at the beginning. A day of a person is told by the service, or summed from readings. cents of runs is NULL where the plan shows no credits.
  CREATE TABLE run_use (
    binding INTEGER NOT NULL REFERENCES binding,
    day INTEGER NOT NULL,
    scope TEXT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    messages INTEGER NOT NULL,
    cents INTEGER,
    PRIMARY KEY (binding, day, scope, model, mode)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE person (
    id INTEGER PRIMARY KEY,
    binding INTEGER NOT NULL REFERENCES binding,
    email TEXT NOT NULL,
    highest INTEGER NOT NULL,
    last_day INTEGER NOT NULL,
    UNIQUE (binding, email)
  ) STRICT;

  CREATE TABLE person_use (
    binding INTEGER NOT NULL REFERENCES binding,
    day INTEGER NOT NULL,
    person INTEGER NOT NULL,
    cents INTEGER NOT NULL,
    told INTEGER NOT NULL CHECK (told IN (0, 1)),
    PRIMARY KEY (binding, day, person)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE use_reading (
    binding INTEGER NOT NULL REFERENCES binding,
    at REAL NOT NULL,
    cents INTEGER NOT NULL,
    PRIMARY KEY (binding, at)
  ) STRICT, WITHOUT ROWID;

  -- Add-on use as the service tells it.
  CREATE TABLE add_on_use (
    binding INTEGER NOT NULL REFERENCES binding,
    day INTEGER NOT NULL,
    person INTEGER NOT NULL,
    model TEXT NOT NULL,
    cents INTEGER NOT NULL,
    add_on_cents INTEGER NOT NULL,
    PRIMARY KEY (binding, day, person, model)
  ) STRICT, WITHOUT ROWID;
`

/** The version that this capkeeper reads and writes (`PRAGMA user_version`); none before it was ever released. */
const SCHEMA_VERSION = 4

/** 0 for an empty database. Throws LEDGER_FOREIGN or LEDGER_NEWER, and LEDGER_CORRUPT when it is no database at all. */
export function schemaVersion(database: LedgerDatabase): number {
  const owner = pragma(database, 'application_id')
  const version = pragma(database, 'user_version')
  if (owner !== APPLICATION_ID) {
    if (owner === 0 && version === 0 && database.get('SELECT name FROM sqlite_schema LIMIT 1') === undefined) return 0
    throw new LedgerError('LEDGER_FOREIGN', `${database.file} is an SQLite database of another program; point --ledger at another file`)
  }
  if (version > SCHEMA_VERSION) {
    throw new LedgerError(
      'LEDGER_NEWER',
      `${database.file} was written by a newer capkeeper: its schema version is ${version}, this one knows ${SCHEMA_VERSION}; use the newer capkeeper`,
    )
  }
  if (version < SCHEMA_VERSION) throw corrupt(database.file, `its schema version is ${version}`)
  return version
}

/** Makes an empty database a ledger, in one transaction. */
export function create(database: LedgerDatabase): void {
  if (schemaVersion(database) === SCHEMA_VERSION) return
  database.write(() => {
    // Read again: another process may have made it meanwhile.
    if (schemaVersion(database) === SCHEMA_VERSION) return
    database.execute(`${SCHEMA}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`)
  })
}

function pragma(database: LedgerDatabase, name: 'application_id' | 'user_version'): number {
  return Number(database.get(`PRAGMA ${name}`)?.[name] ?? 0)
}
