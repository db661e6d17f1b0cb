// The rows of one workspace in any database. By the version of its binding a process knows whether its copy in memory is still current.
import { scopeKey } from '../../../core/model/scope.ts'
import type { HistoryFilter } from '../../../ports.ts'
import { type DataRow, dataRow, KEYS, type KeyedRow, type KeyedTable, type Snapshot, type WorkspaceRows } from '../adapter.ts'
import { useQueries } from './queries.ts'
import { keptText, type Place, type Row, type SqlDatabase, type Statement, textKept } from './statement.ts'

/** A binding that does not exist reads as an empty workspace. */
export function workspaceRows({ name, ask, record }: SqlDatabase, place: Place): WorkspaceRows {
  const { workspace, binding } = place
  let seen: number | undefined
  const history = async (filter: HistoryFilter): Promise<readonly DataRow[]> => (await ask(historySql(binding, filter))).map(dataRow)
  return {
    name,
    async read(latelySince, isKnown) {
      if (isKnown && seen !== undefined) {
        const [row] = await ask({ sql: 'SELECT version FROM @binding WHERE id = ?1', values: [binding] })
        if (row && Number(row['version']) === seen) return undefined
      }
      const rows = await ask(presentSql(binding))
      seen = versionIn(rows)
      // Not in the same statement: history only grows at its end, and an entry that is added in between is read again with the next version.
      return snapshotOf(rows, await ask(historySql(binding, { sinceAt: latelySince })))
    },
    async write(changes) {
      const { opened, version } = await record(place, changes)
      // Only our own change came since the last reading, and we know it.
      if (seen === version - 1) seen = version
      return opened
    },
    history,
    async pause() {
      const [row] = await ask(pauseSql(workspace))
      return row && dataRow(row)
    },
    async knownDays(email) {
      const sql = `SELECT id, email AS key, data FROM @known_days WHERE binding = ?1${email === undefined ? '' : ' AND email = ?2'} ORDER BY email`
      return (await ask({ sql, values: [binding, ...(email === undefined ? [] : [keptText(email)])] })).map(keyedRow)
    },
    use: useQueries(ask, binding),
  }
}

export const pauseSql = (workspace: string): Statement => ({
  ...{ sql: 'SELECT id, data FROM @pause WHERE workspace = ?1', values: [keptText(workspace)] },
})

const TABLES = Object.keys({ owned: 0, approval: 0, quarantine: 0, fact: 0 } satisfies Record<KeyedTable, 0>) as readonly KeyedTable[]

/** All rows that are kept in memory but history, in one statement, so that it sees one state of the database. */
export const presentSql = (binding: number): Statement => ({ sql: PRESENT, values: [binding] })

const PRESENT = [
  `SELECT 'version' AS kind, version AS id, '' AS key, '' AS data FROM @binding WHERE id = ?1`,
  ...TABLES.map((table) => `SELECT '${table}', id, ${KEYS[table]}, data FROM @${table} WHERE binding = ?1`),
  `SELECT 'intent', id, '', data FROM @intent WHERE binding = ?1`,
].join(' UNION ALL ')

const versionIn = (rows: readonly Row[]): number => Number(rows.find((row) => row['kind'] === 'version')?.['id'] ?? 0)

const keyedRow = (row: Row): KeyedRow => ({ ...dataRow(row), key: textKept(row['key']) })

/** Of rows that `presentSql` and `historySql` ask for. */
export function snapshotOf(rows: readonly Row[], lately: readonly Row[]): Snapshot {
  const of = (kind: string): readonly Row[] => rows.filter((row) => row['kind'] === kind)
  const table = (name: KeyedTable): readonly KeyedRow[] => of(name).map(keyedRow)
  return {
    tables: { owned: table('owned'), approval: table('approval'), quarantine: table('quarantine'), fact: table('fact') },
    intents: of('intent')
      .map(dataRow)
      .sort((a, b) => a.id - b.id),
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
