// When a workspace does what, for ever: whole sweeps on the interval, use on its own, and at once what a policy edit, a grant's start or
// end, or a signal asks for, also while a long sweep is under way. Intervals run on the monotonic clock, grants on the wall clock.

import { holdOf } from '../../core/model/change.ts'
import { isSameEntry, type PolicyEntry, UNDECLARED } from '../../core/model/entry.ts'
import type { PolicyStatus } from '../../core/model/events.ts'
import type { PolicyRevision } from '../../core/model/policy.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { nextCycleDelay, nextGrantInstant, nextWork } from '../../core/pace/schedule.ts'
import { isOpen } from '../../core/plan/breaker.ts'
import { collectAddOn } from '../collect/add-on.ts'
import { collectRuns } from '../collect/runs.ts'
import { lookForUndeclared, undeclaredDueAt } from '../collect/undeclared.ts'
import { showBurn } from '../collect/usage-summary.ts'
import { cycleFindings, policyFindings, RUNS, unread } from '../conditions/findings.ts'
import { notice } from '../conditions/notice.ts'
import { showCycle } from '../conditions/show.ts'
import { refreshUsage } from '../cycle/observe.ts'
import type { CycleOptions } from '../cycle/options.ts'
import { reconcile } from '../cycle/run.ts'
import { cycleOf, type DesiredState, desiredState, grantsFrozen, recall, type WorkspaceState } from '../cycle/state.ts'
import { LedgerError } from '../ledger/error.ts'
import { idleTelling, keepTold, type Telling } from '../notify/telling.ts'
import { report, type Workspace } from '../workspace.ts'
import { chooseReadings } from './slice.ts'

export interface LoopSignals {
  /** Graceful end: reads stop at once, the write in flight may finish. */
  readonly stop: AbortSignal
  /** The write in flight has had its time. */
  readonly cut: AbortSignal
}

/** A running workspace. */
export interface Loop {
  /** Resolves when the loop has ended after `stop`. */
  readonly done: Promise<void>
  /** A policy set was loaded, or could not be: then the last good one stays in force. */
  setPolicy(policy: PolicyRevision | undefined, status: PolicyStatus): void
  /** Everything is due now. */
  hurry(): void
}

/** All that what is asked of the scopes depends on between two cycles. */
interface Current {
  readonly policy: PolicyRevision
  readonly usage: WorkspaceState['usage']
  readonly frozen: boolean
  readonly since: Instant
  /** When a grant starts or ends. */
  readonly until: Instant
}

/** What is to be done, and since when. */
interface Agenda {
  policy: PolicyRevision | undefined
  policyValid: boolean
  usageAt: number
  capsAt: number
  /** When the sweep began that was interrupted and is to go on. */
  sweepSince: Instant | undefined
  /** The entries that the last cycle knew, to see which scopes changed. */
  entries: ReadonlyMap<ScopeKey, PolicyEntry> | undefined
  /** From what it was found last that nothing else is asked than `entries` say; working that out for every nap is dear. */
  current: Current | undefined
  /** A new policy set is in force that no cycle has looked at yet. */
  policyIsNew: boolean
  /** Cycles in a row in which nothing worked. */
  failures: number
  wake: AbortController
  /** Runs are being collected, beside everything else. */
  collecting: Promise<void> | undefined
  /** When what is shown of use was worked out last. */
  burnShownAt: number
  /** People are told beside everything else. */
  readonly telling: Telling
}

/** The loop of one workspace; it starts with the first `setPolicy`. It never rejects: failures are events. */
export function startLoop(workspace: Workspace, signals: LoopSignals): Loop {
  const agenda: Agenda = {
    policy: undefined,
    policyValid: true,
    usageAt: 0,
    capsAt: 0,
    sweepSince: undefined,
    entries: undefined,
    current: undefined,
    policyIsNew: false,
    failures: 0,
    wake: new AbortController(),
    collecting: undefined,
    burnShownAt: Number.NEGATIVE_INFINITY,
    telling: idleTelling(),
  }
  const fed = Promise.withResolvers<void>()
  // A loop that never got a policy ends as well.
  signals.stop.addEventListener('abort', () => fed.resolve(), { once: true })
  return {
    done: fed.promise.then(() => run(workspace, agenda, signals)),
    setPolicy(policy, status) {
      workspace.shown = { ...workspace.shown, policy: status }
      report(workspace, { kind: 'policy-loaded', policy: status })
      notice(workspace, { policy: policyFindings(status, workspace.config.name) })
      workspace.attempted ||= !policy
      // A cycle under way prunes nothing any more: its plan was made from a whole set. Only the next one may begin to.
      if (agenda.policyValid && !status.valid) agenda.wake.abort(new Error('a policy file is broken'))
      agenda.policyValid = status.valid
      if (!status.valid && workspace.state) workspace.state.policyValid = false
      takeIn(policy, workspace, agenda)
      fed.resolve()
    },
    hurry() {
      agenda.usageAt = 0
      agenda.capsAt = 0
      agenda.wake.abort(new Error('a signal asked for it'))
    },
  }
}

/** The same meaning at the same commit only moves lines; anything else is looked at at once, also in the middle of a sweep. */
function takeIn(policy: PolicyRevision | undefined, { state }: Workspace, agenda: Agenda): void {
  if (!policy) return
  const before = state?.policy
  const isSame = before?.digest === policy.digest && before.revision === policy.revision
  agenda.policy = isSame ? undefined : policy
  if (isSame && state) state.policy = policy
  else agenda.wake.abort(new Error('the policy changed'))
}

async function run(workspace: Workspace, agenda: Agenda, signals: LoopSignals): Promise<void> {
  while (!signals.stop.aborted) {
    agenda.wake = new AbortController()
    const stop = AbortSignal.any([signals.stop, agenda.wake.signal])
    try {
      await turn(workspace, agenda, { stop, cut: signals.cut, leaving: () => signals.stop.aborted, ending: signals.stop })
      await keepBurnShown(workspace, agenda)
      keepTold(workspace, agenda.telling, { ending: signals.stop, cut: signals.cut }, agenda.collecting !== undefined)
    } catch (error) {
      if (stop.aborted && !(error instanceof LedgerError)) continue
      await survive(workspace, agenda, error, signals.stop)
    }
  }
  await agenda.collecting
  await agenda.telling.underWay
}

/** Projections depend on the time; they need not be newer than this. Choice. */
const BURN_SHOWN_MS = 60_000

async function keepBurnShown(workspace: Workspace, agenda: Agenda): Promise<void> {
  const now = workspace.clock.monotonic()
  if (now - agenda.burnShownAt < BURN_SHOWN_MS) return
  agenda.burnShownAt = now
  await showBurn(workspace)
}

/** A ledger that cannot record, or a mistake of ours, costs this cycle; the next one may work again. */
async function survive(workspace: Workspace, agenda: Agenda, error: unknown, stop: AbortSignal): Promise<void> {
  const message = error instanceof Error ? error.message : String(error)
  const now = workspace.clock.now()
  const times = { startedAt: now, observeMs: 0, applyMs: 0, totalMs: 0 }
  const outcome = { result: 'error', message } as const
  showCycle(workspace, outcome, times, { cycle: cycleFindings(outcome, error instanceof LedgerError, workspace.config.name) })
  if (!(error instanceof LedgerError)) report(workspace, { kind: 'bug', message: `unexpected: ${message}` })
  // What failed may have been anything; a whole sweep says that it is over.
  agenda.capsAt = 0
  agenda.wake = new AbortController()
  await pauseAfter(workspace, agenda, error, AbortSignal.any([stop, agenda.wake.signal])).catch(() => undefined)
}

/** Until it is tried again; as soon as a ledger that could not record what waits has recorded it. */
async function pauseAfter({ clock, config, ledger }: Workspace, agenda: Agenda, error: unknown, stop: AbortSignal): Promise<void> {
  agenda.failures += 1
  const untilMs = clock.monotonic() + Math.min(retryMs(agenda), config.intervalMs)
  const isRecorded = (): Promise<boolean> =>
    ledger.commit().then(
      () => true,
      () => false,
    )
  const isWaiting = error instanceof LedgerError && !(await isRecorded())
  while (clock.monotonic() < untilMs) {
    await clock.sleep(Math.min(FAILED_PAUSE_MS, untilMs - clock.monotonic()), stop)
    if (isWaiting && (await isRecorded())) return
  }
}

/** After a cycle in which nothing worked; doubles up to the interval. */
const FAILED_PAUSE_MS = 10_000

const retryMs = ({ failures }: Agenda): number => FAILED_PAUSE_MS * 2 ** Math.min(failures - 1, 10)

interface Turn extends Pick<CycleOptions, 'stop' | 'leaving'> {
  readonly cut: AbortSignal
  /** Aborts when the loop ends, and not for a new policy. */
  readonly ending: AbortSignal
}

/** One thing at a time: the policy, then what is due, then waiting. */
async function turn(workspace: Workspace, agenda: Agenda, options: Turn): Promise<void> {
  const state = takePolicy(workspace, agenda)
  if (!state) {
    await workspace.clock.sleep(workspace.config.intervalMs, options.stop)
    return
  }
  const now = workspace.clock.monotonic()
  const usage = now >= agenda.usageAt
  if (agenda.policyIsNew || changedScopes(workspace, state, agenda).size > 0) {
    await focusOnChanges(workspace, state, agenda, options)
  } else if (now >= agenda.capsAt || agenda.sweepSince !== undefined) {
    // Without any roster nothing is written: it is asked for with every sweep, and never in between.
    await sweepAll(workspace, state, agenda, usage || state.usage === undefined, options)
  } else if (usage) {
    await takeUsage(workspace, state, agenda, options)
  } else if (now >= undeclaredDueAt(workspace)) {
    const dueMs = Math.min(agenda.capsAt, agenda.usageAt) - now
    await untilGrant(workspace, state, agenda, () => lookForUndeclared(workspace, options.stop), dueMs)
  } else {
    await waitForWork(workspace, state, agenda, options.stop)
  }
}

/** The newest policy set; the ledger's last good one when none could be loaded yet. */
function takePolicy(workspace: Workspace, agenda: Agenda): WorkspaceState | undefined {
  const { ledger } = workspace
  const policy = agenda.policy ?? (workspace.state ? undefined : ledger.fact('policy'))
  if (policy) {
    if (agenda.policy) ledger.saveFact('policy', policy)
    agenda.policyIsNew = workspace.state !== undefined
    if (workspace.state) workspace.state.policy = policy
    else workspace.state = recall(policy, ledger)
    agenda.policy = undefined
  }
  if (workspace.state) workspace.state.policyValid = agenda.policyValid
  return workspace.state
}

/** A policy edit, or a grant that starts or ends: the changed scopes now, and what an approval may have released. */
async function focusOnChanges(workspace: Workspace, state: WorkspaceState, agenda: Agenda, options: Turn): Promise<void> {
  if (hasNewGroups(state)) await takeUsage(workspace, state, agenda, options)
  const held = (workspace.shown.planned?.plan.changes ?? []).filter((change) => holdOf(change) !== undefined)
  const released = agenda.policyIsNew ? held.map((change) => scopeKey(change.scope)) : []
  const focus = new Set([...changedScopes(workspace, state, agenda), ...released])
  const { applied, desired, result } = await reconcile(workspace, state, { ...options, usage: false, focus })
  if (applied?.interrupted === 'stopped') return
  agenda.policyIsNew = false
  learn(agenda, desired)
  if (awaitBreaker(workspace, agenda)) return
  if (result === 'error') agenda.capsAt = Math.min(agenda.capsAt, workspace.clock.monotonic() + FAILED_PAUSE_MS)
}

async function sweepAll(workspace: Workspace, state: WorkspaceState, agenda: Agenda, usage: boolean, options: Turn): Promise<void> {
  const isResumed = agenda.sweepSince !== undefined
  if (!isResumed) {
    agenda.sweepSince = workspace.clock.now()
    agenda.capsAt = workspace.clock.monotonic() + nextCycleDelay(workspace.config.intervalMs, workspace.random.next())
  }
  if (usage) await takeUsage(workspace, state, agenda, options)
  if (!isCurrent(agenda, workspace, state)) learn(agenda, desiredStateNow(workspace, state))
  const readSince = isResumed ? agenda.sweepSince : undefined
  if (!isResumed) workspace.reading = await chooseReadings(workspace, state)
  const slice = workspace.reading?.slice
  const { applied, result, desired } = await untilGrant(workspace, state, agenda, () =>
    reconcile(workspace, state, { ...options, usage: false, ...(slice && { slice }), ...(readSince !== undefined && { readSince }) }),
  )
  // A stopped sweep goes on; a paused or failing one is through, and the interval decides.
  if (applied?.interrupted !== 'stopped') agenda.sweepSince = undefined
  learn(agenda, desired)
  if (awaitBreaker(workspace, agenda)) return
  agenda.failures = result === 'error' ? agenda.failures + 1 : 0
  if (agenda.failures > 0) agenda.capsAt = Math.min(agenda.capsAt, workspace.clock.monotonic() + retryMs(agenda))
}

/** Writes that the breaker keeps back are due when it says so, and not before. */
function awaitBreaker({ clock, config, ledger }: Workspace, agenda: Agenda): boolean {
  const breaker = config.guards.breaker === 'off' ? undefined : ledger.fact('breaker')
  const now = clock.now()
  if (!breaker || !isOpen(breaker, now)) return false
  agenda.failures = 0
  agenda.capsAt = Math.min(agenda.capsAt, clock.monotonic() + breaker.retryAt - now)
  return true
}

/** A sweep can be long: a grant that starts or ends meanwhile interrupts it, as an edit of the policy does, and whatever else is due by then. */
async function untilGrant<T>(
  workspace: Workspace,
  state: WorkspaceState,
  agenda: Agenda,
  sweep: () => Promise<T>,
  dueMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const { clock } = workspace
  const over = new AbortController()
  const grantAt = nextGrantInstant(state.policy.set, cycleOf(state.usage), clock.now()) ?? Number.POSITIVE_INFINITY
  const restMs = Math.min(grantAt - clock.now(), dueMs)
  if (restMs < Number.POSITIVE_INFINITY) {
    const { wake } = agenda
    const ring = (): void => wake.abort(new Error('a grant starts or ends, or other work is due'))
    clock.sleep(restMs, over.signal).then(ring, () => undefined)
  }
  try {
    return await sweep()
  } finally {
    over.abort()
  }
}

async function takeUsage(workspace: Workspace, state: WorkspaceState, agenda: Agenda, options: Turn): Promise<void> {
  const { clock, config, random } = workspace
  await refreshUsage(workspace, state, options.stop)
  const isKnown = state.usage !== undefined
  const delay = isKnown ? config.usageIntervalMs : Math.min(config.usageIntervalMs, config.intervalMs)
  agenda.usageAt = clock.monotonic() + nextCycleDelay(delay, random.next())
  agenda.burnShownAt = Number.NEGATIVE_INFINITY
  agenda.telling.begunAt = Number.NEGATIVE_INFINITY
  agenda.collecting ??= collect(workspace, state, agenda, options)
}

/** Collects beside the cycles, for as long as it takes: a first start may ask for months. It never rejects. */
async function collect(workspace: Workspace, state: WorkspaceState, agenda: Agenda, { ending, cut }: Turn): Promise<void> {
  try {
    notice(workspace, { runs: await collectRuns(workspace, state, ending) })
    notice(workspace, { addOn: await collectAddOn(workspace, state, ending) })
  } catch (error) {
    if (ending.aborted) return
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof LedgerError) notice(workspace, { runs: [unread('RUNS_UNRECORDED', RUNS, message)] })
    else report(workspace, { kind: 'bug', message: `unexpected: ${message}` })
  } finally {
    agenda.collecting = undefined
    await showBurn(workspace)
    keepTold(workspace, agenda.telling, { ending, cut }, false)
  }
}

/** Declared groups whose members were never read cannot be counted yet. */
const hasNewGroups = (state: WorkspaceState): boolean => {
  const known = new Set([...(state.usage?.groups.map((one) => one.id) ?? []), ...state.unknownGroups])
  return state.policy.set.groups.some((group) => !known.has(group.scope.id))
}

const desiredStateNow = (workspace: Workspace, state: WorkspaceState): DesiredState =>
  desiredState(state, { ...workspace, settings: workspace.config })

/** What is asked of each scope. A cycle is held to what it was asked, not to what a grant that began since asks. */
const entriesOf = ({ resolution }: DesiredState): ReadonlyMap<ScopeKey, PolicyEntry> =>
  new Map(resolution.desired.map((one) => [scopeKey(one.scope), one.entry]))

function learn(agenda: Agenda, view: DesiredState): void {
  agenda.entries = entriesOf(view)
  agenda.current = undefined
}

function currentOf({ clock }: Workspace, state: WorkspaceState): Current {
  const since = clock.now()
  const until = nextGrantInstant(state.policy.set, cycleOf(state.usage), since) ?? Number.POSITIVE_INFINITY
  return { policy: state.policy, usage: state.usage, frozen: grantsFrozen(state), since, until }
}

function isCurrent({ current }: Agenda, { clock }: Workspace, state: WorkspaceState): boolean {
  if (!current || current.policy !== state.policy || current.usage !== state.usage) return false
  return current.frozen === grantsFrozen(state) && clock.now() >= current.since && clock.now() < current.until
}

/** Scopes of which something else is asked than the last cycle knew. None before the first sweep has begun. */
function changedScopes(workspace: Workspace, state: WorkspaceState, agenda: Agenda): ReadonlySet<ScopeKey> {
  const before = agenda.entries
  if (!before || isCurrent(agenda, workspace, state)) return new Set()
  const view = desiredStateNow(workspace, state)
  const now = entriesOf(view)
  const changed = new Set<ScopeKey>()
  for (const [key, entry] of now) if (!isSameEntry(before.get(key) ?? UNDECLARED, entry)) changed.add(key)
  // What a grant gives back is asked for by the ledger alone: a cycle that lets go of it has seen to it.
  const isThrough = (key: ScopeKey, { kind }: PolicyEntry): boolean => kind === 'restore' && !view.owned.has(key)
  for (const [key, entry] of before) if (!now.has(key) && !isThrough(key, entry)) changed.add(key)
  if (changed.size === 0) agenda.current = currentOf(workspace, state)
  return changed
}

async function waitForWork(workspace: Workspace, state: WorkspaceState, agenda: Agenda, stop: AbortSignal | undefined): Promise<void> {
  const { clock } = workspace
  const grantAt = nextGrantInstant(state.policy.set, cycleOf(state.usage), clock.now())
  const { sleepMs } = nextWork({
    caps: { lastAt: agenda.capsAt, delayMs: 0 },
    usage: { lastAt: agenda.usageAt, delayMs: 0 },
    ...(grantAt !== undefined && { grantAt }),
    now: clock.now(),
    monotonicNow: clock.monotonic(),
  })
  await clock.sleep(Math.min(sleepMs, undeclaredDueAt(workspace) - clock.monotonic()), stop)
}
