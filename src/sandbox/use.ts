// The raw rows of use, from which every figure is summed, in a table for each source: its columns are the fields that rows have in a fixture
// (fixture/schema.yaml). Decides nothing about the interface, nor about who uses what.
import type { Instant } from '../core/model/units.ts'
import { FIXTURE_SCHEMA } from './fixture/schema.generated.ts'
import type { FixtureRow, UseSource } from './fixture/schema.ts'

const SCHEMAS = FIXTURE_SCHEMA.properties.use.properties

/** A row as it is kept: of a person by their id, and with every column. */
export type UseOf<Source extends UseSource> = Source extends UseSource
  ? Omit<Required<FixtureRow<Source>>, 'person' | 'at'> & { readonly source: Source; readonly person: number; readonly at: Instant }
  : never
export type UseRow = UseOf<UseSource>
export type AgentUse = UseOf<'agent'>

export const USE_SOURCES = Object.keys(SCHEMAS) as readonly UseSource[]

/** The name of a source's table. */
export const tableOf = (source: UseSource): string => `${source}_use`

type Column = readonly [name: string, type: 'integer' | 'string' | 'boolean' | 'object']

/** In the order they are kept. Made once, because months of use are millions of rows. */
const COLUMN_LISTS: ReadonlyMap<UseSource, readonly Column[]> = new Map(
  USE_SOURCES.map((source) => {
    const columns = Object.entries(SCHEMAS[source].items.properties)
    return [source, columns.map(([name, { type }]): Column => [name, name === 'person' || name === 'at' ? 'integer' : type])]
  }),
)

const columnsOf = (source: UseSource): readonly Column[] => COLUMN_LISTS.get(source) ?? []

/** Creates the table of each source. */
export const USE_TABLES = USE_SOURCES.map((source) => {
  const columns = columnsOf(source).map(([name, type]) => `${name} ${type === 'string' || type === 'object' ? 'TEXT' : 'INTEGER'} NOT NULL`)
  return `CREATE TABLE IF NOT EXISTS ${tableOf(source)} (${columns.join(', ')});`
}).join('\n')

/** Inserts one row; its parameters are the result of `encodeUse`. */
export const insertUse = (source: UseSource): string =>
  `INSERT INTO ${tableOf(source)} VALUES (${columnsOf(source)
    .map(() => '?')
    .join(', ')})`

/** A row as the values of its columns. */
export function encodeUse(row: UseRow): (string | number)[] {
  return columnsOf(row.source).map(([name, type]) => encodeValue(Reflect.get(row, name), type))
}

function encodeValue(value: unknown, type: Column[1]): string | number {
  if (type === 'boolean') return value === true ? 1 : 0
  if (type === 'object') return JSON.stringify(value)
  return typeof value === 'number' ? value : String(value)
}

/** Decodes a row of a source's table. */
export function decodeUse<Source extends UseSource>(source: Source, columns: Readonly<Record<string, unknown>>): UseOf<Source> {
  const fields = columnsOf(source).map(([name, type]) => [name, decodeValue(columns[name], type)])
  return { source, ...Object.fromEntries(fields) } as UseOf<Source>
}

function decodeValue(value: unknown, type: Column[1]): unknown {
  if (type === 'boolean') return value === 1
  return type === 'object' ? JSON.parse(String(value)) : value
}
