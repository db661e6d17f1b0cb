// One table of one workspace in memory. Rows are kept as the JSON of the database and decoded on demand, so that rows that were read and rows
// that were changed here are alike.
import { compareText } from '../../core/model/order.ts'
import type { DataRow, KeyedRow } from './adapter.ts'

export interface KeptRows<T> {
  /** Takes the rows of the database; unchanged ones are not decoded again. */
  replace(rows: readonly KeyedRow[]): void
  row(key: string): DataRow | undefined
  /** Sorted by key, so that the order is the same in every database and after a reload. Throws when a row cannot be decoded. */
  all(): readonly T[]
  put(key: string, data: string): void
  drop(key: string): void
}

interface Kept<T> extends DataRow {
  decoded: { readonly value: T } | undefined
}

export function keptRows<T>(decode: (row: DataRow) => T): KeptRows<T> {
  let rows = new Map<string, Kept<T>>()
  let list: readonly T[] | undefined
  // Most changes are of existing rows, and keep the order.
  let isInOrder = true
  const decodedOf = (row: Kept<T>): T => {
    row.decoded ??= { value: decode(row) }
    return row.decoded.value
  }
  return {
    replace(fresh) {
      const before = rows
      rows = new Map(
        fresh.map(({ key, id, data }) => {
          const known = before.get(key)
          return [key, known && known.data === data ? { id, data, decoded: known.decoded } : { id, data, decoded: undefined }]
        }),
      )
      isInOrder = false
      list = undefined
    },
    row: (key) => rows.get(key),
    all() {
      if (!isInOrder) rows = new Map([...rows].sort(([a], [b]) => compareText(a, b)))
      isInOrder = true
      list ??= [...rows.values()].map(decodedOf)
      return list
    },
    put(key, data) {
      if (!rows.has(key)) isInOrder = false
      rows.set(key, { id: rows.get(key)?.id ?? 0, data, decoded: undefined })
      list = undefined
    },
    drop(key) {
      if (rows.delete(key)) list = undefined
    },
  }
}
