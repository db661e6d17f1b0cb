// Decodes rows of the ledger. A row that cannot be decoded is a LedgerError that names table and row.
import type { Pause } from '../../../core/model/change.ts'
import type { Instant } from '../../../core/model/units.ts'
import type { LedgerFacts } from '../../../ports.ts'
import type { DataRow } from '../adapter.ts'
import { corrupt } from '../error.ts'
import { type Decode, decodeJson, Undecodable } from './decode.ts'
import { factFrom, pause } from './values.ts'

/** Decodes the `data` of a row. Throws LEDGER_CORRUPT. */
export function readRow<T>(file: string, table: string, row: { readonly id?: unknown; readonly data?: unknown }, decode: Decode<T>): T {
  try {
    return decodeJson(row.data, decode)
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error
    throw corrupt(file, `row ${String(row.id)} of table ${table} cannot be read, because ${error.message}`)
  }
}

/** The pauses in force, by workspace. */
export function pausesIn(
  name: string,
  rows: readonly (DataRow & { readonly workspace: string })[],
  now: Instant,
): ReadonlyMap<string, Pause> {
  const all = rows.map((row) => [row.workspace, readRow(name, 'pause', row, pause)] as const)
  return new Map(all.filter(([, { untilAt }]) => untilAt > now))
}

/** Learned paces by workspace. A pace can be learned again, so one that cannot be read is left out. */
export function pacesIn(rows: readonly { readonly workspace: string; readonly data: unknown }[]): ReadonlyMap<string, LedgerFacts['pace']> {
  return new Map(
    rows.flatMap(({ workspace, data }) => {
      try {
        return [[workspace, decodeJson(data, (value) => factFrom('pace', value))] as const]
      } catch (error) {
        if (error instanceof Undecodable) return []
        throw error
      }
    }),
  )
}
