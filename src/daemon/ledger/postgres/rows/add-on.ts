// Add-on use in PostgreSQL: what `../add-on.ts` does in SQLite, with the same tables and the same sums. It judges nothing.
import type { AddOnRow } from '../../../../core/model/observed.ts'
import { cents, creditsOf, DAY_MS } from '../../../../core/model/units.ts'
import type { AddOnBatch, AddOnSum } from '../../../../ports.ts'
import type { WorkspaceRows } from '../../adapter.ts'
import { bounds, centsOf, dayOf, daysAsked, MOST } from '../../use/values.ts'
import type { Query, Row } from '../database.ts'
import { keptText, textKept } from '../text.ts'

type AddOnRows = Pick<WorkspaceRows, 'addOnUse' | 'addOnSums' | 'addOnOfPerson'>

export function addOnRows(query: Query, binding: number): AddOnRows {
  return {
    async addOnUse(days) {
      const rows = await query(
        `SELECT day, email, model, cents, add_on_cents FROM capkeeper.add_on_use JOIN capkeeper.person ON person.id = add_on_use.person
         WHERE add_on_use.binding = $1 AND day >= $2 AND day < $3 ORDER BY day, email, model`,
        [binding, ...bounds(days)],
      )
      return rows.map(
        (row): AddOnRow => ({
          dayAt: Number(row['day']) * DAY_MS,
          email: textKept(row['email']),
          model: textKept(row['model']),
          ...sumOf(row),
        }),
      )
    },
    async addOnSums(days) {
      const rows = await query(
        `SELECT email, least(sum(cents), ${MOST}) AS cents, least(sum(add_on_cents), ${MOST}) AS add_on_cents
         FROM capkeeper.add_on_use JOIN capkeeper.person ON person.id = add_on_use.person
         WHERE add_on_use.binding = $1 AND day >= $2 AND day < $3 GROUP BY person.id ORDER BY email`,
        [binding, ...bounds(days)],
      )
      return new Map(rows.map((row) => [textKept(row['email']), sumOf(row)]))
    },
    async addOnOfPerson(email, days) {
      const rows = await query(
        `${daysAsked('capkeeper.add_on_use', '$')}
         SELECT asked.day, least(sum(add_on_cents), ${MOST}) AS cents FROM asked
         JOIN capkeeper.person ON person.binding = $1 AND person.email = $4
         JOIN capkeeper.add_on_use ON add_on_use.binding = $1 AND add_on_use.day = asked.day AND add_on_use.person = person.id
         GROUP BY asked.day ORDER BY asked.day`,
        [binding, ...bounds(days), keptText(email)],
      )
      return rows.map((row) => ({ dayAt: Number(row['day']) * DAY_MS, addOn: creditsOf(cents(Number(row['cents']))) }))
    },
  }
}

const sumOf = (row: Row): AddOnSum => ({
  used: creditsOf(cents(Number(row['cents']))),
  addOn: creditsOf(cents(Number(row['add_on_cents']))),
})

/** Inside a transaction: the rows of some days in the place of those before. */
export async function keepAddOn(query: Query, binding: number, batch: AddOnBatch): Promise<void> {
  await query('DELETE FROM capkeeper.add_on_use WHERE binding = $1 AND day >= $2 AND day < $3', [binding, ...bounds(batch)])
  const { rows } = batch
  if (rows.length === 0) return
  const latest = new Map<string, number>()
  for (const { email, dayAt } of rows) latest.set(email, Math.max(latest.get(email) ?? 0, dayOf(dayAt)))
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
