// Makes a record in one statement, which costs one round trip: it checks the schema and the lease, raises the binding's version and carries out
// the changes, all or nothing.
import { joined } from '../sql/changes.ts'
import { type Change, keptText, type Recorded, type Row } from '../sql/statement.ts'
import { SCHEMA_VERSION } from '../sql/tables.ts'
import type { Value } from './database.ts'
import { sent } from './dialect.ts'

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
export interface SingleAnswer extends Partial<Recorded> {
  readonly schema: number
  /** Absent when the record was refused: then nothing has happened. */
  readonly version?: number
  /** False when it should have closed an intent that is not open: then nothing else has happened. */
  readonly isClosed: boolean
}

/** Undefined for changes that need more than one statement, and when two are about one row. */
export function singleOf(binding: number, changes: readonly Change[], under: Under | undefined): Single | undefined {
  const rows = changes.map(({ row }) => row)
  if (rows.includes(undefined) || new Set(rows).size < rows.length) return undefined
  const values: Value[] = [binding, SCHEMA_VERSION, keptText(under?.workspace ?? ''), under?.replica ?? null, under?.token ?? null]
  const part = (change: Change, name: string, right: string): string => {
    const first = values.length
    const [sql, own] = sent(change, `EXISTS (SELECT FROM ${right})`)
    values.push(...own)
    return `, ${name} AS (${sql.replaceAll(/\$(\d+)/g, (_, place) => `$${first + Number(place)}`)})`
  }
  // The other changes are made only if the intent that they close was open.
  const close = changes.find(({ as }) => as === 'closed')
  const others = joined(changes.filter((change) => change !== close))
  const parts = [
    ...(close ? [part(close, 'closed', 'raised')] : []),
    ...others.map((change, at) => part(change, change.as ?? `part${at}`, close ? 'closed' : 'raised')),
  ]
  const opens = others.some(({ as }) => as === 'opened')
  return {
    sql: `${GATE}${parts.join('')}
      SELECT set_config('synchronous_commit', 'on', true), (SELECT version FROM capkeeper.schema_version) AS schema, (SELECT version FROM raised) AS version,
        ${opens ? '(SELECT id FROM opened)' : 'NULL'} AS opened, ${close ? 'EXISTS (SELECT FROM closed)' : 'true'} AS closed`,
    values,
  }
}

// The lock on the lease lets it be renewed meanwhile, but not taken. `synchronous_commit` below makes the answer wait for the disk.
const GATE = `WITH held AS (SELECT token FROM capkeeper.lease WHERE workspace = $3::text AND holder = $4::text AND token = $5::bigint FOR KEY SHARE),
  raised AS (UPDATE capkeeper.binding SET version = version + 1
    WHERE id = $1::bigint AND ($4::text IS NULL OR EXISTS (SELECT FROM held)) AND (SELECT version FROM capkeeper.schema_version) = $2::integer
    RETURNING version)`

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
