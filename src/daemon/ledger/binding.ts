// Binds records to a workspace's name together with the address of its service, because our cap on one service says nothing about another.
// A new address is refused without `--rebind`. Choice: `--rebind` sets the records of the old address aside, so that the new one starts
// with no cap of ours, and nothing can be cleared by mistake. Binding back restores them. A pause belongs to the name and stays: an
// operator who paused to move a service does not expect writes after the move.
import type { Instant } from '../../core/model/units.ts'
import { LedgerError } from './error.ts'
import type { LedgerDatabase } from './sqlite/database.ts'

/** A name with an address. `current` is false once a rebinding has set it aside. `baseUrl` is '' until a writer has set it. */
export interface Binding {
  readonly id: number
  readonly workspace: string
  readonly baseUrl: string
  readonly current: boolean
  readonly boundAt: Instant
}

/** `write` binds to an address, `note` may make a binding without one, `read` changes nothing. */
export type LedgerMode = 'write' | 'note' | 'read'

export interface BindOptions {
  readonly mode: LedgerMode
  readonly now: Instant
  readonly rebind: boolean
}

/** The id of no binding: it reads as empty. */
export const NO_BINDING = 0

/** All bindings, or those of one workspace, by name, the current one of a name first. */
export function bindings(database: LedgerDatabase, only?: string): readonly Binding[] {
  const sql = 'SELECT * FROM binding WHERE ?1 IS NULL OR workspace = ?1 ORDER BY workspace, current DESC, bound_at DESC, id'
  return database.all(sql, only ?? null).map((row) => ({
    id: Number(row['id']),
    workspace: String(row['workspace']),
    baseUrl: String(row['base_url']),
    current: row['current'] === 1,
    boundAt: Number(row['bound_at']),
  }))
}

/**
 * The id of the binding to use. Without a `baseUrl` it is the current one, for commands that need no service. Throws LEDGER_BOUND when the
 * name is bound to another address, unless `rebind` is set. Only a writer rebinds; a reader then sees what the writer would start with.
 */
export function bind(database: LedgerDatabase, workspace: string, baseUrl: string | undefined, options: BindOptions): number {
  // A reader takes no transaction: it could not write anyway.
  if (options.mode === 'read') return choose(database, workspace, baseUrl, options) ?? NO_BINDING
  const known = choose(database, workspace, baseUrl, options)
  if (known !== undefined) return known
  return database.write(() => choose(database, workspace, baseUrl, options) ?? make(database, workspace, baseUrl, options))
}

const choose = (database: LedgerDatabase, workspace: string, baseUrl: string | undefined, options: BindOptions): number | undefined =>
  chosen({ all: bindings(database, workspace), ledger: database.file }, workspace, baseUrl, options)

/** The bindings in a database; `ledger` is its name in messages. */
export interface Bound {
  readonly all: readonly Binding[]
  readonly ledger: string
}

/** An existing binding that can be used as it is; undefined when a writer must make one. Throws LEDGER_BOUND. */
export function chosen({ all, ledger }: Bound, workspace: string, baseUrl: string | undefined, options: BindOptions): number | undefined {
  const ofName = all.filter((one) => one.workspace === workspace)
  const current = ofName.find((one) => one.current)
  if (!current) return undefined
  if (baseUrl === undefined || current.baseUrl === baseUrl) return current.id
  if (current.baseUrl === '') return options.mode === 'read' ? current.id : undefined
  if (!options.rebind || options.mode === 'note') throw boundElsewhere(ledger, current, baseUrl)
  return options.mode === 'read' ? (ofName.find((one) => one.baseUrl === baseUrl)?.id ?? NO_BINDING) : undefined
}

function make(database: LedgerDatabase, workspace: string, baseUrl: string | undefined, { now }: BindOptions): number {
  const url = baseUrl ?? ''
  const claimed = database.get("SELECT id FROM binding WHERE workspace = ? AND base_url = '' AND current = 1", workspace)
  if (claimed) {
    database.run('UPDATE binding SET base_url = ?, bound_at = ? WHERE id = ?', url, now, Number(claimed['id']))
    return Number(claimed['id'])
  }
  database.run('UPDATE binding SET current = 0 WHERE workspace = ?', workspace)
  database.run(
    `INSERT INTO binding (workspace, base_url, bound_at, current) VALUES (?, ?, ?, 1)
     ON CONFLICT (workspace, base_url) DO UPDATE SET current = 1, bound_at = excluded.bound_at`,
    workspace,
    url,
    now,
  )
  return Number(database.get('SELECT id FROM binding WHERE workspace = ? AND current = 1', workspace)?.['id'])
}

function boundElsewhere(file: string, current: Binding, baseUrl: string): LedgerError {
  return new LedgerError(
    'LEDGER_BOUND',
    `${current.workspace}: ${file} is bound to ${current.baseUrl}, and the address now is ${baseUrl}; ` +
      'if the workspace has moved there, start run or apply with --rebind (what is recorded for the old address is set aside), else correct --base-url',
  )
}
