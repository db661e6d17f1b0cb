// Shows what a cycle did: its outcome in one word, its events, its findings, and what the view shows. It decides nothing about caps.
import type { Change, Disposition } from '../../core/model/change.ts'
import type { Finding } from '../../core/model/condition.ts'
import type { CycleStatus, PoolOfDay, PoolStatus } from '../../core/model/events.ts'
import { byScope, type Scope, type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import { type Instant, MOST_PASSES, wholeCents } from '../../core/model/units.ts'
import type { Planned } from '../../core/plan/plan.ts'
import { figuresIn } from '../../core/pools/figures.ts'
import type { UsageReading } from '../collect/usage.ts'
import type { PassReport } from '../cycle/options.ts'
import { seenIn } from '../cycle/read.ts'
import { cycleOf, type DesiredState, type WorkspaceState } from '../cycle/state.ts'
import type { WriteResult } from '../cycle/write/outcome.ts'
import { type Found, notice, report, type Workspace } from '../workspace.ts'
import {
  cycleFindings,
  deploymentFindings,
  fileFindings,
  foreignFinding,
  foreignFindings,
  LATE_MS,
  pauseFindings,
  planFindings,
  refusalFindings,
  rosterFindings,
  serviceFindings,
  viewerFindings,
} from './findings.ts'

/** How a cycle ended. */
export type Outcome = Pick<CycleStatus, 'result' | 'message'>

/** The end of a cycle. */
interface CycleEnd {
  readonly state: WorkspaceState
  readonly after: Planned
  readonly applied: PassReport | undefined
  /** The scopes that the cycle was to read. */
  readonly scopes: readonly Scope[]
}

/** The first that fits: error (nothing worked), partial, held, success, noop. */
export function outcomeOf({ state, applied, after, scopes }: CycleEnd): Outcome {
  const unread = scopes.flatMap((scope) => {
    const failure = state.readings.get(scopeKey(scope))?.failure
    return failure ? [`${scopeKey(scope)}: ${failure.message}`] : []
  })
  const results = [...(applied?.results ?? [])]
  const done = results.filter(([, { result }]) => result === 'applied').length
  const failed = results.filter(([, { result }]) => result !== 'applied' && result !== 'skipped')
  const pending = applied ? pendingIn(after) : []
  const unwritten = pending.filter(({ isHeld }) => !isHeld)
  const halted = applied?.interrupted === undefined ? [] : [HALTS[applied.interrupted]]
  const failures = failed.map(([key, { error }]) => `${key}: ${error}`)
  const message =
    applied?.fatal ?? applied?.refusal ?? [...failures, ...unread, ...halted, ...[...unwritten, ...pending].map(({ why }) => why)][0]
  const isShort = failed.length > 0 || unread.length > 0 || applied?.interrupted !== undefined
  const nothingWorked = done === 0 && (failed.length > 0 || applied?.fatal !== undefined || applied?.refusal !== undefined)
  if (nothingWorked || (scopes.length > 0 && unread.length === scopes.length)) return { result: 'error', message }
  if (isShort || unwritten.length > 0) return { result: 'partial', message }
  if (after.plan.holds.length > 0) return { result: 'held', message }
  return { result: done > 0 ? 'success' : 'noop' }
}

/** Why writing ended early. */
const HALTS: Readonly<Record<NonNullable<PassReport['interrupted']>, string>> = {
  stopped: 'the remaining changes were not written: the daemon was told to stop, the policy changed, or a grant starts or ends',
  paused: 'the remaining changes were not written: a pause began',
  ledger: 'the remaining changes were not written: the ledger could not record it',
  refused: 'the remaining changes were not written: the service takes no writes',
  breaker: 'the remaining changes were not written: too many writes failed',
}

/** Changes that remain to be written and are not held themselves, without those that a focused cycle leaves to the next sweep. */
function pendingIn({ plan }: Planned) {
  const changes = byScope(plan.changes)
  return plan.changes.flatMap(({ scope, disposition }) => {
    // One that waits for a held change: nothing has failed.
    const pending = (reason: string, isHeld = false) => [{ why: `${scopeKey(scope)}: ${reason}`, isHeld }]
    if (disposition.kind === 'ready') return pending(`not written within ${MOST_PASSES} passes`)
    if (disposition.kind === 'excluded') return disposition.code === 'notShown' ? pending(disposition.reason) : []
    if (disposition.kind === 'held') return []
    const last = awaitedBy(disposition, changes)
    return isFocus(last) ? [] : pending(disposition.reason, last.kind === 'held')
  })
}

/** The disposition that a deferred change waits for in the end. */
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

/** At most so many pools are recorded by day. Choice. */
const MOST_POOLS = 50

/** The figures of the pools for the journal. */
function poolsOfDay(workspace: Workspace): Readonly<Record<string, PoolOfDay>> | undefined {
  const known = knownPools(workspace).map(({ name, credits, figures: { used, dealt } }): readonly [string, PoolOfDay] => [
    name,
    { credits, used: wholeCents(used), dealt: dealt === undefined ? undefined : wholeCents(dealt) },
  ])
  return known.length === 0 ? undefined : Object.fromEntries(known.slice(0, MOST_POOLS))
}

export type Viewed = Pick<Workspace, 'state' | 'shown'> & Partial<Pick<Workspace, 'before'>>

/** The state under the present settings, or until there is one that under those before. */
export const knownState = ({ state, before }: Viewed): WorkspaceState | undefined => state ?? before

/** Pools as of the last pass. Figures of a billing cycle that is over are not shown. */
export function poolsShown(workspace: Viewed): readonly PoolStatus[] {
  const { shown } = workspace
  const state = knownState(workspace)
  const cycle = cycleOf(state?.usage)
  return (shown.desiredState?.resolution.pools ?? []).map(({ pool }): PoolStatus => {
    const { name, credits } = pool
    const poolState = state && Object.hasOwn(state.pools, name) ? state.pools[name] : undefined
    const frozen = state && Object.hasOwn(state.frozenPools, name) ? state.frozenPools[name] : undefined
    return {
      name,
      credits,
      figures: figuresIn(cycle, pool, poolState),
      dealtAt: poolState?.dealtAt,
      frozen,
    }
  })
}

type KnownPool = PoolStatus & Required<Pick<PoolStatus, 'figures'>>

/** Pools with figures. */
export const knownPools = (workspace: Viewed): readonly KnownPool[] =>
  poolsShown(workspace).filter((one): one is KnownPool => one.figures !== undefined)

/** Shows a plan, and notices its findings. */
export function showPlan(workspace: Workspace, planned: Planned, desiredState: DesiredState): void {
  workspace.shown = { ...workspace.shown, planned, desiredState }
  const pools = poolsOfDay(workspace)
  report(workspace, { kind: 'planned', plan: planned.plan, pools })
  const shown = workspace.ledger.fact('holdsShown') ?? {}
  const { clock, ledger, state } = workspace
  const since = clock.now() - LATE_MS
  const readings = state?.readings ?? new Map()
  const foreignNow = foreignFindings(planned, readings, (scope) => ledger.writtenLately(scope, since))
  const found = workspace.findings.foreign ? foreignNow : foreignNow.map((finding) => fromLedger(finding, ledger))
  const foreign = [...found, ...lasting(workspace.findings.foreign ?? [], planned, readings)]
  const viewers = state ? viewerFindings(workspace.groupsShown?.() ?? [], state, workspace.config.name) : []
  notice(workspace, {
    foreign,
    plan: planFindings(planned, desiredState, { shown, loaded: workspace.shown.policy?.problems ?? [] }),
    viewers,
  })
}

/** Dates a foreign change that another process has found before, so that it is no news. */
function fromLedger(finding: Finding, ledger: Workspace['ledger']): Finding {
  const { scope, version } = finding
  const key = scope && scopeKey(scope)
  if (!key || ledger.fact('driftSince')?.[key] === undefined) return finding
  const last = ledger.fact('journal')?.findLast((entry) => entry.kind === 'foreign' && scopeKey(entry.scope) === key)
  const isSame = last?.kind === 'foreign' && String(last.observed) === version && ledger.writtenLately(scope, last.at).length === 0
  return isSame ? { ...finding, since: last.at, remembered: true } : finding
}

/** Known foreign changes that are still there, or cannot be read now: they must not become news again. */
function lasting(known: readonly Finding[], { plan }: Planned, readings: WorkspaceState['readings']): readonly Finding[] {
  const differs = new Set(plan.changes.map(({ scope }) => scopeKey(scope)))
  return known.filter(({ scope, version }) => {
    const key = scope && scopeKey(scope)
    const observed = key && readings.get(key)?.observed
    return observed === 'unknown' || (key && differs.has(key) && String(observed) === version)
  })
}

/** Shows the pause that was last read, or its end. */
export function showPause(workspace: Workspace): void {
  notice(workspace, { pause: pauseFindings(workspace.pause, workspace.config.name) })
}

/** Shows how a change ended; a third value that was read back is a foreign change. */
export function showResult(workspace: Workspace, change: Change, { result, error, foreign }: WriteResult): void {
  const { scope } = change
  if (result !== 'skipped') report(workspace, { kind: 'change-finished', change, result, error })
  // Kept with the other findings, so that the next plan, which finds it again, makes no news of it.
  const { foreign: others = [] } = workspace.findings
  if (foreign !== undefined)
    notice(workspace, {
      foreign: [foreignFinding(scope, change.from, foreign, workspace.state?.readings.get(scopeKey(scope))), ...others],
    })
}

/** Shows a reading of people, groups and the balance. */
export function showUsage(workspace: Workspace, reading: UsageReading): void {
  const { facts, findings, balance } = reading
  notice(workspace, { usage: [...findings, ...rosterFindings(facts, workspace.config.name)] })
  const { balance: _, ...shown } = workspace.shown
  workspace.shown = { ...shown, balance }
  report(workspace, {
    kind: 'usage-read',
    groups: facts?.groups ?? [],
    roster: facts?.roster,
    balance,
  })
}

/** The findings of a cycle about the service, the key and the ledger. Sources that it did not read or try keep theirs. */
export function foundBy(workspace: Workspace, { state, scopes, applied }: CycleEnd, outcome: Outcome): Found {
  const { ledger, config } = workspace
  const { caps } = seenIn(ledger)
  const copying = caps?.value === 'copied' && config.capSemantics === 'layered' ? caps : undefined
  const isTried = applied && (applied.refusal !== undefined || applied.results.size > 0)
  return {
    files: fileFindings(workspace.client.filesKept?.() ?? [], config.name),
    deployment: deploymentFindings(workspace.client, copying, config.name),
    ...(scopes.length > 0 && { service: serviceFindings(scopes, state.readings, config.name) }),
    ...(isTried && { writes: refusalFindings(applied.refusal, applied.isKey === true) }),
    cycle: cycleFindings(outcome, applied?.fatal !== undefined, config.name),
  }
}

/** Shows how a cycle ended, and notices its findings. */
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
