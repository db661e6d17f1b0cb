// Keeps the leases of one replica: sends heartbeats, takes and releases workspaces as the spread says, and ends the loop of a workspace whose
// lease is over. Its own clocks decide whether a lease still holds, the database whether one may be taken. A write may leave only under a
// lease that is certain.
import { messageOf } from '../../core/model/problem.ts'
import {
  BEAT_MS,
  type HeartbeatAnswer,
  type Held,
  type HeldWorkspace,
  LEASE_MS,
  LOOK_MS,
  leftMs,
  type Moment,
  settingsThatCount,
  spread,
} from '../../core/replicas/lease.ts'
import { LedgerError } from '../ledger/error.ts'
import { timer } from '../schedule/system.ts'
import {
  type FencedLeases,
  holding,
  isReplaced,
  isTold,
  type KeeperOptions,
  type LeaseStatus,
  momentOf,
  newState,
  type State,
  taken,
} from './leases.ts'
import { READOPT_EVERY_MS, readopt, report, SHOW_EVERY_MS, show, shownElsewhere } from './shown.ts'

/** A heartbeat that takes longer is given up. */
const BEAT_PATIENCE_MS = 5_000
/** How long a workspace that could not be opened is left to other replicas. */
const REFUSED_MS = 30_000

export function createKeeper(options: KeeperOptions): FencedLeases {
  const state = newState(options)
  const own = holding(state)
  return {
    ...own,
    mayLeave: (workspace, timeoutMs) => !isReplaced(state, workspace) && own.mayLeave(workspace, timeoutMs),
    isReplaced: (workspace) => isReplaced(state, workspace),
    want(wanted) {
      state.wanted = wanted
      state.configs = new Map(wanted.map(({ workspace, config }) => [workspace, config]))
      state.due.beat = 0
    },
    begin(hooks) {
      state.hooks = hooks
      void live(state)
    },
    async followed(policies) {
      state.policies = policies
      if (state.answer && !isTold(state)) await report(state).catch((error: unknown) => fail(state, error))
    },
    release: (workspace) => letGo(state, workspace),
    trouble: () => state.trouble,
    hasBegun: () => state.answer !== undefined,
    statusOf: (workspace) => statusOf(state, workspace),
    peers: () => (state.answer?.peers ?? []).map(({ id, name }) => ({ name, isHere: id === state.replica.id })),
    transfers: (workspace) => state.transfers.get(workspace) ?? 0,
    shownElsewhere: () => shownElsewhere(state),
    withdraw() {
      state.stopping = true
    },
    stop: () => stop(state),
  }
}

async function live(state: State): Promise<void> {
  const { clock, ended } = state
  while (!ended.signal.aborted) {
    try {
      tick(state)
    } catch (error) {
      state.complain?.(messageOf(error))
    }
    await clock.sleep(LOOK_MS, ended.signal).catch(() => undefined)
  }
}

/** Never waits: a database that does not answer must not hide the end of a lease. */
function tick(state: State): void {
  const now = momentOf(state)
  for (const [workspace, own] of state.held) if (leftMs(own, now) <= 0) lose(state, workspace)
  if (state.stopping || state.beating) return
  if (now.monotonic >= state.due.beat) void beat(state)
  else if (now.monotonic >= state.due.free && (state.answer?.peers.length ?? 0) > 1) void takeFree(state)
}

/** Sends one heartbeat at a time; a call during one waits for the next. */
function beat(state: State): Promise<void> {
  const { clock, beating } = state
  if (beating) return beating.then(() => beat(state))
  state.due.beat = clock.monotonic() + BEAT_MS
  state.beating = beatInTime(state)
    .catch((error: unknown) => fail(state, error))
    .finally(() => {
      state.beating = undefined
    })
  return state.beating
}

async function beatInTime(state: State): Promise<void> {
  const late = Promise.withResolvers<never>()
  using _patience = timer(state.clock, BEAT_PATIENCE_MS, () =>
    late.reject(new LedgerError('LEDGER_AWAY', `no answer within ${BEAT_PATIENCE_MS / 1000} s`)),
  )
  const asked = exchange(state)
  // A late answer is ignored; the next heartbeat asks again.
  asked.catch(() => undefined)
  const take = await Promise.race([asked, late.promise])
  take()
}

async function takeFree(state: State): Promise<void> {
  state.due.free = state.clock.monotonic() + BEAT_MS
  const free = await state.table.hasFree().catch(() => false)
  const before = state.held.size
  if (free) {
    await beat(state)
    if (state.due.beat === 0 && !state.stopping) await beat(state)
  }
  if (!free || state.held.size > before) state.due.free = 0
}

function fail(state: State, error: unknown): void {
  if (!(error instanceof LedgerError)) state.complain?.(messageOf(error))
  state.trouble = messageOf(error)
  // A server that takes the place of another may lack what was told last.
  state.configsTold = undefined
  state.due.beat = state.clock.monotonic() + BEAT_MS / 3
  // A replica that is older than the schema leaves the work to newer ones.
  if (error instanceof LedgerError && error.code === 'LEDGER_NEWER') for (const workspace of state.held.keys()) lose(state, workspace)
}

/** Asks the table; the function that it resolves with applies the answer, unless that came too late. */
async function exchange(state: State): Promise<() => void> {
  const { replica, table, held, leaving, stopping } = state
  // Before anything is taken: the others must know, and so the answer can tell whether these settings count.
  if (state.configsTold !== state.configs) {
    const { configs } = state
    await table.configured(replica.id, configs)
    state.configsTold = configs
  }
  const asked = momentOf(state)
  const configOf = (workspace: string): string => state.configs.get(workspace) ?? ''
  const moves = state.answer && !stopping && state.hooks ? movesOf(state) : { take: [], release: [] }
  for (const workspace of moves.release) void end(state, workspace, false)
  const release = [...leaving].map(([workspace, token]) => ({ workspace, token }))
  const renew = [...held].flatMap(([workspace, { token }]) =>
    leaving.has(workspace) ? [] : [{ workspace, token, config: configOf(workspace) }],
  )
  const take = moves.take.map((workspace) => ({ workspace, config: configOf(workspace) }))
  const refuses = [...refusedIn(state)]
  const answer = await table.beat({ replica, lastsMs: LEASE_MS, renew, release, take, refuses, spreads: !stopping })
  return () => {
    for (const { workspace } of release) leaving.delete(workspace)
    takeAnswer(state, answer, { asked, renew, took: take.length })
  }
}

function takeAnswer(
  state: State,
  answer: HeartbeatAnswer,
  { asked, renew, took }: { readonly asked: Moment; readonly renew: readonly HeldWorkspace[]; readonly took: number },
): void {
  const { held, latest, clock } = state
  const isFirst = state.answer === undefined
  state.answer = answer
  state.rows = new Map(answer.leases.map((one) => [one.workspace, one]))
  state.trouble = undefined
  for (const { workspace, token } of renew) {
    const own = held.get(workspace)
    if (own?.token !== token) continue
    if (answer.renewed.has(workspace)) held.set(workspace, { ...own, askedAt: asked })
    else lose(state, workspace)
  }
  // An answer that was under way when policies were reported does not know of them.
  if (asked.monotonic >= state.toldAt) {
    state.told = answer.told
    for (const { workspace, policy } of answer.leases) if (policy !== undefined) latest.set(workspace, policy)
  }
  noteFree(state)
  for (const [workspace, one] of answer.taken) {
    state.saved.delete(workspace)
    held.set(workspace, taken(state, asked, one))
    begin(state, workspace)
  }
  // Free workspaces are asked for at once; refused ones only at the next heartbeat.
  if (isFirst || (took === 0 && !state.stopping && movesOf(state).take.length > 0)) state.due.beat = 0
  if (took > 0 && answer.taken.size === 0) state.due.beat = Math.min(state.due.beat, clock.monotonic() + BEAT_MS / 3)
  state.hooks?.beaten()
  void after(state)
}

/** The work after a heartbeat that may wait. */
async function after(state: State): Promise<void> {
  const { due, clock } = state
  try {
    if (!isTold(state)) {
      // A table that has lost the policies may have lost the settings and the saved views as well.
      state.configsTold = undefined
      state.saved.clear()
      await report(state)
      state.hooks?.policiesSettled()
    }
    const now = clock.monotonic()
    if (now >= due.readopt) {
      due.readopt = now + READOPT_EVERY_MS
      await readopt(state)
    }
    if (now >= due.show) {
      due.show = now + SHOW_EVERY_MS
      await show(state)
    }
  } catch (error) {
    fail(state, error)
  }
}

const isFailed = ({ failed, clock }: State, workspace: string): boolean =>
  (failed.get(workspace) ?? Number.NEGATIVE_INFINITY) > clock.monotonic()

/** Other settings than those of this replica count: two replicas would undo each other's work. `holder` is a replica that has them. */
function refusalOf({ rows, configs, replica, answer, held }: State, workspace: string): LeaseStatus['refused'] {
  const ours = configs.get(workspace)
  if (ours === undefined) return undefined
  const { holder, config } = rows.get(workspace) ?? {}
  const votes = new Map(answer?.votes.get(workspace))
  if (holder && config !== undefined && holder.id !== replica.id) votes.set(holder.id, config)
  votes.set(replica.id, ours)
  const theirs = settingsThatCount(votes, held.has(workspace) ? ours : config)
  if (theirs === undefined || theirs === ours) return undefined
  const peers = [...(holder ? [holder] : []), ...(answer?.peers ?? [])]
  return { ours, theirs, holder: peers.find(({ id }) => votes.get(id) === theirs)?.name ?? 'another replica' }
}

/** Workspaces that this replica does not keep: other settings count, or it could not open them. */
const refusedIn = (state: State): ReadonlySet<string> =>
  new Set(state.wanted.flatMap(({ workspace }) => (refusalOf(state, workspace) || isFailed(state, workspace) ? [workspace] : [])))

function statusOf(state: State, workspace: string): LeaseStatus {
  if (state.held.has(workspace)) return { isHere: true, holder: state.replica.name }
  const holder = state.rows.get(workspace)?.holder
  const refused = refusalOf(state, workspace)
  return { isHere: false, holder: holder && holder.id !== state.replica.id ? holder.name : undefined, refused }
}

/** One that nobody has held yet is in no row. */
function noteFree({ wanted, rows, freeSince, clock }: State): void {
  for (const { workspace } of wanted) {
    if (rows.get(workspace)?.holder) freeSince.delete(workspace)
    else if (!freeSince.has(workspace)) freeSince.set(workspace, clock.monotonic())
  }
}

function movesOf(state: State): ReturnType<typeof spread> {
  const { answer, replica, held, busy, freeSince, clock, rows, configs } = state
  const refuses = refusedIn(state)
  const unknownTo = (id: string) => [...(answer?.votes ?? [])].flatMap(([workspace, votes]) => (votes.has(id) ? [] : workspace))
  const peers = (answer?.peers ?? []).map(({ id, refuses: theirs }) => ({
    id,
    refuses: id === replica.id ? refuses : new Set([...theirs, ...unknownTo(id)]),
  }))
  const leases = state.wanted.map(({ workspace }): Held => {
    if (held.has(workspace) || busy.has(workspace)) return { workspace, holder: replica.id }
    const holder = rows.get(workspace)?.holder
    if (holder && holder.id !== replica.id) return { workspace, holder: holder.id }
    const since = freeSince.get(workspace)
    return { workspace, freeForMs: since === undefined ? 0 : clock.monotonic() - since }
  })
  // What is configured elsewhere alone is a share as well.
  const others = [...rows.values()].flatMap(({ workspace, holder }): readonly Held[] =>
    holder && holder.id !== replica.id && !configs.has(workspace) ? [{ workspace, holder: holder.id }] : [],
  )
  const { take, release } = spread(replica.id, peers, [...leases, ...others])
  // Whoever has the settings that count takes it.
  const refused = [...held.keys()].filter((workspace) => refuses.has(workspace))
  return { take, release: [...new Set([...release, ...refused])].filter((workspace) => held.has(workspace) && !busy.has(workspace)) }
}

/** Runs the jobs of a workspace one after the other. */
function work(state: State, workspace: string, job: () => Promise<void>): Promise<void> {
  const before = state.busy.get(workspace)?.catch(() => undefined) ?? Promise.resolve()
  const done = before.then(job).finally(() => {
    if (state.busy.get(workspace) === done) state.busy.delete(workspace)
  })
  state.busy.set(workspace, done)
  return done
}

function begin(state: State, workspace: string): void {
  state.transfers.set(workspace, (state.transfers.get(workspace) ?? 0) + 1)
  work(state, workspace, async () => {
    if (!state.held.has(workspace) || state.stopping) return
    await state.hooks?.taken(workspace)
    state.failed.delete(workspace)
  }).catch((error: unknown) => {
    state.complain?.(`${workspace}: ${messageOf(error)}`)
    state.failed.set(workspace, state.clock.monotonic() + REFUSED_MS)
    state.hooks?.failed(workspace, error)
    void letGo(state, workspace)
  })
}

/** The lease was ended by the clock, by the database or by another replica. */
function lose(state: State, workspace: string): void {
  if (!state.held.delete(workspace)) return
  // The last known view, until the next holder shows one.
  const document = state.hooks?.document(workspace)
  if (document !== undefined) state.shown.set(workspace, document)
  state.leaving.delete(workspace)
  void end(state, workspace, true)
}

/** Ends the loop, and then releases the lease unless it is gone. */
async function end(state: State, workspace: string, gone: boolean): Promise<void> {
  try {
    await work(state, workspace, async () => state.hooks?.ending(workspace, gone))
  } catch (error) {
    state.complain?.(`${workspace}: ${messageOf(error)}`)
  }
  if (!gone) await letGo(state, workspace)
}

async function letGo(state: State, workspace: string): Promise<void> {
  const own = state.held.get(workspace)
  if (!own) return
  state.held.delete(workspace)
  state.leaving.set(workspace, own.token)
  // Workspaces that end together are released with one heartbeat.
  await state.clock.sleep(0)
  if (state.leaving.has(workspace)) await beat(state)
}

async function stop(state: State): Promise<void> {
  state.stopping = true
  await Promise.all([...state.busy.values()].map((one) => one.catch(() => undefined)))
  await Promise.all([...state.held.keys()].map((workspace) => letGo(state, workspace)))
  state.ended.abort(new Error('stopped'))
  await state.beating
  await state.table.leave(state.replica.id).catch(() => undefined)
}
