// What the rows of a table of single values are found by, beside their binding. Names only.
import type { KeyedTable } from '../../adapter.ts'

export const KEYS: Readonly<Record<KeyedTable, string>> = { owned: 'scope', approval: 'hold', quarantine: 'scope', fact: 'name' }
