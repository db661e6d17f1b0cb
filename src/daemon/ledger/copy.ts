// Copies a whole ledger, from SQLite to PostgreSQL or back: every row unchanged, into an empty ledger, in one transaction that commits only
// after every row was read back. It never changes the source.
import { createHash } from 'node:crypto'
import { LedgerError } from './error.ts'

/** The type of a column; a `key` is a text that rows are searched by. */
type ColumnKind = 'number' | 'flag' | 'key' | 'data'

export interface CopyTable {
  readonly name: string
  readonly columns: readonly (readonly [name: string, kind: ColumnKind])[]
}

const ID = ['id', 'number'] as const
const BINDING = ['binding', 'number'] as const
const DATA = ['data', 'data'] as const

/** In an order in which each row comes after the rows that it refers to. */
export const COPY_TABLES: readonly CopyTable[] = [
  { name: 'binding', columns: [ID, ['workspace', 'key'], ['base_url', 'key'], ['bound_at', 'number'], ['current', 'flag']] },
  { name: 'owned', columns: [ID, BINDING, ['scope', 'key'], DATA] },
  { name: 'intent', columns: [ID, BINDING, DATA] },
  { name: 'history', columns: [ID, BINDING, ['at', 'number'], ['scope', 'key'], DATA] },
  { name: 'approval', columns: [ID, BINDING, ['hold', 'key'], DATA] },
  { name: 'quarantine', columns: [ID, BINDING, ['scope', 'key'], DATA] },
  { name: 'fact', columns: [ID, BINDING, ['name', 'key'], DATA] },
  { name: 'pause', columns: [ID, ['workspace', 'key'], DATA] },
  {
    name: 'run_use',
    columns: [BINDING, ['day', 'number'], ['scope', 'key'], ['model', 'key'], ['mode', 'key'], ['messages', 'number'], ['cents', 'number']],
  },
  { name: 'person', columns: [ID, BINDING, ['email', 'key'], ['highest', 'number'], ['last_day', 'number']] },
  { name: 'person_use', columns: [BINDING, ['day', 'number'], ['person', 'number'], ['cents', 'number'], ['told', 'flag']] },
  { name: 'known_days', columns: [ID, BINDING, ['email', 'key'], DATA] },
  {
    name: 'add_on_use',
    columns: [BINDING, ['day', 'number'], ['person', 'number'], ['model', 'key'], ['cents', 'number'], ['add_on_cents', 'number']],
  },
  { name: 'use_reading', columns: [BINDING, ['at', 'number'], ['cents', 'number']] },
]

export const columnNames = ({ columns }: CopyTable): string => columns.map(([name]) => name).join(', ')

/** The values of a row in the order of its table's columns. */
export type CopyRow = readonly (string | number | boolean | null)[]

export interface CopyReader {
  /** All rows of a table, in batches. */
  rows(table: CopyTable): AsyncIterable<readonly CopyRow[]>
  /** The highest id that an intent ever had; no later intent may have it. */
  lastIntent(): Promise<number>
}

export interface CopyWriter extends CopyReader {
  put(table: CopyTable, rows: readonly CopyRow[]): Promise<void>
  /** New ids start after the copied ones; ids of intents also after this one. */
  goOnAfter(lastIntent: number): Promise<void>
}

/** One end of a copy. The store holds every workspace until the copy ends. */
export interface CopyEnd {
  readonly name: string
  count(): Promise<number>
  /** Reads one state of the ledger, even if other processes write meanwhile. */
  read<T>(body: (reader: CopyReader) => Promise<T>): Promise<T>
  /** One transaction, rolled back when `body` rejects. */
  fill<T>(body: (writer: CopyWriter) => Promise<T>): Promise<T>
}

/** Resolves with the number of copied rows. Rejects with LEDGER_BACKUP, and leaves the target unchanged then. */
export async function copyLedger(from: CopyEnd, to: CopyEnd, onRows: (rows: readonly unknown[]) => void): Promise<number> {
  if ((await to.count()) > 0) throw notCopied(from, `${to.name} holds records already; name an empty ledger`)
  return from.read((reader) =>
    to.fill(async (writer) => {
      let copied = 0
      for (const table of COPY_TABLES) {
        const read = digest()
        for await (const rows of reader.rows(table)) {
          for (const row of rows) read.add(row)
          await writer.put(table, rows)
          copied += rows.length
          onRows(rows)
        }
        const written = digest()
        for await (const rows of writer.rows(table)) for (const row of rows) written.add(row)
        if (read.value() !== written.value()) {
          throw notCopied(from, `table ${table.name} read back differs from what was written to ${to.name}`)
        }
      }
      await writer.goOnAfter(await reader.lastIntent())
      return copied
    }),
  )
}

const notCopied = ({ name }: CopyEnd, why: string): LedgerError => new LedgerError('LEDGER_BACKUP', `no copy was made of ${name}: ${why}`)

/** A digest that does not depend on the order of rows, because databases sort texts differently. */
function digest() {
  let sum = 0n
  let count = 0
  return {
    add(row: CopyRow): void {
      sum += BigInt(`0x${createHash('sha256').update(JSON.stringify(row)).digest('hex')}`)
      count += 1
    },
    value: (): string => `${count} ${sum}`,
  }
}
