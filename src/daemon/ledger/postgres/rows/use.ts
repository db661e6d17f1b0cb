// Use in PostgreSQL: the same tables and sums as in `../../sqlite/rows.ts`, written in as few statements as possible.
import { credits, type Instant } from '../../../../core/model/units.ts'
import type { BurnStep } from '../../../../core/use/burn.ts'
import type { AddOnBatch, RunsBatch } from '../../../../ports.ts'
import { type RowChange, StaleRow } from '../../adapter.ts'
import { bounds, centsOf, dayOf, lastDays, MOST, READINGS_KEPT_MS, type UseDatabase } from '../../use/queries.ts'
import type { Query } from '../database.ts'
import { keptText, textKept } from '../error.ts'

export const postgresUse = (query: Query): UseDatabase => ({
  ask: (sql, values) => query(sql.replaceAll(/\?(\d)/g, '$$$1'), values),
  schema: 'capkeeper.',
  least: 'least',
  listOf: (column) => `json_agg(${column})::text`,
  keptText,
  textKept,
})

/** Inside a transaction: replaces the runs of some days. */
export async function keepRuns(query: Query, binding: number, scope: string, batch: RunsBatch): Promise<void> {
  const kept = keptText(scope)
  await query('DELETE FROM capkeeper.run_use WHERE binding = $1 AND day >= $2 AND day < $3 AND scope = $4', [
    binding,
    ...bounds(batch),
    kept,
  ])
  const { rows } = batch
  if (rows.length === 0) return
  await query(
    `INSERT INTO capkeeper.run_use (binding, scope, day, model, mode, messages, cents)
     SELECT $1::bigint, $2::text, * FROM unnest($3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])`,
    [
      binding,
      kept,
      rows.map(({ dayAt }) => dayOf(dayAt)),
      rows.map(({ model }) => keptText(model)),
      rows.map(({ mode }) => keptText(mode)),
      rows.map(({ messages }) => messages),
      rows.map(({ used }) => (used === undefined ? null : centsOf(used))),
    ],
  )
}

/** Inside a transaction: replaces one person's use on some days. Rejects with a `StaleRow` when what is known of them has changed since it was read. */
export async function keepDays(query: Query, binding: number, change: Extract<RowChange, { kind: 'days' }>): Promise<void> {
  const { data, before, told } = change
  const email = keptText(change.email)
  const kept =
    before === undefined
      ? await query('INSERT INTO capkeeper.known_days (binding, email, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING 1', [
          binding,
          email,
          data,
        ])
      : await query('UPDATE capkeeper.known_days SET data = $3 WHERE binding = $1 AND email = $2 AND data = $4 RETURNING 1', [
          binding,
          email,
          data,
          before,
        ])
  if (kept.length === 0) throw new StaleRow()
  if (!told) return
  const [person] = await query(
    `INSERT INTO capkeeper.person (binding, email, highest, last_day) VALUES ($1, $2, 0, $3)
     ON CONFLICT (binding, email) DO UPDATE SET last_day = greatest(person.last_day, excluded.last_day) RETURNING id`,
    [binding, email, dayOf(told.untilAt - 1)],
  )
  const id = Number(person?.['id'])
  const [from, until] = bounds(told)
  // Each day by itself, because the key begins with the day.
  await query(
    `DELETE FROM capkeeper.person_use USING generate_series($2::bigint, $3::bigint - 1) AS asked (day)
     WHERE binding = $1 AND person_use.day = asked.day AND person = $4`,
    [binding, from, until, id],
  )
  const rows = told.rows.filter(({ used }) => used > 0)
  if (rows.length === 0) return
  await query(
    `INSERT INTO capkeeper.person_use (binding, person, day, cents, told)
     SELECT $1::bigint, $2::bigint, day, cents, true FROM unnest($3::bigint[], $4::bigint[]) AS given (day, cents)`,
    [binding, id, rows.map(({ dayAt }) => dayOf(dayAt)), rows.map(({ used }) => centsOf(used))],
  )
}

/** Inside a transaction: replaces the add-on use of some days. */
export async function keepAddOn(query: Query, binding: number, batch: AddOnBatch): Promise<void> {
  await query('DELETE FROM capkeeper.add_on_use WHERE binding = $1 AND day >= $2 AND day < $3', [binding, ...bounds(batch)])
  const { rows } = batch
  if (rows.length === 0) return
  const latest = lastDays(rows)
  await query(
    `INSERT INTO capkeeper.person (binding, email, highest, last_day)
     SELECT $1::bigint, email, 0, day FROM unnest($2::text[], $3::bigint[]) AS seen (email, day)
     ON CONFLICT (binding, email) DO UPDATE SET last_day = greatest(person.last_day, excluded.last_day)`,
    [binding, [...latest.keys()].map(keptText), [...latest.values()]],
  )
  await query(
    `INSERT INTO capkeeper.add_on_use (binding, day, person, model, cents, add_on_cents)
     SELECT $1::bigint, given.day, person.id, given.model, given.cents, given.add_on
     FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) AS given (day, email, model, cents, add_on)
     JOIN capkeeper.person ON person.binding = $1 AND person.email = given.email`,
    [
      binding,
      rows.map(({ dayAt }) => dayOf(dayAt)),
      rows.map(({ email }) => keptText(email)),
      rows.map(({ model }) => keptText(model)),
      rows.map(({ used }) => centsOf(used)),
      rows.map(({ addOn }) => centsOf(addOn)),
    ],
  )
}

/** Inside a transaction: what a reading of the roster adds. */
export async function keepBurn(query: Query, binding: number, step: BurnStep): Promise<void> {
  const { burned, readAt, increases, isNewCycle, raised, used } = step
  const day = dayOf(readAt)
  if (isNewCycle) await query('UPDATE capkeeper.person SET highest = 0 WHERE binding = $1', [binding])
  const people = [...new Set(raised)]
  if (people.length > 0) {
    await query(
      `INSERT INTO capkeeper.person (binding, email, highest, last_day)
       SELECT $1::bigint, email, highest, $2::bigint FROM unnest($3::text[], $4::bigint[]) AS raised (email, highest)
       ON CONFLICT (binding, email) DO UPDATE SET highest = excluded.highest, last_day = excluded.last_day`,
      [binding, day, people.map(keptText), people.map((email) => centsOf(burned.highest?.get(email) ?? credits(0)))],
    )
  }
  if (increases.size > 0) {
    await query(
      `INSERT INTO capkeeper.person_use (binding, day, person, cents, told)
       SELECT $1::bigint, $2::bigint, person.id, burn.cents, false FROM unnest($3::text[], $4::bigint[]) AS burn (email, cents)
       JOIN capkeeper.person ON person.binding = $1 AND person.email = burn.email
       ON CONFLICT (binding, day, person) DO UPDATE SET cents = least(person_use.cents + excluded.cents, ${MOST})
       WHERE NOT person_use.told`,
      [binding, day, [...increases.keys()].map(keptText), [...increases.values()].map(centsOf)],
    )
  }
  if (used === undefined) return
  await query(
    `INSERT INTO capkeeper.use_reading (binding, at, cents) VALUES ($1, $2, $3) ON CONFLICT (binding, at) DO UPDATE SET cents = excluded.cents`,
    [binding, readAt, centsOf(used)],
  )
  await query('DELETE FROM capkeeper.use_reading WHERE binding = $1 AND at < $2', [binding, readAt - READINGS_KEPT_MS])
}

/** Deletes the use of days before an instant, and people without use since. Returns how many rows it deleted. */
export async function pruneUse(query: Query, before: Instant): Promise<number> {
  const gone = await query(
    `WITH runs AS (DELETE FROM capkeeper.run_use WHERE day < $1 RETURNING 1),
          days AS (DELETE FROM capkeeper.person_use WHERE day < $1 RETURNING 1),
          add_on AS (DELETE FROM capkeeper.add_on_use WHERE day < $1 RETURNING 1),
          people AS (DELETE FROM capkeeper.person WHERE last_day < $1 RETURNING 1)
     SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM days) + (SELECT count(*) FROM add_on) + (SELECT count(*) FROM people) AS n`,
    [dayOf(before)],
  )
  return Number(gone[0]?.['n'] ?? 0)
}
