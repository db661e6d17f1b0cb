// The definition of every metric, and the gauges of one workspace, from its view and the present time. A value that was never known has no series; use and balance have none after 24 h.
// Reads every person and scope once per scrape and keeps no state.
import { CAUSES, GUARD_CODES } from '../../../core/model/change.ts'
import {
  BANDS,
  GRANT_STATES,
  MODES,
  type PoolStatus,
  SCOPE_STATES,
  type ScopeStatus,
  type WorkspaceView,
} from '../../../core/model/events.ts'
import type { Observed, Operation } from '../../../core/model/observed.ts'
import type { Cap } from '../../../core/model/policy.ts'
import { SCOPE_KINDS } from '../../../core/model/scope.ts'
import { type Credits, type Instant, isReadWithin } from '../../../core/model/units.ts'
import { countListings, LISTING_STATES } from '../../../core/resolve/roster.ts'
import { type AddOnFigures, addOnFigures, totalAddOn } from '../../../core/use/add-on.ts'
import { usedInCycle } from '../../../core/use/burn.ts'
import { countBands } from '../../../core/use/first-stop.ts'
import { DAY_GRADES } from '../../../core/use/history.ts'
import { cents } from '../documents/show.ts'

// Names, types, labels and help texts of every metric: docs/metrics.md, to the letter. The values are decided below and in metrics.ts.

export interface Definition {
  readonly help: string
  readonly labels: readonly string[]
}

/** One for each workspace; `labels`: beside its name. */
const ofWorkspace = (help: string, ...labels: readonly string[]): Definition => ({ help, labels: ['workspace', ...labels] })

export const GAUGES = {
  capkeeper_build_info: { help: 'Always 1; the version and the commit of this program.', labels: ['version', 'revision'] },
  capkeeper_config_valid: { help: '1 while the configuration file is valid; 0 while the last good one is in force.', labels: [] },
  capkeeper_ledger_writable: { help: '1 while the ledger can be written; without it no cap is written.', labels: [] },
  capkeeper_policy_valid: ofWorkspace(
    '1 while the policy files are valid, those of envelopes aside; 0 while the last good set is in force.',
  ),
  capkeeper_policy_info: ofWorkspace('Always 1; the digest and the commit of the policy set in force.', 'revision', 'digest'),
  capkeeper_workspace_held: ofWorkspace('1 while this replica holds the workspace, 0 while another one or none does.'),
  capkeeper_mode: ofWorkspace('1 for the mode of the workspace, 0 for the others.', 'mode'),
  capkeeper_clock_skew_seconds: ofWorkspace('Clock of the service minus ours.'),
  capkeeper_approvals: ofWorkspace('Approvals of holds by state.', 'state'),
  capkeeper_pause_until_timestamp_seconds: ofWorkspace('When the pause in force ends; absent when not paused.'),
  capkeeper_scopes: ofWorkspace('Scopes by state.', 'kind', 'state'),
  capkeeper_drift_scopes: ofWorkspace('Scopes whose observed cap is not the desired one, by cause.', 'kind', 'cause'),
  capkeeper_drift_credits: ofWorkspace(
    'Sum of drift in credits per person, not times people: observed above or below the desired cap, a desired cap that is missing, ' +
      'a cap that should not be there (extra).',
    'kind',
    'direction',
  ),
  capkeeper_drift_oldest_seconds: ofWorkspace('For how long the oldest drift has lasted; 0 without drift.'),
  capkeeper_holds: ofWorkspace('Holds in force by guard; a hold of several guards counts in each.', 'guard'),
  capkeeper_last_reconcile_timestamp_seconds: ofWorkspace('When the last cycle ended, whatever its result.'),
  capkeeper_last_success_timestamp_seconds: ofWorkspace('When the last successful cycle ended.'),
  capkeeper_api_rate_limit_requests_per_second: ofWorkspace('Learned pace of requests.'),
  capkeeper_team_cap_credits: ofWorkspace('Cap of the team per person; absent when there is none.', 'side'),
  capkeeper_group_cap_credits: ofWorkspace(
    'Cap of a declared group per person; absent when there is none. The label group is the group id.',
    'side',
    'group',
  ),
  capkeeper_people: ofWorkspace(
    'People by add-on use in percent of the cap in force; capkeeper_addon_use_measured says where use comes from.',
    'band',
  ),
  capkeeper_directory_people: ofWorkspace(
    'Approved people by what the people file says of them: listed, unlisted, or stale where they vanished within 7 days.',
    'state',
  ),
  capkeeper_addon_credits_available: ofWorkspace('Add-on credits available in this cycle, as the service says.'),
  capkeeper_addon_credits_used: ofWorkspace('Add-on credits used in this cycle, as the service says.'),
  capkeeper_prompt_credits_per_seat: ofWorkspace('Credits that each seat includes in this cycle.'),
  capkeeper_seats: ofWorkspace('Seats of the team.'),
  capkeeper_prompt_credits_used: ofWorkspace('Credits that all people of the roster used in this cycle.'),
  capkeeper_group_prompt_credits_used: ofWorkspace(
    'Credits that the members of a declared group used in this cycle. The label group is the group id.',
    'group',
  ),
  capkeeper_model_credits_used: ofWorkspace(
    'Credits used in this cycle by model and mode, from runs of agents; the 100 most used, the rest as other.',
    'model',
    'mode',
  ),
  capkeeper_burn_ratio: ofWorkspace(
    'Credits used in the window over what an even pace to the end of the cycle allows; 1 is an even pace.',
    'window',
  ),
  capkeeper_projected_credits_used: ofWorkspace(
    'Credits that will have been used at the end of the cycle, by percentile of the projection.',
    'percentile',
  ),
  capkeeper_exhaustion_timestamp_seconds: ofWorkspace(
    'When the add-on credits are expected to run out; absent when they last to the end of the cycle.',
  ),
  capkeeper_attribution_gap_ratio: ofWorkspace(
    'Sum of the add-on use of all people, measured or estimated, minus the add-on credits used, divided by the latter.',
  ),
  capkeeper_addon_use_measured: ofWorkspace(
    '1 while add-on use by person is measured by the service, 0 while it is estimated from credits used and credits per seat.',
  ),
  capkeeper_history_person_days: ofWorkspace('Past days of people by what is known of them; absent while the past is not read.', 'state'),
  capkeeper_cycle_start_timestamp_seconds: ofWorkspace('Start of the billing cycle.'),
  capkeeper_cycle_end_timestamp_seconds: ofWorkspace('End of the billing cycle.'),
  capkeeper_usage_age_seconds: ofWorkspace('Age of the oldest of the last readings of roster, balance, runs and add-on use.'),
  capkeeper_grants: ofWorkspace('Grants by state.', 'state'),
  capkeeper_rule_people: ofWorkspace('People for whom a rule is the first that matches.', 'rule'),
  capkeeper_pool_credits: ofWorkspace('Add-on credits that a pool has for a billing cycle.', 'pool'),
  capkeeper_pool_used_credits: ofWorkspace('Add-on credits that the members of a pool used of it in this cycle.', 'pool'),
  capkeeper_pool_dealt_credits: ofWorkspace(
    'Sum over the members of a pool of the greatest of use, cap in force, cap given and any cap lowered too lately for use under it to show; absent while somebody counts at no cap.',
    'pool',
  ),
  capkeeper_pool_exhaustion_timestamp_seconds: ofWorkspace(
    'When the credits of a pool are expected to be used up; absent when they last to the end of the cycle.',
    'pool',
  ),
  capkeeper_user_cap_credits: ofWorkspace('Cap in force of a person; only with metrics.perUser.', 'user'),
  capkeeper_user_credits_used: ofWorkspace('Credits a person used in this cycle; only with metrics.perUser.', 'user'),
} satisfies Readonly<Record<string, Definition>>

type GaugeName = keyof typeof GAUGES

export const COUNTERS = {
  capkeeper_lease_transfers_total: ofWorkspace('How often the workspace came to this replica.'),
  capkeeper_external_changes_total: ofWorkspace('Foreign changes of caps.', 'kind'),
  capkeeper_changes_total: ofWorkspace('Changes written, by effect and result.', 'kind', 'effect', 'result'),
  capkeeper_reconcile_total: ofWorkspace('Cycles by result.', 'result'),
  capkeeper_api_requests_total: ofWorkspace('Requests to the service by outcome.', 'operation', 'outcome'),
  capkeeper_credits_burned_total: ofWorkspace('Credits that the team used since they were first read; survives cycle resets and restarts.'),
  capkeeper_group_credits_burned_total: ofWorkspace(
    'Credits that the members of a declared group used since they were first read. The label group is the group id.',
    'group',
  ),
  capkeeper_metrics_dropped_series_total: { help: 'Series per user left out because of the limit of 1000 users.', labels: [] },
} satisfies Readonly<Record<string, Definition>>

/** Bounds in seconds; requests time out after 60 s, and a first sweep of 10,000 scopes at 10 requests/s takes about 1,000 s. */
export const HISTOGRAMS = {
  capkeeper_reconcile_duration_seconds: {
    help: 'Duration of a cycle by phase.',
    labels: ['workspace', 'phase'],
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600],
  },
  capkeeper_drift_detection_seconds: {
    help: 'Time from the last good reading of a scope to the one that found a foreign change.',
    labels: ['workspace', 'kind'],
    buckets: [1, 10, 60, 300, 600, 1200, 1800, 3600, 7200, 21_600, 86_400],
  },
  capkeeper_api_request_duration_seconds: {
    help: 'Duration of a request to the service.',
    labels: ['workspace', 'operation'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
} as const satisfies Readonly<Record<string, Definition & { readonly buckets: readonly number[] }>>

/** docs/service.md, Requests. */
export const OPERATIONS: readonly Operation[] = [
  'Analytics',
  'UserPageAnalytics',
  'CascadeAnalytics',
  'GetUsageConfig',
  'UsageConfig',
  'GetTeamCreditBalance',
]

export const PHASES = ['observe', 'apply', 'total'] as const

const APPROVAL_STATES = ['pending', 'spent', 'void'] as const

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
