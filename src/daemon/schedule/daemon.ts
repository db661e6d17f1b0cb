// The daemon: runs several workspaces side by side, each with a loop of its own, and gives them new policies and settings as the files change.
// It never touches a cap.

import type { Pause } from '../../core/model/change.ts'
import { advance, type Condition, type Finding, type Transition } from '../../core/model/condition.ts'
import type { WorkspaceView } from '../../core/model/events.ts'
import type { PolicyRevision } from '../../core/model/policy.ts'
import { InputError, messageOf, type Problem } from '../../core/model/problem.ts'
import type { Instant } from '../../core/model/units.ts'
import { emptied } from '../../core/resolve/roster.ts'
import type { Clock, RecordsReader } from '../../ports.ts'
import type { Config, WorkspaceConfig } from '../config/settings.ts'
import type { Health } from '../http/documents/types.ts'
import type { Readiness } from '../http/server.ts'
import { orNothing, unlessLedger } from '../ledger/error.ts'
import type { SharedWorkspace } from '../ledger/share.ts'
import { type LeaseHooks, type Leases, lastGood, lastGoodId, soleLeases, toTell } from '../replicas/leases.ts'
import { elsewhereIn, isOfLease, leaseFindings, noticeLease, packed, viewsOf, wantedIn } from '../replicas/shown.ts'
import { createWorkspace, reportBug, type Workspace, type WorkspaceParts } from '../workspace.ts'
import { type Loop, startLoop } from './loop.ts'
import { configFinding, createReadiness, ledgerFinding, oneAtATime, openAll, sharedRefresh } from './refresh.ts'

/** The parts of a workspace, and how to close them. */
export interface OpenedWorkspace {
  readonly parts: WorkspaceParts
  /** A request to the service has failed since the start. */
  requestFailed?(): boolean
  /** Records what was learned. Never rejects. */
  finish?(): Promise<void>
  close(): void
}

/** The loaded policies of all workspaces; where a set is missing, the last good one stays in force. */
export interface PolicyLoad {
  readonly sets: ReadonlyMap<string, PolicyRevision>
  readonly problems: readonly Problem[]
  /** Problems by workspace; absent where they cannot be assigned. */
  readonly problemsOf?: ReadonlyMap<string, readonly Problem[]>
}

interface DaemonParts {
  readonly clock: Clock
  readonly config: Config
  /** Rejects with a `LedgerError` when its ledger cannot be opened. */
  open(config: WorkspaceConfig): Promise<OpenedWorkspace>
  /** May take its time: everything else goes on meanwhile. */
  loadPolicies(config: Config): PolicyLoad | Promise<PolicyLoad>
  /** Reads the configuration again; an `InputError` when it is broken, and then the last good one stays in force. */
  reloadConfig(): Config | Promise<Config>
  registered(name: string, present: boolean): void
  /** Takes each change of a condition of the process as a whole. */
  onTransition?(transition: Transition): void
  /** Called when a configuration that was read again comes into force. */
  onConfig?(config: Config): void
  /** Whether the last attempt to record succeeded. */
  ledgerWritable(): boolean
  /** The view of a workspace elsewhere is another one. */
  onSeen?(workspace: string): void
  /** Tries to record where the last attempt was long ago. Never rejects. */
  probeLedger?(): Promise<void>
  /** The present pauses by workspace; absent: each workspace shows the one that its last cycle read. */
  pauses?(now: Instant): Promise<ReadonlyMap<string, Pause>>
  /** Which workspaces this replica holds; absent: all. */
  readonly leases?: Leases
  /** The records of a workspace that this replica may not hold. Rejects with a `LedgerError`. */
  recordsOf?(config: WorkspaceConfig): Promise<RecordsReader>
}

export type Daemon = Awaited<ReturnType<typeof startDaemon>>

/** How long a write in flight may go on after a stop. */
export const GRACE_MS = 8_000

interface Runner {
  readonly config: WorkspaceConfig
  readonly workspace: Workspace
  readonly loop: Loop
  readonly stop: AbortController
  /** Cuts the write in flight, when the lease is over. */
  readonly cut: AbortController
  readonly opened: OpenedWorkspace
  /** On the monotonic clock. */
  readonly startedAt: number
  /** Set once it was told to stop; resolves when it has ended. */
  ending: Promise<void> | undefined
  /** Its lease is over or given up: no other loop replaces it here. */
  isLeaving: boolean
}

interface State {
  readonly parts: DaemonParts
  readonly leases: Leases
  /** The policies that were loaded last. */
  loaded: PolicyLoad | undefined
  /** The policies that other replicas were told of last. */
  readonly told: Map<string, PolicyRevision>
  /** What holders elsewhere showed last. */
  elsewhere: ReadonlyMap<string, string>
  /** Why a workspace could not be started here. */
  readonly failed: Map<string, string>
  readonly runners: Map<string, Runner>
  /** Cuts all writes in flight. */
  readonly cut: AbortController
  config: Config
  /** Why the last configuration is not in force. */
  refused: readonly Finding[]
  /** Conditions of the process as a whole. */
  conditions: readonly Condition[]
  stopping: boolean
  /** Applies configurations one after the other: two loops of one workspace must never run side by side. */
  applying: Promise<void>
  /** Loads the policies of the present configuration and gives them to every workspace. */
  loadPolicies: () => Promise<void>
}

/** Starts every workspace of the configuration. Rejects with a `LedgerError` when one cannot be opened; then nothing was started. */
export async function startDaemon(parts: DaemonParts) {
  const { config, leases = soleLeases() } = parts
  const state: State = {
    parts,
    leases,
    loaded: undefined,
    told: new Map(),
    elsewhere: new Map(),
    failed: new Map(),
    runners: new Map(),
    cut: new AbortController(),
    config,
    refused: [],
    conditions: [],
    stopping: false,
    applying: Promise.resolve(),
    loadPolicies: oneAtATime(() => loadPolicies(state)),
  }
  const ours = config.workspaces.filter(({ name }) => leases.holds(name))
  for (const [settings, opened] of await openAll(ours, parts.open)) start(state, settings, opened)
  leases.want(wantedIn(config))
  leases.begin(hooksOf(state))
  void state.loadPolicies()
  const runners = (): readonly Runner[] => [...state.runners.values()]
  const ready = createReadiness(leases)
  const canRecord = (): boolean => {
    const isWritable = parts.ledgerWritable() && leases.trouble() === undefined
    updateConditions(state, isWritable)
    return isWritable && !runners().some(({ workspace: { conditions } }) => conditions.some(({ type }) => type === 'LedgerUnwritable'))
  }
  return {
    views: (): readonly WorkspaceView[] => viewsOf(state.config, state, (name) => state.runners.get(name)?.workspace),
    /** Only to be read. */
    workspaces: (): readonly Workspace[] => runners().map(({ workspace }) => workspace),
    /** Workspaces that other replicas hold, as they were shown last, with their policies here. */
    elsewhere: () =>
      elsewhereIn(state.config, state, (name) => state.runners.get(name)?.workspace).map((one) => ({
        ...one,
        policy: state.loaded?.sets.get(one.view.workspace),
      })),
    /** Reads what other processes change and views show: pauses, and whether the ledger can be written. Never rejects. */
    refresh: sharedRefresh(parts.clock, () => refreshViews(state)),
    health(): Health {
      const ledgerWritable = canRecord()
      const conditions = state.conditions.filter((one) => !isOfLease(one))
      return { configValid: state.refused.length === 0, ledgerWritable, conditions, replicas: leases.peers() }
    },
    /** The ledgers of all workspaces, for plans that are made elsewhere. */
    ledgers: (): readonly SharedWorkspace[] =>
      runners().map(({ config: { name, baseUrl }, workspace: { ledger } }) => ({ workspace: name, baseUrl, ledger })),
    ready: (): Readiness => ready(runners(), { canRecord: canRecord(), now: parts.clock.monotonic() }),
    /** Policy files changed; resolves when they were read. */
    policiesChanged: () => state.loadPolicies(),
    /** The configuration file changed; resolves when it was read. */
    configChanged: oneAtATime(() => rereadConfig(state)),
    /** SIGHUP: reads and reconciles everything at once. */
    hurry() {
      for (const runner of runners()) runner.loop.hurry()
    },
    /** Reads stop at once. A write in flight gets `GRACE_MS`; then it is cut, and its intent stays open. */
    stop: () => stop(state),
  }
}

/** Brings the conditions of the process as a whole up to date. */
function updateConditions(state: State, ledgerWritable: boolean): void {
  const { refused, parts, leases } = state
  const trouble = leases.trouble()
  const ledger = ledgerFinding(trouble && `no cap is written: ${trouble}`)
  const found = [...refused, ...(ledgerWritable ? [] : [ledger]), ...leaseFindings(state.config, state)]
  const { conditions, transitions } = advance(state.conditions, found, parts.clock.now())
  state.conditions = conditions
  for (const transition of transitions) parts.onTransition?.(transition)
  for (const { workspace } of state.runners.values()) noticeLease(leases, workspace)
}

/** Reads what other processes change. Pauses that cannot be read stay as they were. */
async function refreshViews(state: State): Promise<void> {
  const { parts, leases, runners } = state
  const pauses = parts.pauses?.(parts.clock.now()).catch(unlessLedger)
  const [elsewhere, found] = await Promise.all([leases.shownElsewhere(), pauses, parts.probeLedger?.()])
  state.elsewhere = elsewhere
  if (found) for (const { workspace } of runners.values()) workspace.pause = found.get(workspace.config.name)
}

async function stop(state: State): Promise<void> {
  state.stopping = true
  const grace = new AbortController()
  state.parts.clock.sleep(GRACE_MS, grace.signal).then(
    () => state.cut.abort(new Error('the grace period is over')),
    () => undefined,
  )
  const { leases, runners } = state
  leases.withdraw()
  await Promise.all([...runners.values()].map((runner) => end(runner).then(() => leases.release(runner.config.name))))
  await state.applying
  await leases.stop()
  grace.abort()
}

/** Starts and ends workspaces as leases come and go. */
function hooksOf(state: State): LeaseHooks {
  const { parts, runners, leases, failed } = state
  return {
    async taken(name) {
      await state.applying
      const settings = state.config.workspaces.find((one) => one.name === name)
      if (!settings || state.stopping || runners.has(name)) return
      const opened = await parts.open(settings)
      if (state.stopping || !leases.holds(name) || runners.has(name) || !state.config.workspaces.includes(settings)) return opened.close()
      failed.delete(name)
      start(state, settings, opened)
      if (state.loaded) distribute(state, state.loaded, name)
    },
    async ending(name, gone) {
      const runner = runners.get(name)
      if (!runner) return
      runner.isLeaving = true
      if (gone) runner.cut.abort(new Error('another replica may hold this workspace now'))
      await end(runner)
      runners.delete(name)
      parts.registered(name, false)
    },
    failed: (name, error) => void failed.set(name, messageOf(error)),
    beaten: () => updateConditions(state, parts.ledgerWritable()),
    policiesSettled: () => state.loaded && distribute(state, state.loaded),
    seen: (name) => parts.onSeen?.(name),
    lastGood: (name) => (state.loaded?.sets.has(name) ? undefined : lastGoodId(runners.get(name)?.workspace)),
    document(name) {
      const runner = runners.get(name)
      return runner?.workspace.shown.lastCycle && !leases.isReplaced(name) ? packed(runner.workspace) : undefined
    },
  }
}

function start({ parts, runners, cut }: State, settings: WorkspaceConfig, opened: OpenedWorkspace): void {
  const before = runners.get(settings.name)
  const workspace = createWorkspace(opened.parts, before?.config.baseUrl === settings.baseUrl ? before.workspace : undefined)
  const stopOne = new AbortController()
  parts.registered(settings.name, true)
  const cutOne = new AbortController()
  const loop = startLoop(workspace, { stop: stopOne.signal, cut: AbortSignal.any([cut.signal, cutOne.signal]) })
  runners.set(settings.name, {
    ...{ config: settings, workspace, loop, stop: stopOne, cut: cutOne, opened },
    ...{ startedAt: parts.clock.monotonic(), ending: undefined, isLeaving: false },
  })
}

function end(runner: Runner): Promise<void> {
  runner.stop.abort(new Error('stopped'))
  const { opened, loop } = runner
  runner.ending ??= loop.done.then(() => opened.finish?.()).then(() => opened.close())
  return runner.ending
}

/** Reports an unexpected error, such as a disk that fails while policies load. It must not end the daemon: the last policies stay in force. */
function reportInAll({ runners }: State, error: unknown): void {
  for (const { workspace } of runners.values()) reportBug(workspace, error)
}

function loadPolicies(state: State): void | Promise<void> {
  const { config } = state
  try {
    const loaded = state.parts.loadPolicies(config)
    if (!(loaded instanceof Promise) && state.leases.isSole) return distribute(state, loaded)
    return Promise.resolve(loaded)
      .then((load) => adopt(state, config, load))
      .catch((error) => reportInAll(state, error))
  } catch (error) {
    reportInAll(state, error)
  }
}

/** Adopts loaded policies, unless their configuration was replaced meanwhile: the new one loads its own. */
async function adopt(state: State, config: Config, load: PolicyLoad): Promise<void> {
  if (state.config !== config || state.stopping) return
  const told = state.leases.isSole ? undefined : await toTell(load.sets, state.told, config.workspaces, state.parts.recordsOf)
  if (state.config !== config || state.stopping) return
  state.loaded = told ? { ...load, sets: told.sets } : load
  // The other replicas must know of these policies before anything is written for them.
  if (told) await state.leases.followed(told.ids)
  if (state.config === config && !state.stopping) distribute(state, state.loaded)
}

function rereadConfig(state: State): void | Promise<void> {
  const take = (next: Config): void => {
    state.applying = state.applying.then(() => applyConfig(state, next)).catch((error) => reportInAll(state, error))
  }
  const fail = (error: unknown): void => (error instanceof InputError ? refuse(state, [configFinding(error)]) : reportInAll(state, error))
  try {
    const next = state.parts.reloadConfig()
    return next instanceof Promise ? next.then(take).catch(fail) : take(next)
  } catch (error) {
    fail(error)
  }
}

/** Notes why the last configuration is not in force; no findings: it is. */
function refuse(state: State, refused: readonly Finding[]): void {
  state.refused = refused
  updateConditions(state, state.parts.ledgerWritable())
}

/** Gives the policies to the workspaces, or to one of them. Policies that other replicas have seen replaced are not adopted. */
function distribute(state: State, load: PolicyLoad, only?: string): void {
  const { parts, runners, leases } = state
  const { sets } = load
  state.loaded = load
  for (const [name, { loop, workspace }] of runners) {
    if (only !== undefined && name !== only) continue
    if (sets.has(name) && leases.isReplaced(name)) {
      workspace.attempted = true
      continue
    }
    const read = sets.get(name)
    const lost = read ? emptied(read, (workspace.state?.policy ?? orNothing(() => workspace.ledger.fact('policy')))?.set) : []
    const policy = lost.length > 0 ? undefined : read
    // Of a file that was emptied the loader has only warned.
    const isTold = ({ code, at }: Problem): boolean => lost.some((one) => one.code === code && one.at?.file === at?.file)
    const problems = [...lost, ...(load.problemsOf?.get(name) ?? load.problems).filter((one) => !isTold(one))]
    const known = policy ?? lastGood(workspace)
    const status = {
      valid: policy !== undefined,
      digest: known?.digest ?? '',
      revision: known?.revision ?? '',
      loadedAt: parts.clock.now(),
      // Where the set is whole, errors are of envelopes.
      problems,
    }
    loop.setPolicy(policy, status)
  }
}

/** Restarts changed workspaces, starts new ones and ends removed ones; the others go on undisturbed. */
async function applyConfig(state: State, next: Config): Promise<void> {
  if (state.stopping) return
  const { parts, runners } = state
  const opened = await openChanged(state, next)
  if (!opened) return
  refuse(state, [])
  // What still loads for the configuration before is dropped, and what was loaded for it is given to no workspace any more.
  state.config = next
  state.loaded = undefined
  state.loadPolicies = oneAtATime(() => loadPolicies(state))
  state.leases.want(wantedIn(next))
  parts.onConfig?.(next)
  const wanted = new Map(next.workspaces.map((one) => [one.name, one]))
  const replaced = new Set([...opened.keys()].map(({ name }) => name))
  const before = new Map<string, Runner>()
  for (const [name, runner] of runners) {
    if (isSame(wanted.get(name), runner.config)) continue
    await end(runner)
    before.set(name, runner)
    // It stays visible until the new one replaces it.
    if (replaced.has(name) && !state.stopping) continue
    runners.delete(name)
    if (wanted.has(name)) continue
    parts.registered(name, false)
    await state.leases.release(name)
  }
  for (const [settings, one] of opened) {
    const last = before.get(settings.name)
    // Meanwhile another replica may have taken the workspace, or its lease may have started it here.
    const isOurs = state.leases.holds(settings.name) && runners.get(settings.name) === last && last?.isLeaving !== true
    if (isOurs && !state.stopping) start(state, settings, one)
    else one.close()
  }
  // Not awaited: a folder may take long to read, and neither the next configuration nor the end waits for it.
  if (!state.stopping) void state.loadPolicies()
}

/** Opens new and changed workspaces before any is ended; undefined when one cannot be opened. */
async function openChanged(state: State, next: Config): Promise<ReadonlyMap<WorkspaceConfig, OpenedWorkspace> | undefined> {
  const { parts, runners } = state
  try {
    const changed = next.workspaces.filter((one) => state.leases.holds(one.name) && !isSame(one, runners.get(one.name)?.config))
    return await openAll(changed, parts.open)
  } catch (error) {
    refuse(state, [configFinding(error)])
    return undefined
  }
}

const isSame = (a: WorkspaceConfig | undefined, b: WorkspaceConfig | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)
