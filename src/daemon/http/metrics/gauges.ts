// The gauges of one workspace, from its view and the present time. A value that was never known has no series; use and balance have none after 24 h.
// Reads every person and scope once per scrape and keeps no state.
import { APPROVAL_STATES, CAUSES, GUARD_CODES } from '../../../core/model/change.ts'
import {
  BANDS,
  GRANT_STATES,
  MODES,
  type PoolStatus,
  SCOPE_STATES,
  type ScopeStatus,
  type WorkspaceView,
} from '../../../core/model/events.ts'
import type { Observed } from '../../../core/model/observed.ts'
import type { Cap } from '../../../core/model/policy.ts'
import { SCOPE_KINDS } from '../../../core/model/scope.ts'
import { type Credits, type Instant, isReadWithin } from '../../../core/model/units.ts'
import { countListings, LISTING_STATES } from '../../../core/resolve/roster.ts'
import { type AddOnFigures, addOnFigures, totalAddOn } from '../../../core/use/add-on.ts'
import { usedInCycle } from '../../../core/use/burn.ts'
import { countBands } from '../../../core/use/first-stop.ts'
import { DAY_GRADES } from '../../../core/use/history.ts'
import { cents } from '../documents/show.ts'
import { METRICS } from './metrics.generated.ts'

export interface Definition {
  readonly help: string
  readonly labels: readonly string[]
}

export const { gauges: GAUGES, counters: COUNTERS, histograms: HISTOGRAMS } = METRICS

type GaugeName = keyof typeof GAUGES

export const PHASES = ['observe', 'apply', 'total'] as const

const DRIFT_DIRECTIONS = ['above', 'below', 'missing', 'extra'] as const
type DriftDirection = (typeof DRIFT_DIRECTIONS)[number]

/** Sets one series; an undefined value sets nothing. */
export type Put = (name: GaugeName, labels: Readonly<Record<string, string>>, value: number | undefined) => void

/** Use and balance are shown this long after they were read (docs/metrics.md). */
const USAGE_SHOWN_MS = 24 * 3_600_000

/** Puts every gauge of a workspace but those per user. */
export function putWorkspaceGauges(put: Put, view: WorkspaceView, now: Instant): void {
  putState(put, view, now)
  putScopes(put, view.workspace, view.scopes)
  putDrift(put, view, now)
  putCaps(put, view.workspace, view.scopes)
  const addOn = addOnFigures({ now, cycle: view.roster?.cycle ?? view.balance?.cycle, measured: view.measured, balance: view.balance })
  putUse(put, view, addOn, now)
  const isKnown = view.roster !== undefined || view.measured !== undefined
  put('capkeeper_addon_use_measured', { workspace: view.workspace }, isKnown ? Number(addOn.source === 'measured') : undefined)
  for (const state of DAY_GRADES) put('capkeeper_history_person_days', { workspace: view.workspace, state }, view.history?.days[state])
  putBalance(put, view, addOn, now)
  putBurn(put, view, now)
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000)

function putState(put: Put, view: WorkspaceView, now: Instant): void {
  const { workspace, policy } = view
  put('capkeeper_policy_valid', { workspace }, policy && Number(policy.valid))
  if (policy && policy.digest !== '') {
    put('capkeeper_policy_info', { workspace, revision: policy.revision, digest: policy.digest }, 1)
  }
  for (const mode of MODES) put('capkeeper_mode', { workspace, mode }, Number(view.mode === mode))
  put('capkeeper_clock_skew_seconds', { workspace }, seconds(view.clockSkewMs))
  for (const state of APPROVAL_STATES) {
    put('capkeeper_approvals', { workspace, state }, view.approvals.filter((approval) => approval.state === state).length)
  }
  put('capkeeper_pause_until_timestamp_seconds', { workspace }, seconds(view.pause?.untilAt))
  for (const guard of GUARD_CODES) {
    put('capkeeper_holds', { workspace, guard }, view.holds.filter((hold) => hold.guards.includes(guard)).length)
  }
  for (const state of GRANT_STATES) put('capkeeper_grants', { workspace, state }, view.grants[state])
  for (const { name, people } of view.rules ?? []) put('capkeeper_rule_people', { workspace, rule: name }, people)
  for (const pool of view.pools ?? []) putPool(put, workspace, pool, now)
  put('capkeeper_last_reconcile_timestamp_seconds', { workspace }, seconds(view.lastCycle?.finishedAt))
  put('capkeeper_last_success_timestamp_seconds', { workspace }, seconds(view.lastSuccessAt))
  put('capkeeper_api_rate_limit_requests_per_second', { workspace }, view.ratePerSecond)
}

function putPool(put: Put, workspace: string, { name, credits, figures }: PoolStatus, now: Instant): void {
  const labels = { workspace, pool: name }
  put('capkeeper_pool_credits', labels, credits)
  if (!figures || !isShown(figures, now)) return
  put('capkeeper_pool_used_credits', labels, cents(figures.used))
  put('capkeeper_pool_dealt_credits', labels, cents(figures.dealt))
  put('capkeeper_pool_exhaustion_timestamp_seconds', labels, seconds(figures.exhaustedAt))
}

function putScopes(put: Put, workspace: string, scopes: readonly ScopeStatus[]): void {
  const counts: Tally = new Map()
  for (const { scope, state } of scopes) add(counts, `${scope.kind} ${state}`, 1)
  for (const kind of SCOPE_KINDS) {
    for (const state of SCOPE_STATES) put('capkeeper_scopes', { workspace, kind, state }, counts.get(`${kind} ${state}`) ?? 0)
  }
}

function putDrift(put: Put, { workspace, scopes, lastCycle }: WorkspaceView, now: Instant): void {
  const byCause: Tally = new Map()
  const byDirection: Tally = new Map()
  let oldestAt = now
  for (const { scope, cause, desired, observed, driftSince } of scopes) {
    if (cause === undefined) continue
    add(byCause, `${scope.kind} ${cause}`, 1)
    const drift = driftOf(desired, observed)
    if (drift) add(byDirection, `${scope.kind} ${drift.direction}`, drift.credits)
    oldestAt = Math.min(oldestAt, driftSince ?? now)
  }
  for (const kind of SCOPE_KINDS) {
    for (const cause of CAUSES) put('capkeeper_drift_scopes', { workspace, kind, cause }, byCause.get(`${kind} ${cause}`) ?? 0)
    for (const direction of DRIFT_DIRECTIONS) {
      put('capkeeper_drift_credits', { workspace, kind, direction }, byDirection.get(`${kind} ${direction}`) ?? 0)
    }
  }
  put('capkeeper_drift_oldest_seconds', { workspace }, lastCycle && seconds(now - oldestAt))
}

/** The drift of one scope, in credits per person; undefined when equal or unknown. An orphan has no desired cap. */
function driftOf(
  desired: Cap | undefined,
  observed: Observed,
): { readonly direction: DriftDirection; readonly credits: number } | undefined {
  if (observed === 'unknown') return undefined
  if (desired === undefined || desired === 'none') return observed === 'none' ? undefined : { direction: 'extra', credits: observed }
  if (observed === 'none') return { direction: 'missing', credits: desired }
  if (observed === desired) return undefined
  return { direction: observed > desired ? 'above' : 'below', credits: Math.abs(observed - desired) }
}

const amount = (cap: Observed | undefined): Credits | undefined => (cap === 'none' || cap === 'unknown' ? undefined : cap)

function putCaps(put: Put, workspace: string, scopes: readonly ScopeStatus[]): void {
  for (const { scope, desired, observed } of scopes) {
    if (scope.kind === 'user') continue
    for (const [side, cap] of [['desired', amount(desired)] as const, ['observed', amount(observed)] as const]) {
      if (scope.kind === 'team') put('capkeeper_team_cap_credits', { workspace, side }, cap)
      else put('capkeeper_group_cap_credits', { workspace, side, group: scope.id }, cap)
    }
  }
}

export const isShown = (reading: { readonly readAt: Instant }, now: Instant): boolean => isReadWithin(reading, now, USAGE_SHOWN_MS + 1)

function putUse(put: Put, view: WorkspaceView, addOn: AddOnFigures, now: Instant): void {
  const { workspace, roster, balance } = view
  const cycle = roster?.cycle ?? balance?.cycle
  put('capkeeper_cycle_start_timestamp_seconds', { workspace }, seconds(cycle?.startAt))
  put('capkeeper_cycle_end_timestamp_seconds', { workspace }, seconds(cycle?.endAt))
  const measuredAt = addOn.source === 'measured' ? view.measured?.readAt : undefined
  const readAts = [roster?.readAt, balance?.readAt, view.use?.runsReadAt, measuredAt].filter((readAt) => readAt !== undefined)
  const oldestAt = Math.min(...readAts)
  if (readAts.length > 0) put('capkeeper_usage_age_seconds', { workspace }, seconds(now - oldestAt))
  if (roster && isShown(roster, now)) {
    const bands = countBands(view.people)
    for (const band of BANDS) put('capkeeper_people', { workspace, band }, bands?.[band])
    const listings = countListings(roster)
    for (const state of LISTING_STATES) put('capkeeper_directory_people', { workspace, state }, listings?.[state])
    put('capkeeper_prompt_credits_used', { workspace }, usedInCycle(roster))
  }
  for (const group of view.groups) {
    if (isShown(group, now)) put('capkeeper_group_prompt_credits_used', { workspace, group: group.id }, cents(group.used))
  }
}

function putBalance(put: Put, { workspace, roster, balance }: WorkspaceView, addOn: AddOnFigures, now: Instant): void {
  if (!balance || !isShown(balance, now)) return
  put('capkeeper_addon_credits_available', { workspace }, balance.addOnAvailable)
  put('capkeeper_addon_credits_used', { workspace }, balance.addOnUsed)
  put('capkeeper_prompt_credits_per_seat', { workspace }, balance.creditsPerSeat)
  put('capkeeper_seats', { workspace }, balance.seats)
  if (!roster || !isShown(roster, now) || balance.addOnUsed === 0) return
  const sum = totalAddOn(addOn, roster.people)
  const gap = sum === undefined ? undefined : (sum - balance.addOnUsed) / balance.addOnUsed
  put('capkeeper_attribution_gap_ratio', { workspace }, gap)
}

function putBurn(put: Put, { workspace, roster, use }: WorkspaceView, now: Instant): void {
  if (use?.runsReadAt !== undefined && isShown({ readAt: use.runsReadAt }, now)) {
    for (const { model, mode, used } of use.models ?? []) put('capkeeper_model_credits_used', { workspace, model, mode }, used)
  }
  const { figures } = use ?? {}
  if (!figures || !roster || !isShown(roster, now)) return
  for (const [window, ratio] of Object.entries(figures.ratios)) put('capkeeper_burn_ratio', { workspace, window }, ratio)
  const { p10, p50, p90 } = figures.projected ?? {}
  put('capkeeper_projected_credits_used', { workspace, percentile: '10' }, cents(p10))
  put('capkeeper_projected_credits_used', { workspace, percentile: '50' }, cents(p50))
  put('capkeeper_projected_credits_used', { workspace, percentile: '90' }, cents(p90))
  put('capkeeper_exhaustion_timestamp_seconds', { workspace }, seconds(figures.exhaustedAt))
}

type Tally = Map<string, number>

function add(tally: Tally, key: string, amount: number): void {
  tally.set(key, (tally.get(key) ?? 0) + amount)
}
