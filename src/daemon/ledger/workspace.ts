// The ledger of one workspace, over any database. Rows that were read stay in memory. Changes wait there, and go out as one transaction with
// the next intent, outcome or commit. A row that cannot be read is reported as a damaged ledger, and never skipped: skipping it would
// silently lose ownership of a cap.

import type { Approval, HistoryEntry, Intent, Quarantined } from '../../core/model/change.ts'
import type { OwnedCap } from '../../core/model/observed.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { CONTEST_MS } from '../../core/plan/contested.ts'
import type { Clock, Ledger, LedgerFacts, Records, RecordsReader } from '../../ports.ts'
import { randomSalt } from '../schedule/system.ts'
import { type DataRow, inOrder, type KeyedTable, type RowChange, type Snapshot, StaleRow, type WorkspaceRows } from './adapter.ts'
import { LedgerError } from './error.ts'
import { type KeptRows, keptRows, keyedHash, markOf, withoutPerson } from './forget.ts'
import { approval, factFrom, historyEntry, intent, ownedCap, pause, personHistory, quarantined, readRow } from './values/values.ts'

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

interface State extends WorkspaceLedgerOptions {
  readonly owned: KeptRows<OwnedCap>
  readonly approval: KeptRows<Approval>
  readonly quarantine: KeptRows<Quarantined>
  readonly fact: KeptRows<unknown>
  readonly intents: Map<number, Intent>
  /** Recent writes, the last recorded first, whatever their timestamps say. */
  lately: Map<ScopeKey, readonly HistoryEntry[]>
  /** Decoded history by row; it never changes. */
  entries: ReadonlyMap<number, HistoryEntry>
  latelySince: Instant
  /** Approvals as the database had them last. */
  readonly approvals: Map<string, string | undefined>
  /** Waiting changes by table and key: the last change of a row counts. */
  waiting: Map<string, RowChange>
  /** The memory may differ from the database. */
  stale: boolean
  readonly run: ReturnType<typeof inOrder>
}

function newState(options: WorkspaceLedgerOptions): State {
  const { name } = options.rows
  return {
    ...options,
    owned: keptRows((row) => readRow(name, 'owned', row, ownedCap)),
    approval: keptRows((row) => readRow(name, 'approval', row, approval)),
    quarantine: keptRows((row) => readRow(name, 'quarantine', row, quarantined)),
    fact: keptRows(() => undefined),
    intents: new Map(),
    lately: new Map(),
    entries: new Map(),
    latelySince: Number.POSITIVE_INFINITY,
    approvals: new Map(),
    waiting: new Map(),
    stale: false,
    run: inOrder(),
  }
}

function reading(state: State): RecordsReader {
  return {
    owned: () => state.owned.all(),
    openIntents: () => [...state.intents.values()],
    approvals: () => state.approval.all(),
    quarantined: () => state.quarantine.all(),
    fact: factsKept(state.rows.name, state.fact),
    writtenLately: (scope, sinceAt) => (state.lately.get(scopeKey(scope)) ?? []).filter(({ at }) => at >= sinceAt),
    ancestorWrites: (sinceAt) =>
      [...state.lately.values()].flatMap((one) => (one[0]?.scope.kind === 'user' ? [] : one.filter(({ at }) => at >= sinceAt))),
  }
}

function changing(state: State): Omit<Records, keyof RecordsReader> {
  const put = (table: KeyedTable, key: string, value: unknown): void => {
    const data = JSON.stringify(value)
    state[table].put(key, data)
    state.waiting.set(`${table} ${key}`, { kind: 'put', table, key, data })
  }
  const drop = (table: KeyedTable, key: string): void => {
    state[table].drop(key)
    state.waiting.set(`${table} ${key}`, { kind: 'drop', table, key })
  }
  return {
    saveOwned: (caps) => {
      for (const one of caps) put('owned', scopeKey(one.scope), one)
    },
    releaseOwned: (keys) => {
      for (const key of keys) drop('owned', key)
    },
    saveApproval: (saved) => put('approval', saved.id, saved),
    saveQuarantined: (entry) => put('quarantine', scopeKey(entry.scope), entry),
    releaseQuarantined: (keys) => {
      for (const key of keys) drop('quarantine', key)
    },
    saveFact: (name, value) => (value === undefined ? drop('fact', name) : put('fact', name, value)),
  }
}

/** Writes the waiting changes together with `own`; `taken` then applies `own` to the memory. */
async function durable(state: State, own: readonly RowChange[], taken?: (intent: number | undefined) => void): Promise<void> {
  const waiting = state.waiting
  const changes = [...[...waiting.values()].map((change) => ifUnchanged(state, change)), ...own]
  if (changes.length === 0) return
  state.waiting = new Map()
  try {
    const opened = await state.rows.write(changes)
    for (const change of changes)
      if (isOf('approval', change)) state.approvals.set(change.key, change.kind === 'put' ? change.data : undefined)
    taken?.(opened)
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

const isOf = (table: KeyedTable, change: RowChange): change is Extract<RowChange, { readonly key: string }> =>
  'table' in change && change.table === table

/** A keeper changes an approval only while the database has it as it was read. */
function ifUnchanged({ isKeeper, approvals }: State, change: RowChange): RowChange {
  if (!isKeeper || change.kind !== 'put' || change.table !== 'approval') return change
  return { ...change, known: { data: approvals.get(change.key) } }
}

function writing(state: State): Pick<Ledger, 'load' | 'commit' | 'recordIntent' | 'recordOutcome' | 'savePause' | 'forget'> {
  const { run, intents } = state
  return {
    load: () => run(() => load(state)),
    commit: () => run(() => durable(state, [])),
    recordIntent: (before) =>
      run(async () => {
        const recorded: { intent?: Intent } = {}
        await durable(state, [{ kind: 'open', data: JSON.stringify(before) }], (id = 0) => {
          recorded.intent = { ...before, id }
          intents.set(id, recorded.intent)
        })
        return recorded.intent ?? { ...before, id: 0 }
      }),
    recordOutcome: (closed, entry, ownership) =>
      run(() => {
        const key = scopeKey(closed.change.scope)
        const changes: RowChange[] = [{ kind: 'close', id: closed.id, scope: key }]
        if (entry) changes.push({ kind: 'append', at: entry.at, scope: scopeKey(entry.scope), data: JSON.stringify(entry) })
        if (ownership === 'released') changes.push({ kind: 'drop', table: 'owned', key })
        else if (ownership !== 'kept') {
          changes.push({ kind: 'put', table: 'owned', key: scopeKey(ownership.scope), data: JSON.stringify(ownership) })
        }
        return durable(state, changes, () => {
          intents.delete(closed.id)
          if (entry) state.lately.set(scopeKey(entry.scope), [entry, ...(state.lately.get(scopeKey(entry.scope)) ?? [])])
          for (const change of changes) {
            if (change.kind === 'put') state.owned.put(change.key, change.data)
            else if (change.kind === 'drop') state.owned.drop(change.key)
          }
        })
      }),
    savePause: (saved) => run(() => durable(state, [{ kind: 'pause', data: saved && JSON.stringify(saved) }])),
    forget: (email) =>
      run(async () => {
        for (const rows of (await state.setAside?.()) ?? []) {
          const snapshot = await snapshotOf(rows, state)
          await rows.write([...closing(email, snapshot), ...forgetting(email, snapshot)])
        }
        await durable(state, [])
        const changes = forgetting(email, await snapshotOf(state.rows, state))
        await durable(state, [...changes, ...hashed(state, email), ...(state.isKeeper ? [] : [mark(state, email)])])
        // Everything is read again, recent history too.
        state.latelySince = Number.POSITIVE_INFINITY
        await load(state)
      }),
  }
}

const snapshotOf = async (rows: WorkspaceRows, { clock }: State): Promise<Snapshot> =>
  (await rows.read(clock.now(), false)) ?? { tables: { owned: [], approval: [], quarantine: [], fact: [] }, intents: [], lately: [] }

/** Closes intents of a person under an old binding, which no process would settle. */
const closing = (email: string, { intents }: Snapshot): readonly RowChange[] =>
  intents.flatMap(({ id, data }) => (scrubbed(data, email) === data ? [] : [{ kind: 'close', id, scope: email }]))

/** Removes everything about a person but open intents: the command refuses to forget a person who has one. */
function forgetting(email: string, { tables }: Snapshot): readonly RowChange[] {
  const kept = (['approval', 'fact'] as const).flatMap((table) =>
    tables[table].flatMap(({ key, data }): readonly RowChange[] => {
      const without = table === 'fact' && key === 'policy' ? data : scrubbed(data, email)
      return without === data ? [] : [{ kind: 'put', table, key, data: String(without) }]
    }),
  )
  const gone = (['owned', 'quarantine'] as const).map((table): RowChange => ({ kind: 'drop', table, key: email }))
  return [{ kind: 'forget', email }, ...gone, ...kept]
}

/** Tells the keeper to forget the person too: else it would write what it has in memory again. */
function mark({ rows, fact, clock }: State, email: string): RowChange {
  const marks = factsKept(rows.name, fact)('forgotten') ?? []
  return { kind: 'put', table: 'fact', key: 'forgotten', data: JSON.stringify([...marks, markOf(email, clock.now())].slice(-MAX_MARKS)) }
}

/** The person's past is not read again. The key of the hash is made where no daemon has made one yet. */
function hashed({ rows, fact }: State, email: string): readonly RowChange[] {
  const facts = factsKept(rows.name, fact)
  const salt = facts('peopleSalt') ?? randomSalt()
  const hashes = new Set([...(facts('forgottenHashes') ?? []), keyedHash(salt, email)])
  const put = (key: keyof LedgerFacts, value: unknown): RowChange => ({ kind: 'put', table: 'fact', key, data: JSON.stringify(value) })
  return [...(facts('peopleSalt') === undefined ? [put('peopleSalt', salt)] : []), put('forgottenHashes', [...hashes])]
}

/** Bounds the marks while no keeper runs. Choice. */
const MAX_MARKS = 100

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
  const snapshot = await rows.read(since, isKnown)
  state.stale = false
  if (!snapshot) return
  state.latelySince = since
  take(state, snapshot)
  // Changes that were made during the reading.
  for (const change of state.waiting.values()) {
    if (change.kind === 'put') state[change.table].put(change.key, change.data)
    else if (change.kind === 'drop') state[change.table].drop(change.key)
  }
}

function take(state: State, { tables, intents, lately }: Snapshot): void {
  const { name } = state.rows
  for (const [table, fresh] of [
    ['owned', tables.owned],
    ['approval', tables.approval],
    ['quarantine', tables.quarantine],
    ['fact', tables.fact],
  ] as const) {
    state[table].replace(fresh)
  }
  state.approvals.clear()
  for (const { key, data } of tables.approval) state.approvals.set(key, String(data))
  state.intents.clear()
  for (const row of intents) state.intents.set(row.id, { id: row.id, ...readRow(name, 'intent', row, intent) })
  const newest = lately.toSorted((a, b) => b.id - a.id)
  state.entries = new Map(newest.map((row) => [row.id, state.entries.get(row.id) ?? readRow(name, 'history', row, historyEntry)]))
  state.lately = Map.groupBy(state.entries.values(), ({ scope }) => scopeKey(scope))
}

function asking({ rows }: State): Pick<Ledger, 'history' | 'pause'> {
  return {
    history: async (filter = {}) => (await rows.history(filter)).map((row) => readRow(rows.name, 'history', row, historyEntry)),
    async pause(now) {
      const row = await rows.pause()
      const kept = row && readRow(rows.name, 'pause', row, pause)
      return kept && kept.untilAt > now ? kept : undefined
    },
  }
}

function use(state: State) {
  const { rows, run, fact } = state
  const withFact = <K extends keyof LedgerFacts>(change: RowChange, name: K, value: LedgerFacts[K]): Promise<void> =>
    run(() => {
      const kept: RowChange = { kind: 'put', table: 'fact', key: name, data: JSON.stringify(value) }
      return durable(state, [change, kept], () => fact.put(name, JSON.stringify(value)))
    })
  return {
    saveRuns: (scope, batch) => withFact({ kind: 'runs', scope: scopeKey(scope), batch }, 'runsAsked', batch.asked),
    ...histories(state),
    ...rows.use,
    saveAddOnUse: (batch) => withFact({ kind: 'addOn', batch }, 'addOnAsked', batch.asked),
    saveBurn(step) {
      const { highest: _, ...burned } = step.burned
      return withFact({ kind: 'burn', step }, 'burned', burned)
    },
  } satisfies Partial<Ledger>
}

/** How often a change of one person is tried again after another process was faster. */
const MOST_TRIES = 20

function histories({ rows, run, ...state }: State): Pick<Ledger, 'histories' | 'changeHistory' | 'dropHistories'> {
  const decoded = (row: DataRow) => readRow(rows.name, 'known_days', row, personHistory)
  return {
    histories: async (email) => (await rows.knownDays(email)).map(decoded),
    changeHistory: (email, change) =>
      run(async () => {
        for (let attempt = 0; attempt < MOST_TRIES; attempt += 1) {
          const [row] = await rows.knownDays(email)
          const made = change(row ? decoded(row) : { email, known: [] })
          if (!made) return false
          const { history, told } = made
          const before = row && String(row.data)
          try {
            await rows.write([{ kind: 'days', email, data: JSON.stringify(history), before, told }])
            return true
          } catch (error) {
            if (!(error instanceof StaleRow)) throw error
          }
        }
        return false
      }),
    dropHistories: (found) =>
      run(async () => {
        const data = JSON.stringify(found)
        await rows.write([{ kind: 'noDays' }, { kind: 'put', table: 'fact', key: 'history', data }])
        state.fact.put('history', data)
      }),
  }
}

// The facts of a workspace, decoded at first use and again only after they change.

/** `name` is the name of the ledger in messages. */
export function factsKept(name: string, rows: KeptRows<unknown>): RecordsReader['fact'] {
  const decoded = new Map<keyof LedgerFacts, { readonly data: unknown; readonly value: unknown }>()
  return <K extends keyof LedgerFacts>(fact: K): LedgerFacts[K] | undefined => {
    const row = rows.row(fact)
    if (!row) return undefined
    const known = decoded.get(fact)
    if (known && known.data === row.data) return known.value as LedgerFacts[K]
    const value = readRow(name, 'fact', row, (data) => factFrom(fact, data))
    decoded.set(fact, { data: row.data, value })
    return value
  }
}
