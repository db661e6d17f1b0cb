// Which binding a workspace has, a name with an address.
import type { Instant } from '../../../core/model/units.ts'
import type { LedgerMode } from '../adapter.ts'
import { LedgerError } from '../error.ts'
import { keptText, type Row, type SqlDatabase, type Statement, type Steps, textKept } from './statement.ts'

/** A name with an address. `current` is false once a rebinding has set it aside. `baseUrl` is '' until a writer has set it. */
export interface Binding {
  readonly id: number
  readonly workspace: string
  readonly baseUrl: string
  readonly current: boolean
  readonly boundAt: Instant
}

interface BindOptions {
  readonly mode: LedgerMode
  readonly now: Instant
  readonly rebind: boolean
}

/** The id of no binding: it reads as empty. */
const NO_BINDING = 0

/** Asks for all bindings, or those of one workspace, by name, the current one of a name first. */
export const bindingsSql = (only?: string): Statement => ({
  // Filtered, because all bindings for each of a thousand workspaces would be a million rows.
  sql: `SELECT * FROM @binding ${only === undefined ? '' : 'WHERE workspace = ?1'} ORDER BY workspace, current DESC, bound_at DESC, id`,
  values: only === undefined ? [] : [keptText(only)],
})

/** Of a row that `bindingsSql` asks for. */
export const bindingOf = (row: Row): Binding => ({
  id: Number(row['id']),
  workspace: textKept(row['workspace']),
  baseUrl: textKept(row['base_url']),
  current: Boolean(row['current']),
  boundAt: Number(row['bound_at']),
})

/** All bindings, or those of one workspace. */
export const bindings = async ({ ask }: Pick<SqlDatabase, 'ask'>, only?: string): Promise<readonly Binding[]> =>
  (await ask(bindingsSql(only))).map(bindingOf)

/**
 * The id of the binding to use. Without a `baseUrl` it is the current one, for commands that need no service. Rejects with LEDGER_BOUND when the
 * name is bound to another address, unless `rebind` is set. Only a writer rebinds; a reader then sees what the writer would start with.
 */
export async function bind(database: SqlDatabase, workspace: string, baseUrl: string | undefined, options: BindOptions): Promise<number> {
  const asked = bindingsSql(workspace)
  const choose = (rows: readonly Row[]) => chosen(rows.map(bindingOf), database.name, baseUrl, options)
  const known = choose(await database.ask(asked))
  if (known !== undefined) return known
  // A reader takes no transaction: it could not write anyway.
  if (options.mode === 'read') return NO_BINDING
  return database.transaction(function* () {
    return choose(yield asked) ?? (yield* made(keptText(workspace), keptText(baseUrl ?? ''), options.now))
  }, true)
}

/** An existing binding that can be used as it is; undefined when a writer must make one. Throws LEDGER_BOUND. */
function chosen(ofName: readonly Binding[], ledger: string, baseUrl: string | undefined, options: BindOptions): number | undefined {
  const current = ofName.find((one) => one.current)
  if (!current) return undefined
  if (baseUrl === undefined || current.baseUrl === baseUrl) return current.id
  if (current.baseUrl === '') return options.mode === 'read' ? current.id : undefined
  if (!options.rebind || options.mode === 'note') throw boundElsewhere(ledger, current, baseUrl)
  return options.mode === 'read' ? (ofName.find((one) => one.baseUrl === baseUrl)?.id ?? NO_BINDING) : undefined
}

function* made(workspace: string, url: string, now: Instant): Steps<number> {
  // One that has no address yet gets it.
  yield {
    sql: "UPDATE @binding SET base_url = ?2, bound_at = ?3 WHERE workspace = ?1 AND base_url = ''",
    values: [workspace, url, now],
  }
  yield { sql: 'UPDATE @binding SET current = false WHERE workspace = ?1 AND base_url <> ?2', values: [workspace, url] }
  const [row] = yield {
    sql: `INSERT INTO @binding (workspace, base_url, bound_at, current) SELECT workspace, base_url, bound_at, true
          FROM @given(workspace, base_url, bound_at) WHERE true
          ON CONFLICT (workspace, base_url) DO UPDATE SET current = true, bound_at = excluded.bound_at RETURNING id`,
    given: [[workspace, url, now]],
  }
  return Number(row?.['id'])
}

const boundElsewhere = (ledger: string, current: Binding, baseUrl: string): LedgerError =>
  new LedgerError(
    'LEDGER_BOUND',
    `${current.workspace}: ${ledger} is bound to ${current.baseUrl}, and the address now is ${baseUrl}; ` +
      'if the workspace has moved there, start run or apply with --rebind (what is recorded for the old address is set aside), else correct --base-url',
  )
