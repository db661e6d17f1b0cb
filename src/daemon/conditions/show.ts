// Tells the outside what a cycle did: the outcome in one word, the events, and what the view shows. It decides nothing about caps.
import type { Change, Disposition } from '../../core/model/change.ts'
import type { ReconcileResult } from '../../core/model/events.ts'
import { MOST_PASSES } from '../../core/model/limits.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { UsageReading } from '../collect/usage.ts'
import type { WriteResult } from '../cycle/outcome.ts'
import type { PassReport } from '../cycle/passes.ts'
import type { DesiredState } from '../cycle/state.ts'
import { report, type Workspace } from '../workspace.ts'
import { stand } from './standing.ts'

/** How a cycle ended. */
export interface Outcome {
  readonly result: ReconcileResult
  readonly message?: string
}

interface OutcomeInputs {
  readonly after: Planned
  readonly applied: PassReport | undefined
  readonly focus: ReadonlySet<ScopeKey> | undefined
  readonly toRead: readonly Scope[]
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
}

/** The first that fits: nothing could be done, done in part, held, done, nothing to do. */
export function outcomeOf(inputs: OutcomeInputs): Outcome {
  const { applied, after, focus } = inputs
  const looked = focus ? inputs.toRead.filter((scope) => focus.has(scopeKey(scope))) : inputs.toRead
  const unread = looked.flatMap((scope) => {
    const failure = inputs.readings.get(scopeKey(scope))?.failure
    return failure ? [`${scopeKey(scope)}: ${failure.message}`] : []
  })
  const results = [...(applied?.results ?? [])]
  const done = results.filter(([, { result }]) => result === 'applied').length
  const failed = results.filter(([, { result }]) => result !== 'applied' && result !== 'skipped')
  const left = applied ? leftIn(after) : []
  const message = applied?.fatal ?? applied?.refusal ?? [...failed.map(([key, { error }]) => `${key}: ${error}`), ...unread, ...left][0]
  const told = message === undefined ? {} : { message }
  const isShort = failed.length > 0 || unread.length > 0 || applied?.interrupted !== undefined
  const nothingWorked = done === 0 && (failed.length > 0 || applied?.fatal !== undefined || applied?.refusal !== undefined)
  if (nothingWorked || (looked.length > 0 && unread.length === looked.length)) return { result: 'error', ...told }
  if (isShort) return { result: 'partial', ...told }
  // What waits for a held change is held with it; nothing has failed.
  if (after.plan.holds.length > 0) return { result: 'held', ...(left.length > 0 && told) }
  if (left.length > 0) return { result: 'partial', ...told }
  return { result: done > 0 ? 'success' : 'noop' }
}

/** What remains to be written and is not held, in words. A focused cycle leaves the rest to the next sweep, and nothing is said of it. */
function leftIn({ plan }: Planned): readonly string[] {
  const isForSweep = new Set(plan.changes.flatMap(({ scope, disposition }) => (isFocus(disposition) ? [scopeKey(scope)] : [])))
  return plan.changes.flatMap(({ scope, disposition }) => {
    if (disposition.kind === 'deferred' && disposition.waitsFor && isForSweep.has(scopeKey(disposition.waitsFor))) return []
    if (disposition.kind === 'ready') return [`${scopeKey(scope)}: not written within ${MOST_PASSES} passes`]
    const isLeft = disposition.kind === 'deferred' || (disposition.kind === 'excluded' && disposition.code === 'notShown')
    return isLeft ? [`${scopeKey(scope)}: ${disposition.reason}`] : []
  })
}

const isFocus = (disposition: Disposition): boolean => disposition.kind === 'excluded' && disposition.code === 'focus'

/** The plan, its holds and the foreign changes it found, each told once. */
export function showPlan(workspace: Workspace, planned: Planned, outlook: DesiredState): void {
  workspace.shown = { ...workspace.shown, planned, outlook }
  report(workspace, { kind: 'planned', plan: planned.plan })
  showForeign(workspace, planned)
  showRejected(workspace, planned)
  const held = new Set(planned.plan.holds.map((hold) => hold.id))
  for (const hold of planned.plan.holds) {
    if (!workspace.heldSeen.has(hold.id)) report(workspace, { kind: 'held', hold })
    workspace.heldSeen.add(hold.id)
  }
  for (const id of workspace.heldSeen) {
    if (held.has(id)) continue
    workspace.heldSeen.delete(id)
    report(workspace, { kind: 'hold-released', id })
  }
}

/** Each scope that is left alone is told once, and again when it comes back after it was not. */
function showRejected(workspace: Workspace, planned: Planned): void {
  const { rejectedSeen } = workspace
  const rejected = new Set<string>()
  for (const { scope, code, message, severity } of planned.plan.problems) {
    if (!scope || severity !== 'error') continue
    const id = `${scopeKey(scope)} ${code}`
    rejected.add(id)
    if (!rejectedSeen.has(id)) report(workspace, { kind: 'rejected', scope, code, message })
    rejectedSeen.add(id)
  }
  for (const id of rejectedSeen) if (!rejected.has(id)) rejectedSeen.delete(id)
}

function showForeign(workspace: Workspace, planned: Planned): void {
  const { foreignSeen } = workspace
  const foreign = new Set<ScopeKey>()
  for (const change of planned.plan.changes) {
    if (change.cause !== 'external') continue
    const key = scopeKey(change.scope)
    foreign.add(key)
    if (foreignSeen.get(key) === change.from) continue
    foreignSeen.set(key, change.from)
    const verified = planned.owned.get(key)?.cap ?? change.to
    report(workspace, { kind: 'foreign-change', scope: change.scope, verified, observed: change.from })
  }
  for (const key of foreignSeen.keys()) if (!foreign.has(key)) foreignSeen.delete(key)
}

/** A key or a service that takes no write is told once, and again when it comes back after a cycle that could write. */
export function showRefusal(workspace: Workspace, { refusal, results }: PassReport): void {
  if (refusal !== undefined && workspace.refusalSeen === undefined) {
    report(workspace, { kind: 'warning', code: 'WRITES_REFUSED', message: `nothing can be written: ${refusal}` })
  }
  if (refusal !== undefined) workspace.refusalSeen = refusal
  else if (results.size > 0) workspace.refusalSeen = undefined
}

/** A pause that began or ended since it was last looked at. */
export function showPause(workspace: Workspace): void {
  const { pause, pauseSeen } = workspace
  if (pause?.pausedAt === pauseSeen?.pausedAt) return
  if (pauseSeen && !pause) report(workspace, { kind: 'resumed', pause: pauseSeen })
  if (pause) report(workspace, { kind: 'paused', pause })
  workspace.pauseSeen = pause
}

/** One change as it ended; a third value that was read back is a foreign change as well. */
export function showResult(workspace: Workspace, change: Change, { result, error, foreign }: WriteResult): void {
  const { scope } = change
  if (result !== 'skipped') report(workspace, { kind: 'change-finished', change, result, ...(error !== undefined && { error }) })
  if (foreign === undefined) return
  report(workspace, { kind: 'foreign-change', scope, verified: change.from, observed: foreign })
  // The next plan finds the same change: it was told.
  if (foreign !== 'unknown') workspace.foreignSeen.set(scopeKey(scope), foreign)
}

/** What was learnt of people, groups and the balance. */
export function showUsage(workspace: Workspace, reading: UsageReading): void {
  const { facts, warnings, balance } = reading
  stand(workspace, 'usage', warnings)
  const { balance: _, ...shown } = workspace.shown
  workspace.shown = { ...shown, ...(balance && { balance }) }
  report(workspace, {
    kind: 'usage-read',
    groups: facts?.groups ?? [],
    ...(facts && { roster: facts.roster }),
    ...(balance && { balance }),
  })
}

/** The cycle's end. */
export function showCycle(
  workspace: Workspace,
  outcome: Outcome,
  times: { readonly startedAt: Instant; readonly observeMs: number; readonly applyMs: number; readonly totalMs: number },
): void {
  const { startedAt, ...durations } = times
  const finishedAt = workspace.clock.now()
  workspace.attempted = true
  const isGood = outcome.result === 'success' || outcome.result === 'noop' || outcome.result === 'held'
  workspace.shown = {
    ...workspace.shown,
    lastCycle: { startedAt, finishedAt, ...outcome },
    ...(isGood && { lastSuccessAt: finishedAt }),
  }
  report(workspace, { kind: 'cycle-finished', ...outcome, ...durations })
}
