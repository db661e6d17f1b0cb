// The ledger of one workspace, over any database. Rows that were read stay in memory. Changes wait there, and go out as one transaction with
// the next intent, outcome or commit. A row that cannot be read is reported as a damaged ledger, and never skipped: skipping it would
// silently lose ownership of a cap.

import type { HistoryEntry, Intent } from '../../core/model/change.ts'
import type { LedgerFacts } from '../../core/model/facts.ts'
import type { PersonHistory } from '../../core/model/past.ts'
import { compareText, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { CONTEST_MS } from '../../core/plan/contested.ts'
import type { Clock, Ledger, Records, RecordsReader } from '../../ports.ts'
import { randomSalt } from '../schedule/system.ts'
import { type DataRow, inOrder, KEYED_TABLES, type KeyedRow, type KeyedTable, type RowChange, StaleRow } from './adapter.ts'
import { LedgerError } from './error.ts'
import { keyedHash, markOf, withoutPerson } from './forget.ts'
import type { Snapshot, WorkspaceRows } from './sql/bindings.ts'
import { readFact, readRow } from './values/values.ts'

/** Longer than the day of history that plans need, so that a long cycle still has all of it. */
const LATELY_MS = CONTEST_MS + 6 * 3_600_000

interface WorkspaceLedgerOptions {
  readonly rows: WorkspaceRows
  readonly clock: Pick<Clock, 'now'>
  /**
   * Whether this process keeps the caps, while others only note something beside it. It then never overwrites an approval that another process
   * has changed since it was read, and leaves no mark for itself when it forgets a person.
   */
  readonly isKeeper: boolean
  /** The records of the workspace that a rebinding set aside. */
  readonly setAside?: () => Promise<readonly WorkspaceRows[]>
}

/** Opens the ledger, loaded. */
export async function workspaceLedger(options: WorkspaceLedgerOptions): Promise<Ledger> {
  const state = newState(options)
  const ledger: Ledger = { ...reading(state), ...changing(state), ...writing(state), ...asking(state), ...use(state) }
  await ledger.load()
  return ledger
}

type State = ReturnType<typeof newState>

function newState(options: WorkspaceLedgerOptions) {
  const { name } = options.rows
  return {
    ...options,
    owned: keptRows((row) => readRow(name, 'owned', row)),
    approval: keptRows((row) => readRow(name, 'approval', row)),
    quarantine: keptRows((row) => readRow(name, 'quarantine', row)),
    fact: keptFacts(name),
    intents: new Map<number, Intent>(),
    /** Recent writes, the last recorded first, whatever their timestamps say. */
    lately: new Map<ScopeKey, readonly HistoryEntry[]>(),
    /** Decoded history by row; it never changes. */
    entries: new Map<number, HistoryEntry>(),
    latelySince: Number.POSITIVE_INFINITY,
    /** Approvals as the database had them last. */
    approvals: new Map<string, string | undefined>(),
    /** Waiting changes by table and key: the last change of a row counts. */
    waiting: new Map<string, TableChange>(),
    /** The memory may differ from the database. */
    stale: false,
    /** Who is being forgotten: what is saved meanwhile was made of what was known before. */
    forgetting: undefined as string | undefined,
    run: inOrder(),
  }
}

function reading(state: State): RecordsReader {
  return {
    owned: () => state.owned.all(),
    openIntents: () => [...state.intents.values()],
    approvals: () => state.approval.all(),
    quarantined: () => state.quarantine.all(),
    fact: state.fact.value,
    writtenLately: (scope, sinceAt) => (state.lately.get(scopeKey(scope)) ?? []).filter(({ at }) => at >= sinceAt),
    ancestorWrites: (sinceAt) =>
      [...state.lately.values()].flatMap((one) => (one[0]?.scope.kind === 'user' ? [] : one.filter(({ at }) => at >= sinceAt))),
  }
}

type TableChange = Extract<RowChange, { readonly table: KeyedTable }>

const put = (table: KeyedTable, key: string, value: unknown): TableChange => ({ kind: 'put', table, key, data: JSON.stringify(value) })
const drop = (table: KeyedTable, key: string): TableChange => ({ kind: 'drop', table, key })

/** Makes changes of the database in the memory as well. */
function remember(state: State, changes: Iterable<RowChange>): void {
  for (const change of changes) {
    if (change.kind === 'put') state[change.table].put(change.key, change.data)
    else if (change.kind === 'drop') state[change.table].drop(change.key)
  }
}

function changing(state: State): Omit<Records, keyof RecordsReader> {
  const wait = (saved: readonly TableChange[]): void => {
    const { forgetting } = state
    const changes = forgetting === undefined ? saved : saved.map((change) => scrubbedChange(change, forgetting))
    remember(state, changes)
    for (const change of changes) state.waiting.set(`${change.table} ${change.key}`, change)
  }
  return {
    saveOwned: (caps) => wait(caps.map((one) => put('owned', scopeKey(one.scope), one))),
    releaseOwned: (keys) => wait(keys.map((key) => drop('owned', key))),
    saveApproval: (saved) => wait([put('approval', saved.id, saved)]),
    saveQuarantined: (entry) => wait([put('quarantine', scopeKey(entry.scope), entry)]),
    releaseQuarantined: (keys) => wait(keys.map((key) => drop('quarantine', key))),
    saveFact: (name, value) => wait([value === undefined ? drop('fact', name) : put('fact', name, value)]),
  }
}

/** Writes the waiting changes together with `own`, and then remembers these. Resolves with the id of the intent that was opened. */
async function durable(state: State, own: readonly RowChange[]): Promise<number | undefined> {
  const waiting = state.waiting
  const changes = [...[...waiting.values()].map((change) => ifUnchanged(state, change)), ...own]
  if (changes.length === 0) return undefined
  state.waiting = new Map()
  try {
    const opened = await state.rows.write(changes)
    for (const change of changes)
      if ('table' in change && change.table === 'approval') state.approvals.set(change.key, change.kind === 'put' ? change.data : undefined)
    remember(state, own)
    return opened
  } catch (error) {
    if (error instanceof LedgerError && error.code === 'LEDGER_FENCED') {
      // Another process may have written since, so the waiting changes no longer count.
      state.waiting = new Map()
      state.stale = true
    } else {
      // Changes that were made meanwhile are newer.
      state.waiting = new Map([...waiting, ...state.waiting])
    }
    throw error
  }
}

/** A keeper changes an approval only while the database has it as it was read. */
function ifUnchanged({ isKeeper, approvals }: State, change: RowChange): RowChange {
  if (!isKeeper || change.kind !== 'put' || change.table !== 'approval') return change
  return { ...change, known: { data: approvals.get(change.key) } }
}

function writing(state: State): Pick<Ledger, 'load' | 'commit' | 'recordIntent' | 'recordOutcome' | 'savePause' | 'forget'> {
  const { run, intents } = state
  return {
    load: () => run(() => load(state)),
    commit: () => run(async () => void (await durable(state, []))),
    recordIntent: (before) =>
      run(async () => {
        const id = (await durable(state, [{ kind: 'open', data: JSON.stringify(before) }])) ?? 0
        const intent = { ...before, id }
        intents.set(id, intent)
        return intent
      }),
    recordOutcome: (closed, entry, ownership) =>
      run(async () => {
        const key = scopeKey(closed.change.scope)
        const changes: RowChange[] = [{ kind: 'close', id: closed.id, scope: key }]
        if (entry) changes.push({ kind: 'append', at: entry.at, scope: scopeKey(entry.scope), data: JSON.stringify(entry) })
        if (ownership === 'released') changes.push(drop('owned', key))
        else if (ownership !== 'kept') changes.push(put('owned', scopeKey(ownership.scope), ownership))
        await durable(state, changes)
        intents.delete(closed.id)
        if (entry) state.lately.set(scopeKey(entry.scope), [entry, ...(state.lately.get(scopeKey(entry.scope)) ?? [])])
      }),
    savePause: (saved) => run(async () => void (await durable(state, [{ kind: 'pause', data: saved && JSON.stringify(saved) }]))),
    forget: (email) =>
      run(async () => {
        using over = new DisposableStack()
        over.defer(() => (state.forgetting = undefined))
        state.forgetting = email
        for (const rows of (await state.setAside?.()) ?? []) {
          const snapshot = await rows.read(state.clock.now())
          await rows.write([...closing(email, snapshot), ...forgetting(email, snapshot)])
        }
        await durable(state, [])
        const changes = forgetting(email, await state.rows.read(state.clock.now()))
        await durable(state, [...changes, ...hashed(state, email), ...(state.isKeeper ? [] : [mark(state, email)])])
        // Everything is read again, recent history too.
        state.latelySince = Number.POSITIVE_INFINITY
        await load(state)
      }),
  }
}

/** Closes intents of a person under an old binding, which no process would settle. */
const closing = (email: string, { intents }: Snapshot): readonly RowChange[] =>
  intents.flatMap(({ id, data }) => (scrubbed(data, email) === data ? [] : [{ kind: 'close', id, scope: email }]))

/**
 * Removes everything about a person but open intents: the command refuses to forget a person who has one. What a daemon has recorded since the
 * snapshot stays, until its mark tells it.
 */
function forgetting(email: string, { tables }: Snapshot): readonly RowChange[] {
  const kept = (['approval', 'fact'] as const).flatMap((table) =>
    tables[table].flatMap(({ key, data }): readonly RowChange[] => {
      const without = mayName({ table, key }) ? scrubbed(data, email) : data
      return without === data ? [] : [{ kind: 'put', table, key, data: String(without), known: { data: String(data) } }]
    }),
  )
  return [{ kind: 'forget', email }, drop('owned', email), drop('quarantine', email), ...kept]
}

/** Whether a row is about several people; policies are what their owners write. */
const mayName = ({ table, key }: Pick<TableChange, 'table' | 'key'>): boolean =>
  table === 'approval' || (table === 'fact' && key !== 'policy')

/** Tells the keeper to forget the person too: else it would write what it has in memory again. */
const mark = ({ fact, clock }: State, email: string): RowChange =>
  put('fact', 'forgotten', [...(fact.value('forgotten') ?? []), markOf(email, clock.now())].slice(-MAX_MARKS))

/** The person's past is not read again. The key of the hash is made where no daemon has made one yet. */
function hashed({ fact }: State, email: string): readonly RowChange[] {
  const known = fact.value('peopleSalt')
  const salt = known ?? randomSalt()
  const hashes = new Set([...(fact.value('forgottenHashes') ?? []), keyedHash(salt, email)])
  return [...(known === undefined ? [put('fact', 'peopleSalt', salt)] : []), put('fact', 'forgottenHashes', [...hashes])]
}

/** Bounds the marks while no keeper runs. Choice. */
const MAX_MARKS = 100

const scrubbedChange = (change: TableChange, email: string): TableChange =>
  change.kind === 'put' && mayName(change) ? { ...change, data: String(scrubbed(change.data, email)) } : change

/** The JSON without the person; the very same text when it had nothing about them. */
function scrubbed(data: unknown, email: string): unknown {
  const value: unknown = JSON.parse(String(data))
  const without = withoutPerson(value, email)
  return without === value ? data : JSON.stringify(without)
}

async function load(state: State): Promise<void> {
  const { rows, clock } = state
  await durable(state, [])
  const since = clock.now() - LATELY_MS
  // After the clock was set back, more history is needed than was read.
  const isKnown = !state.stale && state.latelySince - since <= LATELY_MS - CONTEST_MS
  state.stale = true
  if (!isKnown || !(await rows.isCurrent())) {
    take(state, await rows.read(since))
    state.latelySince = since
  }
  state.stale = false
}

function take(state: State, { tables, intents, lately }: Snapshot): void {
  const { name } = state.rows
  for (const table of KEYED_TABLES) state[table].replace(tables[table])
  // Changes that were made during the reading.
  remember(state, state.waiting.values())
  state.approvals.clear()
  for (const { key, data } of tables.approval) state.approvals.set(key, String(data))
  state.intents.clear()
  for (const row of intents) state.intents.set(row.id, { id: row.id, ...readRow(name, 'intent', row) })
  const newest = lately.toSorted((a, b) => b.id - a.id)
  state.entries = new Map(newest.map((row) => [row.id, state.entries.get(row.id) ?? readRow(name, 'history', row)]))
  state.lately = Map.groupBy(state.entries.values(), ({ scope }) => scopeKey(scope))
}

function asking({ rows }: State): Pick<Ledger, 'history' | 'pause'> {
  return {
    history: async (filter = {}) => (await rows.history(filter)).map((row) => readRow(rows.name, 'history', row)),
    async pause(now) {
      const row = await rows.pause()
      const kept = row && readRow(rows.name, 'pause', row)
      return kept && kept.untilAt > now ? kept : undefined
    },
  }
}

function use(state: State) {
  const { rows, run } = state
  const withFact = <K extends keyof LedgerFacts>(change: RowChange, name: K, value: LedgerFacts[K]): Promise<void> =>
    run(async () => void (await durable(state, [change, put('fact', name, value)])))
  return {
    saveRuns: (scope, batch) => withFact({ kind: 'runs', scope: scopeKey(scope), batch }, 'runsAsked', batch.asked),
    ...histories(state),
    ...rows.use,
    dropHistories: (droppedAt) => withFact({ kind: 'noDays' }, 'history', { droppedAt }),
    saveAddOnUse: (batch) => withFact({ kind: 'addOn', batch }, 'addOnAsked', batch.asked),
    saveBurn(step) {
      const { highest: _, ...burned } = step.burned
      return withFact({ kind: 'burn', step }, 'burned', burned)
    },
  } satisfies Partial<Ledger>
}

/** How often a change of one person is tried again after another process was faster. */
const MOST_TRIES = 20

function histories(state: State): Pick<Ledger, 'histories' | 'changeHistory'> {
  const { rows, run } = state
  const decoded = (row: DataRow): PersonHistory => readRow(rows.name, 'known_days', row)
  return {
    histories: async (email) => (await rows.knownDays(email)).map(decoded),
    changeHistory: (emails, change) =>
      run(async () => {
        for (let attempt = 0; attempt < MOST_TRIES; attempt += 1) {
          const changes: RowChange[] = []
          for (const email of emails) {
            const [row] = await rows.knownDays(email)
            const made = change(row ? decoded(row) : { email, known: [] })
            const before = row && String(row.data)
            if (made) changes.push({ kind: 'days', email, data: JSON.stringify(made.history), before, told: made.told })
          }
          if (changes.length === 0) return false
          try {
            await rows.write(changes)
            return true
          } catch (error) {
            if (!(error instanceof StaleRow)) throw error
          }
        }
        return false
      }),
  }
}

// Rows in memory, decoded at first use and again only after they change.

interface Kept<T> extends DataRow {
  decoded?: { readonly value: T }
}

function keptRows<T>(decode: (row: DataRow, key: string) => T) {
  let rows = new Map<string, Kept<T>>()
  let list: readonly T[] | undefined
  // Most changes are of existing rows, and keep the order.
  let isInOrder = true
  const decodedOf = (row: Kept<T>, key: string): T => {
    row.decoded ??= { value: decode(row, key) }
    return row.decoded.value
  }
  return {
    /** Takes the rows of the database; unchanged ones are not decoded again. */
    replace(fresh: readonly KeyedRow[]): void {
      const before = rows
      rows = new Map(
        fresh.map(({ key, id, data }) => {
          const known = before.get(key)
          return [key, known && known.data === data ? { ...known, id } : { id, data }]
        }),
      )
      isInOrder = false
      list = undefined
    },
    get(key: string): T | undefined {
      const row = rows.get(key)
      return row && decodedOf(row, key)
    },
    /** Sorted by key, so that the order is the same in every database and after a reload. Throws when a row cannot be decoded. */
    all(): readonly T[] {
      if (!isInOrder) rows = new Map([...rows].sort(([a], [b]) => compareText(a, b)))
      isInOrder = true
      list ??= [...rows].map(([key, row]) => decodedOf(row, key))
      return list
    },
    put(key: string, data: string): void {
      if (!rows.has(key)) isInOrder = false
      rows.set(key, { id: rows.get(key)?.id ?? 0, data })
      list = undefined
    },
    drop(key: string): void {
      if (rows.delete(key)) list = undefined
    },
  }
}

/** The facts of a workspace; `name` is the name of the ledger in messages. */
export function keptFacts(name: string) {
  const rows = keptRows((row, key) => readFact(name, key as keyof LedgerFacts, row))
  // The value has the type of its name.
  return { ...rows, value: <K extends keyof LedgerFacts>(fact: K) => rows.get(fact) as LedgerFacts[K] | undefined }
}
