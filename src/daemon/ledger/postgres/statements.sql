-- Statements for PostgreSQL alone, on the clock of the database: the schema, the rights to write, the leases of replicas, and what the server says of
-- itself. `:era` is one of the expressions that identify the era of a server.

-- Whether there is a ledger of ours, and whether the schema holds tables at all.
-- name: present
SELECT to_regclass('capkeeper.schema_version') IS NOT NULL AS ours, EXISTS (
  SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'capkeeper'
) AS used;

-- Read at the beginning of each transaction that writes: a replica that is older than the schema must write nothing.
-- name: version
SELECT version FROM capkeeper.schema_version;

-- `lease` says which replica may write a workspace; `token` rises with each new holder, and `era` is the era of the server in which it was given.
-- `policy_seen` has all policy sets in the order of their arrival, `shown` the view that the holder shows of a workspace.
-- name: replicas
CREATE INDEX intent_binding ON capkeeper.intent (binding);

CREATE TABLE capkeeper.lease (
  workspace TEXT COLLATE "C" PRIMARY KEY,
  holder TEXT,
  token BIGINT NOT NULL,
  until TIMESTAMPTZ NOT NULL,
  era TEXT NOT NULL DEFAULT '',
  config TEXT NOT NULL DEFAULT ''
);
CREATE INDEX lease_free ON capkeeper.lease (workspace) WHERE holder IS NULL;

CREATE TABLE capkeeper.replica (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  spreads BOOLEAN NOT NULL,
  refuses TEXT[] NOT NULL,
  until TIMESTAMPTZ NOT NULL
);

CREATE TABLE capkeeper.era (
  single BOOLEAN PRIMARY KEY DEFAULT true CHECK (single),
  id TEXT NOT NULL,
  since TIMESTAMPTZ NOT NULL
);

CREATE TABLE capkeeper.policy_seen (
  workspace TEXT COLLATE "C" NOT NULL,
  policy TEXT NOT NULL,
  seen_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (workspace, policy)
);

CREATE TABLE capkeeper.replica_policy (
  replica TEXT NOT NULL REFERENCES capkeeper.replica ON DELETE CASCADE,
  workspace TEXT COLLATE "C" NOT NULL,
  policy TEXT NOT NULL,
  since TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (replica, workspace)
);

CREATE TABLE capkeeper.replica_config (
  replica TEXT NOT NULL,
  workspace TEXT COLLATE "C" NOT NULL,
  config TEXT NOT NULL,
  PRIMARY KEY (replica, workspace)
);

CREATE TABLE capkeeper.shown (
  workspace TEXT COLLATE "C" PRIMARY KEY,
  document TEXT NOT NULL,
  saved_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE capkeeper.common (
  name TEXT PRIMARY KEY,
  data TEXT NOT NULL
);

-- One heartbeat. Returns the rows as they were before the statement, and beside them the statement's own changes. Taking a lease needs the strongest
-- lock on its row and skips locked rows, so that a running transaction keeps its lease, and no replica waits for another.
-- name: beat
WITH now AS (SELECT clock_timestamp() AS at, :era AS era, $3::float8 * interval '1 millisecond' AS lasts),
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
  FROM capkeeper.lease CROSS JOIN now LEFT JOIN capkeeper.replica ON replica.id = lease.holder;

-- The settings of a replica for all of its workspaces.
-- name: configured
WITH told AS (SELECT * FROM unnest($2::text[], $3::text[]) AS told (workspace, config)),
  gone AS (DELETE FROM capkeeper.replica_config WHERE replica = $1 AND workspace NOT IN (SELECT workspace FROM told))
  INSERT INTO capkeeper.replica_config AS known (replica, workspace, config) SELECT $1, workspace, config FROM told
  ON CONFLICT (replica, workspace) DO UPDATE SET config = excluded.config WHERE known.config <> excluded.config;

-- name: hasFree
SELECT EXISTS (SELECT FROM capkeeper.lease WHERE holder IS NULL OR until <= clock_timestamp()) AS free;

-- The policies that a replica has now. Policy sets are equal apart from their revisions where the first words are: each is a digest.
-- name: tell
INSERT INTO capkeeper.replica_policy AS known (replica, workspace, policy, since)
  SELECT $1, workspace, policy, clock_timestamp() FROM unnest($2::text[], $3::text[]) AS given (workspace, policy)
  WHERE EXISTS (SELECT FROM capkeeper.replica WHERE id = $1)
  ON CONFLICT (replica, workspace) DO UPDATE SET policy = excluded.policy,
    since = CASE WHEN split_part(known.policy, ' ', 1) = split_part(excluded.policy, ' ', 1) THEN known.since ELSE excluded.since END WHERE known.policy <> excluded.policy;

-- A policy set that was never seen becomes the latest.
-- name: see
INSERT INTO capkeeper.policy_seen (workspace, policy, seen_at)
  SELECT workspace, policy, clock_timestamp() FROM unnest($1::text[], $2::text[]) AS given (workspace, policy) ORDER BY 1 ON CONFLICT DO NOTHING;

-- Only the latest sets of a workspace are remembered.
-- name: forgetSeen
DELETE FROM capkeeper.policy_seen WHERE (workspace, policy) IN (
  SELECT workspace, policy FROM (SELECT workspace, policy, row_number() OVER (PARTITION BY workspace ORDER BY seen_at DESC) AS place
    FROM capkeeper.policy_seen WHERE workspace = ANY($1::text[])) AS ranked WHERE place > $2);

-- The latest policy set of each workspace.
-- name: latest
SELECT DISTINCT ON (workspace) workspace, policy FROM capkeeper.policy_seen WHERE workspace = ANY($1::text[]) ORDER BY workspace, seen_at DESC;

-- A replaced policy set counts again, if every live replica that has the workspace in its settings has had it for so long.
-- name: readopt
INSERT INTO capkeeper.policy_seen (workspace, policy, seen_at) SELECT $1, $2, clock_timestamp()
  WHERE NOT EXISTS (
    SELECT FROM capkeeper.replica JOIN capkeeper.replica_config AS own ON own.replica = replica.id AND own.workspace = $1
      LEFT JOIN capkeeper.replica_policy ON replica_policy.replica = replica.id AND replica_policy.workspace = $1
    WHERE replica.spreads AND replica.until > clock_timestamp()
      AND (split_part(replica_policy.policy, ' ', 1) = split_part($2, ' ', 1) IS NOT TRUE OR replica_policy.since > clock_timestamp() - $3::float8 * interval '1 millisecond')
  ) ON CONFLICT (workspace, policy) DO UPDATE SET seen_at = excluded.seen_at RETURNING policy;

-- name: saveShown
INSERT INTO capkeeper.shown (workspace, document, saved_at)
  SELECT workspace, mine.document, clock_timestamp() FROM capkeeper.lease JOIN unnest($2::text[], $3::bigint[], $4::text[]) AS mine (workspace, token, document)
    USING (workspace) WHERE lease.holder = $1 AND lease.token = mine.token ORDER BY workspace
  ON CONFLICT (workspace) DO UPDATE SET document = excluded.document, saved_at = excluded.saved_at;

-- Reads the last seconds again, because a transaction may have ended late.
-- name: shownSince
SELECT workspace, document, saved_at::text AS at FROM capkeeper.shown
  WHERE saved_at > $1::timestamptz - interval '5 seconds' ORDER BY saved_at;

-- name: release
UPDATE capkeeper.lease SET holder = NULL, until = clock_timestamp() WHERE holder = $1;

-- name: leave
DELETE FROM capkeeper.replica WHERE id = $1;

-- name: leaveConfig
DELETE FROM capkeeper.replica_config WHERE replica = $1;

-- The first value that is saved counts.
-- name: keepCommon
INSERT INTO capkeeper.common (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: common
SELECT data FROM capkeeper.common WHERE name = $1;

-- The lock lets the lease be renewed meanwhile, but not taken.
-- name: holds
SELECT token FROM capkeeper.lease WHERE workspace = $1 AND holder = $2 AND token = $3 FOR KEY SHARE;

-- Who holds a workspace under a lease.
-- name: holder
SELECT coalesce(replica.name, lease.holder) AS holder FROM capkeeper.lease LEFT JOIN capkeeper.replica ON replica.id = lease.holder
WHERE workspace = $1 AND lease.holder IS NOT NULL AND lease.until > clock_timestamp();

-- The beginning of a record in one statement. The lock on the lease lets it be renewed meanwhile, but not taken.
-- name: gate
WITH held AS (SELECT token FROM capkeeper.lease WHERE workspace = $3::text AND holder = $4::text AND token = $5::bigint FOR KEY SHARE),
raised AS (
  UPDATE capkeeper.binding SET version = version + 1
  WHERE id = $1::bigint AND ($4::text IS NULL OR EXISTS (SELECT FROM held)) AND (SELECT version FROM capkeeper.schema_version) = $2::integer
  RETURNING version
);

-- name: server
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
  pg_is_in_recovery() AS standby, coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS tls;

-- name: now
SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now;

-- name: missingRights
SELECT nspname || '.' || relname AS name, privilege FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
WHERE nspname = 'capkeeper' AND relkind = 'r' AND NOT has_table_privilege(pg_class.oid, privilege) ORDER BY 1, 2;

-- name: rightsInSchema
SELECT to_regnamespace('capkeeper') IS NOT NULL AS there, has_database_privilege(current_database(), 'CREATE') AS may,
  coalesce(has_schema_privilege(to_regnamespace('capkeeper'), 'USAGE'), true) AS enters;
