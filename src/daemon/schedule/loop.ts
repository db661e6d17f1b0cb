// Decides when a workspace does what: sweeps and readings of use on their intervals; a policy edit, a grant that starts or ends, or a signal
// at once, also during a long sweep. Intervals run on the monotonic clock, grants on the wall clock.

import { holdOf } from '../../core/model/change.ts'
import type { PolicyStatus } from '../../core/model/events.ts'
import { isSameEntry, keptRevision, type PolicyRevision, UNDECLARED } from '../../core/model/policy.ts'
import { messageOf } from '../../core/model/problem.ts'
import { byScope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { CLOCKS_APART_MS, type Instant } from '../../core/model/units.ts'
import { nextCycleDelay, nextGrantInstant } from '../../core/pace/rhythm.ts'
import { isOpen } from '../../core/plan/breaker.ts'
import { type DesiredCap, type Resolution, resolveDesired } from '../../core/resolve/desired.ts'
import { collectAddOn } from '../collect/add-on.ts'
import { keepPast } from '../collect/past.ts'
import { collectRuns } from '../collect/runs.ts'
import { readUndeclared, undeclaredDueAt } from '../collect/undeclared.ts'
import { learnBurned, showUsageSummary } from '../collect/usage-summary.ts'
import { cycleFindings, policyFindings, RUNS, unread } from '../conditions/findings.ts'
import { showCycle } from '../conditions/show.ts'
import { refreshUsage } from '../cycle/observe.ts'
import type { CycleOptions } from '../cycle/options.ts'
import { reconcile } from '../cycle/run.ts'
import { cycleOf, declare, desiredInputs, grantsFrozen, recall, unseen, type WorkspaceState } from '../cycle/state.ts'
import { LedgerError } from '../ledger/error.ts'
import { idleTelling, keepTold, TELLING_GRACE_MS } from '../notify/outbox.ts'
import { notice, report, reportBug, type Workspace } from '../workspace.ts'
import { chooseReadings } from './slice.ts'
import { timer } from './system.ts'

interface LoopSignals {
  /** Ends the loop: reads stop at once, the write in flight may finish. */
  readonly stop: AbortSignal
  /** Cuts the write in flight. */
  readonly cut: AbortSignal
}

type Agenda = ReturnType<typeof newAgenda>

/** What is due, and when. */
const newAgenda = () => ({
  policy: undefined as PolicyRevision | undefined,
  policyValid: true,
  usageAt: 0,
  capsAt: 0,
  /** When the interrupted sweep began that is to go on. */
  sweepSince: undefined as Instant | undefined,
  /** What the last cycle knew to be asked of each scope. */
  asked: undefined as ReadonlyMap<ScopeKey, DesiredCap> | undefined,
  /** When the focused cycle began that did not come to its end, and what it was asked: what has changed since then goes first. */
  begun: undefined as { readonly at: Instant; readonly asked: ReadonlyMap<ScopeKey, DesiredCap> } | undefined,
  /** True while surely no scope is asked something else than `asked`: saves comparing before every sleep, which is expensive. */
  isUnchanged: NEVER,
  /** The last cycle found no reason to believe the wall clock, which has jumped. */
  isAstray: false,
  /** No cycle has run yet under the policy set that is in force. */
  isPolicyNew: false,
  /** Cycles in a row that failed. */
  failures: 0,
  wake: new AbortController(),
  /** Collecting of runs and add-on use, beside everything else. */
  collecting: undefined as Promise<void> | undefined,
  /** When the usage summary was made last. */
  summaryShownAt: Number.NEGATIVE_INFINITY,
  /** Notifications, beside everything else. */
  telling: idleTelling(),
})

/** The loop of one workspace; it starts with the first `setPolicy`. It never rejects: failures are events. */
export function startLoop(workspace: Workspace, signals: LoopSignals) {
  const agenda = newAgenda()
  const firstPolicy = Promise.withResolvers<void>()
  // A loop that never gets a policy must end as well.
  signals.stop.addEventListener('abort', () => firstPolicy.resolve(), { once: true })
  return {
    /** Resolves when the loop has ended after `stop`. */
    done: firstPolicy.promise.then(() => run(workspace, agenda, signals)),
    /** Gives the loop a new policy set; undefined: it could not be loaded, and the last good one stays in force. */
    setPolicy(policy: PolicyRevision | undefined, status: PolicyStatus): void {
      workspace.shown = { ...workspace.shown, policy: status }
      report(workspace, { kind: 'policy-loaded', policy: status })
      notice(workspace, { policy: policyFindings(status, workspace.config.name) })
      workspace.attempted ||= !policy
      // The cycle under way must not prune any more: the set that it planned from is not whole now.
      if (agenda.policyValid && !status.valid) agenda.wake.abort(new Error('a policy file is broken'))
      agenda.policyValid = status.valid
      if (!status.valid && workspace.state) workspace.state.policyValid = false
      queuePolicy(policy, workspace, agenda)
      firstPolicy.resolve()
    },
    /** Makes everything due now. */
    hurry(): void {
      agenda.usageAt = 0
      agenda.capsAt = 0
      agenda.wake.abort(new Error('a signal asked for it'))
    },
  }
}

/** Makes a new policy due at once, also in the middle of a sweep. With the same digest and commit only line numbers have moved. */
function queuePolicy(policy: PolicyRevision | undefined, { state }: Workspace, agenda: Agenda): void {
  if (!policy) return
  const before = state?.policy
  const isSame = before?.digest === policy.digest && before.revision === policy.revision
  agenda.policy = isSame ? undefined : policy
  if (isSame && state) declare(state, policy)
  else agenda.wake.abort(new Error('the policy changed'))
}

async function run(workspace: Workspace, agenda: Agenda, signals: LoopSignals): Promise<void> {
  using over = new DisposableStack()
  const endSoon = (): unknown =>
    over.use(timer(workspace.clock, TELLING_GRACE_MS, () => agenda.telling.late.abort(new Error('the grace period is over'))))
  signals.stop.addEventListener('abort', endSoon, { once: true })
  while (!signals.stop.aborted) {
    agenda.wake = new AbortController()
    const stop = AbortSignal.any([signals.stop, agenda.wake.signal])
    try {
      await step(workspace, agenda, { stop, cut: signals.cut, leaving: () => signals.stop.aborted, ending: signals.stop })
      await keepSummaryFresh(workspace, agenda)
      keepTold(workspace, agenda.telling, { ending: signals.stop, cut: signals.cut }, agenda.collecting !== undefined)
    } catch (error) {
      if (stop.aborted && !(error instanceof LedgerError)) continue
      await recoverFrom(workspace, agenda, error, signals.stop)
    }
  }
  await agenda.collecting
  await workspace.collector.past.underWay
  await agenda.telling.underWay
}

/** The usage summary holds projections, which depend on the time; it may be this old. Choice. */
const SUMMARY_LIFE_MS = 60_000

async function keepSummaryFresh(workspace: Workspace, agenda: Agenda): Promise<void> {
  const now = workspace.clock.monotonic()
  if (now - agenda.summaryShownAt < SUMMARY_LIFE_MS) return
  agenda.summaryShownAt = now
  await showUsageSummary(workspace)
}

/** Shows a cycle that failed, because of the ledger or of a bug, and waits until it may be tried again. */
async function recoverFrom(workspace: Workspace, agenda: Agenda, error: unknown, stop: AbortSignal): Promise<void> {
  const message = messageOf(error)
  const now = workspace.clock.now()
  const times = { startedAt: now, observeMs: 0, applyMs: 0, totalMs: 0 }
  const outcome = { result: 'error', message } as const
  showCycle(workspace, outcome, times, { cycle: cycleFindings(outcome, error instanceof LedgerError, workspace.config.name) })
  if (!(error instanceof LedgerError)) reportBug(workspace, error)
  // Only a whole sweep shows that the failure is over.
  agenda.capsAt = 0
  agenda.wake = new AbortController()
  await waitForRetry(workspace, agenda, error, AbortSignal.any([stop, agenda.wake.signal])).catch(() => undefined)
}

/** Waits until the next attempt; no longer than until a ledger that could not record its waiting changes has recorded them. */
async function waitForRetry({ clock, config, ledger }: Workspace, agenda: Agenda, error: unknown, stop: AbortSignal): Promise<void> {
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

/** The pause after a failed cycle; doubles up to the interval. */
const FAILED_PAUSE_MS = 10_000

const retryMs = ({ failures }: Agenda): number => FAILED_PAUSE_MS * 2 ** Math.min(failures - 1, 10)

interface StepOptions extends Pick<CycleOptions, 'stop' | 'leaving'> {
  readonly cut: AbortSignal
  /** Aborts when the loop ends, and not for a new policy. */
  readonly ending: AbortSignal
}

/** Does the most urgent thing that is due, or waits. */
async function step(workspace: Workspace, agenda: Agenda, options: StepOptions): Promise<void> {
  // Under the settings before, it may have recorded something since the ledger was opened.
  if (!workspace.state) await workspace.ledger.load()
  const state = adoptPolicy(workspace, agenda)
  if (!state) {
    await workspace.clock.sleep(workspace.config.intervalMs, options.stop)
    return
  }
  const now = workspace.clock.monotonic()
  const usage = now >= agenda.usageAt
  if (agenda.isPolicyNew || changedScopes(workspace, state, agenda).size > 0) {
    await focusOnChanges(workspace, state, agenda, options)
  } else if (now >= agenda.capsAt || agenda.sweepSince !== undefined) {
    // Without a roster nothing is written, so each sweep asks for it.
    await sweepAll(workspace, state, agenda, usage || state.usage === undefined, options)
  } else if (usage) {
    await readUsage(workspace, state, agenda, options)
  } else if (now >= undeclaredDueAt(workspace)) {
    const dueMs = Math.min(agenda.capsAt, agenda.usageAt) - now
    await wakingAtGrant(workspace, state, agenda, () => readUndeclared(workspace, options.stop), dueMs)
  } else {
    await waitForWork(workspace, state, agenda, options.stop)
  }
}

/** Puts the newest policy set in force; the last good one in the ledger while none could be loaded yet. */
function adoptPolicy(workspace: Workspace, agenda: Agenda): WorkspaceState | undefined {
  const { ledger } = workspace
  const kept = workspace.state ? undefined : ledger.fact('policy')
  const policy = agenda.policy ?? (kept && unseen(kept, workspace.config))
  if (policy) {
    agenda.isPolicyNew = workspace.state !== undefined
    if (workspace.state) declare(workspace.state, policy)
    else workspace.state = recall(policy, ledger)
    if (agenda.policy) ledger.saveFact('policy', keptRevision(workspace.state.policy))
    agenda.policy = undefined
  }
  if (workspace.state) workspace.state.policyValid = agenda.policyValid
  return workspace.state
}

/** Runs a focused cycle over the scopes that an edit or a grant changed, and over the held ones that a new approval may have released. */
async function focusOnChanges(workspace: Workspace, state: WorkspaceState, agenda: Agenda, options: StepOptions): Promise<void> {
  if (hasNewGroups(state)) await readUsage(workspace, state, agenda, options)
  const held = (workspace.shown.planned?.plan.changes ?? []).filter((change) => holdOf(change) !== undefined)
  const released = agenda.isPolicyNew ? held.map((change) => scopeKey(change.scope)) : []
  const { asked, begun } = agenda
  const current = askedNow(workspace, state, agenda)
  const changed = asked ? current.changedSince(asked) : new Set<ScopeKey>()
  const newest = begun ? changed.intersection(current.changedSince(begun.asked)) : changed
  const first = newest.size > 0 ? newest : changed
  const focus = new Set([...first, ...released])
  const readSince = first === newest ? undefined : begun?.at
  agenda.begun = asked && { at: begun?.at ?? workspace.clock.now(), asked: current.asked }
  const isFrozen = grantsFrozen(workspace.client)
  const { applied, desired, result } = await wakingAtGrant(workspace, state, agenda, () =>
    reconcile(workspace, state, { ...options, focus, readSince }),
  )
  // The rest follows at once, and with it what waits for it.
  if (applied?.interrupted === 'stopped' || first.size < changed.size) return
  agenda.begun = undefined
  agenda.isPolicyNew = false
  // Grants that the answers let start or end were not in the focus.
  if (desired.inputs.grantsFrozen === isFrozen) keepAsked(workspace, agenda, desired.resolution)
  if (waitsForBreaker(workspace, agenda)) return
  if (result === 'error') agenda.capsAt = Math.min(agenda.capsAt, workspace.clock.monotonic() + FAILED_PAUSE_MS)
}

async function sweepAll(workspace: Workspace, state: WorkspaceState, agenda: Agenda, usage: boolean, options: StepOptions): Promise<void> {
  agenda.begun = undefined
  const isResumed = agenda.sweepSince !== undefined
  if (!isResumed) {
    agenda.sweepSince = workspace.clock.now()
    agenda.capsAt = workspace.clock.monotonic() + nextCycleDelay(workspace.config.intervalMs, workspace.random.next())
  }
  if (usage) await readUsage(workspace, state, agenda, options)
  if (!agenda.isUnchanged()) keepAsked(workspace, agenda, resolveDesired(desiredInputs(state, workspace)))
  const readSince = isResumed ? agenda.sweepSince : undefined
  if (!isResumed) workspace.reading = await chooseReadings(workspace, state)
  const slice = workspace.reading?.slice
  const { applied, result, desired } = await wakingAtGrant(workspace, state, agenda, () =>
    reconcile(workspace, state, { ...options, slice, readSince }),
  )
  // A stopped sweep goes on later; a paused or failed one is over, and the interval decides.
  if (applied?.interrupted !== 'stopped') agenda.sweepSince = undefined
  keepAsked(workspace, agenda, desired.resolution)
  if (waitsForBreaker(workspace, agenda)) return
  agenda.failures = result === 'error' ? agenda.failures + 1 : 0
  if (agenda.failures > 0) agenda.capsAt = Math.min(agenda.capsAt, workspace.clock.monotonic() + retryMs(agenda))
}

/** True while the breaker is open: then writes are due when it is to be tried again, and not before. */
function waitsForBreaker({ clock, config, ledger }: Workspace, agenda: Agenda): boolean {
  const breaker = config.guards.breaker === 'off' ? undefined : ledger.fact('breaker')
  const now = clock.now()
  if (!breaker || !isOpen(breaker, now)) return false
  agenda.failures = 0
  agenda.capsAt = Math.min(agenda.capsAt, clock.monotonic() + breaker.retryAt - now)
  return true
}

/** Runs `work`, and interrupts it when a grant starts or ends or after `dueMs`, as a policy edit would: a cycle can be long. */
async function wakingAtGrant<T>(
  workspace: Workspace,
  state: WorkspaceState,
  agenda: Agenda,
  work: () => Promise<T>,
  dueMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const { clock, wall } = workspace
  const { wake } = agenda
  const restMs = Math.min(grantAfter(state, wall()) - wall(), dueMs)
  const interrupt = (): void => wake.abort(new Error('a grant starts or ends, or other work is due'))
  using _due = restMs < Number.POSITIVE_INFINITY ? timer(clock, restMs, interrupt) : undefined
  return await work()
}

async function readUsage(workspace: Workspace, state: WorkspaceState, agenda: Agenda, options: StepOptions): Promise<void> {
  const { clock, config, random } = workspace
  await refreshUsage(workspace, state, options.stop)
  if (state.usage) await learnBurned(workspace, state.usage)
  const isKnown = state.usage !== undefined
  const delay = isKnown ? config.usageIntervalMs : Math.min(config.usageIntervalMs, config.intervalMs)
  agenda.usageAt = clock.monotonic() + nextCycleDelay(delay, random.next())
  agenda.summaryShownAt = Number.NEGATIVE_INFINITY
  agenda.telling.begunAt = Number.NEGATIVE_INFINITY
  agenda.collecting ??= collect(workspace, state, agenda, options)
}

/** Collects runs and add-on use beside the cycles. Never rejects. A first start may ask for months, so it may take long. */
async function collect(workspace: Workspace, state: WorkspaceState, agenda: Agenda, { ending, cut }: StepOptions): Promise<void> {
  try {
    notice(workspace, { runs: await collectRuns(workspace, state, ending) })
    notice(workspace, { addOn: await collectAddOn(workspace, state, ending) })
    keepPast(workspace, state, ending)
  } catch (error) {
    if (ending.aborted) return
    if (error instanceof LedgerError) notice(workspace, { runs: [unread('RUNS_UNRECORDED', RUNS, error.message)] })
    else reportBug(workspace, error)
  } finally {
    agenda.collecting = undefined
    await showUsageSummary(workspace)
    keepTold(workspace, agenda.telling, { ending, cut }, false)
  }
}

/** A declared group whose members were never read cannot be counted yet. */
const hasNewGroups = (state: WorkspaceState): boolean => {
  const known = new Set([...(state.usage?.groups.map((one) => one.id) ?? []), ...state.unknownGroups])
  return state.policy.set.groups.some((group) => !known.has(group.scope.id))
}

/** Keeps what the cycle was asked, so that a grant that has begun since still counts as a change. */
function keepAsked({ clock, wall }: Workspace, agenda: Agenda, { desired }: Resolution): void {
  agenda.asked = byScope(desired)
  agenda.isUnchanged = NEVER
  agenda.isAstray = Math.abs(clock.now() - wall()) > CLOCKS_APART_MS
}

/** By the wall clock, until a cycle has found it astray: grants that begin by it are worth asking the service, once. */
const grantTime = ({ clock, wall }: Workspace, { isAstray }: Agenda): Instant => (isAstray ? clock.now() : wall())

const NEVER = (): boolean => false

/** Whether what policy asks depends on is as now, and no grant has started or ended since. */
function unchangedFrom(workspace: Workspace, state: WorkspaceState, agenda: Agenda): () => boolean {
  const { client } = workspace
  const { policy, usage } = state
  const [since, isFrozen] = [grantTime(workspace, agenda), grantsFrozen(client)]
  const until = grantAfter(state, since)
  const isSame = (): boolean => state.policy === policy && state.usage === usage && grantsFrozen(client) === isFrozen
  return () => isSame() && grantTime(workspace, agenda) >= since && grantTime(workspace, agenda) < until
}

/** Scopes of which policy asks something else than the last cycle knew. None before the first sweep has begun. */
function changedScopes(workspace: Workspace, state: WorkspaceState, agenda: Agenda): ReadonlySet<ScopeKey> {
  if (!agenda.asked || agenda.isUnchanged()) return new Set()
  const changed = askedNow(workspace, state, agenda).changedSince(agenda.asked)
  if (changed.size === 0) agenda.isUnchanged = unchangedFrom(workspace, state, agenda)
  return changed
}

/** What is asked of each scope now; resolved once, however often it is compared. */
function askedNow(workspace: Workspace, state: WorkspaceState, agenda: Agenda) {
  const inputs = { ...desiredInputs(state, workspace), now: grantTime(workspace, agenda) }
  const asked = byScope(resolveDesired(inputs).desired)
  // Only the ledger asks for a restore after a grant: once the cap is not ours any more, it is done.
  const isRestored = (key: ScopeKey, { entry: { kind } }: DesiredCap): boolean => kind === 'restore' && !inputs.owned.has(key)
  return {
    asked,
    /** The scopes of which something else was asked before. */
    changedSince(before: ReadonlyMap<ScopeKey, DesiredCap>): ReadonlySet<ScopeKey> {
      const changed = new Set<ScopeKey>()
      for (const [key, { entry }] of asked) if (!isSameEntry(before.get(key)?.entry ?? UNDECLARED, entry)) changed.add(key)
      for (const [key, one] of before) if (!asked.has(key) && !isRestored(key, one)) changed.add(key)
      return changed
    },
  }
}

/** The wall clock may be set during a sleep: while a grant is awaited, check at least this often. */
const LONGEST_SLEEP_MS = 60_000

async function waitForWork(workspace: Workspace, state: WorkspaceState, agenda: Agenda, stop: AbortSignal | undefined): Promise<void> {
  const { clock, wall } = workspace
  const grantMs = grantAfter(state, wall()) - wall()
  const dueMs = Math.min(agenda.capsAt, agenda.usageAt, undeclaredDueAt(workspace)) - clock.monotonic()
  await clock.sleep(grantMs === Number.POSITIVE_INFINITY ? dueMs : Math.min(dueMs, grantMs, LONGEST_SLEEP_MS), stop)
}

/** When a grant starts or ends next. */
const grantAfter = ({ policy, usage }: WorkspaceState, now: Instant): Instant =>
  nextGrantInstant(policy.set, cycleOf(usage), now) ?? Number.POSITIVE_INFINITY
