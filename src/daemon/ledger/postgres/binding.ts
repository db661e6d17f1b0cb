// Bindings in PostgreSQL, with the rules of `../binding.ts`.
import { type Binding, type BindOptions, chosen, NO_BINDING } from '../adapter.ts'
import type { PostgresDatabase, Query } from './database.ts'
import { keptText, textKept } from './error.ts'

/** All bindings, or those of one workspace, by name, the current one of a name first. */
export async function bindings(query: Query, only?: string): Promise<readonly Binding[]> {
  // Filtered, because all bindings for each of a thousand workspaces would be a million rows.
  const rows = await query(
    `SELECT * FROM capkeeper.binding WHERE $1::text IS NULL OR workspace = $1 ORDER BY workspace, current DESC, bound_at DESC, id`,
    [only === undefined ? null : keptText(only)],
  )
  return rows.map((row) => ({
    id: Number(row['id']),
    workspace: textKept(row['workspace']),
    baseUrl: textKept(row['base_url']),
    current: row['current'] === true,
    boundAt: Number(row['bound_at']),
  }))
}

/** The id of the binding to use; see `../binding.ts`. Rejects with LEDGER_BOUND. */
export async function bind(
  database: PostgresDatabase,
  workspace: string,
  baseUrl: string | undefined,
  options: BindOptions,
): Promise<number> {
  const choose = async (query: Query): Promise<number | undefined> =>
    chosen({ all: await bindings(query, workspace), ledger: database.name }, workspace, baseUrl, options)
  const known = await choose(database.query)
  if (known !== undefined) return known
  if (options.mode === 'read') return NO_BINDING
  return database.transaction(async (query) => {
    await query('LOCK TABLE capkeeper.binding IN SHARE ROW EXCLUSIVE MODE')
    return (await choose(query)) ?? make(query, workspace, baseUrl, options)
  })
}

async function make(query: Query, workspace: string, baseUrl: string | undefined, { now }: BindOptions): Promise<number> {
  const url = keptText(baseUrl ?? '')
  const name = keptText(workspace)
  const [claimed] = await query("SELECT id FROM capkeeper.binding WHERE workspace = $1 AND base_url = '' AND current", [name])
  if (claimed) {
    await query('UPDATE capkeeper.binding SET base_url = $1, bound_at = $2 WHERE id = $3', [url, now, Number(claimed['id'])])
    return Number(claimed['id'])
  }
  await query('UPDATE capkeeper.binding SET current = false WHERE workspace = $1', [name])
  const [made] = await query(
    `INSERT INTO capkeeper.binding (workspace, base_url, bound_at, current) VALUES ($1, $2, $3, true)
     ON CONFLICT (workspace, base_url) DO UPDATE SET current = true, bound_at = excluded.bound_at RETURNING id`,
    [name, url, now],
  )
  return Number(made?.['id'])
}
