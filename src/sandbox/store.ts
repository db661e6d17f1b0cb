// All data of the embedded service, in node:sqlite, in memory or in a file: people, groups, caps, keys, and the raw rows of use that every
// figure is summed from. Decides nothing about the interface, and never builds SQL from the text of a request.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { PERMISSION_NAME } from '../api/wire.ts'
import { InputError, messageOf } from '../core/model/problem.ts'
import { parseScope, type Scope, scopeKey } from '../core/model/scope.ts'
import { DAY_MS, type Instant } from '../core/model/units.ts'
import type { FixturePerson, UseSource } from './fixture/schema.ts'
import { TABLES } from './tables.generated.ts'
import { type AgentUse, decodeUse, encodeUse, insertUse, tableOf, USE_SOURCES, USE_TABLES, type UseOf, type UseRow } from './use.ts'

/** docs/service.md, Requests. */
export type Permission = (typeof PERMISSION_NAME)[keyof typeof PERMISSION_NAME]
export const PERMISSIONS: readonly Permission[] = Object.values(PERMISSION_NAME)

/** A person of the team, as a fixture has one, with every field; `id` is their place in the roster, from 0. */
export type StoredPerson = Omit<Required<FixturePerson>, 'signupAt'> & { readonly signupAt: Instant }

export interface StoredGroup {
  readonly id: string
  readonly name: string
}

/** A service key; one with a `groupId` sees only that group (docs/service.md). */
export interface StoredKey {
  readonly secret: string
  readonly permissions: readonly Permission[]
  readonly groupId?: string
}

/** When a person last used each modality; null: never. */
export type LastActivity = Readonly<Record<'autocompleteAt' | 'agentAt' | 'commandAt', Instant | null>>

/** A span of time, both ends included. */
interface Span {
  readonly fromAt: Instant
  readonly untilAt: Instant
}

/** The people and the span of agent use; without `ides`: in all of them. */
export interface AgentFilter extends Span {
  readonly people: readonly number[]
  readonly ides?: readonly string[]
}

/** Lines of one day (since the epoch, UTC). */
export interface DayLines {
  readonly day: number
  readonly suggested: number
  readonly accepted: number
}

export interface ToolCount {
  readonly tool: string
  readonly count: number
}

export type SqlValue = string | number | bigint | null

/** Values by name: the seed, the time up to which use has grown, and the figures of the balance. */
type MetaName = 'seed' | 'grownUntil' | 'creditsPerSeat' | 'seats' | 'addOnAvailable' | 'cycleStart'

export type Store = ReturnType<typeof openStore>

const ACTIVE_DAYS = `SELECT person, COUNT(*) AS value FROM (
  SELECT person, at / ${DAY_MS} AS day FROM autocomplete_use WHERE at BETWEEN :fromAt AND :untilAt AND acceptances > 0
  UNION SELECT person, at / ${DAY_MS} FROM agent_use WHERE at BETWEEN :fromAt AND :untilAt
  UNION SELECT person, at / ${DAY_MS} FROM command_use WHERE at BETWEEN :fromAt AND :untilAt
) GROUP BY person`

const USED_CENTS = `SELECT id AS person, (SELECT SUM(cents) FROM agent_use WHERE person = id AND at BETWEEN :fromAt AND :untilAt) AS value
  FROM people WHERE value IS NOT NULL`

const AGENT_ROWS = `at BETWEEN :fromAt AND :untilAt AND person IN (SELECT value FROM json_each(:people))
  AND (:ides IS NULL OR ide IN (SELECT value FROM json_each(:ides)))`

const AGENT_LINES = `SELECT at / ${DAY_MS} AS day, SUM(linesSuggested) AS suggested, SUM(linesAccepted) AS accepted FROM agent_use
  WHERE ${AGENT_ROWS} AND ide <> 'cli' GROUP BY day ORDER BY day`

const AGENT_TOOLS = `SELECT used.key AS tool, SUM(used.value) AS count FROM agent_use, json_each(agent_use.tools) AS used
  WHERE ${AGENT_ROWS} AND ide <> 'cli' GROUP BY tool ORDER BY count DESC, tool`

const LAST_ACTIVITY = `SELECT id AS person,
  (SELECT MAX(at) FROM autocomplete_use WHERE person = id AND at <= :untilAt) AS autocompleteAt,
  (SELECT MAX(at) FROM agent_use WHERE person = id AND at <= :untilAt) AS agentAt,
  (SELECT MAX(at) FROM command_use WHERE person = id AND at <= :untilAt) AS commandAt FROM people`

/** Opens the data in `file` (or in `:memory:`); throws an `InputError` when it cannot be used. */
export function openStore(file: string) {
  const database = openDatabase(file)
  const transaction = <T>(work: () => T): T => {
    database.exec('BEGIN')
    try {
      const result = work()
      database.exec('COMMIT')
      return result
    } catch (error) {
      database.exec('ROLLBACK')
      throw error
    }
  }
  const close = (): void => database.close()
  return {
    transaction,
    close,
    ...metaPart(database),
    ...peoplePart(database),
    ...groupPart(database),
    ...capPart(database),
    ...usePart(database),
    ...agentPart(database),
  }
}

/** The version of the tables; a file with another version is refused. */
const SCHEMA_VERSION = 2

function openDatabase(file: string): DatabaseSync {
  try {
    const database = new DatabaseSync(file)
    const [found] = query<{ user_version: number }>(database, 'PRAGMA user_version')()
    const [tables] = query<{ count: number }>(database, 'SELECT COUNT(*) AS count FROM sqlite_schema')()
    if (tables?.count !== 0 && found?.user_version !== SCHEMA_VERSION) {
      database.close()
      throw new Error('another version of capkeeper made it, or another program')
    }
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA user_version = ${SCHEMA_VERSION}`)
    database.exec(USE_TABLES)
    database.exec(TABLES)
    return database
  } catch (error) {
    const why = messageOf(error)
    const message = `sandbox data ${file} cannot be used: ${why}; name another file with --data, or use --data :memory:`
    throw new InputError([{ severity: 'error', code: 'SANDBOX_DATA_UNUSABLE', message }])
  }
}

/** The only place where rows of the database get their types; the columns are those of tables.sql. */
function query<Row>(database: DatabaseSync, sql: string): (parameters?: Readonly<Record<string, SQLInputValue>>) => readonly Row[] {
  const statement = database.prepare(sql)
  return (parameters = {}) => statement.all({ ...parameters }) as Row[]
}

/** The same for statements that change rows. */
function command(database: DatabaseSync, sql: string): (...values: SQLInputValue[]) => void {
  const statement = database.prepare(sql)
  return (...values) => void statement.run(...values)
}

function metaPart(database: DatabaseSync) {
  const read = query<{ value: number }>(database, 'SELECT value FROM meta WHERE name = :name')
  const write = command(database, 'INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)')
  const readKey = query<{ permissions: string; groupId: string | null }>(database, 'SELECT * FROM keys WHERE secret = :secret')
  const writeKey = command(database, 'INSERT OR REPLACE INTO keys (secret, permissions, groupId) VALUES (?, ?, ?)')
  /** Keys that were read before: every request reads one. */
  const known = new Map<string, StoredKey>()
  return {
    meta: (name: MetaName): number | undefined => read({ name })[0]?.value,
    setMeta: (name: MetaName, value: number): void => write(name, value),
    key(secret: string): StoredKey | undefined {
      const row = known.has(secret) ? undefined : readKey({ secret })[0]
      if (row) {
        const held = row.permissions.split(',')
        const permissions = PERMISSIONS.filter((permission) => held.includes(permission))
        known.set(secret, { secret, permissions, groupId: row.groupId ?? undefined })
      }
      return known.get(secret)
    },
    saveKey(key: StoredKey): void {
      known.delete(key.secret)
      writeKey(key.secret, key.permissions.join(','), key.groupId ?? null)
    },
  }
}

type PersonRow = Omit<StoredPerson, 'disabled'> & { readonly disabled: number }

const personOf = (row: PersonRow): StoredPerson => ({ ...row, disabled: row.disabled !== 0 })

function peoplePart(database: DatabaseSync) {
  const all = query<PersonRow>(database, 'SELECT * FROM people ORDER BY id')
  const save = command(database, 'INSERT OR REPLACE INTO people VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const remove = command(database, 'DELETE FROM people WHERE email = ?')
  const leave = command(database, 'DELETE FROM members WHERE person = (SELECT id FROM people WHERE email = ?)')
  /** All people as they were last read; cleared at the first change. */
  let roster: ReadonlyMap<string, StoredPerson> | undefined
  const byEmail = (): ReadonlyMap<string, StoredPerson> => {
    roster ??= new Map(all().map((row) => [row.email, personOf(row)]))
    return roster
  }
  return {
    /** In the order of the roster. */
    people: (): readonly StoredPerson[] => [...byEmail().values()],
    /** By a normalised e-mail. */
    person: (email: string): StoredPerson | undefined => byEmail().get(email),
    /** Replaces the person with the same id. */
    savePerson(p: StoredPerson): void {
      roster = undefined
      save(p.id, p.email, p.name, p.role, p.status, p.disabled ? 1 : 0, p.apiKey, p.signupAt)
    },
    /** Removes a person from the roster; their rows of use remain. */
    removePerson(email: string): void {
      roster = undefined
      leave(email)
      remove(email)
    },
  }
}

function groupPart(database: DatabaseSync) {
  const all = query<StoredGroup>(database, 'SELECT id, name FROM groups ORDER BY position')
  const save = command(database, 'INSERT INTO groups (id, name) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name')
  const members = query<{ person: number }>(database, 'SELECT person FROM members WHERE groupId = :groupId')
  const empty = command(database, 'DELETE FROM members WHERE groupId = ?')
  const add = command(database, 'INSERT OR IGNORE INTO members (groupId, person) VALUES (?, ?)')
  return {
    groups: () => all(),
    saveGroup: (group: StoredGroup): void => save(group.id, group.name),
    members: (groupId: string): ReadonlySet<number> => new Set(members({ groupId }).map((row) => row.person)),
    /** Replaces the members of a group. */
    setMembers(groupId: string, people: Iterable<number>): void {
      empty(groupId)
      for (const person of people) add(groupId, person)
    },
  }
}

function capPart(database: DatabaseSync) {
  const one = query<{ cap: number }>(database, 'SELECT cap FROM caps WHERE scope = :scope')
  const all = query<{ scope: string; cap: number }>(database, 'SELECT scope, cap FROM caps ORDER BY scope')
  const set = command(database, 'INSERT OR REPLACE INTO caps (scope, cap) VALUES (?, ?)')
  const clear = command(database, 'DELETE FROM caps WHERE scope = ?')
  return {
    /** The cap that is set explicitly at this scope. */
    cap: (scope: Scope): number | undefined => one({ scope: scopeKey(scope) })[0]?.cap,
    setCap: (scope: Scope, cap: number | undefined): void => (cap === undefined ? clear(scopeKey(scope)) : set(scopeKey(scope), cap)),
    /** All caps, in the order of the scope keys. */
    caps: () =>
      all().flatMap((row) => {
        const scope = parseScope(row.scope)
        return scope ? [{ scope, cap: row.cap }] : []
      }),
  }
}

type Columns = Readonly<Record<string, unknown>>
type Figure = { readonly person: number; readonly value: number }

function usePart(database: DatabaseSync) {
  const used = query<Figure>(database, USED_CENTS)
  const days = query<Figure>(database, ACTIVE_DAYS)
  const last = query<LastActivity & { readonly person: number }>(database, LAST_ACTIVITY)
  const byPerson = (rows: readonly Figure[]) => new Map(rows.map(({ person, value }) => [person, value]))
  const writers = new Map(USE_SOURCES.map((source) => [source, command(database, insertUse(source))]))
  return {
    addUse: (row: UseRow): void => writers.get(row.source)?.(...encodeUse(row)),
    /** Cents used in the span, by person; without people who used none. */
    usedCents: (span: Span): ReadonlyMap<number, number> => byPerson(used({ ...span })),
    /** Days (UTC) with any use in the span, by person; without people who had none. */
    activeDays: (span: Span): ReadonlyMap<number, number> => byPerson(days({ ...span })),
    lastActivity: (untilAt: Instant): ReadonlyMap<number, LastActivity> =>
      new Map(last({ untilAt }).map(({ person, ...row }) => [person, row])),
    /** Every row of a source, oldest first. */
    *use<Source extends UseSource>(source: Source): Generator<UseOf<Source>> {
      const rows = database.prepare(`SELECT * FROM ${tableOf(source)} ORDER BY at, rowid`).iterate()
      for (const row of rows) yield decodeUse(source, row)
    },
    /** Runs the SQL of the analytics fields; columns by position. Texts of a request may only be parameters. */
    select(sql: string, parameters: readonly SqlValue[]): readonly (readonly SqlValue[])[] {
      const statement = database.prepare(sql)
      statement.setReturnArrays(true)
      return statement.all(...parameters) as readonly unknown[] as SqlValue[][]
    },
  }
}

function agentPart(database: DatabaseSync) {
  const runs = query<Columns>(database, `SELECT * FROM agent_use WHERE ${AGENT_ROWS} ORDER BY at, rowid LIMIT :limit`)
  const lines = query<DayLines>(database, AGENT_LINES)
  const tools = query<ToolCount>(database, AGENT_TOOLS)
  const bound = ({ fromAt, untilAt, people, ides }: AgentFilter) => ({
    ...{ fromAt, untilAt },
    people: JSON.stringify(people),
    ides: ides ? JSON.stringify(ides) : null,
  })
  return {
    /** Agent rows of these people, oldest first, `limit` at most. */
    agentRuns: (filter: AgentFilter, limit: number): readonly AgentUse[] =>
      runs({ ...bound(filter), limit }).map((row) => decodeUse('agent', row)),
    /** Lines by day; none for the terminal, which reports none. */
    agentLines: (filter: AgentFilter) => lines(bound(filter)),
    /** Uses of each tool, the most used first; none for the terminal. */
    agentTools: (filter: AgentFilter) => tools(bound(filter)),
  }
}
