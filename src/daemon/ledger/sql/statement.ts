// Statements that every database of a ledger understands, and what a database offers for them. In their text `@person` is a table, `?1` a value,
// `@given(email, day)` a table of given rows, `@by(history_at)` an index, `@may` the condition under which a record is made, and `@most` the greatest sum.
import type { RowChange } from '../adapter.ts'
import { kindOf } from './tables.ts'

/** Greater sums are cut, because a record that refused them would stop all writing. */
export const MOST = Number.MAX_SAFE_INTEGER

export type Value = string | number | null
export type Row = Readonly<Record<string, unknown>>

export interface Statement {
  readonly sql: string
  readonly values?: readonly Value[]
  /** The rows of `@given`; without any of them nothing is done. */
  readonly given?: readonly (readonly Value[])[]
}

export type Ask = (statement: Statement) => Promise<readonly Row[]>

/** The statements of one transaction; each gives back its rows. */
export type Steps<T> = Generator<Statement, T, readonly Row[]>

/** A statement that changes rows of a workspace. */
export interface Change extends Statement {
  /** The row that it is about; absent when it needs the statements before it to be carried out first. */
  readonly row?: string
  /** It must return a row: the intent that it opened or closed, or what is known of a person as it was read. */
  readonly as?: 'opened' | 'closed' | 'known'
  /** Why it returned none. */
  readonly refused?: () => Error
}

export interface Recorded {
  /** The version of the binding after it. */
  readonly version: number
  /** The id of the intent that it opened. */
  readonly opened?: number
}

/** Changes of rows that belong to a binding of a workspace. */
export interface Place {
  readonly workspace: string
  readonly binding: number
}

/** An open database, in which every method rejects with a `LedgerError` when it fails. */
export interface SqlDatabase {
  /** Its name in messages. */
  readonly name: string
  readonly ask: Ask
  /** One transaction, durable when it resolves, and rolled back when a step throws. With `isAlone` no other process makes a binding meanwhile. */
  transaction<T>(steps: () => Steps<T>, isAlone?: boolean): Promise<T>
  /** Makes a record, all or nothing, for the process that may write the workspace. */
  record(place: Place, changes: readonly RowChange[]): Promise<Recorded>
}

/** Carries out steps; a step that fails ends them. */
export function carriedOut<T>(steps: Steps<T>, run: (statement: Statement) => readonly Row[]): T {
  let next = steps.next()
  while (!next.done) next = steps.next(run(next.value))
  return next.value
}

/** The same with a database that answers later. */
export async function carriedOutBy<T>(steps: Steps<T>, ask: Ask): Promise<T> {
  let next = steps.next()
  while (!next.done) next = steps.next(await ask(next.value))
  return next.value
}

/** The words of a database for what is written with `@` and `?`. */
interface Dialect {
  table(name: string): string
  value(place: number): string
  /** `places` are those of the values of one given row. */
  given(columns: readonly string[], firstPlace: number): string
  by(index: string): string
  least: string
  greatest: string
  listOf(column: string): string
}

/** The text of a statement in a database, made once for each statement and condition. */
export function translator(dialect: Dialect): (sql: string, may?: string) => string {
  const known = new Map<string, string>()
  return (sql, may = 'true') => {
    const of = `${may} ${sql}`
    const text = known.get(of) ?? translated(sql, may, dialect)
    known.set(of, text)
    return text
  }
}

function translated(sql: string, may: string, { table, value, given, by, least, greatest, listOf }: Dialect): string {
  const places = [...sql.matchAll(/\?(\d)/g)].map(([, place]) => Number(place))
  return sql
    .replaceAll(/\?(\d)/g, (_, place) => value(Number(place)))
    .replaceAll(/@given\(([^)]*)\)/g, (_, columns: string) => given(columns.split(', '), Math.max(0, ...places) + 1))
    .replaceAll(/@by\((\w+)\)/g, (_, index) => by(index))
    .replaceAll(/@list\((\w+)\)/g, (_, column) => listOf(column))
    .replaceAll('@may', may)
    .replaceAll('@most', String(MOST))
    .replaceAll('@least', least)
    .replaceAll('@greatest', greatest)
    .replaceAll(/@(\w+)/g, (_, name) => table(name))
}

/** A text as it is stored, because PostgreSQL takes no zeros. */
export const keptText = (text: string): string => (/[\\\0]/.test(text) ? text.replace(/\\/g, '\\\\').replaceAll('\0', '\\0') : text)

/** The text of a stored one. */
export const textKept = (kept: unknown): string => String(kept).replace(/\\(.)/gs, (_, sign: string) => (sign === '0' ? '\0' : sign))

/** The rows of a table in the order of `key`, in batches that bound the memory. */
export async function* batches(
  ask: Ask,
  table: string,
  columns: readonly string[],
  key: readonly string[],
): AsyncGenerator<readonly Row[]> {
  const order = key.join(', ')
  const from = `SELECT ${columns.join(', ')} FROM @${table}`
  const after = `WHERE (${order}) > (${key.map((_, at) => `?${at + 1}`).join(', ')})`
  let last: readonly Value[] | undefined
  for (;;) {
    const rows = await ask({ sql: `${from} ${last ? after : ''} ORDER BY ${order} LIMIT ${AT_A_TIME}`, ...(last && { values: last }) })
    if (rows.length > 0) yield rows
    const end = rows.at(-1)
    if (!end || rows.length < AT_A_TIME) return
    last = key.map((column) => (kindOf(column) === 'text' ? String(end[column]) : Number(end[column])))
  }
}

const AT_A_TIME = 1_000
