// Maintains a ledger in any database: checks that each row can be read, and deletes old history and use.
import type { LedgerFacts } from '../../../core/model/facts.ts'
import { DAY_MS, type Instant } from '../../../core/model/units.ts'
import { KEYS } from '../adapter.ts'
import { LedgerError } from '../error.ts'
import { readFact, readRow } from '../values/values.ts'
import { bindings } from './bindings.ts'
import { dayOf } from './queries.ts'
import { batches, type Row, type SqlDatabase } from './statement.ts'
import { kindOf, TABLES } from './tables.ts'

/** How long history is kept (docs/configuration.md). */
const HISTORY_DAYS = 400

/** The most faults that are reported. */
export const MAX_PROBLEMS = 100

/** The tables whose rows have a value. */
const WITH_VALUE = ['owned', 'intent', 'history', 'approval', 'quarantine', 'known_days', 'pause', 'fact'] as const

/** Reads every row. Damage is reported, and does not reject. `pages` reports the faults of what rows are kept in. */
export async function checkRows(database: SqlDatabase, pages: () => readonly string[] = () => []): Promise<readonly string[]> {
  const problems: string[] = []
  const tried = async (check: () => unknown): Promise<void> => {
    try {
      await check()
    } catch (error) {
      if (!(error instanceof LedgerError) || error.code !== 'LEDGER_CORRUPT') throw error
      if (problems.length < MAX_PROBLEMS) problems.push(error.message)
    }
  }
  await tried(() => problems.push(...pages()))
  for (const table of WITH_VALUE) {
    const columns = table === 'fact' ? ['id', KEYS.fact, 'data'] : ['id', 'data']
    const read = (row: Row) =>
      table === 'fact' ? readFact(database.name, String(row[KEYS.fact]) as keyof LedgerFacts, row) : readRow(database.name, table, row)
    await tried(async () => {
      for await (const rows of batches(database.ask, table, columns, ['id'])) for (const row of rows) await tried(() => read(row))
    })
  }
  await tried(() => bindings(database))
  return problems
}

/** Deletes history and use older than 400 days, and people without use since. Resolves with the number of deleted rows. */
export function prune({ transaction }: SqlDatabase, now: Instant): Promise<number> {
  const before = now - HISTORY_DAYS * DAY_MS
  return transaction(function* () {
    let deleted = 0
    for (const { name, pruned } of TABLES) {
      if (pruned === undefined) continue
      // With the bindings, because the keys begin with them.
      const old = `FROM @${name} WHERE binding IN (SELECT id FROM @binding) AND ${pruned} < ?1`
      const values = [kindOf(pruned) === 'real' ? before : dayOf(before)]
      const [row] = yield { sql: `SELECT count(*) AS n ${old}`, values }
      yield { sql: `DELETE ${old}`, values }
      deleted += Number(row?.['n'])
    }
    return deleted
  })
}
