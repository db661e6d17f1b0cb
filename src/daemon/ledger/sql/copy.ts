// Copies a whole ledger from one database to another. What arrived is read back and compared before the copy counts.
import { createHash } from 'node:crypto'
import { LedgerError } from '../error.ts'
import { type Ask, batches, type Row, type Statement, type Value } from './statement.ts'
import { kindOf, TABLES, type Table } from './tables.ts'

/** One end of a copy. */
export interface CopyEnd {
  readonly name: string
  /** Rejects while a replica keeps a workspace of this ledger. */
  mustBeFree(): Promise<void>
  /** Reads one state of the ledger, even if other processes write meanwhile. */
  read<T>(body: (ask: Ask) => Promise<T>): Promise<T>
  /** One transaction, rolled back when `body` rejects. */
  fill<T>(body: (ask: Ask) => Promise<T>): Promise<T>
  /** Asks for the highest id that an intent ever had; no later intent may have it. */
  readonly lastIntent: Statement
  /** New ids start after the copied ones; ids of intents also after this one. */
  goOnAfter(lastIntent: number): readonly Statement[]
}

/** The number of rows in all tables. */
export async function countRows(end: CopyEnd): Promise<number> {
  const counts = TABLES.map(({ name }) => `(SELECT count(*) FROM @${name})`)
  const [row] = await end.read((ask) => ask({ sql: `SELECT ${counts.join(' + ')} AS n` }))
  return Number(row?.['n'])
}

/** Resolves with the number of copied rows. Rejects with LEDGER_BACKUP, and leaves the target unchanged then. */
export async function copyLedger(from: CopyEnd, to: CopyEnd, onRows: (rows: readonly unknown[]) => void): Promise<number> {
  if ((await countRows(to)) > 0) throw notCopied(from, `${to.name} holds records already; name an empty ledger`)
  return from.read((source) =>
    to.fill(async (target) => {
      let copied = 0
      for (const table of TABLES) {
        const [read, written] = [createHash('sha256'), createHash('sha256')]
        for await (const rows of rowsOf(source, table)) {
          read.update(textOf(rows))
          await target(insertion(table, rows))
          copied += rows.length
          onRows(rows)
        }
        for await (const rows of rowsOf(target, table)) written.update(textOf(rows))
        if (read.digest('hex') !== written.digest('hex'))
          throw notCopied(from, `table ${table.name} read back differs from what was written to ${to.name}`)
      }
      const [last] = await source(from.lastIntent)
      for (const statement of to.goOnAfter(Number(last?.['last'] ?? 0))) await target(statement)
      // A replica that has started meanwhile goes on writing caps with the old ledger.
      await from.mustBeFree()
      return copied
    }),
  )
}

const notCopied = ({ name }: CopyEnd, why: string): LedgerError => new LedgerError('LEDGER_BACKUP', `no copy was made of ${name}: ${why}`)

/** The values of a row in the order of its table's columns. */
type CopyRow = readonly Value[]

async function* rowsOf(ask: Ask, { name, columns, key }: Table): AsyncGenerator<readonly CopyRow[]> {
  const keptIn = (column: string, row: Row): Value => {
    const kept = row[column]
    if (kept === null) return null
    return kindOf(column) === 'text' ? String(kept) : Number(kept)
  }
  for await (const rows of batches(ask, name, columns, columns.includes('id') ? ['id'] : key))
    yield rows.map((row) => columns.map((column) => keptIn(column, row)))
}

const insertion = ({ name, columns }: Table, given: readonly CopyRow[]): Statement => {
  const all = columns.join(', ')
  return { sql: `INSERT INTO @${name} (${all}) SELECT ${all} FROM @given(${all}) WHERE true`, given }
}

const textOf = (rows: readonly CopyRow[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
