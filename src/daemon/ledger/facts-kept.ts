// The facts of a workspace, decoded at first use and again only after they change.
import type { LedgerFacts, RecordsReader } from '../../ports.ts'
import type { KeptRows } from './kept-rows.ts'
import { readRow } from './values/rows.ts'
import { factFrom } from './values/values.ts'

/** `name` is the name of the ledger in messages. */
export function factsKept(name: string, rows: KeptRows<unknown>): RecordsReader['fact'] {
  const decoded = new Map<keyof LedgerFacts, { readonly data: unknown; readonly value: unknown }>()
  return <K extends keyof LedgerFacts>(fact: K): LedgerFacts[K] | undefined => {
    const row = rows.row(fact)
    if (!row) return undefined
    const known = decoded.get(fact)
    if (known && known.data === row.data) return known.value as LedgerFacts[K]
    const value = readRow(name, 'fact', row, (data) => factFrom(fact, data))
    decoded.set(fact, { data: row.data, value })
    return value
  }
}
