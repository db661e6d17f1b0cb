// What each change of a workspace means in SQL (changes.sql). Changes of kinds that need statements one after the other name no row.
import { BugError } from '../../../core/model/problem.ts'
import { credits } from '../../../core/model/units.ts'
import type { BurnStep } from '../../../core/use/burn.ts'
import type { AddOnBatch, RunsBatch } from '../../../ports.ts'
import { KEYS, type KeyedTable, type RowChange, StaleRow } from '../adapter.ts'
import { LedgerError } from '../error.ts'
import { SQL } from './changes.generated.ts'
import { bounds, centsOf, dayOf, lastDays, READINGS_KEPT_MS } from './queries.ts'
import { type Change, keptText, type Place, type Recorded, type Steps, type Value } from './statement.ts'

/** The statements of a change, in their order. */
export function statementsOf(change: RowChange, { workspace, binding }: Place): readonly Change[] {
  const of = [binding]
  const name = keptText(workspace)
  switch (change.kind) {
    case 'put':
      return [put(of, change)]
    case 'drop':
      return [dropped(of, change.table, change.key)]
    case 'open':
      return [{ sql: SQL.open, values: of, given: [[change.data]], row: 'open', as: 'opened' }]
    case 'close': {
      const refused = () => new BugError(`intent ${change.id} for ${change.scope} has an outcome already`)
      return [{ sql: SQL.close, values: [binding, change.id], row: 'close', as: 'closed', refused }]
    }
    case 'append': {
      const given = [[change.at, keptText(change.scope), change.data]]
      return [{ sql: SQL.append, values: of, given, row: `history ${change.data}` }]
    }
    case 'pause': {
      const gone = { sql: SQL.endPause, values: [name] }
      return [gone, ...(change.data === undefined ? [] : [{ sql: SQL.pause, given: [[name, change.data]] }])]
    }
    case 'runs':
      return runs(of, keptText(change.scope), change.batch)
    case 'burn':
      return burn(of, change.step)
    case 'addOn':
      return addOn(of, change.batch)
    case 'days':
      return days(of, change)
    case 'noDays':
      return [SQL.dropTold, SQL.dropKnown].map((sql) => ({ sql, values: of }))
    case 'forget':
      return [SQL.forgetHistory, SQL.forgetUse, SQL.forgetAddOnUse, SQL.forgetDays, SQL.forgetPerson].map((sql) => ({
        sql,
        values: [binding, keptText(change.email)],
      }))
  }
}

/** The binding, as the first value of a statement. */
type Of = readonly number[]

interface Put extends Pick<Extract<RowChange, { kind: 'put' }>, 'key' | 'data' | 'known'> {
  readonly table: KeyedTable | 'known_days'
}

function put(of: Of, { table, key, data, known }: Put): Change {
  const column = KEYS[table]
  const row = `${table} ${key}`
  if (known?.data !== undefined) {
    const sql = `UPDATE @${table} SET data = ?3 WHERE @may AND binding = ?1 AND ${column} = ?2 AND data = ?4 RETURNING id`
    return { sql, values: [...of, keptText(key), data, known.data], row }
  }
  const otherwise = known ? 'NOTHING RETURNING id' : 'UPDATE SET data = excluded.data'
  const sql = `INSERT INTO @${table} (binding, ${column}, data) SELECT CAST(?1 AS BIGINT), ${column}, data FROM @given(${column}, data) WHERE @may
    ON CONFLICT (binding, ${column}) DO ${otherwise}`
  return { sql, values: of, given: [[keptText(key), data]], row }
}

function dropped(of: Of, table: KeyedTable, key: string): Change {
  const column = KEYS[table]
  const sql = `DELETE FROM @${table} WHERE @may AND binding = ?1 AND ${column} IN (SELECT ${column} FROM @given(${column}))`
  return { sql, values: of, given: [[keptText(key)]], row: `${table} ${key}` }
}

/** Replaces the runs of some days. */
const runs = (of: Of, scope: string, batch: RunsBatch): readonly Change[] => [
  { sql: SQL.dropRuns, values: [...of, ...bounds(batch), scope] },
  {
    ...{ sql: SQL.addRuns, values: of },
    given: batch.rows.map(({ dayAt, model, mode, messages, used }) => [
      ...[dayOf(dayAt), scope, keptText(model), keptText(mode), messages],
      used === undefined ? null : centsOf(used),
    ]),
  },
]

/** What a reading of the roster adds. */
function burn(of: Of, { burned, readAt, increases, isNewCycle, raised, used }: BurnStep): readonly Change[] {
  // A reading counts on the day it was made. Choice: the service is up to 3 h late, and does not say when a person used something.
  const day = dayOf(readAt)
  const highest = [...new Set(raised)].map((email) => [keptText(email), centsOf(burned.highest?.get(email) ?? credits(0)), day])
  const added = [...increases].map(([email, increase]) => [keptText(email), day, centsOf(increase)])
  const people = [
    ...(isNewCycle ? [{ sql: SQL.beginCycle, values: of }] : []),
    { sql: SQL.raise, values: of, given: highest },
    { sql: SQL.addIncreases, values: of, given: added },
  ]
  if (used === undefined) return people
  const reading = { sql: SQL.addReading, values: of, given: [[readAt, centsOf(used)]] }
  return [...people, reading, { sql: SQL.dropReadings, values: [...of, readAt - READINGS_KEPT_MS] }]
}

/** Replaces the add-on use of some days. */
const addOn = (of: Of, batch: AddOnBatch): readonly Change[] => [
  { sql: SQL.dropAddOnUse, values: [...of, ...bounds(batch)] },
  { sql: SQL.see, values: of, given: [...lastDays(batch.rows)].map(([email, day]) => [keptText(email), 0, day]) },
  {
    ...{ sql: SQL.addAddOnUse, values: of },
    given: batch.rows.map((one) => [keptText(one.email), dayOf(one.dayAt), keptText(one.model), centsOf(one.used), centsOf(one.addOn)]),
  },
]

/** Replaces one person's use on some days, while what is known of them is as it was read. */
function days(of: Of, { email, data, before, told }: Extract<RowChange, { kind: 'days' }>): readonly Change[] {
  const kept: Change = {
    ...put(of, { table: 'known_days', key: email, data, known: { data: before } }),
    ...{ row: undefined, as: 'known', refused: () => new StaleRow() },
  }
  if (!told) return [kept]
  const name = keptText(email)
  const used = told.rows.filter((one) => one.used > 0)
  return [
    kept,
    { sql: SQL.see, values: of, given: [[name, 0, dayOf(told.untilAt - 1)]] },
    { sql: SQL.dropDays, values: [...of, name, ...bounds(told)] },
    { sql: SQL.addDays, values: of, given: used.map((one) => [name, dayOf(one.dayAt), centsOf(one.used)]) },
  ]
}

/** Joins changes that follow each other and differ in their given rows alone, as long as each is about another row. */
export function joined(changes: readonly Change[]): readonly Change[] {
  // A change of a row has one given row. There may be many thousands, so each is found by its key.
  const all: { readonly change: Change; readonly rows: Map<Value | undefined, readonly Value[]> }[] = []
  for (const change of changes) {
    const last = all.at(-1)
    const [row] = change.given ?? []
    const isAlike = change.row !== undefined && last?.change.row !== undefined && last.change.sql === change.sql
    if (row && isAlike && !last.rows.has(row[0])) last.rows.set(row[0], row)
    else all.push({ change, rows: new Map(row && [[row[0], row]]) })
  }
  return all.map(({ change, rows }) => (rows.size > 1 ? { ...change, given: [...rows.values()] } : change))
}

/** The steps of a record; `name` is the ledger's in messages. */
export function* recording({ workspace, binding }: Place, changes: readonly Change[], name: string): Steps<Recorded> {
  const [raised] = yield { sql: 'UPDATE @binding SET version = version + 1 WHERE id = ?1 RETURNING version', values: [binding] }
  if (!raised) throw unbound(name, workspace)
  let opened: number | undefined
  for (const { as, refused, ...statement } of joined(changes)) {
    const [row] = yield statement
    if (refused && !row) throw refused()
    if (as === 'opened') opened = Number(row?.['id'])
  }
  return { version: Number(raised['version']), opened }
}

/** After a backup was restored while a daemon was running. */
export const unbound = (name: string, workspace: string): LedgerError =>
  new LedgerError('LEDGER_CORRUPT', `${name}: the records of ${workspace} are gone; stop capkeeper and restore the database from a backup`)
