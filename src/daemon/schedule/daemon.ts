// The daemon: runs several workspaces side by side, each with a loop of its own, as their leases come and go, until it is told to stop. It tells
// when it is ready, and never touches a cap.

import type { WorkspaceView } from '../../core/model/events.ts'
import { messageOf } from '../../core/model/problem.ts'
import type { Clock } from '../../ports.ts'
import type { Health } from '../http/documents/types.ts'
import type { Readiness } from '../http/server.ts'
import { unlessLedger } from '../ledger/error.ts'
import type { SharedWorkspace } from '../ledger/share.ts'
import { type LeaseHooks, type Leases, policyId } from '../replicas/leases.ts'
import { elsewhereIn, isOfLease, packed, viewsOf, wantedIn } from '../replicas/shown.ts'
import type { Workspace } from '../workspace.ts'
import { distribute, lastGoodPolicy, loadPolicies, oneAtATime, rereadConfig } from './reload.ts'
import { type DaemonParts, end, newState, openAll, type Runner, type State, start, updateConditions } from './runners.ts'
import { timer } from './system.ts'

export type Daemon = Awaited<ReturnType<typeof startDaemon>>

/** How long a write in flight may go on after a stop. */
export const GRACE_MS = 8_000

/** Starts every workspace of the configuration. Rejects with a `LedgerError` when one cannot be opened; then nothing was started. */
export async function startDaemon(parts: DaemonParts) {
  const state = newState(parts)
  state.loadPolicies = oneAtATime(() => loadPolicies(state))
  const { config, leases } = state
  const ours = config.workspaces.filter(({ name }) => leases.holds(name))
  for (const [settings, opened] of await openAll(parts, ours)) start(state, settings, opened)
  leases.want(wantedIn(config))
  leases.begin(hooksOf(state))
  void state.loadPolicies()
  const runners = (): readonly Runner[] => [...state.runners.values()]
  const ready = createReadiness(leases)
  const canRecord = (): boolean => {
    return (
      updateConditions(state) &&
      !runners().some(({ workspace: { conditions } }) => conditions.some(({ type }) => type === 'LedgerUnwritable'))
    )
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

/** A page waits no longer than this. Choice. */
const REFRESH_MS = 1_000

/** `refresh`, shared by all pages that ask while it runs; each waits for `REFRESH_MS` at most. */
export function sharedRefresh(clock: Pick<Clock, 'sleep'>, refresh: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return async () => {
    running ??= refresh().finally(() => {
      running = undefined
    })
    const { promise: timeout, resolve } = Promise.withResolvers<void>()
    using _patience = timer(clock, REFRESH_MS, resolve)
    await Promise.race([running, timeout])
  }
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
  const { leases, runners } = state
  leases.withdraw()
  await Promise.all([...runners.values()].map((runner) => end(state, runner, GRACE_MS).then(() => leases.release(runner.config.name))))
  await state.applying
  await leases.stop()
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
      await end(state, runner)
      runners.delete(name)
      parts.registered(name, false)
    },
    failed: (name, error) => void failed.set(name, messageOf(error)),
    beaten: () => void updateConditions(state),
    policiesSettled: () => state.loaded && distribute(state, state.loaded),
    seen: (name) => parts.onSeen?.(name),
    lastGood(name) {
      const workspace = state.loaded?.sets.has(name) ? undefined : runners.get(name)?.workspace
      const known = workspace && lastGoodPolicy(workspace)
      // '' when the workspace never had policies.
      return known && known.digest !== '' ? policyId(known) : undefined
    },
    document(name) {
      const runner = runners.get(name)
      return runner?.workspace.shown.lastCycle && !leases.isReplaced(name) ? packed(runner.workspace) : undefined
    },
  }
}

/** A service that has not answered for this long counts as tried. Choice. */
const ATTEMPT_MS = 30_000

/** A cycle ended, a request failed, or it takes too long: a service that is away must not keep the daemon from being ready. */
const wasTried = ({ workspace, opened, startedAt }: Runner, now: number): boolean =>
  workspace.attempted || opened.requestFailed?.() === true || now - startedAt >= ATTEMPT_MS

/** Returns the judge of readiness. A replica that was ready once stays so when it takes over workspaces that another one has tried. */
function createReadiness({ isSole, hasBegun }: Pick<Leases, 'isSole' | 'hasBegun'>) {
  let wasReady = false
  return (runners: readonly Runner[], { canRecord, now }: { readonly canRecord: boolean; readonly now: number }): Readiness => {
    const toTry = wasReady && !isSole ? [] : runners
    const untried = toTry.filter((runner) => !wasTried(runner, now)).map(({ config }) => `${config.name}: not attempted yet`)
    const ledger = hasBegun() ? 'the ledger cannot be written' : 'the ledger was not reached yet'
    const reasons = canRecord && hasBegun() ? untried : [ledger, ...untried]
    wasReady ||= reasons.length === 0
    return { ready: reasons.length === 0, reasons }
  }
}
