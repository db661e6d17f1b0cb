// Which binding a workspace has, a name with an address, and the rows under it.

import { scopeKey } from '../../../core/model/scope.ts'
import type { Instant } from '../../../core/model/units.ts'
import type { HistoryFilter } from '../../../ports.ts'
import { type DataRow, dataRow, KEYED_TABLES, KEYS, type KeyedRow, type KeyedTable, type LedgerMode, type RowChange } from '../adapter.ts'
import { LedgerError } from '../error.ts'
import { useQueries } from './queries.ts'
import { keptText, type Place, type Row, type SqlDatabase, type Statement, type Steps, textKept } from './statement.ts'

// The rows of one workspace in any database. By the version of its binding a process knows whether its copy in memory is still current.

/** The rows of one workspace, in any database. */
export type WorkspaceRows = ReturnType<typeof workspaceRows>

/** A binding that does not exist reads as an empty workspace. Every method rejects with a `LedgerError` when the database fails. */
export function workspaceRows({ name, ask, record }: SqlDatabase, place: Place) {
  const { workspace, binding } = place
  let seen: number | undefined
  return {
    /** The name of the ledger in messages. */
    name,
    /** Whether no other process has changed anything since the last reading. */
    async isCurrent(): Promise<boolean> {
      const [row] = await ask({ sql: 'SELECT version FROM @binding WHERE id = ?1', values: [binding] })
      return row !== undefined && Number(row['version']) === seen
    },
    async read(latelySince: Instant): Promise<Snapshot> {
      const rows = await ask(presentSql(binding))
      seen = versionIn(rows)
      // Not in the same statement: history only grows at its end, and an entry that is added in between is read again with the next version.
      return snapshotOf(rows, await ask(historySql(binding, { sinceAt: latelySince })))
    },
    /** One transaction, durable when it resolves. Resolves with the id of the intent that it opened. Rejects with a `BugError` for an intent that is not open. */
    async write(changes: readonly RowChange[]): Promise<number | undefined> {
      const { opened, version } = await record(place, changes)
      // Only our own change came since the last reading, and we know it.
      if (seen === version - 1) seen = version
      return opened
    },
    history: async (filter: HistoryFilter): Promise<readonly DataRow[]> => (await ask(historySql(binding, filter))).map(dataRow),
    async pause(): Promise<DataRow | undefined> {
      const [row] = await ask(pauseSql(workspace))
      return row && dataRow(row)
    },
    /** What is known of the past use of everybody, or of one person. */
    async knownDays(email?: string): Promise<readonly KeyedRow[]> {
      const sql = `SELECT id, email AS key, data FROM @known_days WHERE binding = ?1${email === undefined ? '' : ' AND email = ?2'} ORDER BY email`
      return (await ask({ sql, values: [binding, ...(email === undefined ? [] : [keptText(email)])] })).map(keyedRow)
    },
    use: useQueries(ask, binding),
  }
}

export const pauseSql = (workspace: string): Statement => ({
  ...{ sql: 'SELECT id, data FROM @pause WHERE workspace = ?1', values: [keptText(workspace)] },
})

/** All rows of a workspace that are kept in memory. */
export type Snapshot = ReturnType<typeof snapshotOf>

/** All rows that are kept in memory but history, in one statement, so that it sees one state of the database. */
export const presentSql = (binding: number): Statement => ({ sql: PRESENT, values: [binding] })

const PRESENT = [
  `SELECT 'version' AS kind, version AS id, '' AS key, '' AS data FROM @binding WHERE id = ?1`,
  ...KEYED_TABLES.map((table) => `SELECT '${table}', id, ${KEYS[table]}, data FROM @${table} WHERE binding = ?1`),
  `SELECT 'intent', id, '', data FROM @intent WHERE binding = ?1`,
].join(' UNION ALL ')

const versionIn = (rows: readonly Row[]): number => Number(rows.find((row) => row['kind'] === 'version')?.['id'] ?? 0)

const keyedRow = (row: Row): KeyedRow => ({ ...dataRow(row), key: textKept(row['key']) })

/** Of rows that `presentSql` and `historySql` ask for. */
export function snapshotOf(rows: readonly Row[], lately: readonly Row[]) {
  const of = (kind: string): readonly Row[] => rows.filter((row) => row['kind'] === kind)
  const table = (name: KeyedTable): readonly KeyedRow[] => of(name).map(keyedRow)
  return {
    tables: { owned: table('owned'), approval: table('approval'), quarantine: table('quarantine'), fact: table('fact') },
    intents: of('intent')
      .map(dataRow)
      .sort((a, b) => a.id - b.id),
    /** History since the requested instant, newest first. */
    lately: lately.map(dataRow),
  }
}

/** Newest first. Without the hint SQLite takes the index of instants, and scans everything for one scope. */
function historySql(binding: number, { scope, sinceAt, untilAt, limit }: HistoryFilter): Statement {
  const [index, atScope] = scope ? ['history_scope', ' AND scope = ?5'] : ['history_at', '']
  const sql = `SELECT id, data FROM @history @by(${index}) WHERE binding = ?1 AND at >= ?2 AND at <= ?3${atScope} ORDER BY at DESC, id DESC LIMIT ?4`
  const [from, until] = [sinceAt ?? Number.MIN_SAFE_INTEGER, untilAt ?? Number.MAX_SAFE_INTEGER]
  return { sql, values: [binding, from, until, limit ?? Number.MAX_SAFE_INTEGER, ...(scope ? [keptText(scopeKey(scope))] : [])] }
}

interface BindOptions {
  readonly mode: LedgerMode
  readonly now: Instant
  readonly rebind: boolean
}

/** The id of no binding: it reads as empty. */
const NO_BINDING = 0

/** Asks for all bindings, or those of one workspace, by name, the current one of a name first. */
export const bindingsSql = (only?: string): Statement => ({
  // Filtered, because all bindings for each of a thousand workspaces would be a million rows.
  sql: `SELECT * FROM @binding ${only === undefined ? '' : 'WHERE workspace = ?1'} ORDER BY workspace, current DESC, bound_at DESC, id`,
  values: only === undefined ? [] : [keptText(only)],
})

/** A name with an address. `current` is false once a rebinding has set it aside. `baseUrl` is '' until a writer has set it. */
export type Binding = Readonly<ReturnType<typeof bindingOf>>

/** Of a row that `bindingsSql` asks for. */
export const bindingOf = (row: Row) => ({
  id: Number(row['id']),
  workspace: textKept(row['workspace']),
  baseUrl: textKept(row['base_url']),
  current: Boolean(row['current']),
  boundAt: Number(row['bound_at']),
})

/** All bindings, or those of one workspace. */
export const bindings = async ({ ask }: Pick<SqlDatabase, 'ask'>, only?: string): Promise<readonly Binding[]> =>
  (await ask(bindingsSql(only))).map(bindingOf)

/**
 * The id of the binding to use. Without a `baseUrl` it is the current one, for commands that need no service. Rejects with LEDGER_BOUND when the
 * name is bound to another address, unless `rebind` is set. Only a writer rebinds; a reader then sees what the writer would start with.
 */
export async function bind(database: SqlDatabase, workspace: string, baseUrl: string | undefined, options: BindOptions): Promise<number> {
  const asked = bindingsSql(workspace)
  const choose = (rows: readonly Row[]) => chosen(rows.map(bindingOf), database.name, baseUrl, options)
  const known = choose(await database.ask(asked))
  if (known !== undefined) return known
  // A reader takes no transaction: it could not write anyway.
  if (options.mode === 'read') return NO_BINDING
  return database.transaction(function* () {
    return choose(yield asked) ?? (yield* made(keptText(workspace), keptText(baseUrl ?? ''), options.now))
  }, true)
}

/** An existing binding that can be used as it is; undefined when a writer must make one. Throws LEDGER_BOUND. */
function chosen(ofName: readonly Binding[], ledger: string, baseUrl: string | undefined, options: BindOptions): number | undefined {
  const current = ofName.find((one) => one.current)
  if (!current) return undefined
  if (baseUrl === undefined || current.baseUrl === baseUrl) return current.id
  if (current.baseUrl === '') return options.mode === 'read' ? current.id : undefined
  if (!options.rebind || options.mode === 'note') throw boundElsewhere(ledger, current, baseUrl)
  return options.mode === 'read' ? (ofName.find((one) => one.baseUrl === baseUrl)?.id ?? NO_BINDING) : undefined
}

function* made(workspace: string, url: string, now: Instant): Steps<number> {
  // One that has no address yet gets it.
  yield {
    sql: "UPDATE @binding SET base_url = ?2, bound_at = ?3 WHERE workspace = ?1 AND base_url = ''",
    values: [workspace, url, now],
  }
  yield { sql: 'UPDATE @binding SET current = false WHERE workspace = ?1 AND base_url <> ?2', values: [workspace, url] }
  const [row] = yield {
    sql: `INSERT INTO @binding (workspace, base_url, bound_at, current) SELECT workspace, base_url, bound_at, true
          FROM @given(workspace, base_url, bound_at) WHERE true
          ON CONFLICT (workspace, base_url) DO UPDATE SET current = true, bound_at = excluded.bound_at RETURNING id`,
    given: [[workspace, url, now]],
  }
  return Number(row?.['id'])
}

const boundElsewhere = (ledger: string, current: Binding, baseUrl: string): LedgerError =>
  new LedgerError(
    'LEDGER_BOUND',
    `${current.workspace}: ${ledger} is bound to ${current.baseUrl}, and the address now is ${baseUrl}; ` +
      'if the workspace has moved there, start run or apply with --rebind (what is recorded for the old address is set aside), else correct --base-url',
  )
