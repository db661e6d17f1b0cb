// Leases in PostgreSQL, on the clock of the database, with one statement for each heartbeat. A token is never given twice, even after a failover
// to a standby that lacks the latest ones: a failover voids all leases, and no new one is given until every old one has ended.
import { type Heartbeat, type HeartbeatAnswer, type HeldWorkspace, LEASED_WRITE_MS, type LeaseRow } from '../../../core/replicas/lease.ts'
import type { LeaseTable } from '../../../ports.ts'
import { LedgerError } from '../error.ts'
import { keptText, type Row, textKept } from '../sql/statement.ts'
import { mustBePresent } from '../sql/tables.ts'
import type { PostgresDatabase, Query } from './database.ts'

/** Identifies the era of a server, which ends when a standby takes its place. The first expression that the server allows counts. */
const ERAS = [
  `(SELECT system_identifier::text FROM pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`,
  // For a user who may not call these functions each start of the server begins a new era.
  `extract(epoch FROM pg_postmaster_start_time())::text`,
] as const

/** Whether two policy sets are equal apart from their revisions: the first word of each is its digest. */
const same = (one: string, other: string): string => `split_part(${one}, ' ', 1) = split_part(${other}, ' ', 1)`

/** The policy sets that are remembered of a workspace. */
const MAX_POLICIES = 100

export function postgresLeases(database: PostgresDatabase): LeaseTable {
  let era: string | undefined
  const beatSql = async (): Promise<string> => {
    era ??= await knownEra(database.urgent)
    return heartbeatSql(era)
  }
  return {
    async beat(heartbeat) {
      const rows = await database.urgent(await beatSql(), valuesOf(heartbeat))
      return answerOf(rows, database.name)
    },
    async configured(replica, configs) {
      await database.urgent(CONFIGURED, [replica, [...configs.keys()].map(keptText), [...configs.values()]])
    },
    async hasFree() {
      const [row] = await database.urgent(
        'SELECT EXISTS (SELECT FROM capkeeper.lease WHERE holder IS NULL OR until <= clock_timestamp()) AS free',
      )
      return row?.['free'] === true
    },
    followed: (replica, policies) => followed(database, replica, policies),
    async readopt(workspace, policy, afterMs) {
      const rows = await database.query(READOPT, [keptText(workspace), policy, afterMs])
      return rows.length > 0
    },
    async saveShown(replica, shown) {
      const names = shown.map(({ workspace }) => keptText(workspace))
      await database.query(SAVE_SHOWN, [replica, names, shown.map(({ token }) => token), shown.map(({ document }) => document)])
    },
    async shownSince(mark) {
      const rows = await database.query(SHOWN_SINCE, [mark ?? '-infinity'])
      const documents = new Map(rows.map((row) => [textKept(row['workspace']), String(row['document'])]))
      return { mark: rows.length === 0 ? (mark ?? '-infinity') : String(rows.at(-1)?.['at']), documents }
    },
    async leave(replica) {
      await database.urgent('UPDATE capkeeper.lease SET holder = NULL, until = clock_timestamp() WHERE holder = $1', [replica])
      await database.urgent('DELETE FROM capkeeper.replica WHERE id = $1', [replica])
      await database.urgent('DELETE FROM capkeeper.replica_config WHERE replica = $1', [replica])
    },
    async common(name, make) {
      await database.query('INSERT INTO capkeeper.common (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING', [name, make()])
      const [row] = await database.query('SELECT data FROM capkeeper.common WHERE name = $1', [name])
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

/**
 * Returns the rows as they were before the statement, and beside them the statement's own changes. Taking a lease needs the strongest lock on its
 * row and skips locked rows, so that a running transaction keeps its lease, and no replica waits for another.
 */
const heartbeatSql = (era: string): string => `
WITH now AS (SELECT clock_timestamp() AS at, ${era} AS era, $3::float8 * interval '1 millisecond' AS lasts),
alive AS (
  INSERT INTO capkeeper.replica AS known (id, name, spreads, refuses, until)
  SELECT $1, $2, $4::boolean, $5::text[], at + lasts FROM now
  ON CONFLICT (id) DO UPDATE SET until = excluded.until, refuses = excluded.refuses, spreads = excluded.spreads
),
turned AS (
  INSERT INTO capkeeper.era AS known (id, since)
  SELECT era, '-infinity'::timestamptz FROM now WHERE NOT EXISTS (SELECT FROM capkeeper.era WHERE id = now.era)
  ON CONFLICT (single) DO UPDATE SET id = excluded.id, since = clock_timestamp() WHERE known.id <> excluded.id
  RETURNING since
),
settled AS (SELECT coalesce((SELECT since FROM turned), (SELECT since FROM capkeeper.era), now.at) + lasts AS from_at FROM now),
renewed AS (
  UPDATE capkeeper.lease SET until = at + lasts, config = mine.config
  FROM now, unnest($6::text[], $7::bigint[], $12::text[]) AS mine (workspace, token, config)
  WHERE lease.workspace = mine.workspace AND lease.token = mine.token AND lease.holder = $1 AND lease.era = now.era
  RETURNING lease.workspace
),
released AS (
  UPDATE capkeeper.lease SET holder = NULL, until = at
  FROM now, unnest($8::text[], $9::bigint[]) AS mine (workspace, token)
  WHERE lease.workspace = mine.workspace AND lease.token = mine.token AND lease.holder = $1
  RETURNING lease.workspace
),
wanted AS (SELECT * FROM unnest($10::text[], $11::text[]) AS w (workspace, config)),
made AS (
  INSERT INTO capkeeper.lease (workspace, holder, token, until, era, config)
  SELECT workspace, $1, floor(extract(epoch FROM at) * 1000), at + lasts, era, config FROM wanted, now, settled
  WHERE from_at <= at AND NOT EXISTS (SELECT FROM capkeeper.lease WHERE lease.workspace = wanted.workspace)
  ORDER BY workspace ON CONFLICT DO NOTHING
  RETURNING workspace, token
),
free AS (
  SELECT lease.workspace, wanted.config, CASE WHEN lease.era = now.era THEN lease.until ELSE greatest(lease.until, from_at) END AS former
  FROM capkeeper.lease JOIN wanted USING (workspace), now, settled
  WHERE from_at <= now.at AND (lease.holder IS NULL OR lease.until <= now.at OR lease.era <> now.era OR lease.holder = $1)
  ORDER BY lease.workspace FOR UPDATE OF lease SKIP LOCKED
),
taken AS (
  UPDATE capkeeper.lease SET holder = $1, token = greatest(lease.token + 1, floor(extract(epoch FROM at) * 1000)::bigint),
    until = at + lasts, era = now.era, config = free.config
  FROM free, now WHERE lease.workspace = free.workspace
  RETURNING lease.workspace, lease.token, extract(epoch FROM free.former - at) * 1000 AS former
),
gone AS (DELETE FROM capkeeper.replica USING now WHERE replica.until < now.at - interval '1 hour' RETURNING id),
unsaid AS (DELETE FROM capkeeper.replica_config USING gone WHERE replica = gone.id),
votes AS (
  SELECT workspace, replica, config FROM capkeeper.replica_config, now
  WHERE replica = $1 OR EXISTS (SELECT FROM capkeeper.replica WHERE id = replica_config.replica AND spreads AND until > at)
)
SELECT 'version' AS kind, '' AS workspace, version::bigint AS token, NULL::float8 AS ms, NULL AS holder, NULL AS name, NULL AS config, NULL AS policy, NULL::text[] AS refuses
  FROM capkeeper.schema_version
UNION ALL SELECT 'renewed', workspace, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM renewed
UNION ALL SELECT 'released', workspace, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM released
UNION ALL SELECT 'taken', workspace, token, CASE WHEN isfinite(from_at) THEN extract(epoch FROM from_at - at) * 1000 END, NULL, NULL, NULL, NULL, NULL
  FROM made, settled, now
UNION ALL SELECT 'taken', workspace, token, former, NULL, NULL, NULL, NULL, NULL FROM taken
UNION ALL SELECT 'peer', '', NULL, NULL, id, name, NULL, NULL, refuses FROM capkeeper.replica, now WHERE spreads AND until > at AND id <> $1
UNION ALL SELECT 'peer', '', NULL, NULL, $1, $2, NULL, NULL, $5::text[] WHERE $4::boolean
UNION ALL SELECT 'told', workspace, NULL, NULL, NULL, NULL, NULL, policy, NULL FROM capkeeper.replica_policy WHERE replica = $1
UNION ALL SELECT 'vote', workspace, NULL, NULL, replica, NULL, config, NULL, NULL FROM votes
  WHERE workspace IN (SELECT workspace FROM votes GROUP BY workspace
    HAVING min(config) <> max(config) OR count(*) < (SELECT count(DISTINCT replica) FROM votes))
UNION ALL SELECT 'lease', workspace, token, extract(epoch FROM lease.until - at) * 1000, lease.holder, coalesce(replica.name, lease.holder), config,
    (SELECT policy FROM capkeeper.policy_seen AS seen WHERE seen.workspace = lease.workspace ORDER BY seen_at DESC LIMIT 1), NULL
  FROM capkeeper.lease CROSS JOIN now LEFT JOIN capkeeper.replica ON replica.id = lease.holder`

const CONFIGURED = `WITH told AS (SELECT * FROM unnest($2::text[], $3::text[]) AS told (workspace, config)),
  gone AS (DELETE FROM capkeeper.replica_config WHERE replica = $1 AND workspace NOT IN (SELECT workspace FROM told))
  INSERT INTO capkeeper.replica_config AS known (replica, workspace, config) SELECT $1, workspace, config FROM told
  ON CONFLICT (replica, workspace) DO UPDATE SET config = excluded.config WHERE known.config <> excluded.config`

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
  const names = [...policies.keys()].map(keptText)
  await database.transaction(async (query) => {
    await query(
      `INSERT INTO capkeeper.replica_policy AS known (replica, workspace, policy, since)
       SELECT $1, workspace, policy, clock_timestamp() FROM unnest($2::text[], $3::text[]) AS given (workspace, policy)
       WHERE EXISTS (SELECT FROM capkeeper.replica WHERE id = $1)
       ON CONFLICT (replica, workspace) DO UPDATE SET policy = excluded.policy,
         since = CASE WHEN ${same('known.policy', 'excluded.policy')} THEN known.since ELSE excluded.since END WHERE known.policy <> excluded.policy`,
      [replica, names, [...policies.values()]],
    )
    await query(
      `INSERT INTO capkeeper.policy_seen (workspace, policy, seen_at)
       SELECT workspace, policy, clock_timestamp() FROM unnest($1::text[], $2::text[]) AS given (workspace, policy) ORDER BY 1 ON CONFLICT DO NOTHING`,
      [names, [...policies.values()]],
    )
    await query(
      `DELETE FROM capkeeper.policy_seen WHERE (workspace, policy) IN (
         SELECT workspace, policy FROM (SELECT workspace, policy, row_number() OVER (PARTITION BY workspace ORDER BY seen_at DESC) AS place
           FROM capkeeper.policy_seen WHERE workspace = ANY($1::text[])) AS ranked WHERE place > $2)`,
      [names, MAX_POLICIES],
    )
  })
  const rows = await database.query(
    'SELECT DISTINCT ON (workspace) workspace, policy FROM capkeeper.policy_seen WHERE workspace = ANY($1::text[]) ORDER BY workspace, seen_at DESC',
    [names],
  )
  return new Map(rows.map((row) => [textKept(row['workspace']), String(row['policy'])]))
}

const READOPT = `INSERT INTO capkeeper.policy_seen (workspace, policy, seen_at) SELECT $1, $2, clock_timestamp()
  WHERE NOT EXISTS (
    SELECT FROM capkeeper.replica LEFT JOIN capkeeper.replica_policy ON replica_policy.replica = replica.id AND replica_policy.workspace = $1
    WHERE replica.spreads AND replica.until > clock_timestamp()
      AND (${same('replica_policy.policy', '$2')} IS NOT TRUE OR replica_policy.since > clock_timestamp() - $3::float8 * interval '1 millisecond')
  ) ON CONFLICT (workspace, policy) DO UPDATE SET seen_at = excluded.seen_at RETURNING policy`

const SAVE_SHOWN = `INSERT INTO capkeeper.shown (workspace, document, saved_at)
  SELECT workspace, mine.document, clock_timestamp() FROM capkeeper.lease JOIN unnest($2::text[], $3::bigint[], $4::text[]) AS mine (workspace, token, document)
    USING (workspace) WHERE lease.holder = $1 AND lease.token = mine.token ORDER BY workspace
  ON CONFLICT (workspace) DO UPDATE SET document = excluded.document, saved_at = excluded.saved_at`

/** Reads the last seconds again, because a transaction may have ended late. */
const SHOWN_SINCE = `SELECT workspace, document, saved_at::text AS at FROM capkeeper.shown
  WHERE saved_at > $1::timestamptz - interval '5 seconds' ORDER BY saved_at`
