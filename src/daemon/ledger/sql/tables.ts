// The tables of a ledger, the same in every database. Instants are milliseconds since the epoch, days are counted from it, amounts are cents
// (100 = 1 credit), and `data` is one value as JSON.
import { LedgerError } from '../error.ts'

/** One table, all of whose columns but those of run_use that may be null have a value. */
export interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** What no two rows have in common; empty where only the id is. */
  readonly key: readonly string[]
  /** Rows are deleted once this column is older than history is kept. */
  readonly pruned?: string
}

const words = (text: string): readonly string[] => text.split(' ').filter((one) => one !== '')

const table = (name: string, columns: string, key: string, pruned?: string): Table => ({
  ...{ name, columns: words(columns), key: words(key), pruned },
})

/**
 * In an order in which each row comes after the rows that it refers to. All records of a workspace refer to a binding: its name with a service's
 * address; `version` rises with every transaction that changes its rows. In tables of use the day comes first in the key, because rows are added at
 * the end and deleted at the beginning; a day of a person is told by the service, or summed from readings; cents of runs are null where the
 * plan shows no credits.
 */
export const TABLES: readonly Table[] = [
  table('binding', 'id workspace base_url bound_at current version', 'workspace base_url'),
  table('owned', 'id binding scope data', 'binding scope'),
  table('intent', 'id binding data', ''),
  table('history', 'id binding at scope data', '', 'at'),
  table('approval', 'id binding hold data', 'binding hold'),
  table('quarantine', 'id binding scope data', 'binding scope'),
  table('fact', 'id binding name data', 'binding name'),
  table('pause', 'id workspace data', 'workspace'),
  table('run_use', 'binding day scope model mode messages cents', 'binding day scope model mode', 'day'),
  table('person', 'id binding email highest last_day', 'binding email', 'last_day'),
  table('person_use', 'binding day person cents told', 'binding day person', 'day'),
  table('known_days', 'id binding email data', 'binding email'),
  table('add_on_use', 'binding day person model cents add_on_cents', 'binding day person model', 'day'),
  table('use_reading', 'binding at cents', 'binding at'),
]

type Kind = 'integer' | 'real' | 'flag' | 'text'

const INTEGERS = words('id binding version day person messages cents add_on_cents highest last_day')

/** The type of a column, which its name tells in all tables. */
export function kindOf(column: string): Kind {
  if (INTEGERS.includes(column)) return 'integer'
  if (column === 'at' || column === 'bound_at') return 'real'
  return column === 'current' || column === 'told' ? 'flag' : 'text'
}

/** The words of a database for the same schema. */
export interface Types extends Readonly<Record<Kind, string>> {
  /** Before the name of a table. */
  readonly schema: string
  id(table: string): string
  /** After the columns of a table. */
  end(hasId: boolean): string
}

/** The statements that make all tables. */
export const scriptOf = (types: Types): string => [...TABLES.map((one) => tableScript(one, types)), ...indexes(types.schema)].join(';\n')

function tableScript({ name, columns, key }: Table, types: Types): string {
  const hasId = columns.includes('id')
  const rules = (column: string): string => {
    if (column === 'version') return `${types.integer} NOT NULL DEFAULT 0`
    const type = types[kindOf(column)]
    // Not every database takes a time that is no number for NULL.
    if (kindOf(column) === 'real') return `${type} NOT NULL CHECK (${column} < 1e300)`
    if (column === 'binding') return `${type} NOT NULL REFERENCES ${types.schema}binding`
    return name === 'run_use' && column === 'cents' ? type : `${type} NOT NULL`
  }
  const lines = columns.map((column) => (column === 'id' ? `id ${types.id(name)}` : `${column} ${rules(column)}`))
  const unique = key.length === 0 ? [] : [`${hasId ? 'UNIQUE' : 'PRIMARY KEY'} (${key.join(', ')})`]
  return `CREATE TABLE ${types.schema}${name} (${[...lines, ...unique].join(', ')})${types.end(hasId)}`
}

const indexes = (schema: string): readonly string[] => [
  `CREATE UNIQUE INDEX binding_current ON ${schema}binding (workspace) WHERE current`,
  `CREATE INDEX history_at ON ${schema}history (binding, at)`,
  `CREATE INDEX history_scope ON ${schema}history (binding, scope, at)`,
]

/** The version of the schema that this capkeeper reads and writes; none before it was ever released. */
export const SCHEMA_VERSION = 7

/** Throws LEDGER_NEWER, or LEDGER_UNREADABLE for an older version. */
export function mustBePresent(version: number, name: string): void {
  if (version === SCHEMA_VERSION) return
  const [code, age] = version > SCHEMA_VERSION ? (['LEDGER_NEWER', 'a newer'] as const) : (['LEDGER_UNREADABLE', 'an older'] as const)
  const way = 'use that one, or name another ledger with --ledger'
  throw new LedgerError(
    code,
    `${name} was written by ${age} capkeeper: its schema version is ${version}, this one knows ${SCHEMA_VERSION}; ${way}`,
  )
}
