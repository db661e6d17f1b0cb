// Leases in PostgreSQL, on the clock of the database, with one statement for each heartbeat. A token is never given twice, even after a failover
// to a standby that lacks the latest ones: a failover voids all leases, and no new one is given until every old one has ended.
import { type Heartbeat, type HeartbeatAnswer, type HeldWorkspace, LEASED_WRITE_MS, type LeaseRow } from '../../../core/replicas/lease.ts'
import type { LeaseTable } from '../../../ports.ts'
import { LedgerError } from '../error.ts'
import { keptText, type Row, textKept } from '../sql/statement.ts'
import { mustBePresent } from '../sql/tables.ts'
import type { PostgresDatabase, Query } from './database.ts'
import { SQL } from './statements.generated.ts'

/** Identifies the era of a server, which ends when a standby takes its place. The first expression that the server allows counts. */
const ERAS = [
  `(SELECT system_identifier::text FROM pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`,
  // For a user who may not call these functions each start of the server begins a new era.
  `extract(epoch FROM pg_postmaster_start_time())::text`,
] as const

/** The policy sets that are remembered of a workspace. */
const MAX_POLICIES = 100

export function postgresLeases(database: PostgresDatabase): LeaseTable {
  let era: string | undefined
  const beatSql = async (): Promise<string> => {
    era ??= await knownEra(database.urgent)
    return SQL.beat.replace(':era', era)
  }
  return {
    async beat(heartbeat) {
      const rows = await database.urgent(await beatSql(), valuesOf(heartbeat))
      return answerOf(rows, database.name)
    },
    async configured(replica, configs) {
      await database.urgent(SQL.configured, [replica, [...configs.keys()].map(keptText), [...configs.values()]])
    },
    async hasFree() {
      const [row] = await database.urgent(SQL.hasFree)
      return row?.['free'] === true
    },
    followed: (replica, policies) => followed(database, replica, policies),
    async readopt(workspace, policy, afterMs) {
      const rows = await database.query(SQL.readopt, [keptText(workspace), policy, afterMs])
      return rows.length > 0
    },
    async saveShown(replica, shown) {
      const names = shown.map(({ workspace }) => keptText(workspace))
      await database.query(SQL.saveShown, [replica, names, shown.map(({ token }) => token), shown.map(({ document }) => document)])
    },
    async shownSince(mark) {
      const rows = await database.query(SQL.shownSince, [mark ?? '-infinity'])
      const documents = new Map(rows.map((row) => [textKept(row['workspace']), String(row['document'])]))
      return { mark: rows.length === 0 ? (mark ?? '-infinity') : String(rows.at(-1)?.['at']), documents }
    },
    async leave(replica) {
      await database.urgent(SQL.release, [replica])
      await database.urgent(SQL.leave, [replica])
      await database.urgent(SQL.leaveConfig, [replica])
    },
    async common(name, make) {
      await database.query(SQL.keepCommon, [name, make()])
      const [row] = await database.query(SQL.common, [name])
      return String(row?.['data'])
    },
  }
}

async function knownEra(query: Query): Promise<string> {
  const [best, other] = ERAS
  const rows = await query(`SELECT CASE WHEN NOT pg_is_in_recovery() THEN ${best} END AS era`).catch((error: unknown) => {
    if (error instanceof LedgerError && error.code === 'LEDGER_UNWRITABLE') return undefined
    throw error
  })
  // The era of a standby says nothing about the primary, and all replicas must agree on the primary's era.
  if (rows?.[0]?.['era'] === null)
    throw new LedgerError('LEDGER_AWAY', 'the server is a standby; nothing is written until the address leads to the primary')
  return rows ? best : other
}

function valuesOf({ replica, lastsMs, spreads, refuses, renew, release, take }: Heartbeat) {
  const names = (held: readonly { readonly workspace: string }[]) => held.map(({ workspace }) => keptText(workspace))
  const tokens = (held: readonly HeldWorkspace[]) => held.map(({ token }) => token)
  const configs = [take, renew].map((asked) => asked.map(({ config }) => config))
  const values = [replica.id, keptText(replica.name), lastsMs, spreads, refuses.map(keptText)]
  return [...values, names(renew), tokens(renew), names(release), tokens(release), names(take), ...configs]
}

function answerOf(rows: readonly Row[], name: string): HeartbeatAnswer {
  const of = (kind: string): readonly Row[] => rows.filter((row) => row['kind'] === kind)
  const workspaceOf = (row: Row): string => textKept(row['workspace'])
  mustBePresent(Number(of('version')[0]?.['token']), name)
  const released = new Set(of('released').map(workspaceOf))
  const taken = new Map(
    of('taken').map((row) => {
      // A write of the former holder may land a little after its lease ended, or after the holder stopped and cut it off: a replica that
      // releases a lease may leave an intent open as well.
      const quietMs = row['ms'] === null ? 0 : Math.max(0, Number(row['ms']) + LEASED_WRITE_MS)
      return [workspaceOf(row), { token: Number(row['token']), quietMs }]
    }),
  )
  const peers = of('peer').map((row) => ({
    id: String(row['holder']),
    name: textKept(row['name']),
    refuses: (Array.isArray(row['refuses']) ? row['refuses'] : []).map(textKept),
  }))
  const leases = of('lease').map((row): LeaseRow => {
    const lastsMs = Number(row['ms'])
    const isFree = row['holder'] === null || lastsMs <= 0 || released.has(workspaceOf(row))
    return {
      workspace: workspaceOf(row),
      token: Number(row['token']),
      holder: !isFree ? { id: String(row['holder']), name: textKept(row['name']) } : undefined,
      lastsMs: released.has(workspaceOf(row)) ? 0 : lastsMs,
      config: String(row['config']),
      policy: row['policy'] !== null ? String(row['policy']) : undefined,
    }
  })
  const told = new Map(of('told').map((row) => [workspaceOf(row), String(row['policy'])]))
  const votes = new Map(
    [...Map.groupBy(of('vote'), workspaceOf)].map(([name, all]) => [
      name,
      new Map(all.map((row) => [String(row['holder']), String(row['config'])])),
    ]),
  )
  return { renewed: new Set(of('renewed').map(workspaceOf)), taken, peers, leases, votes, told }
}

/** Records the replica's policies, and returns the latest of each workspace. A policy set that was never seen becomes the latest. */
async function followed(database: PostgresDatabase, replica: string, policies: ReadonlyMap<string, string>) {
  const [names, sets] = [[...policies.keys()].map(keptText), [...policies.values()]]
  await database.transaction(async (query) => {
    await query(SQL.tell, [replica, names, sets])
    await query(SQL.see, [names, sets])
    await query(SQL.forgetSeen, [names, MAX_POLICIES])
  })
  const rows = await database.query(SQL.latest, [names])
  return new Map(rows.map((row) => [textKept(row['workspace']), String(row['policy'])]))
}
