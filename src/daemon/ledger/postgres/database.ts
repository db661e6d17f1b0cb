// The ledger's handle on PostgreSQL: a pool of connections, whose users wait in line, time limits for every statement, failures as
// LedgerErrors, and transactions that are on the disk when they resolve. After a failure to connect it waits, longer each time. It knows
// nothing about the content.
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { messageOf } from '../../../core/model/problem.ts'
import { codeIn, FileError, readWhole, whyUnreadAndCode } from '../../../files.ts'
import type { Clock } from '../../../ports.ts'
import { timer } from '../../schedule/system.ts'
import { LedgerError } from '../error.ts'
import type { Row } from '../sql/statement.ts'
import { MAX_PASSWORD_FILE_BYTES, passwordFileOf, passwordFor, shownAddress, targetOf } from './address.ts'
import { fromPostgres, isBroken, isWithoutTls } from './error.ts'

interface SlotsOptions {
  /** One of them is reserved for urgent queries. */
  readonly count: number
  readonly patienceMs: number
  readonly clock: Pick<Clock, 'sleep'>
  readonly refused: () => Error
}

export function createSlots({ count, patienceMs, clock, refused }: SlotsOptions) {
  const urgent = { used: 0, waiting: new Set<() => void>() }
  const others = { used: 0, waiting: new Set<() => void>() }
  const give = (): void => {
    const kind = urgent.waiting.size > 0 ? urgent : others
    const [first] = kind.waiting
    if (!first || urgent.used + others.used >= count || (kind === others && others.used >= count - 1)) return
    kind.waiting.delete(first)
    kind.used += 1
    first()
    give()
  }
  return {
    /** Resolves with a function that gives the slot back. Rejects with `refused` after the wait. */
    async take(isUrgent: boolean): Promise<() => void> {
      const kind = isUrgent ? urgent : others
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      kind.waiting.add(resolve)
      give()
      if (kind.waiting.has(resolve)) {
        using _patience = timer(clock, patienceMs, () => kind.waiting.delete(resolve) && reject(refused()))
        await promise
      }
      let isBack = false
      return () => {
        if (isBack) return
        isBack = true
        kind.used -= 1
        give()
      }
    },
  }
}

/** Lists are of one column of several rows. */
export type Value = string | number | boolean | null | readonly (string | number | null)[]

/** Runs one statement. */
export type Query = (sql: string, values?: readonly Value[]) => Promise<readonly Row[]>

/** Time limits (choices): for connecting, for a statement on the server, for its wait for locks, and for the answer. */
const CONNECT_MS = 5_000
const STATEMENT_MS = 10_000
const LOCK_MS = 4_000
const ANSWER_MS = 15_000
/** Shorter than the keeper waits for a heartbeat (`BEAT_PATIENCE_MS`). */
const URGENT_ANSWER_MS = 4_500
/** A process that is suspended inside a transaction must not block its successor. */
const IDLE_MS = 15_000
const MAX_CONNECTIONS = 10
/** The wait for a free connection. */
const TURN_MS = 30_000

/** Waits after failures to connect, doubling. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 2_000

// Whatever the server's default is, an intent must be on its disk before the request is sent.
const BEGIN = 'BEGIN; SET LOCAL synchronous_commit TO on'
/** Set once on each connection. */
const LIMITS = `SET statement_timeout TO ${STATEMENT_MS}; SET lock_timeout TO ${LOCK_MS}; SET idle_in_transaction_session_timeout TO ${IDLE_MS}`

interface PostgresOptions {
  readonly address: string
  /** Has what the address leaves open. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>
}

export type PostgresDatabase = ReturnType<typeof openPostgres>

/** Makes the handle, without connecting. Throws a `LedgerError` for an invalid address, or certificates that cannot be read. */
export function openPostgres({ address: given, env = process.env, clock }: PostgresOptions) {
  const name = shownAddress(given)
  const target = targetOf(given, env)
  if (!target) throw new LedgerError('LEDGER_UNREADABLE', `${name} is no address: write postgres://user@host:port/database`)
  const gate = createGate(clock, name)
  const { withoutTls } = target
  let address = target.connectionString
  const passwords = passwordsIn(passwordFileOf(env), name, clock)
  const make = (): Pool => poolOf(address, name, passwords)
  let pool = make()
  /**
   * Drops the whole pool when one connection breaks: the others are likely dead too, each would cost a timeout, and a heartbeat whose answer is
   * lost may renew a lease without our knowledge.
   */
  const leave = (broken: Pool): void => {
    if (broken !== pool || broken.ending) return
    pool = make()
    void broken.end()
  }
  const connected = async (of: Pool) => ({ client: await of.connect(), of })
  const connect = () =>
    gate(async () => {
      try {
        return await connected(pool)
      } catch (error) {
        if (withoutTls === undefined || !(error instanceof Error) || !isWithoutTls(error.message)) throw error
        if (address !== withoutTls) {
          address = withoutTls
          leave(pool)
        }
        return await connected(pool)
      }
    })
  const slots = createSlots({ count: MAX_CONNECTIONS, patienceMs: TURN_MS, clock, refused: () => allInUse(name) })
  const session = async (answerMs?: number): Promise<Session> => {
    const giveBack = await slots.take(answerMs !== undefined)
    try {
      const { client, of } = await connect()
      return sessionOf(client, name, answerMs ?? ANSWER_MS, giveBack, () => leave(of))
    } catch (error) {
      giveBack()
      throw fromPostgres(error, name)
    }
  }
  /** With `urgentMs` it goes before all others, and its answer must come within this time. */
  const using = async <T>(use: (one: Session) => Promise<T>, urgentMs?: number): Promise<T> => {
    using one = await session(urgentMs)
    return await use(one)
  }
  /** For reading: repeated once when the connection turns out to be dead. */
  const query: Query = (sql, values) => again(() => using((one) => one.query(sql, values)))
  /** For leases: waits for no other query of this process. */
  const urgent: Query = (sql, values) => again(() => using((one) => one.query(sql, values), URGENT_ANSWER_MS))
  /** For a statement that writes: never repeated. */
  const once: Query = (sql, values) => using((one) => one.query(sql, values))
  return {
    /** Its name in messages. */
    name,
    ...{ query, urgent, once, using },
    /** On a connection of the pool; repeated once when the connection turns out to be dead before the transaction began. */
    async transaction<T>(body: Body<T>, begin?: string): Promise<T> {
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
    `${name}: all ${MAX_CONNECTIONS} connections of this process were in use for ${TURN_MS / 1000} s; the database is too slow for so many queries: run more replicas`,
  )

/**
 * When authentication fails, the driver leaves the socket open, and a command would not end before the server closes it. A connection that breaks
 * fails its question; that nobody else listens, as until its session begins, must not end the process.
 */
class ClosingClient extends Client {
  constructor(config?: ClientConfig) {
    super(config)
    this.on('error', () => undefined)
    this.connection.on('error', () => this.connection.stream.destroy())
  }
}

function poolOf(connectionString: string, name: string, passwords: Passwords): Pool {
  try {
    const address = parseIntoClientConfig(connectionString)
    const config: PoolConfig = {
      ...address,
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      application_name: 'capkeeper',
      allowExitOnIdle: true,
      Client: ClosingClient,
      onConnect: (client) => client.query(LIMITS),
    }
    // Adds libpq's variables for the parts that the address leaves out.
    const asked = new Client(address)
    const pool = new Pool(asked.password ? config : { ...config, password: () => passwords(asked) })
    // An idle connection that dies is replaced when the next one is needed.
    pool.on('error', () => undefined)
    return pool
  } catch (error) {
    const told = messageOf(error)
    throw new LedgerError('LEDGER_UNREADABLE', `${name}: the connection cannot be set up (${told})`)
  }
}

type Passwords = (of: Client) => Promise<string>

/**
 * Read whenever the server asks for a password, so that a new password counts at once. '' when there is none: the server's refusal is clear. While it
 * is no file that can be read, the last good one is used.
 */
function passwordsIn(file: string, name: string, clock: PostgresOptions['clock']): Passwords {
  const unusable = (why: string): LedgerError => new LedgerError('LEDGER_UNREADABLE', `${name}: the password file ${file} ${why}`)
  let last: string | undefined
  const read = async (): Promise<string> => {
    try {
      const { mode, bytes } = await readWhole(file, MAX_PASSWORD_FILE_BYTES, clock)
      if ((mode & OTHERS) !== 0) throw unusable('is not used, because other users may read it; run chmod 600 on it')
      last = bytes.toString('utf8')
      return last
    } catch (error) {
      if (error instanceof LedgerError) throw error
      if (error instanceof FileError && last !== undefined) return last
      if (codeIn(error) === 'ENOENT') return ''
      throw unusable(whyUnreadAndCode(error))
    }
  }
  return async ({ host, port, database = '', user = '' }) => passwordFor(await read(), { host, port, database, user }) ?? ''
}

/** The rights of the group and of all other users. */
const OTHERS = 0o077

/** Repeats an attempt once when its connection was dead: a connection of the pool may have died unnoticed. */
async function again<T>(attempt: () => Promise<T>, mayRepeat: () => boolean = () => true): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!isBroken(error) || !mayRepeat()) throw error
    return attempt()
  }
}

/** Delays attempts to connect after a failed one: until then each fails with the last error. */
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
      // The first failure may be a dead connection, so the next attempt needs no wait.
      notBefore = clock.monotonic() + (waitMs === FIRST_WAIT_MS ? 0 : waitMs)
      throw last
    }
  }
}

/** In a transaction; `begun`: the rows of its first statement. */
type Body<T> = (query: Query, begun: readonly Row[]) => Promise<T>

type Session = ReturnType<typeof sessionOf>

/** One connection, for exclusive use until it is released. Every method rejects with a `LedgerError`. */
function sessionOf(client: PoolClient, name: string, answerMs: number, giveBack: () => void, broke: () => void) {
  let alive = true
  const fail = (): void => {
    alive = false
    broke()
  }
  client.on('error', fail)
  const query: Query = async (sql, values) => {
    try {
      // The driver's types lack `query_timeout`.
      const question = { text: sql, values: values && [...values], query_timeout: answerMs }
      const answer: unknown = await client.query(question)
      return rowsOf(answer)
    } catch (error) {
      if (isBroken(error)) fail()
      throw fromPostgres(error, name)
    }
  }
  return {
    query,
    /** One transaction, rolled back when `body` rejects. The statement `begin` runs first. */
    async transaction<T>(body: Body<T>, begin?: string): Promise<T> {
      const begun = await query(begin === undefined ? BEGIN : `${BEGIN}; ${begin}`)
      try {
        const result = await body(query, begun)
        await query('COMMIT')
        return result
      } catch (error) {
        // A connection that cannot roll back is not used again.
        if (alive) await query('ROLLBACK').catch(fail)
        throw error
      }
    },
    [Symbol.dispose]() {
      client.removeListener('error', fail)
      client.release(!alive)
      giveBack()
    },
  }
}

/** The rows of the last statement. */
function rowsOf(answer: unknown): readonly Row[] {
  const last: unknown = Array.isArray(answer) ? answer.at(-1) : answer
  return isResult(last) ? last.rows : []
}

const isResult = (value: unknown): value is { readonly rows: readonly Row[] } =>
  typeof value === 'object' && value !== null && 'rows' in value && Array.isArray(value.rows)
