// What each change of a workspace means in SQL. Changes of kinds that need statements one after the other name no row.
import { BugError } from '../../../core/model/problem.ts'
import { credits } from '../../../core/model/units.ts'
import type { BurnStep } from '../../../core/use/burn.ts'
import type { AddOnBatch, RunsBatch } from '../../../ports.ts'
import { KEYS, type KeyedTable, type RowChange, StaleRow } from '../adapter.ts'
import { LedgerError } from '../error.ts'
import { bounds, centsOf, dayOf, lastDays, MOST, READINGS_KEPT_MS } from './queries.ts'
import { type Change, keptText, type Place, type Recorded, type Steps } from './statement.ts'

/** An insertion of given rows. */
const insert = (table: string, columns: string): string =>
  `INSERT INTO @${table} (binding, ${columns}) SELECT CAST(?1 AS BIGINT), ${columns} FROM @given(${columns}) WHERE @may`

/** Makes or changes a person. */
const people = (changes: string): string =>
  `${insert('person', 'email, highest, last_day')} ON CONFLICT (binding, email) DO UPDATE SET ${changes}`

const SEEN = people('last_day = @greatest(person.last_day, excluded.last_day)')

/** An insertion of given rows that belong to people whom the ledger knows. */
const ofPeople = (table: string, columns: string, told?: boolean): string => {
  const [more, flag] = told === undefined ? ['', ''] : [', told', `, ${told}`]
  const given = columns.split(', ').map((column) => `given.${column}`)
  return `INSERT INTO @${table} (binding, person, ${columns}${more}) SELECT CAST(?1 AS BIGINT), person.id, ${given.join(', ')}${flag}
    FROM @given(email, ${columns}) JOIN @person ON person.binding = ?1 AND person.email = given.email WHERE @may`
}

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
      return [{ sql: `${insert('intent', 'data')} RETURNING id`, values: of, given: [[change.data]], row: 'open', as: 'opened' }]
    case 'close': {
      const sql = 'DELETE FROM @intent WHERE @may AND binding = ?1 AND id = ?2 RETURNING id'
      const refused = () => new BugError(`intent ${change.id} for ${change.scope} has an outcome already`)
      return [{ sql, values: [binding, change.id], row: 'close', as: 'closed', refused }]
    }
    case 'append': {
      const given = [[change.at, keptText(change.scope), change.data]]
      return [{ sql: insert('history', 'at, scope, data'), values: of, given, row: `history ${change.data}` }]
    }
    case 'pause': {
      const gone = { sql: 'DELETE FROM @pause WHERE workspace = ?1', values: [name] }
      const sql = 'INSERT INTO @pause (workspace, data) SELECT workspace, data FROM @given(workspace, data) WHERE @may'
      return [gone, ...(change.data === undefined ? [] : [{ sql, given: [[name, change.data]] }])]
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
      return ['DELETE FROM @person_use WHERE binding = ?1 AND told', 'DELETE FROM @known_days WHERE binding = ?1'].map((sql) => ({
        sql,
        values: of,
      }))
    case 'forget':
      return FORGET.map((sql) => ({ sql, values: [binding, keptText(change.email)] }))
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
  const sql = `${insert(table, `${column}, data`)} ON CONFLICT (binding, ${column}) DO ${otherwise}`
  return { sql, values: of, given: [[keptText(key), data]], row }
}

function dropped(of: Of, table: KeyedTable, key: string): Change {
  const column = KEYS[table]
  const sql = `DELETE FROM @${table} WHERE @may AND binding = ?1 AND ${column} IN (SELECT ${column} FROM @given(${column}))`
  return { sql, values: of, given: [[keptText(key)]], row: `${table} ${key}` }
}

/** Replaces the runs of some days. */
const runs = (of: Of, scope: string, batch: RunsBatch): readonly Change[] => [
  { sql: 'DELETE FROM @run_use WHERE binding = ?1 AND day >= ?2 AND day < ?3 AND scope = ?4', values: [...of, ...bounds(batch), scope] },
  {
    ...{ sql: insert('run_use', 'day, scope, model, mode, messages, cents'), values: of },
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
  const anew = { sql: 'UPDATE @person SET highest = 0 WHERE binding = ?1', values: of }
  const known = {
    ...{ sql: people('highest = excluded.highest, last_day = excluded.last_day'), values: of },
    given: [...new Set(raised)].map((email) => [keptText(email), centsOf(burned.highest?.get(email) ?? credits(0)), day]),
  }
  const added = {
    sql: `${ofPeople('person_use', 'day, cents', false)}
          ON CONFLICT (binding, day, person) DO UPDATE SET cents = @least(person_use.cents + excluded.cents, ${MOST}) WHERE NOT person_use.told`,
    ...{ values: of, given: [...increases].map(([email, increase]) => [keptText(email), day, centsOf(increase)]) },
  }
  const all = [...(isNewCycle ? [anew] : []), known, added]
  if (used === undefined) return all
  const reading = {
    sql: `${insert('use_reading', 'at, cents')} ON CONFLICT (binding, at) DO UPDATE SET cents = excluded.cents`,
    ...{ values: of, given: [[readAt, centsOf(used)]] },
  }
  const old = { sql: 'DELETE FROM @use_reading WHERE binding = ?1 AND at < ?2', values: [...of, readAt - READINGS_KEPT_MS] }
  return [...all, reading, old]
}

/** Replaces the add-on use of some days. */
const addOn = (of: Of, batch: AddOnBatch): readonly Change[] => [
  { sql: 'DELETE FROM @add_on_use WHERE binding = ?1 AND day >= ?2 AND day < ?3', values: [...of, ...bounds(batch)] },
  { sql: SEEN, values: of, given: [...lastDays(batch.rows)].map(([email, day]) => [keptText(email), 0, day]) },
  {
    sql: ofPeople('add_on_use', 'day, model, cents, add_on_cents'),
    values: of,
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
  const [from, until] = bounds(told)
  const all = Array.from({ length: until - from }, (_, at) => [from + at])
  const used = told.rows.filter((one) => one.used > 0)
  return [
    kept,
    { sql: SEEN, values: of, given: [[name, 0, dayOf(told.untilAt - 1)]] },
    // Each day by itself, because the key begins with the day.
    {
      sql: `DELETE FROM @person_use WHERE binding = ?1 AND day IN (SELECT day FROM @given(day))
            AND person = (SELECT id FROM @person WHERE binding = ?1 AND email = ?2)`,
      ...{ values: [...of, name], given: all },
    },
    {
      sql: ofPeople('person_use', 'day, cents', true),
      ...{ values: of, given: used.map((one) => [name, dayOf(one.dayAt), centsOf(one.used)]) },
    },
  ]
}

const OF_PERSON = 'person IN (SELECT id FROM @person WHERE binding = ?1 AND email = ?2)'
const FORGET = [
  'DELETE FROM @history WHERE binding = ?1 AND scope = ?2',
  `DELETE FROM @person_use WHERE binding = ?1 AND ${OF_PERSON}`,
  `DELETE FROM @add_on_use WHERE binding = ?1 AND ${OF_PERSON}`,
  'DELETE FROM @known_days WHERE binding = ?1 AND email = ?2',
  'DELETE FROM @person WHERE binding = ?1 AND email = ?2',
]

/** Joins changes that follow each other and differ in their given rows alone, as long as each is about another row. */
export function joined(changes: readonly Change[]): readonly Change[] {
  const all: Change[] = []
  for (const change of changes) {
    const last = all.at(-1)
    const [key] = change.given?.[0] ?? []
    const isAlike = change.row !== undefined && last?.row !== undefined && last.sql === change.sql && change.given !== undefined
    if (last && isAlike && !last.given?.some(([one]) => one === key))
      all[all.length - 1] = { ...last, given: [...(last.given ?? []), ...(change.given ?? [])] }
    else all.push(change)
  }
  return all
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
