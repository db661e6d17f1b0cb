// The cycle, in one screen: load -> observe -> plan -> guard -> apply -> verify -> record. It puts the steps in order and decides nothing
// itself. A focused cycle looks at a few scopes only (a policy edit, a grant that starts or ends) and leaves the rest to the next sweep.

import { readingSightings } from '../../core/interpret/seen.ts'
import type { Change } from '../../core/model/change.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { ReadClient } from '../../ports.ts'
import { learnBurned } from '../collect/burning.ts'
import { learnUsage } from '../collect/usage.ts'
import { type Outcome, outcomeOf, showCycle, showPause, showPlan, showRefusal, showUsage } from '../conditions/show.ts'
import type { Workspace } from '../workspace.ts'
import type { ApplyReport } from './apply.ts'
import { execute, type Go } from './execute.ts'
import { finishLooks } from './looks.ts'
import { sweep } from './read.ts'
import { endPlan, remember, rememberApprovals, rememberDeclared, rememberUnknown, unknownScopes } from './record.ts'
import { type RecoverInputs, recoverIntents } from './recover.ts'
import { noteSeen, seenIn } from './seen.ts'
import { grantsFrozen, isLeftAlone, type Knowledge, type Outlook, outlook, type Planner, planFrom } from './state.ts'

export interface CycleOptions {
  /** Roster, groups and balance are due. */
  readonly usage: boolean
  /** Only these scopes are read and written; absent: a whole sweep. */
  readonly focus?: ReadonlySet<ScopeKey>
  /** A sweep that was interrupted goes on: scopes read since then are not read again. */
  readonly readSince?: Instant
  /** Aborts to stop early: reads at once, writes before the next one. */
  readonly stop?: AbortSignal
  /** Aborts to cut even a write in flight. */
  readonly cut?: AbortSignal
  readonly leaving?: () => boolean
  /** Ids given by `apply --approve`. */
  readonly approve?: readonly string[]
  /** `apply`: asks, and may narrow what is written to the scopes of a saved plan; undefined declines. */
  readonly confirm?: (planned: Planned) => Promise<Go | undefined>
  readonly onReading?: (reading: CapReading) => void
  readonly onSweep?: (scopes: readonly Scope[]) => void
}

export type { Go } from './execute.ts'

export interface CycleReport extends Outcome {
  readonly planned: Planned
  /** What was asked of the scopes when the plan was made. */
  readonly view: Outlook
  /** The plan as it looked after the writes. */
  readonly after: Planned
  readonly applied?: ApplyReport
  /** Why nothing was to be written at all. */
  readonly withheld?: string
}

/** Runs one cycle. Rejects when `stop` aborts it before its writes, or with a `LedgerError`. */
export async function reconcile(workspace: Workspace, knowledge: Knowledge, options: CycleOptions): Promise<CycleReport> {
  const { clock, config, ledger } = workspace
  const isWatched = workspace.config.onDrift === 'alert' && !options.confirm
  const idle = workspace.config.mode !== 'enforce' || ledger.pause(clock.now()) !== undefined
  const planner: Planner = { ...workspace, settings: workspace.config, idle, ...(isWatched && { writable: isOurs }) }
  const startedAt = clock.now()
  const started = clock.monotonic()
  showPause(workspace)
  if (options.usage) await refreshUsage(workspace, knowledge, options.stop)
  if (workspace.config.mode !== 'enforce') endPlan(ledger)
  const before = await observe(workspace, knowledge, planner, options)
  if (!options.focus) forgetOthers(before.toRead, knowledge)
  if (config.capSemantics === 'layered') {
    const evidence = finishLooks(ledger, knowledge.readings, clock.now())
    if (evidence !== undefined) ledger.saveFact('copyingSeen', { at: clock.now(), evidence })
  }
  noteSeen(ledger, readingSightings(seenIn(ledger), knowledge.readings), clock)
  const closed = recoverIntents(recoveryOf(workspace, knowledge, before))
  const left = rememberUnknown(before, knowledge, ledger, clock.now())
  const isAsBefore = closed === 0 && left === 0 && before.grantsFrozen === grantsFrozen(knowledge)
  const view = isAsBefore ? before : outlook(knowledge, planner)
  const plan = (only = options.focus): Planned => {
    const approve = options.approve ? { approve: options.approve } : {}
    const built = planFrom(knowledge, view, planner, { ...approve, ...(only && { only }) })
    remember(built, view, knowledge, ledger, clock.now())
    showPlan(workspace, built, view)
    return built
  }
  const whole = plan()
  const observed = clock.monotonic()

  const go = await choose(workspace, whole, options)
  // Guards had judged everything; what was chosen must stand by itself.
  const planned = options.confirm && 'only' in go ? plan(go.only) : whole
  const isAccepted = (!options.confirm || !('withheld' in go)) && keepApprovals(planned, knowledge, workspace)
  const goes = isAccepted && !('withheld' in go) ? { only: stillManaged(planned, go, outlook(knowledge, planner)) } : go
  const applied = 'withheld' in goes ? undefined : await execute({ workspace, knowledge, planner, planned, view, go: goes, options })
  workspace.ledgerFailed = applied?.fatal !== undefined
  if (applied) showRefusal(workspace, applied)
  if (applied?.interrupted === 'paused') showPause(workspace)
  const after = applied && applied.results.size > 0 ? replan(workspace, knowledge, planner) : planned
  const outcome = outcomeOf({
    planned,
    after,
    applied,
    focus: options.focus,
    toRead: view.toRead.filter((scope) => !isLeftAlone(scope, view)),
    readings: knowledge.readings,
  })
  if (workspace.config.mode === 'enforce' && !options.focus) rememberDeclared(after, outcome.result, knowledge, ledger)
  const finished = clock.monotonic()
  showCycle(workspace, outcome, {
    startedAt,
    observeMs: observed - started,
    applyMs: finished - observed,
    totalMs: finished - started,
  })
  return { ...outcome, planned, view, after, ...(applied && { applied }), ...('withheld' in go && { withheld: go.withheld }) }
}

/** Reads what is due and works the outlook out. */
async function observe(
  parts: { readonly client: ReadClient; readonly config: Workspace['config'] },
  knowledge: Knowledge,
  planner: Planner,
  options: CycleOptions,
): Promise<Outlook> {
  const view = outlook(knowledge, planner)
  const scopes = view.toRead.filter((scope) => isDue(scope, knowledge, options))
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

function isDue(scope: Scope, knowledge: Knowledge, { focus, readSince }: CycleOptions): boolean {
  const key = scopeKey(scope)
  const readAt = knowledge.readings.get(key)?.readAt
  // People cannot be counted without the wide scopes, so a focused cycle reads those that were never read.
  if (focus) return focus.has(key) || (scope.kind !== 'user' && readAt === undefined)
  return readSince === undefined || readAt === undefined || readAt < readSince
}

/** What was read of scopes that nobody manages any more grows old, and must not count. */
function forgetOthers(managed: readonly Scope[], { readings }: Knowledge): void {
  const kept = new Set(managed.map(scopeKey))
  for (const key of readings.keys()) if (!kept.has(key)) readings.delete(key)
}

/** Reads roster, groups and balance, and records and shows what is believed. */
export async function refreshUsage(workspace: Workspace, knowledge: Knowledge, signal?: AbortSignal): Promise<void> {
  const reading = await learnUsage(workspace.client, knowledge, { ...workspace, settings: workspace.config }, signal)
  if (reading.facts) {
    workspace.ledger.saveFact('usage', reading.facts)
    learnBurned(workspace, reading.facts)
  }
  showUsage(workspace, reading)
}

/** What may be written now: nothing in audit mode or while paused, else what no guard holds. */
async function choose(workspace: Workspace, planned: Planned, options: CycleOptions): Promise<Go | { readonly withheld: string }> {
  const { config, ledger, clock } = workspace
  if (config.mode !== 'enforce') return { withheld: `mode is ${config.mode}` }
  const pause = ledger.pause(clock.now())
  if (pause) return { withheld: `paused until ${new Date(pause.untilAt).toISOString()} (${pause.reason})` }
  if (options.confirm) return (await options.confirm(planned)) ?? { withheld: 'declined' }
  if (config.onDrift === 'heal') return options.focus ? { only: options.focus } : {}
  const ours = planned.plan.changes.filter(isOurs).map((change) => scopeKey(change.scope))
  return { only: new Set(ours.filter((key) => options.focus?.has(key) !== false)) }
}

/** What others changed is only watched while `onDrift` is `alert`. */
const isOurs = ({ cause }: Pick<Change, 'cause'>): boolean => cause !== 'external'

function replan(workspace: Workspace, knowledge: Knowledge, planner: Planner): Planned {
  const view = outlook(knowledge, planner)
  const after = planFrom(knowledge, view, planner)
  remember(after, view, knowledge, workspace.ledger, workspace.clock.now())
  rememberApprovals(after, workspace.ledger)
  showPlan(workspace, after, view)
  return after
}

/** Saves approvals, and what follows when a `rosterShrink` hold was approved: the roster that was doubted is good. Then it returns true. */
function keepApprovals(planned: Planned, knowledge: Knowledge, { ledger }: Workspace): boolean {
  rememberApprovals(planned, ledger)
  if (!planned.rosterAccepted || !knowledge.usage?.doubted) return false
  const { doubted, ...rest } = knowledge.usage
  knowledge.usage = { ...rest, roster: doubted.roster }
  ledger.saveFact('usage', knowledge.usage)
  return true
}

/** The plan was made with the roster of before: whoever is away on the new one is not written. */
const stillManaged = ({ plan }: Planned, { only }: Go, view: Outlook): ReadonlySet<ScopeKey> => {
  const managed = plan.changes.filter(({ scope }) => !isLeftAlone(scope, view)).map(({ scope }) => scopeKey(scope))
  return new Set(only ? managed.filter((key) => only.has(key)) : managed)
}

const recoveryOf = ({ ledger, clock }: Workspace, knowledge: Knowledge, view: Outlook): RecoverInputs => ({
  ledger,
  clock,
  readings: knowledge.readings,
  desired: desiredOf(view),
  wider: view.wider,
  unknown: new Set(unknownScopes(view, knowledge).map(({ scope }) => scopeKey(scope))),
  isLeftAlone: (scope) => isLeftAlone(scope, view),
})

const desiredOf = (view: Outlook) => new Map(view.resolution.desired.map((one) => [scopeKey(one.scope), one]))
