// The end of a copy in SQLite.
import { COPY_TABLES, type CopyEnd, type CopyReader, type CopyRow, type CopyTable, type CopyWriter, columnNames } from '../copy.ts'
import type { LedgerDatabase } from './database.ts'

const AT_A_TIME = 1_000

export function sqliteCopy(database: LedgerDatabase): CopyEnd {
  const within = async <T>(begin: string, body: () => Promise<T>): Promise<T> => {
    database.execute(begin)
    try {
      const result = await body()
      database.execute('COMMIT')
      return result
    } catch (error) {
      database.execute('ROLLBACK')
      throw error
    }
  }
  return {
    name: database.file,
    count: async () => COPY_TABLES.reduce((sum, { name }) => sum + Number(database.get(`SELECT count(*) AS n FROM ${name}`)?.['n']), 0),
    read: (body) => within('BEGIN', () => body(reader(database))),
    fill: (body) => within('BEGIN IMMEDIATE', () => body(writer(database))),
  }
}

const reader = (database: LedgerDatabase): CopyReader => ({
  async *rows(table) {
    let batch: CopyRow[] = []
    for (const row of database.each(`SELECT ${columnNames(table)} FROM ${table.name}`)) {
      batch.push(table.columns.map(([name, kind]) => columnValue(row[name], kind)))
      if (batch.length < AT_A_TIME) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  },
  lastIntent: async () => Number(database.get("SELECT seq FROM sqlite_sequence WHERE name = 'intent'")?.['seq'] ?? 0),
})

function columnValue(kept: unknown, kind: CopyTable['columns'][number][1]): CopyRow[number] {
  if (kept === null) return null
  if (kind === 'flag') return kept === 1
  return kind === 'number' ? Number(kept) : String(kept)
}

const writer = (database: LedgerDatabase): CopyWriter => ({
  ...reader(database),
  async put(table, rows) {
    const sql = `INSERT INTO ${table.name} (${columnNames(table)}) VALUES (${table.columns.map(() => '?').join(', ')})`
    for (const row of rows) database.run(sql, ...row.map((value) => (typeof value === 'boolean' ? Number(value) : value)))
  },
  async goOnAfter(lastIntent) {
    database.run("DELETE FROM sqlite_sequence WHERE name = 'intent'")
    database.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('intent', ?)", lastIntent)
  },
})
