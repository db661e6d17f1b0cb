// Rows of the ledger of one workspace, and changes of them, which a database writes as one transaction, all or nothing. Only `workspace.ts` knows
// what the rows mean.
import type { Instant } from '../../core/model/units.ts'
import type { BurnStep } from '../../core/use/burn.ts'
import type { ToldDays } from '../../core/use/history.ts'
import type { AddOnBatch, RunsBatch } from '../../ports.ts'

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
export const KEYED_TABLES = ['owned', 'approval', 'quarantine', 'fact'] as const
export type KeyedTable = (typeof KEYED_TABLES)[number]

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

/** Another process has changed the row since it was read; nothing was written. */
export class StaleRow extends Error {
  override readonly name = 'StaleRow'
}
