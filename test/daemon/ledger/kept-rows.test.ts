// Rows of one table in memory are the same before and after a reload.
import { expect, test } from 'vitest'
import { keptRows } from '../../../src/daemon/ledger/forget.ts'

const rowsOf = (...keys: readonly string[]) => keys.map((key, index) => ({ id: index + 1, key, data: JSON.stringify(key) }))

test('rows stand in the order of their keys, whatever was put, dropped, put again or read anew', () => {
  const rows = keptRows<string>(({ data }) => JSON.parse(String(data)))
  rows.replace(rowsOf('b', 'c', 'a'))
  expect(rows.all()).toEqual(['a', 'b', 'c'])
  rows.drop('a')
  rows.put('ab', '"ab"')
  rows.put('a', '"again"')
  expect(rows.all()).toEqual(['again', 'ab', 'b', 'c'])
  rows.put('b', '"other"')
  expect(rows.all()).toEqual(['again', 'ab', 'other', 'c'])
  rows.replace(rowsOf('c', 'ab', 'b', 'a'))
  expect(rows.all()).toEqual(['a', 'ab', 'b', 'c'])
})
