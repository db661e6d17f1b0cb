// Use in PostgreSQL: what `../use.ts` does in SQLite, with the same tables and the same sums. It judges nothing.
import type { RunUse } from '../../../../core/model/observed.ts'
import { type Credits, cents, credits, creditsOf, DAY_MS, type Instant } from '../../../../core/model/units.ts'
import type { BurnStep } from '../../../../core/use/burned.ts'
import type { RunsBatch } from '../../../../ports.ts'
import type { WorkspaceRows } from '../../adapter.ts'
import { recorded } from '../../use/recorded-days.ts'
import { bounds, centsOf, dayOf, daysAsked, MOST, READINGS_KEPT_MS } from '../../use/values.ts'
import type { Query, Row } from '../database.ts'
import { keptText, textKept } from '../text.ts'

type UseRows = Pick<WorkspaceRows, 'runs' | 'highestUse' | 'useReadings' | 'useByPerson' | 'useByDay' | 'useOfPerson'>

export function useRows(query: Query, binding: number): UseRows {
  return {
    async runs(scope, days) {
      const rows = await query(
        `SELECT day, model, mode, messages, cents FROM capkeeper.run_use
         WHERE binding = $1 AND day >= $2 AND day < $3 AND scope = $4 ORDER BY day, model, mode`,
        [binding, ...bounds(days), keptText(scope)],
      )
      return rows.map(runOf)
    },
    async highestUse() {
      const rows = await query('SELECT email, highest FROM capkeeper.person WHERE binding = $1 AND highest > 0 ORDER BY id', [binding])
      return new Map(rows.map((row) => [textKept(row['email']), amountOf(row['highest'])]))
    },
    async useReadings() {
      const rows = await query('SELECT at, cents FROM capkeeper.use_reading WHERE binding = $1 ORDER BY at', [binding])
      return rows.map((row) => ({ at: Number(row['at']), used: amountOf(row['cents']) }))
    },
    async useByPerson(days) {
      const rows = await query(
        `SELECT email, least(sum(cents), ${MOST}) AS cents FROM capkeeper.person_use JOIN capkeeper.person ON person.id = person_use.person
         WHERE person_use.binding = $1 AND day >= $2 AND day < $3 GROUP BY person.id ORDER BY sum(cents) DESC, email`,
        [binding, ...bounds(days)],
      )
      return rows.map((row) => ({ email: textKept(row['email']), used: amountOf(row['cents']) }))
    },
    async useOfPerson(email, days) {
      const rows = await query(
        `${daysAsked('capkeeper.person_use', '$')}
         SELECT asked.day, cents FROM asked
         JOIN capkeeper.person ON person.binding = $1 AND person.email = $4
         JOIN capkeeper.person_use ON person_use.binding = $1 AND person_use.day = asked.day AND person_use.person = person.id ORDER BY asked.day`,
        [binding, ...bounds(days), keptText(email)],
      )
      return rows.map((row) => ({ dayAt: Number(row['day']) * DAY_MS, used: amountOf(row['cents']) }))
    },
    async useByDay(days, source) {
      const people = await query("SELECT id, email FROM capkeeper.person WHERE binding = $1 AND email <> '' ORDER BY id", [binding])
      return recorded(
        source,
        people.map((row) => ({ id: Number(row['id']), email: textKept(row['email']) })),
        await query(BY_DAY[source], [binding, ...bounds(days)]),
      )
    },
  }
}

/** A day comes as lists in one row: a row for each person and day would take five times as long. */
const BY_DAY = {
  estimated: `SELECT day, json_agg(person)::text AS people, json_agg(cents)::text AS cents FROM capkeeper.person_use
              WHERE binding = $1 AND day >= $2 AND day < $3 GROUP BY day ORDER BY day`,
  measured: `SELECT day, json_agg(person)::text AS people, json_agg(cents)::text AS cents, json_agg(add_on)::text AS add_on FROM (
               SELECT day, person, least(sum(cents), ${MOST}) AS cents, least(sum(add_on_cents), ${MOST}) AS add_on
               FROM capkeeper.add_on_use WHERE binding = $1 AND day >= $2 AND day < $3 GROUP BY day, person
             ) AS sums GROUP BY day ORDER BY day`,
} as const

const amountOf = (kept: unknown): Credits => creditsOf(cents(Number(kept)))

function runOf(row: Row): RunUse {
  const used = row['cents']
  return {
    dayAt: Number(row['day']) * DAY_MS,
    model: textKept(row['model']),
    mode: textKept(row['mode']),
    messages: Number(row['messages']),
    ...(used !== null && { used: credits(Number(used) / 100) }),
  }
}

/** Inside a transaction: the rows of some days. */
export async function keepRuns(query: Query, binding: number, scope: string, batch: RunsBatch): Promise<void> {
  const [from, until] = bounds(batch)
  const kept = keptText(scope)
  await query('DELETE FROM capkeeper.run_use WHERE binding = $1 AND day >= $2 AND day < $3 AND scope = $4', [binding, from, until, kept])
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

/** Inside a transaction: what a reading of the roster adds to people's days. */
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
      `INSERT INTO capkeeper.person_use (binding, day, person, cents)
       SELECT $1::bigint, $2::bigint, person.id, burn.cents FROM unnest($3::text[], $4::bigint[]) AS burn (email, cents)
       JOIN capkeeper.person ON person.binding = $1 AND person.email = burn.email
       ON CONFLICT (binding, day, person) DO UPDATE SET cents = least(person_use.cents + excluded.cents, ${MOST})`,
      [binding, day, [...increases.keys()].map(keptText), [...increases.values()].map(centsOf)],
    )
  }
  if (used !== undefined) await keepReading(query, binding, readAt, used)
}

async function keepReading(query: Query, binding: number, at: Instant, used: Credits): Promise<void> {
  await query(
    `INSERT INTO capkeeper.use_reading (binding, at, cents) VALUES ($1, $2, $3) ON CONFLICT (binding, at) DO UPDATE SET cents = excluded.cents`,
    [binding, at, centsOf(used)],
  )
  await query('DELETE FROM capkeeper.use_reading WHERE binding = $1 AND at < $2', [binding, at - READINGS_KEPT_MS])
}

/** Forgets the use of days before `before`, and people who used nothing since. Returns how many rows went. */
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
