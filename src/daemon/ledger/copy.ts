// Moves a whole ledger from one place to another, from SQLite to PostgreSQL or back: every row as it is, into an empty ledger, in one
// transaction there, which is only committed once every row was read back. It never changes where it copies from.
import { createHash } from 'node:crypto'
import { LedgerError } from './error.ts'

/** How a column is kept; a `key` is a text that is searched by. */
export type ColumnKind = 'number' | 'flag' | 'key' | 'data'

export interface CopyTable {
  readonly name: string
  readonly columns: readonly (readonly [name: string, kind: ColumnKind])[]
}

const ID = ['id', 'number'] as const
const BINDING = ['binding', 'number'] as const
const DATA = ['data', 'data'] as const

/** In an order in which every row finds what it belongs to. */
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
  { name: 'person_use', columns: [BINDING, ['day', 'number'], ['person', 'number'], ['cents', 'number']] },
  {
    name: 'add_on_use',
    columns: [BINDING, ['day', 'number'], ['person', 'number'], ['model', 'key'], ['cents', 'number'], ['add_on_cents', 'number']],
  },
  { name: 'use_reading', columns: [BINDING, ['at', 'number'], ['cents', 'number']] },
]

/** The values of a row in the order of its table's columns. */
export type CopyRow = readonly (string | number | boolean | null)[]

export interface CopyReader {
  /** All rows of a table, some at a time. */
  rows(table: CopyTable): AsyncIterable<readonly CopyRow[]>
  /** The highest id that an intent ever had: it is never used again. */
  lastIntent(): Promise<number>
}

export interface CopyWriter extends CopyReader {
  put(table: CopyTable, rows: readonly CopyRow[]): Promise<void>
  /** Ids go on after those that were put, and after this one for intents. */
  goOnAfter(lastIntent: number): Promise<void>
}

/** One end of a copy. The store holds every workspace for as long as it goes on. */
export interface CopyEnd {
  readonly name: string
  count(): Promise<number>
  /** One state of the ledger, whatever others do meanwhile. */
  read<T>(body: (reader: CopyReader) => Promise<T>): Promise<T>
  /** One transaction; nothing of it stays when `body` rejects. */
  fill<T>(body: (writer: CopyWriter) => Promise<T>): Promise<T>
}

/** Resolves with how many rows were copied. Rejects with LEDGER_BACKUP; then the target is as it was. */
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

/** Of all rows, in whatever order they come: databases sort texts differently. */
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
