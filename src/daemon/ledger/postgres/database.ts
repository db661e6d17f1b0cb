// The ledger's handle on PostgreSQL: connections from a pool, statements with limits of time, failures as LedgerErrors, and one way to write: a
// transaction that is on the disks when it resolves. After a failure to connect it waits longer each time before it tries again. It
// knows nothing of what is stored.
import { readFileSync, statSync } from 'node:fs'
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import type { Clock } from '../../../ports.ts'
import { LedgerError } from '../error.ts'
import { passwordFileOf, passwordFor, shownAddress, targetOf } from './address.ts'
import { fromPostgres, isBroken, isWithoutTls } from './error.ts'
import { createSlots } from './slots.ts'

export type Row = Readonly<Record<string, unknown>>
export type Value = string | number | boolean | null | readonly (string | number | null)[]

/** Asks one statement. */
export type Query = (sql: string, values?: readonly Value[]) => Promise<readonly Row[]>

/** A connection of its own for as long as it is held. Every method rejects with a `LedgerError`. */
export interface Session {
  readonly query: Query
  /** One transaction; nothing of it stays when `body` rejects. `begin` goes with its begin, and its rows are handed on. */
  transaction<T>(body: (query: Query, begun: readonly Row[]) => Promise<T>, begin?: string): Promise<T>
  /** False once the connection has failed. */
  isAlive(): boolean
  release(): void
}

export interface PostgresDatabase {
  /** As messages name it. */
  readonly name: string
  /** For reading: asked once more when the connection turns out to be dead. */
  readonly query: Query
  /** For a statement that writes: never asked twice. */
  readonly once: Query
  /** For leases: it waits for nothing else of this process. */
  readonly urgent: Query
  /** On a connection of the pool; tried once more when its connection turns out to be dead before anything was sent. */
  transaction: Session['transaction']
  session(): Promise<Session>
  close(): Promise<void>
}

/** Limits of time (choices): for a connection, for a statement on the server, for one that waits for others, and for the answer. */
const CONNECT_MS = 5_000
const STATEMENT_MS = 10_000
const LOCK_MS = 4_000
const ANSWER_MS = 15_000
/** A heartbeat is given up within its keeper's patience, and its connection with it. */
const URGENT_ANSWER_MS = 4_500
/** A process that stands still in the middle of a transaction must not hold up its successor. */
const IDLE_MS = 15_000
const MOST_CONNECTIONS = 10
/** For one of them to become free. */
const TURN_MS = 30_000

/** Waits after failures to connect, doubling. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 2_000

// Whatever the server's habit is, an intent has to be on its disk before the request leaves.
const BEGIN = 'BEGIN; SET LOCAL synchronous_commit TO on'
/** Asked once of each connection. */
const LIMITS = `SET statement_timeout TO ${STATEMENT_MS}; SET lock_timeout TO ${LOCK_MS}; SET idle_in_transaction_session_timeout TO ${IDLE_MS}`

export interface PostgresOptions {
  readonly address: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
}

/** Makes the handle; nothing is connected yet. Throws a `LedgerError` for an address that is none, or certificates that cannot be read. */
export function openPostgres({ address: given, env, clock }: PostgresOptions): PostgresDatabase {
  const name = shownAddress(given)
  const target = targetOf(given, env)
  if (!target) throw new LedgerError('LEDGER_UNREADABLE', `${name} is no address: write postgres://user@host:port/database`)
  const gate = createGate(clock, name)
  let { connectionString: address, withoutTls } = target
  const make = (): Pool => poolOf(address, name, env)
  let pool = make()
  /**
   * One connection that broke tells of all that were made before it: each would have to be waited for, and what is sent on one without answers may
   * prolong a lease that nobody knows of.
   */
  const leave = (broken: Pool): void => {
    if (broken !== pool) return
    pool = make()
    void broken.end()
  }
  const limited = new WeakSet<PoolClient>()
  const withLimits = async (client: PoolClient): Promise<PoolClient> => {
    if (limited.has(client)) return client
    try {
      await client.query(LIMITS)
    } catch (error) {
      client.release(true)
      throw error
    }
    limited.add(client)
    return client
  }
  const connected = async (of: Pool): Promise<Connected> => ({ client: await withLimits(await of.connect()), of })
  const connect = (): Promise<Connected> =>
    gate(async () => {
      try {
        return await connected(pool)
      } catch (error) {
        if (withoutTls === undefined || !(error instanceof Error) || !isWithoutTls(error.message)) throw error
        address = withoutTls
        withoutTls = undefined
        leave(pool)
        return await connected(pool)
      }
    })
  const slots = createSlots({ count: MOST_CONNECTIONS, patienceMs: TURN_MS, clock, refused: () => allInUse(name) })
  const session = async (answerMs?: number): Promise<Session> => {
    const giveBack = await slots.take(answerMs !== undefined)
    try {
      const { client, of } = await connect()
      return sessionOf(client, name, { giveBack, broke: () => leave(of), answerMs: answerMs ?? ANSWER_MS })
    } catch (error) {
      giveBack()
      throw fromPostgres(error, name)
    }
  }
  /** `urgentMs`: it goes before all others, and its answer has to come within this time. */
  const using = async <T>(use: (one: Session) => Promise<T>, urgentMs?: number): Promise<T> => {
    const one = await session(urgentMs)
    try {
      return await use(one)
    } finally {
      one.release()
    }
  }
  return {
    name,
    session: () => session(),
    urgent: (sql, values) => again(() => using((one) => one.query(sql, values), URGENT_ANSWER_MS)),
    query: (sql, values) => again(() => using((one) => one.query(sql, values))),
    once: (sql, values) => using((one) => one.query(sql, values)),
    async transaction(body, begin) {
      let hasBegun = false
      const attempt = () =>
        using((one) =>
          one.transaction((query, begun) => {
            hasBegun = true
            return body(query, begun)
          }, begin),
        )
      return again(attempt, () => !hasBegun)
    },
    close: () => pool.end(),
  }
}

const allInUse = (name: string): LedgerError =>
  new LedgerError(
    'LEDGER_LOCKED',
    `${name}: all ${MOST_CONNECTIONS} connections of this process were in use for ${TURN_MS / 1000} s; the database answers too slowly for what is asked, so run more replicas`,
  )

/** The driver leaves the socket open when it gives up while it proves who it is, and a command would not end before the server does. */
class ClosingClient extends Client {
  constructor(config?: ClientConfig) {
    super(config)
    this.connection.on('error', () => this.connection.stream.destroy())
  }
}

function poolOf(connectionString: string, name: string, env: PostgresOptions['env']): Pool {
  try {
    const address = parseIntoClientConfig(connectionString)
    const config: PoolConfig = {
      ...address,
      max: MOST_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      application_name: 'capkeeper',
      allowExitOnIdle: true,
      Client: ClosingClient,
    }
    // With libpq's variables for whatever the address leaves out.
    const asked = new Client(address)
    const pool = new Pool(asked.password ? config : { ...config, password: () => passwordInFile(passwordFileOf(env), asked, name) })
    // An idle connection that dies is replaced by the next that is asked for.
    pool.on('error', () => undefined)
    return pool
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error)
    throw new LedgerError('LEDGER_UNREADABLE', `${name}: the connection cannot be set up (${told})`)
  }
}

/** Read for each connection of which the server asks a password, so that a new one counts at once. What it says of none is clear enough. */
function passwordInFile(file: string, { host, port, database = '', user = '' }: Client, name: string): string {
  const unusable = (why: string): LedgerError => new LedgerError('LEDGER_UNREADABLE', `${name}: the password file ${file} ${why}`)
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (!stat) return ''
    if ((stat.mode & OTHERS) !== 0) throw unusable('is not used, because others may read it; chmod 600 mends that')
    return passwordFor(readFileSync(file, 'utf8'), { host, port, database, user }) ?? ''
  } catch (error) {
    throw error instanceof LedgerError ? error : unusable(`cannot be read (${error instanceof Error ? error.message : String(error)})`)
  }
}

/** Rights of the group and of everybody. */
const OTHERS = 0o077

/** A connection of the pool may have died unseen; a new one is made for the second attempt. */
async function again<T>(attempt: () => Promise<T>, mayRepeat: () => boolean = () => true): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!isBroken(error) || !mayRepeat()) throw error
    return attempt()
  }
}

/** Lets attempts to connect through, but not too soon after one that failed. */
function createGate(clock: Pick<Clock, 'monotonic'>, name: string): <T>(connect: () => Promise<T>) => Promise<T> {
  let waitMs = 0
  let notBefore = Number.NEGATIVE_INFINITY
  let last: unknown
  return async (connect) => {
    if (clock.monotonic() < notBefore) throw last
    try {
      const connected = await connect()
      waitMs = 0
      return connected
    } catch (error) {
      last = fromPostgres(error, name)
      waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, waitMs * 2))
      // The first failure may be a connection that died: the next attempt goes at once.
      notBefore = clock.monotonic() + (waitMs === FIRST_WAIT_MS ? 0 : waitMs)
      throw last
    }
  }
}

interface Connected {
  readonly client: PoolClient
  readonly of: Pool
}

interface Ways {
  readonly giveBack: () => void
  readonly broke: () => void
  readonly answerMs: number
}

function sessionOf(client: PoolClient, name: string, { giveBack, broke, answerMs }: Ways): Session {
  let alive = true
  const fail = (): void => {
    alive = false
    broke()
  }
  client.on('error', fail)
  const ask = async (sql: string, values?: readonly Value[]): Promise<readonly Row[]> => {
    try {
      // The driver knows a limit for each question, and its types do not.
      const question = { text: sql, ...(values && { values: [...values] }), query_timeout: answerMs }
      const answer: unknown = await client.query(question)
      return rowsOf(answer)
    } catch (error) {
      if (isBroken(error)) fail()
      throw fromPostgres(error, name)
    }
  }
  return {
    query: ask,
    isAlive: () => alive,
    async transaction(body, begin) {
      const begun = await ask(begin === undefined ? BEGIN : `${BEGIN}; ${begin}`)
      try {
        const result = await body(ask, begun)
        await ask('COMMIT')
        return result
      } catch (error) {
        // A connection that cannot take its transaction back is not used again.
        if (alive) await ask('ROLLBACK').catch(fail)
        throw error
      }
    },
    release() {
      client.removeListener('error', fail)
      client.release(!alive)
      giveBack()
    },
  }
}

/** Of several statements the rows of the last count. */
function rowsOf(answer: unknown): readonly Row[] {
  const last: unknown = Array.isArray(answer) ? answer.at(-1) : answer
  return isResult(last) ? last.rows : []
}

const isResult = (value: unknown): value is { readonly rows: readonly Row[] } =>
  typeof value === 'object' && value !== null && 'rows' in value && Array.isArray(value.rows)
