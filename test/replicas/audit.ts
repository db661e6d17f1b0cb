// The leases as the database gave them, from a trigger beside the tables: which replica had which workspace from when until when, by the
// database's clock. It is read all the time, so that rows that a failed-over copy lacks are known.
import type { Database } from './database.ts'
import { clock } from './time.ts'

/** A lease that was given, renewed or released. */
export interface Given {
  readonly at: number
  readonly workspace: string
  /** The id of a replica; absent: none. */
  readonly holder: string | undefined
  readonly token: number
  readonly until: number
  readonly era: string
}

export type Audit = Awaited<ReturnType<typeof startAudit>>

const SETUP = `
CREATE SCHEMA IF NOT EXISTS judge;
GRANT USAGE ON SCHEMA judge TO PUBLIC;
CREATE TABLE IF NOT EXISTS judge.given (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  workspace TEXT NOT NULL, holder TEXT, token BIGINT NOT NULL, until TIMESTAMPTZ NOT NULL, era TEXT NOT NULL
);
CREATE OR REPLACE FUNCTION judge.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO judge.given (workspace, holder, token, until, era) VALUES (NEW.workspace, NEW.holder, NEW.token, NEW.until, NEW.era);
  RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE ON capkeeper.lease FOR EACH ROW EXECUTE FUNCTION judge.note();
INSERT INTO judge.given (workspace, holder, token, until, era) SELECT workspace, holder, token, until, era FROM capkeeper.lease;`

/** From when rows are read again: transactions may end late, and a copy may number rows anew. */
const AGAIN_MS = 3_000
const EVERY_MS = 200

export async function startAudit(database: Database) {
  await database.sql(SETUP)
  const given: Given[] = []
  const known = new Set<string>()
  const names = new Map<string, string>()
  const ended = new AbortController()
  let readUntil = 0
  const read = async (): Promise<void> => {
    const rows = await database.sql(
      `SELECT extract(epoch FROM at) * 1000 AS at, workspace, holder, token, extract(epoch FROM until) * 1000 AS until, era FROM judge.given
       WHERE at > to_timestamp(${(readUntil - AGAIN_MS) / 1000}) ORDER BY at, id`,
    )
    for (const row of rows) {
      const key = JSON.stringify(Object.values(row))
      if (known.has(key)) continue
      known.add(key)
      const holder = row['holder'] === null ? undefined : String(row['holder'])
      const one = { workspace: String(row['workspace']), holder, token: Number(row['token']), era: String(row['era']) }
      given.push({ ...one, at: Number(row['at']), until: Number(row['until']) })
      readUntil = Math.max(readUntil, Number(row['at']))
    }
    for (const row of await database.sql('SELECT id, name FROM capkeeper.replica')) names.set(String(row['id']), String(row['name']))
  }
  const reading = (async () => {
    while (!ended.signal.aborted) {
      await read().catch(() => undefined)
      await clock.sleep(EVERY_MS, ended.signal).catch(() => undefined)
    }
  })()
  return {
    given,
    /** Names of replicas by id. */
    names,
    /** Reads new rows. */
    read,
    async close() {
      ended.abort()
      await reading
    },
  }
}
