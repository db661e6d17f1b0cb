// The raw rows of use, from which every figure is summed: the fields of each source, and its table, whose columns are these fields. Decides
// nothing about the interface, nor about who uses what.
import type { Instant } from '../core/model/units.ts'

/** What a column holds, by its kind; a `whole` is 0 to 2147483647, `counts` are whole numbers by name. */
interface Kinds {
  readonly whole: number
  readonly instant: Instant
  readonly text: string
  readonly tick: boolean
  readonly counts: Readonly<Record<string, number>>
}

export type ColumnKind = keyof Kinds

/** Where a line of code was written; languages in upper case, IDEs in lower case. */
const PLACE = { person: 'whole', at: 'instant', language: 'text', ide: 'text', version: 'text' } as const

/** The columns of each source's rows, in the order they are kept. */
export const USE_COLUMNS = {
  /** A conversation of one person and day, or a part of one that was split. `cents` is its cost (100 = 1 credit), `tools` the uses of each tool. */
  agent: {
    ...{ person: 'whole', at: 'instant', conversation: 'whole', ide: 'text', model: 'text', mode: 'text', messages: 'whole' },
    ...{ cents: 'whole', linesSuggested: 'whole', linesAccepted: 'whole', tools: 'counts' },
  },
  /** Of one person, hour, language, IDE and version. */
  autocomplete: { ...PLACE, acceptances: 'whole', linesAccepted: 'whole', bytesAccepted: 'whole' },
  /** One response of a model in the legacy chat. */
  chat: {
    ...{ person: 'whole', at: 'instant', model: 'text', ide: 'text', version: 'text', intent: 'text', chatsReceived: 'whole' },
    ...{ accepted: 'tick', insertedAtCursor: 'tick', applied: 'tick', linesUsed: 'whole' },
  },
  /** One command, accepted or declined; a generation has no selection. */
  command: {
    ...{ ...PLACE, commandSource: 'text', providerSource: 'text', linesAdded: 'whole', linesRemoved: 'whole', bytesAdded: 'whole' },
    ...{ bytesRemoved: 'whole', selectionLines: 'whole', selectionBytes: 'whole', accepted: 'tick' },
  },
  /** Bytes that a person typed without help; they are not activity. */
  typing: { ...PLACE, bytes: 'whole' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnKind>>>>

type Columns = typeof USE_COLUMNS
export type UseSource = keyof Columns
type Values<Row extends Readonly<Record<string, ColumnKind>>> = { readonly [Name in keyof Row]: Kinds[Row[Name]] }
export type UseOf<Source extends UseSource> = Source extends UseSource ? { readonly source: Source } & Values<Columns[Source]> : never
export type UseRow = UseOf<UseSource>
export type AgentUse = UseOf<'agent'>

export const USE_SOURCES: readonly UseSource[] = ['agent', 'autocomplete', 'chat', 'command', 'typing']

/** The name of a source's table. */
export const tableOf = (source: UseSource): string => `${source}_use`

type Column = readonly [name: string, kind: ColumnKind]

/** Made once, because months of use are millions of rows. */
const COLUMN_LISTS: ReadonlyMap<UseSource, readonly Column[]> = new Map(
  USE_SOURCES.map((source) => [source, Object.entries(USE_COLUMNS[source])]),
)

const columnsOf = (source: UseSource): readonly Column[] => COLUMN_LISTS.get(source) ?? []

/** Creates the table of each source. */
export const USE_TABLES = USE_SOURCES.map((source) => {
  const columns = columnsOf(source).map(([name, kind]) => `${name} ${kind === 'text' || kind === 'counts' ? 'TEXT' : 'INTEGER'} NOT NULL`)
  return `CREATE TABLE IF NOT EXISTS ${tableOf(source)} (${columns.join(', ')});`
}).join('\n')

/** Inserts one row; its parameters are the result of `encodeUse`. */
export const insertUse = (source: UseSource): string =>
  `INSERT INTO ${tableOf(source)} VALUES (${columnsOf(source)
    .map(() => '?')
    .join(', ')})`

/** A row as the values of its columns. */
export function encodeUse(row: UseRow): (string | number)[] {
  return columnsOf(row.source).map(([name, kind]) => encodeValue(Reflect.get(row, name), kind))
}

function encodeValue(value: unknown, kind: ColumnKind): string | number {
  if (kind === 'tick') return value === true ? 1 : 0
  if (kind === 'counts') return JSON.stringify(value)
  return typeof value === 'number' ? value : String(value)
}

/** Decodes a row of a source's table. */
export function decodeUse<Source extends UseSource>(source: Source, columns: Readonly<Record<string, unknown>>): UseOf<Source> {
  const fields = columnsOf(source).map(([name, kind]) => [name, decodeValue(columns[name], kind)])
  return { source, ...Object.fromEntries(fields) } as UseOf<Source>
}

function decodeValue(value: unknown, kind: ColumnKind): unknown {
  if (kind === 'tick') return value === 1
  return kind === 'counts' ? JSON.parse(String(value)) : value
}
