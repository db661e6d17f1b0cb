// The rows of one workspace in PostgreSQL: the same as `../../sqlite/rows.ts`, in as few round trips as possible. Every transaction raises
// the version of the binding, by which a process knows whether its copy in memory is still current.

import { scopeKey } from '../../../../core/model/scope.ts'
import type { Instant } from '../../../../core/model/units.ts'
import type { HistoryFilter } from '../../../../ports.ts'
import { dataRow, KEYS, type KeyedRow, type KeyedTable, notOpen, type RowChange, type Snapshot, type WorkspaceRows } from '../../adapter.ts'
import { useRows } from '../../use/queries.ts'
import type { PostgresDatabase, Query, Row } from '../database.ts'
import { keptText, textKept } from '../error.ts'
import type { Writer } from '../writer.ts'
import { type Batch, singleOf } from './single.ts'
import { keepAddOn, keepBurn, keepDays, keepRuns, postgresUse } from './use.ts'

interface PostgresRowsOptions {
  readonly database: PostgresDatabase
  readonly writer: Writer
  readonly workspace: string
  /** The id of the binding; one that does not exist reads as an empty workspace. */
  readonly binding: number
}

export function postgresRows({ database, writer, workspace, binding }: PostgresRowsOptions): WorkspaceRows {
  const { query } = database
  let seen: number | undefined
  /** In one statement where possible. */
  const record = async (changes: readonly RowChange[]): Promise<{ readonly opened?: number; readonly version: number }> => {
    const all = batches(changes)
    const single = await writer.single(workspace, (under) => singleOf(binding, all, under))
    if (single?.isClosed === false) throw notOpen(changes.find((change) => change.kind === 'close'))
    if (single) return single
    return writer.write(workspace, async (ask) => {
      const [raised] = await ask('UPDATE capkeeper.binding SET version = version + 1 WHERE id = $1 RETURNING version', [binding])
      const opened = await applyAll(ask, { workspace, binding }, all)
      return { opened, version: Number(raised?.['version']) }
    })
  }
  return {
    name: database.name,
    async read(latelySince, isKnown) {
      if (isKnown && seen !== undefined && (await versionOf(query, binding)) === seen) return undefined
      const { snapshot, version } = await readRows(query, binding, latelySince)
      seen = version
      return snapshot
    },
    async write(changes) {
      const { opened, version } = await record(changes)
      // Only our own change came since the last reading, and we know it.
      if (seen === version - 1) seen = version
      return opened
    },
    history: async (filter) => (await historyRows(query, binding, filter)).map(dataRow),
    async pause() {
      const [row] = await query('SELECT id, data FROM capkeeper.pause WHERE workspace = $1', [keptText(workspace)])
      return row && dataRow(row)
    },
    ...useRows(postgresUse(query), binding),
  }
}

async function versionOf(query: Query, binding: number): Promise<number | undefined> {
  const [row] = await query('SELECT version FROM capkeeper.binding WHERE id = $1', [binding])
  return row && Number(row['version'])
}

const tableSql = (table: KeyedTable): string =>
  `SELECT '${table}' AS kind, id, ${KEYS[table]} AS key, data FROM capkeeper.${table} WHERE binding = $1`

/** One statement, so that it sees one state of the database. */
const SNAPSHOT = [
  `SELECT 'version' AS kind, version AS id, '' AS key, '' AS data FROM capkeeper.binding WHERE id = $1`,
  tableSql('owned'),
  tableSql('approval'),
  tableSql('quarantine'),
  tableSql('fact'),
  `SELECT 'intent', id, '', data FROM capkeeper.intent WHERE binding = $1`,
].join(' UNION ALL ')

async function readRows(query: Query, binding: number, latelySince: Instant) {
  const rows = await query(`SELECT * FROM (${SNAPSHOT}) AS present ORDER BY id`, [binding])
  // Not in the same statement: history only grows at its end, and an entry that is added in between is read again with the next version.
  const lately = await historyRows(query, binding, { sinceAt: latelySince })
  const of = (kind: string): readonly Row[] => rows.filter((row) => row['kind'] === kind)
  const table = (name: KeyedTable): readonly KeyedRow[] => of(name).map((row) => ({ ...dataRow(row), key: textKept(row['key']) }))
  const snapshot: Snapshot = {
    tables: { owned: table('owned'), approval: table('approval'), quarantine: table('quarantine'), fact: table('fact') },
    intents: of('intent').map(dataRow),
    lately: lately.map(dataRow),
  }
  return { snapshot, version: Number(of('version')[0]?.['id'] ?? 0) }
}

/** Newest first. */
function historyRows(query: Query, binding: number, { scope, sinceAt, untilAt, limit }: HistoryFilter): Promise<readonly Row[]> {
  const [from, until] = [sinceAt ?? Number.MIN_SAFE_INTEGER, untilAt ?? Number.MAX_SAFE_INTEGER]
  const values = [binding, from, limit ?? null, until, ...(scope ? [keptText(scopeKey(scope))] : [])]
  return query(
    `SELECT id, data FROM capkeeper.history WHERE binding = $1 AND at >= $2 AND at <= $4${scope ? ' AND scope = $5' : ''}
     ORDER BY at DESC, id DESC LIMIT $3`,
    values,
  )
}

interface Place {
  readonly workspace: string
  readonly binding: number
}

/** Inside a transaction. Returns the id of an intent that it opened. */
async function applyAll(query: Query, place: Place, all: readonly Batch[]): Promise<number | undefined> {
  let opened: number | undefined
  for (const batch of all) opened = (await apply(query, place, batch)) ?? opened
  return opened
}

/** Joins consecutive changes of one kind and one table, as long as each is about another row. */
function batches(changes: readonly RowChange[]): readonly Batch[] {
  const all: [RowChange, ...RowChange[]][] = []
  for (const change of changes) {
    const last = all.at(-1)
    if (last && isAlike(last[0], change) && !last.some((one) => keyOf(one) === keyOf(change))) last.push(change)
    else all.push([change])
  }
  return all
}

const keyOf = (change: RowChange): string | undefined => ('key' in change ? change.key : undefined)

const isAlike = (a: RowChange, b: RowChange): boolean =>
  (a.kind === 'put' && b.kind === 'put' && a.table === b.table && !a.known && !b.known) ||
  (a.kind === 'drop' && b.kind === 'drop' && a.table === b.table)

async function apply(query: Query, { workspace, binding }: Place, [change, ...more]: Batch) {
  const keys = [change, ...more].map((one) => keptText(keyOf(one) ?? ''))
  switch (change.kind) {
    case 'put':
      await put(query, binding, change, more)
      return undefined
    case 'drop':
      await query(`DELETE FROM capkeeper.${change.table} WHERE binding = $1 AND ${KEYS[change.table]} = ANY($2::text[])`, [binding, keys])
      return undefined
    case 'open': {
      const [row] = await query('INSERT INTO capkeeper.intent (binding, data) VALUES ($1, $2) RETURNING id', [binding, change.data])
      return Number(row?.['id'])
    }
    case 'close': {
      const closed = await query('DELETE FROM capkeeper.intent WHERE binding = $1 AND id = $2 RETURNING id', [binding, change.id])
      if (closed.length === 0) throw notOpen(change)
      return undefined
    }
    case 'append':
      await query('INSERT INTO capkeeper.history (binding, at, scope, data) VALUES ($1, $2, $3, $4)', [
        binding,
        change.at,
        keptText(change.scope),
        change.data,
      ])
      return undefined
    case 'pause':
      await query('DELETE FROM capkeeper.pause WHERE workspace = $1', [keptText(workspace)])
      if (change.data !== undefined) {
        await query('INSERT INTO capkeeper.pause (workspace, data) VALUES ($1, $2)', [keptText(workspace), change.data])
      }
      return undefined
    case 'runs':
      await keepRuns(query, binding, change.scope, change.batch)
      return undefined
    case 'addOn':
      await keepAddOn(query, binding, change.batch)
      return undefined
    case 'burn':
      await keepBurn(query, binding, change.step)
      return undefined
    case 'days':
      await keepDays(query, binding, change)
      return undefined
    case 'noDays':
      await query('DELETE FROM capkeeper.person_use WHERE binding = $1 AND told', [binding])
      await query('DELETE FROM capkeeper.known_days WHERE binding = $1', [binding])
      return undefined
    case 'forget':
      await forget(query, binding, keptText(change.email))
      // The holder of the workspace saves it again, without the person.
      await query('DELETE FROM capkeeper.shown WHERE workspace = $1', [keptText(workspace)])
      return undefined
  }
}

type Put = Extract<RowChange, { readonly kind: 'put' }>

async function put(query: Query, binding: number, change: Put, more: readonly RowChange[]): Promise<void> {
  const { table, key, data, known } = change
  const column = KEYS[table]
  if (known && known.data !== undefined) {
    const sql = `UPDATE capkeeper.${table} SET data = $1 WHERE binding = $2 AND ${column} = $3 AND data = $4`
    await query(sql, [data, binding, keptText(key), known.data])
    return
  }
  const all = [change, ...more.filter((one): one is Put => one.kind === 'put')]
  await query(
    `INSERT INTO capkeeper.${table} (binding, ${column}, data)
     SELECT $1::bigint, key, data FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS given (key, data, place) ORDER BY place
     ON CONFLICT (binding, ${column}) DO ${known ? 'NOTHING' : 'UPDATE SET data = excluded.data'}`,
    [binding, all.map((one) => keptText(one.key)), all.map((one) => one.data)],
  )
}

async function forget(query: Query, binding: number, email: string): Promise<void> {
  const person = 'person IN (SELECT id FROM capkeeper.person WHERE binding = $1 AND email = $2)'
  await query('DELETE FROM capkeeper.history WHERE binding = $1 AND scope = $2', [binding, email])
  for (const table of ['person_use', 'add_on_use'])
    await query(`DELETE FROM capkeeper.${table} WHERE binding = $1 AND ${person}`, [binding, email])
  await query('DELETE FROM capkeeper.known_days WHERE binding = $1 AND email = $2', [binding, email])
  await query('DELETE FROM capkeeper.person WHERE binding = $1 AND email = $2', [binding, email])
}
