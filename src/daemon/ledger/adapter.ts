// The interface of a database for the ledger of one workspace: it reads rows, and writes changes of rows as one transaction, all or nothing.
// Only `workspace.ts` knows what the rows mean.
import { BugError } from '../../core/model/problem.ts'
import type { Instant } from '../../core/model/units.ts'
import type { BurnStep } from '../../core/use/burn.ts'
import type { ToldDays } from '../../core/use/history.ts'
import type { AddOnBatch, HistoryFilter, Ledger, RunsBatch } from '../../ports.ts'

/** Returns a function that runs actions one after the other, in the order of the calls; a failed action does not stop the next. */
export function inOrder(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (action) => {
    const next = last.then(action)
    last = next.catch(() => undefined)
    return next
  }
}

/** `write` binds to an address, `note` may make a binding without one, `read` changes nothing. */
export type LedgerMode = 'write' | 'note' | 'read'

/** Tables with one value for each key; all of their rows are kept in memory. */
export type KeyedTable = 'owned' | 'approval' | 'quarantine' | 'fact'

/** The key column of each table, also of the one whose rows are read on demand. */
export const KEYS: Readonly<Record<KeyedTable | 'known_days', string>> = {
  ...{ owned: 'scope', approval: 'hold', quarantine: 'scope', fact: 'name' },
  known_days: 'email',
}

/** A stored row: `data` is one value as JSON. */
export interface DataRow {
  readonly id: number
  readonly data: unknown
}

/** From a row of a table with these columns. */
export const dataRow = (row: Readonly<Record<string, unknown>>): DataRow => ({ id: Number(row['id']), data: row['data'] })

export interface KeyedRow extends DataRow {
  readonly key: string
}

/** One change of rows. */
export type RowChange =
  /** With `known` it changes the row only while that is its data (undefined: while there is no row). */
  | {
      readonly kind: 'put'
      readonly table: KeyedTable
      readonly key: string
      readonly data: string
      readonly known?: { readonly data: string | undefined }
    }
  | { readonly kind: 'drop'; readonly table: KeyedTable; readonly key: string }
  | { readonly kind: 'open'; readonly data: string }
  | { readonly kind: 'close'; readonly id: number; readonly scope: string }
  | { readonly kind: 'append'; readonly at: Instant; readonly scope: string; readonly data: string }
  | { readonly kind: 'pause'; readonly data: string | undefined }
  | { readonly kind: 'runs'; readonly scope: string; readonly batch: RunsBatch }
  | { readonly kind: 'burn'; readonly step: BurnStep }
  | { readonly kind: 'addOn'; readonly batch: AddOnBatch }
  /** Replaces a person's use on some days, and what is known of them, while that is `before`. Rejects with a `StaleRow` otherwise. */
  | {
      readonly kind: 'days'
      readonly email: string
      readonly data: string
      readonly before: string | undefined
      readonly told?: ToldDays
    }
  /** Removes all use that `days` has saved. */
  | { readonly kind: 'noDays' }
  /** Removes a person's history and use. */
  | { readonly kind: 'forget'; readonly email: string }

/** All rows of a workspace that are kept in memory. */
export interface Snapshot {
  readonly tables: Readonly<Record<KeyedTable, readonly KeyedRow[]>>
  readonly intents: readonly DataRow[]
  /** History since the requested instant, newest first. */
  readonly lately: readonly DataRow[]
}

/** A `close` of an intent that is not open. */
export const notOpen = ({ id, scope }: Extract<RowChange, { readonly kind: 'close' }>): BugError =>
  new BugError(`intent ${id} for ${scope} has an outcome already`)

/** Another process has changed the row since it was read; nothing was written. */
export class StaleRow extends Error {
  override readonly name = 'StaleRow'
}

/** What a ledger tells of use as it is recorded. */
export type UseQueries = Pick<
  Ledger,
  | 'recordedFrom'
  | 'runs'
  | 'addOnUse'
  | 'addOnSums'
  | 'addOnOfPerson'
  | 'highestUse'
  | 'useReadings'
  | 'useByPerson'
  | 'useByDay'
  | 'useOfPerson'
>

/** The rows of one workspace. Every method rejects with a `LedgerError` when the database fails. */
export interface WorkspaceRows {
  /** The name of the ledger in messages. */
  readonly name: string
  /** Undefined when no other process has changed anything since the last reading, and `isKnown` says that our own changes are known. */
  read(latelySince: Instant, isKnown: boolean): Promise<Snapshot | undefined>
  /** One transaction, durable when it resolves. Resolves with the id of the intent that it opened. Rejects with a `BugError` for an intent that is not open. */
  write(changes: readonly RowChange[]): Promise<number | undefined>
  history(filter: HistoryFilter): Promise<readonly DataRow[]>
  pause(): Promise<DataRow | undefined>
  /** What is known of the past use of everybody, or of one person. */
  knownDays(email?: string): Promise<readonly KeyedRow[]>
  readonly use: UseQueries
}
