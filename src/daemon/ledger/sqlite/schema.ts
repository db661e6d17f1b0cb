// The schema of a ledger file: its owner and version. A file of another program or of a newer capkeeper is never changed, and a
// ledger that cannot be read is never replaced by a new one. An empty file is a new ledger.

import { corrupt, LedgerError } from '../error.ts'
import { SCHEMA_VERSION, scriptOf } from '../sql/tables.ts'
import type { LedgerDatabase } from './database.ts'
import { TYPES } from './dialect.ts'

/** "capk": tells a ledger from other SQLite files (`PRAGMA application_id`). */
const APPLICATION_ID = 0x6361706b

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
    database.execute(`${scriptOf(TYPES)}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`)
  })
}

function pragma(database: LedgerDatabase, name: 'application_id' | 'user_version'): number {
  return Number(database.get(`PRAGMA ${name}`)?.[name] ?? 0)
}
