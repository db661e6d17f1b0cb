// One row of the ledger as the value it keeps, or a LedgerError that names table and row.

import { corrupt } from '../error.ts'
import { type Decode, decodeJson, Undecodable } from './decode.ts'

/** Decodes the `data` of a row that was selected with its `id`. Throws LEDGER_CORRUPT. */
export function readRow<T>(file: string, table: string, row: { readonly id?: unknown; readonly data?: unknown }, decode: Decode<T>): T {
  try {
    return decodeJson(row.data, decode)
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error
    throw corrupt(file, `row ${String(row.id)} of table ${table} cannot be read, because ${error.message}`)
  }
}
