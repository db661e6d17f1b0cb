// The end of a copy in PostgreSQL.
import { COPY_TABLES, type CopyEnd, type CopyReader, type CopyRow, type CopyTable, type CopyWriter, columnNames } from '../copy.ts'
import type { PostgresDatabase, Query, Row } from './database.ts'
import { keptText, textKept } from './error.ts'

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
