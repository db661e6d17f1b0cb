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
const USE_SCHEMA = USE_SOURCES.map((source) => {
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

// The tables of the sandbox's database, their indices, and the view of add-on use. store.ts runs it.

/** Creates what does not exist yet. */
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS people (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, role TEXT NOT NULL,
  status TEXT NOT NULL, disabled INTEGER NOT NULL, apiKey TEXT NOT NULL, signupAt INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS groups (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS members (groupId TEXT NOT NULL, person INTEGER NOT NULL, PRIMARY KEY (groupId, person)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS caps (scope TEXT PRIMARY KEY, cap INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS keys (secret TEXT PRIMARY KEY, permissions TEXT NOT NULL, groupId TEXT) WITHOUT ROWID;
${USE_SCHEMA}
CREATE INDEX IF NOT EXISTS autocomplete_by_person ON autocomplete_use (person, at, acceptances);
CREATE INDEX IF NOT EXISTS agent_by_person ON agent_use (person, at, cents);
CREATE INDEX IF NOT EXISTS command_by_person ON command_use (person, at);
`

/**
 * Agent use with the part of each row that was paid from add-on credits: a person's use beyond their seat's credits within the cycle, which
 * is the calendar month. Created again at each start.
 */
export const ADD_ON_VIEW = `
DROP VIEW IF EXISTS add_on_use;
CREATE VIEW add_on_use AS SELECT place AS rowid, person, at, ide, cents, modelName, metadata,
  MIN(cents, MAX(0, before + cents - seat)) AS addOnCents
FROM (SELECT used.rowid AS place, used.person, used.at, used.ide, used.cents,
  CASE WHEN model IN ('', 'UNKNOWN', '<nil>') THEN '<nil>' ELSE 'MODEL_' || upper(replace(replace(replace(model, ' ', '_'), '.', '_'), '-', '_')) END
    AS modelName,
  '<nil>' AS metadata,
  COALESCE((SELECT value FROM meta WHERE name = 'creditsPerSeat'), 0) * 100 AS seat,
  COALESCE((SELECT SUM(cents) FROM agent_use AS earlier WHERE earlier.person = used.person
    AND earlier.at >= unixepoch(used.at / 1000, 'unixepoch', 'start of month') * 1000
    AND earlier.at <= used.at AND (earlier.at < used.at OR earlier.rowid < used.rowid)), 0) AS before
FROM agent_use AS used);
`
