// Tells the outside what a cycle did: the outcome in one word, what happened, what holds by now, and what the view shows. It decides nothing
// about caps.
import type { Change, Disposition } from '../../core/model/change.ts'
import type { Finding } from '../../core/model/condition.ts'
import type { ReconcileResult } from '../../core/model/events.ts'
import type { PoolOfDay } from '../../core/model/journal.ts'
import { MOST_PASSES } from '../../core/model/limits.ts'
import type { CapReading } from '../../core/model/observed.ts'
import { byScope, type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { type Instant, wholeCents } from '../../core/model/units.ts'
import type { Planned } from '../../core/plan/plan.ts'
import type { UsageReading } from '../collect/usage.ts'
import type { PassReport } from '../cycle/pass.ts'
import { seenIn } from '../cycle/seen.ts'
import type { DesiredState, WorkspaceState } from '../cycle/state.ts'
import type { WriteResult } from '../cycle/write/outcome.ts'
import { report, type Workspace } from '../workspace.ts'
import {
  cycleFindings,
  deploymentFindings,
  foreignFinding,
  foreignFindings,
  LATE_MS,
  pauseFindings,
  planFindings,
  refusalFindings,
  rosterFindings,
  serviceFindings,
} from './findings.ts'
import { type Found, notice } from './notice.ts'
import { poolsOfCycle } from './view.ts'

/** How a cycle ended. */
export interface Outcome {
  readonly result: ReconcileResult
  readonly message?: string
}

interface OutcomeInputs {
  readonly after: Planned
  readonly applied: PassReport | undefined
  /** The scopes that were to be read by it. */
  readonly scopes: readonly Scope[]
  readonly readings: ReadonlyMap<ScopeKey, CapReading>
}

/** The first that fits: nothing could be done, done in part, held, done, nothing to do. */
export function outcomeOf(inputs: OutcomeInputs): Outcome {
  const { applied, after, scopes } = inputs
  const unread = scopes.flatMap((scope) => {
    const failure = inputs.readings.get(scopeKey(scope))?.failure
    return failure ? [`${scopeKey(scope)}: ${failure.message}`] : []
  })
  const results = [...(applied?.results ?? [])]
  const done = results.filter(([, { result }]) => result === 'applied').length
  const failed = results.filter(([, { result }]) => result !== 'applied' && result !== 'skipped')
  const waiting = applied ? leftIn(after) : []
  const left = waiting.filter(({ isHeld }) => !isHeld)
  const halted = applied?.interrupted === undefined ? [] : [HALTS[applied.interrupted]]
  const failures = failed.map(([key, { error }]) => `${key}: ${error}`)
  const message =
    applied?.fatal ?? applied?.refusal ?? [...failures, ...unread, ...halted, ...[...left, ...waiting].map(({ why }) => why)][0]
  const told = message === undefined ? {} : { message }
  const isShort = failed.length > 0 || unread.length > 0 || applied?.interrupted !== undefined
  const nothingWorked = done === 0 && (failed.length > 0 || applied?.fatal !== undefined || applied?.refusal !== undefined)
  if (nothingWorked || (scopes.length > 0 && unread.length === scopes.length)) return { result: 'error', ...told }
  if (isShort || left.length > 0) return { result: 'partial', ...told }
  if (after.plan.holds.length > 0) return { result: 'held', ...told }
  return { result: done > 0 ? 'success' : 'noop' }
}

/** Why writing ended before its end. */
const HALTS: Readonly<Record<NonNullable<PassReport['interrupted']>, string>> = {
  stopped: 'what was still to be written is left: the daemon was told to stop, or the policy changed',
  paused: 'what was still to be written is left: a pause began',
  ledger: 'what was still to be written is left: the ledger could not record it',
  refused: 'what was still to be written is left: the service takes no writes',
  breaker: 'what was still to be written is left: too many writes failed',
}

interface Left {
  readonly why: string
  /** It waits for a held change, and is held with it: nothing has failed. */
  readonly isHeld: boolean
}

/** What remains to be written and is not held itself. A focused cycle leaves the rest to the next sweep, and nothing is said of it. */
function leftIn({ plan }: Planned): readonly Left[] {
  const changes = byScope(plan.changes)
  return plan.changes.flatMap(({ scope, disposition }): readonly Left[] => {
    const left = (reason: string, isHeld = false): readonly Left[] => [{ why: `${scopeKey(scope)}: ${reason}`, isHeld }]
    if (disposition.kind === 'ready') return left(`not written within ${MOST_PASSES} passes`)
    if (disposition.kind === 'excluded') return disposition.code === 'notShown' ? left(disposition.reason) : []
    if (disposition.kind === 'held') return []
    const last = awaitedBy(disposition, changes)
    return isFocus(last) ? [] : left(disposition.reason, last.kind === 'held')
  })
}

/** What a change waits for in the end. */
function awaitedBy(first: Disposition, changes: ReadonlyMap<ScopeKey, Change>): Disposition {
  let last = first
  for (let steps = 0; last.kind === 'deferred' && last.waitsFor && steps < changes.size; steps += 1) {
    const next = changes.get(scopeKey(last.waitsFor))
    if (!next) break
    last = next.disposition
  }
  return last
}

const isFocus = (disposition: Disposition): boolean => disposition.kind === 'excluded' && disposition.code === 'focus'

/** Pools that are recorded by day. Choice. */
const MOST_POOLS = 50

/** Pools as they stand in the cycle of the last reading. */
function poolsOfDay(workspace: Workspace): Readonly<Record<string, PoolOfDay>> | undefined {
  const known = poolsOfCycle(workspace).map(({ name, credits, figures: { used, dealt } }): readonly [string, PoolOfDay] => [
    name,
    { credits, used: wholeCents(used), ...(dealt !== undefined && { dealt: wholeCents(dealt) }) },
  ])
  return known.length === 0 ? undefined : Object.fromEntries(known.slice(0, MOST_POOLS))
}

/** The plan, and what it found. */
export function showPlan(workspace: Workspace, planned: Planned, desiredState: DesiredState): void {
  workspace.shown = { ...workspace.shown, planned, desiredState }
  const pools = poolsOfDay(workspace)
  report(workspace, { kind: 'planned', plan: planned.plan, ...(pools && { pools }) })
  const shown = workspace.ledger.fact('holdsShown') ?? {}
  const { clock, ledger, state } = workspace
  const since = clock.now() - LATE_MS
  const readings = state?.readings ?? new Map()
  const foreignNow = foreignFindings(planned, readings, (scope) => ledger.writtenLately(scope, since))
  const found = workspace.findings.foreign ? foreignNow : foreignNow.map((finding) => fromLedger(finding, ledger))
  const foreign = [...found, ...standing(workspace.findings.foreign ?? [], planned, readings)]
  notice(workspace, { foreign, plan: planFindings(planned, desiredState, shown) })
}

/** What stood already when another process found it. */
function fromLedger(finding: Finding, ledger: Workspace['ledger']): Finding {
  const { scope, version } = finding
  const key = scope && scopeKey(scope)
  if (!key || ledger.fact('driftSince')?.[key] === undefined) return finding
  const last = ledger.fact('journal')?.findLast((entry) => entry.kind === 'foreign' && scopeKey(entry.scope) === key)
  const isSame = last?.kind === 'foreign' && String(last.observed) === version && ledger.writtenLately(scope, last.at).length === 0
  return isSame ? { ...finding, since: last.at, remembered: true } : finding
}

/** A value of others that stands while policy asks for something else, or cannot be read for a while, is no news when it is met again. */
function standing(known: readonly Finding[], { plan }: Planned, readings: WorkspaceState['readings']): readonly Finding[] {
  const differs = new Set(plan.changes.map(({ scope }) => scopeKey(scope)))
  return known.filter(({ scope, version }) => {
    const key = scope && scopeKey(scope)
    const observed = key && readings.get(key)?.observed
    return observed === 'unknown' || (key && differs.has(key) && String(observed) === version)
  })
}

/** A pause that began or ended since it was last looked at. */
export function showPause(workspace: Workspace): void {
  notice(workspace, { pause: pauseFindings(workspace.pause, workspace.config.name) })
}

/** One change as it ended; a third value that was read back is a foreign change as well. */
export function showResult(workspace: Workspace, change: Change, { result, error, foreign }: WriteResult): void {
  const { scope } = change
  if (result !== 'skipped') report(workspace, { kind: 'change-finished', change, result, ...(error !== undefined && { error }) })
  // The next plan finds the same change, and it is no news then.
  const { foreign: others = [] } = workspace.findings
  if (foreign !== undefined)
    notice(workspace, {
      foreign: [foreignFinding(scope, change.from, foreign, workspace.state?.readings.get(scopeKey(scope))), ...others],
    })
}

/** What was learnt of people, groups and the balance. */
export function showUsage(workspace: Workspace, reading: UsageReading): void {
  const { facts, findings, balance } = reading
  const { clock, config } = workspace
  notice(workspace, { usage: [...findings, ...rosterFindings(facts, clock.now(), config.name)] })
  const { balance: _, ...shown } = workspace.shown
  workspace.shown = { ...shown, ...(balance && { balance }) }
  report(workspace, {
    kind: 'usage-read',
    groups: facts?.groups ?? [],
    ...(facts && { roster: facts.roster }),
    ...(balance && { balance }),
  })
}

interface CycleSeen {
  readonly state: WorkspaceState
  readonly scopes: readonly Scope[]
  readonly applied: PassReport | undefined
}

/** What a cycle says of the service, the key and the ledger. Where nothing was looked at, or tried, it is as it was. */
export function foundBy(workspace: Workspace, { state, scopes, applied }: CycleSeen, outcome: Outcome): Found {
  const { ledger, config } = workspace
  const { caps } = seenIn(ledger)
  const copying = caps?.value === 'copied' && config.capSemantics === 'layered' ? caps : undefined
  const isTried = applied && (applied.refusal !== undefined || applied.results.size > 0)
  return {
    deployment: deploymentFindings(state, copying, config.name),
    ...(scopes.length > 0 && { service: serviceFindings(scopes, state.readings, config.name) }),
    ...(isTried && { writes: refusalFindings(applied.refusal, applied.isKey === true) }),
    cycle: cycleFindings(outcome, applied?.fatal !== undefined, config.name),
  }
}

/** The cycle's end, and what it found. */
export function showCycle(
  workspace: Workspace,
  outcome: Outcome,
  times: { readonly startedAt: Instant; readonly observeMs: number; readonly applyMs: number; readonly totalMs: number },
  found: Found,
): void {
  const { startedAt, ...durations } = times
  const finishedAt = workspace.clock.now()
  notice(workspace, found)
  workspace.attempted = true
  const isGood = outcome.result === 'success' || outcome.result === 'noop' || outcome.result === 'held'
  workspace.shown = {
    ...workspace.shown,
    lastCycle: { startedAt, finishedAt, ...outcome },
    ...(isGood && { lastSuccessAt: finishedAt }),
  }
  report(workspace, { kind: 'cycle-finished', ...outcome, ...durations })
}
