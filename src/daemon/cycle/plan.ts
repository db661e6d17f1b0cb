// The step `plan` of a cycle: makes a plan, records what it found out, and shows it. The decisions are in core/plan.
import { isReady } from '../../core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../core/model/scope.ts'
import type { Difference } from '../../core/plan/diff.ts'
import type { Exclusion } from '../../core/plan/dispositions.ts'
import { showPlan } from '../conditions/show.ts'
import type { Workspace } from '../workspace.ts'
import { rereadDependencies } from './dependencies.ts'
import type { CycleRun } from './options.ts'
import type { Pass } from './pass.ts'
import { probeReads } from './probe.ts'
import { recordPlan } from './record.ts'
import { seenIn } from './seen.ts'
import { type DesiredState, type PlanOptions, planFrom } from './state.ts'

export interface FirstPlan extends Pass {
  /** Scopes that were read again because the plan depends on them. */
  readonly reread: ReadonlySet<ScopeKey>
}

/**
 * Makes the first plan; makes it again once it is known what reads show, or what the scopes show that it depends on. People are read to learn the
 * former before anything is written, and once also where nothing is: what is held or in sync may look otherwise then, as it does to `plan`.
 */
export async function planFirst(cycle: CycleRun, desired: DesiredState): Promise<FirstPlan> {
  const { workspace, withheld, startedAt, options } = cycle
  const planWith = (reread: ReadonlySet<ScopeKey>): Pass =>
    makePlan(cycle, desired, { excluded: () => withheld, ...(options.approve && { approve: options.approve }) }, reread)
  const pass = planWith(new Set())
  const isEstablished = (!cycle.state.hasProbed || pass.planned.plan.changes.some(isReady)) && (await establishReads(cycle, desired))
  const reread = await rereadDependencies(pass, startedAt - workspace.config.intervalMs, cycle)
  return { ...(isEstablished || reread.size > 0 ? planWith(reread) : pass), reread }
}

/** True when it has just become known whether a read shows an inherited cap. */
async function establishReads({ workspace, state, options: { stop } }: CycleRun, desired: DesiredState): Promise<boolean> {
  const { client, clock, config, ledger } = workspace
  const before = seenIn(ledger)
  state.hasProbed = true
  const seen = await probeReads({ client, clock, settings: config, seen: before, state, desired, ...(stop && { signal: stop }) })
  if (seen !== before) ledger.saveFact('seen', seen)
  return seen !== before
}

const FOCUS: Exclusion = { kind: 'excluded', code: 'focus', reason: 'left to the next sweep' }

const QUIET: Exclusion = {
  kind: 'excluded',
  code: 'lease',
  reason: 'a write of the replica that held this workspace before may still land; it is read again when that is over',
}

/** Scopes with an open write of the replica that held this workspace before, while that write may still land. */
function quietScopes({ lease, ledger, clock }: Workspace): ReadonlySet<ScopeKey> {
  const untilAt = lease?.quietUntil() ?? Number.NEGATIVE_INFINITY
  return new Set(clock.now() < untilAt ? ledger.openIntents().map(({ change }) => scopeKey(change.scope)) : [])
}

/**
 * Makes a plan, records what it found out and shows it. A focused cycle writes only its own scopes and those in `alsoRead`, which were read
 * again beyond them.
 */
export function makePlan(
  { workspace, state, planner, options }: CycleRun,
  desired: DesiredState,
  more: PlanOptions,
  alsoRead: ReadonlySet<ScopeKey>,
): Pass {
  const focus = options.focus?.union(alsoRead)
  const quiet = quietScopes(workspace)
  const excluded = (one: Difference): Exclusion | undefined =>
    more.excluded?.(one) ?? (focus && !focus.has(one.key) ? FOCUS : undefined) ?? (quiet.has(one.key) ? QUIET : undefined)
  const planned = planFrom(state, desired, planner, { ...more, excluded })
  recordPlan(planned, desired, state, workspace.ledger, workspace.clock.now())
  showPlan(workspace, planned, desired)
  return { planned, desired }
}
