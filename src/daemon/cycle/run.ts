// The cycle, in one screen: load -> observe -> plan -> guard -> apply -> verify -> record. It puts the steps in order and decides nothing
// itself. A focused cycle looks at a few scopes only (a policy edit, a grant that starts or ends) and leaves the rest to the next sweep.

import { ancestorsOf } from '../../core/interpret/effective.ts'
import { isReady } from '../../core/model/change.ts'
import { byScope, type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Difference } from '../../core/plan/diff.ts'
import type { Exclusion, Failure } from '../../core/plan/dispositions.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { entriesOf } from '../../core/plan/states.ts'
import type { ReadClient } from '../../ports.ts'
import { askMeasured } from '../collect/add-on.ts'
import { learnUsage, withDoubted } from '../collect/usage.ts'
import { learnBurned } from '../collect/usage-summary.ts'
import { foundBy, type Outcome, outcomeOf, showCycle, showPause, showPlan, showUsage } from '../conditions/show.ts'
import { readPause, type Workspace } from '../workspace.ts'
import { readCountedOn } from './count-on.ts'
import { dealPools, takeDeal } from './deal.ts'
import { forgetMarked } from './forgotten.ts'
import type { CycleOptions, Go } from './options.ts'
import type { Pass, PassReport } from './pass.ts'
import { runPasses } from './passes.ts'
import { probeReads } from './probe.ts'
import { noneAhead, sweep } from './read.ts'
import {
  endPlan,
  newlyUnknown,
  remember,
  rememberApprovals,
  rememberDeclared,
  rememberReviews,
  rememberRules,
  saveCounted,
  unknownScopes,
} from './record.ts'
import { noteSeen, observeSweep, seenIn } from './seen.ts'
import { unlessShown } from './shown.ts'
import {
  type DesiredState,
  desiredState,
  grantsFrozen,
  isLeftAlone,
  keptBack,
  type Planner,
  planFrom,
  type WorkspaceState,
} from './state.ts'
import { FRESH_MS } from './write/change.ts'
import { checkLateWrites, noteChecked } from './write/descendants.ts'
import { type RecoverInputs, recoverIntents } from './write/recover.ts'

export interface CycleReport extends Outcome {
  /** The first plan, as it was shown. */
  readonly planned: Planned
  /** What was asked of the scopes when the plan was made. */
  readonly view: DesiredState
  /** The plan as it looked after the writes. */
  readonly after: Planned
  readonly applied?: PassReport
  /** Why nothing was to be written at all. */
  readonly withheld?: string
}

/** Runs one cycle. Rejects when `stop` aborts it before its writes, or with a `LedgerError`. */
export async function reconcile(workspace: Workspace, state: WorkspaceState, options: CycleOptions): Promise<CycleReport> {
  const { clock, config, ledger } = workspace
  await ledger.load()
  const hasForgotten = await forgetMarked(workspace, state)
  const withheld = await whyNothingGoes(workspace)
  const planner: Planner = { ...workspace, settings: config, ...(withheld && { idle: withheld.reason }), ...watchedOf(workspace, options) }
  const startedAt = clock.now()
  const started = clock.monotonic()
  showPause(workspace)
  if (options.usage || hasForgotten) await refreshUsage(workspace, state, options.stop)
  if (options.alone) await askMeasured(workspace, state, options.stop)
  if (config.mode !== 'enforce') endPlan(ledger)
  const read = await observe(workspace, state, planner, options)
  if (!options.focus) forgetOthers(read.toRead, state)
  const view = deal(workspace, state, planner, await settle(workspace, state, planner, read, options))
  const plan = planMaker({ workspace, state, planner, options })
  const firstPlan = (alsoRead: ReadonlySet<ScopeKey>): Promise<Pass> =>
    plan(view, { ...(withheld && { excluded: () => withheld }), ...(options.approve && { approve: options.approve }) }, alsoRead)
  const seen = await firstPlan(NONE)
  const isNews = seen.planned.plan.changes.some(isReady) && (await establishReads(workspace, state, view, options))
  const countedSince = startedAt - config.intervalMs
  const again = await readCountedOn(seen.planned, countedSince, { workspace, state, view, ...(options.stop && { stop: options.stop }) })
  const first = isNews || again.size > 0 ? await firstPlan(again) : seen
  const observed = clock.monotonic()

  // What was released and is there by now is spent, also while nothing may be written.
  if (withheld) rememberApprovals(first.planned, ledger)
  // Holds are there for whoever approves them, also while somebody is asked.
  await ledger.commit()
  const go = withheld ?? (await agree(first.planned, options))
  const applied = 'kind' in go ? undefined : await carryOut({ workspace, state, options, startedAt, first, go, plan, planner, again })
  if (applied?.interrupted === 'paused') {
    await readPause(workspace)
    showPause(workspace)
  }
  const after = applied?.last.planned ?? first.planned
  const last = applied?.last.view ?? view
  const managed = last.toRead.filter((scope) => !isLeftAlone(scope, last))
  const part = (options.focus ?? options.slice)?.union(again).union(applied?.alsoRead ?? NONE)
  const looked = managed.filter((scope) => part?.has(scopeKey(scope)) ?? true)
  const outcome = outcomeOf({ after, applied, looked, readings: state.readings })
  if (config.mode === 'enforce' && !options.focus) rememberDeclared(after, outcome.result, state, ledger)
  if (applied?.fatal === undefined) await ledger.commit()
  const finished = clock.monotonic()
  const times = { startedAt, observeMs: observed - started, applyMs: finished - observed, totalMs: finished - started }
  showCycle(workspace, outcome, times, foundBy(workspace, { state, looked, applied }, outcome))
  return { ...outcome, planned: first.planned, view, after, ...(applied && { applied }), ...('kind' in go && { withheld: go.reason }) }
}

const NONE: ReadonlySet<ScopeKey> = new Set()

/** True when it is known since now what a read shows. */
async function establishReads(
  { client, clock, config, ledger }: Workspace,
  state: WorkspaceState,
  desired: DesiredState,
  { stop }: CycleOptions,
) {
  const before = seenIn(ledger)
  const seen = await probeReads({ client, clock, settings: config, seen: before, state, desired, ...(stop && { signal: stop }) })
  if (seen !== before) ledger.saveFact('seen', seen)
  return seen !== before
}

/** Audit mode, a pause and policies that were replaced keep everything back. */
async function whyNothingGoes(workspace: Workspace): Promise<Exclusion | undefined> {
  const kept = keptBack(workspace.config, await readPause(workspace))
  if (kept?.code === 'mode' || !workspace.lease?.isReplaced()) return kept
  const reason = 'another replica has had newer policies than this one; nothing is written until the files here follow'
  return { kind: 'excluded', code: 'replaced', reason }
}

/** What others changed is only watched while `onDrift` is `alert`; `apply` is somebody who wants it written. */
function watchedOf({ config }: Workspace, { confirm }: CycleOptions): Pick<Planner, 'watched'> {
  if (config.onDrift !== 'alert' || confirm) return {}
  const watched: Exclusion = { kind: 'excluded', code: 'onDrift', reason: 'onDrift is alert: foreign changes are shown and not reverted' }
  return { watched: ({ cause }) => (cause === 'external' ? watched : undefined) }
}

/** What the readings settle: open intents, how this deployment treats caps, scopes that the service does not know. */
async function settle(
  workspace: Workspace,
  state: WorkspaceState,
  planner: Planner,
  read: DesiredState,
  options: CycleOptions,
): Promise<DesiredState> {
  const { ledger, clock } = workspace
  // A sweep takes long: what was approved meanwhile counts.
  await ledger.load()
  noteSeen(ledger, observeSweep(seenIn(ledger), state.readings, read), clock)
  // As long as it is known when they were sent.
  await checkLateWrites({ workspace, state, view: read, ...(options.stop && { stop: options.stop }) })
  const closed = await recoverIntents(recoveryOf(workspace, state, read))
  noteChecked(closed, workspace)
  const left = newlyUnknown(read, state, clock.now())
  for (const one of left) ledger.saveQuarantined(one)
  rememberRules(state, workspace.config, ledger, clock.now())
  const isAsBefore = closed.length === 0 && left.length === 0 && read.grantsFrozen === grantsFrozen(state)
  return isAsBefore ? read : desiredState(state, planner)
}

/** Deals the pools. The deal is in the ledger before anything of it is written: the next commit comes before the writes. */
function deal({ ledger }: Workspace, state: WorkspaceState, planner: Planner, view: DesiredState): DesiredState {
  if (!takeDeal(dealPools(state, view, planner), state)) return view
  ledger.saveFact('pools', state.pools)
  return desiredState(state, planner)
}

interface Making {
  readonly workspace: Workspace
  readonly state: WorkspaceState
  readonly planner: Planner
  readonly options: CycleOptions
}

const QUIET: Exclusion = {
  kind: 'excluded',
  code: 'lease',
  reason: 'a write of the replica that held this workspace before may still land; it is read again when that is over',
}

/** Scopes with a write of the holder before, while that may still land. */
function quietScopes({ lease, ledger, clock }: Workspace): ReadonlySet<ScopeKey> {
  const untilAt = lease?.quietUntil() ?? Number.NEGATIVE_INFINITY
  return new Set(clock.now() < untilAt ? ledger.openIntents().map(({ change }) => scopeKey(change.scope)) : [])
}

/** `alsoRead`: scopes that were read again beyond those of a focused cycle. */
type PlanMaker = (view: DesiredState, more: Parameters<typeof planFrom>[3], alsoRead: ReadonlySet<ScopeKey>) => Promise<Pass>

/** Plans, remembers what the plan found out and shows it. A focused cycle writes its own scopes only. */
function planMaker({ workspace, state, planner, options }: Making): PlanMaker {
  return async (view, more = {}, alsoRead) => {
    const focus = options.focus && new Set([...options.focus, ...alsoRead])
    const left: Exclusion = { kind: 'excluded', code: 'focus', reason: 'left to the next sweep' }
    const quiet = quietScopes(workspace)
    const excluded = (one: Difference): Exclusion | undefined =>
      more.excluded?.(one) ?? (focus && !focus.has(one.key) ? left : undefined) ?? (quiet.has(one.key) ? QUIET : undefined)
    const planned = planFrom(state, view, planner, { ...more, excluded })
    remember(planned, view, state, workspace.ledger, workspace.clock.now())
    showPlan(workspace, planned, view)
    return { planned, view }
  }
}

async function agree(planned: Planned, { confirm }: CycleOptions): Promise<Go | Exclusion> {
  if (!confirm) return {}
  return (await confirm(planned)) ?? { kind: 'excluded', code: 'notShown', reason: 'declined' }
}

interface CarryOut extends Making {
  readonly startedAt: Instant
  readonly first: Pass
  readonly go: Go
  readonly plan: PlanMaker
  /** Scopes that were read again for the first plan. */
  readonly again: ReadonlySet<ScopeKey>
}

async function carryOut({ workspace, state, planner, options, startedAt, first, go, plan, again }: CarryOut): Promise<PassReport> {
  rememberApprovals(first.planned, workspace.ledger)
  rememberReviews(first.planned, first.view, state, workspace.ledger, workspace.digest)
  const isNew = acceptRoster(first.planned, state, workspace)
  // Who came with it was not read yet.
  if (isNew) await observe(workspace, state, planner, { readSince: startedAt, ...options })
  const replan = async (failed: ReadonlyMap<ScopeKey, Failure>, alsoRead: ReadonlySet<ScopeKey>): Promise<Pass> => {
    // What was read since the deal counts in the sums of pools.
    const view = deal(workspace, state, planner, desiredState(state, planner))
    const next = await plan(view, { failed, excluded: unlessShown(go, view) }, again.union(alsoRead))
    rememberApprovals(next.planned, workspace.ledger)
    return next
  }
  // Somebody who is asked takes their time.
  const since = workspace.clock.now() - FRESH_MS
  const cycle = { workspace, state, view: first.view, ...(options.stop && { stop: options.stop }) }
  const late = options.confirm ? await readCountedOn(first.planned, since, cycle) : NONE
  // The first plan was made before anybody agreed to a part of it, or with the roster or the readings of before.
  const start = isNew || go.mayWrite || late.size > 0 ? await replan(new Map(), late) : first
  return runPasses({ workspace, state, first: start, options, replan })
}

/** When a `rosterShrink` hold was approved, the roster that was doubted is good. Then it returns true. */
function acceptRoster(planned: Planned, state: WorkspaceState, workspace: Workspace): boolean {
  const { ledger } = workspace
  if (!planned.rosterAccepted || !state.usage?.doubted) return false
  state.usage = withDoubted(state.usage, workspace)
  ledger.saveFact('usage', state.usage)
  return true
}

/** Reads what is due and works the outlook out. */
async function observe(
  parts: { readonly client: ReadClient; readonly config: Workspace['config'] },
  state: WorkspaceState,
  planner: Planner,
  options: CycleOptions,
): Promise<DesiredState> {
  noneAhead(state.readings, planner.clock.now())
  const view = desiredState(state, planner)
  const focus = options.focus?.union(ancestorsOfAll(options.focus, view))
  const scopes = view.toRead.filter((scope) => isDue(scope, state, { ...options, ...(focus && { focus }) }))
  options.onSweep?.(scopes)
  await sweep({
    client: parts.client,
    scopes,
    concurrency: parts.config.rate.concurrency,
    readings: state.readings,
    urgent: options.focus !== undefined,
    ...(options.onReading && { onReading: options.onReading }),
    ...(options.stop && { signal: options.stop }),
  })
  state.clockSkewMs = parts.client.clockSkewMs()
  return view
}

/** Where reads show what applies, one tells what is set only beside readings of the same time from above. */
function ancestorsOfAll(scopes: ReadonlySet<ScopeKey>, { slots, people }: DesiredState): ReadonlySet<ScopeKey> {
  if (slots.model.reads !== 'inherited') return NONE
  return new Set([...scopes].flatMap((key) => ancestorsOf(key, people)))
}

function isDue(scope: Scope, state: WorkspaceState, { focus, slice, readSince }: CycleOptions): boolean {
  const key = scopeKey(scope)
  const readAt = state.readings.get(key)?.readAt
  // People cannot be counted without the wide scopes, so a focused cycle reads those that were never read.
  if (focus) return focus.has(key) || (scope.kind !== 'user' && readAt === undefined)
  if (readAt === undefined) return true
  return (slice?.has(key) ?? true) && (readSince === undefined || readAt < readSince)
}

/** What was read of scopes that nobody manages any more grows old, and must not count. */
function forgetOthers(managed: readonly Scope[], { readings }: WorkspaceState): void {
  const kept = new Set(managed.map(scopeKey))
  for (const key of readings.keys()) if (!kept.has(key)) readings.delete(key)
}

/** Reads roster, groups and balance, and records and shows what is believed. */
export async function refreshUsage(workspace: Workspace, state: WorkspaceState, signal?: AbortSignal): Promise<void> {
  const reading = await learnUsage(workspace.client, state, { ...workspace, settings: workspace.config }, signal)
  if (reading.facts) {
    workspace.ledger.saveFact('usage', reading.facts)
    saveCounted(state, workspace.ledger)
    await learnBurned(workspace, reading.facts)
  }
  showUsage(workspace, reading)
}

const recoveryOf = ({ ledger, clock, lease }: Workspace, state: WorkspaceState, view: DesiredState): RecoverInputs => {
  const desired = byScope(view.resolution.desired)
  return {
    ledger,
    clock,
    slots: view.slots,
    readings: state.readings,
    desiredAt: (key) => desired.get(key),
    ownedAt: (key) => view.owned.get(key),
    entryAt: entriesOf(view.resolution),
    unknown: new Set(unknownScopes(view, state).map(({ scope }) => scopeKey(scope))),
    isLeftAlone: (scope) => isLeftAlone(scope, view),
    quietUntil: lease?.quietUntil() ?? Number.NEGATIVE_INFINITY,
  }
}
