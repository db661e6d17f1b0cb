// Makes a record in one statement, which costs one round trip: it checks the schema and the lease, raises the binding's version and writes
// the rows, all or nothing. Changes that need more than one statement go through `writer.write`.
import { KEYS, type RowChange } from '../../adapter.ts'
import type { Row, Value } from '../database.ts'
import { keptText } from '../error.ts'
import { POSTGRES_VERSION } from '../schema.ts'

/** Changes of one kind and one table that follow each other, each row once. */
export type Batch = readonly [RowChange, ...RowChange[]]

export interface Single {
  readonly sql: string
  readonly values: readonly Value[]
}

/** The lease that the record needs. */
export interface Under {
  readonly workspace: string
  readonly replica: string
  readonly token: number
}

/** The result of the statement. */
export interface SingleAnswer {
  readonly schema: number
  /** Absent when the record was refused: then nothing has happened. */
  readonly version?: number
  readonly opened?: number
  /** False when it should have closed an intent that is not open. */
  readonly isClosed: boolean
}

/** Undefined for changes that need more than one statement, and when two are about one row. */
export function singleOf(binding: number, all: readonly Batch[], under: Under | undefined): Single | undefined {
  const rows = all.flat().map(rowOf)
  if (rows.includes(undefined) || new Set(rows).size < rows.length) return undefined
  const values: Value[] = [binding, POSTGRES_VERSION, keptText(under?.workspace ?? ''), under?.replica ?? null, under?.token ?? null]
  const given = (value: Value): string => `$${values.push(value)}`
  // The other changes are made only if the intent that they close was open.
  const closes = all.flat().find((change) => change.kind === 'close')
  const close =
    closes?.kind === 'close'
      ? `, closed AS (DELETE FROM capkeeper.intent USING raised WHERE binding = $1 AND intent.id = ${given(closes.id)}::bigint RETURNING intent.id)`
      : ''
  const right = closes ? 'closed' : 'raised'
  const parts = all.flatMap((batch, at) =>
    batch[0].kind === 'close' ? [] : [`, ${batch[0].kind === 'open' ? 'opened' : `part${at}`} AS (${partOf(batch, right, given)})`],
  )
  const opens = all.some(([change]) => change.kind === 'open')
  return {
    sql: `${GATE}${close}${parts.join('')}
      SELECT set_config('synchronous_commit', 'on', true), (SELECT version FROM capkeeper.schema_version) AS schema, (SELECT version FROM raised) AS version,
        ${opens ? '(SELECT id FROM opened)' : 'NULL'} AS opened, ${closes ? 'EXISTS (SELECT FROM closed)' : 'true'} AS closed`,
    values,
  }
}

// The lock on the lease lets it be renewed meanwhile, but not taken. `synchronous_commit` below makes the answer wait for the disk.
const GATE = `WITH held AS (SELECT token FROM capkeeper.lease WHERE workspace = $3::text AND holder = $4::text AND token = $5::bigint FOR KEY SHARE),
  raised AS (UPDATE capkeeper.binding SET version = version + 1
    WHERE id = $1::bigint AND ($4::text IS NULL OR EXISTS (SELECT FROM held)) AND (SELECT version FROM capkeeper.schema_version) <= $2::integer
    RETURNING version)`

/** The row that a change is about; undefined for a change that needs more than one statement. */
function rowOf(change: RowChange, at: number): string | undefined {
  switch (change.kind) {
    case 'put':
      return change.known ? undefined : `${change.table} ${change.key}`
    case 'drop':
      return `${change.table} ${change.key}`
    case 'open':
    case 'close':
      return change.kind
    case 'append':
      return `append ${at}`
    default:
      return undefined
  }
}

function partOf([change, ...more]: Batch, right: string, given: (value: Value) => string): string {
  const all = [change, ...more]
  switch (change.kind) {
    case 'put': {
      const puts = all.flatMap((one) => (one.kind === 'put' ? [one] : []))
      const [keys, data] = [given(puts.map(({ key }) => keptText(key))), given(puts.map((one) => one.data))]
      const column = KEYS[change.table]
      return `INSERT INTO capkeeper.${change.table} (binding, ${column}, data)
        SELECT $1::bigint, key, data FROM ${right}, unnest(${keys}::text[], ${data}::text[]) WITH ORDINALITY AS given (key, data, place) ORDER BY place
        ON CONFLICT (binding, ${column}) DO UPDATE SET data = excluded.data`
    }
    case 'drop': {
      const keys = given(all.flatMap((one) => (one.kind === 'drop' ? [keptText(one.key)] : [])))
      return `DELETE FROM capkeeper.${change.table} USING ${right} WHERE binding = $1 AND ${KEYS[change.table]} = ANY(${keys}::text[])`
    }
    case 'open':
      return `INSERT INTO capkeeper.intent (binding, data) SELECT $1::bigint, ${given(change.data)}::text FROM ${right} RETURNING id`
    case 'append':
      return `INSERT INTO capkeeper.history (binding, at, scope, data)
        SELECT $1::bigint, ${given(change.at)}::bigint, ${given(keptText(change.scope))}::text, ${given(change.data)}::text FROM ${right}`
    default:
      return `SELECT FROM ${right}`
  }
}

export function singleAnswer(rows: readonly Row[]): SingleAnswer {
  const [row] = rows
  const [version, opened] = [row?.['version'], row?.['opened']]
  return {
    schema: Number(row?.['schema'] ?? 0),
    version: version !== null && version !== undefined ? Number(version) : undefined,
    opened: opened !== null && opened !== undefined ? Number(opened) : undefined,
    isClosed: row?.['closed'] === true,
  }
}
