// One table of one workspace in memory. Values are kept as the JSON that the database has, and decoded when somebody asks: what was read
// and what was changed here look the same, and nobody can change a value by holding it.
import type { DataRow, KeyedRow } from './adapter.ts'

export interface KeptRows<T> {
  /** What the database holds now; what is as it was is not decoded again. */
  replace(rows: readonly KeyedRow[]): void
  row(key: string): DataRow | undefined
  /** By key, so that the order is the same in memory, in every database and after a reload. Throws what decoding throws. */
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
  // Most changes are of rows that are there, and move none.
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
      if (!isInOrder) rows = new Map([...rows].sort(byKey))
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

/** By code units: the same on every machine. */
const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0)
