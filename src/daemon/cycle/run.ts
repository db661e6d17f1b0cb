// The cycle, in one screen: load -> observe -> plan -> guard -> apply -> verify -> record. It puts the steps in order and decides nothing
// itself. A focused cycle looks at a few scopes only (a policy edit, a grant that starts or ends) and leaves the rest to the next sweep.

import { widerThan } from '../../core/interpret/effective.ts'
import { isReady } from '../../core/model/change.ts'
import { byScope, type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Difference } from '../../core/plan/diff.ts'
import type { Exclusion, Failure } from '../../core/plan/dispositions.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { entriesOf } from '../../core/plan/states.ts'
import type { ReadClient } from '../../ports.ts'
import { askMeasured } from '../collect/add-on.ts'
import { learnBurned } from '../collect/burning.ts'
import { learnUsage, withDoubted } from '../collect/usage.ts'
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
import { noteSeen, seenIn, sweepSightings } from './seen.ts'
import { unlessShown } from './shown.ts'
import { type DesiredState, grantsFrozen, isLeftAlone, keptBack, outlook, type Planner, planFrom, type WorkspaceState } from './state.ts'
import { lookLate, noteLooked } from './write/beneath.ts'
import { FRESH_MS } from './write/change.ts'
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
export async function reconcile(workspace: Workspace, knowledge: WorkspaceState, options: CycleOptions): Promise<CycleReport> {
  const { clock, config, ledger } = workspace
  await ledger.load()
  const hasForgotten = await forgetMarked(workspace, knowledge)
  const withheld = await whyNothingGoes(workspace)
  const planner: Planner = { ...workspace, settings: config, ...(withheld && { idle: withheld.reason }), ...watchedOf(workspace, options) }
  const startedAt = clock.now()
  const started = clock.monotonic()
  showPause(workspace)
  if (options.usage || hasForgotten) await refreshUsage(workspace, knowledge, options.stop)
  if (options.alone) await askMeasured(workspace, knowledge, options.stop)
  if (config.mode !== 'enforce') endPlan(ledger)
  const read = await observe(workspace, knowledge, planner, options)
  if (!options.focus) forgetOthers(read.toRead, knowledge)
  const view = deal(workspace, knowledge, planner, await settle(workspace, knowledge, planner, read, options))
  const plan = planMaker({ workspace, knowledge, planner, options })
  const firstPlan = (alsoRead: ReadonlySet<ScopeKey>): Promise<Pass> =>
    plan(view, { ...(withheld && { excluded: () => withheld }), ...(options.approve && { approve: options.approve }) }, alsoRead)
  const seen = await firstPlan(NONE)
  const isNews = seen.planned.plan.changes.some(isReady) && (await establishReads(workspace, knowledge, view, options))
  const countedSince = startedAt - config.intervalMs
  const again = await readCountedOn(seen.planned, countedSince, { workspace, knowledge, view, ...(options.stop && { stop: options.stop }) })
  const first = isNews || again.size > 0 ? await firstPlan(again) : seen
  const observed = clock.monotonic()

  // What was released and is there by now is spent, also while nothing may be written.
  if (withheld) rememberApprovals(first.planned, ledger)
  // Holds are there for whoever approves them, also while somebody is asked.
  await ledger.commit()
  const go = withheld ?? (await agree(first.planned, options))
  const applied = 'kind' in go ? undefined : await carryOut({ workspace, knowledge, options, startedAt, first, go, plan, planner, again })
  if (applied?.interrupted === 'paused') {
    await readPause(workspace)
    showPause(workspace)
  }
  const after = applied?.last.planned ?? first.planned
  const last = applied?.last.view ?? view
  const managed = last.toRead.filter((scope) => !isLeftAlone(scope, last))
  const part = (options.focus ?? options.slice)?.union(again).union(applied?.alsoRead ?? NONE)
  const looked = managed.filter((scope) => part?.has(scopeKey(scope)) ?? true)
  const outcome = outcomeOf({ after, applied, looked, readings: knowledge.readings })
  if (config.mode === 'enforce' && !options.focus) rememberDeclared(after, outcome.result, knowledge, ledger)
  if (applied?.fatal === undefined) await ledger.commit()
  const finished = clock.monotonic()
  const times = { startedAt, observeMs: observed - started, applyMs: finished - observed, totalMs: finished - started }
  showCycle(workspace, outcome, times, foundBy(workspace, { knowledge, looked, applied }, outcome))
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
  knowledge: WorkspaceState,
  planner: Planner,
  read: DesiredState,
  options: CycleOptions,
): Promise<DesiredState> {
  const { ledger, clock } = workspace
  // A sweep takes long: what was approved meanwhile counts.
  await ledger.load()
  noteSeen(ledger, sweepSightings(seenIn(ledger), knowledge.readings, read), clock)
  // As long as it is known when they were sent.
  await lookLate({ workspace, knowledge, view: read, ...(options.stop && { stop: options.stop }) })
  const closed = await recoverIntents(recoveryOf(workspace, knowledge, read))
  noteLooked(closed, workspace)
  const left = newlyUnknown(read, knowledge, clock.now())
  for (const one of left) ledger.saveQuarantined(one)
  rememberRules(knowledge, workspace.config, ledger, clock.now())
  const isAsBefore = closed.length === 0 && left.length === 0 && read.grantsFrozen === grantsFrozen(knowledge)
  return isAsBefore ? read : outlook(knowledge, planner)
}

/** Deals the pools. The deal is in the ledger before anything of it is written: the next commit comes before the writes. */
function deal({ ledger }: Workspace, knowledge: WorkspaceState, planner: Planner, view: DesiredState): DesiredState {
  if (!takeDeal(dealPools(knowledge, view, planner), knowledge)) return view
  ledger.saveFact('pools', knowledge.pools)
  return outlook(knowledge, planner)
}

interface Making {
  readonly workspace: Workspace
  readonly knowledge: WorkspaceState
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
function planMaker({ workspace, knowledge, planner, options }: Making): PlanMaker {
  return async (view, more = {}, alsoRead) => {
    const focus = options.focus && new Set([...options.focus, ...alsoRead])
    const left: Exclusion = { kind: 'excluded', code: 'focus', reason: 'left to the next sweep' }
    const quiet = quietScopes(workspace)
    const excluded = (one: Difference): Exclusion | undefined =>
      more.excluded?.(one) ?? (focus && !focus.has(one.key) ? left : undefined) ?? (quiet.has(one.key) ? QUIET : undefined)
    const planned = planFrom(knowledge, view, planner, { ...more, excluded })
    remember(planned, view, knowledge, workspace.ledger, workspace.clock.now())
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

async function carryOut({ workspace, knowledge, planner, options, startedAt, first, go, plan, again }: CarryOut): Promise<PassReport> {
  rememberApprovals(first.planned, workspace.ledger)
  rememberReviews(first.planned, first.view, knowledge, workspace.ledger, workspace.digest)
  const isNew = acceptRoster(first.planned, knowledge, workspace)
  // Who came with it was not read yet.
  if (isNew) await observe(workspace, knowledge, planner, { readSince: startedAt, ...options })
  const replan = async (failed: ReadonlyMap<ScopeKey, Failure>, alsoRead: ReadonlySet<ScopeKey>): Promise<Pass> => {
    // What was read since the deal counts in the sums of pools.
    const view = deal(workspace, knowledge, planner, outlook(knowledge, planner))
    const next = await plan(view, { failed, excluded: unlessShown(go, view) }, again.union(alsoRead))
    rememberApprovals(next.planned, workspace.ledger)
    return next
  }
  // Somebody who is asked takes their time.
  const since = workspace.clock.now() - FRESH_MS
  const beneath = { workspace, knowledge, view: first.view, ...(options.stop && { stop: options.stop }) }
  const late = options.confirm ? await readCountedOn(first.planned, since, beneath) : NONE
  // The first plan was made before anybody agreed to a part of it, or with the roster or the readings of before.
  const start = isNew || go.mayWrite || late.size > 0 ? await replan(new Map(), late) : first
  return runPasses({ workspace, knowledge, first: start, options, replan })
}

/** When a `rosterShrink` hold was approved, the roster that was doubted is good. Then it returns true. */
function acceptRoster(planned: Planned, knowledge: WorkspaceState, workspace: Workspace): boolean {
  const { ledger } = workspace
  if (!planned.rosterAccepted || !knowledge.usage?.doubted) return false
  knowledge.usage = withDoubted(knowledge.usage, workspace)
  ledger.saveFact('usage', knowledge.usage)
  return true
}

/** Reads what is due and works the outlook out. */
async function observe(
  parts: { readonly client: ReadClient; readonly config: Workspace['config'] },
  knowledge: WorkspaceState,
  planner: Planner,
  options: CycleOptions,
): Promise<DesiredState> {
  noneAhead(knowledge.readings, planner.clock.now())
  const view = outlook(knowledge, planner)
  const focus = options.focus?.union(aboveThem(options.focus, view))
  const scopes = view.toRead.filter((scope) => isDue(scope, knowledge, { ...options, ...(focus && { focus }) }))
  options.onSweep?.(scopes)
  await sweep({
    client: parts.client,
    scopes,
    concurrency: parts.config.rate.concurrency,
    readings: knowledge.readings,
    urgent: options.focus !== undefined,
    ...(options.onReading && { onReading: options.onReading }),
    ...(options.stop && { signal: options.stop }),
  })
  knowledge.clockSkewMs = parts.client.clockSkewMs()
  return view
}

/** Where reads show what applies, one tells what is set only beside readings of the same time from above. */
function aboveThem(scopes: ReadonlySet<ScopeKey>, { slots, people }: DesiredState): ReadonlySet<ScopeKey> {
  if (slots.model.reads !== 'inherited') return NONE
  return new Set([...scopes].flatMap((key) => widerThan(key, people)))
}

function isDue(scope: Scope, knowledge: WorkspaceState, { focus, slice, readSince }: CycleOptions): boolean {
  const key = scopeKey(scope)
  const readAt = knowledge.readings.get(key)?.readAt
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
export async function refreshUsage(workspace: Workspace, knowledge: WorkspaceState, signal?: AbortSignal): Promise<void> {
  const reading = await learnUsage(workspace.client, knowledge, { ...workspace, settings: workspace.config }, signal)
  if (reading.facts) {
    workspace.ledger.saveFact('usage', reading.facts)
    saveCounted(knowledge, workspace.ledger)
    await learnBurned(workspace, reading.facts)
  }
  showUsage(workspace, reading)
}

const recoveryOf = ({ ledger, clock, lease }: Workspace, knowledge: WorkspaceState, view: DesiredState): RecoverInputs => {
  const desired = byScope(view.resolution.desired)
  return {
    ledger,
    clock,
    slots: view.slots,
    readings: knowledge.readings,
    desiredAt: (key) => desired.get(key),
    ownedAt: (key) => view.owned.get(key),
    entryAt: entriesOf(view.resolution),
    unknown: new Set(unknownScopes(view, knowledge).map(({ scope }) => scopeKey(scope))),
    isLeftAlone: (scope) => isLeftAlone(scope, view),
    quietUntil: lease?.quietUntil() ?? Number.NEGATIVE_INFINITY,
  }
}
