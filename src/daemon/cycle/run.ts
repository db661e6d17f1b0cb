// The cycle in one screen: load -> observe -> deal -> plan -> permit -> write -> record. It orders the steps and decides nothing about caps.
// A focused cycle (a policy edit, a grant that starts or ends) handles a few scopes and leaves the rest to the next sweep.

import { isReady } from '../../core/model/change.ts'
import { byScope, type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { Difference, Exclusion } from '../../core/plan/snapshot.ts'
import { askMeasured } from '../collect/add-on.ts'
import { withDoubted } from '../collect/usage.ts'
import { foundBy, outcomeOf, showCycle, showPause, showPlan } from '../conditions/show.ts'
import { readPause, type Workspace } from '../workspace.ts'
import { dealPools } from './deal.ts'
import { forgetMarked, observe, readDue, refreshUsage } from './observe.ts'
import type { Agreement, CycleOptions, CycleRun, Pass, PassReport } from './options.ts'
import { runPasses } from './passes.ts'
import { probeReads } from './preview.ts'
import { seenIn } from './read.ts'
import { endPlan, recordApprovals, recordDeclared, recordPlan, recordReviews, recordShown } from './record.ts'
import {
  type DesiredState,
  desiredState,
  excluded,
  isLeftAlone,
  type Planner,
  type PlanOptions,
  planFrom,
  type WorkspaceState,
  withheldBy,
} from './state.ts'
import { rereadDependencies } from './write/descendants.ts'
import { FRESH_MS } from './write/writes.ts'

type Excluded = (one: Difference) => Exclusion | undefined

const notShown = (reason: string): Exclusion => excluded('notShown', reason)

/** Excludes the changes of a plan that the person did not agree to. */
function unlessShown({ mayWrite }: Agreement, desired: DesiredState): Excluded {
  if (!mayWrite) return () => undefined
  const asked = byScope(desired.resolution.desired)
  return (one) => {
    if (!mayWrite(one)) return notShown('it was not in the plan that was agreed to; run apply again')
    const unseen = overwrittenBy(one, desired).find(({ key }) => {
      // No plan repairs a person whom the service has refused.
      const want = desired.quarantine.active.has(key) ? undefined : asked.get(key)
      return want !== undefined && want.cap !== one.to && want.cap !== 'none' && !mayWrite({ key, to: want.cap })
    })
    return unseen && notShown(`it overwrites ${unseen.email}, and the plan that was agreed to does not put that right; run apply again`)
  }
}

/** The people whose own caps a write overwrites. */
function overwrittenBy({ scope, key }: Difference, { slots, people }: DesiredState): DesiredState['people']['approved'] {
  if (slots.model.layers !== 'copied' || scope.kind === 'user') return []
  return scope.kind === 'team' ? people.approved : (people.byGroup.get(key) ?? [])
}

/** `reread`: scopes that were read again because the plan depends on them. */
type FirstPlan = Awaited<ReturnType<typeof planFirst>>

/**
 * Makes the first plan; makes it again once it is known what reads show, or what the scopes show that it depends on. People are read to learn the
 * former before anything is written, and where nothing is, once for the present caps of the team and groups: what is held or in sync may look
 * otherwise then, as it does to `plan`.
 */
async function planFirst(cycle: CycleRun, desired: DesiredState) {
  const { workspace, state, planner, withheld, startedAt, options } = cycle
  const planWith = (asked: DesiredState, reread: ReadonlySet<ScopeKey>): Pass =>
    makePlan(cycle, asked, { excluded: () => withheld, approve: options.approve }, reread)
  const pass = planWith(desired, new Set())
  const isEstablished = await establishReads(cycle, desired, !pass.planned.plan.changes.some(isReady))
  const reread = await rereadDependencies(pass, startedAt - workspace.config.intervalMs, cycle)
  if (reread.size > 0) return { ...planWith(deal(cycle, desiredState(state, planner)), reread), reread }
  return { ...(isEstablished ? planWith(desired, reread) : pass), reread }
}

/** True when it has just become known whether a read shows an inherited cap. */
async function establishReads(
  { workspace, state, options: { stop } }: CycleRun,
  desired: DesiredState,
  isQuiet: boolean,
): Promise<boolean> {
  const { ledger } = workspace
  const before = seenIn(ledger)
  const seen = await probeReads({ ...workspace, seen: before, state, desired, signal: stop, isQuiet })
  if (seen !== before) ledger.saveFact('seen', seen)
  return seen !== before
}

const FOCUS = excluded('focus', 'left to the next sweep')

const QUIET = excluded('lease', 'a write of the replica that held this workspace before may still land; it is read again when that is over')

/** Scopes with an open write of the replica that held this workspace before, while that write may still land. */
function quietScopes({ lease, ledger, wall }: Workspace): ReadonlySet<ScopeKey> {
  const untilAt = lease?.quietUntil() ?? Number.NEGATIVE_INFINITY
  return new Set(wall() < untilAt ? ledger.openIntents().map(({ change }) => scopeKey(change.scope)) : [])
}

/**
 * Makes a plan and shows it. A focused cycle writes only its own scopes and those in `alsoRead`, which were read
 * again beyond them.
 */
function makePlan(
  { workspace, state, planner, options }: CycleRun,
  desired: DesiredState,
  more: PlanOptions,
  alsoRead: ReadonlySet<ScopeKey>,
): Pass {
  const focus = options.focus?.union(alsoRead)
  const quiet = quietScopes(workspace)
  const exclude = (one: Difference): Exclusion | undefined =>
    more.excluded?.(one) ?? (focus && !focus.has(one.key) ? FOCUS : undefined) ?? (quiet.has(one.key) ? QUIET : undefined)
  const planned = planFrom(state, desired, planner, { ...more, excluded: exclude })
  recordShown(planned, state, workspace.ledger, workspace.clock.now())
  showPlan(workspace, planned, desired)
  return { planned, desired }
}

export type CycleReport = Awaited<ReturnType<typeof reconcile>>

/** Runs one cycle. Rejects when `stop` aborts it before its writes, or with a `LedgerError`. */
export async function reconcile(workspace: Workspace, state: WorkspaceState, options: CycleOptions) {
  const cycle = await load(workspace, state, options)
  const desired = deal(cycle, await observe(cycle))
  const first = await planFirst(cycle, desired)
  const plannedMs = workspace.clock.monotonic()
  const permitted = await permit(cycle, first)
  const applied = isWithheld(permitted) ? undefined : await write(cycle, first, permitted)
  const { after, outcome } = await record(cycle, first, applied, plannedMs)
  return {
    ...outcome,
    /** The first plan, as it was shown, and what policy asked when it was made. */
    ...{ planned: first.planned, desired: first.desired },
    /** The plan after the writes. */
    after,
    applied,
    /** Why nothing was to be written at all. */
    withheld: isWithheld(permitted) ? permitted.reason : undefined,
  }
}

const isWithheld = (permitted: Agreement | Exclusion): permitted is Exclusion => 'kind' in permitted

/** Takes a snapshot of the ledger, and reads roster, groups and balance where they are due. */
async function load(workspace: Workspace, state: WorkspaceState, options: CycleOptions): Promise<CycleRun> {
  const { clock, config, ledger } = workspace
  await ledger.load()
  const hasForgotten = await forgetMarked(workspace, state)
  const withheld = await whyWithheld(workspace)
  const planner: Planner = { ...workspace, idle: withheld?.reason, ...watchedOf(workspace, options) }
  const [startedAt, startedMs] = [clock.now(), clock.monotonic()]
  showPause(workspace)
  if (options.alone || hasForgotten) await refreshUsage(workspace, state, options.stop)
  if (options.alone) await askMeasured(workspace, state, options.stop)
  if (config.mode !== 'enforce') endPlan(ledger)
  return { workspace, state, options, planner, withheld, startedAt, startedMs }
}

/** Audit mode, a pause, and policies that another replica has seen replaced withhold every write. */
async function whyWithheld(workspace: Workspace): Promise<Exclusion | undefined> {
  const withheld = withheldBy(workspace.config, await readPause(workspace))
  if (withheld?.code === 'mode' || !workspace.lease?.isReplaced()) return withheld
  return excluded('replaced', 'another replica has had newer policies than this one; nothing is written until the files here follow')
}

/** With `onDrift: alert` foreign changes are only shown; `apply` reverts them, because a person asks for it. */
function watchedOf({ config }: Workspace, { confirm }: CycleOptions): Pick<Planner, 'watched'> {
  if (config.onDrift !== 'alert' || confirm) return {}
  const watched = excluded('onDrift', 'onDrift is alert: foreign changes are shown and not reverted')
  return { watched: ({ cause }) => (cause === 'external' ? watched : undefined) }
}

/** Deals the pools. */
const deal = ({ state, planner }: CycleRun, desired: DesiredState): DesiredState =>
  dealPools(state, desired, planner) ? desiredState(state, planner) : desired

/**
 * Whether this cycle may write, once the guards have judged the plan: nothing may withhold it, and `apply` asks the person. Of a policy that the
 * person does not agree to, the ledger keeps only what was shown.
 */
async function permit(cycle: CycleRun, first: FirstPlan): Promise<Agreement | Exclusion> {
  const { planned } = first
  const { workspace, options, withheld } = cycle
  const { ledger } = workspace
  const { confirm } = options
  // A release that is in place by now is spent, also while nothing may be written.
  if (withheld) recordApprovals(planned, ledger)
  if (!confirm) recordPlan(first, cycle)
  // Another person may approve a hold while this one is asked, so the holds must be in the ledger.
  await ledger.commit()
  if (withheld) return withheld
  if (!confirm) return {}
  const agreed = await confirm(planned)
  if (agreed) recordPlan(first, cycle)
  return agreed ?? notShown('declined')
}

/** Writes in passes, beginning with the first plan, or with a new one where that is out of date. */
async function write(cycle: CycleRun, first: FirstPlan, agreement: Agreement): Promise<PassReport> {
  const { workspace, state, planner, options, startedAt } = cycle
  recordApprovals(first.planned, workspace.ledger)
  recordReviews(first.planned, state, workspace.ledger)
  const isAccepted = acceptRoster(first.planned, cycle)
  // People who are only on the accepted roster were not read yet.
  if (isAccepted) await readDue({ ...cycle, options: { ...options, readSince: options.readSince ?? startedAt } })
  const replan: Parameters<typeof runPasses>[0]['replan'] = (failed, alsoRead) => {
    // Readings since the last deal count in the sums of pools.
    const desired = deal(cycle, desiredState(state, planner))
    const next = makePlan(cycle, desired, { failed, excluded: unlessShown(agreement, desired) }, first.reread.union(alsoRead))
    recordPlan(next, cycle)
    recordApprovals(next.planned, workspace.ledger)
    return next
  }
  // The person may have taken a while to answer.
  const stale = options.confirm ? await rereadDependencies(first, workspace.clock.now() - FRESH_MS, cycle) : NONE
  const isOutdated = isAccepted || agreement.mayWrite !== undefined || stale.size > 0
  return runPasses({ ...cycle, first: isOutdated ? replan(new Map(), stale) : first, replan })
}

const NONE: ReadonlySet<ScopeKey> = new Set()

/** Believes the doubted roster once its `rosterShrink` hold was approved. True when it did. */
function acceptRoster({ rosterAccepted }: Planned, { workspace, state }: CycleRun): boolean {
  if (!rosterAccepted || !state.usage?.doubted) return false
  state.usage = withDoubted(state.usage, workspace)
  workspace.ledger.saveFact('usage', state.usage)
  return true
}

/** Records how the cycle ended in the ledger and shows it. */
async function record(cycle: CycleRun, first: FirstPlan, applied: PassReport | undefined, plannedMs: number) {
  const { workspace, state, options, startedAt, startedMs } = cycle
  const { clock, config, ledger } = workspace
  if (applied?.interrupted === 'paused') {
    await readPause(workspace)
    showPause(workspace)
  }
  const last: Pass = applied?.last ?? first
  const part = (options.focus ?? options.slice)?.union(first.reread).union(applied?.alsoRead ?? NONE)
  // The service did answer where it says that it does not know a scope.
  const isExpected = (scope: Scope): boolean => !isLeftAlone(scope, last.desired) && !last.desired.unknown.has(scopeKey(scope))
  const scopes = last.desired.toRead.filter((scope) => isExpected(scope) && (part?.has(scopeKey(scope)) ?? true))
  const end = { state, after: last.planned, applied, scopes }
  const outcome = outcomeOf(end)
  const isAgreed = applied !== undefined || !options.confirm
  if (config.mode === 'enforce' && !options.focus && isAgreed) recordDeclared(last.planned, outcome.result, state, ledger)
  if (applied?.fatal === undefined) await ledger.commit()
  const endedMs = clock.monotonic()
  const times = { startedAt, observeMs: plannedMs - startedMs, applyMs: endedMs - plannedMs, totalMs: endedMs - startedMs }
  showCycle(workspace, outcome, times, foundBy(workspace, end, outcome))
  return { after: last.planned, outcome }
}
