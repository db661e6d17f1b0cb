// SQL as SQLite has it, and a ledger file as a database that every ledger can use.
import { recording, statementsOf } from '../sql/changes.ts'
import type { CopyEnd } from '../sql/copy.ts'
import { type Ask, carriedOut, type Row, type SqlDatabase, type Statement, translator } from '../sql/statement.ts'
import type { Types } from '../sql/tables.ts'
import type { LedgerDatabase } from './database.ts'

export const TYPES: Types = {
  ...{ integer: 'INTEGER', real: 'REAL', flag: 'INTEGER', text: 'TEXT', schema: '' },
  // The id of an intent is never used again.
  id: (table) => `INTEGER PRIMARY KEY${table === 'intent' ? ' AUTOINCREMENT' : ''}`,
  end: (hasId) => (hasId ? ' STRICT' : ' STRICT, WITHOUT ROWID'),
}

const text = translator({
  table: (name) => name,
  value: (place) => `?${place}`,
  // A statement is carried out for one row after the other, because it is prepared only once.
  given: (columns, first) => `(SELECT ${columns.map((column, at) => `?${first + at} AS ${column}`).join(', ')}) AS given`,
  by: (index) => `INDEXED BY ${index}`,
  ...{ least: 'min', greatest: 'max' },
  listOf: (column) => `json_group_array(${column})`,
})

/** Carries out statements at once. */
export const statementsIn =
  (database: LedgerDatabase) =>
  ({ sql, values = [], given }: Statement): readonly Row[] =>
    given ? given.flatMap((row) => database.all(text(sql), ...values, ...row)) : database.all(text(sql), ...values)

export function sqliteDatabase(database: LedgerDatabase): SqlDatabase {
  const run = statementsIn(database)
  const transaction: SqlDatabase['transaction'] = async (steps) => database.write(() => carriedOut(steps(), run))
  return {
    name: database.file,
    ask: async (statement) => run(statement),
    transaction,
    record: (place, changes) =>
      transaction(() =>
        recording(
          place,
          changes.flatMap((change) => statementsOf(change, place)),
          database.file,
        ),
      ),
  }
}

export function sqliteCopy(database: LedgerDatabase): CopyEnd {
  const { ask } = sqliteDatabase(database)
  const within = async <T>(begin: string, body: (ask: Ask) => Promise<T>): Promise<T> => {
    database.execute(begin)
    try {
      const result = await body(ask)
      database.execute('COMMIT')
      return result
    } catch (error) {
      database.execute('ROLLBACK')
      throw error
    }
  }
  return {
    name: database.file,
    read: (body) => within('BEGIN', body),
    fill: (body) => within('BEGIN IMMEDIATE', body),
    lastIntent: { sql: "SELECT seq AS last FROM sqlite_sequence WHERE name = 'intent'" },
    goOnAfter: (lastIntent) => [
      { sql: "DELETE FROM sqlite_sequence WHERE name = 'intent'" },
      { sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('intent', ?1)", values: [lastIntent] },
    ],
  }
}
