// The ledger of one workspace: the queries behind the `Ledger` port. Every method is one statement or one transaction; a row that cannot
// be read is a damaged ledger, named, and never skipped: what it said about ownership would be lost without a sound.
import type { HistoryEntry, Intent } from '../../core/model/change.ts'
import type { OwnedCap } from '../../core/model/observed.ts'
import { BugError } from '../../core/model/problem.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Ledger, LedgerFacts } from '../../ports.ts'
import type { LedgerDatabase } from './database.ts'
import { readRow } from './rows.ts'
import { type KeepFact, use } from './use.ts'
import { approval, facts, historyEntry, intent, ownedCap, pause, quarantined } from './values.ts'

/** `binding` is the row that everything hangs on; one that does not exist reads as an empty workspace. */
export function workspaceLedger(database: LedgerDatabase, workspace: string, binding: number): Ledger {
  return {
    ...ownership(database, binding),
    ...records(database, binding),
    ...notes(database, workspace, binding),
    ...singleValues(database, binding),
    ...use(database, binding, factKeeper(database, binding)),
  }
}

function ownership(database: LedgerDatabase, binding: number): Pick<Ledger, 'owned' | 'saveOwned' | 'releaseOwned'> {
  // A cycle asks several times, and 20,000 rows take their time to decode.
  let last: { readonly version: string; readonly caps: readonly OwnedCap[] } | undefined
  const read = (): readonly OwnedCap[] =>
    database
      .all('SELECT id, data FROM owned WHERE binding = ? ORDER BY id', binding)
      .map((row) => readRow(database.file, 'owned', row, ownedCap))
  return {
    owned() {
      const version = versionOf(database)
      if (last?.version !== version) last = { version, caps: read() }
      return last.caps
    },
    saveOwned(caps) {
      if (caps.length > 0) database.write(() => each(caps, (one) => keepOwned(database, binding, one)))
    },
    releaseOwned(keys) {
      if (keys.length > 0) database.write(() => each(keys, (key) => dropOwned(database, binding, key)))
    },
  }
}

/** Differs whenever this or another connection has changed anything. */
function versionOf(database: LedgerDatabase): string {
  const [others] = database.all('PRAGMA data_version')
  const [ours] = database.all('SELECT total_changes() AS changes')
  return `${others?.['data_version']}:${ours?.['changes']}`
}

function each<T>(items: readonly T[], action: (item: T) => void): void {
  for (const item of items) action(item)
}

function keepOwned(database: LedgerDatabase, binding: number, cap: ReturnType<typeof ownedCap>): void {
  database.run(
    'INSERT INTO owned (binding, scope, data) VALUES (?, ?, ?) ON CONFLICT (binding, scope) DO UPDATE SET data = excluded.data',
    binding,
    scopeKey(cap.scope),
    JSON.stringify(cap),
  )
}

function dropOwned(database: LedgerDatabase, binding: number, key: ScopeKey): void {
  database.run('DELETE FROM owned WHERE binding = ? AND scope = ?', binding, key)
}

function records(database: LedgerDatabase, binding: number): Pick<Ledger, 'openIntents' | 'recordIntent' | 'recordOutcome' | 'history'> {
  return {
    openIntents: () =>
      database.all('SELECT id, data FROM intent WHERE binding = ? ORDER BY id', binding).map((row) => ({
        id: Number(row['id']),
        ...readRow(database.file, 'intent', row, intent),
      })),
    recordIntent: (before) =>
      database.write(() => {
        const { lastId } = database.run('INSERT INTO intent (binding, data) VALUES (?, ?)', binding, JSON.stringify(before))
        return { ...before, id: lastId }
      }),
    recordOutcome(closed, entry, ownership) {
      database.write(() => {
        closeIntent(database, binding, closed)
        if (entry) appendHistory(database, binding, entry)
        if (ownership === 'released') dropOwned(database, binding, scopeKey(closed.change.scope))
        else if (ownership !== 'kept') keepOwned(database, binding, ownership)
      })
    },
    history({ scope, sinceAt, untilAt, limit } = {}) {
      const rows = database.all(
        `SELECT id, data FROM history WHERE binding = ? AND at >= ? AND at <= ?${scope ? ' AND scope = ?' : ''} ORDER BY at DESC, id DESC LIMIT ?`,
        binding,
        sinceAt ?? Number.MIN_SAFE_INTEGER,
        untilAt ?? Number.MAX_SAFE_INTEGER,
        ...(scope ? [scopeKey(scope)] : []),
        limit ?? -1,
      )
      return rows.map((row) => readRow(database.file, 'history', row, historyEntry))
    },
  }
}

function closeIntent(database: LedgerDatabase, binding: number, closed: Intent): void {
  const { changes } = database.run('DELETE FROM intent WHERE binding = ? AND id = ?', binding, closed.id)
  if (changes === 0) throw new BugError(`intent ${closed.id} for ${scopeKey(closed.change.scope)} has an outcome already`)
}

function appendHistory(database: LedgerDatabase, binding: number, entry: HistoryEntry): void {
  database.run(
    'INSERT INTO history (binding, at, scope, data) VALUES (?, ?, ?, ?)',
    binding,
    entry.at,
    scopeKey(entry.scope),
    JSON.stringify(entry),
  )
}

type Notes = Pick<Ledger, 'approvals' | 'saveApproval' | 'quarantined' | 'saveQuarantined' | 'releaseQuarantined' | 'pause' | 'savePause'>

function notes(database: LedgerDatabase, workspace: string, binding: number): Notes {
  return {
    approvals: () =>
      database
        .all('SELECT id, data FROM approval WHERE binding = ? ORDER BY id', binding)
        .map((row) => readRow(database.file, 'approval', row, approval)),
    saveApproval: (saved) =>
      database.write(() => {
        const sql =
          'INSERT INTO approval (binding, hold, data) VALUES (?, ?, ?) ON CONFLICT (binding, hold) DO UPDATE SET data = excluded.data'
        database.run(sql, binding, saved.id, JSON.stringify(saved))
      }),
    quarantined: () =>
      database
        .all('SELECT id, data FROM quarantine WHERE binding = ? ORDER BY id', binding)
        .map((row) => readRow(database.file, 'quarantine', row, quarantined)),
    saveQuarantined: (entry) =>
      database.write(() => {
        const sql =
          'INSERT INTO quarantine (binding, scope, data) VALUES (?, ?, ?) ON CONFLICT (binding, scope) DO UPDATE SET data = excluded.data'
        database.run(sql, binding, scopeKey(entry.scope), JSON.stringify(entry))
      }),
    releaseQuarantined(keys) {
      if (keys.length === 0) return
      const sql = 'DELETE FROM quarantine WHERE binding = ? AND scope = ?'
      database.write(() => each(keys, (key) => database.run(sql, binding, key)))
    },
    pause(now) {
      const row = database.get('SELECT id, data FROM pause WHERE workspace = ?', workspace)
      const kept = row && readRow(database.file, 'pause', row, pause)
      return kept && kept.untilAt > now ? kept : undefined
    },
    savePause: (saved) =>
      database.write(() => {
        database.run('DELETE FROM pause WHERE workspace = ?', workspace)
        if (saved) database.run('INSERT INTO pause (workspace, data) VALUES (?, ?)', workspace, JSON.stringify(saved))
      }),
  }
}

const factKeeper = (database: LedgerDatabase, binding: number): KeepFact => {
  const sql = 'INSERT INTO fact (binding, name, data) VALUES (?, ?, ?) ON CONFLICT (binding, name) DO UPDATE SET data = excluded.data'
  return (name, value) => void database.run(sql, binding, name, JSON.stringify(value))
}

function singleValues(database: LedgerDatabase, binding: number): Pick<Ledger, 'fact' | 'saveFact'> {
  return {
    fact<K extends keyof LedgerFacts>(name: K): LedgerFacts[K] | undefined {
      const row = database.get('SELECT id, data FROM fact WHERE binding = ? AND name = ?', binding, name)
      return row && readRow(database.file, 'fact', row, facts[name])
    },
    saveFact: (name, value) =>
      database.write(() => {
        if (value === undefined) database.run('DELETE FROM fact WHERE binding = ? AND name = ?', binding, name)
        else factKeeper(database, binding)(name, value)
      }),
  }
}
