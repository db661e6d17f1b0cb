// Decides who may write a workspace. With a fence each transaction checks the token of the lease and locks its row, so that a replica that lost
// the lease writes nothing. Without one the process holds an advisory lock on the connection of its transactions: a broken connection loses
// both.
import { createHash } from 'node:crypto'
import { BugError } from '../../../core/model/problem.ts'
import type { Clock } from '../../../ports.ts'
import { inOrder } from '../adapter.ts'
import { LedgerError } from '../error.ts'
import { unbound } from '../sql/changes.ts'
import { keptText } from '../sql/statement.ts'
import { mustBePresent } from '../sql/tables.ts'
import type { PostgresDatabase, Query, Session } from './database.ts'
import type { Under } from './single.ts'
import { SQL } from './statements.generated.ts'

/** The lease that this process has on a workspace, if any. */
export type Fence = (workspace: string) => Under | undefined

/** The ways to write a workspace while this process may. */
interface Turn {
  /** The lease that each record needs. */
  readonly under?: Under
  /** Runs a statement that is a transaction by itself. */
  readonly once: Query
  transaction<T>(body: (query: Query) => Promise<T>): Promise<T>
  /** Why a record in one statement was refused. */
  refused(): LedgerError
}

export interface Writer {
  /** Takes the right to write a workspace. Rejects with LEDGER_LOCKED or LEDGER_FENCED. */
  claim(workspace: string): Promise<void>
  write<T>(workspace: string, use: (turn: Turn) => Promise<T>): Promise<T>
  close(): void
}

/** Rejects when the schema has become newer meanwhile. */
export const versioned = <T>(on: Pick<Session, 'transaction'>, name: string, body: (query: Query) => Promise<T>): Promise<T> =>
  on.transaction((query, [found]) => {
    mustBePresent(Number(found?.['version']), name)
    return body(query)
  }, SQL.version)

/** For reading: every attempt to write is a `BugError`. */
export const noWriter = (database: PostgresDatabase): Writer => ({
  claim: async () => undefined,
  write: () => Promise.reject(readOnly(database)),
  close: () => undefined,
})

export const readOnly = ({ name }: PostgresDatabase): BugError =>
  new BugError(`${name} was opened for reading, and something wants to write to it`)

/**
 * With a fence each transaction needs the lease, which may be taken later: until then it is refused. Without one it needs no lease and no lock, for
 * commands that note something beside a running daemon.
 */
export const openWriter = (database: PostgresDatabase, fence?: Fence): Writer => ({
  claim: async () => undefined,
  async write(workspace, use) {
    const under = fence?.(workspace)
    const refused = () => (fence ? fenced : unbound)(database.name, workspace)
    if (fence && !under) throw refused()
    return use({
      ...{ under, once: database.once, refused },
      transaction: (body) =>
        versioned(database, database.name, async (query) => {
          if (under && (await query(SQL.holds, [keptText(workspace), under.replica, under.token])).length === 0) throw refused()
          return body(query)
        }),
    })
  },
  close: () => undefined,
})

const fenced = (name: string, workspace: string): LedgerError =>
  new LedgerError(
    'LEDGER_FENCED',
    `${name}: another replica holds ${workspace} now, so nothing was recorded; this replica continues when it holds it again`,
  )

/** How long to wait for the lock of a process that is ending. Choice. */
const PATIENCE_MS = 1_000
const TRY_EVERY_MS = 100

export function lockingWriter(database: PostgresDatabase, clock: Pick<Clock, 'monotonic' | 'sleep'>): Writer {
  const run = inOrder()
  let session: Session | undefined
  let held = new Set<string>()
  const claimed = new Set<string>()
  const connected = async (): Promise<Session> => {
    if (session?.isAlive()) return session
    session?.release()
    session = undefined
    held = new Set()
    session = await database.session()
    return session
  }
  /** The lock ends with its connection, so it is taken again on each new one. */
  const locked = async (workspace: string): Promise<Session> => {
    const one = await connected()
    if (held.has(workspace)) return one
    const endAt = clock.monotonic() + PATIENCE_MS
    while (!(await tryLock(one, workspace))) {
      if (clock.monotonic() >= endAt) throw inUse(database.name, workspace)
      await clock.sleep(TRY_EVERY_MS)
    }
    await mustBeFree(one.query, database.name, workspace)
    held.add(workspace)
    const isBack = claimed.has(workspace)
    claimed.add(workspace)
    // Another process may have written meanwhile, so the memory must be read again first.
    if (isBack)
      throw new LedgerError(
        'LEDGER_FENCED',
        `${database.name}: the connection was lost, and with it the lock of ${workspace}; both are back, and the next cycle reads the records again`,
      )
    return one
  }
  return {
    claim: (workspace) => run(async () => void (await locked(workspace))),
    write: (workspace, use) =>
      run(async () => {
        const one = await locked(workspace)
        return use({
          once: one.query,
          transaction: (body) => versioned(one, database.name, body),
          refused: () => unbound(database.name, workspace),
        })
      }),
    close() {
      // The pool is closed as well: a connection that returns to a pool keeps its locks.
      session?.release()
      session = undefined
    },
  }
}

async function tryLock(session: Session, workspace: string): Promise<boolean> {
  const [row] = await session.query('SELECT pg_try_advisory_lock($1::bigint) AS locked', [lockOf(workspace)])
  return row?.['locked'] === true
}

/** Replicas hold leases, not locks. */
async function mustBeFree(query: Query, name: string, workspace: string): Promise<void> {
  const [held] = await query(SQL.holder, [keptText(workspace)])
  if (held) throw heldBy(name, workspace, String(held['holder']))
}

/** For a command that would write a workspace of a replica. */
export const heldBy = (name: string, workspace: string, holder: string): LedgerError =>
  new LedgerError(
    'LEDGER_LOCKED',
    `${name}: ${workspace} is held by ${holder}, which keeps its caps; change the policies and let that replica write them, or stop the replicas first`,
  )

/** The names of PostgreSQL's advisory locks are numbers of 64 bits. */
const lockOf = (workspace: string): string =>
  createHash('sha256').update(`capkeeper workspace ${workspace}`).digest().readBigInt64BE().toString()

const inUse = (name: string, workspace: string): LedgerError =>
  new LedgerError(
    'LEDGER_LOCKED',
    `${name}: ${workspace} is in use by another capkeeper that writes (run or apply); stop that one first, or name another ledger (--ledger)`,
  )
